"""The arrays of a run, on the host or on a device: what a run asks of them besides its launches."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from eagle.binding import Binding
from eagle.devices.base import Loaded
from eagle.runs.counting import STEPS_TAKEN
from eagle.runs.course import Counted, Course, Plan
from hawk.ir.nodes import CHANGED


class Running(Protocol):
    """A run on its way, see `Course`."""

    @property
    def live(self) -> int: ...
    @property
    def compactions(self) -> int: ...
    @property
    def mapped(self) -> bool: ...
    @property
    def threads(self) -> int: ...
    @property
    def is_over(self) -> bool: ...

    def advance(
        self,
        *,
        each: Callable[[], object] | None = None,
        tell: Callable[[], object] | None = None,
        watch: Callable[[int], object] | None = None,
    ) -> None: ...

    def counted(self) -> Counted: ...


class Batch(abc.ABC):
    """The arrays of a run."""

    build_seconds: float
    """Seconds spent on compiling and putting together."""

    @abc.abstractmethod
    def course(self, plan: Plan, mark: object = None) -> Running:
        """A run that begins; `mark`: with a launch that was made already, and interrupted."""

    @abc.abstractmethod
    def live(self) -> int:
        """Samples that are not done."""

    @abc.abstractmethod
    def worst(self) -> int:
        """The first sample that is not done; there is one."""

    @property
    @abc.abstractmethod
    def counts_steps(self) -> bool:
        """Are the steps of each sample counted?"""

    @abc.abstractmethod
    def count_anew(self) -> None:
        """Let no sample have taken a step, if they are counted."""

    @abc.abstractmethod
    def most_steps(self) -> int:
        """Steps of the sample that took most, where they are counted."""

    @abc.abstractmethod
    def steps_taken(self) -> Any:
        """A copy of the steps of each sample; None where they are not counted."""

    @abc.abstractmethod
    def copies(self) -> dict[str, Any]:
        """Copies of the planes that launches write."""

    @abc.abstractmethod
    def put_back(self, name: str, copy: Any) -> None:
        """Let a plane have the numbers of a copy."""


class HostBatch(Batch):
    """Arrays of the host."""

    def __init__(self, binding: Binding, loaded: Loaded) -> None:
        assert binding.mask is not None
        self._binding, self._loaded = binding, loaded
        self.build_seconds = binding.build_seconds
        self._mask: NDArray[np.bool] = binding.arrays[binding.mask]
        self._steps_taken = binding.arrays.get(STEPS_TAKEN)

    def course(self, plan: Plan, mark: object = None) -> Course:
        return Course(plan, self._loaded, np.atleast_1d(self._mask), mark)

    def live(self) -> int:
        return self._mask.size - int(np.count_nonzero(self._mask))

    def worst(self) -> int:
        return int(self._mask.argmin())

    @property
    def counts_steps(self) -> bool:
        return self._steps_taken is not None

    def count_anew(self) -> None:
        if self._steps_taken is not None:
            self._steps_taken[...] = 0

    def most_steps(self) -> int:
        assert self._steps_taken is not None
        return int(self._steps_taken.max(initial=0))

    def steps_taken(self) -> Any:
        return None if self._steps_taken is None else self._steps_taken.copy()

    def copies(self) -> dict[str, Any]:
        return {name: self._binding.arrays[name].copy() for name in written(self._binding)}

    def put_back(self, name: str, copy: Any) -> None:
        self._binding.arrays[name][...] = copy


def written(binding: Binding) -> list[str]:
    """The planes that launches write."""
    return [slot.name for slot in binding.compiled.planes if slot.role in CHANGED]
