"""The block of words that a launch is called with, and what is left of it when it comes back early.

The block itself holds all that is known of a launch. So it does not matter where an exception
strikes: whoever goes on with the launch reads from the block what is left. What is written is
written by one call, before which the block says the old and after which it says the new.
"""

from __future__ import annotations

import ctypes
import struct
from array import array
from collections.abc import Sequence

from hawk.targets.base import HEADER, Word

BEGIN, END, NEXT, TAKEN, FINISHED, LONGEST = (
    int(Word[name]) for name in ("BEGIN", "END", "NEXT", "TAKEN", "FINISHED", "LONGEST")
)
ROW_COUNT, NEXT_ROW, LEFT_COUNT = int(Word.ROW_COUNT), int(Word.NEXT_ROW), int(Word.LEFT_COUNT)

ROW = 3
"""Words of a row: first sample, one past the last, steps that the first group took already."""

CUTS_PER_THREAD = 4
"""Pieces for each thread that the rest of an interrupted piece is cut into."""

_CHANGED = struct.Struct(f"{Word.LEFT_COUNT + 1 - Word.WINDOW}q")
"""From WINDOW to LEFT_COUNT."""


class Block:
    """The words of one kernel and its planes, used for one launch after another."""

    __slots__ = (
        *("_begin", "_count", "_kept", "_left", "_memory", "_rooms", "_rows"),
        *("address", "head", "words"),
    )

    def __init__(self, begin: int, count: int, planes: Sequence[int], rows: int) -> None:
        """`planes` are the words of the planes: addresses, and numbers for the whole launch.

        A thread leaves at most so many `rows`.
        """
        self._begin, self._count = begin, count
        self._rooms: dict[int, ctypes.Array[ctypes.c_int64]] = {}
        """Room for the rows of several threads, for launches that begin on so many. It stays, since
        headers say where it is."""
        # Of no launch nothing is left. Behind the planes is room for the rows of one thread.
        header = [begin, begin + count, 0, 0, 0, 0, 0, 0, count, 0, 0, 0, 0, 0, 0, 0]
        self._memory = array("q", [*header, *planes])
        self._rows = min(rows, count)  # none is empty
        self._memory.frombytes(bytes(8 * ROW * self._rows))
        self.words = memoryview(self._memory)
        self.head = self.words[:HEADER]
        self.address = self._memory.buffer_info()[0]
        self._left = self.address + 8 * (HEADER + len(planes))
        self._kept: tuple[object, ...] = ()

    def header(
        self,
        steps: int,
        piece: int,
        window: int,
        picked: tuple[int, int] | None = None,
        threads: int = 1,
    ) -> array[int]:
        """What `head` is set to for a new launch that begins on one thread, or on `threads`.

        `picked`: the address of a map, and how many samples of it are launched.
        """
        begin, end, where, left = self._begin, self._begin + self._count, 0, self._left
        if threads > 1:
            room = self._rooms.get(threads)
            if room is None:
                room = self._rooms[threads] = (ctypes.c_int64 * (ROW * self._rows * threads))()
            left = ctypes.addressof(room)
        if picked is not None:
            where, end = picked
            begin = 0
        asked = [begin, end, steps, piece, window, 0, 0, 0]
        return array("q", [*asked, 0, 0, 0, 0, 0, left, 0, where])

    @property
    def count(self) -> int:
        """Samples of the launch."""
        return self.words[END] - self.words[BEGIN]

    @property
    def complete(self) -> bool:
        """Is nothing left of the launch?"""
        words = self.words
        return (
            words[LEFT_COUNT] == 0
            and words[NEXT] >= self.count
            and words[NEXT_ROW] >= words[ROW_COUNT]
        )

    def stop(self) -> None:
        """Ask whoever runs the launch to come back as soon as possible."""
        self.words[Word.STOP] = 1

    def go_on(self, threads: int, lanes: int, window: int) -> None:
        """Make what is left of the launch ready for `threads` threads. Nobody may be running it.

        A piece that was interrupted is cut, at whole groups of `lanes` samples, so that all threads
        have part of it.
        """
        rows = _cut(self.rows(), threads, lanes)
        words, before = self.words, self._kept
        given = (ctypes.c_int64 * max(1, len(rows)))(*rows)
        left = (ctypes.c_int64 * (ROW * self._rows * threads))()
        # Until the new addresses are in the block the old ones are, so all are kept.
        self._kept = (*before[-2:], given, left)
        _CHANGED.pack_into(
            self._memory,
            8 * Word.WINDOW,
            window,
            0,  # STOP
            ctypes.addressof(given),
            len(rows) // ROW,
            words[NEXT],
            words[TAKEN],
            words[FINISHED],
            words[LONGEST],
            0,  # NEXT_ROW
            ctypes.addressof(left),
            0,  # LEFT_COUNT
        )

    def rows(self) -> list[int]:
        """The rows that are left: those the last call wrote, and those it was given and left."""
        words = self.words
        done, count = min(words[NEXT_ROW], words[ROW_COUNT]), words[ROW_COUNT]
        written = _at(words[Word.LEFT], words[LEFT_COUNT])
        return written + _at(words[Word.ROWS], count)[ROW * done :]


def _at(address: int, rows: int) -> list[int]:
    """The words of `rows` rows at an address."""
    return list((ctypes.c_int64 * (ROW * rows)).from_address(address)) if rows else []


def _cut(rows: list[int], threads: int, lanes: int) -> list[int]:
    """The same samples in more rows."""
    samples = sum(rows[1::ROW]) - sum(rows[::ROW])
    fair = -(-samples // (threads * CUTS_PER_THREAD))
    size = max(1, -(-fair // lanes)) * lanes
    cut: list[int] = []
    for low, high, taken in zip(rows[::ROW], rows[1::ROW], rows[2::ROW], strict=True):
        for start in range(low, high, size):
            cut += (start, min(start + size, high), taken if start == low else 0)
    return cut
