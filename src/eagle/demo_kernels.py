"""The kernels that `eagle demo` runs and `eagle doctor` tests: an oscillator."""

# A kernel is ordinary Python to a type checker, which cannot know what its annotations mean to us.
# pyright: reportMissingTypeArgument=false, reportUnusedVariable=false

from __future__ import annotations

import hawk
from hawk import Mutable, Param, Scalar, Terminated


@hawk.kernel(steps="auto")
def oscillator(
    omega: Scalar,
    t_end: Param,
    dt: Param,
    terminated: Terminated,
    x: Mutable[Scalar],
    v: Mutable[Scalar],
    t: Mutable[Scalar],
):
    """Swing until `t_end`, the same for all samples."""
    x0, v0 = x, v
    x = x0 + dt * v0
    v = v0 - dt * omega * omega * x0
    t += dt
    terminated = t >= t_end


@hawk.kernel
def spread_oscillator(
    omega: Scalar,
    t_end: Scalar,
    dt: Param,
    terminated: Terminated,
    x: Mutable[Scalar],
    v: Mutable[Scalar],
    t: Mutable[Scalar],
):
    """Swing until `t_end`, each sample its own."""
    x0, v0 = x, v
    x = x0 + dt * v0
    v = v0 - dt * omega * omega * x0
    t += dt
    terminated = t >= t_end
