"""How many steps a device takes in its next launch: plain numbers, and the same compiled."""

from __future__ import annotations

import numpy as np
import pytest

from eagle.devices.cuda.kernels import CHUNK, begun, counted, decide, greatest, picked, summed
from eagle.pace import Pace, auto, fixed, is_due, next_steps, one_pass


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
        (Pace(64, 16, 4096), 2**20),
        (Pace(64, 16, 429), 10**7),
        (Pace(64, 16, 64), 2**31),
    ],
)
def test_one_pass_takes_what_can_be_waited_for(expected: Pace, n: int) -> None:
    assert expected == one_pass(n, crowd=1000)


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
