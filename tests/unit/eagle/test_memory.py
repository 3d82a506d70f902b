"""Where arrays are, and bringing in memory that is only reserved."""

from __future__ import annotations

import mmap

import numpy as np
import pytest

from eagle.devices.host import memory
from eagle.devices.host.memory import LARGE, address_of, fetch


@pytest.mark.parametrize(
    "array",
    [np.zeros(3), np.zeros(0), np.array(1.0), np.zeros(9)[::2], np.zeros((4, 6))[:, :3]],
    ids=["plane", "empty", "lone", "strided", "rows"],
)
@pytest.mark.parametrize("writeable", [True, False])
def test_the_address_is_that_of_the_first_element(array: np.ndarray, writeable: bool) -> None:
    array.flags.writeable = writeable

    assert array.ctypes.data == address_of(array)


@pytest.fixture
def calls() -> memory._Calls:
    """Give the calls of this system, or skip the test."""
    calls = memory._calls()
    if calls is None:
        pytest.skip("needs Linux and memory that is equally near to all cores")
    return calls


def test_reserved_memory_is_brought_in_and_keeps_what_it_holds(calls: memory._Calls) -> None:
    room = mmap.mmap(-1, 4 * LARGE)
    array = np.frombuffer(room, np.uint8)[100:-100]
    array[0], array[-1] = 1, 2
    middle = array.ctypes.data + 2 * LARGE
    page = middle // mmap.PAGESIZE * mmap.PAGESIZE
    assert not memory._is_there(page, page + mmap.PAGESIZE, calls)

    fetch([np.zeros(3), array])

    if not memory._is_there(page, page + mmap.PAGESIZE, calls):
        pytest.skip("needs Linux 5.14")
    assert (1, 2, 3) == (array[0], array[-1], int(array.sum()))


def test_small_arrays_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_calls", lambda: pytest.fail("there was nothing to do"))

    fetch([np.zeros(LARGE // 8 - 1), np.zeros(LARGE, np.float64)[::2]])
