"""What `eagle bench` runs besides the demo's kernels, and what finds the machine's limits."""

# Kernels are ordinary Python to a type checker, which cannot know what annotations mean to us.
# pyright: reportMissingTypeArgument=false, reportUnusedVariable=false

from __future__ import annotations

import math
from typing import Any

from hawk import Kernel, Mutable, Param, Scalar, Terminated, kernel


@kernel(steps="auto")
def orbit(
    dt: Param,
    t_end: Param,
    mu: Param,
    terminated: Terminated,
    x: Mutable[Scalar],
    y: Mutable[Scalar],
    z: Mutable[Scalar],
    vx: Mutable[Scalar],
    vy: Mutable[Scalar],
    vz: Mutable[Scalar],
    t: Mutable[Scalar],
):
    """Two bodies by the classical Runge-Kutta method."""

    def slope(r: Any, v: Any) -> Any:
        r2 = r[0] * r[0] + r[1] * r[1] + r[2] * r[2]
        k = -mu * (1.0 / (r2 * math.sqrt(r2)))
        return v, (k * r[0], k * r[1], k * r[2])

    r, v, t = *runge_kutta(slope, (x, y, z), (vx, vy, vz), dt), t + dt
    x, y, z = r
    vx, vy, vz = v
    terminated = t >= t_end


def runge_kutta(slope: Any, r: Any, v: Any, dt: Any) -> Any:
    """One classical step of r' = v, v' = a(r, v), each a tuple."""
    r1, v1 = slope(r, v)
    r2, v2 = slope(ahead(r, dt / 2, r1), ahead(v, dt / 2, v1))
    r3, v3 = slope(ahead(r, dt / 2, r2), ahead(v, dt / 2, v2))
    r4, v4 = slope(ahead(r, dt, r3), ahead(v, dt, v3))
    return (
        tuple(p + dt / 6 * (a + 2 * b + 2 * c + d) for p, a, b, c, d in zip(r, r1, r2, r3, r4)),
        tuple(p + dt / 6 * (a + 2 * b + 2 * c + d) for p, a, b, c, d in zip(v, v1, v2, v3, v4)),
    )


def ahead(u: Any, h: Any, k: Any) -> Any:
    return tuple(a + h * b for a, b in zip(u, k))


@kernel(steps="auto")
def lorenz(
    rho: Scalar,
    dt: Param,
    t_end: Param,
    sigma: Param,
    beta: Param,
    terminated: Terminated,
    x: Mutable[Scalar],
    y: Mutable[Scalar],
    z: Mutable[Scalar],
    t: Mutable[Scalar],
):
    """Lorenz's system by the classical Runge-Kutta method."""

    def slope(u: Any, nothing: Any) -> Any:
        x, y, z = u
        return (sigma * (y - x), x * (rho - z) - y, x * y - beta * z), nothing

    (x, y, z), _ = runge_kutta(slope, (x, y, z), (), dt)
    t = t + dt
    terminated = t >= t_end


@kernel(steps="auto")
def pendulum(
    damping: Scalar,
    dt: Param,
    t_end: Param,
    drive: Param,
    decay: Param,
    least: Param,
    exponent: Param,
    terminated: Terminated,
    angle: Mutable[Scalar],
    speed: Mutable[Scalar],
    t: Mutable[Scalar],
):
    """A damped, driven pendulum: one sin, one exp and one pow a step."""
    drag = (speed * speed + least) ** exponent
    a = drive * math.exp(-decay * t) - math.sin(angle)
    speed = speed + dt * (a - damping * speed * drag)
    angle = angle + dt * speed
    t = t + dt
    terminated = t >= t_end


STEPS = 4096


@kernel(steps=STEPS)
def fused_1(a: Param, b: Param, p: Mutable[Scalar]):
    p = p * a + b


@kernel(steps=STEPS)
def fused_2(a: Param, b: Param, p: Mutable[Scalar], q: Mutable[Scalar]):
    p = p * a + b
    q = q * a + b


@kernel(steps=STEPS)
def fused_3(a: Param, b: Param, p: Mutable[Scalar], q: Mutable[Scalar], r: Mutable[Scalar]):
    p = p * a + b
    q = q * a + b
    r = r * a + b


FUSED: dict[Kernel[..., Any], tuple[str, ...]] = {
    fused_1: ("p",),
    fused_2: ("p", "q"),
    fused_3: ("p", "q", "r"),
}
"""Multiply-adds that do not wait for each other, and the state of each. Which of them keeps the
machine busiest depends on how many registers it has."""


@kernel
def line(x: Scalar, a: Param, b: Param) -> Scalar:
    """Nothing but memory."""
    return a * x + b
