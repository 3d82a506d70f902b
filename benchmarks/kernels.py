"""The workloads as hawk kernels."""

import math
from typing import Any, NamedTuple

from benchmarks import steps
from eagle.bench_kernels import lorenz, orbit, pendulum, runge_kutta
from eagle.demo_kernels import oscillator, spread_oscillator
from hawk import Grid, Kernel, Mutable, Param, Scalar, Terminated, kernel


@kernel(steps="auto")
def damped(
    omega: Scalar,
    zeta: Scalar,
    last: Scalar,
    dt: Param,
    terminated: Terminated,
    x: Mutable[Scalar],
    v: Mutable[Scalar],
    t: Mutable[Scalar],
):
    """A damped oscillator by the classical Runge-Kutta method; t counts steps."""
    stiff, soft = omega * omega, (zeta + zeta) * omega

    def slope(x: Any, v: Any) -> Any:
        return v, (-stiff * x[0] - soft * v[0],)

    (x,), (v,) = runge_kutta(slope, (x,), (v,), dt)
    t = t + 1.0
    terminated = t >= last


@kernel(steps="auto")
def regimes(
    drag: Scalar,
    dt: Param,
    t_end: Param,
    g: Param,
    low: Param,
    high: Param,
    lapse: Param,
    exponent: Param,
    scale: Param,
    terminated: Terminated,
    h: Mutable[Scalar],
    v: Mutable[Scalar],
    t: Mutable[Scalar],
):
    """A fall through three layers of an atmosphere, each with a law of its own."""
    if h < low:
        density = (1.0 - lapse * h) ** exponent
    elif h < high:
        density = math.exp(-scale * h)
    else:
        density = 0.0
    v = v - dt * (g + drag * density * v * abs(v))
    h = h + dt * v
    t = t + dt
    terminated = t >= t_end


@kernel(steps="auto")
def kepler(
    motion: Scalar,
    e: Scalar,
    root: Scalar,
    dt: Param,
    t_end: Param,
    enough: Param,
    terminated: Terminated,
    x: Mutable[Scalar],
    y: Mutable[Scalar],
    t: Mutable[Scalar],
):
    """Mean places on an ellipse: a loop of Newton's method in each step."""
    t = t + dt
    mean = motion * t
    anomaly = mean + e * math.sin(mean)
    change = 1.0 + e
    while abs(change) > enough:
        change = (anomaly - e * math.sin(anomaly) - mean) / (1.0 - e * math.cos(anomaly))
        anomaly = anomaly - change
    x = x + dt * (math.cos(anomaly) - e)
    y = y + dt * (root * math.sin(anomaly))
    terminated = t >= t_end


_adaptive_step = steps.of(math)["adaptive"]


@kernel(steps="auto")
def adaptive(
    mu: Scalar,
    t_end: Param,
    tolerance: Param,
    least: Param,
    most: Param,
    safety: Param,
    power: Param,
    terminated: Terminated,
    x: Mutable[Scalar],
    v: Mutable[Scalar],
    h: Mutable[Scalar],
    t: Mutable[Scalar],
):
    """Van der Pol's oscillator by Dormand and Prince's pair, each sample with steps of its own."""
    now, rules = (x, v, h, t), (t_end, tolerance, least, most, safety, power)
    (x, v, h, t), terminated = _adaptive_step(now, (mu,), rules)


@kernel
def relax(p: Grid["r", "c"], source: Grid["r", "c"]) -> Grid["r", "c"]:
    near = p.neighbor(r=-1) + p.neighbor(r=+1) + p.neighbor(c=-1) + p.neighbor(c=+1)
    return 0.25 * (near - source)


class Row(NamedTuple):
    """A workload as a kernel: how its arrays and numbers are called there."""

    kernel: Kernel[..., Any]
    state: tuple[str, ...]
    inputs: tuple[str, ...]
    shared: dict[str, int]
    """Where each number stands among the workload's."""


def _places(*names: str) -> dict[str, int]:
    return {name: place for place, name in enumerate(names)}


SPREAD = Row(spread_oscillator, ("x", "v", "t"), ("omega", "t_end"), {"dt": 0})
DAMPED = Row(damped, ("x", "v", "t"), ("omega", "zeta", "last"), {"dt": 0})
ROWS = {
    "oscillator": Row(oscillator, ("x", "v", "t"), ("omega",), {"dt": 0, "t_end": 1}),
    "spread100": SPREAD,
    "spread1000": SPREAD,
    "outliers": SPREAD,
    "orbit": Row(orbit, ("x", "y", "z", "vx", "vy", "vz", "t"), (), {"dt": 0, "t_end": 1, "mu": 2}),
    "lorenz": Row(
        lorenz, ("x", "y", "z", "t"), ("rho",), {"dt": 0, "t_end": 1, "sigma": 2, "beta": 3}
    ),
    "pendulum": Row(
        pendulum,
        ("angle", "speed", "t"),
        ("damping",),
        {"dt": 0, "t_end": 1, "drive": 2, "decay": 3, "least": 4, "exponent": 5},
    ),
    "card_spread": DAMPED,
    "card_uniform": DAMPED,
    "regimes": Row(
        regimes,
        ("h", "v", "t"),
        ("drag",),
        _places("dt", "t_end", "g", "low", "high", "lapse", "exponent", "scale"),
    ),
    "kepler": Row(
        kepler, ("x", "y", "t"), ("motion", "e", "root"), _places("dt", "t_end", "enough")
    ),
    "adaptive": Row(
        adaptive,
        ("x", "v", "h", "t"),
        ("mu",),
        _places("t_end", "tolerance", "least", "most", "safety", "power"),
    ),
}

FAST = {
    name: ROWS[name]._replace(
        kernel=kernel(steps="auto", math="fast")(ROWS[name].kernel.__wrapped__)
    )
    for name in ("orbit", "pendulum")
}
"""The workloads for which `math="fast"` makes a difference."""
