"""What every device gives: memory, and kernels loaded with their planes, ready to launch."""

from __future__ import annotations

import abc
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eagle.params import shown, whole
from hawk.ir.types import DType
from hawk.targets.base import Compiled


@dataclass(frozen=True, slots=True)
class Partition:
    """The samples `base` to `base + count` of a batch of `n`.

    Raises ValueError for samples that are not there, TypeError for what is no whole number.
    """

    base: int
    count: int
    n: int

    def __init__(self, base: SupportsIndex, count: SupportsIndex, n: SupportsIndex) -> None:
        object.__setattr__(self, "base", _parse("base", base))
        object.__setattr__(self, "count", _parse("count", count))
        object.__setattr__(self, "n", _parse("n", n))
        if self.base + self.count > self.n:
            raise ValueError(
                f"Partition: samples {self.base} to {self.base + self.count} "
                f"are not all in a batch of {self.n}"
            )

    @classmethod
    def whole(cls, n: SupportsIndex) -> Partition:
        """All samples of a batch of `n`."""
        return cls(0, n, n)


def _parse(name: str, given: SupportsIndex) -> int:
    number = whole(given)
    if number is None:
        raise TypeError(f"Partition: {name} must be a whole number, got {shown(given)}")
    if number < 0:
        raise ValueError(f"Partition: {name} must not be negative, got {number}")
    return number


class Outcome(NamedTuple):
    """What a launch did."""

    finished: int
    """Samples that became done."""
    longest: int
    """Most steps any sample took."""
    pieces: int
    """Pieces the samples were handed out in."""
    threads: int
    """Threads that could work on it."""


Watch: TypeAlias = "Callable[[int], object]"
"""Called now and then while a launch is on its way, with the samples that became done so far."""


_ONE_AT_A_TIME = getattr(sys, "_is_gil_enabled", lambda: True)()
"""Does Python run one thread at a time, and another only where something is called or repeated?"""


class Turn:
    """The right to use something, which one thread has at a time.

        mine = object()
        try:
            if not turn.take(mine):
                raise Busy
            ...  # use it
        finally:
            if turn.holder is mine:
                turn.holder = None

    A signal handler may raise wherever something is called, also between a lock's `acquire` and the
    `try` after it, and what was locked would stay so. Here nothing is called between finding that
    the turn is ours and giving it back.
    """

    __slots__ = ("_lock", "holder")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.holder: object = None

    def take(self, mine: object) -> bool:
        """Take the turn for `mine` if nobody has it; say whether `mine` has it now."""
        if _ONE_AT_A_TIME:  # a lock would take as long as all the rest of a small launch
            if self.holder is None:
                self.holder = mine
        else:
            with self._lock:
                if self.holder is None:
                    self.holder = mine
        return self.holder is mine


class Loaded(abc.ABC):
    """A compiled kernel with its planes, on the device. One launch at a time."""

    @property
    @abc.abstractmethod
    def together(self) -> int:
        """Samples that are advanced together: as long as one of them goes on, all take part."""

    @abc.abstractmethod
    def launch(
        self,
        steps: int,
        threads: int | None = None,
        *,
        to_end: bool = False,
        picked: NDArray[np.int64] | None = None,
        mark: object = None,
        watch: Watch | None = None,
    ) -> None:
        """Advance every live sample by at most `steps`, in tiles that stay in the cache.

        `threads` bounds the threads that work on it. `to_end`: nearly every sample stops on its
        way, so the work is cut to keep all threads busy to the end. `picked`: only these samples,
        each named once, in an array that does not change.

        An exception out of this call (Ctrl-C, a signal handler that raises) leaves a whole number
        of steps in every sample, and nobody works on them. Launches of one `mark` are one launch:
        called again with it, this goes on with what was left, or returns at once if nothing was.
        Without a mark each launch is a new one, and what an earlier one left is forgotten.
        """

    @abc.abstractmethod
    def outcome(self, mark: object = None) -> Outcome | None:
        """What the latest launch did so far; None if that is not the one of this mark."""


class Device(abc.ABC):
    """A place where arrays live and kernels run."""

    @abc.abstractmethod
    def zeros(self, shape: tuple[int, ...], dtype: DType) -> NDArray[Any]:
        """A new array of zeros."""

    @abc.abstractmethod
    def load(
        self,
        compiled: Compiled,
        planes: Sequence[np.ndarray | int],
        words: Sequence[int],
        partition: Partition,
    ) -> Loaded:
        """Put a kernel and its planes together.

        `planes` follows `compiled.planes`: an array, or the word of a uniform number. The arrays
        are kept alive by what is returned. `words` is the same with the addresses of the arrays.
        """
