"""One lock for tracing and compiling, and what a fork makes of it."""

from __future__ import annotations

import os
import threading

_lock = threading.RLock()


def compiling() -> threading.RLock:  # type: ignore[valid-type]
    """The lock that whoever traces, compiles or links holds.

    One for the process: LLVM is not asked by two threads at once, and a kernel that another thread
    is just compiling is worth waiting for.
    """
    return _lock


def _start_anew() -> None:
    """A forked child has none of its parent's threads, so nobody would ever release the lock."""
    global _lock  # noqa: PLW0603 - one lock a process is the point
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)
