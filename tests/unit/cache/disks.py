"""Small disks of memory, where the machine lets us mount them."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(path: Path, size: str) -> Iterator[None]:
    """A file system of `size` at `path`; skips the test where mounting is not permitted."""
    path.mkdir(mode=0o700)
    options = ["-t", "tmpfs", "-o", f"size={size},mode=700"]
    try:
        mounted = subprocess.run(["mount", *options, "tmpfs", path], capture_output=True)
    except FileNotFoundError:
        pytest.skip("there is no mount here")
    if mounted.returncode:
        pytest.skip(f"mounting is not permitted here: {mounted.stderr.decode().strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", path], check=True)


def make_read_only(path: Path) -> None:
    """Make what `small_disk` mounted a file system that can only be read."""
    subprocess.run(["mount", "-o", "remount,ro", path], check=True)
