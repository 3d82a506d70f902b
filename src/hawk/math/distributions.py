"""How random bits become numbers of a distribution. Each is a function of a `Stream`.

`real` is the float width. Words are those of Philox, w0 to w3, the first the lowest.
"""

from __future__ import annotations

import math

from hawk.ir.types import DType
from hawk.math import exponential as exps
from hawk.math import logarithm, trigonometry
from hawk.math.philox import Stream, halves
from hawk.math.terms import Term, fma, repeat, select, sqrt, to_f32, to_f64, to_i32

SMALL = 10.0
"""The mean from which on a Poisson number is found by rejection."""
MOST_TERMS, MOST_TRIALS = 100, 64
"""Where the two searches end; that they come so far has a probability below 1e-25."""


def _unit(low: Term, high: Term, real: DType) -> Term:
    """From 0 to below 1: the 53 highest bits of two words, or the 24 highest of the upper one."""
    if real is DType.F64:
        return fma(to_f64(high), 2.0**-32, to_f64(low >> 11) * 2.0**-53)
    return to_f32(to_i32(high >> 8)) * 2.0**-24


def _positive(low: Term, high: Term, real: DType) -> Term:
    """From above 0 to 1: 1 less `_unit`, or all 32 bits of the upper word in the narrow width."""
    if real is DType.F64:
        return 1.0 - _unit(low, high, real)
    return fma(to_f32(high), 2.0**-32, 2.0**-33)


def uniform(stream: Stream, real: DType) -> Term:
    """From 0 to below 1."""
    low, high, _, _ = stream.words()
    return _unit(low, high, real)


def normal(stream: Stream, real: DType) -> Term:
    """Of mean 0 and variance 1, by the cosine of Box and Muller (1958)."""
    w0, w1, w2, w3 = stream.words()
    radius = sqrt(logarithm.log(_positive(w0, w1, real)) * -2.0)
    turn = _unit(w2, w3, real)
    pi = turn.of(2.0 * math.pi, 6.2831854820251465)
    return radius * trigonometry.cos(turn * pi)


def exponential(stream: Stream, real: DType) -> Term:
    """Of mean 1: the logarithm of a uniform number, with its sign changed."""
    low, high, _, _ = stream.words()
    return abs(logarithm.log(_positive(low, high, real)))


def lognormal(stream: Stream, real: DType, mean: Term, sigma: Term) -> Term:
    """The exponential of a normal number of this mean and deviation."""
    return exps.exp(fma(sigma, normal(stream, real), mean))


def bernoulli(stream: Stream, real: DType, p: Term) -> Term:
    """True with probability p."""
    return uniform(stream, real) < p


def integers(stream: Stream, low: Term, high: Term) -> Term:
    """From low to below high, both int64: the product of 64 random bits with their distance.

    Its upper half is the number (Lemire 2019, without the rejection): each has a probability
    within 2**-64 of the others'. Where high is not above low it is low.
    """
    w0, w1, _, _ = stream.words()
    distance = high - low
    below, above = (_int64(half) for half in halves(distance))
    first, second = _int64(w0), _int64(w1)
    middle = second * below + ((first * below) >> 32)
    result = middle >> 32
    if above.number != 0:
        other = (middle & 0xFFFFFFFF) + first * above
        result = second * above + result + (other >> 32)
    return select(high <= low, low, low + result)


def _int64(word: Term) -> Term:
    return word.apply("to_i64", gives=DType.I64)


# -- Poisson's -------------------------------------------------------------------------------------


def poisson(stream: Stream, mean: Term) -> Term:
    """The number of events where `mean` are expected, an int64. All of it in float64."""
    mean = to_f64(mean)
    few = mean < SMALL
    count = select(few, _by_inversion(stream, mean, few), _by_rejection(stream, mean, few))
    return select(mean > 0.0, count, 0.0).apply("to_i64", gives=DType.I64)


def _by_inversion(stream: Stream, mean: Term, wanted: Term) -> Term:
    """The least count whose probability, and that of all below it, is above a uniform number."""
    low, high, _, _ = stream.words()
    unit = _unit(low, high, DType.F64)
    none = exps.exp(-mean)
    count, _, _ = repeat(
        (mean.like(0.0), none, none),
        lambda k, _, total: wanted & (unit >= total) & (k < float(MOST_TERMS)),
        lambda k, p, total: (k + 1.0, p * mean / (k + 1.0), total + p * mean / (k + 1.0)),
    )
    return count


def _by_rejection(stream: Stream, mean: Term, few: Term) -> Term:
    """Transformed rejection with squeeze, PTRS: Hormann, Insurance Math. Econom. 12 (1993)."""
    root = sqrt(mean)
    b = fma(root, 2.53, 0.931)
    a = fma(b, 0.02483, -0.059)
    inverse_alpha = 1.1328 / (b - 3.4) + 1.1239
    squeeze = 0.9277 - 3.6224 / (b - 2.0)
    log_mean = logarithm.log(mean)

    def going(trial: Term, _: Term, found: Term) -> Term:
        return found.apply("not") & (trial < MOST_TRIALS)

    def step(trial: Term, _: Term, __: Term) -> tuple[Term, Term, Term]:
        w0, w1, w2, w3 = stream.words(trial)
        u, v = _unit(w0, w1, DType.F64) - 0.5, _unit(w2, w3, DType.F64)
        us = 0.5 - abs(u)
        count = fma(a * 2.0 / us + b, u, mean + 0.43).apply("floor")
        sure = (us >= 0.07) & (v <= squeeze)
        never = (count < 0.0) | ((us < 0.013) & (v > us))
        left = logarithm.log(v * inverse_alpha / (a / (us * us) + b))
        right = _log_probability(count, mean, log_mean)
        return trial + 1, count, sure | (never.apply("not") & (left <= right))

    start = stream.words()[0]
    _, count, _ = repeat((start.like(0), mean.apply("floor"), few), going, step)
    return count


def _log_probability(count: Term, mean: Term, log_mean: Term) -> Term:
    """The logarithm of the probability of a count, to some 1e-11."""
    product = count.like(1.0)
    for factor in range(2, 16):
        product = product * select(count >= float(factor), count.like(float(factor)), 1.0)
    little = fma(count, log_mean, -mean) - logarithm.log(product)
    # Stirling's series, with what cancels taken out first.
    ratio = 1.0 / count
    square = ratio * ratio
    series = ratio * fma(square, fma(square, 1 / 1260, -1 / 360), 1 / 12)
    off = mean - count
    large = count * logarithm.log1p(off * ratio) - off
    large = large - logarithm.log(count * (2.0 * math.pi)) * 0.5 - series
    return select(count < 16.0, little, large)
