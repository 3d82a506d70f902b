"""What is tried with a driver library made for tests, each in a process of its own.

LD_LIBRARY_PATH=<where libcuda.so.1 is> python -m tests.unit.cuda.scenarios NAME
"""

from __future__ import annotations

import ctypes
import functools
import gc
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eagle
import hawk
from eagle import pace
from eagle.devices.cuda import code, device, loop
from hawk import Index, Int32, Mutable, Param, Scalar, Table, Terminated, Vector
from hawk.ir.types import DType
from tests.unit.cuda import blocks, recorder
from tests.unit.cuda.fake_cupy import FakeCupy

_registered: set[tuple[str, str]] = set()
_kept: list[object] = []
_Run = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_void_p), ctypes.c_uint, ctypes.c_uint)
"""A kernel, as the library calls it: pointers to its parameters, blocks, threads."""


@functools.cache
def fake() -> Any:
    """The library itself."""
    return ctypes.CDLL("libcuda.so.1")


def _routine(text: str, name: str) -> tuple[Any, tuple[int, ...]]:
    """What runs a routine from its text, on the thread of the library."""
    module = blocks.module(text)
    kernel = module.kernels[name]
    sizes = blocks.sizes_of(kernel)

    def run(parameters: Any, count: int, threads: int) -> None:
        words = [
            int.from_bytes(ctypes.string_at(at, size), "little")
            for at, size in zip(parameters[: len(sizes)], sizes, strict=True)
        ]
        span = (ctypes.c_uint64 * 2)()
        fake().fake_arena(span)
        try:
            blocks.run(module, kernel, words, min(3, count), threads, [(span[0], span[1])])
        except BaseException:  # noqa: BLE001 - nobody hears of it on this thread
            traceback.print_exc()
            os._exit(1)

    _kept.append(_Run(run))
    return _kept[-1], sizes


class Registering(device.CudaDevice):
    """A GPU that gives the library native code for each module."""

    def function(self, text: str, name: str) -> int:
        if (text, name) not in _registered:
            if recorder.is_routine(text, name):
                run, sizes = _routine(text, name)
            else:
                setter, clock = (
                    ctypes.cast(each, ctypes.c_void_p).value or 0
                    for each in (fake().fake_set, fake().fake_clock)
                )
                address, sizes = recorder.native_code(text, name, setter, clock)
                run = ctypes.c_void_p(address)
            given = (ctypes.c_int * len(sizes))(*sizes)
            fake().fake_register(text.encode(), name.encode(), run, len(sizes), given)
            _registered.add((text, name))
        return super().function(text, name)


def library() -> Any:
    """The arrays of the GPU."""
    code.ptx_of, code.collective_of = recorder.ptx_of, recorder.collective_of
    device.CudaDevice = Registering  # type: ignore[misc]
    return device.library(0)


@hawk.kernel
def inc(x: Mutable[Scalar]):
    x += 1.0


@hawk.kernel
def twice(x: Scalar) -> Scalar:
    return x + x


@hawk.kernel
def down(k: Mutable[Int32]):
    k -= 1


@eagle.Graph.builder
def probed(x, h, function):
    g = eagle.Graph()
    inc(x)
    eagle.copy(x, into=h)
    eagle.opaque(function, reads=h, name="look")
    return g


def pages() -> None:
    """The two programs of the page, with the bits of NumPy's arrays."""
    import runpy

    xp = library()
    folder = Path(__file__).parents[2] / "pages" / "programs"
    for name, arrays in (
        ("graph_with_events", ("state", "flags", "h_probe", "h_flags")),
        ("graph_with_overlap", ("a", "h_frame")),
    ):
        found: list[Any] = []
        for each in (np, xp):
            sys.modules["cupy"] = each
            found.append(runpy.run_path(str(folder / f"{name}.py")))
        here, there = found
        for array in arrays:
            assert here[array].tobytes() == xp.asnumpy(there[array]).tobytes(), (name, array)
        assert "GPU 0" in str(there["g"])
    del sys.modules["cupy"]


@hawk.kernel(steps=2)
def spread(x: Mutable[Scalar], sums: Mutable[Table[Scalar]]):
    x = x - hawk.mean(x) * 0.5 + hawk.max(x)
    hawk.scatter(sums)[hawk.sample_index() % 3] += x


