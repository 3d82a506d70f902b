"""Graphs of another device than the host, on one that is made for tests."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import eagle
import hawk
from hawk import Int32, Mutable, Scalar, Terminated
from tests.unit.graph.elsewhere import There, elsewhere
from tests.unit.graph.test_random_graphs import run_everywhere


@hawk.kernel
def inc(x: Mutable[Scalar]):
    x += 1.0


@hawk.kernel
def twice(x: Scalar) -> Scalar:
    return x + x


@hawk.kernel
def added(x: Scalar, y: Scalar) -> Scalar:
    return x + y


@hawk.kernel
def down(k: Mutable[Int32]):
    k -= 1


@hawk.kernel
def ends(x: Mutable[Scalar], over: Terminated) -> Scalar:
    x += 1.0
    over = True
    return x


@pytest.fixture(autouse=True)
def device() -> Iterator[None]:
    with elsewhere():
        yield


def there(*numbers: float, dtype: Any = np.float64) -> There:
    return There(np.array(numbers, dtype))


def test_a_node_runs_where_its_planes_live() -> None:
    @eagle.Graph.builder
    def build(x, k, h, out):
        g = eagle.Graph()
        y = twice(x)
        while k > 0:
            y = twice(y)
            ends(x)
            down(k)
        eagle.copy(y, into=h)
        twice(h, buffer=out)
        eagle.opaque(lambda h: seen.append(h.tolist()), reads=h)
        eagle.copy(out, into=x)
        g.result = x
        return g

    seen: list[Any] = []
    x, k, h, out = there(1.0, 2.0), there(2, dtype=np.int32), eagle.pinned(2), eagle.pinned(2)
    graph = build(x, k, h, out)
    assert "on elsewhere" in str(graph)
    assert "copy device to host" in str(graph)
    graph.enqueue(1)
    assert [0.0, 0.0] == h.tolist(), "nobody has waited yet"
    graph.synchronize()
    assert [8.0, 16.0] == h.tolist()
    assert [[8.0, 16.0]] == seen
    assert graph.result is x
    assert [16.0, 32.0] == x.memory.tolist()
    other = there(5.0, 5.0)
    graph.bind(x=other)
    graph.launch()
    assert [20.0, 20.0] == other.memory.tolist()


def test_planes_on_both_sides_are_refused() -> None:
    @eagle.Graph.builder
    def build(h_batch, w):
        g = eagle.Graph()
        added(h_batch, w)
        return g

    with pytest.raises(eagle.GraphError, match="G201") as error:
        build(np.zeros(2), there(1.0, 2.0))
    assert "'x' on the host, 'y' on elsewhere" in str(error.value)
    assert "write: eagle.copy(h_batch, into=<an array on elsewhere>) before it" in str(error.value)


def test_a_host_kernel_needs_its_buffer() -> None:
    @eagle.Graph.builder
    def build(x, h):
        g = eagle.Graph()
        twice(h)
        inc(x)
        return g

    with pytest.raises(eagle.GraphError, match="G202") as error:
        build(there(1.0), np.zeros((3,), np.float32))
    assert "write: buffer=eagle.pinned(3, np.float32), made before" in str(error.value)


def test_a_host_function_gets_no_array_of_the_device() -> None:
    def build(eager: bool) -> Any:
        @eagle.Graph.builder
        def build(x):
            g = eagle.Graph()
            eagle.opaque(lambda x: None, reads=x, name="look", eager=eager)
            return g

        return build(there(1.0))

    with pytest.raises(eagle.GraphError, match="look runs on the host and is given planes of else"):
        build(False)
    build(True)


def test_what_the_device_objects_to_is_told_at_its_line() -> None:
    @eagle.Graph.builder
    def build(x, k, h):
        g = eagle.Graph()
        if k:
            eagle.copy(h, into=x)
        return g

    x, k = there(1.0), there(2, dtype=np.int32)
    with pytest.raises(eagle.GraphError, match="`h` is pageable, and copied inside `if k`"):
        build(x, k, np.zeros(1))
    build(x, k, eagle.pinned(1))


def test_a_copy_outside_of_a_builder_knows_both_sides() -> None:
    x, h = there(1.0, 2.0), np.zeros(2)
    eagle.copy(x, into=h)
    assert [1.0, 2.0] == h.tolist()
    eagle.copy(h * 2, into=x)
    assert [2.0, 4.0] == x.memory.tolist()


def test_random_graphs_give_the_same_bits() -> None:
    assert run_everywhere(There) > 5
