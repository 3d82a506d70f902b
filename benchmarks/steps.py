"""One step of each workload as a plain function, for arms that are no hawk kernels.

A step takes the state, the inputs and the shared numbers of a workload as tuples and gives the
state after it, and whether it was the last. `of` makes them with the functions of a module: NumPy's
(which Numba compiles too) or JAX's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.tableau import (
    A21,
    A31,
    A32,
    A41,
    A42,
    A43,
    A51,
    A52,
    A53,
    A54,
    A61,
    A62,
    A63,
    A64,
    A65,
    A71,
    A73,
    A74,
    A75,
    A76,
    E1,
    E3,
    E4,
    E5,
    E6,
    E7,
)  # fmt: skip

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

    def regimes(state, inputs, shared):
        (h, v, t), (drag,) = state, inputs
        dt, t_end, g, low, high, lapse, exponent, scale = shared
        density = 0 * h
        if h < low:
            density = (1 - lapse * h) ** exponent
        elif h < high:
            density = m.exp(-scale * h)
        v = v - dt * (g + drag * density * v * abs(v))
        h = h + dt * v
        t = t + dt
        return (h, v, t), t >= t_end

    def kepler(state, inputs, shared):
        (x, y, t), (motion, e, root) = state, inputs
        dt, t_end, enough = shared
        t = t + dt
        mean = motion * t
        anomaly = mean + e * m.sin(mean)
        change = 1 + e
        while abs(change) > enough:
            change = (anomaly - e * m.sin(anomaly) - mean) / (1 - e * m.cos(anomaly))
            anomaly = anomaly - change
        x = x + dt * (m.cos(anomaly) - e)
        y = y + dt * (root * m.sin(anomaly))
        return (x, y, t), t >= t_end

    def adaptive(state, inputs, shared):
        (x, v, h, t), (mu,) = state, inputs
        t_end, tolerance, least, most, safety, power = shared
        h = min(h, t_end - t)
        x1, v1 = v, mu * (1 - x * x) * v - x
        p, q = x + h * (A21 * x1), v + h * (A21 * v1)
        x2, v2 = q, mu * (1 - p * p) * q - p
        p, q = x + h * (A31 * x1 + A32 * x2), v + h * (A31 * v1 + A32 * v2)
        x3, v3 = q, mu * (1 - p * p) * q - p
        p = x + h * (A41 * x1 + A42 * x2 + A43 * x3)
        q = v + h * (A41 * v1 + A42 * v2 + A43 * v3)
        x4, v4 = q, mu * (1 - p * p) * q - p
        p = x + h * (A51 * x1 + A52 * x2 + A53 * x3 + A54 * x4)
        q = v + h * (A51 * v1 + A52 * v2 + A53 * v3 + A54 * v4)
        x5, v5 = q, mu * (1 - p * p) * q - p
        p = x + h * (A61 * x1 + A62 * x2 + A63 * x3 + A64 * x4 + A65 * x5)
        q = v + h * (A61 * v1 + A62 * v2 + A63 * v3 + A64 * v4 + A65 * v5)
        x6, v6 = q, mu * (1 - p * p) * q - p
        p = x + h * (A71 * x1 + A73 * x3 + A74 * x4 + A75 * x5 + A76 * x6)
        q = v + h * (A71 * v1 + A73 * v3 + A74 * v4 + A75 * v5 + A76 * v6)
        x7, v7 = q, mu * (1 - p * p) * q - p
        dx = h * (E1 * x1 + E3 * x3 + E4 * x4 + E5 * x5 + E6 * x6 + E7 * x7)
        dv = h * (E1 * v1 + E3 * v3 + E4 * v4 + E5 * v5 + E6 * v6 + E7 * v7)
        error = m.sqrt(dx * dx + dv * dv) / tolerance
        taken = error <= 1
        after = t + h
        if taken:
            x, v, t = p, q, after
        factor = most
        if error > 0:
            factor = safety * error**power
        h = h * min(most, max(least, factor))
        return (x, v, h, t), t >= t_end

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
        "regimes": regimes,
        "kepler": kepler,
        "adaptive": adaptive,
    }
