"""What every target gives: a compiled kernel that says what it needs and runs from one block.

A launch is described by a block of 8-byte words. First comes the header below; then one word per
plane, in the order of `Compiled.planes`: the address of the array, or for a UNIFORM plane
the number itself. No address is part of the code, so one compiled kernel serves any arrays.
"""

from __future__ import annotations

import ctypes
import enum
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from hawk.ir.nodes import Lines, Number, Role, Scatter
from hawk.ir.types import DType

STEPS_MAX = 64
"""The most steps one launch of a `steps="auto"` kernel takes."""


class Word(enum.IntEnum):
    """The header of a block: what is asked (first eight), what came of it (last eight).

    A launch that goes back to Python before its end writes what it left as rows of three words:
    first sample, one past the last, steps that the first group of them took already. Those rows are
    the ROWS of the next call; the other words stay as they are.
    """

    BEGIN = 0
    """First sample."""
    END = 1
    """One past the last sample."""
    STEPS = 2
    """Most steps a sample may take in this launch, at least 1."""
    PIECE = 3
    """Samples a worker takes from the queue in one go, at least 1."""
    WINDOW = 4
    """Cycles after which the launch goes back to Python; 0: never."""
    STOP = 5
    """Set to 1 while the launch runs, it goes back to Python as soon as it can."""
    ROWS = 6
    """Address of rows to do before anything else."""
    ROW_COUNT = 7
    """How many rows there are."""
    NEXT = 8
    """Samples handed out so far, counted from BEGIN; 0 when the launch starts. Atomic."""
    TAKEN = 9
    """Pieces really taken. Atomic."""
    FINISHED = 10
    """Samples that became done in this launch. Atomic."""
    LONGEST = 11
    """Most steps any sample took in this launch, or up to a block of steps more. Atomic."""
    NEXT_ROW = 12
    """Rows handed out so far; 0 when the launch starts. Atomic."""
    LEFT = 13
    """Address of room for rows: for each thread that runs the entry one a lane, and one more."""
    LEFT_COUNT = 14
    """Rows written there. Atomic."""
    MAP = 15
    """Address of an int64 for each position from 0 to END: the sample that stands there. Then
    samples in this header, in its rows and pieces are positions. 0: every sample is its own."""


HEADER = len(Word)


@dataclass(frozen=True, slots=True)
class Slot:
    """One plane of a compiled kernel, as whoever fills the block needs to know it."""

    name: str
    role: Role
    dtype: DType
    needed: bool
    """Is its value at the start read? A STATE that is not may be left out by the caller."""


class Image(NamedTuple):
    """Native code as bytes, which can be kept and loaded again by the target that made it."""

    code: bytes
    facts: dict[str, Any]
    """What else the target has to know to load it: plain Python values."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """A kernel ready to run on the host.

    `entry(address of the block)` runs pieces until none is left, then returns; any number of
    threads may run it on the same block at once. It keeps no Python object alive but its own code.
    """

    planes: tuple[Slot, ...]
    entry: Callable[[int], None]
    bytes_per_sample: int
    """Bytes of the state planes of one sample, of all its arrays where there is no state; the tile
    is made from it."""
    steps_max: int
    lanes: int
    """Samples one group advances together."""
    rows: int
    """Most rows that a thread leaves when it goes back to Python."""
    description: str
    """Target, width and interleave, for people."""
    build_seconds: float
    cached: str = ""
    """`"hit"`, or why its code was not in the cache; empty where nobody looked."""
    phases: tuple[Phase, ...] = ()
    """What comes before each step, in this order. With phases a launch is of one step."""
    scatters: tuple[Scatter, ...] = ()
    """What comes after each step, in this order. With scatters a launch is of one step."""

    @property
    def is_collective(self) -> bool:
        """Does it reduce or scatter, so that samples take their steps together?"""
        return bool(self.phases or self.scatters)


@dataclass(frozen=True, slots=True)
class Phase:
    """A reduction over the batch that a step needs."""

    given: Compiled | str
    """A kernel whose output `value`, and `keep` where it has one, is what each sample gives; or the
    array of the step that is reduced as it is."""
    dtype: DType
    """The type of what is reduced."""
    kind: str
    """See `hawk.ir.reduce`."""
    plane: str
    """The uniform plane of the step that gets the result, or the table that gets all of them."""
    lines: Lines | None
    """The samples that make one number, if not all do."""


_FORMATS = {
    DType.BOOL: "<?7x",
    DType.I32: "<i4x",
    DType.U32: "<I4x",
    DType.I64: "<q",
    DType.F32: "<f4x",
    DType.F64: "<d",
}
_PACK = {dtype: struct.Struct(form).pack for dtype, form in _FORMATS.items()}
_WORD = struct.Struct("<q").unpack


def raw_word(number: Number, dtype: DType) -> int:
    """The 8-byte word that holds `number` as a `dtype`, lowest bytes first."""
    return _WORD(_PACK[dtype](number))[0]


def new_block(planes: int) -> ctypes.Array[ctypes.c_int64]:
    """A block for `planes` planes, all words 0."""
    return (ctypes.c_int64 * (HEADER + planes))()
