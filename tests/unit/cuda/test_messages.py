"""What is said where a GPU cannot be used, or a graph cannot run there; kept as text.

`python -m tests.unit.cuda.test_messages` writes the file anew.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eagle
import hawk
from eagle.devices.cuda import device
from eagle.devices.cuda.array import CudaArray
from eagle.devices.cuda.driver import DriverError, Work
from hawk import Int32, Mutable, Param, Scalar, Terminated, Vector
from tests.unit.cuda.gpus import TestLibrary, gpu_of_tests
from tests.unit.cuda.recorder import Recorder

FILE = Path(__file__).parents[2] / "golden" / "cuda" / "messages.md"


@hawk.kernel
def inc(x: Mutable[Scalar]):
    x += 1.0


@hawk.kernel
def added(x: Scalar, y: Scalar) -> Scalar:
    return x + y


@hawk.kernel(checks=True)
def checked(x: Mutable[Scalar]):
    assert x < 2.0
    x += 1.0


@hawk.kernel
def down(k: Mutable[Int32]):
    k -= 1


class Interface:
    """An array of another library."""

    def __init__(self, array: Any) -> None:
        self._array = array

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self._array.__cuda_array_interface__


def stepped(x: Any) -> Any:
    @eagle.Graph.builder
    def step(x):
        g = eagle.Graph()
        inc(x)
        return g

    return step(x)


class Nowhere:
    """An array on a GPU where there may be none."""

    shape, dtype = (3,), np.dtype(np.float64)
    __cuda_array_interface__ = {
        "shape": (3,),
        "typestr": "<f8",
        "data": (0x7F00DEAD0000, False),
        "version": 3,
    }


CASES: dict[str, Callable[[], object]] = {}


def case(title: str) -> Callable[[Callable[[], object]], Callable[[], object]]:
    def keep(run: Callable[[], object]) -> Callable[[], object]:
        CASES[title] = run
        return run

    return keep


def with_gpu(run: Callable[[TestLibrary], object], driver: Recorder | None = None) -> None:
    with gpu_of_tests(driver) as xp:
        run(xp)


def on_no_gpu(made: Callable[[], Any]) -> None:
    """Meet an array on a GPU, where the driver is made so."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(device, "_made", made)
        device.use(None)
        try:
            stepped(Nowhere())
        finally:
            device.use(None)


@case("the package is not installed")
def _() -> None:
    with pytest.MonkeyPatch.context() as patch:
        import sys

        patch.setitem(sys.modules, "cuda.bindings", None)
        patch.delitem(sys.modules, "cuda.bindings.driver", raising=False)  # imported before
        from eagle.devices.cuda import bindings

        bindings._package.cache_clear()
        device.use(None)
        stepped(Nowhere())


@case("there is no driver")
def _() -> None:
    from eagle.devices.cuda import bindings

    def fails(self: Any) -> None:
        raise DriverError("cuInit", "cannot be called", "Failure finding libcuda.so")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bindings.Bindings, "__init__", fails)
        device.use(None)
        stepped(Nowhere())


@case("the driver is too old")
def _() -> None:
    with_gpu(lambda xp: None, Recorder(version=12020))


@case("the GPU is too old")
def _() -> None:
    with_gpu(lambda xp: None, Recorder(capability=61))


@case("there is no GPU")
def _() -> None:
    with_gpu(lambda xp: None, Recorder(gpus=0))


@case("arrays on two GPUs")
def _() -> None:
    def run(xp: TestLibrary) -> None:
        @eagle.Graph.builder
        def sums(x, y):
            g = eagle.Graph()
            inc(x)
            inc(y)
            return g

        sums(xp.zeros(3), device.library(1).zeros(3))

    with_gpu(run, Recorder(gpus=2))


@case("planes on both sides")
def _() -> None:
    def run(xp: TestLibrary) -> None:
        @eagle.Graph.builder
        def sums(x, h):
            g = eagle.Graph()
            added(x, h)
            return g

        sums(xp.zeros(3), np.zeros(3))

    with_gpu(run)


