"""Compiled kernels: whatever the door, the batch, the threads and the launches, the same bits."""

from typing import Any

import numpy as np
import pytest

import eagle
import hawk
from hawk import Mutable, Param, Scalar, Terminated

N = 203
"""Some whole groups and a rest, at every width."""


@hawk.kernel(steps="auto")
def swing(
    omega: Scalar,
    t_end: Scalar,
    dt: Param,
    over: Terminated,
    x: Mutable[Scalar],
    v: Mutable[Scalar],
    t: Mutable[Scalar],
):
    x0, v0 = x, v
    x = x0 + dt * v0
    v = v0 - dt * omega * omega * x0
    t += dt
    over = t >= t_end


def planes(dtype: Any, picked: Any = slice(None)) -> dict[str, Any]:
    """Samples that stop after 1 to 300 steps, in no order."""
    t_end = np.random.default_rng(7).uniform(0.001, 0.3, N)
    columns = {
        "omega": np.linspace(1.0, 3.0, N),
        "t_end": t_end,
        "x": np.ones(N),
        "v": np.zeros(N),
        "t": np.zeros(N),
    }
    chosen = {name: np.ascontiguousarray(column[picked]) for name, column in columns.items()}
    return {name: column.astype(dtype) for name, column in chosen.items()} | {"dt": 1e-3}


def bits(batch: dict[str, Any]) -> list[bytes]:
    return [batch[name].tobytes() for name in ("x", "v", "t")]


@pytest.fixture(params=[np.float64, np.float32], ids=["float64", "float32"])
def dtype(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture
def expected(dtype: Any) -> list[bytes]:
    """The batch one sample at a time, one step a launch."""
    rows = [planes(dtype, slice(i, i + 1)) for i in range(N)]
    for row in rows:
        eagle.run_until_done(swing.step, max_steps=1000, **row)
    return [np.concatenate([row[name] for row in rows]).tobytes() for name in ("x", "v", "t")]


@pytest.mark.parametrize("steps", [1, 7, 64, 1000, "auto"])
def test_launches_of_any_length_end_in_the_same_bits(
    steps: Any, dtype: Any, expected: list[bytes]
) -> None:
    batch = planes(dtype)

    report = eagle.run_until_done(hawk.steps(swing, steps), max_steps=1000, **batch)

    assert report.done
    assert expected == bits(batch)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_one_pass_ends_in_the_same_bits_on_any_number_of_threads(
    threads: int, dtype: Any, expected: list[bytes]
) -> None:
    batch = planes(dtype)

    result = eagle.simulate(swing, max_steps=1 << 40, threads=threads, **batch)

    assert result.done
    assert expected == bits(batch)


def test_launches_by_hand_end_in_the_same_bits(dtype: Any, expected: list[bytes]) -> None:
    batch = planes(dtype)
    bound = eagle.deploy(swing).bind(**batch)

    while not bound.finished.all():
        bound.launch(5)

    assert expected == bits(batch)


def test_direct_calls_end_in_the_same_bits(dtype: Any, expected: list[bytes]) -> None:
    batch, over = planes(dtype), np.zeros(N, bool)

    while not over.all():
        swing(**batch, over=over)

    assert expected == bits(batch)


def test_a_sample_does_not_know_its_place(dtype: Any, expected: list[bytes]) -> None:
    order = np.random.default_rng(8).permutation(N)
    batch = planes(dtype, order)

    eagle.simulate(swing, max_steps=1000, **batch)

    back = np.argsort(order)
    assert expected == bits({name: batch[name][back] for name in ("x", "v", "t")})


@pytest.mark.parametrize("steps", [1, 7, "auto", None])
def test_no_sample_passes_the_cap(steps: Any, dtype: Any) -> None:
    batch = planes(dtype)
    if steps is None:
        status = eagle.simulate(swing, max_steps=100, **batch).report
    else:
        status = eagle.run_until_done(hawk.steps(swing, steps), max_steps=100, **batch)
    reference = planes(dtype)
    eagle.deploy(hawk.steps(swing, 100)).bind(**reference).launch()

    assert not status.done
    assert status.exact_steps
    assert 100 == status.steps
    assert bits(reference) == bits(batch)


@hawk.kernel
def scale(x: Scalar, by: Scalar = 2.0, plus: Param = 0.5) -> tuple[Scalar, Scalar]:
    return by * x, x + plus


def test_a_number_and_an_array_of_it_give_the_same_bits(dtype: Any) -> None:
    x = np.linspace(0.0, 1.0, N).astype(dtype)

    one = scale(x, 0.1)
    all_the_same = scale(x, np.full(N, 0.1, dtype))
    left_out = scale(x)

    assert dtype is one[0].dtype.type
    assert [plane.tobytes() for plane in one] == [plane.tobytes() for plane in all_the_same]
    assert np.array_equal(2 * x, left_out[0])
    assert np.array_equal(x + dtype(0.5), left_out[1])


def test_a_lone_sample_comes_back_as_numbers() -> None:
    assert (3.0, 2.0) == scale(1.5, plus=0.5)


def test_an_output_may_be_an_input() -> None:
    x, y = np.arange(float(N)), np.zeros(N)

    scale(x, out=(x, y))

    assert np.array_equal(2.0 * np.arange(N), x)
    assert np.array_equal(np.arange(N) + 0.5, y)
