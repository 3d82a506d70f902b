"""A team written in Python: for systems without the native one, and for entries that are Python."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue

from eagle.devices.host.threads import started

Entry = Callable[[int], object]


class TicketTeam:
    """Helpers that wait for jobs in a queue. A launch never waits for one that has not begun."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[_Job] = SimpleQueue()
        self._growing = threading.Lock()
        self._size = 0

    def run(self, entry: Entry, block: int, helpers: int, *, keep: object) -> int:
        """Call `entry(block)` here and on up to `helpers` other threads; return how many of those.

        Returns when every call has returned, also when this thread is interrupted. `keep` lives as
        long as any of them works. Raises what a helper raised.
        """
        self._grow(helpers)
        job = _Job(entry, block, helpers, keep)
        try:
            for _ in range(helpers):
                self._jobs.put(job)
            entry(block)
            job.wait()
        except BaseException:
            job.wait_in_any_case()
            raise
        if job.failures:
            raise job.failures[0]
        return len(job.back)

    def _grow(self, size: int) -> None:
        if self._size >= size:
            return
        with self._growing:
            while self._size < size and started(_work, self._jobs):
                self._size += 1


class _Job:
    """One launch on offer. Who takes a ticket may run it, and says so when it is through."""

    __slots__ = ("_bell", "_takers", "back", "block", "entry", "failures", "helpers", "keep")

    def __init__(self, entry: Entry, block: int, helpers: int, keep: object) -> None:
        self.entry, self.block, self.helpers, self.keep = entry, block, helpers, keep
        self._takers: dict[int, object] = {}
        """Who has each ticket; None: it is withdrawn."""
        self._bell: SimpleQueue[None] = SimpleQueue()
        self.back: list[int] = []
        """Tickets whose takers are through."""
        self.failures: list[BaseException] = []

    def do(self) -> None:
        """Run it on this thread, if a ticket is left."""
        me = object()
        # `setdefault` is one step, so no two threads get the same ticket.
        mine = (i for i in range(self.helpers) if self._takers.setdefault(i, me) is me)
        ticket = next(mine, None)
        if ticket is None:
            return
        try:
            self.entry(self.block)
        except BaseException as caught:  # noqa: BLE001 - raised again by who launched
            self.failures.append(caught)
        self.back.append(ticket)
        self._bell.put(None)

    def wait(self) -> None:
        """Let nobody begin any more, wait for those who have. Can be interrupted and called again.

        A lost sound of the bell does no harm: its ticket is back.
        """
        begun = sum(
            self._takers.setdefault(ticket, None) is not None for ticket in range(self.helpers)
        )
        while len(self.back) < begun:
            self._bell.get()

    def wait_in_any_case(self) -> None:
        """The same after an interrupt. Another one is raised when nobody works any more."""
        try:
            self.wait()
        except BaseException:
            self.wait_in_any_case()
            raise


def _work(jobs: SimpleQueue[_Job]) -> None:
    """What a helper does for as long as the process lives."""
    while True:
        job = jobs.get()
        job.do()
        del job  # or the arrays of the last launch would live as long as this thread
