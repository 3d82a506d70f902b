"""Check that all arms of the limit agree, and print how fast each of them is.

    python -m benchmarks.limit [workload ...] [--samples=100000] [--threads=N]
"""

from __future__ import annotations

import argparse
import os
import time

import numpy as np

from benchmarks.limit.arms import Limit
from benchmarks.limit.workloads import MAKERS, Array, Workload, make

INEXACT = {"fast": 1e-4, "vec": 1e-4, "chunk": 1e-4, "last": 1e-4}
REPEATS = 5


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.limit", description=__doc__)
    parser.add_argument("workloads", nargs="*", choices=[[], *MAKERS], default=[])
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    arguments = parser.parse_args()
    for name in arguments.workloads or MAKERS:
        for dtype in ("float64", "float32"):
            workload = make(name, dtype=dtype, samples=arguments.samples)
            measure(workload, threads=arguments.threads)


def measure(workload: Workload, *, threads: int) -> None:
    limit = Limit(workload)
    steps = int(workload.steps().sum())
    print(
        f"{workload.name} {workload.dtype.name}: {workload.samples:,} samples, {steps:,} steps, "
        f"{limit.vector_bits}-bit vectors, {threads} threads"
    )
    expected: list[Array] | None = None
    for arm in limit.names:
        state = [plane.copy() for plane in workload.state]
        done = np.zeros(workload.samples, np.uint8)
        run = limit.runner(arm, state, done, threads=threads)
        best = float("inf")
        for _ in range(REPEATS):
            for plane, start in zip(state, workload.state, strict=True):
                np.copyto(plane, start)
            begin = time.perf_counter()
            run()
            best = min(best, time.perf_counter() - begin)
        got = [*state, done]
        expected = got if expected is None else expected
        apart = max(float(np.max(np.abs(a - b.astype(a.dtype)))) for a, b in zip(got, expected))
        same = all(a.tobytes() == b.tobytes() for a, b in zip(got, expected))
        word = "same bits" if same else f"differs by {apart:.1e}"
        print(f"  {arm:14s} {best * 1e3:9.2f} ms {steps / best / 1e9:8.2f} G steps/s   {word}")


if __name__ == "__main__":
    main()
