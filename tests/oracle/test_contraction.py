"""Which products are rounded once with their sum, told by exact arithmetic alone."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from hawk import reference
from tests.oracle.harness import load

A, B, C, D = 1.0 + 2.0**-30, 1.0 - 2.0**-29, -(1.0 + 2.0**-31), 1.0 + 2.0**-28
ROWS = ((A, B, C, D), (A, B, -C, D))
"""Numbers whose products do not fit a float64 and are close to each other, with both signs."""


def fma(x: float, y: float, z: float) -> float:
    """`x * y + z`, rounded once."""
    return float(Fraction(x) * Fraction(y) + Fraction(z))


MEANINGS: dict[str, Callable[[float, float, float, float], float]] = {
    "a * b + c": lambda a, b, c, d: fma(a, b, c),
    "c + a * b": lambda a, b, c, d: fma(a, b, c),
    "a * b - c": lambda a, b, c, d: fma(a, b, -c),
    "c - a * b": lambda a, b, c, d: fma(-a, b, c),
    "a * b + c * d": lambda a, b, c, d: fma(a, b, c * d),
    "a * b - c * d": lambda a, b, c, d: fma(a, b, -(c * d)),
    "c * d + a * b": lambda a, b, c, d: fma(c, d, a * b),
    "d + a * b + c": lambda a, b, c, d: fma(a, b, d) + c,
    "a * b + c + d": lambda a, b, c, d: fma(a, b, c) + d,
    "a * b * c + d": lambda a, b, c, d: fma(a * b, c, d),
    "a * (b * c) + d": lambda a, b, c, d: fma(a, b * c, d),
    "a * (b * c + d)": lambda a, b, c, d: a * fma(b, c, d),
    "-(a * b) + c": lambda a, b, c, d: -(a * b) + c,
    "-a * b + c": lambda a, b, c, d: fma(-a, b, c),
    "a * b / d + c": lambda a, b, c, d: a * b / d + c,
    "(a * b if a > 0 else d) + c": lambda a, b, c, d: a * b + c,
    "2 * a + c": lambda a, b, c, d: fma(2.0, a, c),
    "a * b + 1": lambda a, b, c, d: fma(a, b, 1.0),
    "float(a * b) + c": lambda a, b, c, d: a * b + c,
    "abs(a * b) + c": lambda a, b, c, d: abs(a * b) + c,
    "a * b == a * b": lambda a, b, c, d: 1.0,
}
"""Expressions, and what they mean."""


def run(body: str, **options: bool) -> list[list[float]]:
    """What CPython, the interpreter and compiled code make of a body, row by row."""
    settings = ", ".join(f"{name}={value}" for name, value in options.items())
    kernel = load(
        "import hawk\nfrom hawk import Scalar\n"
        "def helper(x, y):\n    return x * y\n"
        f"@hawk.kernel({settings})\n"
        f"def kernel(a: Scalar, b: Scalar, c: Scalar, d: Scalar) -> Scalar:\n{body}\n"
    )
    planes = [np.array(column) for column in zip(*ROWS, strict=True)]
    slow = [way(kernel, *planes)["out"] for way in (reference.run_python, reference.interpret)]
    return [out.tolist() for out in (*slow, kernel(*planes))]


@pytest.mark.parametrize("text", MEANINGS)
def test_in_one_expression_a_product_and_its_sum_are_rounded_once(text: str) -> None:
    wanted = [MEANINGS[text](*row) for row in ROWS]
    body = f"    return float({text})" if "==" in text else f"    return {text}"
    assert [wanted] * 3 == run(body)


@pytest.mark.parametrize(
    ("body", "meaning"),
    [
        ("    x = c\n    x += a * b\n    return x", lambda a, b, c: fma(a, b, c)),
        ("    x = c\n    x -= a * b\n    return x", lambda a, b, c: fma(-a, b, c)),
        ("    x = a\n    x *= b\n    return x + c", lambda a, b, c: a * b + c),
        ("    product = a * b\n    return product + c", lambda a, b, c: a * b + c),
        ("    return helper(a, b) + c", lambda a, b, c: a * b + c),
        ("    return (lambda x: x * b)(a) + c", lambda a, b, c: a * b + c),
        ("    x, y = a * b, c\n    return x + y", lambda a, b, c: a * b + c),
    ],
)
def test_a_name_or_a_call_ends_an_expression(
    body: str, meaning: Callable[[float, float, float], float]
) -> None:
    assert [[meaning(*row[:3]) for row in ROWS]] * 3 == run(body)


@pytest.mark.parametrize("text", ["a * b + c", "c - a * b", "a * b + c * d"])
def test_without_contraction_every_operation_is_rounded(text: str) -> None:
    wanted = [eval(text, dict(zip("abcd", row, strict=True))) for row in ROWS]
    assert [wanted] * 3 == run(f"    return {text}", contract=False)
    assert wanted != [MEANINGS[text](*row) for row in ROWS], "these numbers would not tell"
