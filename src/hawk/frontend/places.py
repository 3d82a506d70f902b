"""Where a sample is in its batch and how far: `hawk.sample_index()` and its like."""

from __future__ import annotations

from typing import NoReturn


def _only_in_a_kernel(name: str) -> NoReturn:
    raise TypeError(f"hawk.{name}() is known in a kernel only, where every sample has its own")


def sample_index(dimension: str | None = None, /) -> int:
    """The sample's index in the batch, an Index from 0 to `hawk.n_samples()` - 1.

    That is its place in the arrays of the caller, however they are split among launches, threads
    and lanes. In a kernel with a Grid `hawk.sample_index("r")` is its place along the dimension
    "r", from 0 to `hawk.n_samples("r")` - 1. Raises TypeError outside of a kernel.
    """
    _only_in_a_kernel("sample_index")


def n_samples(dimension: str | None = None, /) -> int:
    """How many samples the batch has, an Index; in a kernel with a Grid also along a dimension.

    Raises TypeError outside of a kernel.
    """
    _only_in_a_kernel("n_samples")


def step_index() -> int:
    """How many steps the sample has taken before this one, an Index: 0 in its first step.

    It counts from the call, from `bind`, or from the last `reset`. A run that goes on, after an
    interrupt or after `max_steps`, counts on. Raises TypeError outside of a kernel.
    """
    _only_in_a_kernel("step_index")
