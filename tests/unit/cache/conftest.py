"""A cache of its own for each test, which does not mind that hawk's files are being edited."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hawk.cache import lookup
from hawk.cache.folder import Folder
from hawk.config import config


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """A folder for entries that is not there yet."""
    return Folder(tmp_path / "cache", max_bytes=1 << 20)


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """hawk's own code is what it is; `test_fingerprint` and `test_processes` test how it is told."""
    monkeypatch.setattr(lookup, "fingerprint", lambda folder, loaded: "hawk of today")


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[..., None]]:
    """Set variables and have them read again; the cache is in `tmp_path` unless said otherwise."""

    def forget() -> None:
        config.cache_clear()
        lookup.shared.cache_clear()

    def change(**variables: str | None) -> None:
        for name, value in variables.items():
            if value is None:
                monkeypatch.delenv(name, raising=False)
            else:
                monkeypatch.setenv(name, value)
        forget()

    change(
        HAWK_CACHE_DIR=str(tmp_path / "cache"), HAWK_CACHE_MAX_BYTES=None, HAWK_CACHE=None
    )
    yield change
    monkeypatch.undo()
    forget()
