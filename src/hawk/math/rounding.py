"""Rounding, remainders, signs and choices: one or a few operations of the table each."""

from __future__ import annotations

from hawk.ir.types import DType
from hawk.math.terms import Term, select, trunc


def single(op: str, x: Term, *others: Term) -> Term:
    """An operation of the table that gives what it takes."""
    return x.apply(op, *others)


def question(op: str, x: Term) -> Term:
    """An operation of the table that gives a bool; of an integer the answer is known."""
    if not x.dtype.is_float:
        return x.apply("eq" if op == "isfinite" else "ne", x, gives=DType.BOOL)
    return x.apply(op, gives=DType.BOOL)


def round(x: Term) -> Term:
    """The nearest whole number, of two the one that is farther from 0."""
    whole = trunc(x)
    one = x.like(1.0).apply("copysign", x)
    return select(abs(x - whole) >= 0.5, whole + one, whole)


def fdim(x: Term, y: Term) -> Term:
    """How far x is above y, or 0; NaN if one of them is."""
    return select(x <= y, 0.0, x - y)


def sign(x: Term) -> Term:
    """-1, 0 or 1; of NaN it is NaN."""
    zero = x.like(0)
    same = select(x.apply("isnan", gives=DType.BOOL), x, zero) if x.dtype.is_float else zero
    return select(x > 0, x.like(1), select(x < 0, x.like(-1), same))


def clip(x: Term, low: Term, high: Term) -> Term:
    """x, or the end that it is beyond; a NaN stays."""
    raised = select(_wins(x, x > low), x, low)
    return select(_wins(raised, raised < high), raised, high)


def _wins(x: Term, test: Term) -> Term:
    return test | x.apply("isnan", gives=DType.BOOL) if x.dtype.is_float else test
