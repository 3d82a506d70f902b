"""exp and its relatives.

x = n * ln 2 + r with n a whole number and abs(r) <= ln(2) / 2; then e**x = 2**n * e**r, and e**r
is a polynomial. The factor 2**n is applied in two halves, so that results at either end of the
range are rounded once.
"""

from __future__ import annotations

from hawk.math import coefficients as c
from hawk.math.terms import (
    Term,
    bits_of,
    copysign,
    fast_two_sum,
    fma,
    from_bits,
    isnan,
    polynomial,
    quotient,
    select,
    two_sum,
    unless,
)


def magic(x: Term) -> float:
    """What rounds a small number to an integer, in the low bits of the sum."""
    return x.of(1.5 * 2.0**52, 1.5 * 2.0**23)


def power_of_two(n: Term) -> Term:
    """2**n for a whole number n at which that is a normal float."""
    shift, bias = n.of(52, 23), n.of(1023, 127)
    return from_bits(bits_of(n + (magic(n) + bias)) << shift)


def scaled(x: Term, n: Term) -> Term:
    """The product x * 2**n, rounded once, for a whole number n up to twice the largest exponent."""
    half = (n * 0.5 + magic(n)) - magic(n)
    return x * power_of_two(half) * power_of_two(n - half)


def _turned(x: Term) -> tuple[Term, Term, Term]:
    """For x = n * ln 2 + r: `magic` plus n, n, and r without its last part."""
    per_ln2, (high, _) = x.of(c.PER_LN2_64, c.PER_LN2_32)[0], x.of(c.LN2_64, c.LN2_32)
    turned = fma(x, per_ln2, magic(x))
    n = turned - magic(x)
    return turned, n, fma(-n, high, x)  # exact: `high` ends in as many zeros as n has bits


def reduced(x: Term) -> tuple[Term, Term, Term]:
    """n, r and what r lost, with x = n * ln 2 + r."""
    _, low = x.of(c.LN2_64, c.LN2_32)
    _, n, head = _turned(x)
    r = fma(-n, low, head)
    return n, r, fma(-n, low, head - r)


def between(x: Term, low: float, high: float) -> Term:
    """x, or the end that it is beyond; a NaN becomes an end."""
    return select(x > low, select(x < high, x, high), low)


def exp(x: Term) -> Term:
    """The exponential, e ** x."""
    turned, n, head = _turned(x)
    _, low = x.of(c.LN2_64, c.LN2_32)
    usual = scaled_by_bits(near_one(fma(-n, low, head), None), turned)
    return unless(abs(x) < x.of(708.0, 87.0), lambda: _exp_anywhere(x), usual)


def _exp_anywhere(x: Term) -> Term:
    """`exp` of a number whose exponential may be subnormal, 0 or infinite, or of NaN."""
    n, r, _ = reduced(between(x, *x.of((-746.0, 710.0), (-104.0, 89.0))))
    return select(isnan(x), x, scaled(near_one(r, None), n))


def scaled_by_bits(x: Term, turned: Term) -> Term:
    """The product x * 2**n, where both are normal; `turned` is `magic` plus n."""
    return from_bits(bits_of(x) + (bits_of(turned) << x.of(52, 23)))


def near_one(r: Term, lost: Term | None) -> Term:
    """e**r; `lost` is what r lost, where that counts."""
    head, rest = near_one_parts(r, lost)
    return head + rest


def near_one_parts(r: Term, lost: Term | None) -> tuple[Term, Term]:
    """e**r as a float near 1 and what is to be added to it, which is not small."""
    head = 1.0 + r
    rest = r - (head - 1.0)
    tail = polynomial(r, r.of(c.EXP_64, c.EXP_32))
    return head, fma(r * r, tail, rest if lost is None else rest + lost)


def exp2(x: Term) -> Term:
    """2 ** x."""
    inside = between(x, *x.of((-1076.0, 1025.0), (-151.0, 129.0)))
    n = (inside + magic(x)) - magic(x)
    f = inside - n
    head, rest = x.of(c.LN2_FULL_64, c.LN2_FULL_32)
    r = f * head
    lost = fma(f, rest, fma(f, head, -r))
    return select(isnan(x), x, scaled(near_one(r, lost), n))


