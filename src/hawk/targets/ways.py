"""What threads of a GPU are launched with, and what each make of GPUs has of its own."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass

from hawk.targets.llvm import Emitter

GLOBAL = "ptr addrspace(1)"
"""Memory that all threads of a GPU see."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """What LLVM's texts for one make of GPUs have of their own."""

    triple: str
    head: str
    """What stands before the name of a kernel."""
    attributes: str
    place: Callable[[Emitter], tuple[str, str]]
    """Writes this thread's number, and how many there are, both i64."""
    declared: tuple[str, ...]
    """The functions that are called."""
    scope: str
    """What LLVM calls all threads of the GPU, for atomic operations."""
    together: str = ""
    """Waits for the threads that run one instruction together, if they may have come apart."""


class Way(enum.Enum):
    """What a launch is told besides the planes. The value is the end of the entry's name."""

    PLAIN = ""
    """`n`, the samples, and `steps`, the most that a sample may take, both int64."""
    AUTO = "_auto"
    """`n`, and the address of the `Words` in memory: what decides how many steps there are may be
    a kernel."""
    MAPPED = "_mapped"
    """The address of the `Words`, and that of an int64 for each position: the sample that stands
    there. All other samples are left alone."""
    TURNS = "_turns"
    """`n`, the address of the `Words`, and that of two int64 for each thread of the launch: the
    sample that it has in hand, counted from 1, and the steps that this took; see `turns`."""


class Words(enum.IntEnum):
    """The int64 numbers in memory that a launch reads or adds to."""

    STEPS = 0
    """Most steps a sample may take, at least 1."""
    FINISHED = 1
    """What became done in the launch is added here, with one atomic addition a thread."""
    LIVE = 2
    """Positions of the map."""
    LONGEST = 3
    """The most steps that a sample took which became done in the launch, or what was there before
    if that is more: at most one atomic operation a thread."""
    FOLLOWING = 4
    """The first sample that no thread has taken yet, for launches in turns, as all that follow."""
    FUEL = 5
    """Rounds of a thread, at least 1: it ends when it has made as many."""
    HOLDING = 6
    """How many threads ended with a sample in hand is added here: an atomic addition for each."""
    HELD = 7
    """How many did in the launch before. 0: nobody has anything in hand."""
