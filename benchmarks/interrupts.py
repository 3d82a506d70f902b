"""How soon Ctrl-C ends a run that would take a minute or longer, and whether the samples are whole.

    python -m benchmarks.interrupts [--rounds=40]

Prints milliseconds from the signal to the exception, next to our goal.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import statistics
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import eagle
from hawk import Index, Mutable, Param, Scalar, Terminated, kernel, steps

SAMPLES = 10_000
GOAL = 200


@kernel(steps="auto")
def cheap(over: Terminated, x: Mutable[Scalar], t: Mutable[Index]):
    x += 1e-3 * (1.0 - x)
    t += 1
    over = x > 2.0


@kernel(steps="auto")
def dear(rounds: Param[Index], over: Terminated, x: Mutable[Scalar], t: Mutable[Index]):
    left = rounds
    y = x
    while left > 0:
        y = y * 0.999999 + 1e-6
        left -= 1
    x = y
    t += 1
    over = x > 2.0


def state() -> dict[str, Any]:
    return {"x": np.linspace(0.0, 1.0, SAMPLES), "t": np.zeros(SAMPLES, np.int64)}


RUNS: dict[str, Callable[[], eagle.Simulation]] = {
    "cheap steps": lambda: eagle.simulation(cheap, max_steps=1 << 40, **state()),
    "cheap steps, one a launch": lambda: eagle.until_done(
        steps(cheap, 1), max_steps=1 << 40, **state()
    ),
    "steps of a million rounds": lambda: eagle.simulation(
        dear, max_steps=1 << 40, rounds=1_000_000, **state()
    ),
    "the same, one a launch": lambda: eagle.until_done(
        steps(dear, 1), max_steps=1 << 40, rounds=1_000_000, **state()
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.interrupts")
    parser.add_argument("--rounds", type=int, default=40)
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    print(f"{'Ctrl-C after 0 to 0.3 s':40}{'median':>9}{'worst':>9}{'goal':>9}  (ms)")
    for name, make in RUNS.items():
        simulation = make()
        # The first one compiles, and is not counted.
        taken = [interrupted(simulation) for _ in range(options.rounds + 1)][1:]
        print(f"{name:40}{statistics.median(taken):9.1f}{max(taken):9.1f}{GOAL:9}")


def interrupted(simulation: eagle.Simulation) -> float:
    """Milliseconds from the signal to the exception; the run goes on where it was."""
    sent: list[float] = []

    def press() -> None:
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(random.uniform(0.0, 0.3), press)
    try:
        timer.start()
        simulation.run()
    except KeyboardInterrupt:
        return 1e3 * (time.perf_counter() - sent[0])
    raise AssertionError("it came to its end")


if __name__ == "__main__":
    main()
