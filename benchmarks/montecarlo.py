"""The price of an Asian option by Monte Carlo: 250 normal numbers a sample, all cores.

    python -m benchmarks.montecarlo [--samples=100000] [--rounds=7]

Every arm has a generator of its own, ours one that gives the same numbers for any number of threads
and any vector width. So the prices agree as two draws do: means and deviations are compared. Nobody
wrote this by hand, so there is no limit.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

import numpy as np

import eagle
from benchmarks.runner import Arm, Array, Missing, Race, cores, race
from hawk import Index, Mutable, Param, Scalar, Terminated, kernel, step_index
from hawk.math import random

DAYS = 250
DRIFT, VOLATILITY = 0.03 / DAYS, 0.2 / math.sqrt(DAYS)
TOLERANCE = 0.02
"""Of mean and deviation: five times what 100,000 samples leave open, and more."""


@kernel(steps="auto")
def asian(
    seed: Param[Index],
    drift: Param,
    volatility: Param,
    days: Param,
    terminated: Terminated,
    price: Mutable[Scalar],
    total: Mutable[Scalar],
    t: Mutable[Scalar],
):
    price = price * math.exp(drift + volatility * random.normal(seed, step_index()))
    total = total + price
    t = t + 1.0
    terminated = t >= days


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.montecarlo")
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    for dtype in ("float64", "float32"):
        print(measure(dtype, options.samples, options.rounds).table(), end="\n\n")


def measure(dtype: str, samples: int, rounds: int) -> Race:
    return race(
        f"Monte Carlo {dtype}: {samples:,} samples, {samples * DAYS:,} steps in all, "
        f"{cores()} cores",
        [ours(dtype, samples), numba_loop(dtype, samples)],
        sample_steps=samples * DAYS,
        tolerance=TOLERANCE,
        rounds=rounds,
        about={"workload": "montecarlo", "dtype": dtype, "samples": samples, "fast": False},
    )


def ours(dtype: str, samples: int) -> Arm:
    price, total, t = (np.zeros(samples, dtype) for _ in range(3))

    def run(first: int = samples) -> None:
        eagle.simulate(
            asian, max_steps=DAYS, seed=1, drift=DRIFT, volatility=VOLATILITY, days=DAYS,
            price=price[:first], total=total[:first], t=t[:first],
        )  # fmt: skip

    run(1)  # compiles

    def prepare() -> None:
        for plane, begin in ((price, 1.0), (total, 0.0), (t, 0.0)):
            plane.fill(begin)

    return _arm("accipiter", prepare, run, total)


def numba_loop(dtype: str, samples: int) -> Arm | Missing:
    try:
        from benchmarks.numba_loops import asian as loop
    except ImportError as why:
        return Missing("numba while", str(why))
    total, real = np.zeros(samples, dtype), np.dtype(dtype).type
    numbers = (real(DRIFT), real(VOLATILITY), DAYS)
    loop(total[:1], *numbers)  # compiles
    return _arm("numba while, fastmath", lambda: None, lambda: loop(total, *numbers), total)


def _arm(name: str, prepare: Callable[[], None], run: Callable[[], None], total: Array) -> Arm:
    def moments() -> list[Array]:
        return [np.array([np.mean(total, dtype=float)]), np.array([np.std(total, dtype=float)])]

    return Arm(name, prepare, run, moments)


if __name__ == "__main__":
    main()
