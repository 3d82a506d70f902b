"""Runge-Kutta steps for the kernels of these tests, written as one would in any kernel."""

from __future__ import annotations

from typing import Any

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
