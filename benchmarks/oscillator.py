"""The harmonic oscillator: 100,000 samples, 1,000 steps each, all cores, both float widths.

    python -m benchmarks.oscillator [--samples=100000] [--rounds=15] [--json=PATH]

Prints the time of each arm and its ratio to the limit, which is the quickest hand-written arm.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.limit.workloads import Workload, make
from benchmarks.rows import limit_arms, numba_while, ours
from benchmarks.runner import Race, cores, race, write_json

# fastmath and other compilers may order or fuse operations differently.
TOLERANCE = {"float64": 1e-9, "float32": 1e-3}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.oscillator")
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", type=Path, help="also write everything measured to this file")
    options = parser.parse_args()
    races: list[Race] = []
    for dtype in TOLERANCE:
        workload = make("oscillator", dtype=dtype, samples=options.samples)
        result = measure(workload, rounds=options.rounds)
        print(result.table(), end="\n\n")
        races.append(result)
    if options.json is not None:
        write_json(options.json, races)


def measure(workload: Workload, *, rounds: int) -> Race:
    steps = int(workload.steps().sum())
    return race(
        f"oscillator {workload.dtype.name}: {workload.samples:,} samples, {steps:,} steps in all, "
        f"{cores()} cores",
        [*limit_arms(workload, fast=False), ours(workload, fast=False), numba_while(workload)],
        sample_steps=steps,
        tolerance=TOLERANCE[workload.dtype.name],
        rounds=rounds,
    )


if __name__ == "__main__":
    main()
