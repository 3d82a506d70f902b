"""Reductions of arrays, against the same on plain Python numbers, bit for bit."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from eagle.devices.host.reduce import reduce_array, reduce_lines
from hawk.ir.reduce import KINDS, reduce
from hawk.ir.types import DType

NUMBERS = [DType.F64, DType.F32, DType.I64, DType.I32, DType.U32]
FOR_NUMBERS = [kind for kind in KINDS if kind not in ("any", "all")]
LENGTHS = [0, 1, 2, 7, 1023, 1024, 1025, 5000]
CASES = [
    (kind, dtype)
    for kind in FOR_NUMBERS
    for dtype in NUMBERS
    if dtype.is_float or kind != "mean"  # integers become floats before
]


def bits(number: Any, dtype: DType) -> object:
    """What tells numbers apart: a NaN equals a NaN, -0.0 is not 0.0."""
    if isinstance(number, float):
        return "NaN" if number != number else struct.pack("d", number)
    return number, dtype


def same(kind: str, dtype: DType, numbers: np.ndarray, kept: np.ndarray | None) -> None:
    got = reduce_array(kind, dtype, numbers, kept)
    all_kept = [True] * len(numbers) if kept is None else kept.tolist()
    due = reduce(kind, dtype, numbers.tolist(), all_kept)
    assert bits(got, dtype) == bits(due, dtype)


def some(dtype: DType, count: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if dtype.is_float:
        return (rng.normal(size=count) * 10.0 ** rng.integers(-20, 20, count)).astype(dtype.numpy)
    limits = np.iinfo(dtype.numpy)
    return rng.integers(limits.min, limits.max, count, dtype=dtype.numpy)


@pytest.mark.parametrize(("kind", "dtype"), CASES, ids=[f"{k} {d.value}" for k, d in CASES])
@pytest.mark.parametrize("count", LENGTHS)
def test_arrays_of_any_length_give_the_bits_of_plain_numbers(
    kind: str, dtype: DType, count: int
) -> None:
    numbers = some(dtype, count)
    same(kind, dtype, numbers, None)
    same(kind, dtype, numbers, np.random.default_rng(1).random(count) < 0.5)
    same(kind, dtype, numbers, np.zeros(count, np.bool))


def test_blocks_of_blocks_are_added_in_the_same_order() -> None:
    same("sum", DType.F64, some(DType.F64, 1024 * 1024 + 3), None)


floats = st.one_of(
    st.floats(width=32), st.sampled_from([0.0, -0.0, float("inf"), float("-inf"), float("nan")])
)


@settings(max_examples=200)
@given(
    kind=st.sampled_from(FOR_NUMBERS),
    dtype=st.sampled_from([DType.F64, DType.F32]),
    numbers=arrays.arrays(np.float32, st.integers(0, 40), elements=floats),
    seed=st.integers(0, 9),
)
def test_special_numbers(kind: str, dtype: DType, numbers: np.ndarray, seed: int) -> None:
    kept = np.random.default_rng(seed).random(len(numbers)) < 0.7
    with np.errstate(all="ignore"):
        same(kind, dtype, numbers.astype(dtype.numpy), None)
        same(kind, dtype, numbers.astype(dtype.numpy), kept)


LIMITS = {d: [np.iinfo(d.numpy).min, np.iinfo(d.numpy).max, 1] for d in (DType.I32, DType.U32)}


@settings(max_examples=200)
@given(
    kind=st.sampled_from(KINDS),
    dtype=st.sampled_from([DType.F64, DType.F32, DType.I32, DType.U32]),
    shape=st.tuples(st.integers(0, 5), st.integers(0, 20)),
    seed=st.integers(0, 2**32 - 1),
    all_kept=st.booleans(),
)
def test_a_line_gives_the_bits_of_a_batch_of_its_own(
    kind: str, dtype: DType, shape: tuple[int, int], seed: int, *, all_kept: bool
) -> None:
    rng = np.random.default_rng(seed)
    special = LIMITS.get(dtype, [0.0, -0.0, np.inf, -np.inf, 1.5, 2.5, *[np.nan] * (seed % 2)])
    numbers, kept = rng.choice(special, shape).astype(dtype.numpy), rng.random(shape) < 0.5
    if kind == "mean" and not dtype.is_float:
        return  # integers become floats before
    if kind in ("any", "all"):
        numbers, dtype = numbers > 1, DType.BOOL
    with np.errstate(all="ignore"):
        got = reduce_lines(kind, dtype, numbers, None if all_kept else kept)
    assert got.shape == shape[:1]
    for line, keep, number in zip(numbers, kept, got.tolist(), strict=True):
        row = [True] * shape[1] if all_kept else keep.tolist()
        assert bits(number, dtype) == bits(reduce(kind, dtype, line.tolist(), row), dtype)


@pytest.mark.parametrize("count", [500, 513, 1023, 1024, 1025, 3000])
@pytest.mark.parametrize("dtype", [DType.F64, DType.F32, DType.I32])
def test_lines_of_any_length_are_added_in_that_order(dtype: DType, count: int) -> None:
    numbers, kept = some(dtype, 3 * count).reshape(3, count), some(dtype, 3 * count, 4) > 0
    for keep in (None, kept.reshape(3, count)):
        for place, total in enumerate(reduce_lines("sum", dtype, numbers, keep).tolist()):
            row = [True] * count if keep is None else keep[place].tolist()
            due = reduce("sum", dtype, numbers[place].tolist(), row)
            assert bits(total, dtype) == bits(due, dtype)


@pytest.mark.parametrize("kind", ["any", "all"])
@pytest.mark.parametrize("count", [0, 1, 5])
def test_truths(kind: str, count: int) -> None:
    for pattern in range(2**count):
        truths = np.array([pattern >> i & 1 for i in range(count)], np.bool)
        same(kind, DType.BOOL, truths, None)
        same(kind, DType.BOOL, truths, ~truths)


def test_the_least_of_zeros_is_the_negative_one() -> None:
    zeros = np.array([0.0, -0.0, 0.0])
    assert np.signbit(reduce_array("min", DType.F64, zeros, None))
    assert reduce_array("argmin", DType.F64, zeros, None) == 1
    assert not np.signbit(reduce_array("max", DType.F64, zeros[1:], None))


def test_a_sum_of_many_is_as_exact_as_one_of_few() -> None:
    tenths = np.full(10_000_000, 0.1)
    assert reduce_array("sum", DType.F64, tenths, None) == pytest.approx(1e6, rel=1e-15)
    narrow = np.full(1_000_000, 0.1, np.float32)
    total = reduce_array("sum", DType.F32, narrow, None)
    assert total == pytest.approx(float(np.float32(0.1)) * 1e6, rel=1e-6)
