"""The graphs that are raced: chains of kernels, replayed many times a run."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from benchmarks.limit.workloads import Workload


class Chain(NamedTuple):
    """A graph whose nodes come one after the other."""

    nodes: int
    samples: int
    launches: int
    """Replays of a run."""
    goal: float | None
    """Microseconds of a replay; None where the goal is a ratio."""


CHAINS = {
    "2 nodes": Chain(2, 1, 2_000, 3.0),
    "50 nodes": Chain(50, 1, 500, 10.0),
    "three kernels": Chain(3, 1_000_000, 1, None),
}
"""The first two add 1 to one number in each node. The last is `y = k x + 1`, `z = y y - 1/2`, and
`z + x`."""


def make(name: str, dtype: str = "float64", samples: int | None = None) -> Workload:
    """The workload of a chain; the last plane of its state is what its arms have to agree on."""
    chain = CHAINS[name]
    n = samples or chain.samples
    x = np.linspace(0.0, 1.0, n) if name == "three kernels" else np.zeros(n)
    return Workload(name, "", np.dtype(dtype), chain.launches, [x.astype(dtype)], [], [], 0.0, None)
