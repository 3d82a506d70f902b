"""How far a run is, on the screen: a bar where rich is installed, lines of text elsewhere.

The one place that knows rich, which is loaded when a bar is drawn.
"""

from __future__ import annotations

import abc
import io
import sys
from time import perf_counter
from typing import TextIO

REFRESH_SECONDS = 0.2
"""Time between two pictures of the bar, and before the first: a run that is over by then is not
worth one."""

LINE_SECONDS, LINE_SHARE = 10.0, 0.1
"""A line of text is written after so long, or when so much more of the samples is done."""


class Display(abc.ABC):
    """Shows how many of the samples of a run are done."""

    def __init__(self, name: str, n: int) -> None:
        self.name, self.n = name, n
        self._begin = self._last = perf_counter()
        self._shown = False

    def show(self, done: int) -> None:
        """Say that `done` samples are. Costs next to nothing when it was called just before."""
        now = perf_counter()
        if now - self._last >= REFRESH_SECONDS:
            self._last, self._shown = now, True
            self.draw(done, now - self._begin)

    def close(self, done: int) -> None:
        """Say how it ended, if anything was shown before."""
        if self._shown:
            self.draw(done, perf_counter() - self._begin, last=True)

    @abc.abstractmethod
    def draw(self, done: int, seconds: float, *, last: bool = False) -> None:
        """Show that `done` samples are after so many seconds."""


class Lines(Display):
    """Lines of text, few enough for a log."""

    def __init__(self, name: str, n: int, stream: TextIO) -> None:
        super().__init__(name, n)
        self._stream = stream
        self._written = (0, 0.0)
        """Samples and seconds of the latest line."""

    def draw(self, done: int, seconds: float, *, last: bool = False) -> None:
        done_before, seconds_before = self._written
        more = done - done_before >= LINE_SHARE * self.n
        if last or more or seconds - seconds_before >= LINE_SECONDS:
            self._written = (done, seconds)
            print(sentence(self.name, self.n, done, seconds), file=self._stream, flush=True)


class Bar(Display):
    """A bar of rich's."""

    def __init__(self, name: str, n: int, stream: TextIO) -> None:
        super().__init__(name, n)
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[text]}"),
            console=Console(file=stream),
            auto_refresh=False,  # the thread that waits for the run draws, no other
        )
        self._task = self._bar.add_task(name, total=n, text="")
        self._started = False

    def draw(self, done: int, seconds: float, *, last: bool = False) -> None:
        if not self._started:
            self._started = True
            self._bar.start()
        text = figures(self.n, done, seconds)
        self._bar.update(self._task, completed=done, text=text, refresh=True)
        if last:
            self._bar.stop()


def display(name: str, n: int, stream: TextIO | None = None) -> Display:
    """The best display for `stream`, by default where errors are written."""
    # A program without a console has no such stream.
    target: TextIO = stream or sys.stderr or io.StringIO()
    if target.isatty() and _has_rich():
        return Bar(name, n, target)
    return Lines(name, n, target)


def _has_rich() -> bool:
    from importlib.util import find_spec

    return find_spec("rich") is not None


def sentence(name: str, n: int, done: int, seconds: float) -> str:
    """One line of text."""
    return f"{name}: {figures(n, done, seconds)}"


def figures(n: int, done: int, seconds: float) -> str:
    """Samples done, rate, time left."""
    share = f"{done:,} of {n:,} samples done ({100 * done // max(1, n)} %)"
    rate = done / seconds if seconds > 0 else 0.0
    if done >= n:
        return f"{share}, {_count(rate)} a second, {_time(seconds)}"
    if not rate:
        return f"{share}, {_time(seconds)}"
    return f"{share}, {_count(rate)} a second, {_time((n - done) / rate)} left"


def _count(rate: float) -> str:
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"


def _time(seconds: float) -> str:
    """`0:07`, `3:12:05`."""
    minutes, rest = divmod(int(seconds + 0.5), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
