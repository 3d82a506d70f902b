"""How many vectors a group should have: the choice by the model, and what else was possible.

    python -m benchmarks.widths [workload ...] [--samples=20000] [--rounds=9]

Every number of chains takes its turn, with the same data and on one thread, by the time of the
process, so that others on the machine count little. Prints their times by
the least of all, and what would be gained over the number that `hawk.targets.cpu.width` chooses.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.kernels import ROWS
from benchmarks.limit.workloads import Workload, make
from eagle.devices.base import Partition
from eagle.devices.host.device import HOST
from eagle.exact import exact
from hawk.kernel import WIDTHS
from hawk.passes.pipeline import optimise
from hawk.targets.cpu.compile import compile_function
from hawk.targets.cpu.machine import host
from hawk.targets.cpu.width import choose_variant, variant

CHAINS = (1, 2, 3, 4, 5, 6)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.widths")
    parser.add_argument(
        "workloads",
        nargs="*",
        help=f"some of {', '.join(ROWS)}; default: all",
        choices=[[], *ROWS],
        default=[],
    )
    parser.add_argument("--samples", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    print(f"{'':22}{'chosen':>7}" + "".join(f"{chains:>8}" for chains in CHAINS) + f"{'gain':>9}")
    for name in options.workloads or ROWS:
        for dtype in ("float64", "float32"):
            workload = make(name, dtype=dtype, samples=options.samples)
            chosen, runs = candidates(workload)
            best = dict.fromkeys(runs, float("inf"))
            for _ in range(options.rounds):
                for chains, run in runs.items():
                    best[chains] = min(best[chains], run())
            least = min(best.values())
            row = "".join(f"{seconds / least:8.2f}" for seconds in best.values())
            gain = 1 - least / best[chosen]
            print(f"{name:14}{dtype:8}{chosen:>7}{row}{gain:>9.0%}", flush=True)


def candidates(workload: Workload) -> tuple[int, dict[int, Callable[[], float]]]:
    """The number of chains that is chosen; by number of chains, a run that gives its seconds."""
    row = ROWS[workload.name]
    given: dict[str, Any] = dict(zip(row.inputs, workload.inputs, strict=True))
    given |= {name: workload.shared[at] for name, at in row.shared.items()}
    given |= {name: np.array(plane) for name, plane in zip(row.state, workload.state, strict=True)}
    row.kernel.compile(WIDTHS[workload.dtype.name])
    fit = exact(row.kernel, given)
    assert fit is not None
    assert fit.mask is not None
    mask = fit.array(fit.mask)
    fn, machine = optimise(row.kernel.trace(WIDTHS[workload.dtype.name])), host()
    chosen = choose_variant(fn, machine).shape

    def run_of(chains: int) -> Callable[[], float]:
        compiled = compile_function(fn, machine, variant(fn, machine, chosen.width, chains))
        loaded = HOST.load(compiled, fit.planes, fit.words, Partition.whole(fit.n))

        def run() -> float:
            for name, plane in zip(row.state, workload.state, strict=True):
                np.copyto(given[name], plane)
            mask[:] = False
            begin = time.process_time()
            loaded.launch(workload.max_steps, 1, to_end=True)
            return time.process_time() - begin

        return run

    return chosen.chains, {chains: run_of(chains) for chains in CHAINS}


if __name__ == "__main__":
    main()
