"""A batch that is run until each sample is done: the one thing behind all four ways to ask for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from operator import index
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from eagle.binding import Binding, Door, bind
from eagle.deploy import Deployed, as_kernel, both_given
from eagle.errors import Busy
from eagle.params import shown
from eagle.runs.policy import (
    OnePass,
    StepPolicy,
    describe,
    is_exact,
    next_launch,
    one_pass_steps,
    policy_for,
    total_steps,
)
from eagle.runs.report import RunReport, SimResult, Status
from hawk.ir.nodes import Role
from hawk.kernel import Kernel

LARGEST = 2**63 - 1


class Simulation:
    """A kernel with its arrays and a cap, to run and run again.

    Made by `simulation` (one pass) and `until_done` (launch by launch). Raises `Busy` when two
    threads use it at once.
    """

    def __init__(
        self,
        binding: Binding,
        policy: StepPolicy,
        *,
        max_steps: int,
        threads: int | None,
        again: bool,
    ) -> None:
        assert binding.mask is not None
        self._binding, self._policy = binding, policy
        self._max_steps, self._threads = max_steps, threads
        self._loaded = binding.load()
        self._mask = binding.arrays[binding.mask]
        self._lock = threading.Lock()
        self._start = _written(binding) if again else {}
        self._status: Status = "ready"
        self._report: RunReport | None = None

    @property
    def n(self) -> int:
        """Samples in the batch."""
        return self._binding.n

    @property
    def status(self) -> Status:
        """`"ready"`, `"done"`, or `"max_steps"` where some samples stopped at the cap."""
        return self._status

    @property
    def report(self) -> RunReport | None:
        """What the last run did; None before the first."""
        return self._report

    def run(self) -> SimResult:
        """Run until every sample is done, or has taken `max_steps` steps in this run.

        Samples that are done stay as they are; after a run that stopped at the cap, another one
        goes on from there.
        """
        with self._alone():
            self._report = self._advance()
            self._status = "done" if self._report.done else "max_steps"
            return SimResult(
                planes=self._binding.results,
                finished=self._mask,
                status=self._status,
                report=self._report,
                allocated=self._binding.allocated,
            )

    def reset(self) -> None:
        """Put everything that runs change back to what it was when the simulation was made."""
        with self._alone():
            for name, start in self._start.items():
                self._binding.arrays[name][...] = start
            self._status, self._report = "ready", None

    def _advance(self) -> RunReport:
        """Launch until nothing is left to do, and say what was done."""
        begin = time.perf_counter()
        live = self.n - int(np.count_nonzero(self._mask))
        launches_by_k: dict[int, int] = {}
        taken, threads = 0, 1
        while live and (k := next_launch(self._policy, taken=taken, max_steps=self._max_steps)):
            if isinstance(self._policy, OnePass):
                outcome = self._loaded.run_to_end(k, self._threads)
                k_or = outcome.longest
            else:
                outcome = self._loaded.launch(k, self._threads)
            live -= outcome.finished
            taken += k
            launches_by_k[k] = launches_by_k.get(k, 0) + 1
            threads = max(threads, outcome.threads)
        raise NotImplementedError
