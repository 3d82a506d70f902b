"""Kernels whose compiled code is a Python function, so eagle is tested without a compiler.

The entry keeps the contract of `hawk.targets.base`: it gets the address of a block, takes rows and
pieces until none is left or it is told to stop, reads and writes the planes where the block says,
and adds up what it did. It has no clock, and stops between two pieces only.
"""

import ctypes
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from hawk.ir.nodes import Role
from hawk.ir.types import DType
from hawk.kernel import Kernel
from hawk.passes.count_steps import STEPS_TAKEN
from hawk.targets.base import HEADER, STEPS_MAX, Compiled, Slot, Word

Step = Callable[..., dict[str, Any]]

ENTRY_LOCK = threading.Lock()


class StandIn(Kernel[..., Any]):
    """A kernel that takes its signature from `kernel` and computes `step(**planes)`.

    `step` gets arrays of the samples that go on, and numbers, by name; it returns what the kernel
    stores, by name. `unread` names state whose value at the start is never read.
    """

    def __init__(self, kernel: Kernel[..., Any], step: Step, unread: tuple[str, ...] = ()) -> None:
        super().__init__(kernel.program, steps=kernel.steps, dtype=kernel.dtype)
        self.numpy_step, self.unread = step, unread
        self.compiled: list[tuple[DType, frozenset[str]]] = []

    def again(self, steps: Any) -> "StandIn":
        """The same with other steps a launch."""
        kernel = Kernel(self.program, steps=steps, dtype=self.dtype)
        return StandIn(kernel, self.numpy_step, self.unread)

    def compile(
        self, real: DType, uniform: frozenset[str] = frozenset(), *, count_steps: bool = False
    ) -> Compiled:
        self.compiled.append((real, uniform))
        slots = tuple(
            Slot(
                each.name,
                Role.UNIFORM if each.name in uniform else each.role,
                each.element.at(real),
                needed=each.role is not Role.OUTPUT and each.name not in self.unread,
            )
            for each in (*self.parameters, *self.outputs)
        )
        if count_steps:
            slots += (Slot(STEPS_TAKEN, Role.STATE, DType.I64, needed=True),)
        states = [slot.dtype.itemsize for slot in slots if slot.role is Role.STATE]
        return Compiled(
            planes=slots,
            entry=lambda address: enter(slots, self.numpy_step, address),
            bytes_per_sample=sum(states),
            steps_max=STEPS_MAX,
            lanes=8,
            rows=1,
            description="Python",
            build_seconds=0.0,
        )


def stand_in(step: Step, unread: tuple[str, ...] = ()) -> Callable[[Kernel[..., Any]], StandIn]:
    """Decorate a kernel, to compute `step` instead."""
    return lambda kernel: StandIn(kernel, step, unread)


def enter(slots: tuple[Slot, ...], step: Step, address: int) -> None:
    """Run pieces of the block at `address` until none is left."""
    words = np.ctypeslib.as_array((ctypes.c_int64 * (HEADER + len(slots))).from_address(address))
    while piece := take(words):
        finished, longest = advance(slots, step, words, *piece)
        with ENTRY_LOCK:
            words[Word.FINISHED] += finished
            words[Word.LONGEST] = max(words[Word.LONGEST], longest)


def take(words: np.ndarray) -> tuple[int, int] | None:
    """The next row, or else the next piece: its first sample and one past its last."""
    with ENTRY_LOCK:
        if words[Word.STOP]:
            return None
        row = int(words[Word.NEXT_ROW])
        words[Word.NEXT_ROW] += 1
        if row < words[Word.ROW_COUNT]:
            low, high, taken = (ctypes.c_int64 * 3).from_address(int(words[Word.ROWS]) + 24 * row)
            assert taken == 0
            return low, high
        begin = int(words[Word.BEGIN] + words[Word.NEXT])
        if begin >= words[Word.END]:
            return None
        words[Word.NEXT] += words[Word.PIECE]
        words[Word.TAKEN] += 1
        return begin, min(begin + int(words[Word.PIECE]), int(words[Word.END]))


def advance(
    slots: tuple[Slot, ...], step: Step, words: np.ndarray, begin: int, end: int
) -> tuple[int, int]:
    """Advance the samples from `begin` to `end`: how many finished, the longest steps."""
    planes: dict[str, Any] = {}
    samples: Any = slice(None)
    if words[Word.MAP]:
        at = int(words[Word.MAP]) + 8 * begin
        samples = np.frombuffer((ctypes.c_int64 * (end - begin)).from_address(at), np.int64)
        begin, end = 0, int(samples.max()) + 1
    for slot, word in zip(slots, words[HEADER:], strict=True):
        dtype = np.dtype(slot.dtype.numpy)
        if slot.role is Role.UNIFORM:
            planes[slot.name] = np.frombuffer(int(word).to_bytes(8, "little", signed=True), dtype)[
                0
            ]
        else:
            size = (end - begin) * dtype.itemsize
            raw = (ctypes.c_char * size).from_address(int(word) + begin * dtype.itemsize)
            planes[slot.name] = np.frombuffer(raw, dtype)
    mask = next((slot.name for slot in slots if slot.role is Role.MASK), None)
    looked_at = np.zeros(end - begin, bool)
    looked_at[samples] = True
    live = looked_at if mask is None else looked_at & ~planes[mask]
    started, longest = live.copy(), 0
    while longest < words[Word.STEPS] and live.any():
        longest += 1
        now = {
            slot.name: planes[slot.name] if slot.role is Role.UNIFORM else planes[slot.name][live]
            for slot in slots
            if slot.role is not Role.OUTPUT and slot.name != STEPS_TAKEN
        }
        if STEPS_TAKEN in planes:
            planes[STEPS_TAKEN][live] += 1
        for name, after in step(**now).items():
            planes[name][live] = after
        if mask is not None:
            live = started & ~planes[mask]
    return int(np.count_nonzero(started & ~live)), longest
