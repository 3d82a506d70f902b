"""A batch that runs until each sample is done: the one thing behind all four ways to ask."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from operator import index
from typing import Any, NamedTuple, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from eagle.binding import AnyKernel, Binding, Door, bind
from eagle.deploy import Deployed, as_kernel, both_given
from eagle.devices.base import Loaded
from eagle.errors import Busy
from eagle.params import shown, whole
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

        Samples that are done stay as they are. After a run that stopped at the cap another one
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

    @contextmanager
    def _alone(self) -> Iterator[None]:
        if not self._lock.acquire(blocking=False):
            name = self._binding.kernel.name
            raise Busy(f"this Simulation of {name} is being used by another thread")
        try:
            yield
        finally:
            self._lock.release()

    def _advance(self) -> RunReport:
        begin = time.perf_counter()
        live = self.n - int(np.count_nonzero(self._mask))
        run = _one_pass if isinstance(self._policy, OnePass) else _launch_by_launch
        done = run(self._loaded, self._policy, live, self._max_steps, self._threads)
        return RunReport(
            n=self.n,
            finished=self.n - done.live,
            done=done.live == 0,
            launches=sum(done.launches_by_k.values()),
            steps=total_steps(done.launches_by_k),
            exact_steps=is_exact(done.launches_by_k, live=done.live),
            launches_by_k=done.launches_by_k,
            max_steps=self._max_steps,
            worst=int(np.argmin(self._mask)) if done.live else None,
            compactions=0,
            reorders=0,
            mode=describe(self._policy),
            mapped=False,
            threads=done.threads,
            wall_s=time.perf_counter() - begin,
            build_s=self._binding.build_seconds,
        )


class _Done(NamedTuple):
    """What the launches of a run came to."""

    live: int
    launches_by_k: dict[int, int]
    threads: int


def _launch_by_launch(
    loaded: Loaded, policy: StepPolicy, live: int, max_steps: int, threads: int | None
) -> _Done:
    launches_by_k: dict[int, int] = {}
    taken, used = 0, 1
    while live and (k := next_launch(policy, taken=taken, max_steps=max_steps)):
        outcome = loaded.launch(k, threads)
        live -= outcome.finished
        taken += k
        launches_by_k[k] = launches_by_k.get(k, 0) + 1
        used = max(used, outcome.threads)
    return _Done(live, launches_by_k, used)


def _one_pass(
    loaded: Loaded, policy: StepPolicy, live: int, max_steps: int, threads: int | None
) -> _Done:
    if not live:
        return _Done(0, {}, 1)
    asked = next_launch(policy, taken=0, max_steps=max_steps)
    outcome = loaded.run_to_end(asked, threads)
    live -= outcome.finished
    steps = asked if live else one_pass_steps(outcome.longest, max_steps=asked)
    return _Done(live, {steps: 1}, outcome.threads)


def _written(binding: Binding) -> dict[str, NDArray[Any]]:
    """Copies of the planes that launches write."""
    read_only = (Role.INPUT, Role.UNIFORM)
    names = [slot.name for slot in binding.compiled.planes if slot.role not in read_only]
    return {name: binding.arrays[name].copy() for name in names}


# -- the four ways to ask for it -------------------------------------------------------------------


def simulate(
    kernel: AnyKernel | Deployed,
    /,
    *,
    max_steps: SupportsIndex,
    n: SupportsIndex | None = None,
    threads: SupportsIndex | None = None,
    out: object = None,
    buffer: object = None,
    **planes: object,
) -> SimResult:
    """Run a batch until each sample is done, all in one launch.

    `planes` are the kernel's planes by name: arrays `(n,)` of the kernel's types, contiguous, and
    numbers for each `Param`. State is changed in place; what is never read before it is written
    may be left out. No sample takes more than `max_steps` steps, from 1 to 2**63-1; those that
    would keep their state there, and the result's status is `"max_steps"`. `out`, also called
    `buffer`, takes arrays for what the kernel returns. `n` is the number of samples where no array
    tells. `threads` bounds the threads that work on it.

    Nothing is copied or converted: BindError says all that does not fit before anything is written.
    """
    options = _Options("eagle.simulate", max_steps, n, threads, out, buffer)
    return _simulation(kernel, options, planes, one_pass=True, again=False).run()


def simulation(
    kernel: AnyKernel | Deployed,
    /,
    *,
    max_steps: SupportsIndex,
    n: SupportsIndex | None = None,
    threads: SupportsIndex | None = None,
    out: object = None,
    buffer: object = None,
    **planes: object,
) -> Simulation:
    """What `simulate` would run, to be run with `.run()`, put back with `.reset()`, run again."""
    options = _Options("eagle.simulation", max_steps, n, threads, out, buffer)
    return _simulation(kernel, options, planes, one_pass=True, again=True)


def run_until_done(
    kernel: Deployed | AnyKernel,
    /,
    *,
    max_steps: SupportsIndex,
    n: SupportsIndex | None = None,
    threads: SupportsIndex | None = None,
    out: object = None,
    buffer: object = None,
    **planes: object,
) -> RunReport:
    """Launch a kernel until each sample is done; say how many launches of how many steps it took.

    One launch takes what the kernel's `steps=` says, the last one what is left of `max_steps`.
    Everything else is as in `simulate`.
    """
    options = _Options("eagle.run_until_done", max_steps, n, threads, out, buffer)
    result = _simulation(kernel, options, planes, one_pass=False, again=False).run()
    return result.report


def until_done(
    kernel: Deployed | AnyKernel,
    /,
    *,
    max_steps: SupportsIndex,
    n: SupportsIndex | None = None,
    threads: SupportsIndex | None = None,
    out: object = None,
    buffer: object = None,
    **planes: object,
) -> Simulation:
    """What `run_until_done` would run, to be run with `.run()`, put back with `.reset()`."""
    options = _Options("eagle.until_done", max_steps, n, threads, out, buffer)
    return _simulation(kernel, options, planes, one_pass=False, again=True)


class _Options(NamedTuple):
    """What all four take besides the kernel and its planes."""

    door: str
    max_steps: SupportsIndex
    n: SupportsIndex | None
    threads: SupportsIndex | None
    out: object
    buffer: object


def _simulation(
    given: AnyKernel | Deployed,
    options: _Options,
    planes: Mapping[str, object],
    *,
    one_pass: bool,
    again: bool,
) -> Simulation:
    kernel = as_kernel(given, options.door)
    problems = [
        *_never_finishes(kernel),
        *_out_of_range("max_steps", options.max_steps),
        *(() if options.threads is None else _out_of_range("threads", options.threads)),
        *both_given(options.out, options.buffer),
    ]
    binding = bind(
        kernel,
        door=Door(options.door),
        planes=planes,
        n=options.n,
        out=options.buffer if options.out is None else options.out,
        problems=problems,
    )
    return Simulation(
        binding,
        OnePass() if one_pass else policy_for(kernel.steps, largest=kernel.steps_max),
        max_steps=index(options.max_steps),
        threads=None if options.threads is None else index(options.threads),
        again=again,
    )


def _never_finishes(kernel: AnyKernel) -> list[str]:
    if any(parameter.role is Role.MASK for parameter in kernel.parameters):
        return []
    message = (
        f"{kernel.name} never finishes a sample; write `terminated: Terminated` in its signature "
        "and `terminated = ...` in its body, where it is known whether the sample is done "
        f"(for a fixed number of steps: hawk.steps({kernel.name}, 1000)(...))"
    )
    return [message]


def _out_of_range(name: str, number: SupportsIndex) -> list[str]:
    parsed = whole(number)
    if parsed is not None and 1 <= parsed <= LARGEST:
        return []
    return [f"{name!r}: expected a whole number from 1 to 2**63-1, got {shown(number)}"]
