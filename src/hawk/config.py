"""The environment, read once into a frozen value. No other file of hawk reads it."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Config:
    """Every knob of hawk that the environment can turn."""

    cache: bool = True
    """`HAWK_CACHE`: 0 compiles anew in each process and leaves the cache alone."""
    cache_dir: Path | None = None
    """`HAWK_CACHE_DIR`: the cache's folder. Else `hawk` in the user's cache folder; None where
    nothing says where that is."""
    cache_max_bytes: int = 256 << 20
    """`HAWK_CACHE_MAX_BYTES`: from which size on the code that was not used for longest goes."""

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> Config:
        """Read `env`. Raises ValueError for a value that cannot be meant."""
        switch = env.get("HAWK_CACHE", "").strip() or "1"
        if switch not in ("0", "1"):
            raise ValueError(f"HAWK_CACHE must be 0 (off) or 1 (on), got {switch!r}")
        size = env.get("HAWK_CACHE_MAX_BYTES", "").strip() or str(cls().cache_max_bytes)
        if not (size.isascii() and size.isdigit()):
            raise ValueError(f"HAWK_CACHE_MAX_BYTES must be a number of bytes, got {size!r}")
        return cls(cache=switch == "1", cache_dir=_cache_dir(env), cache_max_bytes=int(size))


def _cache_dir(env: Mapping[str, str]) -> Path | None:
    home = env.get("HOME", "")
    named = env.get("HAWK_CACHE_DIR", "")
    if named == "~" or named.startswith("~/"):  # a shell writes it out, a Dockerfile does not
        named = home + named[1:]
    if named:
        return Path(named).absolute()  # the process may change its directory later
    base = Path(env.get("XDG_CACHE_HOME", ""))
    if not base.is_absolute():  # then it is to be ignored, says its specification
        base = Path(home) / ".cache"
    return base / "hawk" if base.is_absolute() else None


@functools.cache
def config() -> Config:
    """The configuration of this process, read at its first use."""
    return Config.from_env(os.environ)
