"""Measure every function of `hawk.math` in both float widths, and write `docs/accuracy.md`.

Compiled code computes, on this machine. float64 is compared with MPFR of 200 bits, at random
numbers of the ranges in tests/unit/math/functions.py, random bit patterns, and published hard
cases. float32 functions of one number are tried on all 2**32 of them, against the float64 function
of this library, which is off by less than 1e-8 units of a float32; the worst case is computed again
by MPFR. What is done is kept in `build/accuracy`, until the function changes.

    python -m tools.accuracy [--math fast] [--jobs 2] [--quick] [--points N] [--every N] [NAME ...]

`--math` measures one kind of kernels alone, and leaves the other one's table as it is. `--quick`
tries a few thousand numbers of each and only prints what it finds; `--every` tries each n-th
float32. The whole takes an hour of two cores; it goes on where it was ended.
"""

from __future__ import annotations

import argparse
import hashlib
import inspect
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
from hawk.ir.printer import to_text
from hawk.ir.types import DType
from hawk.kernel import Mathematics
from hawk.math.fast import FAST
from tests.unit.math.functions import ONE, TWO, Row, draw, hard
from tests.unit.math.reference import WIDE, error_now, exact_error

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/accuracy.md"
KEPT = ROOT / "build/accuracy"
ROWS = {**ONE, **TWO}
FAST_ROWS = {name: row._replace(bound=4.0) for name, row in ROWS.items() if name in FAST}
KINDS: dict[Mathematics, dict[str, Row]] = {"portable": ROWS, "fast": FAST_ROWS}
WIDTHS = {"float64": np.float64, "float32": np.float32}
POINTS = 1_000_000
QUICK_EVERY = 16411
"""Of float32; prime, so that it meets every kind of last places."""
CHUNK = 1 << 18
STRIDE = 1 << 14
"""Small enough to stay in the cache."""


class Found(NamedTuple):
    """The worst error of a function in one width."""

    name: str
    width: str
    math: Mathematics
    points: int
    units: float
    numbers: list[float]


def _kernel(name: str, math: Mathematics) -> Any:
    """A kernel that is one function."""
    function = getattr(own, name)

    @hawk.kernel(math=math)
    def one(x: Scalar) -> Scalar:
        return function(x)

    @hawk.kernel(math=math)
    def two(x: Scalar, y: Scalar) -> Scalar:
        return function(x, y)

    return one if name in ONE else two


class Compiled:
    """A function of one or two numbers, for as many of them as its arrays hold."""

    def __init__(self, name: str, dtype: Any, math: Mathematics, size: int = CHUNK) -> None:
        self.given = [np.zeros(size, dtype) for _ in range(1 if name in ONE else 2)]
        self.out = np.zeros(size, dtype)
        planes = dict(zip("xy", self.given, strict=False))
        self.bound = eagle.deploy(_kernel(name, math)).bind(out=self.out, **planes)

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


def against_mpfr(name: str, width: str, math: Mathematics, count: int) -> Found:
    """The worst of some numbers."""
    dtype, row = WIDTHS[width], ROWS[name]
    columns = sample(name, dtype, count)
    compiled = Compiled(name, dtype, math)
    worst = Found(name, width, math, len(columns[0]), 0.0, [])
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


ODD = {"sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh", "erf", "cbrt"}
EVEN = {"cos", "cosh"}
ABOVE_ZERO = {"log", "log2", "log10", "sqrt", "rsqrt", "acosh"}
"""Functions of which -x is tried along with x, and what is due is known."""


class Narrow:
    """How far off a function of a float32 is, for arrays of them."""

    def __init__(self, name: str, kind: Mathematics) -> None:
        function, largest = getattr(own, name), float(np.finfo(np.float32).max)
        mirrored = name == "lgamma"  # see its row in `functions`
        odd, even, above = name in ODD, name in EVEN, name in ABOVE_ZERO

        @hawk.kernel(dtype="float64", math=kind)
        def both(x: Scalar) -> tuple[Scalar, Scalar]:
            got = hawk.float64(function(hawk.float32(x)))
            true = function(x)
            off = abs(got - true)
            same_nan = math.isnan(got) and math.isnan(true)
            same_inf = math.isinf(got) and abs(true) >= largest and got * true > 0.0
            below = hawk.float64(function(hawk.float32(-x)))
            wrong = False
            if odd:
                wrong = below != -got and not same_nan
            if even:
                wrong = below != got and not same_nan
            if above:
                wrong = x > 0.0 and not math.isnan(below)
            off = math.inf if wrong else off
            larger = abs(true)
            if mirrored:
                larger = max(larger, function(-x)) if x < 0.0 else larger
            return 0.0 if (same_nan or same_inf) and not wrong else off, larger

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


