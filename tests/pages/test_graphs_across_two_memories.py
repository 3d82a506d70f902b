"""What is promised of graphs across the CPU and a GPU, sentence by sentence.

On the simulated device, and on a GPU whose driver is made for tests.

The two programs that graphs were agreed on run here as printed, too.
"""

import runpy
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eagle
import hawk
from eagle.devices import rules
from eagle.devices.base import Objection
from eagle.devices.host.device import HOST
from eagle.devices.host.pinned import is_pinned
from eagle.devices.plan import Item
from eagle.devices.simulated import replay
from eagle.devices.simulated.stream import STREAM, Stream
from eagle.graph import actions, builder, draw, kernels, recorder
from eagle.graph.draw import kind_of
from eagle.graph.planes import Plane
from eagle.graph.touches import waits_of
from hawk import Int32, Mutable, Scalar
from tests.unit.cuda.gpus import device_for, made_driver_only, parametrize, simulated_only

PROGRAMS = Path(__file__).parent / "programs"
xp: Any = None
WHERE = ""
on_device = device_for(globals())
pytest_generate_tests = parametrize


@hawk.kernel
def inc(x: Mutable[Scalar]):
    x += 1.0


@hawk.kernel
def twice(x: Scalar) -> Scalar:
    return x + x


@hawk.kernel
def layer(h: Scalar, w: Scalar) -> Scalar:
    return h * w


@hawk.kernel
def down(k: Mutable[Int32]):
    k -= 1


def kinds(graph: Any) -> list[str]:
    return [kind_of(item, graph.plan) for item in graph.nodes]


def said_of(function: Any, *args: Any) -> str:
    with pytest.raises(eagle.GraphError) as error:
        eagle.Graph.builder(function)(*args)
    return str(error.value)


# -- the programs ----------------------------------------------------------------------------------


def run(name: str, library: Any) -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "cupy", library)
        return runpy.run_path(str(PROGRAMS / f"{name}.py"))


@pytest.mark.parametrize(
    ("name", "arrays"),
    [
        ("graph_with_events", ("state", "flags", "h_probe", "h_flags")),
        ("graph_with_overlap", ("a", "h_frame")),
    ],
)
def test_the_programs_have_the_bits_of_the_host(name: str, arrays: tuple[str, ...]) -> None:
    here, there = run(name, np), run(name, xp)
    for array in arrays:
        assert here[array].tobytes() == xp.asnumpy(there[array]).tobytes(), array
    assert WHERE in str(there["g"])


# -- where a node runs -----------------------------------------------------------------------------


def test_device_arrays_make_a_node_of_the_device_and_host_arrays_a_host_node() -> None:
    @eagle.Graph.builder
    def build(x, h):
        g = eagle.Graph()
        inc(x)
        inc(h)
        return g

    x, h = xp.zeros(2), np.zeros(2)
    graph = build(x, h)
    graph.launch(3)
    assert ["kernel", "host kernel"] == kinds(graph)
    assert [3.0, 3.0] == h.tolist() == xp.asnumpy(x).tolist()


def test_one_node_may_not_mix_the_two() -> None:
    def build(h_batch, w):
        g = eagle.Graph()
        layer(h_batch, w)
        return g

    said = said_of(build, np.ones(3), xp.ones(3))
    assert "layer has planes on both sides" in said
    assert f"write: eagle.copy(h_batch, into=<an array on {WHERE}>) before it" in said

    def written(h, x):
        g = eagle.Graph()
        layer(x, x, buffer=h)
        return g

    assert "and eagle.copy(<that array>, into=h) after" in said_of(written, np.ones(3), xp.ones(3))


def test_a_host_node_may_not_touch_a_device_array() -> None:
    def build(x):
        g = eagle.Graph()
        eagle.opaque(lambda x: None, reads=x, name="look")
        return g

    said = said_of(build, xp.zeros(1))
    assert f"look runs on the host and is given planes of {WHERE}" in said
    assert "write: eager=True" in said


TOUCHES = {
    "np.asarray": lambda x, h: np.asarray(x),
    "a comparison": lambda x, h: x > 0,
    "a copy home": lambda x, h: eagle.copy(x, into=h),
    "a copy there": lambda x, h: eagle.copy(h, into=x),
    "a new array": lambda x, h: xp.zeros(3),
    "a write": lambda x, h: x.fill(1.0),
    "asnumpy": lambda x, h: xp.asnumpy(x),
}


