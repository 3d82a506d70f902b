"""Reductions along dimensions of a grid: against NumPy, against CPython, and at every door.

Numbers are whole, so NumPy's sums are exact and any order of adding gives them.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import eagle
import hawk
from eagle.active import ActiveSet
from eagle.devices.host.device import HostLoaded
from hawk import Bool, Grid, Index, Int32, Mutable, Param, Scalar, Terminated, UInt32
from hawk.ir.printer import to_text
from hawk.ir.reduce import lines_of
from hawk.ir.types import DType
from tests.unit.eagle.test_collective import WAYS

Array = Any
SHAPES = [(1, 1), (1, 9), (9, 1), (3, 5), (2, 37), (11, 3), (2, 1100), (700, 2)]


@hawk.kernel
def rows(
    u: Grid["r", "c"], k: Grid[Int32, "r", "c"]
) -> tuple[Scalar, Scalar, Scalar, Scalar, Index, Index, Int32, Bool]:
    total, mean = hawk.sum(u, over="c"), hawk.mean(u, over="c", where=k > 0)
    least, greatest = hawk.min(u, over="c"), hawk.max(u, over="c", where=k > 0)
    first, last = hawk.argmin(u, over="c", where=k > 0), hawk.argmax(u, over="c")
    return (
        total,
        mean,
        least,
        greatest,
        first,
        last,
        hawk.max(k, over="c"),
        hawk.any(k > 4, over="c"),
    )


@hawk.kernel
def columns(
    u: Grid["r", "c"], k: Grid[UInt32, "r", "c"]
) -> tuple[Scalar, Scalar, Scalar, Scalar, Index, Index, UInt32, Bool]:
    total, mean = hawk.sum(u, over="r"), hawk.mean(u, over="r", where=k > 4)
    least, greatest = hawk.min(u, over="r"), hawk.max(u, over="r", where=k > 4)
    first, last = hawk.argmin(u, over="r", where=k > 4), hawk.argmax(u, over="r")
    return (
        total,
        mean,
        least,
        greatest,
        first,
        last,
        hawk.sum(k, over="r"),
        hawk.all(k > 0, over="r"),
    )


def numbers(shape: tuple[int, ...], dtype: type = np.float64) -> Array:
    """Whole numbers, many of them alike, some of them -0.0."""
    rng = np.random.default_rng(sum(shape))
    return np.copysign(rng.integers(0, 9, shape), rng.normal(size=shape)).astype(dtype)


def by_numpy(u: Array, k: Array, axis: int) -> list[Array]:
    """What `rows` and `columns` give, by NumPy."""
    kept = k > 0 if axis else k > 4
    few: Any = {"axis": axis, "keepdims": True}
    some = kept.any(**few)
    with np.errstate(all="ignore"):
        mean = u.sum(where=kept, **few) / kept.sum(**few).astype(u.dtype)
    first = np.where(some, np.where(kept, u, np.inf).argmin(**few), -1)
    greatest = u.max(where=kept, initial=-np.inf, **few)
    given = [u.sum(**few), mean, u.min(**few), greatest, first, u.argmax(**few)]
    given += [k.max(**few), (k > 4).any(**few)] if axis else [k.sum(**few), (k > 0).all(**few)]
    return [np.broadcast_to(each, u.shape) for each in given]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_sample_reads_the_number_of_its_line_as_numpy_has_it(
    shape: tuple[int, ...], dtype: type
) -> None:
    u = np.abs(numbers(shape, dtype))
    k = np.random.default_rng(1).integers(0, 7, shape)
    for kernel, axis, kind in ((rows, 1, np.int32), (columns, 0, np.uint32)):
        out, due = kernel(u, k.astype(kind)), by_numpy(u, k.astype(kind), axis)
        for place, (got, wanted) in enumerate(zip(out, due, strict=True)):
            np.testing.assert_array_equal(got.reshape(shape), wanted, f"{kernel.name} {place}")


@pytest.mark.parametrize("shape", SHAPES[:6])
def test_the_bits_of_the_users_own_function_in_cpython(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(3)
    u = rng.normal(size=shape) * 10.0 ** rng.integers(-9, 9, shape)
    u.reshape(-1)[::5] = -0.0
    if u.size > 30:
        u.reshape(-1)[17] = np.nan
    k = rng.integers(0, 7, shape)
    for kernel, kind in ((rows, np.int32), (columns, np.uint32)):
        given = u, k.astype(kind)
        due, program = hawk.run_python(kernel, *given), hawk.interpret(kernel, *given)
        for place, got in enumerate(kernel(*given)):
            name = f"out{place}"
            for other in (due[name], program[name]):
                np.testing.assert_array_equal(got, other, f"{kernel.name} {name}")
                np.testing.assert_array_equal(np.signbit(got), np.signbit(other))


@hawk.kernel
def of_three(
    u: Grid["z", "y":4, "x"],
) -> tuple[Scalar, Scalar, Scalar, Scalar, Index, Scalar, Scalar]:
    outer, ends = hawk.sum(u, over=("z", "y")), hawk.sum(u, over=("x", "z"))
    inner, middle = hawk.sum(u, over=("y", "x")), hawk.sum(u, over="y")
    all_of_them = hawk.sum(u, over=("x", "y", "z"))
    return outer, ends, inner, middle, hawk.argmax(u, over=("z", "x")), all_of_them, hawk.sum(u)


@pytest.mark.parametrize("shape", [(1, 4, 1), (3, 4, 5), (2, 4, 40)])
def test_several_dimensions_in_any_order_and_some_known(shape: tuple[int, ...]) -> None:
    u = numbers(shape)
    out = [each.reshape(shape) for each in of_three(u)]
    axes = [(0, 1), (0, 2), (1, 2), (1,)]
    for got, over in zip(out[:4], axes, strict=True):
        np.testing.assert_array_equal(got, np.broadcast_to(u.sum(over, keepdims=True), shape))
    place = u.transpose(1, 0, 2).reshape(4, -1).argmax(axis=1)
    np.testing.assert_array_equal(out[4], np.broadcast_to(place[None, :, None], shape))
    assert out[5].tobytes() == out[6].tobytes()
    due = hawk.run_python(of_three, u)
    for place, got in enumerate(out):
        assert got.tobytes() == due[f"out{place}"].tobytes()


def test_a_line_has_the_bits_of_a_batch_of_its_own() -> None:
    @hawk.kernel
    def alone(x: Scalar) -> tuple[Scalar, Scalar]:
        return hawk.sum(x), hawk.mean(x, where=x > 0.0)

    @hawk.kernel
    def among_others(x: Grid["r", "c"]) -> tuple[Grid["r", "c"], Grid["r", "c"]]:
        return hawk.sum(x, over="c"), hawk.mean(x, over="c", where=x > 0.0)

    x = np.random.default_rng(2).normal(size=(3, 2500))
    totals, means = among_others(x)
    for row, total, mean in zip(x, totals, means, strict=True):
        due_total, due_mean = alone(np.ascontiguousarray(row))
        assert total.tobytes() == due_total.tobytes()
        assert mean.tobytes() == due_mean.tobytes()


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_a_grid_of_no_samples(shape: tuple[int, ...]) -> None:
    out = rows(np.zeros(shape), np.zeros(shape, np.int32))
    assert [each.size for each in out] == [0] * 8
    assert lines_of((0, 3), (1,)) == []


@hawk.kernel
def level(u: Mutable[Grid["r", "c"]], rate: Param, flat: Terminated):
    """Rows go towards their mean, and columns; what is flat stops, and counts no more."""
    low, high = hawk.min(u, over="c"), hawk.max(u, over="c")
    middle = hawk.mean(u, over="c") - 1e-3 * hawk.sum(u, over="r", where=u > 0.5 * (low + high))
    u = u + rate * (middle - u)
    some = hawk.any(u > 0.0, over="r")
    flat = high - low < 0.2 and some


STEPS = 15


def field(shape: tuple[int, int]) -> Array:
    return np.random.default_rng(5).normal(size=shape) * np.linspace(0.1, 3.0, shape[0])[:, None]


@pytest.fixture(scope="module")
def levelled() -> dict[str, Array]:
    return hawk.run_python(level, field((6, 5)), 0.1, steps=STEPS)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_the_same_bits_for_any_threads_and_any_way_to_run(
    way: Callable[..., Any], threads: int, levelled: dict[str, Array]
) -> None:
    assert 0 < levelled["flat"].sum() < 30
    u = field((6, 5))
    way(level, max_steps=STEPS, u=u, rate=0.1, threads=threads)
    assert u.tobytes() == levelled["u"].tobytes()


def test_many_threads_share_a_large_grid() -> None:
    start = field((150, 300))
    few, many = start.copy(), start.copy()
    eagle.simulate(level, max_steps=4, u=few, rate=0.3, threads=1)
    eagle.simulate(level, max_steps=4, u=many, rate=0.3, threads=3)
    assert few.tobytes() == many.tobytes()


def test_a_run_that_is_interrupted_goes_on_to_the_same_bits(
    monkeypatch: pytest.MonkeyPatch, levelled: dict[str, Array]
) -> None:
    launch, calls = HostLoaded.launch, 0

    def launch_or_stop(self: HostLoaded, *args: Any, **options: Any) -> None:
        nonlocal calls
        calls += 1
        if calls % 7 == 3:
            raise KeyboardInterrupt
        launch(self, *args, **options)
        if calls % 7 == 5:
            raise KeyboardInterrupt

    u = field((6, 5))
    simulation = eagle.simulation(level, max_steps=STEPS, u=u, rate=0.1)
    monkeypatch.setattr(HostLoaded, "launch", launch_or_stop)
    interrupts = 0
    while True:
        try:
            simulation.run()
            break
        except KeyboardInterrupt:
            interrupts += 1
    assert interrupts > 10
    assert u.tobytes() == levelled["u"].tobytes()


def test_a_graph_launches_it_as_a_call_does() -> None:
    @hawk.kernel
    def share(u: Grid["r", "c"]) -> Grid["r", "c"]:
        return u / hawk.sum(u, over="c") + hawk.argmax(u, over="r")

    @eagle.Graph.builder
    def twice(u, out):
        g = eagle.Graph()
        between = share(u)
        eagle.copy(share(between), into=out)
        return g

    u, out = np.abs(field((4, 6))), np.zeros((4, 6))
    due = share(share(u))
    graph = twice(u, out)
    for _ in range(2):
        graph.launch()
        assert out.tobytes() == due.tobytes()
    xp: Any = eagle.xp_for("simulated")
    there = xp.zeros((4, 6))
    twice(xp.asarray(u), there).launch()
    assert xp.asnumpy(there).tobytes() == due.tobytes()


def test_samples_are_not_moved() -> None:
    u, mask = field((3, 4)), np.zeros(12, np.bool)
    bound = eagle.deploy(level).bind(u=u, rate=0.5, flat=mask)
    row = np.zeros(12)
    with pytest.raises(ValueError, match="moves samples, and level asks for hawk.sample_index"):
        bound.launch(active=ActiveSet(mask, reorder=0.5, planes=(row,)))
    kept = np.zeros(12, np.bool)
    kept[:4] = True  # the first row is left out, and so out of the sums along columns
    before = u.copy()
    bound.launch(active=ActiveSet(kept))
    assert u[0].tobytes() == before[0].tobytes()
    alone = before.copy()
    eagle.deploy(level)(alone, 0.5, flat=kept.copy())
    assert alone[1:].tobytes() == u[1:].tobytes()


def test_a_kernel_in_a_kernel_and_a_helper_may_reduce_along_a_dimension() -> None:
    def spread(value: float, along: str) -> float:
        return hawk.max(value, over=along) - hawk.min(value, over=along)

    @hawk.kernel
    def scaled(v: Grid["r", "c"]) -> Scalar:
        return v / (1.0 + spread(v, "c"))

    @hawk.kernel
    def both(v: Grid["r", "c"]) -> Grid["r", "c"]:
        return scaled(v) + spread(v, "r")

    v = field((5, 6))
    assert both(v).tobytes() == hawk.run_python(both, v)["out"].tobytes()
    one, other = (np.ptp(v, axis=axis, keepdims=True) for axis in (1, 0))
    np.testing.assert_array_equal(both(v), v / (1.0 + one) + other)


def test_what_cpython_says_of_a_wrong_dimension() -> None:
    @hawk.kernel
    def wrong(u: Grid["r", "c"]) -> Scalar:
        return hawk.sum(u, over="q")

    with pytest.raises(TypeError, match=r"the grid has no dimension 'q'; it has r, c \[H305\]"):
        hawk.run_python(wrong, np.zeros((2, 2)))


def test_a_kernel_tells_of_its_lines(capsys: pytest.CaptureFixture[str]) -> None:
    level.explain()
    told = capsys.readouterr().out
    assert 'hawk.min(u, over="c")' in told
    assert "a number for each line of the grid, made before each step" in told
    program = to_text(level.trace(DType.F64))
    assert "reduce min 0 = min %u in lines of extent of r x [extent of c]\n" in program
    assert program.count(" in lines of [extent of r] x extent of c") == 2
