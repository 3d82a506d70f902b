"""Races: who takes part how often, and what is said of an arm that fails or does not agree."""

import itertools
from collections.abc import Callable

import numpy as np
import pytest

from benchmarks.runner import PATIENCE, Arm, Disagreement, Failed, Missing, Race, race, turns


def arm(name: str, value: float = 1.0, *, remote: bool = False, run: object = None) -> Arm:
    result = np.array([value])
    work: Callable[[], object] = run if callable(run) else (lambda: 0.25)
    return Arm(name, lambda: None, work, lambda: [result], times_itself=remote)


def raced(*arms: Arm | Missing, rounds: int = 4) -> Race:
    return race("a race", arms, sample_steps=1, tolerance=0.0, rounds=rounds)


def test_an_arm_in_another_process_tells_its_own_time() -> None:
    result = raced(arm("here"), arm("there", remote=True))

    assert [0.25] * 4 == result.rows[1].seconds
    assert 0.25 > max(result.rows[0].seconds)


def test_arms_of_this_process_must_agree() -> None:
    with pytest.raises(Disagreement, match=r"b differs from a by 1\.0e\+00, more than 0"):
        raced(arm("a"), arm("b", 2.0))


def test_an_arm_elsewhere_that_does_not_agree_is_named_and_left_out() -> None:
    result = raced(arm("a"), arm("b", 2.0, remote=True), Missing("c", "not installed"))

    assert ["", "b differs from a by 1.0e+00, more than 0.0e+00", "not installed"] == [
        row.missing for row in result.rows
    ]
    assert "b                         missing: b differs" in result.table()


def test_an_arm_that_gives_up_on_its_way_is_named_and_left_out() -> None:
    runs = itertools.count()

    def tires() -> float:
        if next(runs) == 2:
            raise Failed("ended with 1: too tired")
        return 0.1

    result = raced(arm("a"), arm("b", remote=True, run=tires))

    assert "ended with 1: too tired" == result.rows[1].missing
    assert 4 == len(result.rows[0].seconds)


def test_the_one_run_of_an_arm_that_is_very_slow_is_the_one_that_is_compared() -> None:
    result = raced(arm("a"), arm("b", remote=True, run=lambda: 3 * PATIENCE))

    assert [3 * PATIENCE] == result.rows[1].seconds


@pytest.mark.parametrize(
    ("due", "took", "rounds", "fewest"),
    [
        (set(range(7)), 0.01, 7, 3),
        ({0, 1, 3, 5}, PATIENCE / 4, 7, 3),
        ({0, 2, 4}, PATIENCE, 7, 3),
        ({0}, PATIENCE, 7, 1),
        ({0, 1}, PATIENCE, 2, 3),
        (set[int](), 3 * PATIENCE, 7, 3),
        (set[int](), 0.01, 0, 3),
    ],
)
def test_slow_arms_take_part_in_fewer_rounds(
    due: set[int], took: float, rounds: int, fewest: int
) -> None:
    assert due == turns(took, rounds, fewest)
