"""heyoka.py: the same equations by Taylor series of high order, with steps as long as it likes.

This is another method: a few tens of long steps take the place of hundreds. A batch of as many
samples as a vector holds is integrated at a time, on one thread: copies of an integrator for an
ensemble cost more than the integration, and threads of Python wait for each other.
"""

from __future__ import annotations

from typing import Any

import heyoka as hy
import numpy as np

from benchmarks.limit.workloads import Workload
from benchmarks.runner import Arm

TOLERANCE = 1e-9
"""About what the classical Runge-Kutta method reaches with the workload's steps."""


def arm(workload: Workload) -> Arm:
    equations, planes = _EQUATIONS[workload.name](workload)
    width, n = hy.recommended_simd_size(), workload.samples
    integrator: Any = hy.taylor_adaptive_batch(
        equations, np.zeros((len(planes), width)), tol=TOLERANCE
    )
    whole = -(-n // width) * width
    begin = np.stack([np.resize(plane, whole) for plane in planes])
    end = np.empty_like(begin)
    until = np.full(width, float(workload.steps()[0] * workload.t_step))

    def run() -> None:
        for i in range(0, whole, width):
            integrator.set_time(0.0)
            integrator.state[:] = begin[:, i : i + width]
            integrator.propagate_until(until)
            end[:, i : i + width] = integrator.state

    return Arm("heyoka", lambda: None, run, lambda: [*end[:, :n], np.full(n, until[0])])


def _orbit(workload: Workload) -> tuple[Any, Any]:
    x, y, z, vx, vy, vz = hy.make_vars("x", "y", "z", "vx", "vy", "vz")
    k = -workload.shared[2] * (x * x + y * y + z * z) ** -1.5
    equations = [(x, vx), (y, vy), (z, vz), (vx, k * x), (vy, k * y), (vz, k * z)]
    return equations, workload.state[:6]


_EQUATIONS = {"orbit": _orbit}
