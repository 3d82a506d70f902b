"""Seeing launches where they reach native code, for tests and for who wants to measure."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """One launch, as the compiled kernel was asked and as it answered."""

    begin: int
    end: int
    steps: int
    piece: int
    taken: int
    """Pieces really taken."""
    finished: int
    longest: int
    calls: int
    """Times the native entry was called: once on each thread that took part."""


watchers: list[list[Entry]] = []
"""Where launches are written down; empty when nobody watches."""


@contextmanager
def watch_entries() -> Iterator[list[Entry]]:
    """Give a list that gets one `Entry` for each launch of the process, until the block ends."""
    seen: list[Entry] = []
    watchers.append(seen)
    try:
        yield seen
    finally:
        # By identity: two lists with equal entries are equal.
        watchers[:] = [watcher for watcher in watchers if watcher is not seen]
