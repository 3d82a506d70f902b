"""The thread that does what the simulated device is asked for, one thing after the other.

Python functions of graphs run on it too. Those may not use the device, as on a GPU; that is seen
here, because whoever uses it asks `STREAM` first.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable
from queue import SimpleQueue

from eagle.devices.guard import Guard
from eagle.devices.host.threads import started

POLL_SECONDS = 0.05
"""A thread that waits hears of exceptions that others set for it, this late at most."""


class Stream:
    """Jobs in the order in which they came."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Callable[[], object]] = SimpleQueue()
        self._lock = threading.Lock()
        self._due = 0
        self._idle = threading.Condition(self._lock)
        self._runs = False
        self.stopping = False
        """Should what is on its way end at the next node?"""
        self.guard = Guard()

    def submit(self, job: Callable[[], object]) -> None:
        """Do `job` when all before it is done. It raises nothing."""
        with self._lock:
            self._due += 1
            if not self._runs:
                self._runs = started(self._work)
            runs = self._runs
        self._jobs.put(job)
        if not runs:  # there is no thread to be had
            self._next()

    def wait(self) -> None:
        """Wait until nothing is on its way.

        An exception that comes meanwhile, Ctrl-C above all, ends what is on its way at its next
        node, and goes on when it has ended.
        """
        try:
            self._wait()
        except BaseException:
            self.stopping = True
            try:
                self._wait()
            finally:
                self.stopping = False
            raise

    def enter(self, what: str) -> None:
        """Begin to use the device from Python, when all before is done. Raises as `check` does."""
        self.check(what)
        self.wait()

    def check(self, what: str) -> None:
        """Raise RuntimeError in a Python function of a graph, which may not use the device."""
        self.guard.check(what)

    def _wait(self) -> None:
        with self._idle:
            while self._due:
                self._idle.wait(POLL_SECONDS)

    def _work(self) -> None:
        while True:
            self._next()

    def _next(self) -> None:
        job = self._jobs.get()
        try:
            job()
        finally:
            del job  # or the arrays of the last graph would live as long as the thread
            with self._idle:
                self._due -= 1
                self._idle.notify_all()


STREAM = Stream()


def _start_anew() -> None:
    """A forked child has none of its parent's threads."""
    STREAM.__init__()


atexit.register(STREAM.wait)  # what was enqueued is done, as a GPU's driver does it
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)
