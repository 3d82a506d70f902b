"""Runge-Kutta steps for the kernels of these tests, written as one would in any kernel."""

from __future__ import annotations

from typing import Any

from hawk.math import norm

# Dormand and Prince (1980), as in Hairer, Norsett and Wanner, Solving Ordinary Differential
# Equations I, table II.5.2.
_A = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
_E = (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)
"""The weights of the fifth order less those of the fourth."""


def dormand_prince(rate: Any, y: Any, h: Any) -> Any:
    """A step of order 5, and what it differs by from one of order 4."""
    k = [rate(y)]
    after = y
    for row in _A:
        after = y
        for a, slope in zip(row, k):  # noqa: B905 - kernels have no strict=
            after = after + h * a * slope
        k.append(rate(after))
    error = h * _E[0] * k[0]
    for e, slope in zip(_E[1:], k[1:]):  # noqa: B905
        error = error + h * e * slope
    return after, error


SHORTEST = 1e-12
"""A step is never shorter, so a run always ends."""


def adaptive_step(rate: Any, y: Any, t: Any, h: Any, end: Any, tolerance: Any) -> Any:
    """State, time and the next step's length, after a step that is taken if its error allows.

    The length grows or shrinks by what the error allows, but not by much at once.
    """
    step = min(h, end - t)
    after, error = dormand_prince(rate, y, step)
    wrong = norm(error)
    if wrong <= tolerance or step <= SHORTEST:
        y, t = after, t + step
    return y, t, step * min(5.0, max(0.2, 0.9 * (tolerance / (wrong + 1e-300)) ** 0.2))