def sums() -> None:
    """Kernels that reduce and scatter, and a reduction, with the bits of the host."""
    xp = library()

    @eagle.Graph.builder
    def build(x, table, total):
        g = eagle.Graph()
        spread(x, table)
        eagle.reduce(x, "sum", into=total)
        return g

    found: list[bytes] = []
    for each, read in ((np, np.asarray), (xp, xp.asnumpy)):
        planes = [each.asarray(np.linspace(0, 1, size)) for size in (1500, 3, 1)]
        build(*planes).launch()
        found.append(b"".join(read(plane).tobytes() for plane in planes))
    assert found[0] == found[1]


@hawk.kernel(steps=3)
def gathering(x: Mutable[Scalar], sums: Mutable[Table[Scalar]], over: Terminated):
    x += 0.125 * hawk.sum(x, where=x > 0.25) + 0.125
    hawk.scatter(sums)[hawk.sample_index() % 3] += x
    over = x > 2.0


def together() -> None:
    """Kernels that reduce and scatter, called, bound and run, and a reduction at once."""
    xp = library()
    found: list[list[Any]] = []
    for each, read in ((np, np.asarray), (xp, xp.asnumpy)):
        found.append([])
        x, sums, total = (each.asarray(np.linspace(0, 1, size)) for size in (40, 3, 1))
        spread(x, sums)
        bound = eagle.deploy(spread).bind(x=x, sums=sums)
        for _ in range(2):
            bound.launch()
        eagle.reduce(x, "mean", into=total)
        planes = {"x": each.asarray(np.linspace(0, 0.3, 9)), "sums": sums}
        found[-1].append(eagle.run_until_done(gathering, max_steps=4, **planes).launches_by_k)
        found[-1].append(eagle.simulate(gathering, max_steps=90, **planes).report.finished)
        found[-1] += [read(plane).tobytes() for plane in (x, sums, total, planes["x"])]
    assert found[0] == found[1]


def captures() -> None:
    """What a library launches on its current stream is part of a graph; one that waits is not."""
    from cuda.bindings import driver  # pyright: ignore[reportMissingImports]

    xp, gpu = library(), device.gpu(0)
    text = code.ptx_of(inc.trace(DType.F64), code.arch_of(gpu.gpu.capability))

    def ask(name: str, *given: Any) -> None:
        result, *_ = getattr(driver, name)(*given)
        if result != driver.CUresult.CUDA_SUCCESS:
            raise RuntimeError(result.name)

    def add(stream: int, x: Any, number: float) -> None:
        assert number == 1.0
        with gpu.current():
            function = driver.CUfunction(gpu.function(text, "inc"))
            words = x.__cuda_array_interface__["data"][0], 3, 1
            given = words, (ctypes.c_uint64,) * 3
            sizes = 1, 1, 1, 32, 1, 1, 0
            ask("cuLaunchKernel", function, *sizes, driver.CUstream(stream), given, 0)

    def wait(stream: int) -> None:
        with gpu.current():
            ask("cuStreamSynchronize", driver.CUstream(stream))

    cupy = FakeCupy(add, wait)

    def launching(x: Any) -> None:
        cupy.add(x, 1.0)
        if cupy.waits:
            cupy.wait()

    @eagle.Graph.builder
    def build(x, k):
        g = eagle.Graph()
        twice(x, buffer=x)
        while k > 0:
            eagle.opaque(launching, writes=x, capture=True)
            down(k)
        return g

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "cupy", cupy)  # type: ignore[arg-type]
        x, k = xp.ones(3), xp.asarray(np.array([3], np.int32))
        build(x, k).launch(2)
        assert xp.asnumpy(x).tolist() == [10.0] * 3
        cupy.waits = True
        with pytest.raises(RuntimeError, match="CAPTURE_UNSUPPORTED") as found:
            build(x, k).launch()
        assert "it did what no CUDA graph can hold" in found.value.__notes__[0]
        cupy.waits = False
        build(x, k).launch()
        assert xp.asnumpy(x).tolist() == [20.0] * 3


def loops() -> None:
    """Branches and loops in one another, decided on the GPU."""
    xp = library()

    @hawk.kernel
    def even(k: Int32) -> hawk.Bool:
        return k % 2 == 0

    @eagle.Graph.builder
    def build(x, y, k, m):
        g = eagle.Graph()
        for i in range(m):
            if i == 1:
                continue
            while k > 0:
                inc(x)
                down(k)
                if even(k):
                    inc(y)
                else:
                    twice(y, buffer=y)
                if k == 3:
                    break
            else:
                twice(x, buffer=x)
        return g

    results: list[list[Any]] = []
    for each in (np, xp):
        x, y = each.zeros(4), each.ones(4)
        k, m = each.full(1, 7, np.int32), each.full(1, 4, np.int32)
        graph = build(x, y, k, m)
        graph.launch(2)
        results.append([each.asarray(a) if each is np else xp.asnumpy(a) for a in (x, y, k)])
    here, there = results
    for one, two in zip(here, there, strict=True):
        assert one.tobytes() == two.tobytes(), (one, two)


