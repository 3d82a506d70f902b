"""JAX by hand: the batch takes 8 steps at a time, unrolled, so that fewer passes go to memory.

A sample that is done keeps its state by `where`, and the loop ends when all are done.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from benchmarks import steps
from benchmarks.limit.workloads import Workload
from benchmarks.peers.jax_common import arm_of
from benchmarks.runner import Arm

BLOCK = 8


def arm(workload: Workload) -> Arm:
    step = steps.of(jnp)[workload.name]
    blocks = -(-workload.max_steps // BLOCK)

    def run(state: Any, inputs: Any, shared: Any) -> Any:
        def more(carried: Any) -> Any:
            _, done, taken = carried
            return ~jnp.all(done) & (taken < blocks)

        def ahead(carried: Any) -> Any:
            now, done, taken = carried
            for _ in range(BLOCK):
                new, over = step(now, inputs, shared)
                now = tuple(jnp.where(done, a, b) for a, b in zip(now, new, strict=True))
                done = done | over
            return now, done, taken + 1

        nobody = jnp.zeros(workload.samples, bool)
        return jax.lax.while_loop(more, ahead, (state, nobody, 0))[0]

    return arm_of(workload, run)
