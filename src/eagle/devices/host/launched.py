"""What Python does for a graph on the host: some launches, copies with many gaps, reductions."""

from __future__ import annotations

import abc
from typing import Any

from eagle.devices.base import Partition, Watch
from eagle.devices.host.device import HOST
from eagle.devices.host.reduce import reduced
from eagle.devices.plan import Copy, Launch, Reduce


class Task(abc.ABC):
    """Work of a node, which goes on where it was when an exception came in the middle of it."""

    @abc.abstractmethod
    def begin(self) -> None:
        """Begin anew; nothing is done yet."""

    @abc.abstractmethod
    def go_on(self, watch: Watch | None) -> None:
        """Do what is left of it, which may be nothing. `watch`: see `Loaded.launch`."""

    def __call__(self) -> None:
        self.begin()
        self.go_on(None)


class Launched(Task):
    """A launch of a kernel that reduces, scatters or is looked at.

    When it runs, it looks where its arrays are now.
    """

    def __init__(self, item: Launch) -> None:
        self._item = item
        self._at: list[int] = []
        self._loaded: Any = None
        self._mark: object = None
        self._looking: Any = None

    def begin(self) -> None:
        self._looking = None
        self._mark = object()

    def go_on(self, watch: Watch | None) -> None:
        item = self._item
        words = item.words_now
        if words != self._at:
            whole = Partition.whole(item.n)
            loaded = HOST.load(item.compiled, item.planes_now, words, whole)
            self._at, self._loaded = words, loaded
        if item.careful is not None and self._looking is None:
            looking = item.careful(item.planes_now)
            looking.__enter__()  # not `with`: who is interrupted goes on looking
            self._looking = looking
        self._loaded.launch(item.steps, item.threads, mark=self._mark, watch=watch)
        if self._looking is not None:
            self._looking.__exit__(None, None, None)


class _Write(Task):
    """One array is written at once."""

    def __init__(self, item: Copy | Reduce) -> None:
        (self._source,), (self._into,) = item.reads, item.writes
        self._over = False

    def begin(self) -> None:
        self._over = False

    def go_on(self, watch: Watch | None) -> None:
        if not self._over:
            numbers, into = self.numbers(), self._into.memory
            # Nothing is called in these lines, so no signal handler raises between the two.
            into[...] = numbers
            self._over = True

    @abc.abstractmethod
    def numbers(self) -> Any:
        """What is written."""


class CopyByNumpy(_Write):
    """A copy of too many stretches."""

    def numbers(self) -> Any:
        return self._source.memory


class Reduction(_Write):
    """All numbers of a plane made into one."""

    def __init__(self, item: Reduce) -> None:
        super().__init__(item)
        self._kind, self._dtype = item.kind, item.dtype

    def numbers(self) -> Any:
        return reduced(self._kind, self._dtype, self._source.memory)
