"""Numba as its users write it: a parallel loop over samples, and one over the steps of each."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from benchmarks import steps

_TEXT = """
@numba.njit(fastmath=True)
def to_the_end(now, own, shared, most):
    for _ in range(most):
        now, done = step(now, own, shared)
        if done:
            break
    return now

@numba.njit(parallel=True, fastmath=True)
def loop({arrays}, shared, most):
    for i in numba.prange(len({first})):
        now = to_the_end(({end},), ({own}), shared, most)
{store}
"""
"""What a user writes for a kernel of so many planes. The arrays are arguments: in a parallel loop
Numba loses what is stored to arrays that came in a tuple."""


@functools.cache
def loop(name: str, states: int, inputs: int) -> Callable[..., None]:
    """The loop of one workload: arrays of the state, of the inputs, shared numbers, most steps."""
    names = [f"s{k}" for k in range(states)]
    given = [f"g{k}" for k in range(inputs)]
    text = _TEXT.format(
        arrays=", ".join((*names, *given)),
        first=names[0],
        store="\n".join(f"        {each}[i] = now[{k}]" for k, each in enumerate(names)),
        own="".join(f"{each}[i], " for each in given),
        end=", ".join(f"{each}[i]" for each in names),
    )
    space: dict[str, Any] = {"numba": numba}
    space["step"] = numba.njit(fastmath=True)(steps.of(np)[name])
    exec(text, space)
    return space["loop"]
