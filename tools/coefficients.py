"""Fit the polynomials of `hawk.math`, and write `src/hawk/math/coefficients.py`.

With the argument `fast`: those of `math="fast"` alone, into `fast_coefficients.py` beside it.

Each is the polynomial of its degree whose relative error is least in the worst case (Lawson's
iteration, computed with mpmath at 80 digits); its coefficients are then rounded to the float width,
from the lowest on, each time fitting the rest again. Run it with `python tools/coefficients.py`.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mpmath
from mpmath import mp, mpf

mp.dps = 80
FOLDER = Path(__file__).parents[1] / "src/hawk/math"


@dataclass(frozen=True)
class Fit:
    """A polynomial for `function` on [low, high].

    `weight` is what its error is multiplied by; the error is relative to what is computed with it.
    """

    name: str
    says: str
    function: Callable[[Any], Any]
    weight: Callable[[Any], Any]
    low: Any
    high: Any
    degrees: tuple[int, int]
    """For float64 and float32."""
    lowered: tuple[int, int] = (0, 0)
    """Units in its last place by which the second coefficient is made less, when all are fitted."""


def _series(value: Callable[[Any], Any], at_zero: Any) -> Callable[[Any], Any]:
    """A function with a removable singularity at 0."""
    return lambda x: at_zero if abs(x) < mpf(10) ** -18 else value(x)


LN2 = mpmath.log(2)
S = (mpmath.sqrt(2) - 1) / (mpmath.sqrt(2) + 1)
QUARTER = mpmath.pi / 4 * (1 + mpf(2) ** -20)


def _log_tail(z: Any) -> Any:
    s = mpmath.sqrt(z)
    return (mpmath.log((1 + s) / (1 - s)) / s - 2) / z


def _log_tail_of_tail(z: Any) -> Any:
    return (_log_tail(z) - mpf(2) / 3) / z


def _sin_tail(z: Any) -> Any:
    r = mpmath.sqrt(z)
    return (mpmath.sin(r) / r - 1) / z


def _cos_tail(z: Any) -> Any:
    return (mpmath.cos(mpmath.sqrt(z)) - 1 + z / 2) / z**2


def _atan_rest(v: Any) -> Any:
    r = mpmath.sqrt(v + mpf(1) / 2)
    return (mpmath.atan(r) / r if r else mpf(1)) - 1


def _atan_tail(z: Any) -> Any:
    r = mpmath.sqrt(z)
    return (mpmath.atan(r) / r - 1) / z


def _asin_tail(z: Any) -> Any:
    r = mpmath.sqrt(z)
    return (mpmath.asin(r) / r - 1) / z


def _erf_rest(v: Any) -> Any:
    x = mpmath.sqrt(v + mpf(1) / 2)
    return (mpmath.erf(x) / x if x else 2 / mpmath.sqrt(mpmath.pi)) - 1


ERFC_SHIFT, ERFC_MIDDLE = 3, mpf("0.140625")
"""What erfc's polynomial is in: 1 / (x + shift) - middle."""


def _scaled_erfc(v: Any) -> Any:
    t = v + ERFC_MIDDLE
    x = 1 / t - ERFC_SHIFT
    return mpmath.exp(x * x) * mpmath.erfc(x) / t


def _log_gamma_over(root: int) -> Callable[[Any], Any]:
    return lambda t: mpmath.loggamma(root + t) / t


def _stirling(w: Any) -> Any:
    x = 1 / mpmath.sqrt(w)
    plain = (x - mpf(1) / 2) * mpmath.log(x) - x + mpmath.log(2 * mpmath.pi) / 2
    return x * (mpmath.loggamma(x) - plain)


