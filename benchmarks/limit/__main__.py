"""Check that all arms of the limit agree, and print how fast each of them is.

Usage: python -m benchmarks.limit [workload ...] [--samples=100000] [--threads=N] [--rounds=5]
"""

from __future__ import annotations

import argparse

import numpy as np

from benchmarks.limit.arms import Limit
from benchmarks.limit.workloads import MAKERS, Workload, make
from benchmarks.runner import Arm, Disagreement, cores, race

TOLERANCE = {"float64": 1e-9, "float32": 1e-2}  # of arms with polynomials or another library's sin


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.limit")
    parser.add_argument("workloads", nargs="*", help=f"some of {', '.join(MAKERS)}; default: all")
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--threads", type=int, default=cores())
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    for name in options.workloads or MAKERS:
        for dtype in TOLERANCE:
            workload = make(name, dtype=dtype, samples=options.samples)
            measure(workload, threads=options.threads, rounds=options.rounds)


def measure(workload: Workload, *, threads: int, rounds: int) -> None:
    limit = Limit(workload)
    steps = int(workload.steps().sum())
    result = race(
        f"{workload.name} {workload.dtype.name}: {workload.samples:,} samples, {steps:,} steps "
        f"in all, {limit.vector_bits}-bit vectors, {threads} threads",
        [_arm(limit, name, threads) for name in limit.names],
        sample_steps=steps,
        tolerance=TOLERANCE[workload.dtype.name],
        rounds=rounds,
    )
    print(result.table(), end="\n\n")
    for row in result.rows:
        if row.apart != 0 and limit.is_exact(row.name):
            raise Disagreement(f"{workload.name}: {row.name} must have the bits of the scalar arm")


def _arm(limit: Limit, name: str, threads: int) -> Arm:
    state = [plane.copy() for plane in limit.workload.state]
    done = np.zeros(limit.workload.samples, np.uint8)

    def prepare() -> None:
        for plane, begin in zip(state, limit.workload.state, strict=True):
            np.copyto(plane, begin)

    run = limit.runner(name, state, done, threads=threads)
    return Arm(name, prepare, run, lambda: [*state, done.astype(state[0].dtype)], is_limit=True)


if __name__ == "__main__":
    main()
