"""Graphs on a GPU, by a driver made for tests: arrays of any library, what is exchanged, order."""

from __future__ import annotations

import ctypes
import gc
import operator
import shutil
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import eagle
import hawk
from eagle.devices.cuda import code, device, ptx, stamps
from eagle.devices.cuda.arguments import spread
from eagle.devices.cuda.driver import Copy, DriverError, Empty, Host, Kind, Side
from eagle.devices.host import pinned
from eagle.devices.host.pinned import is_pinned
from eagle.devices.plan import (
    Cell,
    CellKind,
    Compare,
    Counter,
    Every,
    Not,
    Region,
    Relation,
    Root,
    Some,
)
from hawk import Int32, Mutable, Param, Scalar
from tests.unit.cuda import native
from tests.unit.cuda.gpus import TestLibrary, gpu_of_tests
from tests.unit.cuda.recorder import Recorder


@hawk.kernel
def inc(x: Mutable[Scalar], dt: Param = 1.0):
    x += dt


@hawk.kernel
def twice(x: Scalar) -> Scalar:
    return x + x


@hawk.kernel
def down(k: Mutable[Int32]):
    k -= 1


@pytest.fixture
def xp() -> Iterator[TestLibrary]:
    with gpu_of_tests() as library:
        yield library


@eagle.Graph.builder
def stepped(x, h):
    g = eagle.Graph()
    inc(x)
    eagle.copy(x, into=h)
    g.result = x
    return g


# -- arrays of other libraries ---------------------------------------------------------------------


class Interface:
    """An array that says where it is as those of CuPy and Numba do."""

    def __init__(self, array: Any, **more: Any) -> None:
        self._array = array
        self.__dict__.update(more)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {**self._array.__cuda_array_interface__, **self.__dict__.get("interface", {})}


class OnlyDlpack:
    """An array that gives its memory by DLPack alone, as those of JAX do."""

    def __init__(self, array: Any, kind: int = 2, number: int = 0) -> None:
        self._array, self._device = array, (kind, number)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device

    def __dlpack__(self, *, stream: Any = None, **asked: Any) -> Any:
        assert stream == -1, "whoever waits is the graph"
        capsule = self._array._memory.__dlpack__()
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
        kind = ctypes.c_int32.from_address((pointer(capsule, b"dltensor") or 0) + 8)
        assert 1 == kind.value
        kind.value = self._device[0]
        return capsule


@pytest.mark.parametrize("kind", [Interface, OnlyDlpack])
def test_an_array_of_any_library_is_a_plane(xp: TestLibrary, kind: Any) -> None:
    x, h = xp.arange(6.0).reshape(2, 3), eagle.pinned((2, 3))

    @hawk.kernel
    def turn(x: Mutable[hawk.Vector[2]]):
        x = hawk.math.vec(x[1], x[0])

    @eagle.Graph.builder
    def build(x, h):
        g = eagle.Graph()
        turn(x)
        eagle.copy(x, into=h)
        g.result = x
        return g

    other = kind(x)
    graph = build(other, h)
    graph.launch()
    assert [[3.0, 4.0, 5.0], [0.0, 1.0, 2.0]] == h.tolist() == xp.asnumpy(x).tolist()
    assert graph.result is other
    gone = weakref.ref(other)
    del other
    gc.collect()
    assert gone() is not None, "the graph keeps it"


def test_an_array_of_one_library_is_copied_to_one_of_another(xp: TestLibrary) -> None:
    x, y, h = xp.arange(3.0), xp.zeros(3), np.zeros(3)
    eagle.copy(Interface(x), into=OnlyDlpack(y))
    eagle.copy(OnlyDlpack(y), into=h)
    assert [0.0, 1.0, 2.0] == h.tolist()
    eagle.copy(np.full(3, 7.0), into=Interface(y))
    assert [7.0, 7.0, 7.0] == xp.asnumpy(y).tolist()


