"""Routines that the threads of a block do together, run from their PTX on memory of this machine.

`tests.ptx.machine` runs the text, with all threads and barriers. Its memory is here that of a GPU
made for tests: addresses are those of this machine, and what is outside of all arrays is refused.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eagle.interop.cuda_array import described_at
from tests.ptx.machine import Machine
from tests.ptx.memory import BASE, Memory, Region
from tests.ptx.parse import Kernel, Module, parse

Spans = Sequence[tuple[int, int]]
"""Arrays: the address and the size of each."""

_START, _END = 1 << 12, 1 << 47
"""Where this machine has memory."""
_EVERYWHERE = {
    size: described_at(_START, ((_END - _START) // size,), np.dtype(f"u{size}"))
    for size in (1, 2, 4, 8)
}

module = functools.lru_cache(maxsize=4)(parse)
"""The module of a text."""


def sizes_of(kernel: Kernel) -> tuple[int, ...]:
    """Bytes of each parameter."""
    return tuple(int(each.kind[1:]) // 8 for each in kernel.parameters)


def run(
    whole: Module, kernel: Kernel, words: Sequence[int], blocks: int, threads: int, spans: Spans
) -> None:
    """Run a kernel on arrays of this machine; the words are its parameters."""
    assert kernel.least <= threads <= kernel.most, f"{threads} threads of a block"
    _Here(whole, kernel, blocks, threads, spans).run(words, None)


class _Here(Machine):
    def __init__(
        self, whole: Module, kernel: Kernel, blocks: int, threads: int, spans: Spans
    ) -> None:
        super().__init__(whole, kernel, blocks, threads)
        self.frame.memory = _Memory(spans)

    def _bind(self, arguments: Sequence[Any]) -> list[tuple[NDArray[Any], Region]]:
        for parameter, size, word in zip(
            self.kernel.parameters, sizes_of(self.kernel), arguments, strict=True
        ):
            content = np.frombuffer((word % 256**size).to_bytes(size, "little"), np.uint8)
            self.frame.parameters[parameter.name] = content
        return []


class _Memory(Memory):
    """The memory of this machine, as far as it is a test's."""

    def __init__(self, spans: Spans) -> None:
        super().__init__()
        self.regions = [Region("an array", "global", *span, writable=True) for span in spans]
        self._own: list[NDArray[np.uint8]] = []

    def add(self, name: str, space: str, content: NDArray[np.uint8], *, writable: bool) -> int:
        room = np.empty(len(content) + 64, np.uint8)
        start = -(-room.__array_interface__["data"][0] // 64) * 64
        self._own.append(room)
        described_at(start, content.shape, content.dtype)[:] = content
        self.regions.append(Region(name, space, start, len(content), writable))
        return start

    def seal(self) -> None:
        self.regions.sort(key=lambda region: region.start)
        self.starts = np.array([region.start for region in self.regions], np.int64)
        self.ends = self.starts + np.array([region.size for region in self.regions], np.int64)
        self.views = _EVERYWHERE

    def _places(self, addresses: Any, size: int, space: str, *, write: bool) -> Any:
        # Counted from where `_EVERYWHERE` begins.
        return super()._places(addresses, size, space, write=write) + (BASE - _START) // size
