"""Orbits against what others have computed: Kepler's equation, Arenstorf's orbit, the Pleiades."""

from __future__ import annotations

from math import sqrt

import mpmath
import numpy as np

import eagle
import hawk
from hawk import Mutable, Param, Scalar, Terminated, Vector
from hawk.math import vec
from tests.references.runge_kutta import adaptive_step


def distance_cubed(x: float, y: float) -> float:
    square = x * x + y * y
    return square * sqrt(square)


@hawk.kernel
def two_body(
    end: Param, tolerance: Param,
    y: Mutable[Vector[4]], t: Mutable[Scalar], h: Mutable[Scalar], over: Terminated,
):  # fmt: skip
    def rate(y):
        cube = distance_cubed(y[0], y[1])
        return vec(y[2], y[3], -y[0] / cube, -y[1] / cube)

    y, t, h = adaptive_step(rate, y, t, h, end, tolerance)
    over = t >= end


def kepler(eccentricity: float, t: float) -> list[float]:
    """Position and velocity after `t` from the nearest point, of an orbit with half axis 1."""
    with mpmath.workdps(40):
        e = mpmath.mpf(eccentricity)
        anomaly = mpmath.findroot(lambda E: E - e * mpmath.sin(E) - t, t)
        c, s, b = mpmath.cos(anomaly), mpmath.sin(anomaly), mpmath.sqrt(1 - e * e)
        speed = 1 / (1 - e * c)
        return [float(each) for each in (c - e, b * s, -s * speed, b * c * speed)]


def test_two_bodies_move_as_keplers_equation_says() -> None:
    eccentricities = np.linspace(0.0, 0.9, 40)
    end = 25.0
    y = np.array([
        1 - eccentricities,
        0 * eccentricities,
        0 * eccentricities,
        np.sqrt((1 + eccentricities) / (1 - eccentricities)),
    ])  # fmt: skip
    n = len(eccentricities)
    result = eagle.simulate(
        two_body,
        max_steps=1_000_000,
        end=end,
        tolerance=1e-13,
        y=y,
        t=np.zeros(n),
        h=np.full(n, 1e-3),
    )
    assert result.done
    due = np.array([kepler(e, end) for e in eccentricities]).T
    assert abs(y - due).max() < 2e-9


MOON = 0.012277471
PERIOD = 17.0652165601579625588917206249
"""Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I, II.0."""


@hawk.kernel
def arenstorf(
    mu: Param, end: Param, tolerance: Param,
    y: Mutable[Vector[4]], t: Mutable[Scalar], h: Mutable[Scalar], over: Terminated,
):  # fmt: skip
    def rate(y):
        left, right = y[0] + mu, y[0] - (1.0 - mu)
        earth, moon = distance_cubed(left, y[1]), distance_cubed(right, y[1])
        return vec(
            y[2],
            y[3],
            y[0] + 2.0 * y[3] - (1.0 - mu) * left / earth - mu * right / moon,
            y[1] - 2.0 * y[2] - (1.0 - mu) * y[1] / earth - mu * y[1] / moon,
        )

    y, t, h = adaptive_step(rate, y, t, h, end, tolerance)
    over = t >= end


def test_arenstorfs_orbit_comes_back() -> None:
    start = [0.994, 0.0, 0.0, -2.00158510637908252240537862224]
    tolerances = 10.0 ** -np.arange(7.0, 14.0)
    ends = []
    for tolerance in tolerances:
        y = np.array(start)[:, None].copy()
        given = {"t": np.zeros(1), "h": np.full(1, 1e-4)}
        result = eagle.simulate(
            arenstorf, max_steps=1_000_000, mu=MOON, end=PERIOD, tolerance=tolerance, y=y, **given
        )
        assert result.done
        ends.append(abs(y[:, 0] - start).max())
    assert ends[-1] < 1e-6
    assert ends[0] > 100 * ends[-1]


PLEIADES = {
    "x": [3.0, 3.0, -1.0, -3.0, 2.0, -2.0, 2.0],
    "y": [3.0, -3.0, 2.0, 0.0, 0.0, -4.0, 4.0],
    "u": [0.0, 0.0, 0.0, 0.0, 0.0, 1.75, -1.5],
    "v": [0.0, 0.0, 0.0, -1.25, 1.0, 0.0, 0.0],
}
"""Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I, II.10."""
AT_3 = {
    "x": [
        0.3706139143970502, 3.237284092057233, -3.222559032418324, 0.6597091455775310,
        0.3425581707156584, 1.562172101400631, -0.7003092922212495,
    ],
    "y": [
        -3.943437585517392, -3.271380973972550, 5.225081843456543, -2.590612434977470,
        1.198213693392275, -0.2429682344935824, 1.091449240428980,
    ],
}  # fmt: skip
"""Mazzia and Magherini, Test Set for Initial Value Problem Solvers, Pleiades."""


@hawk.kernel
def seven_stars(
    end: Param, tolerance: Param,
    s: Mutable[Vector[28]], t: Mutable[Scalar], h: Mutable[Scalar], over: Terminated,
):  # fmt: skip
    def rate(s):
        pulls_x, pulls_y = [0.0] * 7, [0.0] * 7
        for i in range(7):
            for j in range(7):
                if i != j:
                    dx, dy = s[j] - s[i], s[7 + j] - s[7 + i]
                    cube = distance_cubed(dx, dy)
                    pulls_x[i] = pulls_x[i] + (j + 1.0) * dx / cube
                    pulls_y[i] = pulls_y[i] + (j + 1.0) * dy / cube
        return vec([*s[14:], *pulls_x, *pulls_y])

    s, t, h = adaptive_step(rate, s, t, h, end, tolerance)
    over = t >= end


def test_the_pleiades_are_where_they_should_be() -> None:
    s = np.concatenate([np.array(PLEIADES[name]) for name in "xyuv"])[:, None].copy()
    result = eagle.simulate(
        seven_stars,
        max_steps=1_000_000,
        end=3.0,
        tolerance=1e-13,
        s=s,
        t=np.zeros(1),
        h=np.full(1, 1e-4),
    )
    assert result.done
    assert abs(s[:7, 0] - AT_3["x"]).max() < 1e-7
    assert abs(s[7:14, 0] - AT_3["y"]).max() < 1e-7