def expm1(x: Term) -> Term:
    """The exponential less one, with all its places where x is small."""
    head, tail, n = less_one(between(x, *x.of((-40.0, 710.0), (-20.0, 89.0))))
    result = scaled(head + tail, n)
    small = abs(x) < x.of(2.0**-54, 2.0**-25)
    return select(small | isnan(x), x, result)


def less_one(x: Term) -> tuple[Term, Term, Term]:
    """e**x - 1 as (head + tail) * 2**n."""
    n, r, lost = reduced(x)
    square = r * r
    tail = polynomial(r, x.of(c.EXP_64, c.EXP_32))
    less = fma(square, tail, r)  # e**r - 1
    lost = fma(square, tail, r - less) + fma(lost, less, lost)
    # 2**n * (e**r - 2**-n); where 2**-n is too small to count it need not be right
    one = power_of_two(-between(n, -100.0, 100.0))
    offset = 1.0 - one
    total, rest = two_sum(offset, less)
    head, tail = fast_two_sum(total, rest + (lost + ((1.0 - offset) - one)))
    return head, tail, n


def _less_one_pair(x: Term) -> tuple[Term, Term]:
    """e**x - 1 as a pair, for numbers from 0 to 44."""
    head, tail, n = less_one(x)
    scale = power_of_two(n)
    return head * scale, tail * scale


def _with_sign(x: Term, result: Term, small: float) -> Term:
    """The value of an odd function, given that for abs(x); x itself where that is small."""
    signed = copysign(result, select(isnan(x), 1.0, x))
    return select((abs(x) < small) | isnan(x), x, signed)


def _large(x: Term) -> Term:
    """exp(abs(x)) / 2, also where exp(x) is infinite."""
    n, r, _ = reduced(between(abs(x), *x.of((0.0, 711.0), (0.0, 90.0))))
    return scaled(near_one(r, None), n - 1.0)


def sinh(x: Term) -> Term:
    """The hyperbolic sine: (e**x - e**-x) / 2."""
    m, m_low = _less_one_pair(between(abs(x), 0.0, x.of(22.0, 10.0)))
    # With m = e**x - 1 it is (m + m / (m + 1)) / 2.
    below, below_low = fast_two_sum(select(m > 1.0, m, 1.0), select(m > 1.0, 1.0, m))
    share, share_low = quotient(m, m_low, below, below_low + m_low)
    total, lost = fast_two_sum(m, share)
    result = (total + (lost + (m_low + share_low))) * 0.5
    result = select(abs(x) > x.of(22.0, 10.0), _large(x), result)
    return _with_sign(x, result, x.of(2.0**-27, 2.0**-13))


def cosh(x: Term) -> Term:
    """The hyperbolic cosine: (e**x + e**-x) / 2."""
    n, r, lost = reduced(between(abs(x), 0.0, x.of(22.0, 10.0)))
    head = 1.0 + r
    rest = r - (head - 1.0)
    rest = fma(r * r, polynomial(r, x.of(c.EXP_64, c.EXP_32)), rest + lost)
    scale = power_of_two(n - 1.0)
    head, rest = head * scale, rest * scale
    other = 0.25 / (head + rest)
    total, lost = fast_two_sum(head, other)
    result = total + (lost + rest)
    result = select(abs(x) > x.of(22.0, 10.0), _large(x), result)
    return select(isnan(x), x, result)


def tanh(x: Term) -> Term:
    """The hyperbolic tangent: sinh(x) / cosh(x)."""
    # With m = e**2x - 1 it is m / (m + 2).
    m, m_low = _less_one_pair(between(abs(x), 0.0, x.of(20.0, 9.5)) * 2.0)
    below, lost = fast_two_sum(select(m > 2.0, m, 2.0), select(m > 2.0, 2.0, m))
    head, low = quotient(m, m_low, below, lost + m_low)
    return _with_sign(x, head + low, x.of(2.0**-28, 2.0**-13))
