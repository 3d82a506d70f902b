"""Numba as its users write it: a parallel loop over samples, and one over the steps of each."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from benchmarks.peers.flat import Flat, flat, indented

_TEXT = """
@numba.njit(fastmath=True)
def to_the_end({names}, max_steps):
    for at in range(max_steps):
{step}
        if done:
            break
    return {state}

@numba.njit(parallel=True, fastmath=True)
def loop({arrays}, {numbers}, max_steps):
    for i in numba.prange(len(a_{first})):
        {end} = to_the_end({own}, {numbers}, max_steps)
{store}
"""
"""What a user writes for a kernel of so many planes. The arrays are arguments: in a parallel loop
Numba loses what is stored to arrays that came in a tuple. Constants have the width of the arrays,
which a loop in float32 would leave otherwise."""


@functools.cache
def loop(name: str, width: str) -> Callable[..., None]:
    """The loop of one workload: arrays of the state, of the inputs, shared numbers, most steps."""
    space: dict[str, Any] = {"numba": numba, "np": np, "real": np.dtype(width).type}
    exec(text(flat(name)), space)
    return space["loop"]


def text(step: Flat) -> str:
    planes = (*step.state, *step.inputs)
    return _TEXT.format(
        names=", ".join((*planes, *step.shared)),
        step=indented(step.lines("np", lambda number: f"real({number!r})"), 2),
        state="".join(f"{name}, " for name in step.state),
        arrays=", ".join(f"a_{name}" for name in planes),
        numbers=", ".join(step.shared),
        first=step.state[0],
        end="".join(f"end_{name}, " for name in step.state),
        own=", ".join(f"a_{name}[i]" for name in planes),
        store=indented([f"a_{name}[i] = end_{name}" for name in step.state], 2),
    )