def test_what_a_library_says_of_an_array_is_believed(xp: TestLibrary) -> None:
    x, h = xp.zeros(3), eagle.pinned(3)
    readonly = Interface(x, interface={"data": (x.__cuda_array_interface__["data"][0], True)})
    with pytest.raises(eagle.BindError, match="read-only"):
        stepped(readonly, h)
    masked = Interface(x, interface={"mask": x})
    with pytest.raises(ValueError, match="an array with a mask"):
        stepped(masked, h)


def test_what_eagle_makes_can_be_seen_by_other_libraries(xp: TestLibrary) -> None:
    x = xp.zeros((4, 3), np.float32)
    address = x.__cuda_array_interface__["data"][0]
    assert {
        "shape": (4, 2),
        "strides": (12, 4),
        "typestr": "<f4",
        "data": (address, False),
        "version": 3,
        "stream": 1,
    } == x[:, :2].__cuda_array_interface__
    assert xp.zeros(3).__cuda_array_interface__["strides"] is None


def test_pieces_with_gaps_are_written_and_read(xp: TestLibrary) -> None:
    x = xp.zeros((3, 4))
    x[1:, ::2] = 5.0
    assert [[0.0] * 4, [5.0, 0.0, 5.0, 0.0], [5.0, 0.0, 5.0, 0.0]] == xp.asnumpy(x).tolist()
    h = np.zeros((4, 3)).T
    eagle.copy(x, into=h)
    assert xp.asnumpy(x).tolist() == h.tolist()
    assert [5.0, 5.0] == xp.asnumpy(x[1, ::2]).tolist()


def test_a_copy_that_is_too_many_copies_is_refused_or_made_by_python(xp: TestLibrary) -> None:
    @eagle.Graph.builder
    def build(x, h, k):
        g = eagle.Graph()
        eagle.copy(h, into=k)
        eagle.copy(k, into=x)
        return g

    x, h, k = xp.zeros(100), np.arange(100.0)[::-1], np.zeros(100)
    build(x, h, k).launch()
    assert h.tolist() == xp.asnumpy(x).tolist()
    with pytest.raises(eagle.GraphError, match="more than 64 copies"):
        build(x, k, h)


# -- streams, pinned memory, what is given back ----------------------------------------------------


