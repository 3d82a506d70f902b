"""The harmonic oscillator: 100,000 samples, 1,000 steps each, all cores, both float widths.

    python -m benchmarks.oscillator [--samples=100000] [--rounds=15] [--json=PATH]

Prints the time of each arm and its ratio to the limit, which is the quickest hand-written arm.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.limit.arms import Limit
from benchmarks.limit.build import NoLimit
from benchmarks.limit.workloads import Array, Workload, make
from benchmarks.runner import Arm, Missing, Race, cores, race, write_json

# By the bits of a vector: the plain way, and the strongest arms of `python -m benchmarks.limit`.
LIMIT_ARMS = {
    256: ("vec2", "vec6", "chunk3k16", "last4k16", "last4k32"),
    512: ("vec4", "vec6", "chunk6k16", "last4k16", "last6k16", "last6k32", "last8k16"),
}
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
        [*limit_arms(workload), ours(workload), numba_while(workload)],
        sample_steps=steps,
        tolerance=TOLERANCE[workload.dtype.name],
        rounds=rounds,
    )


def limit_arms(workload: Workload) -> list[Arm | Missing]:
    try:
        limit = Limit(workload)
    except NoLimit as why:
        return [Missing("limit", str(why))]

    def arm(name: str) -> Arm:
        done = np.zeros(workload.samples, np.uint8)

        def start(state: list[Array]) -> Callable[[], object]:
            return limit.runner(name, state, done, threads=cores())

        return _arm(workload, f"limit {name}", start, is_limit=True)

    return [arm(name) for name in LIMIT_ARMS[limit.vector_bits]]


def ours(workload: Workload) -> Arm | Missing:
    try:
        import eagle
        from benchmarks.kernels import oscillator
    except ImportError as why:
        return Missing("accipiter", str(why))
    omega, (dt, t_end) = workload.inputs[0], workload.shared

    def start(state: list[Array]) -> Callable[[], object]:
        x, v, t = state
        return lambda: eagle.simulate(
            oscillator,
            max_steps=workload.max_steps,
            x=x, v=v, t=t, omega=omega, t_end=t_end, dt=dt,
        )  # fmt: skip

    return _arm(workload, "accipiter", start)


def numba_while(workload: Workload) -> Arm | Missing:
    try:
        import numba

        from benchmarks import numba_loops
    except ImportError as why:
        return Missing("numba while", f"{why} (pip install numba)")
    numba.set_num_threads(cores())
    omega, (dt, t_end) = workload.inputs[0], map(workload.dtype.type, workload.shared)

    def start(state: list[Array]) -> Callable[[], object]:
        return lambda: numba_loops.oscillator(omega, t_end, dt, *state)

    return _arm(workload, "numba while, fastmath", start)


def _arm(
    workload: Workload,
    name: str,
    start: Callable[[list[Array]], Callable[[], object]],
    *,
    is_limit: bool = False,
) -> Arm:
    """An arm with a state of its own, whose pages are in place before the first run."""
    state = [plane.copy() for plane in workload.state]

    def prepare() -> None:
        for plane, begin in zip(state, workload.state, strict=True):
            np.copyto(plane, begin)

    return Arm(name, prepare, start(state), lambda: state, is_limit)


if __name__ == "__main__":
    main()
