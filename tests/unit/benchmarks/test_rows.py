"""Rows of the benchmarks: kernels and plain steps compute the same, and each can be measured."""

import math

import numpy as np
import pytest

from benchmarks import montecarlo, rows, steps, stream
from benchmarks.kernels import ROWS
from benchmarks.limit.build import NoLimit
from benchmarks.limit.workloads import make
from benchmarks.runner import Arm, Missing


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a compiler of C++ nor Numba: they take seconds."""

    def none(*_: object) -> None:
        raise NoLimit("no compiler")

    monkeypatch.setattr(rows, "Limit", none)
    monkeypatch.setattr(stream, "library", none)
    for module, name in ((rows, "numba_while"), (stream, "numba_loop"), (montecarlo, "numba_loop")):
        monkeypatch.setattr(module, name, lambda *_: Missing("numba", "not asked for"))


@pytest.mark.parametrize("name", ["regimes", "kepler", "adaptive"])
def test_a_kernel_and_the_plain_step_end_in_the_same_state(name: str) -> None:
    workload, step = make(name, dtype="float64", samples=3), steps.of(math)[name]
    ours = rows.ours(workload, fast=False)
    ours.seconds()

    for i in range(3):
        state = [float(plane[i]) for plane in workload.state]
        inputs, done = [float(plane[i]) for plane in workload.inputs], False
        while not done:
            state, done = step(state, inputs, workload.shared)
        due = [number for k, number in enumerate(state) if k not in workload.rough]
        assert np.allclose(due, [plane[i] for plane in ours.out()], rtol=1e-6, atol=1e-9)


def test_steps_are_counted_where_their_length_differs() -> None:
    workload = make("adaptive", dtype="float64", samples=3)

    assert 3 * 20 < rows.steps_in_all(workload) < 3 * workload.max_steps


def test_a_row_without_a_limit_is_measured_all_the_same() -> None:
    result = rows.measure(make("adaptive", dtype="float64", samples=3), rounds=1)

    assert [None, ["accipiter, bound", "numba"]] == [result.limit, [r.name for r in result.rows]]


@pytest.mark.parametrize(
    ("measure", "names"),
    [
        (montecarlo.measure, ["accipiter", "numba"]),
        (stream.measure, ["limit", "accipiter", "numba", "NumPy"]),
    ],
)
def test_rows_that_are_no_workloads_can_be_measured(measure: object, names: list[str]) -> None:
    assert callable(measure)
    assert names == [row.name for row in measure("float64", 64, 1).rows]


def test_prices_are_those_of_the_model() -> None:
    arm = montecarlo.ours("float64", 2000)
    assert isinstance(arm, Arm)
    arm.seconds()
    [[mean], [deviation]] = arm.out()

    grown = [
        math.exp((montecarlo.DRIFT + montecarlo.VOLATILITY**2 / 2) * day) for day in range(1, 251)
    ]
    assert abs(mean / sum(grown) - 1) < 0.02
    assert 0 < deviation < 0.3 * mean


def test_samples_can_be_put_in_the_order_of_their_stop_times() -> None:
    plain, up, down = (
        make("spread100", dtype="float64", samples=50, order=order)
        for order in ("", "sorted", "reversed")
    )

    assert np.array_equal(np.sort(plain.steps()), up.steps())
    assert np.array_equal(up.steps()[::-1], down.steps())
    pairs = [sorted(zip(*(plane.tolist() for plane in each.inputs))) for each in (plain, up, down)]
    assert pairs[0] == pairs[1] == pairs[2], "each sample keeps its own inputs"


def test_small_and_large_batches_and_orders_are_among_what_is_measured() -> None:
    chosen = rows.chosen([], 100_000)

    assert {row.name for row in chosen} == set(ROWS)
    sizes = {row.samples for row in chosen if row.name == "oscillator"}
    assert {1_000, 10_000, 100_000, 1_000_000, 10_000_000} == sizes
    assert {"", "sorted", "reversed"} == {row.order for row in chosen}
    assert [rows.Chosen("orbit", 7)] == rows.chosen(["orbit", "stream"], 7)
