"""Measure every function of `hawk.math` in both float widths, and write `docs/accuracy.md`.

Compiled code computes, on this machine. float64 is compared with MPFR of 200 bits, at random
numbers of the ranges in tests/unit/math/functions.py, random bit patterns, and published hard
cases. float32 functions of one number are tried on all 2**32 of them, against the float64 function
of this library, which is off by less than 1e-8 units of a float32; the worst case is computed again
by MPFR. What is done is kept in `build/accuracy`, until a file of src/hawk/math changes.

    python -m tools.accuracy [--jobs 2] [--quick] [NAME ...]

`--quick` tries a few thousand numbers of each and only prints what it finds. The whole takes about
half an hour on two cores.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import multiprocessing
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import gmpy2
import numpy as np

import eagle
import hawk
import hawk.math as own
from hawk import Scalar
from tests.unit.math.functions import ONE, TWO, draw, hard
from tests.unit.math.reference import WIDE, error_now, exact_error

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/accuracy.md"
KEPT = ROOT / "build/accuracy"
ROWS = {**ONE, **TWO}
WIDTHS = {"float64": np.float64, "float32": np.float32}
POINTS = 1_000_000
CHUNK = 1 << 18
STRIDE = 1 << 14
"""Small enough to stay in the cache."""


class Found(NamedTuple):
    """The worst error of a function in one width."""

    name: str
    width: str
    points: int
    units: float
    numbers: list[float]


class Compiled:
    """A function of one or two numbers, for as many of them as its arrays hold."""

    def __init__(self, name: str, dtype: Any, size: int = CHUNK) -> None:
        function = getattr(own, name)

        @hawk.kernel
        def one(x: Scalar) -> Scalar:
            return function(x)

        @hawk.kernel
        def two(x: Scalar, y: Scalar) -> Scalar:
            return function(x, y)

        count = 1 if name in ONE else 2
        self.given = [np.zeros(size, dtype) for _ in range(count)]
        self.out = np.zeros(size, dtype)
        planes = dict(zip("xy", self.given, strict=False))
        self.bound = eagle.deploy(one if count == 1 else two).bind(out=self.out, **planes)

    def __call__(self, *columns: Any) -> Any:
        """The values; they are overwritten by the next call."""
        count = len(columns[0])
        for array, column in zip(self.given, columns, strict=True):
            with np.errstate(invalid="ignore"):
                array[:count] = column
        self.bound.launch(threads=1)
        return self.out[:count]


# --- against MPFR --------------------------------------------------------------------------------


def sample(name: str, dtype: Any, count: int) -> list[Any]:
    """Columns of numbers to try a function on."""
    rng, row = np.random.default_rng(2026), ROWS[name]
    ranges: Sequence[Any] = row.wide if dtype is np.float64 else row.narrow
    each = count // (len(ranges) + 1)
    parts: list[list[Any]] = []
    for range_ in ranges:
        pairs = [range_] if name in ONE else range_
        signs = [row.positive, False]
        parts.append([draw(rng, r, each, positive=p) for r, p in zip(pairs, signs, strict=False)])
    size = np.dtype(dtype).itemsize
    arity = 1 if name in ONE else 2
    bits = [np.frombuffer(rng.bytes(each * size), dtype) for _ in range(arity)]
    special = hard(name, dtype)
    parts += [
        bits,
        [special] if arity == 1 else [part.ravel() for part in np.meshgrid(special, special)],
    ]
    with np.errstate(all="ignore"):
        return [np.concatenate(part).astype(dtype) for part in zip(*parts, strict=True)]


def against_mpfr(name: str, width: str, count: int) -> Found:
    """The worst of some numbers."""
    dtype, row = WIDTHS[width], ROWS[name]
    columns = sample(name, dtype, count)
    compiled, worst = Compiled(name, dtype), Found(name, width, len(columns[0]), 0.0, [])
    with gmpy2.context(WIDE):
        for start in range(0, len(columns[0]), CHUNK):
            given = [column[start : start + CHUNK] for column in columns]
            got = compiled(*given).tolist()
            for numbers, each in zip(
                zip(*[g.tolist() for g in given], strict=True), got, strict=True
            ):
                off = error_now(row, numbers, each, dtype)
                if not off <= worst.units:
                    worst = worst._replace(units=off, numbers=list(numbers))
    return worst


# --- all float32 ---------------------------------------------------------------------------------


class Narrow:
    """How far off a function of a float32 is, for arrays of them."""

    def __init__(self, name: str) -> None:
        function, largest = getattr(own, name), float(np.finfo(np.float32).max)
        mirrored = name == "lgamma"  # see its row in `functions`

        @hawk.kernel(dtype="float64")
        def both(x: Scalar) -> tuple[Scalar, Scalar]:
            got = hawk.float64(function(hawk.float32(x)))
            true = function(x)
            off = abs(got - true)
            same_nan = math.isnan(got) and math.isnan(true)
            same_inf = math.isinf(got) and abs(true) >= largest and got * true > 0.0
            larger = abs(true)
            if mirrored:
                larger = max(larger, function(-x)) if x < 0.0 else larger
            return 0.0 if same_nan or same_inf else off, larger

        self.x, self.off, self.larger = (np.zeros(STRIDE) for _ in range(3))
        self.unit = np.zeros(STRIDE)
        self.bound = eagle.deploy(both).bind(x=self.x, out=(self.off, self.larger))

    def __call__(self, x: Any) -> Any:
        """Errors in units in the last place; not finite where just one of two is."""
        with np.errstate(invalid="ignore"):
            self.x[:] = x
        self.bound.launch(threads=1)
        exponent = self.unit.view(np.int64)
        np.bitwise_and(self.larger.view(np.int64), 0x7FF0000000000000, out=exponent)
        np.maximum(self.unit, float(np.finfo(np.float32).tiny), out=self.unit)
        with np.errstate(invalid="ignore"):
            np.divide(self.off, self.unit, out=self.off)
        return self.off


def all_float32(name: str, slices: Iterator[Any]) -> Found:
    """The worst of all numbers whose bit patterns are in the slices."""
    narrow, worst, count = Narrow(name), 0.0, 0
    at = np.float32(0)
    for bits in slices:
        x = bits.view(np.float32)
        off = narrow(x)
        count += len(x)
        if not off.max() <= worst:
            place = int(np.argmax(np.where(np.isnan(off), np.inf, off)))
            worst, at = float(off[place]), x[place]
    got = float(Compiled(name, np.float32)([at])[0])
    return Found(
        name, "float32", count, exact_error(ONE[name], (at,), got, np.float32), [float(at)]
    )


def every_pattern() -> Iterator[Any]:
    first = np.arange(STRIDE, dtype=np.uint32)
    for start in range(0, 2**32, STRIDE):
        yield first + np.uint32(start)


def some_patterns(count: int) -> Iterator[Any]:
    rng = np.random.default_rng(32)
    for _ in range(count // STRIDE):
        yield rng.integers(0, 2**32, STRIDE, dtype=np.uint32)


# --- the whole -----------------------------------------------------------------------------------


def measure(job: tuple[str, str, bool]) -> Found:
    """One function in one width."""
    name, width, quick = job
    if width == "float32" and name in ONE:
        return all_float32(name, some_patterns(CHUNK) if quick else every_pattern())
    return against_mpfr(name, width, 4000 if quick else POINTS)


def fingerprint() -> str:
    """What the results belong to."""
    digest = hashlib.sha256()
    files = [*sorted((ROOT / "src/hawk/math").glob("*.py")), ROOT / "tests/unit/math/functions.py"]
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def kept(name: str, width: str) -> Path:
    return KEPT / f"{fingerprint()}-{name}-{width}.json"


def run(jobs: list[tuple[str, str, bool]], processes: int) -> dict[tuple[str, str], Found]:
    """The results of all jobs, those that are kept included."""
    found: dict[tuple[str, str], Found] = {}
    missing: list[tuple[str, str, bool]] = []
    for name, width, quick in jobs:
        file = kept(name, width)
        if not quick and file.exists():
            found[name, width] = Found(*json.loads(file.read_text(encoding="utf-8")))
        else:
            missing.append((name, width, quick))
    begin = time.monotonic()
    with multiprocessing.get_context("fork").Pool(processes) as pool:
        for number, result in enumerate(pool.imap_unordered(measure, missing), 1):
            found[result.name, result.width] = result
            if not missing[0][2]:
                KEPT.mkdir(parents=True, exist_ok=True)
                kept(result.name, result.width).write_text(json.dumps(result), encoding="utf-8")
            passed = time.monotonic() - begin
            bad = "" if result.units <= ROWS[result.name].bound else "  ABOVE THE BOUND"
            print(
                f"{number}/{len(missing)} {passed:.0f} s: {result.name} {result.width} "
                f"{result.units:.3f} at {_shown(result)}{bad}",
                flush=True,
            )
    return found


def _shown(found: Found) -> str:
    dtype = WIDTHS[found.width]
    return ", ".join(str(dtype(number)) for number in found.numbers) or "-"


HEAD = """# Accuracy