def all_float32(name: str, kind: Mathematics, every: int) -> Found:
    """The worst of all float32, or of each `every`-th."""
    narrow, worst, count = Narrow(name, kind), 0.0, 0
    at = np.float32(0)
    for bits in patterns(name, every):
        x = bits.view(np.float32)
        off = narrow(x)
        count += 2 * len(x) if name in ODD | EVEN | ABOVE_ZERO else len(x)
        if not off.max() <= worst:
            place = int(np.argmax(np.where(np.isnan(off), np.inf, off)))
            worst, at = float(off[place]), x[place]
    got = float(Compiled(name, np.float32, kind)([at])[0])
    off = exact_error(ONE[name], (at,), got, np.float32)
    return Found(name, "float32", kind, count, off, [float(at)])


def patterns(name: str, every: int) -> Iterator[Any]:
    """Bit patterns of float32, each `every`-th; only half of them where `Narrow` tries both."""
    first = np.arange(STRIDE, dtype=np.uint32) * np.uint32(every)
    half = name in ODD | EVEN | ABOVE_ZERO
    for start in range(0, 2**31 if half else 2**32, STRIDE * every):
        yield first + np.uint32(start)


# --- the whole -----------------------------------------------------------------------------------


class Job(NamedTuple):
    """One function in one width; of float32, each `every`-th number."""

    name: str
    width: str
    points: int
    every: int
    math: Mathematics = "portable"


def measure(job: Job) -> Found:
    if job.width == "float32" and job.name in ONE:
        return all_float32(job.name, job.math, job.every)
    return against_mpfr(job.name, job.width, job.math, job.points)


def fingerprint(job: Job) -> str:
    """What a result belongs to: the program of the function, and how it is measured."""
    real = DType.F64 if job.width == "float64" else DType.F32
    program = to_text(_kernel(job.name, job.math).trace(real), locations=False, names=False)
    measured = Path(inspect.getfile(Row)).read_text(encoding="utf-8")
    return hashlib.sha256(f"{program}{measured}".encode()).hexdigest()[:16]


def kept(job: Job) -> Found | None:
    """A result of at least so many numbers, or None."""
    found = [
        Found(*json.loads(file.read_text(encoding="utf-8")))
        for file in KEPT.glob(f"{job.name}-{job.width}-{job.math}-{fingerprint(job)}-*.json")
    ]
    best = max(found, key=lambda each: each.points, default=None)
    all_of_them = job.width == "float32" and job.name in ONE
    least = 2**32 // job.every // 2 if all_of_them else job.points
    return best if best is not None and best.points >= least else None


def keep(job: Job, found: Found) -> None:
    KEPT.mkdir(parents=True, exist_ok=True)
    name = f"{job.name}-{job.width}-{job.math}-{fingerprint(job)}-{found.points}.json"
    file = KEPT / name
    file.write_text(json.dumps(found), encoding="utf-8")


def run(jobs: Sequence[Job], processes: int) -> dict[tuple[str, str, str], Found]:
    """The results of all jobs by name, width and kind, those that are kept included."""
    found: dict[tuple[str, str, str], Found] = {}
    missing: list[Job] = []
    for job in jobs:
        result = kept(job)
        if result is None:
            missing.append(job)
        else:
            found[job.name, job.width, job.math] = result
    begin = time.monotonic()
    with multiprocessing.get_context("fork").Pool(processes) as pool:
        tasks = [(job, pool.apply_async(measure, (job,))) for job in missing]
        number = 0
        while tasks:
            ready = [each for each in tasks if each[1].ready()]
            tasks = [each for each in tasks if each not in ready]
            for job, task in ready:
                result = found[job.name, job.width, job.math] = task.get()
                keep(job, result)
                number += 1
                above = "" if result.units <= KINDS[job.math][job.name].bound else "  TOO MUCH"
                print(
                    f"{number}/{len(missing)} {time.monotonic() - begin:.0f} s: {job.name} "
                    f"{job.width} {job.math} {result.units:.3f} at {_shown(result)}{above}",
                    flush=True,
                )
            time.sleep(0.1)
    return found


