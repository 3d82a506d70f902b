"""Compiled kernels give the same state for every number of steps a launch takes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eagle
import hawk
from hawk import Index, Mutable, Scalar, Terminated


@hawk.kernel
def swaps(
    x: Mutable[Scalar],
    v: Mutable[Scalar],
    a: Mutable[Scalar],
    b: Mutable[Scalar],
    p: Mutable[Index],
    q: Mutable[Index],
    r: Mutable[Scalar],
    s: Mutable[Scalar],
    t: Mutable[Scalar],
):
    x, v = v, x
    b = a
    a = x
    p, q = q, p + q
    r, s, t = s, t, r


@hawk.kernel
def never(over: Terminated, count: Mutable[Index], x: Mutable[Scalar]):
    count += 1
    x = x * 0.5
    over = x < 0.0


def states(n: int) -> dict[str, Any]:
    planes = {name: np.arange(n) + 10.0 * place for place, name in enumerate("xvabrst")}
    return {**planes, "p": np.zeros(n, np.int64), "q": np.ones(n, np.int64)}


@pytest.mark.parametrize("steps", [1, 2, 3, 4, 12, 60])
def test_swaps_shifts_and_rotations_of_states_read_what_the_step_began_with(steps: int) -> None:
    due = hawk.run_python(swaps, steps=60, **states(37))
    got = states(37)
    bound = eagle.deploy(hawk.steps(swaps, steps)).bind(**got)
    for _ in range(60 // steps):
        bound.launch()

    assert 1548008755920 == got["p"][0]  # the 60th number of Fibonacci
    for name, array in got.items():
        assert due[name].tobytes() == array.tobytes(), name


@pytest.mark.parametrize("steps", [1, 3, 16, "auto", "one pass"])
def test_no_sample_takes_more_than_max_steps(steps: Any) -> None:
    count, x = np.zeros(1001, np.int64), np.ones(1001)
    if steps == "one pass":
        eagle.simulate(never, max_steps=100, count=count, x=x)
    else:
        deployed = eagle.deploy(hawk.steps(never, steps))
        eagle.run_until_done(deployed, max_steps=100, count=count, x=x)

    assert [100] == np.unique(count).tolist()