def replays() -> None:
    """1,000 replays with a Python function, while another thread collects garbage."""
    xp, seen, over = library(), list[float](), threading.Event()
    gc.freeze()  # or each time it would look at all of NumPy and hawk

    def collect() -> None:
        while not over.is_set():
            gc.collect()
            [object() for _ in range(1000)]

    collector = threading.Thread(target=collect)
    collector.start()
    x, h = xp.zeros(8), eagle.pinned(8)
    graph = probed(x, h, lambda h: seen.append(float(h[0])))
    graph.launch(1000)
    over.set()
    collector.join()
    assert [float(k) for k in range(1, 1001)] == seen
    assert 1000.0 == h[3]


def exceptions() -> None:
    """An exception is kept, raised by what is asked next, and the graph works afterwards."""
    xp, calls = library(), list[int]()

    def fail(h: np.ndarray) -> None:
        calls.append(1)
        if len(calls) == 3:
            raise ZeroDivisionError("nothing")

    x = xp.zeros(2)
    graph = probed(x, eagle.pinned(2), fail)
    graph.enqueue(10)
    with pytest.raises(ZeroDivisionError) as caught:
        graph.synchronize()
    assert ["in the node look of the graph probed, replay 3 of 10"] == caught.value.__notes__
    assert 3 == len(calls)
    graph.launch(4)
    assert 7 == len(calls)
    assert 14.0 == xp.asnumpy(x)[0]


def device_in_a_function() -> None:
    """A host function that uses the GPU is refused by us, before CUDA is asked."""
    xp = library()
    x = xp.zeros(2)
    graph = probed(x, eagle.pinned(2), lambda h: xp.asnumpy(x))
    with pytest.raises(RuntimeError, match="in look, a host function of a graph"):
        graph.launch()


def busy() -> None:
    """Enqueued from one thread while another keeps Python busy, and the queue is full."""
    xp, over, seen = library(), threading.Event(), list[int]()
    sys.setswitchinterval(2e-4)

    def spin() -> None:
        while not over.is_set():
            sum(range(1000))

    spinners = [threading.Thread(target=spin) for _ in range(2)]
    for each in spinners:
        each.start()
    graph = probed(xp.zeros(2), eagle.pinned(2), lambda h: seen.append(1))
    for _ in range(20):
        graph.enqueue(10)
    graph.synchronize()
    over.set()
    for each in spinners:
        each.join()
    assert 200 == len(seen)


def builds() -> None:
    """100 graphs that are built, replayed and left to the garbage collector, some on their way."""
    xp, seen = library(), list[int]()
    x = xp.zeros(4)
    for number in range(100):

        def look(h: np.ndarray) -> None:
            seen.append(number)
            if number % 10 == 0:
                gc.collect()

        graph = probed(x, eagle.pinned(4), look)
        graph.enqueue(2)
        cycle = [graph]
        cycle.append(cycle)  # only the garbage collector finds it
        if number % 3:
            del graph, cycle
    xp.asnumpy(x)
    assert 200 == len(seen), len(seen)
    gc.collect()
    kept = xp.zeros(1)
    assert not device.gpu(0).remains
    assert kept.size


def leaving() -> None:
    """The process ends with replays on their way, whose functions are called all the same."""
    xp = library()
    counted: list[int] = []

    def look(h: np.ndarray) -> None:
        time.sleep(0.0005)
        counted.append(1)
        if len(counted) == 200:
            print("all 200", flush=True)

    probed(xp.zeros(2), eagle.pinned(2), look).enqueue(200)


def profile() -> None:
    """When each node ran, in loops too."""
    xp = library()

    @eagle.Graph.builder
    def build(x, k, h):
        g = eagle.Graph()
        while k > 0:
            inc(x)
            down(k)
        eagle.copy(x, into=h)
        return g

    spans = build(xp.zeros(2), xp.full(1, 3, np.int32), eagle.pinned(2)).profile(2).spans
    names = [(span.item.name, span.replay) for span in spans]
    assert {("inc", 1), ("down", 1)} == set(names[:2])
    assert 3 == names.count(("inc", 1))
    assert [("copy x", 1), ("copy x", 2)] == names[-2:]
    assert all(span.begin <= span.end for span in spans)


