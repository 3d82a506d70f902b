"""What a launch of a graph costs besides its kernels: one sample, so they cost next to nothing.

    python -m benchmarks.graphs [--launches=3000]

Prints microseconds next to our goals.
"""

from __future__ import annotations

import argparse
import timeit
from collections.abc import Callable
from typing import Any

import numpy as np

import eagle
import hawk
from hawk import Mutable, Scalar

ROUNDS = 100


@hawk.kernel
def advance(x: Mutable[Scalar]):
    x += 1.0


@eagle.Graph.builder
def chain(x: Any, nodes: int) -> Any:
    g = eagle.Graph()
    for _ in range(nodes):
        advance(x)
    return g


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.graphs")
    parser.add_argument("--launches", type=int, default=3000)
    options = parser.parse_args()
    print(f"{'':50}{'here':>9}{'goal':>9}")
    for nodes, goal in ((2, 3), (50, 10)):
        graph = chain(np.zeros(1), nodes)
        graph.launch()
        name = f"a launch of {nodes} nodes, us"
        print(f"{name:50}{best(graph.launch, options.launches):9.2f}{goal:9}")
    many = best(lambda: graph.launch(ROUNDS), max(1, options.launches // ROUNDS)) / ROUNDS
    print(f"{f'each of {ROUNDS} rounds of 50 nodes, us':50}{many:9.2f}{5:9}")


def best(run: Callable[[], object], times: int) -> float:
    """Microseconds of a call: the best mean of nine, as other processes only ever add to it."""
    return min(timeit.repeat(run, number=times, repeat=9)) / times * 1e6


if __name__ == "__main__":
    main()