@pytest.mark.parametrize("how", TOUCHES)
def test_a_host_function_that_touches_the_device_is_caught_when_it_happens(how: str) -> None:
    x, out = xp.zeros(1), np.zeros(1)
    seen: list[str] = []

    def silent(h: np.ndarray) -> None:
        try:
            TOUCHES[how](x, out)
        except RuntimeError:
            seen.append("kept to itself")

    @eagle.Graph.builder
    def build(x, h):
        g = eagle.Graph()
        inc(x)
        eagle.opaque(silent, reads=h, name="peek")
        return g

    graph = build(x, np.zeros(1))
    with pytest.raises(RuntimeError, match="in peek, a host function of a graph") as caught:
        graph.launch()
    assert "eager=True" in str(caught.value)
    assert ["in the node peek of the graph build, replay 1 of 1"] == caught.value.__notes__
    assert ["kept to itself"] == seen


def test_a_host_function_may_not_launch_a_graph_of_the_device() -> None:
    @eagle.Graph.builder
    def small(x):
        g = eagle.Graph()
        inc(x)
        return g

    inner = small(xp.zeros(1))

    @eagle.Graph.builder
    def build(x, h):
        g = eagle.Graph()
        inc(x)
        eagle.opaque(lambda h: inner.launch(), reads=h, name="nest")
        return g

    with pytest.raises(RuntimeError, match="replaying the graph small in nest"):
        build(xp.zeros(1), np.zeros(1)).launch()


def test_the_direction_of_a_copy_follows_from_where_its_ends_live() -> None:
    @eagle.Graph.builder
    def build(x, y, h, k):
        g = eagle.Graph()
        eagle.copy(h, into=x)
        eagle.copy(x, into=y)
        eagle.copy(y, into=k)
        eagle.copy(k, into=h)
        return g

    h, k = np.arange(3.0), np.zeros(3)
    graph = build(xp.zeros(3), xp.zeros(3), h, k)
    expected = ["host to device", "device to device", "device to host", "host to host"]
    assert [f"copy {each}" for each in expected] == kinds(graph)
    graph.launch()
    assert [0.0, 1.0, 2.0] == k.tolist()


def test_it_is_captured_once_and_replayed_without_the_host_stepping_in() -> None:
    threads: set[int] = set()

    @eagle.Graph.builder
    def build(x, h):
        g = eagle.Graph()
        eagle.copy(x, into=h)
        eagle.opaque(lambda h: threads.add(threading.get_ident()), reads=h)
        inc(x)
        return g

    graph = build(xp.zeros(1), eagle.pinned(1))
    graph.launch(10)
    captured = graph._captured
    graph.launch(10)
    assert captured is graph._captured
    assert threading.get_ident() not in threads
    assert 1 == len(threads)


# -- when a host array is safe to read -------------------------------------------------------------


def test_when_launch_returns_every_host_array_that_a_node_wrote_is_final() -> None:
    @eagle.Graph.builder
    def build(x, h, k):
        g = eagle.Graph()
        inc(x)
        eagle.copy(x, into=h)
        twice(h, buffer=k)
        return g

    h, k = eagle.pinned(3), np.zeros(3)
    graph = build(xp.zeros(3), h, k)
    for total in (7, 14):
        graph.launch(7)
        assert [total] * 3 == h.tolist()
        assert [2 * total] * 3 == k.tolist()


def test_enqueue_does_not_wait_and_synchronize_does() -> None:
    go = threading.Event()

    @eagle.Graph.builder
    def build(x, h):
        g = eagle.Graph()
        eagle.opaque(lambda h: go.wait(30), writes=h)
        inc(x)
        eagle.copy(x, into=h)
        return g

    h = eagle.pinned(1)
    graph = build(xp.zeros(1), h)
    graph.enqueue(2)
    graph.enqueue(2)
    assert 0.0 == h[0], "nothing was replayed yet"
    go.set()
    graph.synchronize()
    assert 4.0 == h[0]


def test_a_host_node_runs_between_the_copies_before_and_after_it_in_replay_order() -> None:
    seen: list[float] = []

    def look(h: np.ndarray) -> None:
        seen.append(float(h[0]))
        h *= 10.0

    @eagle.Graph.builder
    def build(x, h):
        g = eagle.Graph()
        inc(x)
        eagle.copy(x, into=h)
        eagle.opaque(look, reads=h, writes=h)
        eagle.copy(h, into=x)
        return g

    x = xp.zeros(1)
    build(x, eagle.pinned(1)).launch(4)
    assert [1.0, 11.0, 111.0, 1111.0] == seen
    assert 11110.0 == xp.asnumpy(x)[0]


