"""Finding code or making it, whatever state the cache is in."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hawk.cache import lookup
from hawk.cache.fingerprint import Unknown
from hawk.cache.folder import Entry, Folder
from hawk.cache.journal import misses
from hawk.cache.lookup import HIT, Cache, CacheWarning, Wanted
from hawk.config import Config
from tests.unit.cache.disks import make_read_only, small_disk

pytestmark = pytest.mark.usefixtures("settled")

WANTED = Wanted("orbit", "orbit.py", "x = fma", "float64", "x86_64, +avx2", "LLVM 22")


class Maker:
    """Makes entries and loads them, and counts both."""

    def __init__(self, folder: Path | None, **options: Any) -> None:
        self.config = Config(cache_dir=folder, **options)
        self.made, self.loaded = 0, list[Entry]()
        self.cache = Cache(self.config, loaded=0)

    def get(self, wanted: Wanted = WANTED) -> str:
        """Get the code for `wanted`; gives why, or that it was there."""
        result, why = self.cache.get_or_make(wanted, self.make, self.load)
        assert f"loaded {wanted.program}" == result
        return why

    def make(self) -> Entry:
        self.made += 1
        return b"code", {"of": WANTED.program}

    def load(self, code: bytes, facts: dict[str, Any]) -> str:
        assert b"code" == code
        self.loaded.append((code, facts))
        return f"loaded {facts['of']}"


@pytest.fixture
def maker(folder: Folder) -> Maker:
    return Maker(folder.path)


def test_the_second_time_it_is_there(maker: Maker) -> None:
    assert "first time" == maker.get()
    assert HIT == maker.get()
    assert HIT == Maker(maker.config.cache_dir).get()
    assert 1 == maker.made


@pytest.mark.parametrize("part", ["variant", "machine", "versions"])
def test_every_part_of_the_key_counts(maker: Maker, part: str) -> None:
    maker.get()
    maker.get(WANTED._replace(**{part: "another"}))

    assert 2 == maker.made


def test_another_program_is_another_kernel(maker: Maker) -> None:
    maker.get()
    maker.make = lambda: (b"code", {"of": "another"})

    assert "the program changed" == maker.get(WANTED._replace(program="another"))


def test_hawks_own_code_counts(maker: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    maker.get()
    monkeypatch.setattr(lookup, "fingerprint", lambda folder, loaded: "hawk of tomorrow")

    assert HIT == maker.get()  # this process runs the hawk of today to its end
    assert "hawk itself changed" == Maker(maker.config.cache_dir).get()


def test_names_of_kernel_and_file_do_not_count(maker: Maker) -> None:
    maker.get()

    assert HIT == maker.get(WANTED._replace(kernel="another", file="elsewhere.py"))


def test_misses_are_noted_and_hits_are_not(maker: Maker, folder: Folder) -> None:
    maker.get()
    maker.get()
    maker.get(WANTED._replace(machine="x86_64, +avx512f"))

    noted = list(misses(folder.notes()))
    assert [("orbit", "orbit.py")] * 2 == [(miss.kernel, miss.file) for miss in noted]
    assert ["first time", "the machine changed: +avx2 -> +avx512f"] == [miss.why for miss in noted]


# -- entries that are no good --------------------------------------------------------------------


@pytest.mark.parametrize("harm", [lambda raw: raw[:-1], lambda raw: b"", lambda raw: raw[::-1]])
def test_a_damaged_entry_is_made_anew(
    maker: Maker, folder: Folder, harm: Callable[[bytes], bytes]
) -> None:
    maker.get()
    (entry,) = folder.path.glob("*.hawk")
    entry.write_bytes(harm(entry.read_bytes()))

    assert "its entry was damaged" == maker.get()
    assert HIT == maker.get()


def test_an_entry_that_does_not_load_is_made_anew(maker: Maker) -> None:
    maker.get()
    load, refused = maker.load, list[bytes]()

    def refuses_once(code: bytes, facts: dict[str, Any]) -> str:
        if not refused:
            refused.append(code)
            raise RuntimeError("not an object file")
        return load(code, facts)

    maker.load = refuses_once
    assert "its entry could not be loaded" == maker.get()
    assert HIT == maker.get()


def test_what_cannot_be_made_is_the_callers_error_and_not_kept(maker: Maker) -> None:
    make = maker.make

    def fails() -> Entry:
        raise ZeroDivisionError

    maker.make = fails
    with pytest.raises(ZeroDivisionError):
        maker.get()

    maker.make = make
    assert "first time" == maker.get()


# -- no cache ------------------------------------------------------------------------------------


def test_it_can_be_switched_off(folder: Folder) -> None:
    maker = Maker(folder.path, cache=False)

    assert "off: HAWK_CACHE=0" == maker.get() == maker.get()
    assert 2 == maker.made
    assert not folder.path.exists()


def test_without_a_home_it_works_and_says_so_once() -> None:
    maker = Maker(None)

    with pytest.warns(CacheWarning, match="anew in each process: neither HAWK_CACHE_DIR"):
        assert "off: neither HAWK_CACHE_DIR, XDG_CACHE_HOME nor HOME is set" == maker.get()
    assert maker.get().startswith("off: neither")
    assert 2 == maker.made


def test_a_folder_of_another_user_is_left_alone(
    maker: Maker, folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    maker.get()
    stranger = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: stranger)

    with pytest.warns(CacheWarning, match=rf"the cache {folder.path} belongs to another user"):
        assert "belongs to another user" in maker.get()
    assert maker.get().startswith("off: ")
    assert 3 == maker.made


def test_a_folder_that_cannot_be_made_is_no_harm(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    maker = Maker(tmp_path / "file" / "cache")

    with pytest.warns(CacheWarning, match="Not a directory"):
        assert "Not a directory" in maker.get()
    assert "Not a directory" in maker.get()
    assert 2 == maker.made


def test_a_full_disk_is_no_harm(maker: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(file: int, raw: bytes) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.warns(CacheWarning, match="No space left on device"):
            assert "first time (and it could not be kept: " in maker.get()
        assert "No space left on device)" in maker.get()

    assert "first time" == maker.get()
    assert HIT == maker.get()


def test_a_read_only_disk_still_gives_what_it_has(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "64k"):
        assert "first time" == Maker(tmp_path / "disk").get()
        make_read_only(tmp_path / "disk")
        maker = Maker(tmp_path / "disk")

        assert HIT == maker.get()
        with pytest.warns(CacheWarning, match="Read-only file system"):
            assert "could not be kept" in maker.get(WANTED._replace(machine="x86_64, +avx512f"))


def test_code_that_is_larger_than_the_limit_is_no_harm(folder: Folder) -> None:
    maker = Maker(folder.path, cache_max_bytes=50)

    with pytest.warns(CacheWarning, match="too small for this kernel: HAWK_CACHE_MAX_BYTES=50"):
        assert "could not be kept" in maker.get()
    assert "could not be kept" in maker.get()


def test_a_process_that_runs_older_code_of_hawk_keeps_away(
    maker: Maker, folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(folder: Folder, loaded: int) -> str:
        raise Unknown("hawk's own files were changed")

    monkeypatch.setattr(lookup, "fingerprint", unknown)

    assert "off: hawk's own files were changed" == maker.get()
    assert not folder.path.exists()