def exchange() -> None:
    """Other arrays for a graph, at the top and in a loop."""
    xp = library()

    @eagle.Graph.builder
    def build(x, y, k, h):
        g = eagle.Graph()
        inc(x)
        while k > 0:
            inc(y)
            down(k)
        eagle.copy(x, into=h)
        return g

    x, y, k, h = xp.zeros(2), xp.zeros(2), xp.full(1, 2, np.int32), eagle.pinned(2)
    graph = build(x, y, k, h)
    graph.launch()
    other, second, third = xp.full(2, 5.0), eagle.pinned(2), xp.full(2, 9.0)
    graph.bind(x=other, h=second)
    graph.launch()
    graph.bind(y=third)
    k[...] = 3
    graph.launch()
    assert [7.0, 7.0] == second.tolist()
    assert [1.0, 1.0] == h.tolist() == xp.asnumpy(x).tolist()
    assert [12.0, 12.0] == xp.asnumpy(third).tolist()


@hawk.kernel
def countdown(left: Mutable[Index], taken: Mutable[Index], over: Terminated):
    left -= 1
    taken += 1
    over = left <= 0


@hawk.kernel(checks=True, steps=3)
def checked(x: Mutable[Scalar]):
    assert x < 4.0
    x += 1.0


def calls() -> None:
    """Kernels called and bound outside of graphs, one after the other, with nobody waiting."""
    xp, x = library(), np.linspace(0.0, 1.0, 1000)
    y, due = xp.array(x), x
    for _ in range(200):
        y, due = twice(y, out=y), twice(due)
        inc(y)
        due += 1.0
    assert due.tobytes() == xp.asnumpy(y).tobytes()
    bound = eagle.deploy(countdown).bind(left=xp.full(5, 3, np.int64), taken=xp.zeros(5, np.int64))
    for _ in range(4):
        bound.launch()
    assert [3] * 5 == xp.asnumpy(bound.planes["taken"]).tolist()
    assert xp.asnumpy(bound.finished).all()
    with pytest.raises(hawk.CheckError, match=r"sample 2 failed at step 3: x < 4\.0 \(x = 4\.0\)"):
        checked(xp.array([0.0, 1.0, 2.0]))


@hawk.kernel
def all_kinds(
    x: Mutable[Scalar],
    v: Vector[2],
    k: Int32,
    table: Table[Scalar],
    dt: Param,
    turn: Param[Vector[2]],
    over: Terminated,
    age: Mutable[Scalar] = 0.0,
) -> Vector[2]:
    x += table[k] * dt * v[0]
    age += turn[1]
    over = x > 1.0
    return v + turn


def wrong_calls() -> None:
    """What is said of arrays that do not fit, of which nobody may read a number."""
    xp = library()
    right = {
        "x": xp.zeros(4),
        "v": xp.zeros((2, 4)),
        "k": xp.zeros(4, np.int32),
        "table": xp.zeros(3),
        "dt": 0.1,
        "turn": (1.0, 2.0),
    }
    others = [
        xp.zeros((4, 2)),
        xp.zeros((2, 5)),
        xp.zeros((2, 2, 4)),
        xp.zeros(()),
        xp.zeros(0),
        xp.zeros(8)[::2],
        xp.zeros((4, 4)).T,
        xp.zeros((2, 8))[:, :4],
        xp.zeros((2, 8))[:, ::2],
        xp.zeros(4, np.float32),
        xp.zeros(4, np.int64),
        xp.zeros(4, np.uint32),
        xp.zeros(4, np.complex128),
        xp.zeros(4, np.bool_),
        xp.zeros((3, 1)),
        xp.zeros(1),
        [1.0, 2.0],
        "no",
        None,
        2.5,
        7,
        np.zeros(4),
    ]
    assert all_kinds(**right)[0].shape == (4,)
    tried = 0
    for name in (*right, "over", "age", "out"):
        for other in others:
            for ask in (
                all_kinds,
                lambda **planes: eagle.simulate(all_kinds, max_steps=2, **planes),
            ):
                try:
                    ask(**{**right, name: other})
                except (eagle.BindError, TypeError):
                    tried += 1
    assert tried > 200, tried


