"""What every device gives: memory, and kernels loaded with their planes, ready to launch."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, SupportsIndex

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
    """What one launch did."""

    finished: int
    """Samples that became done."""
    longest: int
    """Most steps any sample took."""
    pieces: int
    """Pieces the samples were handed out in."""
    threads: int
    """Threads that could work on it."""


class Loaded(abc.ABC):
    """A compiled kernel with its planes, on the device. One launch at a time."""

    @abc.abstractmethod
    def launch(self, steps: int, threads: int | None) -> Outcome:
        """Advance every live sample by at most `steps`, in tiles that stay in the cache."""

    @abc.abstractmethod
    def run_to_end(self, steps: int, threads: int | None) -> Outcome:
        """The same for one long launch: the work is cut to keep every thread busy to the end."""


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
        partition: Partition,
    ) -> Loaded:
        """Put a kernel and its planes together.

        `planes` follows `compiled.planes`: an array, or the word of a uniform number. The arrays
        are kept alive by what is returned.
        """
