"""Kernels called and launched with arrays on a GPU, by a driver made for tests."""

import gc
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import eagle
import hawk
from eagle.devices.cuda import device
from eagle.devices.cuda.array import CudaArray
from hawk import Bool, Grid, Index, Int32, Matrix, Mutable, Param, Scalar, Table, Terminated, Vector
from tests.unit.cuda.gpus import TestLibrary, gpu_of_tests


@hawk.kernel
def scaled(x: Scalar, k: Param = 2.0) -> Scalar:
    return k * x + 1.0


@hawk.kernel(steps=5)
def walk(
    x: Mutable[Scalar],
    v: Mutable[Vector[2]],
    over: Terminated,
    age: Mutable[Scalar] = 3.0,
    steps_left: Mutable[Index] = 0,
) -> tuple[Scalar, Vector[2]]:
    x += 0.1
    v = v * x + hawk.math.vec(1.0, x)
    age += x
    steps_left -= 1
    over = x > 0.35
    return x * 2.0, v


@dataclass
class Ball:
    z: Scalar
    spin: Vector[3]


@hawk.kernel
def bounce(ball: Mutable[Ball], floor: Param):
    ball.z = abs(ball.z - floor)
    ball.spin = ball.spin * 0.5


@hawk.kernel
def looked_up(
    i: Int32, flag: Bool, table: Table[Scalar, "m"], turn: Param[Matrix[2, 2]]
) -> Vector[2]:
    v = hawk.math.vec(table[i], table[i + 1]) if flag else hawk.math.vec(0.0, 1.0)
    return turn @ v


@hawk.kernel
def blurred(u: Grid[Scalar, "ny", "nx"]) -> Grid[Scalar, "ny", "nx"]:
    return 0.5 * u + 0.25 * (u[0, 1] + u[1, 0])


@pytest.fixture(scope="module")
def xp() -> Iterator[TestLibrary]:
    with gpu_of_tests() as library:
        yield library


def same(xp: TestLibrary, due: Any, got: Any) -> None:
    """The bits of two results, the second of them on the GPU."""
    if isinstance(due, tuple):
        assert len(due) == len(got)
        for one, two in zip(due, got, strict=True):
            same(xp, one, two)
        return
    assert isinstance(got, CudaArray)
    numbers = xp.asnumpy(got)
    assert (due.shape, due.dtype) == (numbers.shape, numbers.dtype)
    assert due.tobytes() == numbers.tobytes()


@pytest.mark.parametrize("n", [0, 1, 7, 1_000_000])
def test_a_call_gives_the_bits_of_the_host_on_the_gpu(xp: TestLibrary, n: int) -> None:
    x = np.linspace(-1.0, 1.0, n)
    same(xp, scaled(x, 3.0), scaled(xp.array(x), 3.0))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_steps_in_one_launch_with_state_outputs_and_what_was_left_out(
    xp: TestLibrary, dtype: Any
) -> None:
    x = np.linspace(0.0, 0.4, 9).astype(dtype)
    v = np.arange(18).reshape(2, 9).astype(dtype)
    there = xp.array(x), xp.array(v)
    same(xp, walk(x, v), walk(*there))
    same(xp, (x, v), there)


def test_objects_tables_small_arrays_and_integers(xp: TestLibrary) -> None:
    one = Ball(np.arange(5.0), np.ones((3, 5)))
    two = Ball(xp.array(one.z), xp.array(one.spin))
    assert bounce(two, 2.5).z is two.z
    bounce(one, 2.5)
    same(xp, (one.z, one.spin), (two.z, two.spin))
    i, flag, table = np.arange(5, dtype=np.int32), np.arange(5) % 2 == 0, np.arange(7.0) ** 2
    turn = [[0.0, 1.0], [-1.0, 0.5]]
    there = (xp.array(each) for each in (i, flag, table))
    same(xp, looked_up(i, flag, table, turn), looked_up(*there, turn))


def test_a_grid_keeps_its_shape(xp: TestLibrary) -> None:
    u = np.arange(12.0).reshape(3, 4)
    same(xp, blurred(u), blurred(xp.array(u)))


def test_a_lone_sample_and_a_number_for_all(xp: TestLibrary) -> None:
    @hawk.kernel
    def product(x: Scalar, y: Scalar) -> Scalar:
        return x * y

    x = np.arange(4.0)
    same(xp, product(x, 3.0), product(xp.array(x), 3.0))
    same(xp, np.array(6.0), product(xp.array(np.array(2.0)), xp.array(np.array(3.0))))


