"""A kernel as the driver is told to launch it: its blocks, its threads, its parameters."""

from __future__ import annotations

from eagle.devices.cuda.driver import Argument
from eagle.devices.plan import Launch
from hawk.ir.nodes import Role

THREADS = (256, 128, 64, 32)
"""Threads of a block: as many as leave no multiprocessor without a block."""
MOST_BLOCKS = 2**31 - 1


def spread(n: int, multiprocessors: int) -> tuple[int, int]:
    """Blocks and threads of a block for `n` samples, a sample a thread as far as that goes."""
    threads = next((each for each in THREADS if -(-n // each) >= multiprocessors), THREADS[-1])
    return min(-(-n // threads), MOST_BLOCKS), threads


def arguments(item: Launch) -> tuple[Argument, ...]:
    """The parameters of a kernel: its planes, the number of samples, the most steps."""
    found: list[Argument] = []
    for slot, word in zip(item.compiled.planes, item.words_now, strict=True):
        if slot.role is Role.INDEX:
            continue
        found.append(Argument(word, slot.dtype.itemsize if slot.role is Role.UNIFORM else 8))
    return (*found, Argument(item.n, 8), Argument(item.steps, 8))
