"""Interpolation between the knots of two tables, linear and by monotone cubics.

The interval is found by a binary search that takes the same rounds for all numbers: a step of half
the size each, taken where the knot there is not beyond x.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from hawk.math.terms import Row, Term, fma, isnan, lesser, repeat, select

Kind: TypeAlias = Literal["linear", "cubic"]
KINDS = ("linear", "cubic")


def interpolate(x: Term, xs: Row, ys: Row, kind: Kind) -> Term:
    """The value at x: that of the first or last knot beyond them, and NaN of NaN."""
    last = _last(xs, ys)
    low = interval(x, xs, last)
    high = lesser(low + 1, last)
    x0, x1, y0, y1 = xs.at(low), xs.at(high), ys.at(low), ys.at(high)
    if kind == "linear":
        inside = _linear(x, x0, x1, y0, y1)
    else:
        inside = _cubic(x, xs, ys, (low, high, last), (x0, x1, y0, y1))
    nought = last.like(0)
    inside = select(x <= xs.at(nought), ys.at(nought), inside)
    inside = select(x >= xs.at(last), ys.at(last), inside)
    return select(isnan(x), x, inside)


def _last(xs: Row, ys: Row) -> Term:
    """The last place that both tables have."""
    if xs.known is not None and ys.known is not None:
        return xs.last.like(min(xs.known, ys.known) - 1)
    return xs.last if ys is xs else lesser(xs.last, ys.last)


def interval(x: Term, xs: Row, last: Term) -> Term:
    """The last knot not beyond x that has another behind it; the first one if x is before all."""
    nought = last.like(0)
    end = (last - 1).apply("max", nought)  # the place of the last interval
    known = last.number
    if known is not None:
        low, step = nought, 1 << max(known - 1, 1).bit_length() >> 1
        while step and known > 1:
            low, step = _stride(x, xs, low, last.like(step), end), step >> 1
        return low
    # As many rounds as the table needs: the same for all samples.
    (step,) = repeat((last.like(1),), lambda s: s + s <= end, lambda s: (s + s,))
    low, _ = repeat(
        (nought, step),
        lambda _, s: s > 0,
        lambda low, s: (_stride(x, xs, low, s, end), s >> 1),
    )
    return low


def _stride(x: Term, xs: Row, low: Term, step: Term, end: Term) -> Term:
    """`low`, or so many places further if that is not beyond x."""
    there = low + step
    fits = (there <= end) & (xs.at(lesser(there, end)) <= x)
    return select(fits, there, low)


def _linear(x: Term, x0: Term, x1: Term, y0: Term, y1: Term) -> Term:
    slope = (y1 - y0) / (x1 - x0)
    value = fma(slope, x - x0, y0)
    # From the other end where this one is infinite, as NumPy does.
    other = fma(slope, x - x1, y1)
    other = select(isnan(other) & y0.equals(y1), y0, other)
    return select(x.equals(x0), y0, select(isnan(value), other, value))


def _cubic(
    x: Term,
    xs: Row,
    ys: Row,
    places: tuple[Term, Term, Term],
    ends: tuple[Term, Term, Term, Term],
) -> Term:
    """Hermite's cubic with derivatives that make it as monotone as the knots.

    Fritsch and Carlson, SIAM J. Numer. Anal. 17 (1980), with the derivatives of Fritsch and
    Butland, SIAM J. Sci. Stat. Comput. 5 (1984): weighted harmonic means of the slopes.
    """
    low, high, last = places
    x0, x1, y0, y1 = ends
    before = (low - 1).apply("max", low.like(0))
    behind = lesser(high + 1, last)
    width, slope = x1 - x0, (y1 - y0) / (x1 - x0)
    x_before, x_behind = xs.at(before), xs.at(behind)
    width_before, width_behind = x0 - x_before, x_behind - x1
    slope_before = (y0 - ys.at(before)) / width_before
    slope_behind = (ys.at(behind) - y1) / width_behind
    alone = last <= 1  # one interval: a line
    first, final = low <= 0, last <= high
    left = select(
        first,
        _at_end(width, width_behind, slope, slope_behind),
        _between(width_before, width, slope_before, slope),
    )
    right = select(
        final,
        _at_end(width, width_before, slope, slope_before),
        _between(width, width_behind, slope, slope_behind),
    )
    left, right = select(alone, slope, left), select(alone, slope, right)
    s = x - x0
    bend = (left + right - (slope + slope)) / width
    cube, square = bend / width, (slope - left) / width - bend
    return fma(fma(fma(cube, s, square), s, left), s, y0)


def _between(width: Term, width_next: Term, slope: Term, slope_next: Term) -> Term:
    """The derivative where two intervals meet: 0 where their slopes differ in sign or one is 0."""
    first, second = width_next + width_next + width, width_next + (width + width)
    mean = (first + second) / (first / slope + second / slope_next)
    return select(slope * slope_next > 0.0, mean, 0.0)


def _at_end(width: Term, width_next: Term, slope: Term, slope_next: Term) -> Term:
    """The derivative at an end, of a parabola, kept from turning back and from overshooting."""
    value = ((width + width + width_next) * slope - width * slope_next) / (width + width_next)
    turns = slope * slope_next <= 0.0
    far = turns & (abs(value) > abs(slope) * 3.0)
    value = select(far, slope * 3.0, value)
    return select(value * slope <= 0.0, 0.0, value)
