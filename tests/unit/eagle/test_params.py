"""Numbers for parameters."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle.params import is_number, shown, to_number, whole
from hawk.ir.types import DType


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (2, DType.F64, 2.0),
        (0.1, DType.F64, 0.1),
        (0.1, DType.F32, float(np.float32(0.1))),
        (np.float32(0.1), DType.F64, float(np.float32(0.1))),
        (np.float16(0.5), DType.F32, 0.5),
        (np.array(2.5), DType.F64, 2.5),
        (np.int8(-3), DType.F32, -3.0),
        (math.inf, DType.F32, math.inf),
        (np.longdouble("-inf"), DType.F64, -math.inf),
        (3.0, DType.I32, 3),
        (np.array(7, np.uint8), DType.I64, 7),
        (2**32 - 1, DType.U32, 2**32 - 1),
        (-(2**63), DType.I64, -(2**63)),
        (True, DType.BOOL, True),
        (np.bool(False), DType.BOOL, False),
    ],
)
def test_a_number_becomes_the_type_of_its_parameter(
    value: Any, dtype: DType, expected: Any
) -> None:
    number = to_number(value, dtype)

    assert expected == number
    assert type(expected) is type(number)


@pytest.mark.parametrize(
    ("value", "dtype", "message"),
    [
        (True, DType.F64, "expected a number (float64), got True"),
        ("1", DType.F64, "expected a number (float64), got '1'"),
        (None, DType.F32, "expected a number (float32), got None"),
        (1j, DType.F64, "expected a number (float64), got 1j"),
        ([1.0], DType.F64, "expected a number (float64), got a list"),
        (np.ones(1), DType.F64, "expected a number (float64), got an array of float64 (1,)"),
        (Fraction(1, 3), DType.F64, "expected a number (float64), got a fractions.Fraction"),
        (10**400, DType.F64, "expected a number that fits float64, got an integer of 1329 bits"),
        (1e300, DType.F32, "expected a number that fits float32, got 1e+300"),
        (2.5, DType.I32, "expected a whole number (int32), got 2.5"),
        (math.nan, DType.I64, "expected a whole number (int64), got nan"),
        (math.inf, DType.I64, "expected a whole number (int64), got inf"),
        (True, DType.I32, "expected a whole number (int32), got True"),
        (
            2**31,
            DType.I32,
            "expected a whole number from -2147483648 to 2147483647 (int32), got 2147483648",
        ),
        (-1, DType.U32, "expected a whole number from 0 to 4294967295 (uint32), got -1"),
        (1, DType.BOOL, "expected a bool (bool), got 1"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_was_expected(
    value: Any, dtype: DType, message: str
) -> None:
    with pytest.raises(ValueError, match="expected") as caught:
        to_number(value, dtype)

    assert message == str(caught.value)


def nearest_float32(exact: Fraction) -> float:
    """The float32 nearest to `exact`, ties to even, computed with fractions only."""
    size = abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length() - 24
    while size / Fraction(2) ** exponent >= 2**24:
        exponent += 1
    kept = round(size / Fraction(2) ** exponent)  # Fraction rounds half to even
    return math.copysign(float(kept * Fraction(2) ** exponent), exact)


@given(st.integers(min_value=-(2**120), max_value=2**120).filter(bool))
def test_an_integer_is_rounded_to_float32_once(number: int) -> None:
    assert nearest_float32(Fraction(number)) == to_number(number, DType.F32)


def test_a_long_integer_just_above_a_tie_is_rounded_up() -> None:
    # In float64 first it would become the tie itself, and then go down to even.
    number = (2**24 + 1) * 2**40 + 1

    assert (2**24 + 2) * 2**40 == to_number(number, DType.F32)


@pytest.mark.parametrize("value", [1, 2.5, True, np.float32(1), np.array(3)])
def test_numbers_are_numbers(value: Any) -> None:
    assert is_number(value)


@pytest.mark.parametrize("value", [None, "1", [1], np.ones(1)])
def test_other_things_are_none(value: Any) -> None:
    assert not is_number(value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(5, 5), (np.int16(5), 5), (True, None), (np.bool(True), None), (2.0, None), ("5", None)],
)
def test_whole_numbers_are_integers_of_python_and_numpy(value: Any, expected: int | None) -> None:
    assert expected == whole(value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.ones((2, 3), np.float32), "an array of float32 (2, 3)"),
        ("a" * 100, "'" + "a" * 37 + "...'"),
        ((1, 2), "a tuple"),
        (object(), "an object"),
        (np.float32(2), "2.0"),
    ],
)
def test_values_are_shown_in_less_than_a_line(value: Any, expected: str) -> None:
    assert expected == shown(value)