@pytest.mark.parametrize("ask", ["launch", "synchronize", "enqueue"])
def test_an_exception_in_a_host_node_is_kept_and_raised_by_what_is_asked_next(ask: str) -> None:
    calls: list[int] = []

    def fail(h: np.ndarray) -> None:
        calls.append(len(calls))
        if len(calls) == 2:
            raise ZeroDivisionError("nothing")

    @eagle.Graph.builder
    def build(x, h):
        g = eagle.Graph()
        inc(x)
        eagle.copy(x, into=h)
        eagle.opaque(fail, reads=h, name="fail")
        return g

    x = xp.zeros(1)
    graph = build(x, eagle.pinned(1))
    graph.enqueue(5)
    xp.asnumpy(x)
    with pytest.raises(ZeroDivisionError) as caught:
        getattr(graph, ask)()
    assert ["in the node fail of the graph build, replay 2 of 5"] == caught.value.__notes__
    assert [0, 1] == calls, "functions after it were left out"
    assert 5.0 == xp.asnumpy(x)[0], "all else ran"
    graph.launch()
    assert 6.0 == xp.asnumpy(x)[0]


# -- pinned memory ---------------------------------------------------------------------------------


def test_pinned_gives_a_numpy_array_of_zeros() -> None:
    array = eagle.pinned((2, 3), np.uint32)
    assert isinstance(array, np.ndarray)
    assert ((2, 3), np.uint32, 0) == (array.shape, array.dtype, array.sum())
    assert is_pinned(array)


def test_a_copy_can_overlap_with_kernels() -> None:
    @eagle.Graph.builder
    def build(a, b, h):
        g = eagle.Graph()
        eagle.copy(a, into=h)
        twice(a, buffer=b)
        return g

    graph = build(xp.ones(4), xp.zeros(4), eagle.pinned(4))
    overlaps = 0
    for span in (spans := graph.profile(20).spans):
        if span.item.name == "copy a":
            inside = [each for each in spans if span.begin < each.begin and each.end < span.end]
            overlaps += any(each.item.name == "twice" for each in inside)
    assert 0 < overlaps < 20


@made_driver_only
def test_a_pageable_array_is_staged_first_and_a_pinned_one_is_not() -> None:
    for h, expected in ((np.zeros(2), 0.0), (eagle.pinned(2), 5.0)):
        inside, go = threading.Event(), threading.Event()

        def hold(other: np.ndarray, inside: Any = inside, go: Any = go) -> None:
            inside.set()
            go.wait(30)

        @eagle.Graph.builder
        def build(x, h, other, hold=hold):
            g = eagle.Graph()
            eagle.opaque(hold, writes=other)
            eagle.copy(other, into=x)
            eagle.copy(h, into=x)
            return g

        x = xp.zeros(2)
        graph = build(x, h, eagle.pinned(2))
        graph.enqueue()
        inside.wait(30)
        h[...] = 5.0
        go.set()
        graph.synchronize()
        assert [expected] * 2 == xp.asnumpy(x).tolist()


def test_nothing_is_pinned_or_allocated_on_the_host_behind_the_users_back() -> None:
    def build(x, h):
        g = eagle.Graph()
        inc(x)
        twice(h)
        return g

    said = said_of(build, xp.zeros(3), np.zeros(3))
    assert "no host array is made there that nobody asked for" in said
    assert "write: buffer=eagle.pinned(3), made before the builder is called" in said
    h = np.zeros(3)

    @eagle.Graph.builder
    def copied(x, h):
        g = eagle.Graph()
        eagle.copy(x, into=h)
        return g

    copied(xp.ones(3), h).launch()
    assert not is_pinned(h)


def test_a_pageable_array_works_for_a_copy_that_stands_alone() -> None:
    @eagle.Graph.builder
    def build(x, h, k):
        g = eagle.Graph()
        with g.parallel() as p:
            with p.branch():
                eagle.copy(h, into=x)
            with p.branch() as w:
                w.wait(x)
                eagle.copy(x, into=k)
        return g

    k = np.zeros(3)
    build(xp.zeros(3), np.arange(3.0), k).launch()
    assert [0.0, 1.0, 2.0] == k.tolist()


def test_a_copy_in_the_body_of_a_loop_or_branch_needs_a_pinned_array() -> None:
    def loop(x, k, h):
        g = eagle.Graph()
        while k > 0:
            inc(x)
            eagle.copy(x, into=h)
            down(k)
        return g

    def branch(x, k, h):
        g = eagle.Graph()
        if k > 0:
            eagle.copy(h, into=x)
        return g

    for build in (loop, branch):
        k = xp.full(1, 2, np.int32)
        said = said_of(build, xp.zeros(4), k, np.zeros(4))
        assert "`h` is pageable" in said
        assert "write: h = eagle.pinned(4), made before" in said
        eagle.Graph.builder(build)(xp.zeros(4), k, eagle.pinned(4)).launch()


