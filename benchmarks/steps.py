"""One step of each workload as a plain function, for arms that are no hawk kernels.

A step takes the state, the inputs and the shared numbers of a workload as tuples and gives the
state after it, and whether it was the last. `of` makes them with the functions of a module: NumPy's
(which Numba compiles too) or JAX's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Step = Callable[[Any, Any, Any], Any]


def of(m: Any) -> dict[str, Step]:
    """The steps, by the names of the workloads."""

    def oscillator(state, inputs, shared):
        (x, v, t), (omega,), (dt, t_end) = state, inputs, shared
        t = t + dt
        return (x + dt * v, v - dt * omega * omega * x, t), t >= t_end

    def spread(state, inputs, shared):
        (x, v, t), (omega, t_end), (dt, _) = state, inputs, shared
        t = t + dt
        return (x + dt * v, v - dt * omega * omega * x, t), t >= t_end

    def orbit(state, inputs, shared):
        x, y, z, vx, vy, vz, t = state
        dt, t_end, mu, half, sixth = shared

        r2 = x * x + y * y + z * z
        k = -mu / (r2 * m.sqrt(r2))
        ax1, ay1, az1, x1, y1, z1 = k * x, k * y, k * z, vx, vy, vz

        x2, y2, z2 = vx + half * ax1, vy + half * ay1, vz + half * az1
        px, py, pz = x + half * x1, y + half * y1, z + half * z1
        r2 = px * px + py * py + pz * pz
        k = -mu / (r2 * m.sqrt(r2))
        ax2, ay2, az2 = k * px, k * py, k * pz

        x3, y3, z3 = vx + half * ax2, vy + half * ay2, vz + half * az2
        px, py, pz = x + half * x2, y + half * y2, z + half * z2
        r2 = px * px + py * py + pz * pz
        k = -mu / (r2 * m.sqrt(r2))
        ax3, ay3, az3 = k * px, k * py, k * pz

        x4, y4, z4 = vx + dt * ax3, vy + dt * ay3, vz + dt * az3
        px, py, pz = x + dt * x3, y + dt * y3, z + dt * z3
        r2 = px * px + py * py + pz * pz
        k = -mu / (r2 * m.sqrt(r2))
        ax4, ay4, az4 = k * px, k * py, k * pz

        x = x + sixth * (x1 + 2 * (x2 + x3) + x4)
        y = y + sixth * (y1 + 2 * (y2 + y3) + y4)
        z = z + sixth * (z1 + 2 * (z2 + z3) + z4)
        vx = vx + sixth * (ax1 + 2 * (ax2 + ax3) + ax4)
        vy = vy + sixth * (ay1 + 2 * (ay2 + ay3) + ay4)
        vz = vz + sixth * (az1 + 2 * (az2 + az3) + az4)
        t = t + dt
        return (x, y, z, vx, vy, vz, t), t >= t_end

    def lorenz(state, inputs, shared):
        (x, y, z, t), (rho,) = state, inputs
        dt, t_end, sigma, beta, half, sixth = shared

        x1, y1, z1 = sigma * (y - x), x * (rho - z) - y, x * y - beta * z
        a, b, c = x + half * x1, y + half * y1, z + half * z1
        x2, y2, z2 = sigma * (b - a), a * (rho - c) - b, a * b - beta * c
        a, b, c = x + half * x2, y + half * y2, z + half * z2
        x3, y3, z3 = sigma * (b - a), a * (rho - c) - b, a * b - beta * c
        a, b, c = x + dt * x3, y + dt * y3, z + dt * z3
        x4, y4, z4 = sigma * (b - a), a * (rho - c) - b, a * b - beta * c

        x = x + sixth * (x1 + 2 * (x2 + x3) + x4)
        y = y + sixth * (y1 + 2 * (y2 + y3) + y4)
        z = z + sixth * (z1 + 2 * (z2 + z3) + z4)
        t = t + dt
        return (x, y, z, t), t >= t_end

    def pendulum(state, inputs, shared):
        (angle, speed, t), (damping,) = state, inputs
        dt, t_end, drive, decay, least, exponent = shared
        drag = (speed * speed + least) ** exponent
        a = drive * m.exp(-decay * t) - m.sin(angle)
        speed = speed + dt * (a - damping * speed * drag)
        angle = angle + dt * speed
        t = t + dt
        return (angle, speed, t), t >= t_end

    def damped(state, inputs, shared):
        (x, v, t), (omega, zeta, last), (dt, _, half, sixth) = state, inputs, shared
        stiff, soft = omega * omega, 2 * zeta * omega

        a1 = -stiff * x - soft * v
        v2 = v + half * a1
        a2 = -stiff * (x + half * v) - soft * v2
        v3 = v + half * a2
        a3 = -stiff * (x + half * v2) - soft * v3
        v4 = v + dt * a3
        a4 = -stiff * (x + dt * v3) - soft * v4

        x = x + sixth * (v + 2 * (v2 + v3) + v4)
        v = v + sixth * (a1 + 2 * (a2 + a3) + a4)
        t = t + 1
        return (x, v, t), t >= last

    return {
        "oscillator": oscillator,
        "spread100": spread,
        "spread1000": spread,
        "outliers": spread,
        "orbit": orbit,
        "lorenz": lorenz,
        "pendulum": pendulum,
        "card_spread": damped,
        "card_uniform": damped,
    }