def test_replays_come_after_and_before_what_other_libraries_ask_for(
    xp: TestLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = device.gpu(0).stream
    current = SimpleNamespace(ptr=0)
    cupy = SimpleNamespace(cuda=SimpleNamespace(get_current_stream=lambda: current))
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    graph = stepped(xp.zeros(2), eagle.pinned(2))
    graph.launch()
    assert [] == xp.driver.followed, "the default stream is followed by itself"
    current.ptr = 5000
    graph.enqueue(3)
    assert [(ours, 5000), (5000, ours)] == xp.driver.followed


def test_pinned_memory_is_locked_and_given_back(xp: TestLibrary) -> None:
    h = eagle.pinned((3, 5), np.float32)
    (size,) = (
        size
        for address, size in xp.driver.locked.items()
        if address <= h.ctypes.data < address + size
    )
    assert 0 == size % 4096
    part = h[1:]
    address = h.ctypes.data
    del h
    gc.collect()
    assert address in xp.driver.locked, "a view of it is there"
    del part
    gc.collect()
    xp.zeros(1)
    assert address not in xp.driver.locked


def test_what_was_pinned_before_a_gpu_was_used_is_locked_then() -> None:
    before = eagle.pinned(7)
    with gpu_of_tests() as xp:
        assert before.ctypes.data in xp.driver.locked


def test_what_goes_while_all_is_locked_is_unlocked() -> None:
    kept, locked = [eagle.pinned(3), eagle.pinned(4)], set[int]()

    class Locker:
        def lock(self, address: int, size: int) -> None:
            locked.add(address)
            kept.clear()
            gc.collect()

        def unlock(self, address: int, memory: object) -> None:
            locked.remove(address)

    addresses = {each.ctypes.data for each in kept}
    pinned.lock_all(Locker())
    try:
        assert not addresses & locked
    finally:
        pinned.lock_none()


def test_nothing_of_cuda_is_asked_for_in_a_host_function(xp: TestLibrary) -> None:
    x = xp.zeros(2)
    ways = {
        "pinned": lambda: eagle.pinned(3),
        "a foreign array": lambda: eagle.copy(Interface(x), into=np.zeros(2)),
        "a graph": lambda: stepped(x, np.zeros(2)).launch(),
        "an array": lambda: xp.zeros(3),
    }
    for what, ask in ways.items():

        @eagle.Graph.builder
        def build(x, h, ask=ask):
            g = eagle.Graph()
            eagle.copy(x, into=h)
            eagle.opaque(lambda h: ask(), reads=h, name="peek")
            return g

        with pytest.raises(RuntimeError, match="in peek, a host function of a graph"):
            build(x, np.zeros(2)).launch()
        assert [] == xp.driver.wrong, what


def test_page_locked_memory_of_another_library_is_pinned(xp: TestLibrary) -> None:
    array = np.zeros(2000)
    assert not is_pinned(array)
    xp.driver.locked[array.ctypes.data] = array.nbytes
    assert is_pinned(array)


def test_all_is_given_back(xp: TestLibrary) -> None:
    driver, x, h = xp.driver, xp.zeros(2), eagle.pinned(2)
    memory, graphs = len(driver.memory), len(driver.graphs)
    for _ in range(3):
        k = xp.full(1, 2, np.int32)

        @eagle.Graph.builder
        def build(x, k, h):
            g = eagle.Graph()
            y = twice(x)
            while k > 0:
                y = twice(y)
                down(k)
            eagle.copy(y, into=h)
            return g

        graph = build(x, k, h)
        graph.launch()
        graph.profile(2)
        del graph, k, build
    gc.collect()
    x.copy()
    gc.collect()
    device.gpu(0).home.enter("looking")
    assert (memory, graphs, {}) == (len(driver.memory), len(driver.graphs), driver.ready)


def test_garbage_that_is_found_in_a_host_function_waits(xp: TestLibrary) -> None:
    x = xp.zeros(2)

    def collect(h: np.ndarray) -> None:
        kept.clear()
        gc.collect()

    @eagle.Graph.builder
    def build(x, h):
        g = eagle.Graph()
        eagle.copy(x, into=h)
        eagle.opaque(collect, reads=h)
        return g

    kept: list[Any] = [stepped(x, eagle.pinned(2))]
    kept[0].launch()
    kept.append(kept)
    ready = len(xp.driver.ready)
    graph = build(x, eagle.pinned(2))
    graph.launch()
    assert ready + 1 == len(xp.driver.ready) or not device.gpu(0).remains
    graph.launch()
    assert ready == len(xp.driver.ready)


def test_memory_that_nobody_uses_is_given_back_before_there_is_none(xp: TestLibrary) -> None:
    kept = [xp.zeros(8)]
    kept.clear()
    gc.collect()
    allocate, full = xp.driver.allocate, [True]

    def sometimes(size: int) -> int:
        if full and device.gpu(0).remains:
            raise DriverError("cuMemAlloc", "CUDA_ERROR_OUT_OF_MEMORY")
        return allocate(size)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(xp.driver, "allocate", sometimes)
        gpu = device.gpu(0)
        assert gpu.remains
        assert gpu.allocate(8)


# -- exchanging ------------------------------------------------------------------------------------


def test_an_exchange_changes_nodes_and_makes_a_graph_anew_only_where_it_must(
    xp: TestLibrary,
) -> None:
    @eagle.Graph.builder
    def build(x, y, k, h, dt):
        g = eagle.Graph()
        inc(x, dt)
        eagle.copy(x, into=h)
        while k > 0:
            inc(y, dt)
            down(k)
        return g

    x, y, k, h = xp.zeros(2), xp.zeros(2), xp.full(1, 2, np.int32), eagle.pinned(2)
    graph = build(x, y, k, h, 1.0)
    graph.launch()
    calls = xp.driver.calls
    calls.clear()
    graph.bind(x=xp.full(2, 5.0), h=(second := eagle.pinned(2)))
    assert 2 == calls.count("update")
    assert 0 == calls.count("instantiate")
    graph.launch()
    assert [6.0, 6.0] == second.tolist()
    calls.clear()
    graph.bind(y=(other := xp.full(2, 7.0)))
    assert 1 == calls.count("instantiate")
    k[...] = 3
    graph.params(dt=0.5)
    graph.launch()
    assert [6.5, 6.5] == second.tolist()
    assert [8.5, 8.5] == xp.asnumpy(other).tolist()
    assert [2.0, 2.0] == xp.asnumpy(y).tolist()


def test_a_host_kernel_is_native_code_that_follows_exchanges(xp: TestLibrary) -> None:
    @eagle.Graph.builder
    def build(x, h, k, dt):
        g = eagle.Graph()
        eagle.copy(x, into=h)
        inc(h, dt)
        twice(h, buffer=k)
        return g

    h, k = eagle.pinned(2), np.zeros(2)
    graph = build(xp.ones(2), h, k, 1.0)
    graph.launch(3)
    assert [4.0, 4.0] == k.tolist()
    nodes = [n.work for g in xp.driver.graphs.values() for n in g.nodes.values()]
    assert 2 == sum(isinstance(work, Host) for work in nodes)
    other = np.zeros(2)
    graph.bind(k=other)
    graph.params(dt=2.0)
    graph.launch()
    assert [6.0, 6.0] == other.tolist()
    assert [4.0, 4.0] == k.tolist()


def test_a_long_host_kernel_comes_back_when_it_is_done(xp: TestLibrary) -> None:
    @hawk.kernel
    def spun(x: Mutable[Scalar]):
        for _ in range(300_000):
            x = x * 0.5 + 1.0

    @eagle.Graph.builder
    def build(x, h):
        g = eagle.Graph()
        spun(h)
        eagle.copy(h, into=x)
        return g

    x, h = xp.zeros(400), eagle.pinned(400)
    build(x, h).launch()
    assert [2.0] * 400 == xp.asnumpy(x).tolist()


def test_a_graph_that_could_not_be_made_anew_is_made_at_the_next_launch(xp: TestLibrary) -> None:
    @eagle.Graph.builder
    def build(y, k):
        g = eagle.Graph()
        while k > 0:
            inc(y)
            down(k)
        return g

    k = xp.full(1, 2, np.int32)
    graph = build(xp.zeros(2), k)
    graph.launch()
    other = xp.zeros(2)
    with pytest.MonkeyPatch.context() as patch:

        def fails(graph: int) -> int:
            raise DriverError("cuGraphInstantiateWithParams", "CUDA_ERROR_OUT_OF_MEMORY")

        patch.setattr(xp.driver, "instantiate", fails)
        with pytest.raises(eagle.DeviceError, match="CUDA_ERROR_OUT_OF_MEMORY"):
            graph.bind(y=other)
        graph.bind(y=(other := xp.zeros(2)))  # there is nothing to be changed
    k[...] = 4
    graph.launch()
    assert [4.0, 4.0] == xp.asnumpy(other).tolist()


def test_an_array_that_is_gone_is_not_exchanged_for_one_of_before(xp: TestLibrary) -> None:
    x, y, h = xp.zeros(2), xp.zeros(2), eagle.pinned(2)
    graph = stepped(x, h)
    graph.launch()
    size = xp.driver.memory.pop(address := y.__cuda_array_interface__["data"][0])
    for ask in (lambda: graph.bind(x=y), graph.launch, graph.launch):
        with pytest.raises(eagle.DeviceError, match="not there any more"):
            ask()
    xp.driver.memory[address] = size
    graph.launch()
    assert [1.0, 1.0] == xp.asnumpy(y).tolist() == xp.asnumpy(x).tolist()


def test_after_an_eager_function_all_streams_are_waited_for(xp: TestLibrary) -> None:
    @eagle.Graph.builder
    def build(x):
        g = eagle.Graph()
        inc(x)
        eagle.opaque(lambda x: calls.append("eager"), reads=x, writes=x, eager=True)
        inc(x)
        return g

    calls = xp.driver.calls
    graph = build(xp.zeros(2))
    graph.launch()
    calls.clear()
    graph.launch()
    seen = [each for each in calls if each in ("launch", "eager", "settle")]
    assert ["launch", "eager", "settle", "launch"] == seen


# -- waiting ---------------------------------------------------------------------------------------


def test_an_interrupt_is_heard_and_the_graph_works_afterwards(
    xp: TestLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = threading.Event()

    @eagle.Graph.builder
    def build(x, h):
        g = eagle.Graph()
        eagle.opaque(lambda h: go.wait(30), writes=h)
        eagle.copy(h, into=x)
        inc(x)
        return g

    x = xp.zeros(2)
    graph = build(x, eagle.pinned(2))
    graph.enqueue(2)

    def interrupted(seconds: float) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(device, "sleep", interrupted)
        with pytest.raises(KeyboardInterrupt) as raised:
            graph.synchronize()
    (note,) = raised.value.__notes__
    assert note.startswith("2 of 2 replays were launched: those go on, and the next call waits")
    go.set()
    graph.launch()
    assert 3 == xp.driver.launches
    assert [1.0, 1.0] == xp.asnumpy(x).tolist()


def test_an_interrupt_among_launches_says_how_many_there_were(xp: TestLibrary) -> None:
    @eagle.Graph.builder
    def build(x, *, eager=False):
        g = eagle.Graph()
        inc(x)
        if eager:
            eagle.opaque(look, reads=x, eager=True)
            inc(x)
        return g

    def look() -> None:
        if [5.0, 5.0] == xp.asnumpy(x).tolist():
            raise KeyboardInterrupt

    def noted(graph: Any) -> str:
        with pytest.raises(KeyboardInterrupt) as raised:
            graph.launch(4)
        (note,) = raised.value.__notes__
        return note

    x, launch = xp.zeros(2), xp.driver.launch

    def interrupted(ready: int, stream: int) -> None:
        launch(ready, stream)
        if 2 == xp.driver.launches:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(xp.driver, "launch", interrupted)
        said = noted(build(x))
    assert said.startswith("1 or 2 of 4 replays were launched: those go on")
    assert [2.0, 2.0] == xp.asnumpy(x).tolist()
    said = noted(build(x, eager=True))
    assert said.startswith("within replay 2 of 4, at the node `look`: arrays hold a part of that")
    assert [5.0, 5.0] == xp.asnumpy(x).tolist()


def test_replay_numbers_are_those_of_the_launch(xp: TestLibrary) -> None:
    calls: list[int] = []

    def fail(h: np.ndarray) -> None:
        calls.append(1)
        if len(calls) in (3, 7):
            raise ValueError("now")

    @eagle.Graph.builder
    def build(x, h):
        g = eagle.Graph()
        eagle.copy(x, into=h)
        eagle.opaque(fail, reads=h, name="fail")
        return g

    graph = build(xp.zeros(1), eagle.pinned(1))
    graph.launch(1)
    for n, notes in ((2, "replay 2 of 2"), (5, "replay 4 of 5")):
        with pytest.raises(ValueError, match="now") as caught:
            graph.launch(n)
        assert [f"in the node fail of the graph build, {notes}"] == caught.value.__notes__


def test_a_replay_waits_for_the_one_that_writes_what_it_stages(xp: TestLibrary) -> None:
    @eagle.Graph.builder
    def build(x, h):
        g = eagle.Graph()
        eagle.copy(h, into=x)  # read when it is launched: the replay before is over by then
        inc(x)
        eagle.copy(x, into=h)
        return g

    for h in (np.zeros(2), eagle.pinned(2)):
        build(xp.zeros(2), h).launch(5)
        assert [5.0, 5.0] == h.tolist()


# -- a profile -------------------------------------------------------------------------------------


def test_a_profile_shows_nodes_in_loops_and_between_cuts(xp: TestLibrary) -> None:
    @eagle.Graph.builder
    def build(x, k, h):
        g = eagle.Graph()
        for _ in range(k):
            inc(x)
        eagle.opaque(lambda x: None, reads=x, eager=True, name="look")
        eagle.copy(x, into=h)
        return g

    graph = build(xp.zeros(2), xp.full(1, 3, np.int32), eagle.pinned(2))
    spans = graph.profile(2).spans
    names = [(s.item.name, s.replay) for s in spans if s.item.name in ("inc", "look", "copy x")]
    each = ["inc", "inc", "inc", "look", "copy x"]
    assert [(name, replay) for replay in (1, 2) for name in each] == names
    assert all(span.begin <= span.end for span in spans)


def test_a_profile_of_too_many_nodes_is_refused(
    xp: TestLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stamps, "ROOM", 8)

    @eagle.Graph.builder
    def build(x):
        g = eagle.Graph()
        for _ in range(5):
            inc(x)
        return g

    graph = build(xp.zeros(2))
    with pytest.raises(eagle.DeviceError, match="a replay of 10 .*, and .* room for 8"):
        graph.profile()


# -- small things ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expected", "n", "multiprocessors"),
    [
        ((1, 32), 1, 100),
        ((1, 32), 32, 100),
        ((100, 32), 3200, 100),
        ((100, 64), 6400, 100),
        ((100, 256), 25600, 100),
        ((3907, 256), 1_000_000, 100),
        ((2**31 - 1, 256), 2**62, 100),
    ],
)
def test_samples_are_spread_over_the_multiprocessors(
    expected: tuple[int, int], n: int, multiprocessors: int
) -> None:
    assert expected == spread(n, multiprocessors)


@pytest.mark.parametrize(
    ("expected", "capability"), [("sm_75", 75), ("sm_86", 87), ("sm_90", 90), ("sm_120", 121)]
)
def test_code_is_made_for_the_newest_chip_that_is_not_newer(expected: str, capability: int) -> None:
    assert expected == code.arch_of(capability)


def test_it_is_made_for_an_oldest_gpu_that_hawk_makes_code_for() -> None:
    from hawk.targets.ptx.chip import VERSIONS

    assert min(VERSIONS) == device.OLDEST_GPU == min(code.CHIPS)
    assert set(code.CHIPS) <= set(VERSIONS)


# -- loops in loops --------------------------------------------------------------------------------


def test_a_loop_in_a_loop_begins_anew_each_time(xp: TestLibrary) -> None:
    @hawk.kernel
    def odd(k: Int32) -> hawk.Bool:
        return k % 2 == 1

    @hawk.kernel
    def up(k: Mutable[Int32]):
        k += 1

    @eagle.Graph.builder
    def build(x, y, k, m):
        g = eagle.Graph()
        for _ in range(m):
            up(k)
            while odd(k):  # asked by a kernel, before each pass
                inc(x)
                up(k)
                up(k)
                if k > 4:
                    break
            for j in range(m):
                if j == 1:
                    inc(y)
        return g

    ends: list[list[Any]] = []
    for library in (np, xp):
        x, y, k = library.zeros(2), library.zeros(2), library.zeros(1, np.int32)
        graph = build(x, y, k, library.full(1, 5, np.int32))
        graph.launch(2)
        ends.append([xp.asnumpy(each).tolist() for each in (x, y, k)])
    assert ends[0] == ends[1]
    assert [10.0, 10.0] == ends[0][1]


# -- the driver refuses ----------------------------------------------------------------------------


def test_the_driver_of_tests_refuses_what_cuda_refuses() -> None:
    driver = Recorder()
    with pytest.raises(DriverError, match="INVALID_CONTEXT"):
        driver.graph()
    driver.push(100)
    here, pinned = np.zeros(4), eagle.pinned(4)
    there, graph = driver.allocate(32), driver.graph()
    driver.lock(pinned.ctypes.data, 32)
    home = Copy(there, Side.DEVICE, here.ctypes.data, Side.HOST, 32)
    node = driver.add(graph, (), home)
    wrong: list[tuple[str, Any]] = [
        ("dependencies", lambda: driver.add(graph, (node, node), Empty())),
        ("dependencies", lambda: driver.add(graph, (node + 999,), Empty())),
        ("host memory", lambda: driver.copy(Copy(there, Side.DEVICE, there, Side.HOST, 8))),
        (
            "device memory",
            lambda: driver.copy(Copy(there, Side.DEVICE, there + 30, Side.DEVICE, 8)),
        ),
        ("INVALID_VALUE", lambda: driver.free(there + 8)),
        ("handle", lambda: driver.condition(graph, (), 4, Kind.IF)),
        ("INVALID_VALUE", lambda: driver.launch(77, 0)),
    ]
    for text, ask in wrong:
        with pytest.raises(DriverError, match=text):
            ask()
    handle = driver.handle(graph, 1)
    with pytest.raises(DriverError, match="a handle without a node"):
        driver.instantiate(graph)
    number, body = driver.condition(graph, (node,), handle, Kind.WHILE)
    with pytest.raises(DriverError, match="handle"):
        driver.condition(graph, (), handle, Kind.IF)
    with pytest.raises(DriverError, match="an empty body") as caught:
        driver.instantiate(graph)
    assert number == caught.value.at
    with pytest.raises(DriverError, match="a host node in a conditional body"):
        driver.add(body, (), Host(1, 1))
    with pytest.raises(DriverError, match="pageable memory in a conditional body"):
        driver.add(body, (), home)
    driver.add(body, (), Copy(there, Side.DEVICE, pinned.ctypes.data, Side.HOST, 32))
    assert driver.instantiate(graph)


# -- small kernels ---------------------------------------------------------------------------------


def cells(xp: TestLibrary) -> tuple[dict[str, Cell], dict[str, np.ndarray]]:
    """A cell of each type, and the memory it is."""
    memory = {each.name: np.zeros(1, each.value) for each in CellKind}
    found: dict[str, Cell] = {}
    for kind in CellKind:
        view = memory[kind.name]
        root = Root(kind.name, view, view, device.gpu(0), made=False, address=view.ctypes.data)
        found[kind.name] = Cell(Region(kind.name, root, view, root.at()), kind)
    return found, memory


def run(driver: Recorder, small: ptx.Small) -> None:
    pointers = (driver._setter, driver._clock)
    setter, clock = (ctypes.cast(p, ctypes.c_void_p).value or 0 for p in pointers)
    address, _ = native.of_small(small.text, setter, clock)
    native.call(address, [each.word for each in small.arguments])


def constant(number: int) -> Cell:
    region: Any = None
    return Cell(region, CellKind.I64, number)


def test_conditions_and_cells_are_computed_as_python_does(xp: TestLibrary) -> None:
    found, memory = cells(xp)
    b, i, u, wide = (found[each.name] for each in CellKind)
    numbers = [0, 1, -1, 5, 2**31 - 1, -(2**31), 2**32 - 1]
    rng = np.random.default_rng(0)
    for relation in Relation:
        for _ in range(12):
            values = [int(each) for each in rng.choice(numbers, 3)]
            memory["I32"][0] = np.int64(values[0]).astype(np.int32)
            memory["U32"][0] = np.int64(values[1]).astype(np.uint32)
            memory["I64"][0] = values[2] * 2**20
            memory["BOOL"][0] = bool(values[0] & 1)
            test = Every(
                (
                    Some((Compare(i, relation, u), Compare(b, Relation.EQ, constant(1)))),
                    Not(Compare(wide, relation, i)),
                )
            )
            holds = getattr(operator, relation.name.lower())
            expected = (
                holds(int(memory["I32"][0]), int(memory["U32"][0])) or memory["BOOL"][0]
            ) and not holds(int(memory["I64"][0]), int(memory["I32"][0]))
            small = ptx.Small()
            small.put(b, test)
            run(xp.driver, small)
            assert bool(expected) is bool(memory["BOOL"][0])
    memory["U32"][0] = 2**32 - 1
    small = ptx.Small()
    small.put(wide, u)
    small.put(b, constant(7))
    run(xp.driver, small)
    assert (2**32 - 1, True) == (memory["I64"][0], memory["BOOL"][0])
    small = ptx.Small()
    small.put(i, constant(-3))
    run(xp.driver, small)
    assert -3 == memory["I32"][0]


@pytest.mark.parametrize(
    ("expected", "count", "limit", "step"),
    [
        ([(0, 3), (3, 5)], 0, 5, 3),
        ([], 5, 5, 1),
        ([(2**63 - 3, 2**63 - 1)], 2**63 - 3, 2**63 - 1, 7),
        ([(-5, -3), (-3, -2)], -5, -2, 2),
        ([(-(2**63), -1), (-1, 2**63 - 2), (2**63 - 2, 2**63 - 1)], -(2**63), 2**63 - 1, 2**63 - 1),
    ],
)
def test_a_counter_goes_on_to_its_limit(
    xp: TestLibrary, expected: list[tuple[int, int]], count: int, limit: int, step: int
) -> None:
    found, memory = cells(xp)
    numbers = {name: np.zeros(1, np.int64) for name in ("count", "number", "limit")}
    wide: dict[str, Cell] = {}
    for name, view in numbers.items():
        root = Root(name, view, view, device.gpu(0), made=False, address=view.ctypes.data)
        wide[name] = Cell(Region(name, root, view, root.at()), CellKind.I64)
    numbers["count"][0], numbers["limit"][0] = count, limit
    counter = Counter(wide["count"], wide["number"], wide["limit"], step)
    passes: list[tuple[int, int]] = []
    for _ in range(5):
        small = ptx.Small()
        small.put(found["BOOL"], Compare(constant(0), Relation.EQ, constant(0)))
        small.note(memory["BOOL"].ctypes.data, small.count(counter, small.all()))
        run(xp.driver, small)
        if not memory["BOOL"][0]:
            break
        passes.append((int(numbers["number"][0]), int(numbers["count"][0])))
    assert expected == passes


PTXAS = shutil.which("ptxas")


@pytest.mark.skipif(PTXAS is None, reason="no ptxas, which comes with CUDA")
def test_small_kernels_assemble(xp: TestLibrary, tmp_path: Path) -> None:
    found, _ = cells(xp)
    b, i, u, wide = (found[each.name] for each in CellKind)
    small = ptx.Small()
    test = small.holds(Every((Compare(i, Relation.LT, u), Not(Compare(wide, Relation.EQ, b)))))
    for cell in found.values():
        small.put(cell, wide)
    small.set(7, test)
    small.set(8, small.opposite(test))
    small.note(99, small.all())
    small.set(9, small.noted(99))
    small.set(9, small.count(Counter(wide, wide, i, 3), test))
    small.stamp(1000, stamps.ROOM, 5)
    small.start(99)
    small.set(9, small.early(99, 50_000_000))
    small.tally(99, 199, 66)
    file = tmp_path / "small.ptx"
    file.write_text(small.text)
    assert PTXAS is not None
    for chip in ("sm_75", "sm_90", "sm_120"):
        subprocess.run([PTXAS, f"-arch={chip}", file, "-c", "-o", tmp_path / "out"], check=True)
