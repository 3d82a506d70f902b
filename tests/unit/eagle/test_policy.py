"""How many steps each launch takes: plain numbers."""

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle.runs.policy import (
    AutoSteps,
    FixedSteps,
    OnePass,
    OneStep,
    StepPolicy,
    begun_launches,
    describe,
    equal_launches,
    is_exact,
    largest_launch,
    next_launch,
    one_pass_launches,
    one_pass_steps,
    policy_for,
    total_steps,
)


def launches(
    policy: StepPolicy, *, needed: int, max_steps: int, every: int | None = None
) -> dict[int, int]:
    """Play a run whose slowest sample needs `needed` steps."""
    taken, counts, largest = 0, dict[int, int](), largest_launch(policy)
    while taken < needed and (
        k := next_launch(largest, taken=taken, max_steps=max_steps, every=every)
    ):
        counts[k] = counts.get(k, 0) + 1
        taken += k
    return counts


@pytest.mark.parametrize(
    ("steps", "needed", "expected", "exact"),
    [
        (1, 1_000, {1: 1_000}, True),
        (16, 1_000, {16: 63}, False),
        ("auto", 1_000, {64: 16}, False),
        (1, 10_001, {1: 10_000}, True),
        (16, 10_001, {16: 625}, True),
        ("auto", 10_001, {64: 156, 16: 1}, True),
        (16, 10_000, {16: 625}, False),
    ],
)
def test_a_run_takes_these_launches(
    steps: Any, needed: int, expected: dict[int, int], exact: bool
) -> None:
    policy = policy_for(steps, largest=64)

    counts = launches(policy, needed=needed, max_steps=10_000)

    assert expected == counts
    assert exact == is_exact(counts, live=int(needed > 10_000))


policies = st.one_of(
    st.just(OneStep()), st.builds(FixedSteps, st.integers(2, 100)), st.just(AutoSteps(64))
)


@given(policies, st.integers(0, 500), st.integers(1, 500))
def test_no_run_passes_the_cap_and_none_stops_early(
    policy: StepPolicy, needed: int, max_steps: int
) -> None:
    total = total_steps(launches(policy, needed=needed, max_steps=max_steps))

    assert min(needed, max_steps) <= total <= max_steps
    assert total - needed < (largest_launch(policy) or 0)


def test_one_pass_asks_for_all_steps_at_once() -> None:
    assert largest_launch(OnePass()) is None
    assert 500 == next_launch(None, taken=0, max_steps=500)


@pytest.mark.parametrize(
    ("policy", "every", "expected"),
    [
        (OnePass(), 300, {300: 3, 100: 1}),
        (AutoSteps(64), 100, {64: 10, 36: 10}),
        (FixedSteps(16), 1000, {16: 62, 8: 1}),
        (OneStep(), 10, {1: 1000}),
    ],
)
def test_launches_end_where_the_run_is_told_about(
    policy: StepPolicy, every: int, expected: dict[int, int]
) -> None:
    assert expected == launches(policy, needed=1000, max_steps=1000, every=every)


@pytest.mark.parametrize(
    ("longest", "max_steps", "expected"),
    [(1, 1000, 64), (64, 1000, 64), (65, 1000, 128), (990, 1000, 1000), (1, 10, 10)],
)
def test_one_pass_reports_the_steps_that_auto_would(
    longest: int, max_steps: int, expected: int
) -> None:
    auto = launches(AutoSteps(64), needed=longest, max_steps=max_steps)

    assert expected == one_pass_steps(longest, asked=max_steps) == total_steps(auto)


@pytest.mark.parametrize(
    ("longest", "before", "asked", "expected"),
    [
        (0, 100, 100, 0),
        (1, 100, 100, 28),
        (90, 100, 100, 92),
        (100, 100, 100, 100),
        (93, 0, 93, 93),
    ],
)
def test_the_last_part_of_one_pass_fills_up_what_the_parts_before_left(
    longest: int, before: int, asked: int, expected: int
) -> None:
    assert expected == one_pass_steps(longest, asked=asked, before=before)


@pytest.mark.parametrize(
    ("steps", "text"), [(1, "steps=1"), (16, "steps=16"), ("auto", 'steps="auto"')]
)
def test_a_policy_is_named_as_it_was_written(steps: Any, text: str) -> None:
    assert text == describe(policy_for(steps, largest=64))


def test_the_policy_is_pure() -> None:
    import ast
    from pathlib import Path

    import eagle.runs.policy as module

    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    imported = itertools.chain.from_iterable(
        [node.module or ""]
        if isinstance(node, ast.ImportFrom)
        else [alias.name for alias in node.names]
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
    )

    assert {"__future__", "collections.abc", "dataclasses", "typing"} == set(imported)


@given(
    k=st.integers(1, 40),
    needed=st.integers(0, 300),
    max_steps=st.integers(1, 300),
    every=st.none() | st.integers(1, 120),
)
def test_what_was_launched_is_known_from_the_steps_that_were_taken(
    k: int, needed: int, max_steps: int, every: int | None
) -> None:
    played = launches(FixedSteps(k), needed=needed, max_steps=max_steps, every=every)

    assert played == equal_launches(k, taken=total_steps(played), every=every)
    taken = min(needed, max_steps)
    asked = begun_launches(k, taken=taken, max_steps=max_steps, every=every)
    assert total_steps(played) == asked


@given(
    needed=st.integers(0, 900), max_steps=st.integers(1, 900), every=st.none() | st.integers(1, 400)
)
def test_what_one_pass_counts_for_is_known_from_its_longest_sample(
    needed: int, max_steps: int, every: int | None
) -> None:
    counts, taken, furthest = dict[int, int](), 0, min(needed, max_steps)
    while taken < furthest:
        asked = next_launch(None, taken=taken, max_steps=max_steps, every=every)
        longest = min(asked, furthest - taken)
        k = asked
        if needed <= taken + asked:  # all samples are done in it
            k = one_pass_steps(longest, asked=asked, before=taken)
        counts[k] = counts.get(k, 0) + 1
        taken += asked

    assert counts == one_pass_launches(furthest, max_steps=max_steps, every=every)
