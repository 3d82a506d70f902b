"""The kernels of the tests of eagle: real signatures, steps in NumPy."""

from typing import Any

import numpy as np

import hawk
from hawk import Bool, Index, Int32, Mutable, Param, Scalar, Terminated
from tests.unit.eagle.stand_in import StandIn


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


def _swing(omega: Any, t_end: Any, dt: Any, terminated: Any, x: Any, v: Any, t: Any) -> Any:
    after = t + dt
    return {
        "x": x + dt * v,
        "v": v - dt * omega * omega * x,
        "t": after,
        "terminated": after >= t_end,
    }


oscillator = StandIn(oscillator, _swing)


@hawk.kernel(steps="auto")
def countdown(left: Mutable[Index], taken: Mutable[Index], done_now: Terminated):
    left -= 1
    taken += 1
    done_now = left <= 0


countdown = StandIn(
    countdown,
    lambda left, taken, done_now: {"left": left - 1, "taken": taken + 1, "done_now": left <= 1},
)
"""A sample stops after `left` steps and counts them in `taken`."""


@hawk.kernel
def pair(x: Scalar, a: Scalar = 2.0, b: Param = 1.0) -> tuple[Scalar, Scalar]:
    return a * x, x + b


pair = StandIn(pair, lambda x, a, b: {"out0": a * x, "out1": x + b})


@hawk.kernel
def double(x: Scalar) -> Scalar:
    return x + x


double = StandIn(double, lambda x: {"out": x + x})


@hawk.kernel
def kinds(i: Index, j: Int32, flag: Bool, k: Param[Int32], on: Param[Bool]) -> Index:
    return i


kinds = StandIn(kinds, lambda i, j, flag, k, on: {"out": i + j + flag + k + on})


@hawk.kernel
def grow(x: Mutable[Scalar], rate: Param, age: Mutable[Scalar] = 1.0):
    x *= rate
    age += 1.0


grow = StandIn(grow, lambda x, rate, age: {"x": x * rate, "age": age + 1})


@hawk.kernel
def measure(x: Scalar, last: Mutable[Scalar], stop: Terminated):
    last = x
    stop = True


measure = StandIn(measure, lambda x, last, stop: {"last": x, "stop": True}, unread=("last",))
"""Its state is never read before it is written."""


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
