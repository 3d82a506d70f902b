"""How many steps a device takes in its next launch: plain numbers, and the same compiled."""

from __future__ import annotations

import numpy as np
import pytest

from eagle.devices.cuda.kernels import (
    CHUNK,
    begun,
    counted,
    decide,
    decide_in_turns,
    greatest,
    picked,
    summed,
)
from eagle.pace import Pace, auto, fixed, is_due, is_through, next_steps, one_pass
from eagle.runs.course import Plan
from eagle.runs.on_device import pace_of
from eagle.runs.policy import AutoSteps, FixedSteps, OnePass, OneStep, StepPolicy


@pytest.mark.parametrize(
    ("expected", "steps", "finished", "going"),
    [
        (32, 16, 0, 1000),
        (32, 16, 62, 938),
        (16, 16, 63, 937),
        (16, 16, 250, 750),
        (8, 16, 251, 749),
        (64, 64, 0, 1),
        (8, 8, 5, 0),
        (32, 64, 1, 1),
    ],
)
def test_launches_get_longer_while_few_become_done(
    expected: int, steps: int, finished: int, going: int
) -> None:
    assert expected == next_steps(steps, finished, going, 8, 64)


def test_a_fixed_pace_stays() -> None:
    for steps in (1, 7, 2**62, 2**63 - 1):
        pace = fixed(steps)
        assert steps == next_steps(pace.first, 3, 4, pace.least, pace.most)
        assert steps == next_steps(pace.first, 0, 4, pace.least, pace.most)


def test_the_device_begins_with_16_steps_and_takes_8_to_64() -> None:
    assert Pace(16, 8, 64) == auto(64)
    assert Pace(4, 4, 4) == auto(4)


@pytest.mark.parametrize(
    ("expected", "n"),
    [
        (Pace(4096, 4096, 4096), 1),
        (Pace(4096, 4096, 4096), 1000),
        (Pace(64, 16, 4096), 1001),
        (Pace(64, 16, 4096), 15_999),
        (Pace(4096, 4096, 4096, 4000), 16_000),
        (Pace(4096, 4096, 4096, 4000), 2**31),
    ],
)
def test_one_pass_takes_what_can_be_waited_for(expected: Pace, n: int) -> None:
    assert expected == one_pass(n, crowd=1000)


@pytest.mark.parametrize(
    ("expected", "n", "steps"),
    [
        (Pace(64, 16, 4096), 16_000, 63),
        (Pace(4096, 4096, 4096, 4000), 16_000, 64),
        (Pace(64, 16, 4096), 2**20, 1),
        (Pace(64, 16, 429), 10**7, 1),
        (Pace(64, 16, 64), 2**31, 1),
    ],
)
def test_a_few_steps_are_not_taken_in_turns(expected: Pace, n: int, steps: int) -> None:
    assert expected == one_pass(n, crowd=1000, steps=steps)


@pytest.mark.parametrize(
    ("expected", "policy", "max_steps", "every"),
    [
        (4000, OnePass(), 10**6, None),
        (4000, OnePass(), 10**6, 64),
        (0, OnePass(), 10**6, 63),
        (0, OnePass(), 63, None),
        (0, OneStep(), 10**6, None),
        (0, FixedSteps(500), 10**6, None),
        (0, AutoSteps(64), 10**6, None),
    ],
)
def test_one_pass_of_many_samples_and_steps_is_taken_in_turns(
    expected: int, policy: StepPolicy, max_steps: int, every: int | None
) -> None:
    plan = Plan(policy, max_steps, every=every)
    assert expected == pace_of(plan, 10**6, crowd=1000).takers


def test_turns_are_over_when_all_were_taken_and_nobody_is_in_the_midst_of_one() -> None:
    assert [False, False, True, True] == [
        is_through(following, 10, holding)
        for following, holding in ((9, 0), (42, 1), (10, 0), (42, 0))
    ]


