"""The workloads as hawk kernels."""

from hawk import Grid, Mutable, Param, Scalar, Terminated, kernel


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


@kernel
def relax(p: Grid["r", "c"], source: Grid["r", "c"]) -> Grid["r", "c"]:
    near = p.neighbor(r=-1) + p.neighbor(r=+1) + p.neighbor(c=-1) + p.neighbor(c=+1)
    return 0.25 * (near - source)
