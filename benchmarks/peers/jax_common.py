"""What both arms of JAX share: the float width, and an arm around a compiled function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.limit.workloads import Workload
from benchmarks.runner import Arm

jax.config.update("jax_enable_x64", True)


def arm_of(
    workload: Workload, run: Callable[[tuple[Any, ...], tuple[Any, ...], tuple[Any, ...]], Any]
) -> Arm:
    """An arm around a function of state, inputs and shared numbers that gives the state's end.

    JAX's arrays never change, so there is nothing to put back, and the result is memory of its own.
    """
    width = workload.dtype.type
    state, inputs = (tuple(map(jnp.asarray, each)) for each in (workload.state, workload.inputs))
    shared = tuple(map(width, workload.shared))
    compiled = jax.jit(run).lower(state, inputs, shared).compile()
    end: list[Any] = []

    def once() -> None:
        end[:] = jax.block_until_ready(compiled(state, inputs, shared))

    return Arm("JAX", lambda: None, once, lambda: [np.asarray(each) for each in end])