def test_the_buffer_is_the_same_on_every_replay() -> None:
    places: set[int] = set()

    @eagle.Graph.builder
    def build(x, h):
        g = eagle.Graph()
        eagle.copy(x, into=h)
        eagle.opaque(lambda h: places.add(h.ctypes.data), reads=h)
        return g

    h = eagle.pinned(2)
    build(xp.zeros(2), h).launch(5)
    assert {h.ctypes.data} == places


def test_the_same_storage_at_both_ends_is_a_copy_that_does_nothing() -> None:
    @eagle.Graph.builder
    def build(x, h):
        g = eagle.Graph()
        eagle.copy(x, into=x)
        eagle.copy(h, into=h)
        return g

    x, h = xp.arange(3.0), np.arange(3.0)
    build(x, h).launch(2)
    assert [0.0, 1.0, 2.0] == h.tolist() == xp.asnumpy(x).tolist()


# -- what is refused -------------------------------------------------------------------------------


def test_a_host_node_in_the_body_of_device_control_flow_is_refused() -> None:
    def branch(x, k, h):
        g = eagle.Graph()
        if k:
            eagle.opaque(print, reads=h, name="check")
        return g

    def loop(x, k, h):
        g = eagle.Graph()
        for _ in range(k):
            inc(h)
        return g

    for build, node, control in ((branch, "check", "if k"), (loop, "inc", "for _ in range(k)")):
        said = said_of(build, xp.zeros(1), xp.zeros(1, np.int32), eagle.pinned(1))
        assert f"`{node}` is a host" in said
        assert f"inside `{control}`" in said
        assert f"write: it before or after `{control}`" in said


def test_an_eager_function_cuts_the_graph_and_the_device_is_waited_for_before_and_after() -> None:
    seen: list[float] = []
    threads: set[int] = set()

    def look(x: Any) -> None:
        threads.add(threading.get_ident())
        seen.append(float(xp.asnumpy(x)[0]))
        x.fill(2 * seen[-1])

    @eagle.Graph.builder
    def build(x, h):
        g = eagle.Graph()
        inc(x)
        eagle.opaque(look, reads=x, writes=x, eager=True)
        inc(x)
        eagle.copy(x, into=h)
        return g

    h = eagle.pinned(1)
    graph = build(xp.zeros(1), h)
    assert "-- the graph is cut here: `look` is eager" in str(graph)
    graph.launch(3)
    assert [1.0, 4.0, 10.0] == seen
    assert 21.0 == h[0]
    assert {threading.get_ident()} == threads, "it runs where the graph is launched"


# -- without a GPU ---------------------------------------------------------------------------------


def test_the_same_builder_runs_with_numpy_arrays_alone() -> None:
    @eagle.Graph.builder
    def build(x, h, out):
        g = eagle.Graph()
        inc(x)
        eagle.copy(x, into=h)
        eagle.opaque(lambda h: np.negative(h, out=h), reads=h, writes=h)
        eagle.copy(h, into=x)
        twice(x, buffer=out)
        return g

    results: list[list[float]] = []
    for library in (np, xp):
        for buffer in (np.zeros(2), eagle.pinned(2)):
            x, out = library.arange(2.0), library.zeros(2)
            build(x, buffer, out).launch(3)
            results.append([*xp.asnumpy(x), *xp.asnumpy(out), *buffer])
    assert [results[0]] * 4 == results


# -- each of these tests fails where its sentence is made false ------------------------------------


def no_copy(runner: Any, item: Any) -> Iterator[None]:
    """Copies that do nothing."""
    yield


def whole_copy(runner: Any, item: Any) -> Iterator[None]:
    """Copies that nothing else comes in between of."""
    item.writes[0].memory[...] = item.reads[0].memory
    yield from ()


def backwards(items: Sequence[Item]) -> list[tuple[int, int]]:
    """Edges that have nodes run from the last to the first."""
    return [(after, before) for before, after in waits_of(items)]


def all_but_one(runner: Any, parts: Any, n: int) -> None:
    """Replays of which the last is left out."""
    for number in range(1, n):
        runner.begin(number, n)
        for part in parts:
            runner.piece(part)


def refuse_pageable(item: Any, control: str, device: str) -> Iterator[Objection]:
    """Copies that need pinned memory everywhere."""
    for end in (*item.reads, *item.writes):
        if end.root.device is HOST and not is_pinned(end.view):
            yield Objection(item, "pageable", "pinned")


def capture_again(graph: Any) -> Any:
    return graph._capture()


