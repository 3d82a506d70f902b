"""The workloads, each against the limit: all cores, both float widths.

    python -m benchmarks.rows [workload ...] [--samples=100000] [--rounds=7] [--json=PATH]

Prints the time of each arm and its ratio to the limit, which is the quickest hand-written arm. Of
workloads with elementary functions or divisions the kernel with `math="fast"` is raced too, against
the hand-written arms that are as free. Other libraries take part where `make bench-env` installed them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import eagle
import hawk
from benchmarks.kernels import FAST, ROWS
from benchmarks.limit.arms import Limit
from benchmarks.limit.build import NoLimit
from benchmarks.limit.workloads import Array, Workload, make
from benchmarks.peers.process import Peers
from benchmarks.peers.table import PEERS
from benchmarks.runner import Arm, Missing, Race, cores, race, write_json

TOLERANCE = {"float64": 1e-6, "float32": 1e-2}
"""Lorenz's system is chaotic, and the limit's pendulum has other elementary functions."""
FEW, FEW_ROUNDS = 1_000, 9
"""Samples of a small batch: raced with one thread, and bound, so that a launch is all there is."""
SMALL = ("oscillator", "spread100", "spread1000")
TAKING_PART, LOOKS = 3, 2
"""Hand-written arms of a race, and how often each is run before they are chosen."""
LEFT_OUT = ("scalar", "plain")
"""Arms that are no limit. Those that begin with `fast` compute something else."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rows")
    parser.add_argument("workloads", nargs="*", help=f"some of {', '.join(ROWS)}; default: all")
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=Path, help="also write everything measured to this file")
    parser.add_argument("--alone", action="store_true", help="without other libraries but Numba")
    options = parser.parse_args()
    races: list[Race] = []
    with Peers(() if options.alone else PEERS) as peers:
        for name, samples in chosen(options.workloads, options.samples):
            for dtype in TOLERANCE:
                workload = make(name, dtype=dtype, samples=samples)
                for fast in (False, True) if name in FAST and samples > FEW else (False,):
                    others = [] if fast or samples <= FEW else peers.arms(workload)
                    result = measure(workload, rounds=options.rounds, fast=fast, others=others)
                    print(result.table(), end="\n\n", flush=True)
                    races.append(result)
    if options.json is not None:
        write_json(options.json, races)


def chosen(workloads: Sequence[str], samples: int) -> list[tuple[str, int]]:
    """Names of workloads and how many samples; of a few workloads a small batch, too."""
    if workloads:
        return [(name, samples) for name in workloads]
    return [*((name, samples) for name in ROWS), *((name, FEW) for name in SMALL)]


def measure(
    workload: Workload,
    *,
    rounds: int,
    fast: bool = False,
    others: Sequence[Arm | Missing] = (),
) -> Race:
    steps, few = int(workload.steps().sum()), workload.samples <= FEW
    mine = bound if few else ours
    return race(
        f"{workload.name} {workload.dtype.name}{', fast' if fast else ''}: {workload.samples:,} "
        f"samples, {steps:,} steps in all, {1 if few else cores()} cores",
        [
            *limit_arms(workload, fast=fast),
            mine(workload, fast=fast),
            numba_while(workload),
            *others,
        ],
        sample_steps=steps,
        tolerance=TOLERANCE[workload.dtype.name],
        rounds=rounds * FEW_ROUNDS if few else rounds,
        about={
            "workload": workload.name,
            "dtype": workload.dtype.name,
            "samples": workload.samples,
            "fast": fast,
        },
    )


def limit_arms(workload: Workload, *, fast: bool) -> list[Arm | Missing]:
    """The arms written by hand that compute what the kernel does, or as `fast` as they can."""
    try:
        limit = Limit(workload)
    except NoLimit as why:
        return [Missing("limit", str(why))]
    done = np.zeros(workload.samples, np.uint8)

    def start(name: str) -> Callable[[list[Array]], Callable[[], object]]:
        return lambda state: limit.runner(name, state, done, threads=threads_for(workload))

    names = [
        name for name in limit.names if name not in LEFT_OUT and name.startswith("fast") is fast
    ]
    return quickest([arm(workload, f"limit {name}", start(name), is_limit=True) for name in names])


def quickest(arms: Sequence[Arm]) -> list[Arm | Missing]:
    """Those that take part, by a look at each: only the quickest counts."""

    def look(arm: Arm) -> float:
        return min(arm.seconds() for _ in range(LOOKS))

    return [*sorted(arms, key=look)[:TAKING_PART]]


def ours(workload: Workload, *, fast: bool) -> Arm:
    kernel, given = _bindable(workload, fast=fast)

    def start(state: list[Array]) -> Callable[[], object]:
        planes = given | dict(zip(ROWS[workload.name].state, state, strict=True))
        return lambda: eagle.simulate(kernel, max_steps=workload.max_steps, **planes)

    return arm(workload, "accipiter fast" if fast else "accipiter", start)


def bound(workload: Workload, *, fast: bool) -> Arm:
    """The same, bound once: one launch to the cap."""
    kernel, given = _bindable(workload, fast=fast)
    deployed = eagle.deploy(hawk.steps(kernel, workload.max_steps))

    def start(state: list[Array]) -> Callable[[], object]:
        launches = deployed.bind(
            **given, **dict(zip(ROWS[workload.name].state, state, strict=True))
        )

        def run() -> None:
            launches.finished[:] = False
            launches.launch(threads=threads_for(workload))

        return run

    return arm(workload, "accipiter, bound", start)


def _bindable(workload: Workload, *, fast: bool) -> tuple[hawk.Kernel[..., Any], dict[str, Any]]:
    """The kernel, and its inputs and numbers by name."""
    row = (FAST if fast else ROWS)[workload.name]
    given = dict(zip(row.inputs, workload.inputs, strict=True))
    return row.kernel, given | {name: workload.shared[at] for name, at in row.shared.items()}


def threads_for(workload: Workload) -> int:
    return 1 if workload.samples <= FEW else cores()


def numba_while(workload: Workload) -> Arm | Missing:
    """Numba's loop over samples and steps."""
    try:
        import numba

        from benchmarks.numba_arm import loop
    except ImportError as why:
        return Missing("numba while", f"{why} (pip install numba)")
    numba.set_num_threads(threads_for(workload))
    shared = tuple(map(workload.dtype.type, workload.shared))
    compiled = loop(workload.name, len(workload.state), len(workload.inputs))
    first = [plane[:1].copy() for plane in (*workload.state, *workload.inputs)]
    compiled(*first, shared, workload.max_steps)  # so that no run that is timed compiles

    def start(state: list[Array]) -> Callable[[], object]:
        return lambda: compiled(*state, *workload.inputs, shared, workload.max_steps)

    return arm(workload, "numba while, fastmath", start)


def arm(
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
