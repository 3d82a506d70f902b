"""Graphs that are replayed and built many times, dropped while they run, used by two at once."""

import gc
import threading
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import eagle
import hawk
import hawk.code
from eagle.devices.host import fusion
from hawk import Mutable, Scalar


@hawk.kernel
def inc(x: Mutable[Scalar]):
    x += 1.0


@hawk.kernel
def twice(x: Scalar) -> Scalar:
    return x + x


@eagle.Graph.builder
def counted(x, h, look):
    g = eagle.Graph()
    inc(x)
    eagle.copy(x, into=h)
    eagle.opaque(look, reads=h, name="look")
    return g


@pytest.fixture
def collecting() -> Iterator[None]:
    """Another thread that collects garbage again and again."""
    over = threading.Event()

    def collect() -> None:
        while not over.wait(0.1):
            gc.collect()

    thread = threading.Thread(target=collect)
    thread.start()
    yield
    over.set()
    thread.join()


@pytest.mark.usefixtures("collecting")
def test_a_function_is_called_in_each_of_1000_replays(library: Any) -> None:
    seen: list[float] = []
    graph = counted(library.zeros(1), eagle.pinned(1), lambda h: seen.append(float(h[0])))
    graph.launch(1000)
    assert [float(k) for k in range(1, 1001)] == seen


def test_an_exception_in_replay_7_is_raised_once_and_names_its_node(library: Any) -> None:
    def look(h: Any) -> None:
        if h[0] == 7.0:
            raise ZeroDivisionError("nothing")

    graph = counted(library.zeros(1), eagle.pinned(1), look)
    with pytest.raises(ZeroDivisionError, match="nothing") as caught:
        graph.launch(20)
    assert ["in the node look of the graph counted, replay 7 of 20"] == caught.value.__notes__
    graph.launch(20)
    graph.synchronize()


def test_a_graph_that_launches_itself_is_busy() -> None:
    graph: Any = None

    def again(h: Any) -> None:
        graph.launch()

    graph = counted(np.zeros(1), np.zeros(1), again)
    with pytest.raises(eagle.Busy, match="this graph counted is being replayed"):
        graph.launch(3)


def test_the_last_reference_may_go_while_it_runs(device_library: Any) -> None:
    go, seen = threading.Event(), list[float]()

    def look(h: Any) -> None:
        go.wait(30)
        seen.append(float(h[0]))

    graph = counted(device_library.zeros(1), eagle.pinned(1), look)
    graph.enqueue(5)
    del graph
    gc.collect()
    go.set()
    device_library.asnumpy(device_library.zeros(1))  # comes after all that was enqueued
    assert [1.0, 2.0, 3.0, 4.0, 5.0] == seen


def test_many_builds_leak_nothing_and_compile_nothing_after_the_first(
    programs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fusion, "FEWEST", 1)
    compiled: list[str] = []
    native = hawk.code.native_code

    def noted(*args: Any, **options: Any) -> Any:
        compiled.append(options["name"])
        return native(*args, **options)

    for module in ("hawk.kernel", "hawk.fused"):
        monkeypatch.setattr(import_module(module), "native_code", noted)

    @eagle.Graph.builder
    def build(x, k):
        g = eagle.Graph()
        if k > 0:
            twice(twice(x), buffer=x)
        eagle.opaque(lambda x: None, reads=x)
        g.result = twice(x)
        return g

    def builds(count: int) -> int:
        for _ in range(count):
            build(np.ones(3), np.ones(1, np.int32)).launch()
        gc.collect()
        return len(gc.get_objects())

    builds(20)
    before, had = builds(20), list(compiled)
    more = 10_000 if programs >= 1000 else 100
    assert builds(more) - before < more / 2
    assert had == compiled
