"""Work that another thread does while this one waits, free for Ctrl-C.

Python looks for signals between two of its own steps, so a thread that is inside native code hears
of none. One that waits for a lock hears of them at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from eagle.devices.host.threads import started

POLL_SECONDS = 0.05
"""An exception that another thread sets for the waiting one is seen this late, at most."""

PATIENCE = 20
"""Polls after which a thread that has not begun is taken for lost, and another one is started."""


def by_another_thread(
    work: Callable[[], None],
    *,
    stop: Callable[[], None],
    meanwhile: Callable[[], object] | None = None,
) -> None:
    """Let another thread do `work`; call `meanwhile` every now and then. Raises what `work` raised.

    After any exception here, `stop` is called, which makes `work` return soon, and the exception
    goes on when it has. Without another thread to be had `work` is done here.
    """
    errand = _Errand(work)
    polls = 0
    try:
        while not errand.over:
            if polls % PATIENCE == 0 and not errand.begun and not started(errand.do):
                errand.do()
            if not errand.bell.acquire(timeout=POLL_SECONDS):
                polls += 1
                if meanwhile is not None:
                    meanwhile()
    except BaseException:
        errand.end(stop)
        raise
    if errand.failure is not None:
        raise errand.failure


class _Errand:
    """Work that is done once, by the first thread that begins it."""

    __slots__ = ("_taker", "_work", "bell", "failure", "over")

    def __init__(self, work: Callable[[], None]) -> None:
        self._work = work
        self._taker: dict[str, object] = {}
        """Who does the work; None: it was called off."""
        self.over = False
        self.bell = threading.Lock()
        """Taken until the work is over. It may be missed; `over` stays true."""
        self.bell.acquire()
        self.failure: BaseException | None = None

    @property
    def begun(self) -> bool:
        return bool(self._taker)

    def do(self) -> None:
        """Do the work, unless somebody does it or it was called off."""
        me = object()
        try:
            if self._taker.setdefault("work", me) is me:
                self._work()
        except BaseException as caught:  # noqa: BLE001 - raised again by who waits
            self.failure = caught
        finally:  # also if an exception that another thread set comes only here
            if self._taker.get("work") is me:
                self.over = True
                self.bell.release()

    def end(self, stop: Callable[[], None]) -> None:
        """Stop the work and wait until nobody does it, however often this thread is interrupted."""
        try:
            while not self.over:
                stop()
                if self._taker.setdefault("work", None) is None:
                    return
                self.bell.acquire(timeout=POLL_SECONDS)
        except BaseException:  # noqa: BLE001 - the interrupt before it is on its way
            self.end(stop)