def runs() -> None:
    """Runs have the results of the host's, also where a signal ends them again and again."""
    xp = library()
    left = np.random.default_rng(0).integers(1, 500, 3000)
    for steps in (1, 16, "auto"):
        planes = {"left": xp.array(left), "taken": xp.zeros(len(left), np.int64)}
        report = eagle.run_until_done(hawk.steps(countdown, steps), max_steps=400, **planes)
        assert np.minimum(left, 400).tolist() == xp.asnumpy(planes["taken"]).tolist()
        assert (report.finished, report.mapped) == (int((left <= 400).sum()), True)
    planes = {"left": xp.array(left), "taken": xp.zeros(len(left), np.int64)}
    bound = eagle.deploy(hawk.steps(countdown, 16)).bind(**planes)
    with eagle.ActiveSet(bound.finished, reorder=0.5, planes=[*planes.values()]) as active:
        while active.compact():
            bound.launch(active=active)
    assert active.reorders
    assert left.tolist() == xp.asnumpy(planes["taken"]).tolist()
    left, report = np.arange(1, 65) * 200, None
    planes = {"left": xp.array(left), "taken": xp.zeros(len(left), np.int64)}
    simulation = eagle.until_done(countdown, max_steps=2**40, **planes)
    stopped: list[InterruptedError] = []

    def ring(*_: object) -> None:
        raise InterruptedError

    before = signal.signal(signal.SIGALRM, ring)
    try:
        while simulation.status != "done":
            signal.setitimer(signal.ITIMER_REAL, 0.03)
            try:
                simulation.run()
            except InterruptedError as found:
                stopped.append(found)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            now = xp.asnumpy(planes["taken"])
            assert (left - now == xp.asnumpy(planes["left"])).all()
            assert (now == np.minimum(left, now.max())).all()
            report = simulation.report
            assert report is not None
            assert report.steps == now.max()
    finally:
        signal.signal(signal.SIGALRM, before)
    assert left.tolist() == xp.asnumpy(planes["taken"]).tolist()
    assert report is not None
    assert {1: 12_800} == report.launches_by_k
    assert stopped


def turns() -> None:
    """Threads take the next sample when theirs is done, also where a run is ended on its way."""
    xp, before = library(), (device.CROWD, pace.MOST_AT_ONCE, loop.WINDOW, loop.CudaLoop._end)
    stopped = 0

    def end(self: loop.CudaLoop) -> None:
        before[-1](self)
        raise InterruptedError

    device.CROWD, pace.MOST_AT_ONCE, loop.WINDOW = 2, 30, 0
    loop.CudaLoop._end = end  # type: ignore[method-assign]
    try:
        n = pace.EACH * pace.CROWDS * device.gpu(0).crowd
        left = np.random.default_rng(1).integers(-1, 9, n)
        left[::8] = 500
        planes = {"left": xp.array(left), "taken": xp.zeros(n, np.int64)}
        due = np.minimum(np.maximum(left, 1), 100)
        simulation = eagle.simulation(countdown, max_steps=100, **planes)
        while simulation.status != "max_steps":
            try:
                simulation.run()
            except InterruptedError:
                stopped += 1
            now, taken = (xp.asnumpy(planes[name]) for name in ("left", "taken"))
            assert (left - now == taken).all()
            assert (taken <= due).all()
        assert due.tolist() == taken.tolist()
        assert simulation.report is not None
        assert {100: 1} == simulation.report.launches_by_k
        assert stopped > 2
    finally:
        device.CROWD, pace.MOST_AT_ONCE, loop.WINDOW = before[:3]
        loop.CudaLoop._end = before[-1]  # type: ignore[method-assign]


SCENARIOS: dict[str, Callable[[], None]] = {
    each.__name__: each
    for each in (
        pages,
        loops,
        sums,
        together,
        captures,
        replays,
        exceptions,
        device_in_a_function,
        busy,
        builds,
        profile,
        exchange,
        calls,
        wrong_calls,
        runs,
        turns,
        leaving,
    )
}


def main(names: list[str]) -> None:
    """Try some of them. What the library saw wrong is an error."""
    for name in names:
        SCENARIOS[name]()
    if names[-1] != "leaving":
        device.gpu(0).home.enter("ending")
    text = ctypes.create_string_buffer(256)
    wrong = fake().fake_wrong(text)
    assert not wrong, text.value.decode()
    print("well", *names, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
