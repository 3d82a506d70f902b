"""The folder on disk: entries that are whole or not there, in a folder that is the user's alone.

An entry is one file, written under a temporary name and renamed, so a reader sees all of it or
nothing, and of two processes that write the same entry the later one wins. Its first bytes are a
checksum over its name and all that follows. Every method may raise OSError: `Unsafe` when the
folder may not be used, else what the system said.
"""

from __future__ import annotations

import ast
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from hawk.cache.digest import SIZE, digest

Entry: TypeAlias = "tuple[bytes, dict[str, Any]]"
"""Machine code, and facts about it: a dict of plain Python values."""

MAGIC = b"hawk cache 1\n"
HEAD = len(MAGIC) + SIZE + 8
PROGRAM, MEMO, TEMPORARY = ".hawk", ".memo", ".tmp"
"""How the names of our files end; no other file is ever touched. And there is the journal."""
JOURNAL = "journal"
JOURNAL_BYTES = 256 << 10
"""When the journal is longer, its older half goes."""
USED = 3600
"""Seconds in which an entry is marked as used once at most: each mark is a write."""
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
ABANDONED = 3600
"""Seconds after which a temporary file's process must be dead."""


class Unsafe(OSError):
    """A folder that somebody else could put machine code into."""


class Damaged(Exception):
    """An entry that is not what was written."""


@dataclass(frozen=True, slots=True)
class Folder:
    """The cache's folder. It need not be there: the first entry makes it."""

    path: Path
    max_bytes: int

    def read(self, name: str) -> Entry | None:
        """The entry `name`, None if there is none. Raises Damaged, and OSError."""
        try:
            with self._opened() as folder:
                raw = _read(name, folder)
        except FileNotFoundError:
            return None
        return _decoded(name, raw)

    def publish(self, name: str, entry: Entry) -> None:
        """Make the entry `name`, all of it at once. Raises OSError."""
        raw = _encoded(name, entry)
        if len(raw) > self.max_bytes:
            raise OSError(f"is too small for this kernel: HAWK_CACHE_MAX_BYTES={self.max_bytes}")
        with self._opened(make=True) as folder:
            _write(name, raw, folder)
            # Names are evenly spread: every 16th entry pays for looking at all of them.
            if name.startswith("0"):
                self._trim(folder)

    def trim(self) -> None:
        """Remove what was not used for longest, if there is more than `max_bytes`."""
        with self._opened() as folder:
            self._trim(folder)

    def clear(self) -> tuple[int, int]:
        """Remove everything of ours; how many programs, and how many bytes in all."""
        programs, size = self.size()
        with suppress(FileNotFoundError), self._opened() as folder:
            for name, info in _files(folder):
                if not _being_written(name, info):
                    _remove(name, folder)
            _remove(JOURNAL, folder)
        return programs, size

    def size(self) -> tuple[int, int]:
        """How many programs there are, and how many bytes in all."""
        try:
            with self._opened() as folder:
                files = list(_files(folder))
        except FileNotFoundError:
            return 0, 0
        programs = sum(name.endswith(PROGRAM) for name, _ in files)
        return programs, sum(info.st_size for _, info in files)

    def note(self, line: str) -> None:
        """Add a line to the journal. Raises OSError."""
        raw = line.encode() + b"\n"
        with self._opened(make=True) as folder:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
            file = os.open(JOURNAL, flags, 0o600, dir_fd=folder)
            try:
                os.write(file, raw)  # in one piece, so that lines of two processes do not mix
                length = os.fstat(file).st_size
            finally:
                os.close(file)
            if length > JOURNAL_BYTES:
                kept = _read(JOURNAL, folder)[-JOURNAL_BYTES // 2 :].partition(b"\n")[2]
                _write(JOURNAL, kept, folder)

    def notes(self) -> list[str]:
        """The lines of the journal, oldest first. Raises OSError."""
        try:
            with self._opened() as folder:
                return _read(JOURNAL, folder).decode(errors="replace").splitlines()
        except (FileNotFoundError, Damaged):
            return []

    @contextmanager
    def _opened(self, *, make: bool = False) -> Iterator[int]:
        """The folder as a descriptor, which is looked at and then used: nobody can swap it.

        It is opened anew each time, since a process may close descriptors that it did not open.
        """
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
        try:
            folder = os.open(self.path, flags)
        except FileNotFoundError:
            if not make:
                raise
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder = os.open(self.path, flags)
        try:
            self._check(os.fstat(folder))
            yield folder
        finally:
            os.close(folder)

    def _check(self, info: os.stat_result) -> None:
        if info.st_uid != os.geteuid():
            raise Unsafe(f"belongs to another user (uid {info.st_uid}, you are {os.geteuid()})")
        if info.st_mode & OTHERS_WRITE:
            raise Unsafe(f"can be written by others; write: chmod 700 {self.path}")

    def _trim(self, folder: int) -> None:
        total, entries = 0, list[tuple[int, int, str]]()
        for name, info in _files(folder):
            if not name.endswith(TEMPORARY):
                entries.append((info.st_mtime_ns, info.st_size, name))
                total += info.st_size
            elif not _being_written(name, info):
                _remove(name, folder)
        if total <= self.max_bytes:
            return
        for _, size, name in sorted(entries):
            _remove(name, folder)
            total -= size
            # Down to three quarters, so that not every new entry has to remove an old one.
            if total <= self.max_bytes * 3 // 4:
                return


def _files(folder: int) -> Iterator[tuple[str, os.stat_result]]:
    """Our files but for the journal, in no order."""
    with os.scandir(folder) as files:
        for file in files:
            if file.name.endswith((PROGRAM, MEMO, TEMPORARY)):
                with suppress(FileNotFoundError):  # another process was faster
                    yield file.name, file.stat(follow_symlinks=False)


def _being_written(name: str, info: os.stat_result) -> bool:
    return name.endswith(TEMPORARY) and time.time() - info.st_mtime < ABANDONED


def _remove(name: str, folder: int) -> None:
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)


