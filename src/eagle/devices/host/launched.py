"""A launch of a graph that Python makes: of a kernel that reduces, scatters or is looked at."""

from __future__ import annotations

from typing import Any

from eagle.devices.base import Partition
from eagle.devices.host.device import HOST
from eagle.devices.plan import Launch


class Launched:
    """A launch that is ready. Called, it looks where its arrays are now, and runs."""

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