def test_out_is_written_and_given_back(xp: TestLibrary) -> None:
    x, out = xp.arange(4.0), xp.empty(4)
    assert scaled(x, out=out) is out
    same(xp, np.array([1.0, 3.0, 5.0, 7.0]), out)
    assert scaled(x, out=x) is x
    same(xp, np.array([1.0, 3.0, 5.0, 7.0]), x)
    with pytest.raises(eagle.BindError, match="'x': shares memory with 'out'"):
        scaled(x[1:], out=x[:-1])


def test_a_bound_kernel_is_launched_again_and_again(xp: TestLibrary) -> None:
    x, v = np.linspace(0.0, 0.3, 6), np.zeros((2, 6))
    results: list[Any] = []
    for library in (np, xp):
        bound = eagle.deploy(walk).bind(x=library.array(x), v=library.array(v))
        assert ("age", "steps_left") == bound.allocated
        for steps in (1, None, 2):
            bound.launch(steps)
        results.append((*bound.planes.values(), bound.finished))
    same(xp, *results)


def test_a_call_does_not_wait_and_who_reads_does(xp: TestLibrary) -> None:
    x, calls = xp.arange(4.0), xp.driver.calls
    y = scaled(x)
    calls.clear()
    y = scaled(scaled(x, out=y))
    assert not {"idle", "copy", "synchronize", "settle"} & set(calls), calls
    assert 2 == calls.count("run")
    same(xp, np.array([3.0, 7.0, 11.0, 15.0]), y)


def test_arrays_are_kept_while_they_are_used(xp: TestLibrary) -> None:
    gc.collect()
    xp.zeros(1)
    before = len(xp.driver.memory)
    y = xp.zeros(1000)
    for _ in range(20):
        y = scaled(y, 1.0)
    gc.collect()
    same(xp, np.full(1000, 20.0), y)
    del y
    gc.collect()
    xp.zeros(1)
    device.gpu(0).home.enter("looking")
    assert before >= len(xp.driver.memory)


def test_many_calls_wait_for_what_was_asked_before(
    xp: TestLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device, "MOST_FLYING", 4)
    x = xp.zeros(3)
    for _ in range(20):
        x = scaled(x, 1.0)
        assert len(device.gpu(0)._flying) <= 4
    same(xp, np.full(3, 20.0), x)


def test_calls_come_after_and_before_what_other_libraries_ask_for(
    xp: TestLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = device.gpu(0).stream
    stream = SimpleNamespace(ptr=5000)
    cupy = SimpleNamespace(cuda=SimpleNamespace(get_current_stream=lambda: stream))
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    bound = eagle.deploy(scaled).bind(x=xp.zeros(2))
    xp.driver.followed.clear()
    bound.launch()
    assert [(ours, 5000), (5000, ours)] == xp.driver.followed


class Cupy:
    """A library whose arrays are CuPy's, as far as it is asked for."""

    class ndarray:
        def __init__(self, of: Any) -> None:
            self.of = of

        @property
        def __cuda_array_interface__(self) -> dict[str, Any]:
            return self.of.__cuda_array_interface__

    cuda = SimpleNamespace(get_current_stream=lambda: SimpleNamespace(ptr=0))

    @classmethod
    def asarray(cls, of: Any) -> Any:
        assert "stream" not in of.__cuda_array_interface__, "it would wait for it"
        return cls.ndarray(of)


def test_what_is_made_is_of_the_library_of_what_was_given(
    xp: TestLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cupy", Cupy)
    x, h = Cupy.ndarray(xp.arange(3.0)), np.zeros(3)
    y = scaled(scaled(x))
    assert type(y) is Cupy.ndarray
    gc.collect()
    eagle.copy(y, into=h)
    assert [3.0, 7.0, 11.0] == h.tolist()
    assert type(scaled(xp.arange(3.0))) is CudaArray


def test_nothing_is_called_in_a_host_function_of_a_graph(xp: TestLibrary) -> None:
    x = xp.zeros(2)

    @eagle.Graph.builder
    def build(y, h):
        g = eagle.Graph()
        eagle.copy(y, into=h)
        eagle.opaque(lambda h: scaled(x), reads=h, name="peek")
        return g

    with pytest.raises(RuntimeError, match="in peek, a host function of a graph"):
        build(x, np.zeros(2)).launch()
    assert [] == xp.driver.wrong


def test_what_a_kernel_read_may_change(xp: TestLibrary) -> None:
    x = xp.ones(2)
    kernel = hawk.kernel(_of_global)
    same(xp, np.full(2, 2.0), kernel(x))
    globals()["FACTOR"] = 3.0
    try:
        same(xp, np.full(2, 3.0), kernel(x))
    finally:
        globals()["FACTOR"] = 2.0


FACTOR = 2.0


def _of_global(x: Scalar) -> Scalar:
    return x * FACTOR
