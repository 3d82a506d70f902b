"""What an array is to eagle."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle.planes import convert, is_array, is_plane, misfit, overlap, same_plane
from hawk.ir.types import DType


@pytest.mark.parametrize("dtype", DType)
def test_a_contiguous_array_of_its_type_is_a_plane(dtype: DType) -> None:
    assert is_plane(np.zeros(5, dtype.numpy), dtype, (5,), written=True)


READ_ONLY = np.zeros(4)
READ_ONLY.flags.writeable = False
UNALIGNED = np.frombuffer(bytearray(33), np.uint8)[1:].view(np.float64)
BIG_ENDIAN = np.zeros(4, np.dtype(np.float64).newbyteorder())
STRUCTURED = np.zeros(4, [("a", "f8"), ("b", "f8")])


class Tensor:
    """An array of another library."""


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            np.zeros(4, "f4"),
            "expected float64 (4,), got float32 (4,); write x.astype(np.float64)",
        ),
        (np.zeros(4, int), "expected float64 (4,), got int64 (4,); write x.astype(np.float64)"),
        (np.zeros(4, complex), "expected float64 (4,), got complex128 (4,)"),
        (np.zeros(4, object), "expected float64 (4,), got object (4,)"),
        (np.zeros(3), "expected float64 (4,), got float64 (3,)"),
        (np.zeros((4, 1)), "expected float64 (4,), got float64 (4, 1); write x.reshape(-1)"),
        (np.zeros((4, 4)), "expected float64 (4,), got float64 (4, 4)"),
        (np.zeros(()), "expected float64 (4,), got float64 (); write np.full(4, x)"),
        (
            np.zeros(8)[::2],
            (
                "expected float64 (4,), got one with a stride of 16 bytes; "
                "write np.ascontiguousarray(x)"
            ),
        ),
        (
            READ_ONLY,
            "expected float64 (4,), got a read-only array, and it is written; write x.copy()",
        ),
        (
            UNALIGNED,
            (
                "expected float64 (4,), got one at an address that is not a multiple of its size; "
                "write x.copy()"
            ),
        ),
        (
            BIG_ENDIAN,
            (
                "expected float64 (4,), got one in the other byte order (>f8); "
                "write x.astype(np.float64)"
            ),
        ),
        (
            STRUCTURED,
            (
                "expected float64 (4,), got a structured array of a, b; "
                "write np.ascontiguousarray(x['a'])"
            ),
        ),
        (
            np.ma.zeros(4),
            "expected float64 (4,), got an array of float64 (4,); write x.filled(...)",
        ),
        (
            [0.0] * 4,
            "expected float64 (4,), got a list; write np.asarray(x, dtype=np.float64)",
        ),
        (2.0, "expected float64 (4,), got 2.0; write np.full(4, x)"),
        (None, "expected float64 (4,), got None"),
        ("0000", "expected float64 (4,), got '0000'"),
        (
            Tensor(),
            (
                f"expected float64 (4,), got a {__name__}.Tensor; "
                "eagle takes NumPy arrays: write np.asarray(x)"
            ),
        ),
    ],
)
def test_a_misfit_says_what_was_expected_what_came_and_what_to_write(
    value: Any, message: str
) -> None:
    assert not (is_array(value) and is_plane(value, DType.F64, (4,), written=True))
    assert message == misfit("x", value, DType.F64, (4,), written=True)


def test_the_number_of_samples_may_be_unknown() -> None:
    message = misfit("x", 1.0, DType.F64, None, written=False)

    assert "expected float64 (n,), got 1.0; write np.full(n, x)" == message


def test_a_read_only_array_can_be_read() -> None:
    assert is_plane(READ_ONLY, DType.F64, (4,), written=False)


MEMORY = np.zeros(64, np.uint8)
slices = st.builds(
    slice, st.integers(0, 64), st.integers(0, 64), st.sampled_from([1, 2, 3, 5, -1, -2])
)


@given(slices, slices)
def test_arrays_overlap_where_some_byte_belongs_to_both(one: slice, two: slice) -> None:
    numbers = range(64)
    shared = set(numbers[one]) & set(numbers[two])

    assert bool(shared) == overlap(MEMORY[one], MEMORY[two])


def test_interleaved_columns_do_not_overlap() -> None:
    table = np.zeros((10, 2))

    assert not overlap(table[:, 0], table[:, 1])


def test_a_plane_is_the_same_only_with_the_same_bytes_and_type() -> None:
    x = np.zeros(4)

    assert same_plane(x, x[:])
    assert not same_plane(x, x.view(np.int64))
    assert not same_plane(x[:2], x[2:])


@pytest.mark.parametrize(
    ("array", "dtype", "floats", "expected"),
    [
        (np.array([1, 2]), DType.F64, False, [1.0, 2.0]),
        (np.array([2**24 + 1]), DType.F32, False, [2.0**24]),
        (np.array([1.5]), DType.F32, True, [1.5]),
        (np.array([1.5]), DType.F32, False, None),
        (np.array([1e300]), DType.F32, True, None),
        (np.array([np.inf]), DType.F32, True, [np.inf]),
        (np.array([1, -1]), DType.I32, False, [1, -1]),
        (np.array([1, -1]), DType.U32, False, None),
        (np.array([1.0]), DType.I64, True, None),
        (np.array([True]), DType.F64, True, None),
        (np.array([1]), DType.BOOL, True, None),
        (np.array([]), DType.I64, True, []),
        (np.array([]), DType.BOOL, True, []),
    ],
)
def test_numbers_are_converted_where_they_keep_their_meaning(
    array: Any, dtype: DType, floats: bool, expected: Any
) -> None:
    converted = convert(array, dtype, floats=floats)

    if expected is None:
        assert converted is None
    else:
        assert np.dtype(dtype.numpy) == converted.dtype
        assert expected == converted.tolist()
