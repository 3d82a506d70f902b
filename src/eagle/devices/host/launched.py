"""What Python does for a graph on the host: some launches, copies with many gaps, reductions."""

from __future__ import annotations

from typing import Any

from eagle.devices.base import Partition
from eagle.devices.host.device import HOST
from eagle.devices.host.reduce import reduced
from eagle.devices.plan import Copy, Launch, Reduce


class Launched:
    """A launch of a kernel that reduces, scatters or is looked at.

    Called, it looks where its arrays are now, and runs.
    """

    def __init__(self, item: Launch) -> None:
        self._item = item
        self._at: list[int] = []
        self._loaded: Any = None

    def __call__(self) -> None:
        item = self._item
        words = item.words_now
        if words != self._at:
            whole = Partition.whole(item.n)
            loaded = HOST.load(item.compiled, item.planes_now, words, whole)
            self._at, self._loaded = words, loaded
        if item.careful is None:
            self._loaded.launch(item.steps, item.threads)
            return
        with item.careful(item.planes_now):
            self._loaded.launch(item.steps, item.threads)


class CopyByNumpy:
    """A copy of too many stretches."""

    def __init__(self, item: Copy) -> None:
        (self._source,), (self._into,) = item.reads, item.writes

    def __call__(self) -> None:
        self._into.memory[...] = self._source.memory


class Reduction:
    """All numbers of a plane made into one."""

    def __init__(self, item: Reduce) -> None:
        (self._source,), (self._into,) = item.reads, item.writes
        self._kind, self._dtype = item.kind, item.dtype

    def __call__(self) -> None:
        self._into.memory[...] = reduced(self._kind, self._dtype, self._source.memory)
