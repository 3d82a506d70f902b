"""Graphs on the host: what a builder records, what a launch does, what becomes of exceptions."""

import itertools
import pickle
import threading
from typing import Any

import numpy as np
import pytest

import eagle
import hawk
from hawk import Bool, Grid, Index, Int32, Mutable, Param, Scalar, Table, Terminated, Vector


@hawk.kernel
def inc(x: Mutable[Scalar], dt: Param = 1.0):
    x += dt


@hawk.kernel
def twice(x: Scalar) -> Scalar:
    return x + x


@hawk.kernel
def both(x: Scalar, y: Scalar) -> tuple[Scalar, Scalar]:
    return x + y, x - y


@hawk.kernel
def down(k: Mutable[Int32]):
    k -= 1


@hawk.kernel(steps="auto")
def until(x: Mutable[Scalar], over: Terminated):
    x += 1.0
    over = x >= 3.0


@hawk.kernel
def centred(x: Mutable[Scalar]):
    x -= hawk.mean(x)


@eagle.Graph.builder
def one(x):
    g = eagle.Graph()
    inc(x)
    g.result = x
    return g


# -- kernels ---------------------------------------------------------------------------------------


def test_recording_runs_nothing() -> None:
    x = np.zeros(3)
    one(x)
    assert [0.0] * 3 == x.tolist()


@pytest.mark.parametrize("n", [0, 1, 7])
def test_n_launches_are_n_calls(n: int) -> None:
    x = np.zeros(3)
    one(x).launch(n)
    assert [float(n)] * 3 == x.tolist()


def test_a_call_gives_the_result() -> None:
    x = np.zeros(3)
    assert one(x)(2) is x


@pytest.mark.parametrize("n", [-1, 1.5, "2", True, None, 2**63])
def test_a_number_of_replays_is_a_whole_number_from_0(n: Any) -> None:
    with pytest.raises(ValueError, match="a whole number of times, from 0"):
        one(np.zeros(1)).launch(n)


def test_what_a_kernel_returns_has_the_nesting_of_a_call() -> None:
    @eagle.Graph.builder
    def build(x, y):
        g = eagle.Graph()
        total, difference = both(x, y)
        g.result = {"all": both(total, difference), "first": total}
        return g

    x, y = np.array([1.0, 2.0]), np.array([4.0, 8.0])
    result = build(x, y)(3)
    total, difference = both(x, y)

    assert [a.tolist() for a in both(total, difference)] == [a.tolist() for a in result["all"]]
    assert total.tolist() == result["first"].tolist()
    assert isinstance(result["first"], np.ndarray)


def test_a_mask_and_state_that_are_left_out_begin_anew_at_each_replay() -> None:
    @hawk.kernel
    def counted(x: Mutable[Scalar], seen: Mutable[Scalar] = 2.0):
        seen += 1.0
        x += seen

    @eagle.Graph.builder
    def build(x, y):
        g = eagle.Graph()
        counted(x)
        until(y)
        return g

    x, y, a, b = (np.zeros(2) for _ in range(4))
    build(x, y).launch(5)
    for _ in range(5):
        counted(a)
        until(b)
    assert (a.tolist(), b.tolist()) == (x.tolist(), y.tolist())


def test_an_output_of_a_sample_that_is_done_is_0_as_in_a_call() -> None:
    @hawk.kernel
    def half(x: Mutable[Scalar], over: Terminated) -> Scalar:
        over = True
        return x * 0.5

    @eagle.Graph.builder
    def build(x, over):
        g = eagle.Graph()
        g.result = half(x, over)
        return g

    x, over = np.array([4.0, 6.0]), np.array([False, True])
    graph = build(x, over)
    assert [2.0, 0.0] == graph(1).tolist()
    assert [0.0, 0.0] == graph(1).tolist()


def test_kernels_that_reduce_and_arrays_from_outside_are_nodes_too() -> None:
    table = np.arange(4.0)

    @hawk.kernel
    def picked(i: Index, t: Table[Scalar]) -> Scalar:
        return t[i]

    @eagle.Graph.builder
    def build(x, i):
        g = eagle.Graph()
        centred(x)
        g.result = picked(i, table)
        return g

    x, i = np.array([1.0, 2.0, 6.0]), np.array([3, 0])
    graph = build(x, i)
    assert [3.0, 0.0] == graph(1).tolist()
    assert [-2.0, -1.0, 3.0] == x.tolist()
    table[:] += 1.0
    assert [4.0, 1.0] == graph(1).tolist()


