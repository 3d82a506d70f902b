"""The block of a launch: what is left of it, and how that is cut for the next call."""

from __future__ import annotations

import ctypes

import pytest

from eagle.devices.host.block import Block
from hawk.targets.base import Word

LANES = 8


@pytest.fixture
def block() -> Block:
    return Block(100, 1000, [7, -7], LANES)


def leave(block: Block, *rows: tuple[int, int, int]) -> None:
    """Do as a kernel does that goes back before its end."""
    words = block.words
    for row in rows:
        at = (ctypes.c_int64 * 3).from_address(words[Word.LEFT] + 24 * words[Word.LEFT_COUNT])
        at[:] = row
        words[Word.LEFT_COUNT] += 1


def given(block: Block) -> list[tuple[int, ...]]:
    """The rows that the next call gets."""
    words = block.words
    rows = (ctypes.c_int64 * 3 * words[Word.ROW_COUNT]).from_address(words[Word.ROWS])
    return [tuple(row) for row in rows]


def test_of_no_launch_nothing_is_left(block: Block) -> None:
    assert block.complete


def test_a_new_launch_has_all_before_it(block: Block) -> None:
    block.words[Word.FINISHED] = block.words[Word.STOP] = 1
    block.head[:] = block.header(5, 64, 99)

    assert not block.complete
    assert [100, 1100, 5, 64, 99, 0, 0, 0, 0, 0, 0, 0, 0] == list(block.words[: Word.LEFT])
    assert [7, -7] == list(block.words[16:18])


def test_a_launch_is_complete_when_all_pieces_and_rows_are_done(block: Block) -> None:
    block.head[:] = block.header(5, 64, 0)
    block.words[Word.NEXT] = 1024
    assert block.complete

    leave(block, (164, 228, 3))
    assert not block.complete

    block.go_on(1, LANES, 0)
    assert not block.complete

    block.words[Word.NEXT_ROW] = block.words[Word.ROW_COUNT]
    assert block.complete


def test_the_next_call_gets_what_was_left_and_not_begun(block: Block) -> None:
    block.head[:] = block.header(5, 8, 0)
    block.go_on(2, LANES, 0)
    block.words[Word.NEXT], block.words[Word.FINISHED], block.words[Word.LONGEST] = 16, 4, 5
    leave(block, (100, 108, 3), (116, 124, 1))
    block.go_on(2, LANES, 55)
    block.words[Word.NEXT_ROW] = 1
    leave(block, (104, 108, 4))
    block.stop()

    block.go_on(2, LANES, 0)

    assert [(104, 108, 4), (116, 124, 1)] == given(block)
    words = block.words
    assert (0, 0, 0, 0) == (
        words[Word.WINDOW],
        words[Word.STOP],
        words[Word.NEXT_ROW],
        words[Word.LEFT_COUNT],
    )
    assert (16, 4, 5) == (words[Word.NEXT], words[Word.FINISHED], words[Word.LONGEST])


def test_what_is_left_of_a_piece_is_cut_at_whole_groups_for_all_threads(block: Block) -> None:
    block.head[:] = block.header(5, 1000, 0)
    block.words[Word.NEXT] = 1000
    leave(block, (116, 1100, 3))

    block.go_on(2, LANES, 0)

    rows = given(block)
    assert 8 == len(rows)
    assert (116, 3) == rows[0][::2]
    assert [0] * 7 == [taken for _, _, taken in rows[1:]]
    assert {0} == {(high - low) % LANES for low, high, _ in rows[:-1]}
    assert [*range(116, 1100)] == [i for low, high, _ in rows for i in range(low, high)]


def test_an_interrupt_while_the_next_call_is_made_ready_loses_nothing(
    block: Block, monkeypatch: pytest.MonkeyPatch
) -> None:
    block.head[:] = block.header(5, 1000, 0)
    block.words[Word.NEXT] = 1000
    leave(block, (116, 1100, 3))
    before = block.rows()

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("eagle.devices.host.block._CHANGED", type("", (), {"pack_into": interrupt}))
    with pytest.raises(KeyboardInterrupt):
        block.go_on(2, LANES, 0)

    assert before == block.rows() == [116, 1100, 3]
