"""Let satellites spiral down through thin air, each until it is 100 km above the ground.

    python examples/reentry.py

An oblate Earth (J2), air from a table, Runge-Kutta steps of 10 s. Constants and densities: Vallado,
Fundamentals of Astrodynamics, appendix D and table 8-4.
"""

from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np

import eagle
import hawk
from hawk import Mutable, Param, Scalar, Table, Terminated, Vector
from hawk.math import exp, interp, norm, vec

MU, RADIUS, J2 = 398600.4415, 6378.1363, 1.0826269e-3  # km and s
HEIGHT = np.array([100.0, 110, 120, 130, 150, 180, 200, 250, 300])  # km
DENSITY = [5.297e-7, 9.661e-8, 2.438e-8, 8.484e-9, 2.070e-9]  # kg/m3
DENSITY += [5.464e-10, 2.789e-10, 7.248e-11, 2.418e-11]


@dataclass
class Air:
    height: Table[Scalar]
    log_density: Table[Scalar]

    def density(self, height):
        return exp(interp(height, self.height, self.log_density))


@hawk.kernel
def fly(
    drag: Scalar, air: Air, dt: Param,
    y: Mutable[Vector[6]], t: Mutable[Scalar], down: Terminated,
):  # fmt: skip
    def rate(y):
        r, v = y[:3], y[3:]
        d = norm(r)
        z, k = r[2] / d, 1.5 * J2 * (RADIUS / d) ** 2
        oblate = 1 + k * vec(1 - 5 * z * z, 1 - 5 * z * z, 3 - 5 * z * z)
        braking = 500 * air.density(d - RADIUS) * drag * norm(v)
        return vec(*v, *(-MU / d**3 * r * oblate - braking * v))

    k1 = rate(y)
    k2 = rate(y + 0.5 * dt * k1)
    k3 = rate(y + 0.5 * dt * k2)
    k4 = rate(y + dt * k3)
    y += dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    t += dt
    down = norm(y[:3]) < RADIUS + 100


def main() -> None:
    start, drag = np.meshgrid(np.linspace(180.0, 280.0, 26), np.geomspace(0.01, 0.1, 20))
    d, tilt = RADIUS + start.ravel(), np.radians(51.6)
    zero, speed = np.zeros(d.size), np.sqrt(MU / d)
    y = np.array([d, zero, zero, zero, speed * np.cos(tilt), speed * np.sin(tilt)])
    air = Air(HEIGHT, np.log(DENSITY))
    result = eagle.simulate(
        fly, max_steps=1_000_000, drag=drag.ravel(), air=air, y=y, t=zero, dt=10.0
    )
    print(result)
    days = result.t.reshape(start.shape) / 86400
    print(f"down after {days.min():.2f} to {days.max():.1f} days")
    fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
    lines = ax.contourf(start, drag, np.log10(days), 20, cmap="viridis")
    fig.colorbar(lines, label="lifetime, log10 of days")
    ax.set(
        yscale="log",
        xlabel="start, km above the ground",
        ylabel="drag coefficient * area / mass, m²/kg",
    )
    plt.show()


if __name__ == "__main__":
    main()