<!-- made by `make accuracy` -->

The greatest errors found of the functions of `hawk.math`, in units in the last place of the true
value, and what is promised. float64: at a million numbers of each function, random ones of all
sizes and those where it is hard, and published worst cases for correct rounding (Lefèvre and
Muller, 2001), against MPFR with 200 bits. float32: functions of one number at all 2**32 of them,
those of two at a million pairs. Errors of `lgamma` below 0 are in units of `lgamma(-x)` where that
is larger. The bits do not depend on the machine, so neither do these numbers.

| function | promised | float64 | at | float32 | at |
| --- | --- | --- | --- | --- | --- |
"""
FOOT = """
`sincos` is `sin` and `cos`. Exact, or rounded once: `floor` `ceil` `trunc` `rint` `round` `fmod`
`remainder` `copysign` `fma` `fdim` `sign` `clip` `minimum` `maximum` `where` `isnan` `isinf`
`isfinite`.
"""


def page(found: dict[tuple[str, str], Found]) -> str:
    """The text of the page."""
    lines: list[str] = []
    for name, row in ROWS.items():
        cells = [f"`{name}`", f"{row.bound:g}"]
        for width in WIDTHS:
            each = found[name, width]
            cells += [f"{each.units:.3f}", f"`{_shown(each)}`"]
        lines.append(f"| {' | '.join(cells)} |\n")
    return HEAD + "".join(lines) + FOOT


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else "")
    parser.add_argument("names", nargs="*", help="functions; all by default, for the page")
    parser.add_argument("--jobs", type=int, default=multiprocessing.cpu_count())
    parser.add_argument("--quick", action="store_true", help="a few thousand numbers; no page")
    given = parser.parse_args(arguments)
    # Those that take longest first.
    names = sorted(given.names or ROWS, key=lambda name: -len(ROWS[name].wide))
    jobs = [(name, width, given.quick) for width in reversed(WIDTHS) for name in names]
    found = run(jobs, given.jobs)
    if not given.names and not given.quick:
        PAGE.write_text(page(found), encoding="utf-8")
    above = [each for each in found.values() if not each.units <= ROWS[each.name].bound]
    for each in above:
        print(f"above the bound: {each.name} {each.width} {each.units} at {_shown(each)}")
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
