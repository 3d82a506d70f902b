"""No function of hawk.math is off by more units in the last place than it promises."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import hawk.math as own
from tests.unit.math.functions import ONE, SPECIAL, TWO, Row, draw, hard
from tests.unit.math.reference import exact_error

COUNT = 120
"""Numbers of each range."""

widths = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])


def worst(row: Row, dtype: Any, *columns: Any) -> tuple[float, Any]:
    """The greatest error, and for which numbers."""
    found: tuple[float, Any] = (0.0, None)
    with np.errstate(all="ignore"):
        for numbers in zip(*(column.astype(dtype) for column in columns), strict=True):
            given = numbers if dtype is np.float32 else [float(number) for number in numbers]
            off = exact_error(row, numbers, row.function(*given), dtype)
            if off > found[0]:
                found = (off, numbers)
    return found


@widths
@pytest.mark.parametrize("name", ONE)
def test_a_function_of_one_number(name: str, dtype: type) -> None:
    row, rng = ONE[name], np.random.default_rng(5)
    for range_ in row.wide if dtype is np.float64 else row.narrow:
        off, where = worst(row, dtype, draw(rng, range_, COUNT, positive=row.positive))
        assert off <= row.bound, (range_, where)


@widths
@pytest.mark.parametrize("name", ONE)
def test_a_function_where_it_is_hard(name: str, dtype: type) -> None:
    off, where = worst(ONE[name], dtype, hard(name, dtype))
    assert off <= ONE[name].bound, where


@widths
@pytest.mark.parametrize("name", TWO)
def test_a_function_of_two_numbers(name: str, dtype: type) -> None:
    row, rng = TWO[name], np.random.default_rng(6)
    for first, second in row.wide if dtype is np.float64 else row.narrow:
        columns = (
            draw(rng, first, COUNT, positive=row.positive),
            draw(rng, second, COUNT, positive=False),
        )
        off, where = worst(row, dtype, *columns)
        assert off <= row.bound, (first, second, where)


def _agree(got: Any, numpy: Any) -> bool:
    """The same special value, or nearly the same number."""
    if np.isnan(numpy) or np.isnan(got):
        return bool(np.isnan(numpy) and np.isnan(got))
    if got == numpy:
        return bool(np.signbit(got) == np.signbit(numpy))
    return bool(np.isfinite(got) and abs(got - numpy) <= 64 * np.spacing(np.abs(numpy)))


@widths
@pytest.mark.parametrize("name", ONE)
def test_special_values_are_those_of_numpy(name: str, dtype: Any) -> None:
    row = ONE[name]
    with np.errstate(all="ignore"):
        for number in map(dtype, SPECIAL):
            got = row.function(number if dtype is np.float32 else float(number))
            assert _agree(dtype(got), row.numpy(number)), (number, got, row.numpy(number))


@widths
@pytest.mark.parametrize("name", TWO)
def test_special_values_of_two_numbers_are_those_of_numpy(name: str, dtype: Any) -> None:
    row = TWO[name]
    with np.errstate(all="ignore"):
        for x, y in itertools.product(map(dtype, SPECIAL), repeat=2):
            if name == "pow" and y == 0.5:
                continue  # NumPy takes the root, whose signs are others than those of C99
            given = (x, y) if dtype is np.float32 else (float(x), float(y))
            got = row.function(*given)
            assert _agree(dtype(got), row.numpy(x, y)), (x, y, got, row.numpy(x, y))


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [(-0.0, 0.5, 0.0), (-math.inf, 0.5, math.inf), (-0.0, -1.0, -math.inf), (-1.0, math.inf, 1.0)],
)
def test_pow_is_that_of_c99(x: float, y: float, expected: float) -> None:
    got = own.pow(x, y)
    assert (expected, math.copysign(1, expected)) == (got, math.copysign(1, got))


def test_sincos_is_sin_and_cos() -> None:
    assert (own.sin(0.7), own.cos(0.7)) == own.sincos(0.7)


@pytest.mark.parametrize(
    "wrong", ["1", None, [1.0], np.ones(3), 1j, np.complex128(1), np.str_("1")]
)
def test_what_is_no_number_is_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match="take numbers, got .*; for arrays write a kernel"):
        own.exp(wrong)


def test_a_float32_gives_a_float32() -> None:
    assert isinstance(own.exp(np.float32(1)), np.float32)
    assert isinstance(own.exp(1), float)
