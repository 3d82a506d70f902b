"""sin, cos and tan, for every finite number.

x = n * pi/2 + r with n a whole number and abs(r) <= pi / 4, r as a pair of floats. pi / 2 has three
parts; with fma the first difference is exact and the others keep what they lose. Next to a multiple
of pi/2 all three count, elsewhere two. Where n would be too large for that, x is multiplied by the
bits of 2 / pi that count. Ordinary samples need neither. Payne and Hanek, SIGNUM Newsletter 18,
1983; Cody and Waite, 1980.
"""

from __future__ import annotations

from collections.abc import Callable

from hawk.math import coefficients as c
from hawk.math.exponential import magic
from hawk.math.terms import (
    Term,
    bits_of,
    fast_two_sum,
    fma,
    from_bits,
    polynomial,
    quotient,
    rint,
    select,
    to_f32,
    to_f64,
    to_i32,
    two_product,
    two_sum,
    where,
)

CHUNK, WINDOW = 40, 6
"""Bits of 2 / pi in each of its parts, and parts that count for one number."""
NO_MORE = (0.0,) * (WINDOW + 31 - len(c.BITS_OF_TWO_OVER_PI))
"""Parts that no float64 is large enough for."""


def _reduced(x: Term) -> tuple[tuple[Term, Term, Term], Term]:
    """The low bits of n as an integer and r as a pair; and whether that is wrong.

    So it is next to a multiple of pi/2, and where x is so large that r may be seen as next to one.
    """
    turned = fma(x, x.of(c.TWO_OVER_PI_64, c.TWO_OVER_PI_32)[0], magic(x))
    n = turned - magic(x)
    first, second, _ = x.of(c.HALF_PI_64, c.HALF_PI_32)
    head = fma(-n, first, x)  # exact: both are multiples of one last place, and nearly the same
    high = fma(-n, second, head)
    low = fma(-n, second, head - high)  # exact, where `head` is not much larger than `high`
    # Is it less than 2**-32, or 2**-19, of x? The bits tell, and multipliers have enough to do.
    rare = bits_of(abs(high)) < bits_of(abs(x)) - x.of(32 << 52, 19 << 23)
    return (bits_of(turned), high, low), rare


def _of_reduced(
    x: Term, function: Callable[[Term, Term, Term], tuple[Term, ...]]
) -> tuple[Term, ...]:
    """`function` of what x is reduced to.

    It is written in the branch that samples seldom take, too: so few values are held across that.
    """
    usual, rare = _reduced(x)
    return where(rare, lambda: function(*_reduced_anywhere(x)), function(*usual))


def _reduced_anywhere(x: Term) -> tuple[Term, Term, Term]:
    """The low bits of n as an integer, and r as a pair, of any number."""
    turned = fma(x, x.of(c.TWO_OVER_PI_64, c.TWO_OVER_PI_32)[0], magic(x))
    n = turned - magic(x)
    first, second, third = x.of(c.HALF_PI_64, c.HALF_PI_32)
    head = fma(-n, first, x)  # exact: both are multiples of one last place, and nearly the same
    product, rest = two_product(-n, second)
    high, lost = two_sum(head, product)  # next to a multiple of pi/2 it is the smaller one
    near = (bits_of(turned), high, fma(-n, third, lost + rest))
    large = abs(x) > x.of(2.0**20, 2.0**12)
    quadrant, r, low = where(large, lambda: x.of(_far, _far_narrow)(x), near)
    return quadrant, r, low


def _far(x: Term) -> tuple[Term, Term, Term]:
    """`_reduced_anywhere` of a large float64: x * 2/pi without multiples of 4, to 2**-130."""
    size = abs(x)
    last = (bits_of(size) >> 52) - (1023 + 52)  # the exponent of its last bit
    above = select(last > 2, last - 2, 0)
    skipped = (above * 6554) >> 18  # above // 40: parts that give multiples of 4 only
    parts = [x.like(part) for part in (*c.BITS_OF_TWO_OVER_PI, *NO_MORE)]
    for bit in (16, 8, 4, 2, 1):
        there = (skipped & bit).differs(0)
        needed = range(WINDOW + bit - 1)
        parts = [select(there, parts[k + bit], parts[k]) for k in needed]
    size = size * from_bits((1023 - skipped * CHUNK) << 52)
    terms: list[Term] = []
    for place, part in enumerate(parts):
        terms += two_product(size, part * 2.0 ** (-CHUNK * place))
    total, lost = _sum([term - 4.0 * rint(term * 0.25) for term in terms])
    n = rint(total)
    high, lost = _sum([total - n, *lost])
    low = lost[0]
    for each in lost[1:]:
        low = low + each
    turn, rest = c.HALF_PI_64[:2]
    product, below = two_product(high, turn)
    high, low = fast_two_sum(product, fma(high, rest, fma(low, turn, below)))
    negative = x < 0.0
    quadrant = bits_of(select(negative, -n, n) + magic(x))
    return quadrant, select(negative, -high, high), select(negative, -low, low)


