"""A run on its way, on a device made of numbers: every launch is counted once, whatever comes."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from eagle.devices.base import Loaded, Outcome, Watch
from eagle.runs.course import Course, Plan
from eagle.runs.policy import AutoSteps, FixedSteps, OnePass, OneStep


class Interrupt(Exception):
    """What a signal handler raises."""


class Numbers(Loaded):
    """Samples that need so many steps each. `doubt` is asked wherever an exception may come."""

    def __init__(self, needed: list[int], doubt: Callable[[], None]) -> None:
        self.left, self.doubt = list(needed), doubt
        self.mark: object = None
        self.goals: list[int] = []
        self.steps = self.before = 0
        self.started: list[int] = []
        self.looked_at: list[int] = []
        self.mask = np.zeros(len(needed), np.bool)

    @property
    def together(self) -> int:
        return 4

    @property
    def live(self) -> int:
        return sum(left > 0 for left in self.left)

    def launch(
        self,
        steps: int,
        threads: int | None = None,
        *,
        to_end: bool = False,
        picked: NDArray[np.int64] | None = None,
        mark: object = None,
        watch: Watch | None = None,
    ) -> None:
        self.doubt()
        if mark is not self.mark:
            self.mark, self.steps, self.before = mark, steps, self.live
            looked_at = range(len(self.left)) if picked is None else picked.tolist()
            self.looked_at.append(len(looked_at))
            self.goals = list(self.left)
            for sample in looked_at:
                self.goals[sample] = max(0, self.left[sample] - steps)
            self.taken = [0] * len(self.left)
            self.started.append(steps)
        assert steps == self.steps
        self.doubt()
        for i, goal in enumerate(self.goals):
            while self.left[i] > goal:
                self.left[i] -= 1
                self.taken[i] += 1
                self.mask[i] = not self.left[i]
                if not self.left[i] % 5:
                    self.doubt()
        self.doubt()

    def outcome(self, mark: object = None) -> Outcome | None:
        if mark is not None and mark is not self.mark:
            return None
        return Outcome(self.before - self.live, max(self.taken), 1, 1)


def calm() -> None:
    """Raise nothing."""


def run(
    plan: Plan, needed: list[int], doubt: Callable[[], None] = calm
) -> tuple[Course, Numbers, int]:
    """Run to the end, going on after each interrupt; how many there were."""
    device = Numbers(needed, doubt)
    course = Course(plan, device, device.mask)
    interrupts = 0
    while True:
        try:
            course.advance(each=doubt, tell=doubt)
        except Interrupt:
            interrupts += 1
            counted = course.counted()
            assert sum(counted.launches_by_k.values()) <= len(device.started)
            assert sum(k * n for k, n in counted.launches_by_k.items()) <= plan.max_steps
        else:
            return course, device, interrupts


policies = st.one_of(
    st.just(OnePass()),
    st.just(OneStep()),
    st.builds(FixedSteps, st.integers(2, 20)),
    st.just(AutoSteps(64)),
)
plans = st.builds(
    Plan,
    policy=policies,
    max_steps=st.integers(1, 90),
    every=st.one_of(st.none(), st.integers(1, 50)),
)


@given(
    plan=plans,
    needed=st.lists(st.integers(1, 100), min_size=1, max_size=40),
    seed=st.integers(0, 999),
)
def test_an_interrupted_run_comes_to_what_an_undisturbed_one_comes_to(
    plan: Plan, needed: list[int], seed: int
) -> None:
    rng = Random(seed)

    def doubt() -> None:
        if rng.random() < 0.2 / len(needed):
            raise Interrupt

    due, calmly, _ = run(plan, needed)
    got, device, _ = run(plan, needed, doubt)

    assert calmly.left == device.left == [max(0, each - plan.max_steps) for each in needed]
    assert calmly.started == device.started
    assert due.counted() == got.counted()
    assert (due.live, due.taken, True) == (got.live, got.taken, got.is_over)
    assert calmly.looked_at == device.looked_at
    assert (due.compactions, due.mapped) == (got.compactions, got.mapped)


def test_a_run_is_told_about_after_so_many_steps_and_at_its_end() -> None:
    seen: list[tuple[int, int]] = []
    device = Numbers([30, 250], calm)
    course = Course(Plan(OnePass(), max_steps=1000, every=100), device, device.mask)

    course.advance(tell=lambda: seen.append((course.taken, course.live)))

    assert [(100, 1), (200, 1), (300, 0)] == seen
    assert {100: 2, 56: 1} == course.counted().launches_by_k


def test_an_interrupted_launch_counts_with_the_steps_that_its_longest_sample_took() -> None:
    times = iter(range(12))

    def doubt() -> None:
        if next(times, None) is None:
            raise Interrupt

    device = Numbers([1000, 1000], doubt)
    course = Course(Plan(OnePass(), max_steps=10_000), device, device.mask)

    with pytest.raises(Interrupt):
        course.advance()

    assert max(device.taken) == 55
    assert ({64: 1}, False) == course.counted()


def test_what_is_over_is_not_launched() -> None:
    course, device, _ = run(Plan(OneStep(), max_steps=5), [9])
    course.advance()

    assert [1] * 5 == device.started
    assert ({1: 5}, True) == course.counted()


def test_where_few_samples_are_left_launches_look_at_those_only() -> None:
    needed = [3] * 64
    needed[5::16] = [40, 50, 60, 70]

    course, device, _ = run(Plan(FixedSteps(10), max_steps=1000), needed)

    assert [64, *[4] * 6] == device.looked_at
    assert (1, True) == (course.compactions, course.mapped)


def test_samples_that_are_left_side_by_side_are_not_worth_a_map() -> None:
    course, device, _ = run(Plan(FixedSteps(10), max_steps=1000), [3] * 60 + [50] * 4)

    assert {64} == set(device.looked_at)
    assert (0, False) == (course.compactions, course.mapped)
