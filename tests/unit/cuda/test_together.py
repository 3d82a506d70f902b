"""Kernels that reduce or scatter, and reductions, in graphs on a GPU: the bits of the host."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import eagle
import hawk
from eagle.devices.cuda import build
from eagle.devices.cuda.driver import Kernel, Kind
from eagle.devices.cuda.together import order_of, places_of
from hawk import Bool, Grid, Index, Int32, Mutable, Param, Scalar, Table, Terminated
from hawk.ir.reduce import lines_of
from tests.unit.cuda.gpus import REAL, TestLibrary, gpu_of_tests


@hawk.kernel
def centred(x: Mutable[Scalar], by: Param = 1.0):
    x -= hawk.mean(x) * by


@hawk.kernel(steps=3)
def ending(
    value: Mutable[Scalar], keep: Mutable[Int32], t: Mutable[Table[Scalar]], end: Terminated
):
    """All that a step may hold, with names that the phases have for planes of theirs."""
    total = hawk.sum(value, where=keep > 0)
    most = hawk.max(value * total)
    hawk.scatter(t)[hawk.sample_index() % 3] += value * 0.1
    hawk.scatter(t, where=value > 0.5)[3].max(most)
    place = hawk.argmin(value)
    keep += 1 if hawk.any(value > 0.9) else 2
    value = value * 0.75 + place * 0.125 - most * 0.01
    end = value > 1.5


@hawk.kernel
def rows(u: Mutable[Grid["r", "c"]]):
    away = u - hawk.mean(u, over="r")
    u = away + hawk.sum(away * away, over="c") * hawk.max(u, over=("r", "c"))


@hawk.kernel
def counted(x: Scalar, counts: Mutable[Table[Index]], any_: Mutable[Table[Bool]]):
    b = hawk.index(x * 3.0)
    hawk.scatter(counts)[b] += 2
    hawk.scatter(any_, where=x > 0.5)[b] |= True


@hawk.kernel
def less(k: Mutable[Int32]):
    k -= 1


@pytest.fixture(params=["cuda"])
def xp() -> Iterator[TestLibrary]:
    with gpu_of_tests() as library:
        yield library


looks_at_the_driver = pytest.mark.skipif(bool(REAL), reason="looks at the driver made for tests")


def same(xp: TestLibrary, builder: Any, times: int = 1, **arrays: Any) -> Any:
    """Launch a graph on the host and on the GPU: all arrays have the same bits. The second one."""
    here = {name: np.array(array) for name, array in arrays.items()}
    there = {name: xp.asarray(np.array(array)) for name, array in arrays.items()}
    make = eagle.Graph.builder(builder)
    make(**here).launch(times)
    graph = make(**there)
    graph.launch(times)
    for name, array in here.items():
        assert bits(array) == bits(xp.asnumpy(there[name])), name
    return graph


def bits(array: Any) -> bytes:
    """Those of an array; a NaN is a NaN."""
    return np.where(array == array, array, np.nan if array.dtype.kind == "f" else 0).tobytes()


def nodes(xp: TestLibrary, work: type = Kernel) -> list[Any]:
    """What nodes of the last graph do, without those in bodies."""
    graph = xp.driver.graphs[max(xp.driver._tops.values())]
    return [each.work for each in graph.nodes.values() if isinstance(each.work, work)]


rng = np.random.default_rng(3)


@looks_at_the_driver
def test_a_kernel_that_reduces_is_a_chain_of_nodes(xp: TestLibrary) -> None:
    def builder(x):
        g = eagle.Graph()
        centred(x)
        return g

    same(xp, builder, 2, x=rng.normal(size=2500))
    assert ["fold_f64", "fold_f64", "fold_kept", "fold_i64", "mean_f64", "centred"] == [
        xp.driver.functions[each.function].name for each in nodes(xp)
    ]


def test_steps_of_samples_that_end(xp: TestLibrary) -> None:
    def builder(value, keep, t):
        g = eagle.Graph()
        ending(value, keep, t)
        return g

    keep = np.arange(70, dtype=np.int32)
    same(xp, builder, value=rng.uniform(size=70), keep=keep, t=np.ones(4))


@looks_at_the_driver
def test_many_steps_are_a_loop(xp: TestLibrary, monkeypatch: pytest.MonkeyPatch) -> None:
    def builder(value, keep, t):
        g = eagle.Graph()
        ending(value, keep, t)
        return g

    arrays = {"value": rng.uniform(size=9), "keep": np.zeros(9, np.int32), "t": np.ones(4)}
    monkeypatch.setattr(build, "MOST_IN_A_ROW", 40)
    same(xp, builder, 2, **arrays)
    found = xp.driver.graphs[max(xp.driver._tops.values())]
    assert [Kind.WHILE] == [each.kind for each in found.nodes.values() if each.kind]


def test_along_dimensions_of_a_grid(xp: TestLibrary) -> None:
    def builder(u):
        g = eagle.Graph()
        rows(u)
        return g

    same(xp, builder, 2, u=rng.normal(size=(5, 7)))


def test_tables_of_numbers_and_of_bools(xp: TestLibrary) -> None:
    def builder(x, counts, any_):
        g = eagle.Graph()
        counted(x, counts, any_)
        return g

    tables = {"counts": np.zeros(3, np.int64), "any_": np.zeros(3, bool)}
    same(xp, builder, 2, x=rng.uniform(size=50), **tables)


@pytest.mark.parametrize("view", ["whole", "turned", "backwards", "every other", "one", "none"])
def test_reductions_of_views(xp: TestLibrary, view: str) -> None:
    shown = {
        "whole": lambda x: x,
        "turned": lambda x: x.T,
        "backwards": lambda x: x[::-1, ::-1],
        "every other": lambda x: x[:, ::2],
        "one": lambda x: x[1, 2],
        "none": lambda x: x[:0],
    }[view]
    kinds = {np.float64: ("sum", "mean", "min", "max"), np.float32: ("mean",), np.uint32: ("sum",)}
    for dtype, names in kinds.items():

        def builder(x, cells, names=names):
            g = eagle.Graph()
            for place, kind in enumerate(names):
                eagle.reduce(shown(x), kind, into=cells[place])
            return g

        x = (rng.normal(size=(3, 400)) * 1e5).astype(dtype)
        same(xp, builder, x=x, cells=np.zeros(4, dtype))


def test_in_branches_and_loops(xp: TestLibrary) -> None:
    def builder(x, y, k, low):
        g = eagle.Graph()
        while k > 0:
            less(k)
            centred(x, 0.5)
            if k == 1:
                eagle.reduce(x, "min", into=low)
                centred(y)
            else:
                centred(y, 0.25)
        return g

    cells = {"k": np.array([3], np.int32), "low": np.zeros(1)}
    same(xp, builder, 2, x=rng.normal(size=6), y=rng.normal(size=6), **cells)


def test_nodes_that_may_run_at_once_have_memory_of_their_own(xp: TestLibrary) -> None:
    def builder(x, y, z):
        g = eagle.Graph()
        centred(x)
        centred(y)
        eagle.reduce(z[:5], "mean", into=z[5])
        return g

    for seed in range(5):
        xp.set_seed(seed)
        same(xp, builder, x=rng.normal(size=6), y=rng.normal(size=6), z=rng.normal(size=6))


@looks_at_the_driver
def test_arrays_and_numbers_are_exchanged(xp: TestLibrary) -> None:
    @eagle.Graph.builder
    def builder(x, by, total):
        g = eagle.Graph()
        centred(x, by)
        eagle.reduce(x, "sum", into=total)
        return g

    start, more = rng.normal(size=6), rng.normal(size=6)
    expected = [start.copy(), more.copy()]
    total, there = np.zeros(1), xp.zeros(1)
    graph = builder(expected[0], 0.5, total)
    graph.launch()
    graph.bind(x=expected[1])
    graph.params(by=0.25)
    graph.launch()

    x, y = xp.asarray(start), xp.asarray(more)
    graph = builder(x, 0.5, there)
    graph.launch()
    graph.bind(x=y)
    graph.params(by=0.25)
    assert 1 == xp.driver.calls.count("instantiate")
    graph.launch()
    assert [each.tobytes() for each in expected] == [xp.asnumpy(each).tobytes() for each in (x, y)]
    assert total.tobytes() == xp.asnumpy(there).tobytes()


def test_a_profile_shows_all_of_it_as_one_node(xp: TestLibrary) -> None:
    @eagle.Graph.builder
    def builder(x, total):
        g = eagle.Graph()
        centred(x)
        eagle.reduce(x, "sum", into=total)
        return g

    profile = builder(xp.ones(2000), xp.zeros(1)).profile(2)
    assert ["centred", "sum of x"] * 2 == [span.item.name for span in profile.spans]


@looks_at_the_driver
def test_no_sample_and_rooms_are_given_back(xp: TestLibrary) -> None:
    def builder(x, y):
        g = eagle.Graph()
        centred(x)
        centred(y)
        return g

    same(xp, builder, x=np.zeros(0), y=np.array([-0.0, np.nan, 1.0]))
    eagle.xp_for("simulated")  # another device does not matter
    before = len(xp.driver.memory)
    for _ in range(3):
        same(xp, builder, x=np.ones(4), y=np.ones(4))
    assert len(xp.driver.memory) <= before + 12


@pytest.mark.parametrize(
    ("extents", "over"), [((2, 3), (0,)), ((2, 3), (1,)), ((2, 3, 4), (0, 2)), ((2, 3, 4), (1,))]
)
def test_the_order_of_lines(extents: tuple[int, ...], over: tuple[int, ...]) -> None:
    expected = [sample for line in lines_of(extents, over) for sample in line]
    found = order_of(extents, over)
    assert expected == (list(range(len(expected))) if found is None else found.tolist())


def test_the_places_of_a_view() -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    assert places_of(x) is None
    for view in (x.T, x[::-1, :, 1::2], x[1, ::-1], np.broadcast_to(x[0], (2, 3, 4))):
        places = places_of(view)
        assert places is not None
        assert view.flat[0] + places.tolist() == pytest.approx(view.reshape(-1).tolist(), abs=0)
