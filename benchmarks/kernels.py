"""The workloads as hawk kernels."""

from hawk import Mutable, Param, Scalar, Terminated, kernel


@kernel(steps="auto")
def oscillator(
    omega: Scalar,
    t_end: Param,
    dt: Param,
    terminated: Terminated,
    x: Mutable[Scalar],
    v: Mutable[Scalar],
    t: Mutable[Scalar],
):
    x, v = x + dt * v, v - dt * omega * omega * x
    t = t + dt
    terminated = t >= t_end
