"""Compiled code on disk: keyed by content, published atomically, able to explain a miss."""

from __future__ import annotations

import time

LOADED = time.time_ns()
"""When this process loaded hawk: if a file of hawk is younger, the process runs what it was before.
For this, whoever compiles imports this early; the rest waits until something is compiled."""