def _read(name: str, folder: int) -> bytes:
    """The contents of a file, which is marked as used. Raises Damaged if it may not be ours."""
    file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    with os.fdopen(file, "rb", buffering=0) as reader:
        info = os.fstat(file)
        # The folder may have been open to others before it was the user's alone.
        if info.st_uid != os.geteuid() or info.st_mode & OTHERS_WRITE:
            raise Damaged(name)
        if time.time() - info.st_mtime > USED:
            with suppress(OSError):  # a folder that can only be read is fine
                os.utime(file)
        return reader.read()


def _write(name: str, raw: bytes, folder: int) -> None:
    """Write a file under another name, then give it its own."""
    # Not from `random`: after a fork two processes would draw the same name.
    temporary = f".{name}.{os.urandom(8).hex()}{TEMPORARY}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    file = os.open(temporary, flags, 0o600, dir_fd=folder)
    try:
        try:
            rest = memoryview(raw)
            while rest:
                rest = rest[os.write(file, rest) :]
        finally:
            os.close(file)  # a network file system may say only here that the disk is full
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise


def _encoded(name: str, entry: Entry) -> bytes:
    code, facts = entry
    text = repr(facts).encode()
    body = len(text).to_bytes(8, "little") + text + code
    return MAGIC + digest(name.encode(), body) + body


def _decoded(name: str, raw: bytes) -> Entry:
    check, body = raw[len(MAGIC) : len(MAGIC) + SIZE], raw[len(MAGIC) + SIZE :]
    if not raw.startswith(MAGIC) or digest(name.encode(), body) != check:
        raise Damaged(name)
    end = 8 + int.from_bytes(body[:8], "little")
    # A literal, not JSON: `ast` is loaded already, json would cost the first kernel 2 ms.
    return body[end:], ast.literal_eval(body[8:end].decode())
