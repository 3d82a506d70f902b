"""Giving to a table natively, against the same on plain Python numbers, bit for bit."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eagle.devices.host.memory import address_of
from hawk.ir.scatter import kinds_of, scatter
from hawk.ir.types import DType
from hawk.targets import native

CASES = [(kind, dtype) for dtype in DType for kind in kinds_of(dtype)]
SPECIAL = [0.0, -0.0, float("inf"), -float("inf"), float("nan"), 5e-324, -1e-310, 1.5, -2.5]


def natively(
    kind: str, dtype: DType, table: np.ndarray, spots: np.ndarray, values: np.ndarray
) -> None:
    routine = native.scatters()[kind, dtype]
    routine(address_of(table), table.size, address_of(spots), address_of(values), spots.size)


def bits(numbers: list[Any]) -> list[object]:
    """What tells numbers apart: a NaN equals a NaN, -0.0 is not 0.0."""
    return [
        number
        if not isinstance(number, float)
        else ("NaN" if number != number else struct.pack("d", number))
        for number in numbers
    ]


def same(kind: str, dtype: DType, table: np.ndarray, spots: np.ndarray, values: np.ndarray) -> None:
    due = table.tolist()
    scatter(kind, dtype, due, spots.tolist(), values.tolist())
    natively(kind, dtype, table, spots, values)
    assert bits(due) == bits(table.tolist())
    assert not spots.any()


def some(dtype: DType, count: int, rng: np.random.Generator) -> np.ndarray:
    if dtype is DType.BOOL:
        return rng.random(count) < 0.5
    if dtype.is_float:
        return (rng.normal(size=count) * 10.0 ** rng.integers(-20, 20, count)).astype(dtype.numpy)
    limits = np.iinfo(dtype.numpy)
    return rng.integers(limits.min, limits.max, count, dtype=dtype.numpy)


@pytest.mark.parametrize(("kind", "dtype"), CASES, ids=[f"{k} {d.value}" for k, d in CASES])
@pytest.mark.parametrize("count", [0, 1, 7, 1000])
def test_numbers_are_given_in_order(kind: str, dtype: DType, count: int) -> None:
    rng = np.random.default_rng(count)
    spots = rng.integers(0, 6, count).astype(np.int32)
    with np.errstate(all="ignore"):
        same(kind, dtype, some(dtype, 5, rng), spots, some(dtype, count, rng))


@settings(max_examples=200)
@given(
    kind=st.sampled_from(["add", "min", "max"]),
    dtype=st.sampled_from([DType.F64, DType.F32]),
    table=st.lists(st.sampled_from(SPECIAL), min_size=2, max_size=2),
    given_=st.lists(st.tuples(st.integers(0, 2), st.sampled_from(SPECIAL)), max_size=9),
)
def test_special_numbers(kind: str, dtype: DType, table: Any, given_: Any) -> None:
    spots = np.array([spot for spot, _ in given_], np.int32)
    with np.errstate(all="ignore"):
        values = np.array([value for _, value in given_], dtype.numpy)
        same(kind, dtype, np.array(table, dtype.numpy), spots, values)


def test_what_is_no_place_of_the_table_is_left_out() -> None:
    table, values = np.zeros(3), np.ones(5)
    natively("add", DType.F64, table[:2], np.array([3, -1, -(2**31), 2, 0], np.int32), values)
    assert table.tolist() == [0.0, 1.0, 0.0]


def test_what_was_given_is_not_given_again() -> None:
    table, values, spots = np.zeros(2), np.ones(4), np.array([1, 2, 2, 0], np.int32)
    for _ in range(3):
        natively("add", DType.F64, table, spots, values)
    assert table.tolist() == [1.0, 2.0]