def _shown(found: Found) -> str:
    dtype = WIDTHS[found.width]
    return ", ".join(str(dtype(number)) for number in found.numbers) or "-"


HEAD = """# Accuracy

<!-- made by `make accuracy` -->

The greatest errors found of the functions of `hawk.math`, in units in the last place of the true
value, what is promised, and at how many numbers it was looked for: random ones of all sizes, those
where it is hard, and published ones at which correct rounding is hardest (of Lefèvre and Muller),
against MPFR with 200 bits; for float32 functions of one number all there are, or numbers spread
evenly over those. Errors of `lgamma` below 0 are in units of `lgamma(-x)` where that is larger. The
bits do not depend on the machine; which random numbers are tried does in their last places, since
NumPy's powers do.

"""
COLUMNS = """| function | promised | float64 | at | tried | float32 | at | tried |
| --- | --- | --- | --- | --- | --- | --- | --- |
"""
FOOT = """
`sincos` is `sin` and `cos`. Exact, or rounded once: `floor` `ceil` `trunc` `rint` `round` `fmod`
`remainder` `copysign` `fma` `fdim` `sign` `clip` `minimum` `maximum` `where` `isnan` `isinf`
`isfinite`.
"""


FAST_HEAD = """
## Fast kernels

What kernels of `math="fast"` compute in another way. Their other functions, divisions and roots are
those of above; the bits do not depend on the machine either.

"""


def table(found: dict[tuple[str, str, str], Found], kind: Mathematics) -> str:
    """The rows of one kind of kernels."""
    lines: list[str] = []
    for name, row in KINDS[kind].items():
        cells = [f"`{name}`", f"{row.bound:g}"]
        for width in WIDTHS:
            each = found[name, width, kind]
            tried = "all" if each.points == 2**32 else f"{each.points:,}"
            cells += [f"{each.units:.3f}", f"`{_shown(each)}`", tried]
        lines.append(f"| {' | '.join(cells)} |\n")
    return COLUMNS + "".join(lines)


def page(found: dict[tuple[str, str, str], Found], kinds: Sequence[Mathematics], old: str) -> str:
    """The text of the page; tables of other kinds are those of the old one."""
    _, _, rest = old.partition(COLUMNS)
    first, _, rest = rest.partition(FOOT)
    tables = {"portable": COLUMNS + first, "fast": rest.removeprefix(FAST_HEAD)}
    tables |= {kind: table(found, kind) for kind in kinds}
    return HEAD + tables["portable"] + FOOT + FAST_HEAD + tables["fast"]


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else "")
    parser.add_argument("names", nargs="*", help="functions; all by default, for the page")
    parser.add_argument("--jobs", type=int, default=multiprocessing.cpu_count())
    parser.add_argument("--quick", action="store_true", help="a few thousand numbers; no page")
    parser.add_argument("--every", type=int, default=1, help="try each n-th float32 only")
    parser.add_argument("--points", type=int, default=POINTS, help="numbers tried against MPFR")
    parser.add_argument("--math", choices=list(KINDS), help="one kind of kernels; default: both")
    given = parser.parse_args(arguments)
    points, every = (4000, QUICK_EVERY) if given.quick else (given.points, given.every)
    kinds: list[Mathematics] = [given.math] if given.math else list(KINDS)
    jobs = [
        Job(name, width, points, every, kind)
        for kind in kinds
        for width in WIDTHS
        for name in given.names or KINDS[kind]
        if name in KINDS[kind]
    ]
    found = run(jobs, given.jobs)
    if not given.names and not given.quick:
        text = page(found, kinds, PAGE.read_text(encoding="utf-8"))
        PAGE.write_text(text, encoding="utf-8")
    above = [each for each in found.values() if not each.units <= KINDS[each.math][each.name].bound]
    for each in above:
        where = f"{each.name} {each.width} {each.math}"
        print(f"above the bound: {where} {each.units} at {_shown(each)}")
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