def test_kernels_on_grids_are_nodes() -> None:
    @hawk.kernel
    def relax(p: Grid["r", "c"], k: Mutable[Grid["r", "c"]]) -> Grid["r", "c"]:
        k += 1.0
        return 0.25 * (p.neighbor(r=-1) + p.neighbor(r=+1) + p.neighbor(c=-1) + k)

    @eagle.Graph.builder
    def build(p, k):
        g = eagle.Graph()
        q = relax(p, k)
        relax(q, k, out=p)
        return g

    p, k = np.arange(12.0).reshape(3, 4), np.zeros((3, 4))
    a, b = p.copy(), k.copy()
    build(p, k).launch(3)
    for _ in range(3):
        relax(relax(a, b), b, out=a)
    assert (a.tolist(), b.tolist()) == (p.tolist(), k.tolist())


def test_checks_are_looked_at_in_each_replay() -> None:
    @hawk.kernel(checks=True)
    def watched(x: Mutable[Scalar]):
        assert x < 2.0, "too large"
        x += 1.0

    @eagle.Graph.builder
    def build(x):
        g = eagle.Graph()
        watched(x)
        return g

    graph, x = build(np.zeros(1)), np.zeros(1)
    graph.launch(2)
    with pytest.raises(hawk.CheckError, match="too large"):
        graph.launch(2)
    graph.bind(x=x)
    graph.launch(2)
    assert 2.0 == x[0]


def test_planes_are_strict() -> None:
    @eagle.Graph.builder
    def build(x):
        g = eagle.Graph()
        inc(x)
        return g

    with pytest.raises(eagle.BindError, match="expected float64"):
        build(np.zeros(3, np.int64))
    with pytest.raises(eagle.BindError, match=r"\(3,\)"):
        build(np.zeros(6)[::2])


@pytest.mark.parametrize("n", [0, 1, 300_000])
def test_large_batches_are_shared_by_the_team(n: int) -> None:
    @eagle.Graph.builder
    def build(x):
        g = eagle.Graph()
        inc(x)
        g.result = twice(x)
        return g

    x = np.arange(float(n))
    assert (2 * (np.arange(float(n)) + 2)).tolist() == build(x)(2).tolist()


def test_a_launch_that_takes_long_is_brought_to_its_end() -> None:
    @hawk.kernel
    def slow(x: Mutable[Scalar], passes: Param[Index]):
        i = 0
        while i < passes:
            x = x * 0.999 + 1.0
            i += 1

    @eagle.Graph.builder
    def build(x, y):
        g = eagle.Graph()
        slow(x, 40_000_000)
        inc(x)
        return g

    x, expected = np.zeros(1), np.zeros(1)
    build(x, None).launch()
    slow(expected, 40_000_000)
    assert expected[0] + 1.0 == x[0]


# -- copies, functions, reductions -----------------------------------------------------------------


def strided(kind: str) -> tuple[np.ndarray, np.ndarray]:
    a = np.arange(2.0 * 3 * 4 * 5).reshape(2, 3, 4, 5)
    b = np.zeros((4, 6, 8, 10))
    return {
        "contiguous": (a, b[:2, :3, :4, :5].copy()),
        "cut": (a, b[1:3, 1:4, 2:6, 3:8]),
        "steps": (a, b[::2, ::2, ::2, ::2]),
        "turned": (a.T, b[:2, :3, :4, :5].T),
        "reversed": (a[::-1, :, ::-1], b[:2, :3, :4, :5]),
        "transposed": (a.transpose(2, 0, 3, 1), b[:4, :2, :5, :3]),
        "one number": (a[0, 0, 0, 1], b[0, 1, 1]),
        "empty": (a[:0], b[:0, :3, :4, :5]),
        "repeated": (np.broadcast_to(a[0, 0, 0], (4, 5)), b[0, 0, :4, :5]),
        "many": (np.arange(3.0 * 90 * 3).reshape(3, 90, 3)[::2, ::2, ::2], np.zeros((2, 45, 2))),
    }[kind]


