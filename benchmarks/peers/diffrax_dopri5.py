"""diffrax: the same equations by Dormand and Prince's method, with steps as long as it likes.

This is another method: the tolerance is about what the workload's own steps reach. Samples go in
batches that fit the caches, which is several times as quick as all at once.
"""

from __future__ import annotations

from typing import Any

import diffrax
import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.limit.workloads import Workload
from benchmarks.runner import Arm

RELATIVE, ABSOLUTE = 1e-7, 1e-9
BATCH = 1_000

jax.config.update("jax_enable_x64", True)


def arm(workload: Workload) -> Arm:
    slope, planes = _SLOPES[workload.name](workload)
    until = float(workload.steps()[0] * workload.t_step)

    def one(begin: Any) -> Any:
        solution = diffrax.diffeqsolve(
            diffrax.ODETerm(slope),
            diffrax.Dopri5(),
            0.0,
            until,
            None,
            begin,
            stepsize_controller=diffrax.PIDController(rtol=RELATIVE, atol=ABSOLUTE),
            saveat=diffrax.SaveAt(t1=True),
            max_steps=workload.max_steps,
        )
        assert solution.ys is not None
        return solution.ys[0]

    begin = jnp.stack([jnp.asarray(plane) for plane in planes], axis=1)
    batches = jax.jit(lambda begin: jax.lax.map(one, begin, batch_size=BATCH))
    compiled = batches.lower(begin).compile()
    end: list[Any] = []

    def run() -> None:
        end[:] = [jax.block_until_ready(compiled(begin))]

    def out() -> Any:
        return [*np.asarray(end[0]).T, np.full(workload.samples, until)]

    return Arm("diffrax", lambda: None, run, out)


def _orbit(workload: Workload) -> tuple[Any, Any]:
    mu = workload.shared[2]

    def slope(t: Any, y: Any, args: Any) -> Any:
        r, v = y[:3], y[3:]
        r2 = jnp.dot(r, r)
        return jnp.concatenate([v, -mu / (r2 * jnp.sqrt(r2)) * r])

    return slope, workload.state[:6]


_SLOPES = {"orbit": _orbit}
