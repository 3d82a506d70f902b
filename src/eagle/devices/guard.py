"""Python functions of a graph run on a thread of its device, and may not use the device there."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Guard(threading.local):
    """Which function runs on this thread, if one does. Whoever uses the device asks here first."""

    function = ""
    captured = False
    """Is what it launches captured?"""
    touched: RuntimeError | None = None
    """What that function was told, if it used the device."""

    def check(self, what: str) -> None:
        """Raise RuntimeError in a Python function of a graph, which may not use the device."""
        if self.captured:
            raise RuntimeError(
                f"{what} in {self.function}, which is captured as nodes of a graph: only what CuPy "
                f"or PyTorch launch can be\n  write: a node of the graph before {self.function}; "
                "or eager=True instead of capture=True"
            )
        if self.function:
            error = RuntimeError(
                f"{what} in {self.function}, a host function of a graph: it runs on a thread of "
                "the device, which cannot call back into it\n  write: eagle.copy(...) to a host "
                f"array before it, and that in {self.function}; "
                "or eagle.opaque(..., eager=True)"
            )
            self.touched = self.touched or error
            raise error

    @contextmanager
    def capturing(self, function: str) -> Iterator[None]:
        """Inside `with` this thread runs that function, which is captured."""
        self.function, self.captured = function, True
        try:
            yield
        finally:
            self.function, self.captured = "", False

    @contextmanager
    def calling(self, function: str) -> Iterator[None]:
        """Inside `with` this thread runs that function. Raises if it used the device."""
        self.function, self.touched = function, None
        try:
            yield
        finally:
            self.function = ""
        if self.touched is not None:  # and the function kept it to itself
            raise self.touched
