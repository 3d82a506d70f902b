"""Functions of other libraries in graphs on a GPU: what they launch is captured."""

from __future__ import annotations

import functools
import gc
import math
import re
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import eagle
import hawk
from eagle.devices.cuda import capturing, code, device
from eagle.devices.cuda.driver import Argument, DriverError, Kernel
from eagle.interop.streams import working_on
from hawk import Int32, Mutable, Param, Scalar
from hawk.ir.types import DType
from hawk.targets.base import raw_word
from tests.unit.cuda.fake_cupy import FakeCupy
from tests.unit.cuda.gpus import TestLibrary, gpu_of_tests


@hawk.kernel
def shift(x: Mutable[Scalar], by: Param):
    x += by


@hawk.kernel
def twice(x: Mutable[Scalar]):
    x *= 2.0


@hawk.kernel
def less(k: Mutable[Int32]):
    k -= 1


@pytest.fixture
def xp() -> Iterator[TestLibrary]:
    with gpu_of_tests() as library:
        yield library


@pytest.fixture
def cupy(xp: TestLibrary, monkeypatch: pytest.MonkeyPatch) -> FakeCupy:
    """A library that works by the same driver."""
    driver = xp.driver

    def add(stream: int, x: Any, number: float) -> None:
        interface = x.__cuda_array_interface__
        count, gpu = math.prod(interface["shape"]), device.gpu(0)
        text = code.ptx_of(shift.trace(DType.F64), "sm_90")
        words = (interface["data"][0], raw_word(number, DType.F64), count, 1)
        with gpu.current():
            function = gpu.function(text, "shift")
            arguments = tuple(Argument(word, 8) for word in words)
            told(lambda: driver.captures.ask(stream, Kernel(function, 1, 32, arguments)))

    def wait(stream: int) -> None:
        with device.gpu(0).current():
            told(lambda: driver.synchronize(stream))

    def told(call: Callable[[], None]) -> None:
        try:
            call()
        except DriverError as error:  # of which other libraries make errors of their own
            raise RuntimeError(str(error)) from None

    made = FakeCupy(add, wait)
    monkeypatch.setitem(sys.modules, "cupy", made)  # type: ignore[arg-type]
    return made


def numbers(xp: TestLibrary, x: Any) -> Any:
    return xp.asnumpy(x).tolist()


def test_what_a_function_launches_is_part_of_the_graph(xp: TestLibrary, cupy: FakeCupy) -> None:
    calls: list[Any] = []

    def both(x: Any, y: Any) -> None:
        calls.append((x, y))
        cupy.add(x, 1.0)
        cupy.add(y, 10.0)

    @eagle.Graph.builder
    def build(x, y):
        g = eagle.Graph()
        twice(x)
        eagle.opaque(both, reads=(), writes=(x, y), capture=True)
        twice(y)
        return g

    x, y = xp.ones(3), xp.zeros(4)
    graph = build(x, y)
    graph.launch(3)
    assert [(x, y)] == calls, "it is called once"
    assert [15.0] * 3 == numbers(xp, x)
    assert [140.0] * 4 == numbers(xp, y)
    assert 3 == xp.driver.launches, "it is not cut"
    assert re.search(r"2 both ─+ captured function", str(graph))
    assert 0 == cupy.stream


def test_in_branches_loops_and_forks(xp: TestLibrary, cupy: FakeCupy) -> None:
    @eagle.Graph.builder
    def build(x, y, k):
        g = eagle.Graph()
        while k > 0:
            less(k)
            if k == 1:
                eagle.opaque(lambda x: cupy.add(x, 1.0), writes=x, capture=True)
            else:
                twice(x)
        with g.parallel() as p:
            with p.branch():
                eagle.opaque(lambda: cupy.add(x, 0.5), writes=x, capture=True)
            with p.branch():
                twice(y)
        eagle.opaque(lambda y: cupy.add(y, 0.5), writes=y, capture=True)
        return g

    x, y = xp.ones(2), xp.ones(2)
    build(x, y, xp.asarray(np.array([3], np.int32))).launch()
    assert [6.5, 6.5, 2.5, 2.5] == numbers(xp, x) + numbers(xp, y)


