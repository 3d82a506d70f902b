"""Which arrays share bytes."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.exceptions import TooHardError
from numpy.lib.stride_tricks import as_strided

from eagle.overlap import OVERLAP_WORK, are_apart, overlap, overlaps, overlaps_itself, same_plane

MEMORY = np.zeros(64, np.uint8)
slices = st.builds(
    slice, st.integers(0, 64), st.integers(0, 64), st.sampled_from([1, 2, 3, 5, -1, -2])
)


def bytes_of(array: Any) -> set[int]:
    """The bytes of MEMORY that belong to elements of `array`, found one by one."""
    numbers = np.arange(64)
    start = (array.ctypes.data - MEMORY.ctypes.data) if array.size else 0
    step = array.strides[0]
    return {
        int(numbers[start + step * i + j]) for i in range(array.size) for j in range(array.itemsize)
    }


@given(slices, slices)
def test_arrays_overlap_where_some_byte_belongs_to_both(one: slice, two: slice) -> None:
    shared = bytes_of(MEMORY[one]) & bytes_of(MEMORY[two])

    assert bool(shared) == overlap(MEMORY[one], MEMORY[two])


@given(st.lists(st.tuples(slices, st.sampled_from([1, 2, 4, 8]), st.booleans()), max_size=6))
def test_pairs_are_found_as_one_by_one(cases: Any) -> None:
    arrays = [MEMORY.view(f"u{size}")[where] for where, size, _ in cases]
    written = [each for _, _, each in cases]

    found = overlaps(arrays, written)

    assert [
        (i, j)
        for i, one in enumerate(arrays)
        for j, two in enumerate(arrays)
        if i < j and (written[i] or written[j]) and bytes_of(one) & bytes_of(two)
    ] == found


def test_interleaved_columns_do_not_overlap() -> None:
    table = np.zeros((10, 2))

    assert not overlap(table[:, 0], table[:, 1])


def test_arrays_in_two_dimensions_are_told_apart() -> None:
    table = np.zeros((4, 10))

    assert not overlap(table[:, :5], table[:, 5:])
    assert overlap(table[:, :6], table[:, 5:])


def test_arrays_without_elements_overlap_nothing() -> None:
    x = np.zeros(4)

    assert not overlap(x, x[2:2])
    assert [] == overlaps([x, x[2:2], np.zeros(0)], [True] * 3)


def test_what_takes_too_long_to_tell_is_taken_to_overlap() -> None:
    memory = np.zeros(192163377, np.int8)  # never touched, so it takes no memory
    one = as_strided(memory, (1049,) * 3, (36674, 61119, 85569))
    two = as_strided(memory[64023025:], (1049, 1049, 1), (12223, 12224, 1))

    with pytest.raises(TooHardError):
        np.shares_memory(one, two, max_work=OVERLAP_WORK)

    assert overlap(one, two)


def test_a_thousand_planes_are_compared_in_order_of_their_place() -> None:
    memory = np.zeros((1000, 8))
    planes = [*memory[::2], *memory[1::2], memory[500]]

    assert [(250, 1000)] == overlaps(planes, [True] * 1001)


def test_a_thousand_columns_of_one_table_are_told_apart() -> None:
    table = np.zeros((8, 1000))
    columns = [table[:, i] for i in range(1000)]

    assert [] == overlaps(columns, [True] * 1000)
    assert [(7, 1000)] == overlaps([*columns, table[::2, 7]], [True] * 1001)


def test_what_is_only_read_may_be_one_memory() -> None:
    x = np.zeros(8)

    assert [(0, 1), (1, 2)] == overlaps([x[:5], x[3:], x[5:]], [False, True, False])
    assert [] == overlaps([x, x, x[2:]], [False] * 3)


@pytest.mark.parametrize(
    ("spans", "apart"),
    [([], True), ([(5, 9), (0, 5)], True), ([(0, 5), (4, 9)], False), ([(0, 9), (3, 3)], False)],
)
def test_stretches_of_memory_are_apart_or_perhaps_not(spans: Any, apart: bool) -> None:
    assert apart == are_apart(spans)


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (np.zeros(4), False),
        (np.zeros(4)[::-2], False),
        (np.zeros((3, 4)).T, False),
        (np.zeros(1), False),
        (np.zeros(0), False),
        (np.broadcast_to(1.0, 4), True),
        (np.broadcast_to(1.0, 1), False),
        (as_strided(np.zeros(4), (3,), (4,)), True),
        (as_strided(np.zeros(8), (3, 3), (8, 16)), True),
    ],
)
def test_some_arrays_overlap_themselves(array: Any, expected: bool) -> None:
    assert expected == overlaps_itself(array)


def test_a_plane_is_the_same_only_with_the_same_bytes_and_type() -> None:
    x = np.zeros(4)

    assert same_plane(x, x[:])
    assert not same_plane(x, x.view(np.int64))
    assert not same_plane(x[:2], x[2:])