FITS = (
    Fit(
        "EXP",
        "(exp(r) - 1 - r) / r**2 for abs(r) up to half the logarithm of 2",
        _series(lambda r: (mpmath.exp(r) - 1 - r) / r**2, mpf(1) / 2),
        lambda r: r**2 / mpmath.exp(r),
        -LN2 / 2 * (1 + mpf(2) ** -20),
        LN2 / 2 * (1 + mpf(2) ** -20),
        (9, 4),
    ),
    Fit(
        "LOG",
        "(log((1 + s) / (1 - s)) / s - 2) / s**2 in z = s**2",
        _series(_log_tail, mpf(2) / 3),
        lambda z: z,
        mpf(0),
        S**2 * (1 + mpf(2) ** -20),
        (6, 3),
    ),
    Fit(
        "SIN",
        "(sin(r) / r - 1) / r**2 in z = r**2, for abs(r) up to pi / 4",
        _series(_sin_tail, -mpf(1) / 6),
        lambda z: z,
        mpf(0),
        QUARTER**2,
        (5, 3),
    ),
    Fit(
        "COS",
        "(cos(r) - 1 + r**2 / 2) / r**4 in z = r**2, for abs(r) up to pi / 4",
        _series(_cos_tail, mpf(1) / 24),
        lambda z: z**2,
        mpf(0),
        QUARTER**2,
        (5, 3),
    ),
    Fit(
        "ATAN",
        "atan(r) / r - 1 in r**2 - 1 / 2, for abs(r) up to 1",
        _atan_rest,
        lambda v: 1 / (1 + _atan_rest(v)),
        -mpf(1) / 2,
        mpf(1) / 2 * (1 + mpf(2) ** -20),
        (22, 10),
    ),
    Fit(
        "LOG_TAIL",
        "((log((1 + s) / (1 - s)) / s - 2) / z - 2 / 3) / z in z = s**2",
        _series(_log_tail_of_tail, mpf(2) / 5),
        lambda z: z**2,
        mpf(0),
        S**2 * (1 + mpf(2) ** -20),
        (6, 2),
    ),
    Fit(
        "ASIN",
        "(asin(r) / r - 1) / r**2 in z = r**2, for abs(r) up to 1 / 2",
        _series(_asin_tail, mpf(1) / 6),
        lambda z: z,
        mpf(0),
        mpf(1) / 4,
        (11, 4),
    ),
    Fit(
        "ERF",
        "erf(x) / x - 1 in x**2 - 1 / 2, for abs(x) up to 1",
        _erf_rest,
        lambda v: 1 / (1 + _erf_rest(v)),
        -mpf(1) / 2,
        mpf(1) / 2,
        (11, 6),
    ),
    Fit(
        "ERFC",
        f"exp(x**2) * erfc(x) / t in t - {ERFC_MIDDLE}, t = 1 / (x + {ERFC_SHIFT}), for x from 1",
        _scaled_erfc,
        lambda v: 1 / _scaled_erfc(v),
        1 / mpf(28 + ERFC_SHIFT) - ERFC_MIDDLE,
        1 / mpf(1 + ERFC_SHIFT) - ERFC_MIDDLE,
        (20, 10),
    ),
    Fit(
        "LGAMMA_ONE",
        "lgamma(1 + t) / t for t from 0 to 1 / 2",
        _series(_log_gamma_over(1), -mpmath.euler),
        lambda t: t / mpmath.loggamma(1 + t) if t > mpf(10) ** -18 else 1,
        mpf(0),
        mpf(1) / 2,
        (17, 7),
    ),
    Fit(
        "LGAMMA_TWO",
        "lgamma(2 + t) / t for abs(t) up to 1 / 2",
        _series(_log_gamma_over(2), 1 - mpmath.euler),
        lambda t: t / mpmath.loggamma(2 + t) if abs(t) > mpf(10) ** -18 else 1,
        -mpf(1) / 2,
        mpf(1) / 2,
        (17, 7),
    ),
    Fit(
        "STIRLING",
        "what Stirling's formula lacks of lgamma(x), times x, in w = 1 / x**2, for x from 4",
        _series(_stirling, mpf(1) / 12),
        mpmath.sqrt,
        mpf(0),
        mpf(1) / 16,
        (9, 3),
    ),
)


