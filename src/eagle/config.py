"""The environment, read once into a frozen value. No other file of eagle reads it."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Config:
    """Every knob of eagle that the environment can turn."""

    threads: int | None = None
    """`EAGLE_NUM_THREADS`: threads a run may use. None: the cores this process may use."""

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> Config:
        """Read `env`. Raises ValueError for a value that cannot be meant."""
        text = env.get("EAGLE_NUM_THREADS", "").strip()
        if not text:
            return cls()
        if not (text.isascii() and text.isdigit() and int(text) >= 1):
            raise ValueError(
                f"EAGLE_NUM_THREADS must be a whole number of at least 1, got {text!r}; "
                "unset it to use the cores this process may use"
            )
        return cls(threads=int(text))


@functools.cache
def config() -> Config:
    """The configuration of this process, read at its first use."""
    return Config.from_env(os.environ)
