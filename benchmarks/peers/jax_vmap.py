"""JAX as its users write it: `vmap` of a `while_loop`, the loop of one sample over its steps."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from benchmarks import steps
from benchmarks.limit.workloads import Workload
from benchmarks.peers.jax_common import arm_of
from benchmarks.runner import Arm


def arm(workload: Workload) -> Arm:
    step = steps.of(jnp)[workload.name]

    def one(state: Any, inputs: Any, shared: Any) -> Any:
        def more(carried: Any) -> Any:
            _, done, taken = carried
            return ~done & (taken < workload.max_steps)

        def ahead(carried: Any) -> Any:
            now, _, taken = carried
            now, done = step(now, inputs, shared)
            return now, done, taken + 1

        return jax.lax.while_loop(more, ahead, (state, False, 0))[0]

    return arm_of(workload, jax.vmap(one, in_axes=(0, 0, None)))