def none(*_: Any, **__: Any) -> None:
    """Nothing is done, nothing is refused."""


def nothing(*_: Any, **__: Any) -> tuple[()]:
    return ()


def by_copy(shape: Any, dtype: Any) -> Any:
    return np.zeros(shape, dtype)


runner = replay._Runner
MUTATIONS: list[tuple[Callable[..., None], tuple[Any, ...], Any, str, Any]] = [
    # the test, its arguments, and what of which is replaced by what
    (
        test_device_arrays_make_a_node_of_the_device_and_host_arrays_a_host_node,
        *((), draw, "HOST", None),
    ),
    (test_one_node_may_not_mix_the_two, (), kernels, "_side", lambda *_: HOST),
    (test_a_host_node_may_not_touch_a_device_array, (), actions, "_check_side", none),
    (
        test_a_host_function_that_touches_the_device_is_caught_when_it_happens,
        *(("a comparison",), Stream, "check enter", none),
    ),
    (test_a_host_function_may_not_launch_a_graph_of_the_device, (), Stream, "check enter", none),
    (
        test_the_direction_of_a_copy_follows_from_where_its_ends_live,
        *((), runner, "_copy", no_copy),
    ),
    (
        test_it_is_captured_once_and_replayed_without_the_host_stepping_in,
        *((), eagle.Graph, "_ready", capture_again),
    ),
    (
        test_when_launch_returns_every_host_array_that_a_node_wrote_is_final,
        *((), runner, "replays", all_but_one),
    ),
    (test_enqueue_does_not_wait_and_synchronize_does, (), runner, "replays", all_but_one),
    (
        test_a_host_node_runs_between_the_copies_before_and_after_it_in_replay_order,
        *((), recorder, "waits_of", backwards),
    ),
    (
        test_an_exception_in_a_host_node_is_kept_and_raised_by_what_is_asked_next,
        *(("launch",), runner, "_fail", none),
    ),
    (test_pinned_gives_a_numpy_array_of_zeros, (), type(HOST), "pinned", lambda _, *a: by_copy(*a)),
    (test_a_copy_can_overlap_with_kernels, (), runner, "_copy", whole_copy),
    (
        test_a_pageable_array_is_staged_first_and_a_pinned_one_is_not,
        *((), runner, "_stage", none),
    ),
    (
        test_nothing_is_pinned_or_allocated_on_the_host_behind_the_users_back,
        *((), builder, "refuse_allocations", none),
    ),
    (
        test_a_pageable_array_works_for_a_copy_that_stands_alone,
        *((), rules, "_of_copy", refuse_pageable),
    ),
    (
        test_a_copy_in_the_body_of_a_loop_or_branch_needs_a_pinned_array,
        *((), rules, "_of_copy", nothing),
    ),
    (
        test_the_buffer_is_the_same_on_every_replay,
        *((), Plane, "array", property(lambda plane: plane.root.array.copy())),
    ),
    (
        test_the_same_storage_at_both_ends_is_a_copy_that_does_nothing,
        *((), actions, "same_memory", lambda one, two: False),
    ),
    (
        test_a_host_node_in_the_body_of_device_control_flow_is_refused,
        *((), rules, "_of_node", nothing),
    ),
    (
        test_an_eager_function_cuts_the_graph_and_the_device_is_waited_for_before_and_after,
        *((), rules, "cuts", lambda plan: []),
    ),
    (test_the_same_builder_runs_with_numpy_arrays_alone, (), actions, "regions", nothing),
]


@simulated_only
@pytest.mark.parametrize(
    ("test", "args", "where", "name", "other"), MUTATIONS, ids=[m[0].__name__ for m in MUTATIONS]
)
def test_it_fails_where_its_sentence_is_false(
    test: Callable[..., None],
    args: tuple[Any, ...],
    where: Any,
    name: str,
    other: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for each in name.split():
        monkeypatch.setattr(where, each, other)
    failed = False
    try:
        test(*args)
    except (Exception, pytest.fail.Exception):  # noqa: BLE001 - whatever it fails with
        failed = True
    finally:
        STREAM.wait()
    assert failed


@simulated_only
def test_every_test_of_a_sentence_has_a_mutation() -> None:
    tests = {
        name for name, each in globals().items() if name.startswith("test_") and callable(each)
    }
    tests -= {
        "test_it_fails_where_its_sentence_is_false",
        "test_every_test_of_a_sentence_has_a_mutation",
    }
    tests -= {"test_the_programs_have_the_bits_of_the_host"}
    assert tests == {mutation[0].__name__ for mutation in MUTATIONS}
