"""The workloads, each against the limit: all cores, both float widths.

    python -m benchmarks.rows [workload ...] [--samples=100000] [--rounds=7] [--json=PATH]

Prints the time of each arm and its ratio to the limit, which is the quickest hand-written arm. Of
workloads with elementary functions or divisions the kernel with `math="fast"` is raced too, against
the hand-written arms that are as free. Other libraries take part where `make bench-env` installed
them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import eagle
import hawk
from benchmarks import montecarlo, stream
from benchmarks.kernels import FAST, ROWS
from benchmarks.limit.arms import Limit
from benchmarks.limit.build import NoLimit
from benchmarks.limit.workloads import ORDERS, Array, Workload, make
from benchmarks.peers.environments import versions
from benchmarks.peers.flat import flat
from benchmarks.peers.process import Peers
from benchmarks.peers.table import PEERS
from benchmarks.runner import Arm, Missing, Race, cores, race, write_json

TOLERANCE = {"float64": 1e-6, "float32": 1e-2}
"""Lorenz's system is chaotic, and the limit's pendulum has other elementary functions."""
FEW = 1_000
"""Samples of a small batch: raced with one thread, and bound, so that a launch is all there is."""
SHORT, SHORT_ROUNDS = 10_000, 9
"""Samples of a batch that takes milliseconds: it takes part in as many times more rounds."""
SMALL = ("oscillator", "spread100", "spread1000")
TAKING_PART, LOOKS = 3, 2
"""Hand-written arms of a race, and how often each is run before they are chosen."""
LOOKED_AT = 20_000
"""The most samples of such a look."""
MANY = (1_000_000, 10_000_000)
LEFT_OUT = ("scalar", "plain")
"""Arms that are no limit. Those that begin with `fast` compute something else."""


OTHERS: dict[str, Callable[[str, int], Race]] = {
    "montecarlo": lambda dtype, rounds: montecarlo.measure(dtype, 100_000, rounds),
    "stream": lambda dtype, rounds: stream.measure(dtype, stream.SAMPLES, 2 * rounds),
}
"""What is no workload of the limit's."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rows")
    names = ", ".join((*ROWS, *OTHERS))
    parser.add_argument("workloads", nargs="*", help=f"some of {names}; default: all")
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=Path, help="also write everything measured to this file")
    parser.add_argument("--alone", action="store_true", help="without other libraries but Numba")
    options = parser.parse_args()
    if unknown := [name for name in options.workloads if name not in (*ROWS, *OTHERS)]:
        parser.error(f"there is no workload {unknown[0]!r}: write some of {names}")
    races: list[Race] = []
    with Peers(() if options.alone else PEERS) as peers:
        for result in measured(options.workloads, options.samples, options.rounds, peers):
            print(result.table(), end="\n\n", flush=True)
            races.append(result)
            if options.json is not None:  # after each, so that a run can be interrupted
                write_json(options.json, races, () if options.alone else versions())


def measured(names: Sequence[str], samples: int, rounds: int, peers: Peers) -> Iterator[Race]:
    """All races, one after another; of the workloads that are named, where any are."""
    for each in chosen(names, samples):
        for dtype in each.widths:
            workload = make(each.name, dtype=dtype, samples=each.samples, order=each.order)
            others = peers.arms(workload) if each.peers else []
            yield measure(workload, rounds=rounds, others=others)
            if each.peers and each.name in FAST:
                yield measure(workload, rounds=rounds, fast=True)
    for name, other in OTHERS.items():
        if not names or name in names:
            for dtype in TOLERANCE:
                yield other(dtype, rounds)


class Chosen(NamedTuple):
    name: str
    samples: int
    peers: bool = True
    """Whether other libraries take part, besides Numba."""
    widths: Sequence[str] = tuple(TOLERANCE)
    order: str = ""


def chosen(names: Sequence[str], samples: int) -> list[Chosen]:
    """The workloads by their names; of all of them also smaller and larger batches, and orders."""
    if names:
        return [Chosen(name, samples) for name in names if name in ROWS]
    return [
        *(Chosen(name, samples) for name in ROWS),
        *(Chosen(name, FEW, peers=False) for name in SMALL),
        Chosen("oscillator", SHORT, peers=False),
        *(Chosen("oscillator", many, peers=False, widths=("float64",)) for many in MANY),
        *(
            Chosen(name, samples, peers=False, widths=("float64",), order=order)
            for name in ("spread100", "spread1000")
            for order in ORDERS
        ),
    ]


def measure(
    workload: Workload,
    *,
    rounds: int,
    fast: bool = False,
    others: Sequence[Arm | Missing] = (),
) -> Race:
    steps, few = steps_in_all(workload), workload.samples <= FEW
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
        rounds=rounds * SHORT_ROUNDS if workload.samples <= SHORT else rounds,
        about={
            "workload": workload.name,
            "dtype": workload.dtype.name,
            "samples": workload.samples,
            "fast": fast,
            "order": workload.order,
        },
    )


def steps_in_all(workload: Workload) -> int:
    """Where steps differ in length, samples are asked for theirs."""
    if workload.t_step is not None:
        return int(workload.steps().sum())
    kernel, given = _bindable(workload, fast=False)
    state = [plane.copy() for plane in workload.state]
    given |= zip(ROWS[workload.name].state, state, strict=True)
    result = eagle.simulate(kernel, max_steps=workload.max_steps, count_steps=True, **given)
    return int(result.steps_taken.sum())


def limit_arms(workload: Workload, *, fast: bool) -> list[Arm | Missing]:
    """The arms written by hand that compute what the kernel does, or as `fast` as they can."""
    if not workload.source:
        return []
    try:
        limit = Limit(workload)
    except NoLimit as why:
        return [Missing("limit", str(why))]
    names = [
        name for name in limit.names if name not in LEFT_OUT and name.startswith("fast") is fast
    ]
    if workload.samples > LOOKED_AT:
        few = make(
            workload.name, dtype=workload.dtype.name, samples=LOOKED_AT, order=workload.order
        )
        looks = limit_arms(few, fast=fast)
        names = [look.name.removeprefix("limit ") for look in looks if isinstance(look, Arm)]
    done = np.zeros(workload.samples, np.uint8)

    def start(name: str) -> Callable[[list[Array]], Callable[[], object]]:
        return lambda state: limit.runner(name, state, done, threads=threads_for(workload))

    arms = [arm(workload, f"limit {name}", start(name), is_limit=True) for name in names]
    return quickest(arms) if workload.samples <= LOOKED_AT else [*arms]


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

    eagle.simulate(kernel, max_steps=1, **_one_sample(given, workload))  # compiles
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


def _one_sample(given: dict[str, Any], workload: Workload) -> dict[str, Any]:
    """The same of the first sample alone, to have it compiled before anything is timed."""
    planes = given | dict(zip(ROWS[workload.name].state, workload.state, strict=True))
    return {
        name: value[:1].copy() if isinstance(value, np.ndarray) else value
        for name, value in planes.items()
    }


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
    numbers = flat(workload.name).numbers(workload.shared).values()
    rest = (*map(workload.dtype.type, numbers), workload.max_steps)
    compiled = loop(workload.name, workload.dtype.name)
    first = [plane[:1].copy() for plane in (*workload.state, *workload.inputs)]
    compiled(*first, *rest)  # so that no run that is timed compiles

    def start(state: list[Array]) -> Callable[[], object]:
        return lambda: compiled(*state, *workload.inputs, *rest)

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

    compared = [plane for k, plane in enumerate(state) if k not in workload.rough]
    return Arm(name, prepare, start(state), lambda: compared, is_limit)


if __name__ == "__main__":
    main()