def _far_narrow(x: Term) -> tuple[Term, Term, Term]:
    """`_reduced_anywhere` of a large float32, by way of float64."""
    quadrant, high, low = _reduced_anywhere(to_f64(x))
    narrow = to_f32(high)
    return to_i32(quadrant), narrow, to_f32((high - to_f64(narrow)) + low)


def _sum(terms: list[Term]) -> tuple[Term, list[Term]]:
    """A sum, and what it lost term by term: exactly."""
    total, lost = terms[0], []
    for term in terms[1:]:
        total, rest = two_sum(total, term)
        lost.append(rest)
    return total, lost


def _sine(r: Term, low: Term) -> tuple[Term, Term]:
    """sin(r + low) as r and what is to be added to it."""
    z = r * r
    tail = polynomial(z, r.of(c.SIN_64, c.SIN_32))
    return r, fma(r * z, tail, low * fma(z, -0.5, 1.0))


def _cosine(r: Term, low: Term) -> tuple[Term, Term]:
    """cos(r + low) as a number near 1 and what is to be added to it."""
    z = r * r
    head = fma(z, -0.5, 1.0)
    rest = fma(-r, low, fma(z, -0.5, 1.0 - head))
    tail = polynomial(z, r.of(c.COS_64, c.COS_32))
    return head, fma(z * z, tail, rest)


def _both(r: Term, low: Term) -> tuple[Term, Term]:
    """The sine and the cosine of r + low."""
    (s, s_low), (k, k_low) = _sine(r, low), _cosine(r, low)
    return s + s_low, k + k_low


def _turned(quadrant: Term, sine: Term, cosine: Term, like: Term | None = None) -> Term:
    """The sine so many quadrants ahead; with the other sign where `like` has one."""
    turns = quadrant << sine.of(62, 30)
    result = select((quadrant & 1).differs(0), cosine, sine)
    sign = turns if like is None else turns ^ bits_of(like)
    return from_bits(bits_of(result) ^ (sign & result.of(-(2**63), -(2**31))))


def sincos(x: Term) -> tuple[Term, Term]:
    """The sine and the cosine of x, in radians."""

    def of_reduced(quadrant: Term, r: Term, low: Term) -> tuple[Term, Term]:
        both = _both(r, low)
        return _turned(quadrant, *both, like=x), _turned(quadrant + 1, *both)

    s, k = _of_reduced(abs(x), of_reduced)
    return s, k


def sin(x: Term) -> Term:
    """The sine of x, in radians."""
    (s,) = _of_reduced(abs(x), lambda quadrant, *r: (_turned(quadrant, *_both(*r), like=x),))
    return s


def cos(x: Term) -> Term:
    """The cosine of x, in radians: the sine a quadrant ahead.

    It takes the same steps as `sin` until then, so both of one number cost little more than one.
    """
    (k,) = _of_reduced(abs(x), lambda quadrant, *r: (_turned(quadrant + 1, *_both(*r)),))
    return k


def _small_itself(x: Term, result: Term) -> Term:
    return select(abs(x) < x.of(2.0**-27, 2.0**-13), x, result)


def sine_of_turns(x: Term) -> tuple[Term, Term]:
    """sin(pi * x) as a pair, exactly 0 where x is a whole number."""
    n = rint(x)
    f = x - n  # exact
    size = abs(f)
    steep = size > 0.25
    part = select(steep, 0.5 - size, size)
    pi, pi_low = x.of(c.PI_64, c.PI_32)
    r, low = two_product(part, pi)
    low = fma(part, pi_low, low)
    s, s_low = fast_two_sum(*_sine(r, low))
    k, k_low = fast_two_sum(*_cosine(r, low))
    half = n * 0.5
    odd = rint(half).differs(half)
    negative = odd.apply("xor", f < 0.0)
    head, rest = select(steep, k, s), select(steep, k_low, s_low)
    return select(negative, -head, head), select(negative, -rest, rest)


def _tangent(quadrant: Term, r: Term, low: Term) -> tuple[Term]:
    s, s_low = fast_two_sum(*_sine(r, low))
    k, k_low = fast_two_sum(*_cosine(r, low))
    odd = (quadrant & 1).differs(0)
    above, above_low = select(odd, k, s), select(odd, k_low, s_low)
    below, below_low = select(odd, -s, k), select(odd, -s_low, k_low)
    first, rest = quotient(above, above_low, below, below_low)
    return (first + rest,)


def tan(x: Term) -> Term:
    """The tangent of x, in radians."""
    return _small_itself(x, *_of_reduced(x, _tangent))
