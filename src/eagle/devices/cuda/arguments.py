"""What a kernel is launched with: how many threads, and its parameters. Plain numbers."""

from __future__ import annotations

from collections.abc import Sequence

from eagle.devices.cuda.driver import Argument
from hawk.ir.nodes import Plane, Role
from hawk.targets.base import Slot

THREADS = (256, 128, 64, 32)
"""Threads of a block: as many as leave no multiprocessor without a block."""
MOST_BLOCKS = 2**31 - 1


def spread(n: int, multiprocessors: int) -> tuple[int, int]:
    """Blocks and threads of a block for `n` samples, a sample a thread as far as that goes."""
    threads = next((each for each in THREADS if -(-n // each) >= multiprocessors), THREADS[-1])
    return min(-(-n // threads), MOST_BLOCKS), threads


def of_planes(planes: Sequence[Slot | Plane], words: Sequence[int]) -> tuple[Argument, ...]:
    """The parameters that are a kernel's planes."""
    return tuple(
        Argument(word, each.dtype.itemsize if each.role is Role.UNIFORM else 8)
        for each, word in zip(planes, words, strict=True)
        if each.role is not Role.INDEX
    )
