"""Elementary functions of an array: ours, NumPy's, and glibc's libmvec called directly.

    python -m benchmarks.elementary [--samples=65536] [--rounds=60] [NAME ...]

One thread, float64, arrays that stay in the cache. Arms take turns; what counts is the least time
of each. libmvec promises errors of up to 4 units in the last place, as `math="fast"` does; ours of
1. It is called from a loop that LLVM makes, 4 numbers at a time (8 with AVX-512), as its vector ABI
has it.
"""

from __future__ import annotations

import argparse
import ctypes
import math
import time
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
import numpy as np

import eagle
import hawk
import hawk.math as own
from hawk import Scalar
from hawk.kernel import MATHEMATICS
from hawk.targets.cpu.machine import host, target_machine

CASES: dict[str, tuple[Any, list[tuple[float, float]]]] = {
    "sin": (np.sin, [(-10, 10)]),
    "cos": (np.cos, [(-10, 10)]),
    "exp": (np.exp, [(-20, 20)]),
    "log": (np.log, [(1e-3, 1e3)]),
    "pow": (np.power, [(1e-3, 1e3), (-5, 5)]),
    "atan2": (np.arctan2, [(-3, 3), (-3, 3)]),
    "tanh": (np.tanh, [(-3, 3)]),
}
"""Each function with NumPy's, and the ranges of its arguments."""

LOOP = """
declare {v} @{symbol}({types})
define void @run(i64 %n, ptr %x, ptr %y, ptr %out) {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %px = getelementptr double, ptr %x, i64 %i
  %py = getelementptr double, ptr %y, i64 %i
  %pout = getelementptr double, ptr %out, i64 %i
  %a = load {v}, ptr %px, align 8
  %b = load {v}, ptr %py, align 8
  %r = call {v} @{symbol}({arguments})
  store {v} %r, ptr %pout, align 8
  %next = add i64 %i, {width}
  %again = icmp ult i64 %next, %n
  br i1 %again, label %loop, label %done
done:
  ret void
}}
"""
Engine = Any


def libmvec(name: str, count: int) -> tuple[Any, Engine]:
    """A native loop over libmvec's function of `count` vectors. Raises OSError without libmvec."""
    ctypes.CDLL("libmvec.so.1", mode=ctypes.RTLD_GLOBAL)
    llvm.load_library_permanently("libmvec.so.1")
    machine = host()
    width = machine.vector_bits // 64
    letter = {4: "d", 8: "e"}[width]
    vector = f"<{width} x double>"
    text = LOOP.format(
        v=vector,
        width=width,
        symbol=f"_ZGV{letter}N{width}{'v' * count}_{name}",
        types=", ".join([vector] * count),
        arguments=", ".join(f"{vector} %{each}" for each in "ab"[:count]),
    )
    machine_of_its_own = target_machine.__wrapped__(
        machine
    )  # the engine frees it, and others have the kept one
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(text), machine_of_its_own)
    engine.finalize_object()
    kind = ctypes.CFUNCTYPE(None, ctypes.c_int64, *[ctypes.c_void_p] * 3)
    return kind(engine.get_function_address("run")), engine


def arms(name: str, samples: int) -> tuple[dict[str, Callable[[], object]], list[Any]]:
    """What takes turns, and what must be kept alive meanwhile. `samples` is a multiple of 8."""
    numpy, ranges = CASES[name]
    function, rng = getattr(own, name), np.random.default_rng(7)
    given = [rng.uniform(low, high, samples) for low, high in ranges]
    outs = [np.zeros(samples) for _ in range(4)]

    def one(x: Scalar) -> Scalar:
        return function(x)

    def two(x: Scalar, y: Scalar) -> Scalar:
        return function(x, y)

    planes = dict(zip("xy", given, strict=False))
    portable, fast = (
        eagle.deploy(hawk.kernel(math=kind)(one if len(given) == 1 else two)).bind(
            out=out, **planes
        )
        for kind, out in zip(MATHEMATICS, outs[2:], strict=True)
    )
    found: dict[str, Callable[[], object]] = {
        "ours": lambda: portable.launch(threads=1),
        "fast": lambda: fast.launch(threads=1),
        "numpy": lambda: numpy(*given, out=outs[0]),
    }
    alive: list[Any] = [given, outs]
    try:
        loop, engine = libmvec(name, len(given))
    except OSError as error:
        print(f"libmvec is not there: {error}")
        return found, alive
    addresses = [array.ctypes.data for array in (given[0], given[-1], outs[1])]
    found["libmvec"] = lambda: loop(samples, *addresses)
    return found, [*alive, engine]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.elementary")
    parser.add_argument("names", nargs="*", choices=[[], *CASES], default=[])
    parser.add_argument("--samples", type=int, default=65_536)
    parser.add_argument("--rounds", type=int, default=60)
    options = parser.parse_args()
    samples = options.samples // 8 * 8
    made = {name: arms(name, samples) for name in options.names or CASES}
    best = {name: dict.fromkeys(found, math.inf) for name, (found, _) in made.items()}
    for turn in range(options.rounds):
        for name, (found, _) in made.items():
            arms_now = [*found.items()]
            first = turn % len(arms_now)  # whoever is the first finds its numbers in no cache
            for arm, run in (*arms_now[first:], *arms_now[:first]):
                start = time.perf_counter()
                run()
                best[name][arm] = min(best[name][arm], time.perf_counter() - start)
    print(f"ns a number, one thread, {samples} float64")
    heads = ("ours", "fast", "numpy", "libmvec", "ours / libmvec", "fast / libmvec")
    print(f"{'':8}" + "".join(f"{head:>{max(9, len(head) + 2)}}" for head in heads))
    ratios: list[tuple[float, float]] = []
    for name, times in best.items():
        each = {arm: seconds / samples * 1e9 for arm, seconds in times.items()}
        line = f"{name:8}" + "".join(f"{number:9.2f}" for number in each.values())
        if "libmvec" in each:
            ratios.append((each["ours"] / each["libmvec"], each["fast"] / each["libmvec"]))
            line += "".join(f"{ratio:16.2f}" for ratio in ratios[-1])
        print(line)
    if ratios:
        means = [
            math.exp(sum(map(math.log, each)) / len(each)) for each in zip(*ratios, strict=True)
        ]
        print(f"geometric means of the ratios: {means[0]:.2f} and {means[1]:.2f}")


if __name__ == "__main__":
    main()
