"""What a launch and a run cost besides the steps: 1,000 oscillators, one step, one process.

    python -m benchmarks.launches [--launches=100000]

Prints microseconds next to our goals.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import eagle
import hawk
from eagle.demo_kernels import oscillator

SAMPLES = 1_000
TOGETHER = 10
"""Launches that are timed as one: the clock is not part of what is measured, and another process
seldom is."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.launches")
    parser.add_argument("--launches", type=int, default=100_000)
    options = parser.parse_args()
    one = hawk.steps(oscillator, 1)
    launch = eagle.deploy(one).bind(**planes()).launch
    given = planes()
    launching = mean(launch, options.launches // TOGETHER)
    running = mean(
        lambda: eagle.simulate(one, max_steps=1, **given), options.launches // TOGETHER // 10
    )
    with busy_core():
        alone = sorted(each(launch, options.launches))
    middle, late = alone[len(alone) // 2], alone[len(alone) * 99 // 100]
    print(f"{'':50}{'here':>9}{'goal':>9}")
    print(f"{'a bound launch, us':50}{launching:9.2f}{3:9}")
    print(f"{'simulate besides a launch, us':50}{running - launching:9.2f}{40:9}")
    print(f"{'p99 / median of a launch, one core busy':50}{late / middle:9.2f}{10:9}")


def planes() -> dict[str, Any]:
    """Samples that never end."""
    state = {name: np.zeros(SAMPLES) for name in ("x", "v", "t")}
    return state | {"omega": np.linspace(1.0, 3.0, SAMPLES), "t_end": 1e9, "dt": 1e-3}


def mean(run: Callable[[], object], times: int) -> float:
    """Microseconds of a call: the median of the means of `TOGETHER` calls."""
    means: list[float] = []
    for _ in range(times):
        begin = time.perf_counter_ns()
        for _ in range(TOGETHER):
            run()
        means.append((time.perf_counter_ns() - begin) / TOGETHER / 1e3)
    return statistics.median(means)


def each(run: Callable[[], object], times: int) -> list[int]:
    """Nanoseconds of each call."""
    taken: list[int] = []
    for _ in range(times):
        begin = time.perf_counter_ns()
        run()
        taken.append(time.perf_counter_ns() - begin)
    return taken


@contextmanager
def busy_core() -> Iterator[None]:
    """Keep one core of this process busy with another process."""
    core = max(os.sched_getaffinity(0))
    spin = f"import os; os.sched_setaffinity(0, {{{core}}}); print(flush=True)\nwhile True: pass"
    with subprocess.Popen([sys.executable, "-c", spin], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield
        finally:
            process.kill()


if __name__ == "__main__":
    main()
