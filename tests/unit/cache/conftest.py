"""A cache of its own for each test, which does not mind that hawk's files are being edited."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hawk import cli
from hawk.cache import LOADED, lookup
from hawk.cache.folder import Folder
from hawk.config import Config


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """A folder for entries that is not there yet."""
    return Folder(tmp_path / "cache", max_bytes=1 << 20)


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """hawk's own code is what it is; how that is told is tested elsewhere."""
    monkeypatch.setattr(lookup, "fingerprint", lambda folder, loaded: "hawk of today")


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, folder: Folder) -> Callable[..., None]:
    """Kernels and the command see these variables; until it is called, the cache is `folder`."""

    def change(**variables: str) -> None:
        read = Config.from_env(variables)
        cache = lookup.Cache(read, loaded=LOADED)
        monkeypatch.setattr(lookup, "shared", lambda loaded: cache)
        monkeypatch.setattr(cli, "config", lambda: read)

    change(HAWK_CACHE_DIR=str(folder.path))
    return change
