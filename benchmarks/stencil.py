"""A five-point Jacobi step on a grid, one core: ours, slices of NumPy, and a loop of Numba.

    python -m benchmarks.stencil [--sides=256,1024] [--rounds=31]

Slices and loop leave the border out, and ours takes it along. The ratio is to the loop.
"""

from __future__ import annotations

import argparse

import numpy as np

import eagle
from benchmarks.kernels import relax
from benchmarks.runner import Arm, Array, Missing, Race, race


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stencil")
    parser.add_argument("--sides", default="256,1024", help="rows and columns of each grid")
    parser.add_argument("--rounds", type=int, default=31)
    options = parser.parse_args()
    for side in map(int, options.sides.split(",")):
        for dtype in ("float64", "float32"):
            print(measure(side, dtype, options.rounds).table(), end="\n\n")


def measure(side: int, dtype: str, rounds: int) -> Race:
    rng = np.random.default_rng(1)
    p, source = (rng.random((side, side)).astype(dtype) for _ in "ps")
    arms = [ours(p, source), slices(p, source), numba_loop(p, source)]
    return race(
        f"Jacobi step {dtype}: {side} by {side}, one core",
        arms,
        sample_steps=side * side,
        tolerance=0.0,
        rounds=rounds,
    )


def ours(p: Array, source: Array) -> Arm:
    out = np.zeros_like(p)
    bound = eagle.deploy(relax).bind(p=p, source=source, out=out)
    return _arm("accipiter", lambda: bound.launch(threads=1), out)


def slices(p: Array, source: Array) -> Arm:
    out = np.zeros_like(p)

    def step() -> None:
        near = p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]
        out[1:-1, 1:-1] = p.dtype.type(0.25) * (near - source[1:-1, 1:-1])

    return _arm("NumPy", step, out)


def numba_loop(p: Array, source: Array) -> Arm | Missing:
    try:
        from benchmarks.numba_loops import jacobi
    except ImportError as why:
        return Missing("Numba", str(why))
    out, quarter = np.zeros_like(p), p.dtype.type(0.25)
    return _arm("Numba", lambda: jacobi(p, source, out, quarter), out, is_limit=True)


def _arm(name: str, run: object, out: Array, *, is_limit: bool = False) -> Arm:
    assert callable(run)
    return Arm(name, lambda: None, run, lambda: [out[1:-1, 1:-1]], is_limit)


if __name__ == "__main__":
    main()
