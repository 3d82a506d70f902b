"""Runs of arrays on a device: it makes launch after launch by itself, and is asked now and then."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any, assert_never

from eagle.binding import Binding
from eagle.devices.base import Loop, SoFar
from eagle.pace import Pace, auto, fixed, one_pass
from eagle.runs.batch import Batch, written
from eagle.runs.counting import STEPS_TAKEN
from eagle.runs.course import Counted, Plan
from eagle.runs.policy import (
    AutoSteps,
    FixedSteps,
    OnePass,
    OneStep,
    begun_launches,
    equal_launches,
    is_exact,
    next_launch,
    one_pass_launches,
)


def pace_of(plan: Plan, n: int, *, crowd: int) -> Pace:
    """How many steps the launches of a run take on a device that runs `crowd` samples at once."""
    match plan.policy:
        case OneStep():
            return fixed(1)
        case FixedSteps(k):
            return fixed(k)
        case AutoSteps(largest):
            return auto(largest)
        case OnePass():
            steps = min(plan.max_steps, plan.every or plan.max_steps)
            return one_pass(n, crowd=crowd, steps=steps)
        case _ as never:
            assert_never(never)


class DeviceCourse:
    """What was launched so far in a run on a device, and what is to come.

    All of it stands in the device's memory, so an exception may come at any time.
    """

    def __init__(self, plan: Plan, loop: Loop, *, collective: bool) -> None:
        """`collective`: do samples take each step together?"""
        self.plan, self._loop, self._collective = plan, loop, collective
        self.threads = 1
        loop.begin()
        self._seen: SoFar = loop.so_far()

    @property
    def live(self) -> int:
        """Samples that are not done."""
        return self._seen.going

    @property
    def taken(self) -> int:
        """Steps asked for in all launches."""
        return self._seen.taken

    @property
    def compactions(self) -> int:
        """Times that the live samples were picked into a new map."""
        return self._seen.picks

    @property
    def mapped(self) -> bool:
        """Was there a launch that went by a map?"""
        return self._seen.picks > 0

    @property
    def is_over(self) -> bool:
        return not self.live or self.taken >= self.plan.max_steps

    def advance(
        self,
        *,
        each: Callable[[], object] | None = None,
        tell: Callable[[], object] | None = None,
        watch: Callable[[int], object] | None = None,
    ) -> None:
        """Launch to the end of the run, from wherever it is. See `Course.advance`."""
        plan, loop = self.plan, self._loop
        self._seen = loop.so_far()
        while not self.is_over:
            self.threads = loop.threads
            steps = next_launch(None, taken=self.taken, max_steps=plan.max_steps, every=plan.every)
            loop.advance(steps)
            self._seen = loop.so_far()
            if each is not None:
                each()
            if tell is not None and (self.is_over or self._is_at(plan.every)):
                tell()

    def _is_at(self, every: int | None) -> bool:
        """Is it to be told about? Without `every` as often as it comes back here."""
        return not every or not (self._seen.halfway or self.taken % every)

    def counted(self) -> Counted:
        """All launches until now."""
        seen = self._seen = self._loop.so_far()
        plan = self.plan
        match plan.policy:
            case OneStep():
                launches = equal_launches(1, taken=seen.taken, every=plan.every)
            case FixedSteps(k) | AutoSteps(k) if self._collective:
                asked = begun_launches(
                    k, taken=seen.taken, max_steps=plan.max_steps, every=plan.every
                )
                launches = equal_launches(k, taken=asked, every=plan.every)
                halfway = asked > seen.taken
                return Counted(launches, is_exact(launches, live=0 if halfway else seen.going))
            case FixedSteps(k):
                launches = equal_launches(k, taken=seen.taken, every=plan.every)
            case AutoSteps():
                launches = dict(seen.launches_by_k)
            case OnePass():
                launches = one_pass_launches(
                    seen.furthest, max_steps=plan.max_steps, every=plan.every
                )
                halfway = seen.halfway or (
                    seen.taken < plan.max_steps and seen.taken % (plan.every or plan.max_steps)
                )
                return Counted(launches, is_exact(launches, live=0 if halfway else seen.going))
            case _ as never:
                assert_never(never)
        return Counted(launches, is_exact(launches, live=seen.going))


class DeviceBatch(Batch):
    """Arrays of a device."""

    def __init__(self, binding: Binding, plan: Plan) -> None:
        self._binding, device = binding, binding.device
        assert binding.function is not None
        self._device, begun = device, perf_counter()
        self._loop = device.loop(
            binding.function,
            binding.compiled,
            binding.planes,
            binding.words,
            binding.n,
            pace_of(plan, binding.n, crowd=device.crowd),
        )
        self.build_seconds = binding.build_seconds + perf_counter() - begun
        self._steps_taken = binding.arrays.get(STEPS_TAKEN)

    def course(self, plan: Plan, mark: object = None) -> DeviceCourse:
        collective = self._binding.compiled.is_collective
        return DeviceCourse(plan, self._loop, collective=collective)

    def live(self) -> int:
        return self._loop.going()

    def worst(self) -> int:
        return self._loop.first_going()

    @property
    def counts_steps(self) -> bool:
        return self._steps_taken is not None

    def count_anew(self) -> None:
        if self._steps_taken is not None:
            self._device.fill(self._steps_taken, 0)

    def most_steps(self) -> int:
        assert self._steps_taken is not None
        return self._loop.greatest(self._steps_taken)

    def steps_taken(self) -> Any:
        if self._steps_taken is None:
            return None
        like = next(iter(self._binding.own.values()))
        return self._device.array(self._device.duplicate(self._steps_taken), like)

    def copies(self) -> dict[str, Any]:
        arrays, duplicate = self._binding.arrays, self._device.duplicate
        return {name: duplicate(arrays[name]) for name in written(self._binding)}

    def put_back(self, name: str, copy: Any) -> None:
        self._device.duplicate(copy, into=self._binding.arrays[name])