@pytest.mark.parametrize(
    "kind",
    ["contiguous", "cut", "steps", "turned", "reversed", "transposed", "empty", "repeated", "many"],
)
def test_a_copy_of_any_strides_is_an_assignment(kind: str) -> None:
    @eagle.Graph.builder
    def build(a, b):
        g = eagle.Graph()
        g.result = eagle.copy(a, into=b)
        return g

    a, b = strided(kind)
    whole = b if b.base is None else b.base
    expected = whole.copy()
    build(a, b).launch()
    assert a.tolist() == b.tolist()
    whole_after = whole.copy()
    b[...] = 0.0
    assert whole.tolist() == expected.tolist(), "nothing else was written"
    assert whole_after.sum() == expected.sum() + a.sum()


def test_a_copy_outside_of_a_builder_copies_now() -> None:
    a, b = np.arange(3.0), np.zeros(3)
    assert eagle.copy(a, into=b) is b
    assert a.tolist() == b.tolist()
    assert eagle.copy(a, into=a) is a
    with pytest.raises(eagle.GraphError, match="G203"):
        eagle.copy(a, into=np.zeros(4))


def test_a_function_gets_its_planes_those_it_reads_first_and_each_once() -> None:
    seen: list[Any] = []

    @eagle.Graph.builder
    def build(x, y):
        g = eagle.Graph()
        eagle.opaque(lambda *planes: seen.append(planes), reads=(x, y), writes=y)
        eagle.opaque(lambda: seen.append("nothing"), writes=[x])
        return g

    x, y = np.zeros(1), np.zeros(2)
    build(x, y).launch(1)
    assert 2 == len(seen)
    assert seen[0][0] is x
    assert seen[0][1] is y
    assert "nothing" == seen[1]