FAST_FITS = (
    Fit(
        "SIN_HALF",
        "(sin(r) / r - 1) / r**2 in z = r**2, for abs(r) up to pi / 2",
        _series(_sin_tail, -mpf(1) / 6),
        lambda z: z,
        mpf(0),
        4 * QUARTER**2,
        (7, 3),
        lowered=(2, 1),  # so that roundings do not bring the sine of pi / 2 above 1
    ),
    Fit(
        "ATAN_EIGHTH",
        "(atan(r) / r - 1) / r**2 in z = r**2, for abs(r) up to 0.4145",
        _series(_atan_tail, -mpf(1) / 3),
        lambda z: z,
        mpf(0),
        mpf("0.4145") ** 2,
        (9, 4),
    ),
    Fit(
        "LOG2_TAIL",
        "((log2((1 + s) / (1 - s)) / s - 2 / log(2)) / z - 2 / 3 / log(2)) / z in z = s**2",
        _series(lambda z: _log_tail_of_tail(z) / LN2, mpf(2) / 5 / LN2),
        lambda z: z**2,
        mpf(0),
        S**2 * (1 + mpf(2) ** -20),
        (6, 2),
    ),
)


def rounded(number: Any, bits: int) -> float:
    """The nearest float of that width."""
    wide = float(number)
    return wide if bits == 64 else struct.unpack("f", struct.pack("f", wide))[0]


def least_worst(
    function: Callable[[Any], Any],
    weight: Callable[[Any], Any],
    low: Any,
    high: Any,
    powers: list[int],
) -> list[Any]:
    """Coefficients of these powers with the least greatest weighted error on [low, high].

    Lawson's iteration: least squares, in which points count the more the worse they are met.
    """
    middle, half, count = (high + low) / 2, (high - low) / 2, 8 * len(powers) + 8
    points = [
        middle - half * mpmath.cos(mpmath.pi * (k + mpf(1) / 2) / count) for k in range(count)
    ]
    values = [function(x) * weight(x) for x in points]
    columns = [[x**power * weight(x) for x in points] for power in powers]
    share = [mpf(1) / count] * count
    solved: list[Any] = []
    for _ in range(10):
        rows = mpmath.matrix(len(powers), len(powers))
        right = mpmath.matrix(len(powers), 1)
        for i, first in enumerate(columns):
            scaled = [a * w for a, w in zip(first, share, strict=True)]
            right[i] = mpmath.fdot(scaled, values)
            for j, second in enumerate(columns[: i + 1]):
                rows[i, j] = rows[j, i] = mpmath.fdot(scaled, second)
        solved = list(mpmath.lu_solve(rows, right))
        errors = [
            abs(mpmath.fdot(solved, [column[k] for column in columns]) - values[k])
            for k in range(count)
        ]
        total = mpmath.fdot(share, errors)
        share = [w * error / total for w, error in zip(share, errors, strict=True)]
    return solved


def fit(row: Fit, bits: int) -> tuple[list[float], Any]:
    """Coefficients from the lowest on, and the greatest relative error they leave."""
    degree = row.degrees[0 if bits == 64 else 1]
    known: list[float] = []
    for power in range(degree + 1):

        def rest(x: Any, fixed: tuple[float, ...] = tuple(known)) -> Any:
            return row.function(x) - sum(mpf(c) * x**p for p, c in enumerate(fixed))

        left = least_worst(rest, row.weight, row.low, row.high, list(range(power, degree + 1)))
        known.append(rounded(left[0], bits))
    if lowered := row.lowered[0 if bits == 64 else 1]:
        _, exponent = mpmath.frexp(known[1])
        known[1] = rounded(
            known[1] - lowered * mpf(2) ** (exponent - (53 if bits == 64 else 24)), bits
        )
    grid = [row.low + (row.high - row.low) * mpf(k) / 1000 for k in range(1001)]
    worst = max(
        abs((sum(mpf(c) * x**p for p, c in enumerate(known)) - row.function(x)) * row.weight(x))
        for x in grid
    )
    return known, worst


def split(number: Any, bits: int, keep: list[int]) -> list[float]:
    """A number as a sum of floats, each with that many bits; the last one is rounded."""
    parts: list[float] = []
    for size in keep:
        exponent = int(mpmath.floor(mpmath.log(abs(number), 2)))
        scale = mpf(2) ** (size - 1 - exponent)
        part = mpmath.nint(number * scale) / scale
        parts.append(rounded(part, bits))
        number -= mpf(parts[-1])
    return parts


def two_over_pi(size: int, count: int) -> list[float]:
    """The bits of 2 / pi, `size` at a time, each as a float below 1."""
    parts: list[float] = []
    rest = 2 / mpmath.pi
    for _ in range(count):
        rest *= mpf(2) ** size
        whole = mpmath.floor(rest)
        parts.append(float(whole / mpf(2) ** size))
        rest -= whole
    return parts