@case("an array that was freed before the graph was built")
def _() -> None:
    with_gpu(lambda xp: stepped(Nowhere()))


@case("an array that was freed since the graph was built")
def _() -> None:
    def run(xp: TestLibrary) -> None:
        x = xp.zeros(3)
        graph = stepped(Interface(x))
        del xp.driver.memory[x.__cuda_array_interface__["data"][0]]
        graph.launch()

    with_gpu(run)


@case("more memory than there is")
def _() -> None:
    def run(xp: TestLibrary) -> None:
        def full(size: int) -> int:
            raise DriverError("cuMemAlloc", "CUDA_ERROR_OUT_OF_MEMORY", "out of memory")

        xp.driver.allocate = full  # type: ignore[method-assign]
        xp.zeros(1000)

    with_gpu(run)


@case("what the driver does not take")
def _() -> None:
    def run(xp: TestLibrary) -> None:
        def refuse(graph: int, after: Any, work: Work) -> int:
            raise DriverError("cuGraphAddNode", "CUDA_ERROR_INVALID_VALUE", "invalid argument")

        xp.driver.add = refuse  # type: ignore[method-assign]
        stepped(xp.zeros(3)).launch()

    with_gpu(run)


@case("what the driver finds wrong with the whole")
def _() -> None:
    def run(xp: TestLibrary) -> None:
        def refuse(graph: int) -> int:
            (node,) = xp.driver.graphs[graph].nodes
            name = "CUDA_ERROR_INVALID_VALUE"
            raise DriverError("cuGraphInstantiateWithParams", name, "invalid argument", node)

        xp.driver.instantiate = refuse  # type: ignore[method-assign]
        stepped(xp.zeros(3)).launch()

    with_gpu(run)


@case("a driver that does not set conditions")
def _() -> None:
    class Driver(Recorder):
        def load(self, ptx: str) -> int:
            if "cudaGraphSetConditional" in ptx:
                raise DriverError("cuModuleLoadData", "CUDA_ERROR_INVALID_PTX")
            return super().load(ptx)

    def run(xp: TestLibrary) -> None:
        @eagle.Graph.builder
        def step(x, k):
            g = eagle.Graph()
            if k > 0:
                inc(x)
            return g

        step(xp.zeros(3), xp.array(np.ones(1, np.int32))).launch()

    with_gpu(run, Driver())


@case("a function that is captured and launches nothing")
def _() -> None:
    def run(xp: TestLibrary) -> None:
        @eagle.Graph.builder
        def step(x):
            g = eagle.Graph()
            eagle.opaque(lambda x: None, writes=x, capture=True, name="smooth")
            return g

        step(xp.zeros(3)).launch()

    with_gpu(run)


@case("a kernel with checks")
def _() -> None:
    def run(xp: TestLibrary) -> None:
        @eagle.Graph.builder
        def step(x):
            g = eagle.Graph()
            checked(x)
            return g

        step(xp.zeros(3))

    with_gpu(run)


@case("a reduction of a field")
def _() -> None:
    def run(xp: TestLibrary) -> None:
        @eagle.Graph.builder
        def step(x, total):
            g = eagle.Graph()
            eagle.reduce(x, "sum", into=total)
            return g

        both = np.zeros(3, [("name", "u4"), ("x", "f8")])
        xp.driver.adopt(both)
        step(CudaArray(both["x"], xp._home), xp.zeros(1))

    with_gpu(run)


@case("a host array with too many gaps")
def _() -> None:
    def run(xp: TestLibrary) -> None:
        @eagle.Graph.builder
        def load(x, h):
            g = eagle.Graph()
            eagle.copy(h, into=x)
            return g

        load(xp.zeros((10, 10, 10)), np.zeros((20, 20, 20))[::2, ::2, ::2])

    with_gpu(run)


