"""The kernels of the tests of eagle: real signatures, steps in NumPy."""

from typing import Any

import numpy as np

import hawk
from hawk import Bool, Index, Int32, Mutable, Param, Scalar, Terminated
from tests.unit.eagle.stand_in import stand_in


def _swing(omega: Any, t_end: Any, dt: Any, terminated: Any, x: Any, v: Any, t: Any) -> Any:
    after = t + dt
    return {
        "x": x + dt * v,
        "v": v - dt * omega * omega * x,
        "t": after,
        "terminated": after >= t_end,
    }


@stand_in(_swing)
@hawk.kernel(steps="auto")
def oscillator(
    omega: Scalar,
    t_end: Param,
    dt: Param,
    terminated: Terminated,
    x: Mutable[Scalar],
    v: Mutable[Scalar],
    t: Mutable[Scalar],
):
    x0, v0 = x, v
    x = x0 + dt * v0
    v = v0 - dt * omega * omega * x0
    t += dt
    terminated = t >= t_end


@stand_in(lambda left, taken, over: {"left": left - 1, "taken": taken + 1, "over": left <= 1})
@hawk.kernel(steps="auto")
def countdown(left: Mutable[Index], taken: Mutable[Index], over: Terminated):
    """Stop after `left` steps, and count them in `taken`."""
    left -= 1
    taken += 1
    over = left <= 0


@stand_in(lambda x, a, b: {"out0": a * x, "out1": x + b})
@hawk.kernel
def pair(x: Scalar, a: Scalar = 2.0, b: Param = 1.0) -> tuple[Scalar, Scalar]:
    return a * x, x + b


@stand_in(lambda x: {"out": x + x})
@hawk.kernel
def double(x: Scalar) -> Scalar:
    return x + x


@stand_in(lambda i, j, flag, k, on: {"out": i + j + flag + k + on})
@hawk.kernel
def kinds(i: Index, j: Int32, flag: Bool, k: Param[Int32], on: Param[Bool]) -> Index:
    return i + int(j) + int(flag) + int(k) + int(on)


@stand_in(lambda x, rate, age: {"x": x * rate, "age": age + 1})
@hawk.kernel
def grow(x: Mutable[Scalar], rate: Param, age: Mutable[Scalar] = 1.0):
    x *= rate
    age += 1.0


@stand_in(lambda x, last, stop: {"last": x, "stop": True}, unread=("last",))
@hawk.kernel
def measure(x: Scalar, last: Mutable[Scalar], stop: Terminated):
    """Never read the state before it is written."""
    last = x
    stop = True


def swinging(n: int = 1000, dtype: Any = np.float64) -> dict[str, Any]:
    """The planes of `oscillator`, 1000 steps from the end."""
    return {
        "omega": np.linspace(1, 3, n).astype(dtype),
        "x": np.ones(n, dtype),
        "v": np.zeros(n, dtype),
        "t": np.zeros(n, dtype),
        "t_end": 1.0,
        "dt": 1e-3,
    }