def _bits(error: Any) -> str:
    return f"{float(mpmath.log(error, 2)):.1f}"


def fitted(rows: tuple[Fit, ...]) -> list[str]:
    """The lines of polynomials."""
    lines: list[str] = []
    for number, row in enumerate(rows):
        for bits in (64, 32):
            values, worst = fit(row, bits)
            print(f"{number + 1}/{len(rows)} {row.name}_{bits}: {_bits(worst)} bits", flush=True)
            lines += [
                f"{row.name}_{bits} = (",
                *(f"    {value!r}," for value in values),
                ")",
            ]
        lines += [f'"""{row.says},', 'from the lowest power on."""', ""]
    return lines


def parts_of(parts: dict[str, tuple[Any, list[int], list[int]]]) -> list[str]:
    """The lines of numbers that are sums of floats."""
    return [
        f"{name}_{bits} = {tuple(split(number, bits, keep))!r}"
        for name, (number, wide, narrow) in parts.items()
        for bits, keep in ((64, wide), (32, narrow))
    ]


def fast() -> list[str]:
    """The lines of `fast_coefficients.py`."""
    says = 'Numbers of `math="fast"`: made by tools/coefficients.py, for float64 and for float32.'
    lines = [f'"""{says}"""', "", "# fmt: off", *fitted(FAST_FITS)]
    mp.dps = 400
    ln2 = mpmath.log(2)
    parts = {
        "PER_PI": (1 / mpmath.pi, [53], [24]),
        "PI_PARTS": (mpmath.pi, [38, 38, 53], [16, 16, 24]),
        "LOG2_FIRST": (2 / ln2, [53, 53], [24, 24]),
        "LOG2_SECOND": (2 / ln2 / 3, [53, 53], [24, 24]),
        "LOG10_E": (1 / mpmath.log(10), [53], [24]),
    }
    return [*lines, *parts_of(parts)]


def portable() -> list[str]:
    """The lines of `coefficients.py`."""
    lines = [
        '"""Numbers of `hawk.math`: made by tools/coefficients.py, for float64 and for float32."""',
        "",
        "# fmt: off",
        *fitted(FITS),
    ]
    mp.dps = 400
    pi, ln2 = mpmath.pi, mpmath.log(2)
    parts = {
        "LN2": (ln2, [42, 53], [15, 24]),
        "LN10": (mpmath.log(10), [42, 53], [15, 24]),
        "HALF_PI": (pi / 2, [53, 53, 53], [24, 24, 24]),
        "PI": (pi, [53, 53], [24, 24]),
        "QUARTER_PI": (pi / 4, [53, 53], [24, 24]),
        "LOG2_E": (1 / ln2, [32, 53], [12, 24]),
        "LOG10_E": (1 / mpmath.log(10), [32, 53], [12, 24]),
        "LOG10_2": (ln2 / mpmath.log(10), [42, 53], [15, 24]),
        "TWO_OVER_PI": (2 / pi, [53], [24]),
        "LN2_FULL": (ln2, [53, 53], [24, 24]),
        "PER_LN2": (1 / ln2, [53], [24]),
        "LOG2_E_FULL": (1 / ln2, [53, 53], [24, 24]),
        "TWO_THIRDS": (mpf(2) / 3, [53, 53], [24, 24]),
        "LOG2_STIRLING": ((mpmath.log(2 * pi) - 1) / (2 * ln2), [53, 53], [24, 24]),
        "LN_STIRLING": ((mpmath.log(2 * pi) - 1) / 2, [53, 53], [24, 24]),
    }
    lines += parts_of(parts)
    lines += [f"ERFC_SHIFT, ERFC_MIDDLE = {float(ERFC_SHIFT)!r}, {float(ERFC_MIDDLE)!r}"]
    values = [f"    {part!r}," for part in two_over_pi(40, 31)]
    lines += ["BITS_OF_TWO_OVER_PI = (", *values, ")"]
    return [*lines, '"""2 / pi, forty bits each, to the bits that the largest float64 needs."""']


def main(arguments: list[str]) -> None:
    name, made = ("fast_coefficients.py", fast) if arguments else ("coefficients.py", portable)
    (FOLDER / name).write_text("\n".join(made()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
