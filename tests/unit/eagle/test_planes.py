"""What an array is to eagle."""

from typing import Any

import numpy as np
import pytest

from eagle.planes import convert, is_plane, view_of
from hawk.ir.types import DType
from tests.unit.eagle.exporters import Exporter, needs_versions

READ_ONLY = np.zeros(4)
READ_ONLY.flags.writeable = False


class Subclass(np.ndarray):
    """An array with behaviour of its own."""

    def __array_finalize__(self, made_from: Any) -> None:
        self.flags.writeable = False

    def __getitem__(self, place: Any) -> Any:
        raise AssertionError("nobody may ask for an element")


@pytest.mark.parametrize("dtype", DType)
def test_a_contiguous_array_of_its_type_is_a_plane(dtype: DType) -> None:
    assert is_plane(np.zeros(5, dtype.numpy), dtype, (5,), written=True)


@pytest.mark.parametrize(
    "array",
    [
        np.zeros(4, np.float32),
        np.zeros(4, np.int64),
        np.zeros(4, np.complex128),
        np.zeros(4, ">f8"),
        np.zeros(4, [("x", "f8")]),
        np.zeros(3),
        np.zeros((4, 1)),
        np.zeros(()),
        np.zeros(8)[::2],
        np.zeros(33, np.uint8)[1:].view(np.float64),
        READ_ONLY,
    ],
)
def test_others_are_none(array: Any) -> None:
    assert not is_plane(array, DType.F64, (4,), written=True)


def test_a_read_only_array_can_be_read() -> None:
    assert is_plane(READ_ONLY, DType.F64, (4,), written=False)


def test_an_array_is_its_own_view() -> None:
    x = np.zeros(4)

    assert x is view_of(x)


@pytest.mark.parametrize(
    "make",
    [
        lambda x: x[None].view(np.matrix),
        lambda x: x.view(np.recarray),
        pytest.param(Exporter, marks=needs_versions),
    ],
)
def test_the_view_has_the_memory_of_the_array(make: Any) -> None:
    x = np.zeros(4)

    view = view_of(make(x))

    assert type(view) is np.ndarray
    assert np.shares_memory(x, view)
    assert view.flags.writeable


def test_a_subclass_is_seen_without_its_behaviour() -> None:
    x = np.zeros(4).view(Subclass)

    view = view_of(x)

    assert type(view) is np.ndarray
    assert not view.flags.writeable


@pytest.mark.parametrize("value", [None, 1.0, "x", [0.0], np.float64(1), np.ma.zeros(4), object()])
def test_what_is_no_array_has_no_view(value: Any) -> None:
    assert view_of(value) is None


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
