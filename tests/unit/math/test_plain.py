"""Functions of hawk.math that are operations, outside of kernels: numbers, signs, types."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import hawk.math as own


def same(got: Any, due: Any) -> bool:
    """The same number, with its sign, of the same type."""
    if isinstance(due, float) and math.isnan(due):
        return math.isnan(got)
    return type(got) is type(due) and got == due and math.copysign(1, got) == math.copysign(1, due)


@pytest.mark.parametrize(
    ("got", "due"),
    [
        (own.floor(-0.5), -1.0), (own.ceil(-0.5), -0.0), (own.trunc(-1.5), -1.0),
        (own.rint(2.5), 2.0), (own.rint(-0.5), -0.0),
        (own.round(2.5), 3.0), (own.round(-2.5), -3.0), (own.round(-0.3), -0.0),
        (own.round(0.49999999999999994), 0.0), (own.round(2.0**52 + 1), 2.0**52 + 1),
        (own.round(math.inf), math.inf), (own.round(math.nan), math.nan),
        (own.fmod(-5.5, 2.0), -1.5), (own.remainder(-5.5, 2.0), 0.5),
        (own.fmod(-5, 2), -1), (own.remainder(-5, 2), 1),
        (own.minimum(0.0, -0.0), -0.0), (own.minimum(-0.0, 0.0), -0.0),
        (own.maximum(-0.0, 0.0), 0.0), (own.maximum(0.0, -0.0), 0.0),
        (own.minimum(math.nan, 1.0), 1.0), (own.maximum(1.0, math.nan), 1.0),
        (own.minimum(math.nan, math.nan), math.nan), (own.minimum(3, 2), 2),
        (own.clip(math.nan, 0.0, 1.0), math.nan), (own.clip(5.0, 0.0, 1.0), 1.0),
        (own.clip(-5, 0, 1), 0), (own.clip(0.5, math.nan, 1.0), math.nan),
        (own.sign(-0.0), 0.0), (own.sign(-3), -1), (own.sign(math.nan), math.nan),
        (own.fdim(3.0, 1.0), 2.0), (own.fdim(1.0, 3.0), 0.0), (own.fdim(math.nan, 1.0), math.nan),
        (own.fdim(math.inf, math.inf), 0.0),
        (own.fma(1.0 + 2.0**-52, 1.0 - 2.0**-52, -1.0), -(2.0**-104)),
        (own.copysign(1.0, math.nan), 1.0), (own.copysign(-2.0, 1.0), 2.0),
        (own.where(True, 1, 2), 1), (own.where(False, 1, 2.5), 2.5),
        (own.isnan(math.nan), True), (own.isinf(-math.inf), True), (own.isfinite(3), True),
        (own.isnan(7), False),
        (own.floor(np.float32(1.5)), np.float32(1.0)),
        (own.minimum(np.float32(1), np.float32(2)), np.float32(1)),
        (own.clip(np.float32(0.1), 0.0, 1.0), np.float32(0.1)),
        (own.minimum(np.float32(1), np.float64(2)), 1.0),
        (own.rsqrt(0.0), math.inf), (own.rsqrt(-0.0), -math.inf), (own.rsqrt(math.inf), 0.0),
        (own.rsqrt(-1.0), math.nan), (own.rsqrt(5e-324), 4.4989137945431964e161),
    ],
)  # fmt: skip
def test_an_operation(got: Any, due: Any) -> None:
    assert same(got, due)


def test_an_integer_that_does_not_fit_is_refused() -> None:
    with pytest.raises(OverflowError, match="integers of 64 bits, got 1180591620717411303424"):
        own.minimum(2**70, 1)


@pytest.mark.parametrize("wrong", ["1", None, np.ones(3)])
def test_what_is_no_number_is_refused(wrong: Any) -> None:
    for call in (own.minimum, own.copysign, lambda x, y: own.where(x, y, y)):
        with pytest.raises(TypeError, match="take numbers, got .*; for arrays write a kernel"):
            call(wrong, 1.0)
