"""hawk's own code as part of every key: who edits a pass must not get what the old one made."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from hawk.cache.digest import digest
from hawk.cache.folder import MEMO, Damaged, Folder

CLOCK = 10_000_000
"""Nanoseconds that a file's time may lag behind the clock: the kernel looks at it each tick."""
SETTLED = 1_000_000_000
"""Nanoseconds after which a file that is written again certainly gets another time."""


EDITED = "hawk's own files were changed after this process loaded hawk"


class Unknown(Exception):
    """The code that this process runs is not the code in hawk's files."""


class SourceFile(NamedTuple):
    """A file of hawk as its folder lists it."""

    path: str
    size: int
    inode: int
    modified: int
    changed: int
    """The latest time at which anything about it changed; unlike `modified` it cannot be set."""


def fingerprint(folder: Folder, loaded: int, package: Path | None = None) -> str:
    """The hash of the text of all of hawk's files, and with it of its version.

    `loaded` is when this process loaded hawk, as of `time.time_ns`. The hash is remembered in
    `folder` for the files as they are listed, so it costs half a millisecond. Raises Unknown.
    """
    package = package or Path(__file__).parents[1]
    files = _listed(package)
    if not files:  # a frozen application, a zip
        raise Unknown(f"hawk's source files are not in {package}")
    now = time.time_ns()
    # What is in the future was there before, by another clock.
    if any(loaded - CLOCK <= file.changed <= now for file in files):
        raise Unknown(EDITED)
    name = digest(repr([tuple(file) for file in files]).encode()).hex() + MEMO
    with suppress(OSError, Damaged):
        known = folder.read(name)
        if known is not None:
            return known[1]["fingerprint"]
    made = _contents(package, files)
    if max(file.changed for file in files) < now - SETTLED:
        with suppress(OSError):
            folder.publish(name, (b"", {"fingerprint": made}))
    return made


def _listed(package: Path) -> list[SourceFile]:
    """Every source file of the package, none where it is not a folder."""
    try:
        return sorted(_walk(str(package)))
    except OSError:
        return []


def _walk(path: str) -> Iterator[SourceFile]:
    with os.scandir(path) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                info = entry.stat()
                changed = max(info.st_mtime_ns, info.st_ctime_ns)
                yield SourceFile(entry.path, info.st_size, info.st_ino, info.st_mtime_ns, changed)
            elif entry.name != "__pycache__" and entry.is_dir():
                yield from _walk(entry.path)


def _contents(package: Path, files: list[SourceFile]) -> str:
    """The hash of names and texts. Where the package is does not count."""
    pieces: list[bytes] = []
    try:
        for file in files:
            path = Path(file.path)
            pieces += path.relative_to(package).as_posix().encode(), path.read_bytes()
    except OSError as error:
        raise Unknown(f"hawk's own files cannot be read: {error}") from None
    if _listed(package) != files:
        raise Unknown(EDITED)
    return digest(*pieces).hex()