@pytest.mark.parametrize("kind", ["sum", "min", "max", "mean"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_reduction_has_the_bits_of_a_kernel_that_reduces(kind: str, dtype: Any) -> None:
    @eagle.Graph.builder
    def build(x, cell):
        g = eagle.Graph()
        eagle.reduce(x[0], kind, into=cell)
        return g

    @hawk.kernel
    def reduced(x: Scalar) -> Scalar:
        return {"sum": hawk.sum, "min": hawk.min, "max": hawk.max, "mean": hawk.mean}[kind](x)

    x, cell = np.random.default_rng(1).normal(size=(2, 50)).astype(dtype), np.zeros(1, dtype)
    build(x, cell).launch()
    assert reduced(x[0])[0].tobytes() == cell[0].tobytes()
    assert eagle.reduce(x[0], kind, into=np.zeros((), dtype)).tobytes() == cell[0].tobytes()


def test_pinned_memory_is_known_with_its_views() -> None:
    from eagle.devices.host.pinned import is_pinned

    array = eagle.pinned((3, 4), np.float32)
    assert (3, 4) == array.shape
    assert np.float32 == array.dtype
    assert is_pinned(array)
    assert is_pinned(array[1:, ::2])
    assert not is_pinned(np.zeros(3))
    assert is_pinned(eagle.pinned((0, 3)))
    record = eagle.pinned(3, [("a", "f8"), ("b", "i4")])
    assert 0.0 == record["a"].sum()
    with pytest.raises(ValueError, match="expected a shape"):
        eagle.pinned(-1)
    with pytest.raises(ValueError, match="expected a type of numbers"):
        eagle.pinned(3, object)


def test_a_simulation_is_a_node() -> None:
    x = np.zeros(2)
    simulation = eagle.simulation(until, max_steps=10, x=x)

    @eagle.Graph.builder
    def build(x):
        g = eagle.Graph()
        g.add(simulation)
        inc(x)
        return g

    graph = build(x)
    graph.launch(1)
    assert [4.0, 4.0] == x.tolist()
    with pytest.raises(ValueError, match="the simulation of until is bound to this array"):
        graph.bind(x=np.zeros(2))


# -- exceptions ------------------------------------------------------------------------------------


def failing(at: int) -> tuple[Any, list[int]]:
    """A graph of which the first function raises in replay `at`, and what its second one saw."""
    count, seen = itertools.count(1), []

    def check(x: np.ndarray) -> None:
        if next(count) == at:
            raise ZeroDivisionError("nothing")

    @eagle.Graph.builder
    def build(x):
        g = eagle.Graph()
        eagle.opaque(check, reads=x, name="check")
        inc(x)
        eagle.opaque(lambda x: seen.append(int(x[0])), reads=x)
        return g

    return build(np.zeros(1)), seen


def test_an_exception_is_raised_by_its_launch_after_all_replays() -> None:
    graph, seen = failing(2)
    with pytest.raises(ZeroDivisionError, match="nothing") as caught:
        graph.launch(4)
    assert ["in the node check of the graph build, replay 2 of 4"] == caught.value.__notes__
    assert [1] == seen, "functions after it are left out"
    graph.launch(1)
    assert [1, 5] == seen, "kernels are not, and the graph works afterwards"


@pytest.mark.parametrize("what", ["launch", "enqueue", "synchronize"])
def test_an_exception_of_an_enqueued_replay_waits_for_what_is_asked_next(what: str) -> None:
    graph, seen = failing(1)
    graph.enqueue(2)
    with pytest.raises(ZeroDivisionError):
        getattr(graph, what)()
    graph.launch(1)
    assert [3] == seen, "the call that raised ran nothing"


def test_two_threads_at_once_are_refused() -> None:
    inside, leave = threading.Event(), threading.Event()

    @eagle.Graph.builder
    def build(x):
        g = eagle.Graph()
        eagle.opaque(lambda: inside.set() or leave.wait(), reads=x)
        return g

    graph = build(np.zeros(1))
    thread = threading.Thread(target=graph.launch)
    thread.start()
    inside.wait()
    for use in (graph.launch, graph.enqueue, graph.synchronize, graph.bind):
        with pytest.raises(eagle.Busy, match="build is being used"):
            use()
    leave.set()
    thread.join()
    graph.launch(0)


def test_a_function_cannot_use_the_graph_that_it_is_in() -> None:
    graphs: list[Any] = []

    @eagle.Graph.builder
    def build(x):
        g = eagle.Graph()
        eagle.opaque(lambda _: graphs[0].launch(), reads=x)
        return g

    graphs.append(build(np.zeros(1)))
    with pytest.raises(eagle.Busy, match=r"build is being replayed, by who .* its own: ") as no:
        graphs[0].launch()
    assert "thread" not in str(no.value)


def test_one_array_for_two_parameters_is_one_plane() -> None:
    @eagle.Graph.builder
    def build(x, y):
        g = eagle.Graph()
        inc(x)
        inc(y)
        return g

    x = np.zeros(1)
    graph = build(x, x)
    graph.launch()
    assert 2.0 == x[0]
    with pytest.raises(ValueError, match="'y': is the array that came as 'x' too"):
        graph.bind(y=np.zeros(1))


# -- other arrays and numbers ----------------------------------------------------------------------


def test_other_arrays_and_all_that_is_cut_from_them() -> None:
    @eagle.Graph.builder
    def build(x, k):
        g = eagle.Graph()
        for _ in range(k):
            inc(x[1])
            eagle.copy(x[1], into=x[0])
        g.result = x[0]
        return g

    x, k = np.zeros((2, 3)), np.array([2], np.int32)
    graph = build(x, k)
    graph.launch()
    y, other = np.ones((2, 3)), np.array([4], np.int32)
    graph.bind(x=y, k=other)
    assert [5.0] * 3 == graph().tolist()
    assert [5.0] * 3 == y[0].tolist()
    assert [2.0] * 3 == x[0].tolist()


@pytest.mark.parametrize(
    ("planes", "said"),
    [
        ({"x": np.zeros(4)}, r"'x': expected float64 \(3,\), got float64 \(4,\)"),
        ({"x": np.zeros(3, np.float32)}, "expected float64"),
        ({"x": 3.0}, "expected an array, got 3.0"),
        ({"z": np.zeros(3)}, "there are x, y"),
        ({"dt": 0.5}, r"write build\.params\(dt=\.\.\.\)"),
        ({"x": np.broadcast_to(np.zeros(1), 3)}, "strides"),
        ({"x": np.frombuffer(bytearray(25), np.uint8)[1:].view(float)}, "aligned"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(planes: dict[str, Any], said: str) -> None:
    @eagle.Graph.builder
    def build(x, y, dt):
        g = eagle.Graph()
        inc(x, dt)
        eagle.copy(x, into=y)
        return g

    graph = build(np.zeros(3), np.zeros(3), 1.0)
    with pytest.raises(ValueError, match=said):
        graph.bind(**planes)


def test_arrays_that_share_memory_as_those_before_did_not_are_refused() -> None:
    @eagle.Graph.builder
    def build(x, y):
        g = eagle.Graph()
        inc(x)
        inc(y)
        return g

    graph, z = build(np.zeros(3), np.zeros(3)), np.zeros(4)
    with pytest.raises(ValueError, match="'x': shares memory with 'y'"):
        graph.bind(x=z[:3], y=z[1:])


def test_other_numbers_where_kernels_got_them_as_they_came() -> None:
    @eagle.Graph.builder
    def build(x, dt, scale):
        g = eagle.Graph()
        inc(x, dt)
        inc(x, scale * 2.0)
        return g

    x = np.zeros(1)
    graph = build(x, 1.0, 0.5)
    graph.launch()
    graph.params(dt=4.0)
    graph.launch()
    assert 7.0 == x[0]
    with pytest.raises(ValueError, match="'scale': Python computes with it at .*py:"):
        graph.params(scale=1.0)
    with pytest.raises(ValueError, match="did you mean 'scale'"):
        graph.params(scal=1.0)


# -- blocks ----------------------------------------------------------------------------------------


@eagle.Graph.builder
def block(g: eagle.Graph, x, times):
    for _ in range(times):
        inc(x)
    return twice(x)


def test_a_block_adds_to_the_graph_that_is_being_built() -> None:
    @eagle.Graph.builder
    def build(x):
        g = eagle.Graph()
        y = block(g, x, 2)
        g.result = block(g, y, 1)
        return g

    x = np.zeros(1)
    assert [10.0] == build(x)(1).tolist()
    assert 3 == sum(item.name == "inc" for item in build(x).nodes)


def test_a_block_adds_to_a_graph_outside_of_a_builder() -> None:
    graph, x = eagle.Graph(), np.zeros(1)
    y = block(graph, x, 1)
    graph.launch()
    assert [2.0] == y.tolist()
    block(graph, x, 1)
    assert "4 nodes" in str(graph)
    graph.launch()
    assert [4.0] == y.tolist()
    assert 3.0 == x[0]


def test_a_block_needs_its_graph() -> None:
    with pytest.raises(TypeError, match="'g' is the graph to add to"):
        block(np.zeros(1), np.zeros(1), 2)


# -- what a graph is otherwise ---------------------------------------------------------------------


def test_a_graph_is_not_pickled() -> None:
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(one(np.zeros(1)))


def test_a_plane_acts_as_its_array_when_the_graph_is_built() -> None:
    kept: list[Any] = []

    @eagle.Graph.builder
    def build(x):
        g = eagle.Graph()
        kept.append(x)
        assert (3,) == x.shape
        assert 3 == len(x)
        inc(x)
        return g

    build(np.arange(3.0)).launch()
    (plane,) = kept
    assert [1.0, 2.0, 3.0] == plane.tolist()
    assert 6.0 == np.sum(plane)
    assert [2.0, 4.0, 6.0] == (plane * 2).tolist()
    assert 1.0 == float(plane[0])


def test_builders_want_functions() -> None:
    with pytest.raises(TypeError, match="decorates a function"):
        eagle.Graph.builder(3)


def test_a_graph_that_is_being_built_is_not_launched() -> None:
    @eagle.Graph.builder
    def build(x):
        g = eagle.Graph()
        g.launch()
        return g

    with pytest.raises(RuntimeError, match="is being built"):
        build(np.zeros(1))


def test_its_nodes_wait_for_what_they_touch() -> None:
    from eagle.graph.touches import edges_of

    @eagle.Graph.builder
    def build(x, y):
        g = eagle.Graph()
        z = twice(x)
        inc(y)
        eagle.copy(z, into=y)
        inc(x)
        return g

    edges = edges_of(build(np.zeros(2), np.zeros(2)).plan.body)
    said = [(edge.before, edge.after, edge.hazard.name, edge.region.name) for edge in edges]
    assert [(0, 2, "RAW", "z"), (1, 2, "WAW", "y"), (0, 3, "WAR", "x")] == said


def test_vectors_in_place_and_by_value() -> None:
    @hawk.kernel
    def advance(state: Mutable[Vector[2]]):
        state[0] += 0.5 * state[1]

    @hawk.kernel
    def small(state: Vector[2]) -> Bool:
        return state[0] < 3.0

    @eagle.Graph.builder
    def build(state):
        g = eagle.Graph()
        state = advance(state)
        g.result = (state, small(state))
        return g

    state = np.ones((2, 3))
    graph = build(state)
    advanced, flags = graph(4)
    assert advanced is state
    assert [3.0] * 3 == state[0].tolist()
    assert [False] * 3 == flags.tolist()