@pytest.mark.parametrize(
    ("over", "ended", "following", "holding"),
    [
        (False, 3, 50, 0),
        (False, 3, 130, 2),
        (True, 3, 130, 0),
        (True, 7, 50, 0),
        (True, 7, 130, 0),
    ],
)
def test_what_comes_after_a_launch_in_turns(
    over: bool, ended: int, following: int, holding: int
) -> None:
    words = {"asked": 500, "ended": ended, "longest": 120, "following": following}
    words |= {"holding": holding, "held": 9, "going": 7, "left": 500, "taken": 1000}
    words |= {"last": 0, "furthest": 1030, "launches": 4, "goes": 1}
    planes = {name: np.array([number], np.int64) for name, number in words.items()}
    decide_in_turns(**planes, count=100)
    found = {name: int(plane[0]) for name, plane in planes.items()}
    due = {"asked": 500, "ended": 0, "holding": 0, "going": 7 - ended, "last": 500}
    due |= {"furthest": 1120, "launches": 5, "goes": int(not over)}
    if over:
        due |= {"longest": 0, "following": 0, "held": 0, "left": 0, "taken": 1500}
    else:
        due |= {"longest": 120, "following": following, "held": holding, "left": 500, "taken": 1000}
    assert due == found


@pytest.mark.parametrize(
    ("expected", "going", "places"),
    [(True, 600, 1200), (False, 601, 1200), (False, 0, 1200), (False, 1, 1000), (True, 1, 1001)],
)
def test_what_is_left_is_picked_when_half_is_done(expected: bool, going: int, places: int) -> None:
    assert expected is is_due(going, places, 1000)


def test_decisions_are_the_same_where_hawk_compiled_them() -> None:
    rng = np.random.default_rng(0)
    n = 500
    asked = rng.choice([1, 8, 16, 32, 64, 100], n)
    before = rng.integers(1, 3000, n)
    ended = np.minimum(rng.integers(0, 3000, n), before)
    left = asked + rng.choice([0, 1, 20, 5000], n)
    taken, live = rng.integers(0, 500, n), before + rng.integers(0, 3000, n)
    longest = rng.integers(1, 9, n)
    state = {"asked": asked, "ended": ended, "live": live, "longest": longest, "pace": asked}
    state |= {"going": before, "left": left, "taken": taken}
    planes = {name: np.array(each, np.int64) for name, each in state.items()}
    for name in ("last", "furthest", "launches", "picks", "mapped", "due", "goes"):
        planes[name] = np.zeros(n, np.int64)
    decide(**planes, least=8, most=64, crowd=1000)
    going = before - ended
    pace = [next_steps(int(k), int(f), int(g), 8, 64) for k, f, g in zip(asked, ended, going)]
    goes = (going > 0) & (left > asked)
    due = [
        bool(w) and is_due(int(g), int(p), 1000) for w, g, p in zip(goes, going, live, strict=True)
    ]
    assert pace == planes["pace"].tolist()
    assert np.minimum(pace, left - asked).tolist() == planes["asked"].tolist()
    assert goes.tolist() == planes["goes"].astype(bool).tolist()
    assert any(due)
    for name in ("picks", "mapped", "due"):
        assert due == planes[name].astype(bool).tolist()
    assert np.where(due, going, live).tolist() == planes["live"].tolist()
    assert (taken + asked).tolist() == planes["taken"].tolist()
    furthest = taken + np.where(going > 0, asked, longest)
    assert furthest.tolist() == planes["furthest"].tolist()
    assert asked.tolist() == planes["last"].tolist()
    assert {0} == {*planes["ended"].tolist(), *planes["longest"].tolist()}


@pytest.mark.parametrize("n", [1, CHUNK - 1, CHUNK, CHUNK + 1, 20_001])
@pytest.mark.parametrize("share", [0.0, 0.4, 0.99, 1.0])
def test_what_goes_on_is_picked_in_order(n: int, share: float) -> None:
    over = np.random.default_rng(n).random(n) < share
    due = np.flatnonzero(~over)
    chunks = -(-n // CHUNK)
    counts = counted(over, n, n=chunks)
    assert len(due) == counts.sum()
    begins = begun(counts, summed(counts, chunks, n=-(-chunks // 64)), n=chunks)
    places = picked(over, begins, np.array([len(due)]), n, chunks, n=n)
    assert due.tolist() == places[: len(due)].tolist()
    assert {n} >= set(places[len(due) :].tolist())


def test_the_greatest_is_found_chunk_by_chunk() -> None:
    numbers = np.random.default_rng(1).integers(0, 10**12, 1000)
    assert numbers.max() == greatest(numbers, 1000, n=4).max()
