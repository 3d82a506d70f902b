"""Let satellites spiral down through thin air, each until it is 100 km above the ground.

    python examples/reentry.py

An oblate Earth (J2), air from a table (Vallado, Fundamentals of Astrodynamics), steps of 10 s.
"""

from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np

import eagle
import hawk
from hawk import Mutable, Param, Scalar, Table, Terminated, Vector
from hawk.math import exp, interp, norm, vec

MU, RADIUS, J2 = 398600.4415, 6378.1363, 1.0826269e-3  # km and s, Vallado's appendix D
HEIGHT = np.array([100.0, 110, 120, 130, 150, 180, 200, 250, 300])  # km, table 8-4
DENSITY = [529.7, 96.61, 24.38, 8.484, 2.07, 0.5464, 0.2789, 0.07248, 0.02418]  # kg/km³


@dataclass
class Air:
    height: Table[Scalar]
    log_density: Table[Scalar]


@hawk.kernel
def fly(drag: Scalar, air: Air, dt: Param, y: Mutable[Vector[6]], down: Terminated):
    def rate(y):
        r, v, d = y[:3], y[3:], norm(y[:3])
        oblate = 1 + 1.5 * J2 * (RADIUS / d) ** 2 * (vec(1, 1, 3) - 5 * (r[2] / d) ** 2)
        density = exp(interp(d - RADIUS, air.height, air.log_density))
        return vec(*v, *(-MU / d**3 * r * oblate - 0.5 * density * drag * norm(v) * v))

    k1 = rate(y)
    k2 = rate(y + 0.5 * dt * k1)
    k3 = rate(y + 0.5 * dt * k2)
    y += dt / 6 * (k1 + 2 * k2 + 2 * k3 + rate(y + dt * k3))
    down = norm(y[:3]) < RADIUS + 100


def main() -> None:
    start, drag = np.meshgrid(np.linspace(180.0, 280.0, 26), np.geomspace(0.01, 0.1, 20))
    d, tilt = RADIUS + start.ravel(), np.radians(51.6)
    y = np.array([d, 0 * d, 0 * d, 0 * d, *np.sqrt(MU / d) * [[np.cos(tilt)], [np.sin(tilt)]]])
    planes = {"drag": drag.ravel() * 1e-6, "air": Air(HEIGHT, np.log(DENSITY)), "y": y}
    result = eagle.simulate(fly, max_steps=1_000_000, count_steps=True, dt=10.0, **planes)
    days = result.steps_taken.reshape(start.shape) * 10 / 86400
    print(result, f"down after {days.min():.2f} to {days.max():.1f} days", sep="\n")
    fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
    fig.colorbar(ax.contourf(start, drag, np.log10(days), 20), label="lifetime, log10 of days")
    ax.set(yscale="log", xlabel="start, km above the ground", ylabel="drag * area / mass, m²/kg")
    plt.show()


if __name__ == "__main__":
    main()
