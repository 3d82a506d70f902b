"""A run on its way: one launch after another, until no sample goes on or the cap is reached.

An exception may come at any time, from Ctrl-C or from what is called in between. The course then
says exactly which launches were made, and goes on from there when it is asked to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eagle.active import live_places
from eagle.devices.base import Loaded, Outcome
from eagle.runs.policy import (
    OnePass,
    StepPolicy,
    is_exact,
    largest_launch,
    next_launch,
    one_pass_steps,
    worth_counting,
    worth_mapping,
)


class Plan(NamedTuple):
    """How a run is to be made."""

    policy: StepPolicy
    max_steps: int
    threads: int | None = None
    """Most threads that may work on a launch; None leaves it to the process."""
    every: int | None = None
    """Steps after which the run is to be told about."""


class Counted(NamedTuple):
    """The launches of a course so far, one that was interrupted among them."""

    launches_by_k: dict[int, int]
    exact: bool
    """Did some sample take all the steps that they asked for?"""


class Course:
    """What was launched so far in a run, and what is to come."""

    __slots__ = (
        "_counted_live",
        "_largest",
        "_launches",
        "_loaded",
        "_map",
        "_mark",
        "_mask",
        "_one_pass",
        "compactions",
        "live",
        "mapped",
        "plan",
        "taken",
        "threads",
    )

    def __init__(
        self, plan: Plan, loaded: Loaded, mask: NDArray[np.bool], mark: object = None
    ) -> None:
        """`mark`: that of a launch that was made already, and interrupted."""
        self.plan, self._loaded, self._mask = plan, loaded, mask
        self._largest = largest_launch(plan.policy)
        self._one_pass = isinstance(plan.policy, OnePass)
        self.live = len(mask) - int(np.count_nonzero(mask))
        """Samples that are not done."""
        self.compactions = 0
        """Times that the live samples were picked into a new map."""
        self.mapped = False
        """Was there a launch that went by a map?"""
        self._map: NDArray[np.int64] | None = None
        self._counted_live = len(mask)
        """Samples there were to launch when that was last looked at."""
        self.taken = 0
        """Steps asked for in all launches that are through."""
        self.threads = 1
        """Most threads that could work on a launch."""
        self._launches: dict[int, int] = {}
        self._mark = mark or object()
        """The next launch, or the one that was interrupted."""

    def advance(
        self,
        *,
        each: Callable[[], object] | None = None,
        tell: Callable[[], object] | None = None,
        watch: Callable[[int], object] | None = None,
    ) -> None:
        """Launch to the end of the run, from wherever it is.

        `each` is called after each launch, `tell` after every `plan.every` steps and at the end,
        `watch` now and then during a launch with the samples that it has finished.
        """
        plan, loaded, launches = self.plan, self._loaded, self._launches
        while self.live and (k := self._next()):
            if worth_counting(self.live, counted=self._counted_live):
                self._look(k)
            loaded.launch(
                k,
                plan.threads,
                to_end=self._one_pass,
                picked=self._map,
                mark=self._mark,
                watch=watch,
            )
            outcome = loaded.outcome()
            assert outcome is not None
            counted, following = self._counted(k, outcome), object()
            # Nothing is called in these lines, so no signal handler raises between two of them.
            self.live -= outcome.finished
            self.taken += k
            if counted in launches:
                launches[counted] += 1
            else:
                launches[counted] = 1
            if outcome.threads > self.threads:
                self.threads = outcome.threads
            self.mapped = self.mapped or self._map is not None
            self._mark = following
            # The launch is counted.
            if each is not None:
                each()
            if tell is not None and (self.is_over or not self.taken % (plan.every or 1)):
                tell()

    def _look(self, k: int) -> None:
        """Pick the live samples, if launches of `k` steps are then sooner over."""
        loaded, live = self._loaded, self.live
        if loaded.outcome(self._mark) is not None:
            return  # a launch is halfway, and goes on by the map it began with
        places, busy = live_places(self._mask, self._map, loaded.together)
        mapped = self._map is not None
        worth = worth_mapping(live, busy=busy, together=loaded.together, k=k, mapped=mapped)
        # Nothing is called in these lines, so no signal handler raises between two of them.
        self._counted_live = live
        if worth:
            self._map = places
            self.compactions += 1

    @property
    def is_over(self) -> bool:
        return not self.live or self.taken >= self.plan.max_steps

    def counted(self) -> Counted:
        """All launches until now."""
        outcome = self._loaded.outcome(self._mark)
        launches = dict(self._launches)
        if outcome is None:  # no launch is halfway
            return Counted(launches, is_exact(launches, live=self.live))
        k = self._counted(self._next(), outcome, halfway=True)
        if k:
            launches[k] = launches.get(k, 0) + 1
        return Counted(launches, is_exact(launches, live=0))

    def _next(self) -> int:
        plan = self.plan
        return next_launch(
            self._largest, taken=self.taken, max_steps=plan.max_steps, every=plan.every
        )

    def _counted(self, k: int, outcome: Outcome, *, halfway: bool = False) -> int:
        """The steps that a launch of `k` counts for."""
        if not self._one_pass:
            return k
        if outcome.finished < self.live and not halfway:
            return k
        return one_pass_steps(outcome.longest, asked=k, before=self.taken)
