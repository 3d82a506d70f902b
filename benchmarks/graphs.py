"""What a launch of a graph costs besides its kernels, and what it saves where kernels are fused.

    python -m benchmarks.graphs [--rounds=15] [--rows=NAME[,NAME]] [--no-peers]

Graphs of one sample, whose kernels cost next to nothing, and three neighbouring kernels of many
samples: in one pass, one by one, by NumPy, and by Warp's graphs on the CPU. Arms take turns.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

import eagle
import hawk
from benchmarks.chains import CHAINS, make
from benchmarks.limit.workloads import Workload
from benchmarks.peers.process import Peers
from benchmarks.peers.table import GRAPHS
from benchmarks.runner import Arm, Array, Missing, race
from hawk import Mutable, Param, Scalar


@hawk.kernel
def advance(x: Mutable[Scalar]):
    x += 1.0


@hawk.kernel
def scaled(x: Scalar, k: Param) -> Scalar:
    return k * x + 1.0


@hawk.kernel
def squared(x: Scalar) -> Scalar:
    return x * x - 0.5


@hawk.kernel
def summed(x: Scalar, y: Scalar) -> Scalar:
    return x + y


@eagle.Graph.builder
def chain(x: Any, nodes: int) -> Any:
    g = eagle.Graph()
    for _ in range(nodes):
        advance(x)
    return g


@eagle.Graph.builder
def three(x: Any, out: Any, fuse: bool) -> Any:
    g = eagle.Graph(fuse=fuse)
    y = scaled(x, 2.0)
    z = squared(y)
    summed(z, x, buffer=out)
    return g


def arms(workload: Workload) -> list[Arm]:
    """Ours, and NumPy in place, which is the best that it can do."""
    made = _arms_of_three if workload.name == "three kernels" else _arms_of_a_chain
    return made(workload)


def _arms_of_a_chain(workload: Workload) -> list[Arm]:
    nodes = CHAINS[workload.name].nodes
    x, y, z = (workload.state[0].copy() for _ in range(3))
    graph, rounds = chain(x, nodes), chain(z, nodes)

    def numpy() -> None:
        for _ in range(nodes):
            np.add(y, 1.0, out=y)

    return [
        _arm("eagle", graph.launch, workload, x),
        _whole("eagle, launch(n)", lambda: rounds.launch(workload.max_steps), workload, z),
        _arm("NumPy", numpy, workload, y),
    ]


def _arms_of_three(workload: Workload) -> list[Arm]:
    x, y = workload.state[0], np.empty_like(workload.state[0])
    fused, apart, by_numpy = (np.zeros_like(x) for _ in range(3))

    def numpy() -> None:
        np.multiply(x, 2.0, out=y)
        np.add(y, 1.0, out=y)
        np.multiply(y, y, out=y)
        np.subtract(y, 0.5, out=y)
        np.add(y, x, out=by_numpy)

    return [
        _arm("eagle, in one pass", three(x, fused, True).launch, workload, fused),
        _arm("eagle, one by one", three(x, apart, False).launch, workload, apart),
        _arm("NumPy", numpy, workload, by_numpy),
    ]


def _arm(name: str, launch: Callable[[], object], workload: Workload, state: Array) -> Arm:
    """An arm that is called once for each replay."""
    launches = workload.max_steps

    def run() -> None:
        for _ in range(launches):
            launch()

    return _whole(name, run, workload, state)


def _whole(name: str, run: Callable[[], object], workload: Workload, state: Array) -> Arm:
    """An arm that is called once for all replays."""

    def prepare() -> None:
        state[:] = workload.state[0]

    return Arm(name, prepare, run, lambda: [state])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.graphs")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--rows", default=",".join(CHAINS))
    parser.add_argument("--no-peers", action="store_true", help="leave other libraries out")
    options = parser.parse_args()
    with Peers(() if options.no_peers else GRAPHS) as peers:
        for name in options.rows.split(","):
            workload, told = make(name), CHAINS[name]
            raced: list[Arm | Missing] = [*arms(workload), *peers.arms(workload)]
            done = race(name, raced, sample_steps=1, tolerance=1e-12, rounds=options.rounds)
            goal = "" if told.goal is None else f", goal {told.goal:g}"
            print(f"{name} of {told.samples:,} samples: microseconds of a replay{goal}")
            for row in done.rows:
                each = [seconds / told.launches * 1e6 for seconds in row.seconds]
                said = f"median {np.median(each):9.2f}   best {min(each):9.2f}" if each else ""
                print(f"  {row.name:24}{said or 'missing: ' + row.missing}", flush=True)


if __name__ == "__main__":
    main()