def test_streams_of_the_function_are_joined(xp: TestLibrary, cupy: FakeCupy) -> None:
    driver = xp.driver

    def forked(x: Any, y: Any, *, joined: bool = True) -> None:
        begun = cupy.stream
        with device.gpu(0).current():
            driver.follow(555, begun)
            with cupy.on(555):
                cupy.add(y, 1.0)
            cupy.add(x, 1.0)
            if joined:
                driver.follow(begun, 555)

    @eagle.Graph.builder
    def build(x, y, joined=True):
        g = eagle.Graph()
        both = functools.partial(forked, joined=joined)
        eagle.opaque(both, writes=(x, y), capture=True, name="f")
        twice(x)
        twice(y)
        return g

    x, y = xp.zeros(2), xp.zeros(2)
    for seed in range(4):
        xp.set_seed(seed)
        build(x, y).launch()
    assert [30.0] * 4 == numbers(xp, x) + numbers(xp, y)
    with pytest.raises(eagle.DeviceError, match=r"f, in the graph build, cannot .*another stream"):
        build(x, y, joined=False).launch()


def test_numpys_arrays_are_given_at_each_replay() -> None:
    @eagle.Graph.builder
    def build(x):
        g = eagle.Graph()
        eagle.opaque(lambda x: np.add(x, 1.0, out=x), writes=x, capture=True)
        return g

    x = np.zeros(2)
    graph = build(x)
    graph.launch(3)
    assert [3.0, 3.0] == x.tolist()
    assert "host function" in str(graph)


def test_other_arrays_are_captured_anew(xp: TestLibrary, cupy: FakeCupy) -> None:
    @eagle.Graph.builder
    def build(x, by):
        g = eagle.Graph()
        eagle.opaque(lambda x: cupy.add(x, 1.0), writes=x, capture=True)
        shift(x, by)
        return g

    x, y = xp.zeros(2), xp.zeros(2)
    graph = build(x, 0.0)
    graph.launch()
    graph.params(by=4.0)
    assert 1 == len(cupy.pools), "a number is no reason to call it again"
    graph.bind(x=y)
    graph.launch()
    assert [1.0, 1.0, 5.0, 5.0] == numbers(xp, x) + numbers(xp, y)
    profile = graph.profile(1)
    assert ["<lambda>", "shift"] == [span.item.name for span in profile.spans]
    assert [10.0, 10.0] == numbers(xp, y)


def test_its_memory_is_kept_as_long_as_the_graph(xp: TestLibrary, cupy: FakeCupy) -> None:
    @eagle.Graph.builder
    def build(x):
        g = eagle.Graph()
        eagle.opaque(captured, writes=x, capture=True)
        return g

    def captured(x: Any) -> None:
        assert [each.__self__ for each in cupy.allocators] == cupy.pools
        cupy.add(x, 1.0)

    x = xp.zeros(2)
    graph = build(x)
    graph.launch()
    pool = weakref.ref(cupy.pools.pop())
    gc.collect()
    assert pool() is not None
    assert not cupy.allocators
    del graph
    gc.collect()
    assert pool() is not None, "only a call that may gives it back"
    xp.zeros(1).copy()
    with device.gpu(0).current():
        device.gpu(0).wait()
    gc.collect()
    assert pool() is None


def test_other_threads_are_not_captured(xp: TestLibrary, cupy: FakeCupy) -> None:
    @eagle.Graph.builder
    def other(y):
        g = eagle.Graph()
        eagle.opaque(lambda y: cupy.add(y, 3.0), writes=y, capture=True)
        twice(y)
        return g

    y = xp.ones(2)
    graph = other(y)

    def launching(x: Any) -> None:
        thread = threading.Thread(target=graph.launch)
        thread.start()
        thread.join()
        cupy.add(x, 1.0)

    @eagle.Graph.builder
    def build(x):
        g = eagle.Graph()
        eagle.opaque(launching, writes=x, capture=True)
        return g

    x = xp.zeros(2)
    build(x).launch(2)
    assert [2.0, 2.0, 8.0, 8.0] == numbers(xp, x) + numbers(xp, y)


# -- what cannot be captured -----------------------------------------------------------------------


