"""What is to be given back to the driver, once nobody can be using it any more.

Python may find garbage on any thread and at any time, also while a function of a graph runs on a
thread of the driver's, where nothing of CUDA may be called. So whatever is done with is only
written down here, as numbers, and given back by the next call that may.
"""

from __future__ import annotations

import weakref
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from eagle.devices.cuda.driver import Driver


@dataclass(slots=True)
class Handles:
    """What the driver holds for something of ours. In this order it is given back."""

    ready: list[int] = field(default_factory=list)
    graphs: list[int] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)
    locked: list[tuple[int, Any]] = field(default_factory=list)
    """Page-locked memory, and what keeps it alive until it is not any more."""
    kept: list[Any] = field(default_factory=list)
    """What holds memory that other libraries made for it."""

    def take(self) -> Handles:
        """What is in here, which is empty then."""
        taken = Handles(self.ready[:], self.graphs[:], self.memory[:], self.locked[:], self.kept[:])
        for each in (self.ready, self.graphs, self.memory, self.locked, self.kept):
            each.clear()
        return taken


class Remains:
    """What waits to be given back."""

    def __init__(self) -> None:
        self._left: deque[Handles] = deque()  # adding to it is one step of Python's

    def __bool__(self) -> bool:
        return bool(self._left)

    def with_(self, owner: object, handles: Handles) -> None:
        """Give `handles` back some time after `owner` is gone. They hold nothing that holds it."""
        finalizer = weakref.finalize(owner, self._left.append, handles)
        finalizer.atexit = False  # the driver goes with the process

    def add(self, handles: Handles) -> None:
        self._left.append(handles)

    def give_back(self, driver: Driver) -> None:
        """Give all back. Nothing is on its way, and this thread may call the driver."""
        while self._left:
            handles = self._left.popleft()
            for each in handles.ready:
                driver.destroy(0, each)
            for each in handles.graphs:
                driver.destroy(each, 0)
            for each in handles.memory:
                driver.free(each)
            for address, _ in handles.locked:
                driver.unlock(address)
