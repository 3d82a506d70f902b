"""Look a kernel up, make it where it is not there, and say which of the two it was.

Nothing that is wrong with the cache reaches the user's call: without a folder that can be used,
kernels are compiled anew in each process, and a warning says so once.
"""

from __future__ import annotations

import functools
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from hawk.cache.digest import digest
from hawk.cache.fingerprint import Unknown, fingerprint
from hawk.cache.folder import PROGRAM, Damaged, Entry, Folder
from hawk.config import Config, config

T = TypeVar("T")

HIT = "hit"
"""What is said where the code was there."""


NOWHERE = "neither HAWK_CACHE_DIR, XDG_CACHE_HOME nor HOME is set"


class CacheWarning(UserWarning):
    """Compiled kernels cannot be kept, or not be found again; the message says why."""


class Wanted(NamedTuple):
    """What a kernel's code is made from: all of it, since it is the key."""

    kernel: str
    """Its name and its file are for people; they are not part of the key."""
    file: str
    program: str
    """The program as text, without places and the user's names."""
    variant: str
    """Which of the ways to compile the kernel: its float width, what is one number for all."""
    machine: str
    """Everything about the processor that the code relies on; items with commas between."""
    versions: str
    """The versions of whatever made the code; items with commas between."""


class Cache:
    """Compiled kernels in a folder. Threads and processes may use it at the same time."""

    def __init__(self, config: Config, *, loaded: int) -> None:
        """`loaded` is when this process loaded hawk, as of `time.time_ns`."""
        self._config, self._loaded = config, loaded
        self._warned: dict[str, object] = {}
        self._own_code = ""

    def get_or_make(
        self,
        wanted: Wanted,
        make: Callable[[], Entry],
        load: Callable[[bytes, dict[str, Any]], T],
    ) -> tuple[T, str]:
        """The loaded code of a kernel, and `"hit"` or why it had to be made.

        Raises what `make` raises, and what `load` raises on what was just made.
        """
        if not self._config.cache:
            return load(*make()), "off: HAWK_CACHE=0"
        if self._config.cache_dir is None:
            return load(*make()), f"off: {self._warn(NOWHERE)}"
        folder = Folder(self._config.cache_dir, self._config.cache_max_bytes)
        try:
            parts = self._parts(wanted, folder)
            name = digest(repr(sorted(parts.items())).encode()).hex() + PROGRAM
            made, why = _loaded(folder, name, load)
        except Unknown as unknown:
            return load(*make()), f"off: {unknown}"
        except OSError as error:
            return load(*make()), f"off: {self._warn(_text(folder, error))}"
        if made is not None:
            return made, HIT
        entry = make()
        made = load(*entry)
        try:
            why = why or _why(wanted, parts, folder)
            folder.publish(name, entry)
            _note(wanted, parts, why, folder)
        except OSError as error:
            why += f" (and it could not be kept: {self._warn(_text(folder, error))})"
        return made, why

    def _parts(self, wanted: Wanted, folder: Folder) -> dict[str, str]:
        """The key, in parts. Raises Unknown."""
        # Threads may do this at the same time; they come to the same.
        self._own_code = self._own_code or fingerprint(folder, self._loaded)
        return {
            "program": digest(wanted.program.encode()).hex(),
            "variant": wanted.variant,
            "machine": wanted.machine,
            "versions": wanted.versions,
            "hawk": self._own_code,
        }

    def _warn(self, text: str) -> str:
        """Warn once of what is wrong; gives it back."""
        first = object()
        # One step, so no lock is needed, which a fork could leave taken.
        if self._warned.setdefault(text, first) is first:
            warnings.warn(
                f"hawk compiles kernels anew in each process: {text}. HAWK_CACHE_DIR names a "
                "folder to keep them in, HAWK_CACHE=0 says not to.",
                CacheWarning,
                stacklevel=3,
            )
        return text


def _loaded(
    folder: Folder, name: str, load: Callable[[bytes, dict[str, Any]], T]
) -> tuple[T | None, str]:
    """The entry `name`, loaded; or None and what is wrong with it, if it is there."""
    try:
        found = folder.read(name)
    except Damaged:
        return None, "its entry was damaged"
    if found is None:
        return None, ""
    try:
        return load(*found), ""
    except Exception:  # noqa: BLE001 - whatever is wrong with it, it can be made anew
        return None, "its entry could not be loaded"


def _text(folder: Folder, error: OSError) -> str:
    what = f" {error}" if error.errno is None else f": {error.strerror}"
    return f"the cache {folder.path}{what}"


def _why(wanted: Wanted, parts: dict[str, str], folder: Folder) -> str:
    """Which part of the key is new."""
    from hawk.cache.journal import explain, misses  # what is in the cache needs no explanation

    quoted, asked = repr(wanted.kernel), (wanted.kernel, wanted.file)
    noted = misses(line for line in folder.notes() if quoted in line)
    return explain([miss for miss in noted if (miss.kernel, miss.file) == asked], parts)


def _note(wanted: Wanted, parts: dict[str, str], why: str, folder: Folder) -> None:
    """Write down what was compiled, for `hawk cache why`."""
    from hawk.cache.journal import Miss

    folder.note(Miss(int(time.time()), wanted.kernel, wanted.file, parts, why).line())


@functools.cache
def shared(loaded: int) -> Cache:
    """The cache of this process, as the environment says."""
    return Cache(config(), loaded=loaded)