def refused(xp: TestLibrary, function: Any, *, error: Any = eagle.DeviceError) -> str:
    """What is said of a function; afterwards a graph can be built and nothing is captured."""

    @eagle.Graph.builder
    def build(x):
        g = eagle.Graph()
        twice(x)
        eagle.opaque(function, writes=x, capture=True, name="f")
        return g

    x = xp.ones(2)
    with pytest.raises(error) as found:
        build(x).launch()
    assert not xp.driver.captures._now
    assert [1.0, 1.0] == numbers(xp, x), "nothing has run"

    @eagle.Graph.builder
    def well(x):
        g = eagle.Graph()
        twice(x)
        return g

    well(x).launch()
    assert [2.0, 2.0] == numbers(xp, x)
    return "\n".join([str(found.value), *getattr(found.value, "__notes__", [])])


def test_a_function_that_launches_nothing(xp: TestLibrary, cupy: FakeCupy) -> None:
    said = refused(xp, lambda x: None)
    assert said == (
        "GPU 0: f, in the graph build, launched nothing while it was captured, at least not on the "
        "stream that CuPy and PyTorch had for the current one\n  write: work on their current "
        "stream; or eager=True instead of capture=True: the graph is cut there, and it runs at "
        "each replay"
    )


def test_a_function_that_waits(xp: TestLibrary, cupy: FakeCupy) -> None:
    def reading(x: Any) -> None:
        cupy.add(x, 1.0)
        cupy.wait()

    said = refused(xp, reading, error=Exception)
    assert "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED" in said
    assert "in the node f of the graph build, while it was captured: it did what no CUDA" in said
    assert "\nwrite: eager=True instead of capture=True" in said

    def quiet(x: Any) -> None:
        try:
            reading(x)
        except Exception:  # noqa: BLE001 - as some programs do
            return

    said = refused(xp, quiet)
    assert "GPU 0: f, in the graph build, cannot be captured: it did what no CUDA graph" in said


def test_a_function_on_the_default_stream(xp: TestLibrary, cupy: FakeCupy) -> None:
    def elsewhere(x: Any) -> None:
        with cupy.on(0):
            cupy.add(x, 1.0)

    assert "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT" in refused(xp, elsewhere, error=Exception)


def test_a_function_that_raises(xp: TestLibrary, cupy: FakeCupy) -> None:
    def raising(x: Any) -> None:
        cupy.add(x, 1.0)
        raise ValueError("no")

    said = refused(xp, raising, error=ValueError)
    assert said == "no\nin the node f of the graph build, while it was captured"

    def interrupted(x: Any) -> None:
        raise KeyboardInterrupt

    assert refused(xp, interrupted, error=KeyboardInterrupt).startswith("\nin the node f of the")
    streams = capturing._free[device.gpu(0)]
    assert 1 == len(streams), "the stream is free again"


def test_a_function_that_uses_eagle(xp: TestLibrary, cupy: FakeCupy) -> None:
    for use in (lambda x: eagle.copy(x, into=xp.zeros(2)), lambda x: xp.asnumpy(x)):
        said = refused(xp, use, error=RuntimeError)
        assert "in f, which is captured as nodes of a graph: only what CuPy or PyTorch" in said
        assert "write: a node of the graph before f; or eager=True" in said


def test_pytorch_is_asked_in_its_own_way(monkeypatch: pytest.MonkeyPatch) -> None:
    from contextlib import nullcontext

    asked: list[Any] = []

    def noted(name: str, result: Any = None) -> Any:
        def call(*given: Any, **more: Any) -> Any:
            asked.append((name, *given, *more.items()))
            return result

        return call

    cuda = SimpleNamespace(
        is_initialized=lambda: True,
        MemPool=lambda: "pool",
        ExternalStream=noted("stream", "S"),
        stream=noted("on", nullcontext()),
        use_mem_pool=noted("pool", nullcontext()),
    )
    torch = SimpleNamespace(cuda=cuda, __version__="2.1")
    monkeypatch.setitem(sys.modules, "torch", torch)  # type: ignore[arg-type]
    with working_on(7, 1) as kept:
        assert ["pool"] == kept
    assert [("stream", 7, ("device", 1)), ("on", "S"), ("pool", "pool", 1)] == asked
    del cuda.use_mem_pool
    with pytest.raises(RuntimeError, match=r"PyTorch 2\.1 gives the memory"), working_on(7, 1):
        pass