def in_a_call(ask: Callable[[TestLibrary], object]) -> Callable[[], object]:
    return lambda: with_gpu(ask)


@hawk.kernel
def fall(z: Mutable[Scalar], down: Terminated):
    z -= 1.0
    down = z < 0.0


@hawk.kernel
def centred(x: Mutable[Scalar]):
    x -= hawk.mean(x)


@hawk.kernel
def moved(v: Mutable[Vector[2]], by: Param):
    v = v + by


def _launched(xp: TestLibrary, **options: Any) -> None:
    eagle.deploy(fall).bind(z=xp.zeros(3)).launch(**options)


for _title, _ask in {
    "a call with an array of the host too": lambda xp: added(xp.zeros(3), np.zeros(3)),
    "a call that would write to the host": lambda xp: added(
        xp.zeros(3), xp.zeros(3), out=np.zeros(3)
    ),
    "a call with a list": lambda xp: added(xp.zeros(3), [1.0, 2.0, 3.0]),
    "a call with arrays of another type": lambda xp: added(xp.zeros(3), xp.zeros(3, np.float32)),
    "a call with integers that might fit": lambda xp: down(xp.zeros(3, np.int64)),
    "a call with a number that is on the GPU": lambda xp: moved(xp.zeros((2, 3)), xp.zeros(())),
    "a call with the samples first": lambda xp: moved(xp.zeros((3, 2)), 1.0),
    "a call with a number of threads": lambda xp: added(xp.zeros(3), 1.0, threads=2),
    "a run with an array of the host too": lambda xp: eagle.simulate(
        fall, max_steps=9, z=xp.zeros(3), down=np.zeros(3, bool)
    ),
    "a run with a number of threads": lambda xp: eagle.simulate(
        fall, max_steps=9, z=xp.zeros(3), threads=2
    ),
    "a launch with a number of threads": lambda xp: _launched(xp, threads=2),
    "a launch of some samples that take their steps together": lambda xp: (
        eagle.deploy(centred).bind(x=xp.zeros(3)).launch(active=eagle.ActiveSet(xp.zeros(3, bool)))
    ),
}.items():
    case(_title)(in_a_call(_ask))


@case("a call with an array on a GPU where none can be used")
def _() -> None:
    def made() -> Any:
        raise DriverError("cuInit", "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(device, "_made", lambda: _no_driver(made))
        device.use(None)
        try:
            inc(Nowhere())
        finally:
            device.use(None)


def _no_driver(made: Callable[[], Any]) -> Any:
    try:
        return made()
    except DriverError as error:
        raise eagle.DeviceError(f"there is no CUDA driver here: {error}") from None


def said(title: str) -> str:
    try:
        CASES[title]()
    except (eagle.DeviceError, eagle.GraphError, ValueError, TypeError) as error:
        kind = type(error).__name__
        text = re.sub(r"\S*test_messages\.py:\d+", "test_messages.py", f"{kind}: {error}")
        return re.sub(
            r"(import of cuda\.bindings halted|No module named '?cuda).*", r"\1 ...", text
        )
    finally:
        device.use(None)
    raise AssertionError(title)


def text_of_all() -> str:
    found = [f"## {title}\n\n```text\n{said(title)}\n```\n" for title in CASES]
    return "\n".join(["# What is said of GPUs\n", *found])


@pytest.mark.parametrize("title", CASES)
def test_the_message_is_the_one_on_file(title: str) -> None:
    message = said(title)
    assert f"## {title}\n\n```text\n{message}\n```\n" in FILE.read_text()
    assert re.search(
        r"\n *(write|install|look at|tell us): |; CUDA_VISIBLE_DEVICES|write ", message
    ), "what to do"


def test_there_is_nothing_else_on_file() -> None:
    assert list(CASES) == re.findall(r"^## (.*)$", FILE.read_text(), flags=re.MULTILINE)


if __name__ == "__main__":
    FILE.write_text(text_of_all())
