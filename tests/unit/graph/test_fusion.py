"""Kernels in one pass over the samples: the same bits, what is not stored, and what is refused."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

import eagle
import hawk
import hawk.fused
from eagle.devices.host import fusion
from hawk import Index, Int32, Mutable, Param, Scalar, Table, Terminated, Vector
from hawk.ir.types import DType
from hawk.ir.verify import verify
from hawk.passes.fuse import Part, fuse
from hawk.passes.pipeline import optimise

N = 37
REAL_FEWEST = fusion.FEWEST


@pytest.fixture(autouse=True)
def of_few_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fusion, "FEWEST", 1)


@hawk.kernel
def twice(x: Scalar) -> Scalar:
    return x + x


@hawk.kernel
def times(x: Scalar, k: Param) -> Scalar:
    return x * k


@hawk.kernel
def plus(x: Scalar, y: Scalar) -> Scalar:
    return x + y


@hawk.kernel
def move(x: Mutable[Scalar], y: Scalar):
    x += 0.5 * y


@hawk.kernel
def settle(x: Mutable[Scalar]):
    while x > 1.0:
        x *= 0.5


@hawk.kernel
def split(x: Scalar) -> tuple[Scalar, Scalar]:
    return (0.25 - x, x * x) if x < 0.5 else (x, 1.0 / x)


@hawk.kernel
def turn(x: Vector[2]) -> Vector[2]:
    return hawk.math.vec(x[1] * 0.5, x[0] + 1.0)


@hawk.kernel
def length(x: Vector[2]) -> Scalar:
    return x[0] * x[0] + x[1] * x[1]


@hawk.kernel
def numbered(x: Scalar) -> Scalar:
    return x + hawk.sample_index()


@hawk.kernel
def looked_up(x: Scalar, t: Table[Scalar]) -> Scalar:
    return x + t[hawk.sample_index() % 3]


@hawk.kernel
def set_to(x: Mutable[Scalar], y: Scalar):
    x = y - 1.0


@hawk.kernel
def low_bits(x: Index) -> Scalar:
    return x % 1000


def names(graph: Any) -> list[str]:
    """The passes of a graph, each as its kernels."""
    return [" ".join(item.name for item in each.nodes) for each in graph.passes]


def unstored(graph: Any) -> list[str]:
    return [name for each in graph.passes for name in each.unstored]


def compiled() -> int:
    return hawk.fused._made.cache_info().misses


# -- one program of several ------------------------------------------------------------------------


def test_a_product_and_a_sum_of_two_kernels_are_not_contracted() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(2, 999))

    @eagle.Graph.builder
    def build(x, y, k):
        g = eagle.Graph()
        g.result = plus(times(x, k), y)
        return g

    graph = build(x, y, 0.1)
    assert ["times plus"] == names(graph)
    assert (x * 0.1 + y).tobytes() == graph(1).tobytes()

    @hawk.kernel
    def contracted(x: Scalar, y: Scalar) -> Scalar:
        return x * 0.1 + y

    assert contracted(x, y).tobytes() != graph.result.tobytes(), "so the test can tell"


def test_what_is_fused_is_a_program() -> None:
    parts = [
        Part(split.trace(DType.F64), (0, 1, 2)),
        Part(settle.trace(DType.F64), (1,)),
        Part(split.trace(DType.F64), (1, 3, 2)),
    ]
    fused = fuse(parts, {2, 3})
    verify(fused.function)
    assert (0, 2, 3) == fused.memory
    assert ["input", "output", "output"] == [each.role.value for each in fused.function.planes]
    verify(optimise(fused.function))


# -- the same bits ---------------------------------------------------------------------------------

_plane = st.sampled_from(range(6))
_ONE = ("twice", "times", "numbered", "split", "settle", "looked_up", "turn", "low_bits", "keep")
_TWO = ("plus", "plus", "move", "set_to", "looked_at", "into", "copy", "host")
_step = st.tuples(st.sampled_from(_ONE), _plane) | st.tuples(st.sampled_from(_TWO), _plane, _plane)


def record(script: list[tuple[Any, ...]], arrays: Any) -> list[Any]:
    """Go through a script; a plane is picked from those that were written last."""
    p, q, overlapping, pair, table, raw = arrays
    n = p.shape[0]
    planes = [p, q, overlapping[:n], overlapping[1 : n + 1], overlapping[n : 2 * n], pair[0]]
    kept = []
    for kind, *which in script:
        one = planes[-1 - which[0]]
        other = planes[-1 - which[-1]]
        match kind:
            case "twice":
                planes.append(twice(one))
            case "numbered":
                planes.append(numbered(one))
            case "settle":
                settle(one)
            case "split":
                planes += split(one)
            case "times":
                planes.append(times(one, 0.3))
            case "plus":
                planes.append(plus(one, other))
            case "move":
                move(one, other)
            case "set_to":
                set_to(one, other)
            case "looked_up":
                planes.append(looked_up(one, table))
            case "looked_at":
                planes.append(looked_up(one, other))
            case "into":
                twice(one, buffer=other)
            case "copy":
                eagle.copy(one, into=other)
            case "host":
                eagle.opaque(host, reads=one, writes=other)
            case "low_bits":
                planes.append(low_bits(raw))
            case "turn":
                both = turn(pair)
                planes += [length(both), both[1]]
            case _:
                kept.append(one)
    return kept


def host(x: np.ndarray, y: np.ndarray) -> None:
    y[...] = 0.5 * y - x


def outcome(script: list[tuple[Any, ...]], *, fuse: bool) -> tuple[Any, Any]:
    """All numbers after some replays, then after some with other arrays; and the graph."""

    @eagle.Graph.builder
    def build(p, q, overlapping, pair, table, raw):
        g = eagle.Graph(fuse=fuse)
        g.result = record(script, (p, q, overlapping, pair, table, raw))
        return g

    found: list[bytes] = []
    graph: Any = None
    for number in (1, 2):
        rng = np.random.default_rng(number)
        shapes = {"p": N, "q": N, "overlapping": 2 * N, "pair": (2, N), "table": 5}
        arrays = {name: rng.normal(size=shape) for name, shape in shapes.items()}
        arrays["raw"] = arrays["p"].view(np.int64)
        if graph is None:
            try:
                graph = build(**arrays)
            except (eagle.BindError, eagle.GraphError) as error:
                return type(error), None
        else:
            graph.bind(**arrays)
        results = graph(2)
        found += [each.tobytes() for each in (*arrays.values(), *results)]
    return found, graph


def test_chains_have_the_bits_of_their_nodes_one_by_one(programs: int) -> None:
    seen: Counter[str] = Counter()

    @settings(
        max_examples=max(15, programs // 10), deadline=None, suppress_health_check=list(HealthCheck)
    )
    @given(st.lists(_step, min_size=2, max_size=7))
    def each(script: list[tuple[Any, ...]]) -> None:
        note(str(script))
        with np.errstate(all="ignore"):
            apart, _ = outcome(script, fuse=False)
            together, graph = outcome(script, fuse=True)
        assert apart == together
        if graph is not None:
            seen["built"] += 1
            seen["fused"] += any(" " in each for each in names(graph))
            seen["unstored"] += bool(unstored(graph))

    each()
    assert seen["fused"] > 5, seen
    assert seen["unstored"] > 2, seen


def test_one_memory_of_two_types_is_two_planes() -> None:
    @eagle.Graph.builder
    def build(x, raw):
        g = eagle.Graph()
        g.result = plus(x, low_bits(raw))
        return g

    x = np.array([0.25, 1.0, 3.5])
    graph = build(x, x.view(np.int64))
    assert ["low_bits plus"] == names(graph)
    assert (x + x.view(np.int64) % 1000).tolist() == graph(1).tolist()


def test_two_kernels_of_a_pass_may_ask_for_the_index() -> None:
    @eagle.Graph.builder
    def build(x):
        g = eagle.Graph()
        g.result = numbered(numbered(x))
        return g

    graph = build(np.ones(40))
    assert ["numbered numbered"] == names(graph)
    assert [1.0 + 2 * k for k in range(40)] == graph(1).tolist()


def test_what_a_pass_reads_before_it_writes_is_stored() -> None:
    @eagle.Graph.builder
    def build(x, k, out):
        g = eagle.Graph()
        y = twice(x)
        for _ in range(k):
            move(y, x)
            twice(y, buffer=out)
        return g

    out = np.zeros(3)
    graph = build(np.ones(3), np.array([4], np.int32), out)
    assert ["twice", "move twice"] == names(graph)
    graph.launch()
    assert [8.0] * 3 == out.tolist()


# -- what is stored --------------------------------------------------------------------------------


@eagle.Graph.builder
def three(x, out, k):
    g = eagle.Graph()
    y = times(x, k)
    z = plus(y, x)
    plus(z, y, buffer=out)
    return g


def test_what_only_the_pass_reads_is_not_stored() -> None:
    x, out = np.arange(1.0, 6.0), np.zeros(5)
    graph = three(x, out, 2.0)
    assert ["times plus plus"] == names(graph)
    assert ["y", "z"] == unstored(graph)
    graph.launch()
    assert (5.0 * x).tolist() == out.tolist()
    made = [root for root in graph.plan.roots if root.made]
    assert [0.0] * 5 == made[0].array.tolist()


@pytest.mark.parametrize(
    "look",
    [
        lambda g, y, z: setattr(g, "result", {"y": (y, [1])}),
        lambda g, y, z: eagle.copy(y, into=z),
        lambda g, y, z: eagle.copy(y[:2], into=z[:2]),
        lambda g, y, z: eagle.opaque(lambda one: None, reads=y),
        lambda g, y, z: eagle.opaque(lambda one: None, writes=y),
        lambda g, y, z: eagle.reduce(y, "sum", into=z[:1]),
    ],
    ids=["result", "copy", "copy of a part", "function", "written by a function", "reduction"],
)
def test_what_others_read_is_stored(look: Callable[..., None]) -> None:
    @eagle.Graph.builder
    def build(x, z):
        g = eagle.Graph()
        y = twice(x)
        twice(y, buffer=x)
        look(g, y, z)
        return g

    graph = build(np.ones(3), np.zeros(3))
    assert ["twice twice"] == names(graph)[:1]
    assert [] == unstored(graph)
    graph.launch()
    assert [2.0] * 3 == graph.plan.roots[2].array.tolist()


def test_what_is_read_in_the_next_replay_is_stored() -> None:
    @eagle.Graph.builder
    def build(x, k):
        g = eagle.Graph()
        y = twice(x)
        while k > 0:
            x = plus(y, y)
            y = twice(x)
            settle(x)
            eagle.opaque(down, reads=k, writes=k)
        g.result = y
        return g

    def down(k: Any) -> None:
        k -= 1

    found: list[Any] = []
    for count in (1, 3):
        by_hand = np.full(4, 0.1) * 2 * 4.0**count
        found.append((build(np.full(4, 0.1), np.array([count], np.int32))(1), by_hand))
    assert all(here.tobytes() == there.tobytes() for here, there in found)


def test_a_plane_that_left_the_builder_says_that_it_is_not_stored() -> None:
    kept: list[Any] = []

    @eagle.Graph.builder
    def build(x):
        g = eagle.Graph()
        y = twice(x)
        kept.append(y)
        g.result = twice(y)
        return g

    graph = build(np.ones(3))
    graph.launch()
    with pytest.raises(RuntimeError, match=r"`y` is not stored.*\n  write: g.result = y"):
        kept[0].tolist()
    assert [4.0] * 3 == graph.result.tolist()


def test_a_block_that_is_added_later_may_read_what_was_not_stored() -> None:
    @eagle.Graph.builder
    def first(g: eagle.Graph, x, out, kept):
        y = twice(x)
        kept.append(y)
        twice(y, buffer=out)

    @eagle.Graph.builder
    def second(g: eagle.Graph, kept, into):
        eagle.copy(kept[0], into=into)
        return twice(kept[0])

    x, out, into, kept = np.ones(3), np.zeros(3), np.zeros(3), list[Any]()
    graph = eagle.Graph()
    first(graph, x, out, kept)
    graph.launch()
    assert ["y"] == unstored(graph)
    returned = second(graph, kept, into)
    graph.launch()
    assert [] == unstored(graph)
    assert [2.0, 4.0, 4.0] == [kept[0][0], out[0], returned[0]]
    assert [2.0] * 3 == into.tolist()


def test_what_a_block_returns_is_stored() -> None:
    @eagle.Graph.builder
    def block(g: eagle.Graph, x):
        y = twice(x)
        z = twice(y)
        return y, z

    graph = eagle.Graph()
    y, z = block(graph, np.ones(3))
    graph.launch()
    assert ["twice twice"] == names(graph)
    assert [2.0, 4.0] == [y[0], z[0]]


# -- exchanging, turning off, looking at it --------------------------------------------------------


def test_numbers_and_arrays_are_exchanged() -> None:
    x, out = np.arange(1.0, 6.0), np.zeros(5)
    graph = three(x, out, 2.0)
    graph.launch()
    graph.params(k=3.0)
    graph.launch()
    assert (7.0 * x).tolist() == out.tolist()
    other, there = np.full(5, 2.0), np.zeros(5)
    graph.bind(x=other, out=there)
    graph.launch()
    assert [14.0] * 5 == there.tolist()
    assert (7.0 * x).tolist() == out.tolist()


def test_fuse_false_runs_them_one_by_one() -> None:
    @eagle.Graph.builder
    def build(x):
        g = eagle.Graph(fuse=False)
        twice(twice(x), buffer=x)
        return g

    @eagle.Graph.builder
    def block(g: eagle.Graph, x):
        twice(twice(x), buffer=x)

    graph, by_hand = build(np.ones(3)), eagle.Graph(fuse=False)
    block(by_hand, np.ones(3))
    assert ["twice", "twice"] == names(graph) == names(by_hand)
    fused = eagle.Graph()
    block(fused, np.ones(3))
    assert ["twice twice"] == names(fused)
    with pytest.raises(TypeError, match="eagle.Graph: fuse must be True or False, got 0"):
        eagle.Graph(fuse=0)  # type: ignore[arg-type]


def test_pictures_edges_and_profiles_show_what_is_fused() -> None:
    graph = three(np.ones(5), np.zeros(5), 2.0)
    text = str(graph)
    assert "│ in one pass over the samples with 2 and 3; `y` is not stored         │" in text
    assert "│ waits for 1: reads `y`, in the same pass                             │" in text
    assert 'n1 ==>|"y"| n2' in graph.to_mermaid()
    assert 'n1 -> n2 [label="y", style=bold];' in graph.to_dot()
    assert [("plus", "times", "reads `y`", True)] * 2 == [
        (each.node.name, each.on.name, each.why, each.fused)
        for each in graph.edges
        if each.on.name == "times"
    ]
    profile = graph.profile(2)
    assert ["times + plus + plus"] * 2 == [span.item.name for span in profile.spans]


def test_ten_builds_compile_once() -> None:
    three(np.ones(5), np.zeros(5), 2.0).launch()
    before = compiled()
    for number in range(10):
        x, out = np.ones(5 + number), np.zeros(5 + number)
        three(x, out, 1.0 + number).launch()
        assert out[0] == 3.0 + 2.0 * number
    assert before == compiled()


def test_on_another_device_nothing_is_fused(device_library: Any) -> None:
    xp = device_library
    out = xp.zeros(5)
    graph = three(xp.ones(5), out, 2.0)
    graph.launch()
    assert ["times", "plus", "plus"] == names(graph)
    assert [5.0] * 5 == xp.asnumpy(out).tolist()


def test_a_pass_in_a_branch_and_in_a_loop() -> None:
    @eagle.Graph.builder
    def build(x, flag, k):
        g = eagle.Graph()
        if flag:
            twice(twice(x), buffer=x)
        else:
            plus(twice(x), x, buffer=x)
        for _ in range(k):
            move(x, twice(x))
        g.result = x
        return g

    flag, k = np.array([True]), np.array([2], np.int32)
    graph = build(np.ones(3), flag, k)
    assert {"twice twice", "twice plus", "twice move"} == set(names(graph))
    assert [16.0] * 3 == graph(1).tolist()
    flag[0] = False
    assert [16.0 * 3 * 4] * 3 == graph(1).tolist()


# -- what is refused -------------------------------------------------------------------------------


@hawk.kernel
def centred(x: Mutable[Scalar]):
    x -= hawk.mean(x)


@hawk.kernel
def until(x: Mutable[Scalar], over: Terminated):
    x += 1.0
    over = x >= 3.0


@hawk.kernel(steps=2)
def two_steps(x: Mutable[Scalar]):
    x += 1.0


@hawk.kernel(checks=True)
def checked(x: Mutable[Scalar]):
    x += 1.0


@hawk.kernel
def later(x: Mutable[Scalar]):
    x += hawk.step_index()


@hawk.kernel
def spread(t: Mutable[Table[Scalar]], x: Scalar):
    hawk.scatter(t)[hawk.sample_index() % 3] += x


@hawk.kernel
def counted(k: Mutable[Int32]):
    k += 1


def refusal(record: Callable[..., object], **arrays: Any) -> str:
    """Why the second kernel is not in the pass of the first."""

    @eagle.Graph.builder
    def build(arrays):
        g = eagle.Graph()
        record(**arrays)
        return g

    graph = build(arrays)
    passes = graph.passes
    assert 2 == len(passes)
    graph.launch()
    return next(each.why for each in passes if each.why)


def line(count: int) -> np.ndarray:
    return np.linspace(0.0, 1.0, count)


def test_refused_a_kernel_that_is_for_all_samples_at_a_time() -> None:
    why = refusal(lambda x: (settle(x), centred(x)), x=line(9))
    assert "centred reduces or scatters, which is for all samples at a time" == why
    why = refusal(lambda x, t: (settle(x), spread(t, x)), x=line(9), t=np.zeros(3))
    assert "spread reduces or scatters, which is for all samples at a time" == why


def test_refused_samples_that_stop() -> None:
    why = refusal(lambda x: (settle(x), until(x)), x=line(9))
    assert "until leaves out samples that are terminated" == why


def test_refused_several_steps() -> None:
    why = refusal(lambda x: (settle(x), two_steps(x)), x=line(9))
    assert "two_steps takes 2 steps a launch" == why


def test_refused_checks() -> None:
    assert "checked has checks" == refusal(lambda x: (settle(x), checked(x)), x=line(9))


def test_refused_state_of_its_own() -> None:
    why = refusal(lambda x: (settle(x), later(x)), x=line(9))
    assert "later has state of its own that begins anew at each replay" == why


def test_refused_few_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fusion, "FEWEST", REAL_FEWEST)
    why = refusal(lambda x: (settle(x), twice(x)), x=line(9))
    assert "settle has 9 samples, too few to gain" == why


def test_refused_other_numbers_of_samples() -> None:
    why = refusal(lambda x: (settle(x), twice(x[:4])), x=line(9))
    assert "settle and twice have 9 and 4 samples" == why


def test_refused_another_float_width() -> None:
    why = refusal(lambda x, y: (settle(x), settle(y)), x=line(9), y=np.ones(9, np.float32))
    assert "settle computes in float64, settle in float32" == why


def test_refused_other_threads() -> None:
    why = refusal(lambda x: (settle(x), settle(x, threads=1)), x=line(9))
    assert "settle and settle have different threads=" == why


def test_refused_nothing_in_common() -> None:
    why = refusal(lambda x, y: (settle(x), settle(y)), x=line(9), y=line(9))
    assert "settle and settle have no array in common" == why


def test_refused_part_of_an_array() -> None:
    why = refusal(lambda x: (settle(x[1:]), twice(x[:-1])), x=line(9))
    assert "`x` of twice shares memory with `x` before, without being the same" == why


def test_refused_a_table_that_is_written() -> None:
    why = refusal(lambda x, y: (settle(x), looked_up(y, x)), x=line(9), y=line(9))
    assert "`t` is read at other samples too, and written by settle and looked_up" == why
    why = refusal(lambda x, y: (looked_up(y, x), settle(x)), x=line(9), y=line(9))
    assert "`t` is read at other samples too, and written by looked_up and settle" == why


def test_refused_across_a_function() -> None:
    why = refusal(
        lambda x: (settle(x), eagle.opaque(lambda: None, name="look"), settle(x)), x=line(9)
    )
    assert "look lies between" == why


def test_refused_across_a_node_that_has_to_come_before() -> None:
    why = refusal(
        lambda x, y: (twice(x), eagle.copy(x, into=y), plus(y, x, buffer=y)), x=line(9), y=line(9)
    )
    assert "plus waits for copy arrays['x']" == why


def test_a_node_that_need_not_come_before_is_passed() -> None:
    @eagle.Graph.builder
    def build(x, y, z):
        g = eagle.Graph()
        settle(x)
        eagle.copy(y, into=z)
        settle(x)
        return g

    assert ["settle settle"] == names(build(line(9), line(9), line(9)))


def test_refused_other_branches() -> None:
    @eagle.Graph.builder
    def build(x, y):
        g = eagle.Graph()
        with g.parallel() as p:
            with p.branch():
                twice(x)
            with p.branch():
                plus(x, y, buffer=y)
        return g

    assert "twice and plus stand in different branches" == build(line(9), line(9)).passes[1].why


def test_refused_too_much_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fusion, "MOST_WORK", 1)
    why = refusal(lambda x: (twice(x), twice(x)), x=line(9))
    assert "twice and twice are 2 operations in all, too many to gain" == why


def test_refused_too_many_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fusion, "MOST_ARRAYS", 2)
    why = refusal(lambda x: (twice(x), twice(x)), x=line(9))
    assert "twice and twice have more than 2 arrays in all" == why
