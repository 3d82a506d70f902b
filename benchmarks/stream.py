"""y = a * x + b of 10^7 numbers, all cores: one step a launch, and memory is all there is.

    python -m benchmarks.stream [--samples=10000000] [--rounds=15]

`out=` is given, and its pages are there. The limit is a loop in C++, with plain stores and with
stores that leave the caches alone.
"""

from __future__ import annotations

import argparse
import ctypes
from collections.abc import Callable

import numpy as np

from benchmarks.limit.build import NoLimit, library
from benchmarks.runner import Arm, Array, Missing, Race, cores, race
from eagle.bench_kernels import line

SAMPLES = 10_000_000
A, B = 1.25, 0.5


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stream")
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    for dtype in ("float64", "float32"):
        print(measure(dtype, options.samples, options.rounds).table(), end="\n\n")


def measure(dtype: str, samples: int, rounds: int) -> Race:
    x = np.random.default_rng(1).random(samples).astype(dtype)
    return race(
        f"y = a x + b, {dtype}: {samples:,} samples, {2 * x.nbytes / 1e6:,.0f} MB to move, "
        f"{cores()} cores",
        [*limit_loops(x), ours(x), numba_loop(x), numpy_ufuncs(x)],
        sample_steps=samples,
        tolerance=2 * float(np.finfo(dtype).eps),
        rounds=rounds,
        about={"workload": "stream", "dtype": dtype, "samples": samples, "fast": False},
    )


def limit_loops(x: Array) -> list[Arm | Missing]:
    try:
        loops = library("stream")
    except NoLimit as why:
        return [Missing("limit", str(why))]
    arms: list[Arm | Missing] = []
    for name in ("stores", "streaming"):
        out, entry = np.zeros_like(x), getattr(loops, f"{name}_{x.dtype.name}")
        entry.restype = None
        given = (
            ctypes.c_int64(len(x)), ctypes.c_void_p(x.ctypes.data), ctypes.c_double(A),
            ctypes.c_double(B), ctypes.c_void_p(out.ctypes.data), ctypes.c_int(cores()),
        )  # fmt: skip
        arms.append(_arm(f"limit {name}", _calling(entry, given), out, is_limit=True))
    return arms


def _calling(entry: Callable[..., object], given: tuple[object, ...]) -> Callable[[], object]:
    return lambda: entry(*given)


def ours(x: Array) -> Arm:
    out = np.zeros_like(x)
    line(x[:1], A, B)  # compiles
    return _arm("accipiter", lambda: line(x, A, B, out=out), out)


def numba_loop(x: Array) -> Arm | Missing:
    try:
        from benchmarks.numba_loops import line as loop
    except ImportError as why:
        return Missing("numba loop", str(why))
    out, (a, b) = np.zeros_like(x), map(x.dtype.type, (A, B))
    loop(x[:1], a, b, out[:1])  # compiles
    return _arm("numba loop", lambda: loop(x, a, b, out), out)


def numpy_ufuncs(x: Array) -> Arm:
    out, (a, b) = np.zeros_like(x), map(x.dtype.type, (A, B))

    def run() -> None:
        np.multiply(x, a, out=out)
        np.add(out, b, out=out)

    return _arm("NumPy", run, out)


def _arm(name: str, run: Callable[[], object], out: Array, *, is_limit: bool = False) -> Arm:
    out.fill(1)  # now its pages are there
    return Arm(name, lambda: None, run, lambda: [out], is_limit)


if __name__ == "__main__":
    main()
