"""What a launch of a graph costs besides its kernels, and what it saves where kernels are fused.

    python -m benchmarks.graphs [--launches=3000] [--samples=1000000] [--rounds=15]

Prints microseconds next to our goals: of graphs with one sample, whose kernels cost next to
nothing, and of three neighbouring kernels of many samples: in one pass, one by one, and NumPy,
taken in turns, so that whatever else the machine does hits all of them.
"""

from __future__ import annotations

import argparse
import timeit
from collections.abc import Callable
from typing import Any

import numpy as np

import eagle
import hawk
from hawk import Mutable, Param, Scalar

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


@hawk.kernel
def scaled(x: Scalar, k: Param) -> Scalar:
    return k * x + 1.0


@hawk.kernel
def squared(x: Scalar) -> Scalar:
    return x * x - 0.5


@hawk.kernel
def summed(x: Scalar, y: Scalar) -> Scalar:
    return x + y


def three(x: Any, out: Any, *, fuse: bool) -> Any:
    @eagle.Graph.builder
    def build(x: Any, out: Any) -> Any:
        g = eagle.Graph(fuse=fuse)
        y = scaled(x, 2.0)
        z = squared(y)
        summed(z, x, buffer=out)
        return g

    return build(x, out)


def numpy_three(x: Any, y: Any, out: Any) -> None:
    """The same in place, which is the best that NumPy can do."""
    np.multiply(x, 2.0, out=y)
    np.add(y, 1.0, out=y)
    np.multiply(y, y, out=y)
    np.subtract(y, 0.5, out=y)
    np.add(y, x, out=out)


def fused(samples: int, rounds: int) -> None:
    """Three kernels in one pass, one by one, and NumPy."""
    x, y = np.linspace(0.0, 1.0, samples), np.empty(samples)
    outs = [np.zeros(samples) for _ in range(3)]
    together, apart = (
        three(x, out, fuse=way) for out, way in zip(outs, (True, False), strict=False)
    )
    runs = (together.launch, apart.launch, lambda: numpy_three(x, y, outs[2]))
    for run in runs:
        run()
    assert outs[0].tobytes() == outs[1].tobytes()
    times = [[timeit.timeit(run, number=1) * 1e6 for run in runs] for _ in range(rounds)]
    one, other, numpy = (min(each) for each in zip(*times, strict=True))
    print(f"{f'three kernels of {samples:,} samples in one pass, us':50}{one:9.0f}{other / 2:9.0f}")
    print(f"{'one by one, us':50}{other:9.0f}")
    print(f"{'NumPy, us':50}{numpy:9.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.graphs")
    parser.add_argument("--launches", type=int, default=3000)
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    print(f"{'':50}{'here':>9}{'goal':>9}")
    for nodes, goal in ((2, 3), (50, 10)):
        graph = chain(np.zeros(1), nodes)
        graph.launch()
        name = f"a launch of {nodes} nodes, us"
        print(f"{name:50}{best(graph.launch, options.launches):9.2f}{goal:9}")
    many = best(lambda: graph.launch(ROUNDS), max(1, options.launches // ROUNDS)) / ROUNDS
    print(f"{f'each of {ROUNDS} rounds of 50 nodes, us':50}{many:9.2f}{5:9}")
    fused(options.samples, options.rounds)


def best(run: Callable[[], object], times: int) -> float:
    """Microseconds of a call: the best mean of nine, as other processes only ever add to it."""
    return min(timeit.repeat(run, number=times, repeat=9)) / times * 1e6


if __name__ == "__main__":
    main()
