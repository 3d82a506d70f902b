"""The folder on disk: entries are whole or not there, and nobody else's."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hawk.cache.folder import ABANDONED, JOURNAL_BYTES, USED, Damaged, Folder, Unsafe
from tests.unit.cache.disks import make_read_only, small_disk

NAME = "12ab.hawk"
ENTRY = (b"\x7fELF\x00code", {"planes": [("x", "state", "f64", True)], "lanes": 8})

root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


def names(folder: Folder) -> list[str]:
    return sorted(path.name for path in folder.path.iterdir())


def age(path: Path, seconds: float) -> None:
    info = path.stat()
    os.utime(path, (info.st_atime - seconds, info.st_mtime - seconds))


# -- entries -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "entry", [ENTRY, (b"", {}), (bytes(range(256)) * 40, {"text": "é\n'\"", "none": None})]
)
def test_what_is_read_is_what_was_published(folder: Folder, entry: Any) -> None:
    folder.publish(NAME, entry)

    assert entry == folder.read(NAME)
    assert [NAME] == names(folder)


def test_reading_makes_no_folder(folder: Folder) -> None:
    assert folder.read(NAME) is None
    assert [] == folder.notes()
    assert (0, 0) == folder.size() == folder.clear()
    assert not folder.path.exists()


def test_the_folder_and_its_files_are_the_users_alone(folder: Folder) -> None:
    folder.publish(NAME, ENTRY)
    folder.note("a line")

    assert 0o40700 == folder.path.stat().st_mode
    assert {0o100600} == {path.stat().st_mode for path in folder.path.iterdir()}


def test_a_flipped_bit_is_found_wherever_it_is(folder: Folder) -> None:
    folder.publish(NAME, ENTRY)
    path = folder.path / NAME
    good = path.read_bytes()

    for place in range(8 * len(good)):
        bad = bytearray(good)
        bad[place // 8] ^= 1 << place % 8
        path.write_bytes(bad)
        with pytest.raises(Damaged):
            folder.read(NAME)

    path.write_bytes(good)
    assert ENTRY == folder.read(NAME)


def test_a_file_of_another_length_is_found(folder: Folder) -> None:
    folder.publish(NAME, ENTRY)
    path = folder.path / NAME
    good = path.read_bytes()

    for bad in (*(good[:length] for length in range(len(good))), good + b"\0", good + good):
        path.write_bytes(bad)
        with pytest.raises(Damaged):
            folder.read(NAME)


def test_an_entry_is_good_under_its_own_name_only(folder: Folder) -> None:
    folder.publish(NAME, ENTRY)
    (folder.path / NAME).rename(folder.path / "12ac.hawk")

    with pytest.raises(Damaged):
        folder.read("12ac.hawk")


# -- whose it is ---------------------------------------------------------------------------------


def every_use(folder: Folder) -> list[Callable[[], object]]:
    return [
        lambda: folder.read(NAME),
        lambda: folder.publish(NAME, ENTRY),
        lambda: folder.note("a line"),
        *(folder.notes, folder.trim, folder.clear, folder.size),
    ]


def test_a_folder_of_another_user_is_refused(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.publish(NAME, ENTRY)
    stranger = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: stranger)

    for use in every_use(folder):
        with pytest.raises(Unsafe, match="belongs to another user"):
            use()


@pytest.mark.parametrize("mode", [0o770, 0o702, 0o777, 0o1777])
def test_a_folder_that_others_can_write_to_is_refused(folder: Folder, mode: int) -> None:
    folder.publish(NAME, ENTRY)
    folder.path.chmod(mode)

    for use in every_use(folder):
        with pytest.raises(Unsafe, match="can be written by others; write: chmod 700"):
            use()

    folder.path.chmod(0o755)
    assert ENTRY == folder.read(NAME)


def test_an_entry_that_others_can_write_to_is_not_read(folder: Folder) -> None:
    folder.publish(NAME, ENTRY)
    (folder.path / NAME).chmod(0o602)

    with pytest.raises(Damaged):
        folder.read(NAME)

    folder.publish(NAME, ENTRY)
    assert ENTRY == folder.read(NAME)


@root
def test_an_entry_of_another_user_is_not_read(folder: Folder) -> None:
    folder.publish(NAME, ENTRY)
    os.chown(folder.path / NAME, 12345, 12345)

    with pytest.raises(Damaged):
        folder.read(NAME)


def test_an_entry_that_points_elsewhere_is_not_followed(folder: Folder, tmp_path: Path) -> None:
    folder.publish(NAME, ENTRY)
    (folder.path / NAME).rename(tmp_path / "elsewhere")
    (folder.path / NAME).symlink_to(tmp_path / "elsewhere")

    with pytest.raises(OSError, match="symbolic links"):
        folder.read(NAME)


def test_the_folder_may_be_a_link_to_another_disk(folder: Folder, tmp_path: Path) -> None:
    folder.publish(NAME, ENTRY)
    link = tmp_path / "link"
    link.symlink_to(folder.path)

    assert ENTRY == Folder(link, 1 << 20).read(NAME)


def test_a_file_in_the_place_of_the_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    for use in every_use(Folder(tmp_path / "file", 1 << 20)):
        with pytest.raises(NotADirectoryError):
            use()


# -- disks that are full or cannot be written to -------------------------------------------------


def test_a_full_disk_leaves_nothing_behind(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.note("a line")
    write, written = os.write, list[int]()

    def full(file: int, raw: bytes) -> int:
        if written:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written.append(write(file, raw[:10]))
        return written[0]

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space left"):
        folder.publish(NAME, ENTRY)

    assert [10] == written
    assert ["journal"] == names(folder)


def test_a_small_disk_that_is_full_keeps_what_it_has(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "64k"):
        folder = Folder(tmp_path / "disk" / "cache", 1 << 20)
        folder.publish(NAME, ENTRY)
        with pytest.raises(OSError, match="No space left"):
            folder.publish("34cd.hawk", (bytes(100_000), {}))

        assert [NAME] == names(folder)
        assert ENTRY == folder.read(NAME)


def test_a_disk_that_can_only_be_read_is_read(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "64k"):
        folder = Folder(tmp_path / "disk", 1 << 20)
        folder.publish(NAME, ENTRY)
        age(folder.path / NAME, 2 * USED)
        make_read_only(folder.path)

        assert ENTRY == folder.read(NAME)
        with pytest.raises(OSError, match="Read-only file system"):
            folder.publish("34cd.hawk", ENTRY)


# -- size ----------------------------------------------------------------------------------------


def test_what_was_not_used_for_longest_goes_first(folder: Folder) -> None:
    folder = Folder(folder.path, 4000)
    for hours, name in enumerate(["a.hawk", "b.hawk", "c.memo", "d.hawk", "e.hawk"]):
        folder.publish(name, (bytes(1000), {}))
        age(folder.path / name, (10 - hours) * 3600)

    folder.read("a.hawk")  # now it is the youngest
    folder.trim()

    assert ["a.hawk", "e.hawk"] == names(folder)


def test_what_fits_stays(folder: Folder) -> None:
    for name in ("a.hawk", "b.hawk"):
        folder.publish(name, (bytes(1000), {}))

    folder.trim()

    assert ["a.hawk", "b.hawk"] == names(folder)


def test_an_entry_is_marked_as_used_once_an_hour_at_most(folder: Folder) -> None:
    folder.publish(NAME, ENTRY)
    path = folder.path / NAME
    age(path, USED / 2)
    before = path.stat().st_mtime_ns
    folder.read(NAME)
    assert before == path.stat().st_mtime_ns

    age(path, USED)
    folder.read(NAME)
    assert before < path.stat().st_mtime_ns


def test_the_size_stays_bounded_while_entries_come(folder: Folder) -> None:
    folder = Folder(folder.path, 20_000)
    for number in range(1024):
        folder.publish(f"{number * 0x9E3779B1 % 2**32:08x}.hawk", (bytes(900), {}))

    kernels, size = folder.size()
    # Every 16th entry looks, so a few more than fit may have come since.
    assert size <= 20_000 + 32 * 1000
    assert kernels == len(names(folder))


def test_what_is_larger_than_the_limit_is_not_kept(folder: Folder) -> None:
    folder = Folder(folder.path, 500)

    with pytest.raises(OSError, match="too small for this kernel: HAWK_CACHE_MAX_BYTES=500"):
        folder.publish(NAME, (bytes(500), {}))


def test_files_of_processes_that_died_are_removed(folder: Folder) -> None:
    folder.publish(NAME, ENTRY)
    for name in (".old.tmp", ".new.tmp"):
        (folder.path / name).write_bytes(b"half an entry")
    age(folder.path / ".old.tmp", 2 * ABANDONED)

    folder.trim()

    assert [".new.tmp", NAME] == names(folder)


def test_clearing_removes_what_is_ours_and_nothing_else(folder: Folder) -> None:
    folder.publish(NAME, ENTRY)
    folder.publish("56ef.memo", (b"", {}))
    folder.note("a line")
    (folder.path / "thesis.tex").write_text("mine")
    for name in (".old.tmp", ".another_process_writes.tmp"):
        (folder.path / name).touch()
    age(folder.path / ".old.tmp", 2 * ABANDONED)

    kernels, size = folder.clear()

    assert 1 == kernels
    assert size > 0
    assert [".another_process_writes.tmp", "thesis.tex"] == names(folder)


# -- journal -------------------------------------------------------------------------------------


def test_the_journal_keeps_its_lines_in_order(folder: Folder) -> None:
    folder.note("first")
    folder.note("sécond")

    assert ["first", "sécond"] == folder.notes()


def test_the_journal_is_bounded_and_keeps_whole_lines(folder: Folder) -> None:
    lines = [f"{number:06} " + "x" * 991 for number in range(2 * JOURNAL_BYTES // 1000)]
    for line in lines:
        folder.note(line)

    kept = folder.notes()
    assert JOURNAL_BYTES // 2 - 1000 <= 999 * len(kept) <= JOURNAL_BYTES
    assert lines[-len(kept) :] == kept
    assert ["journal"] == names(folder)
