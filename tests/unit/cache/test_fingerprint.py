"""hawk's own code in the key: an edit changes it, another place or time does not."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from hawk.cache import fingerprint as module
from hawk.cache.fingerprint import Unknown, fingerprint
from hawk.cache.folder import Folder

LATER = 2**62
"""This process loaded hawk after all files were written."""


def package(path: Path, **texts: str) -> Path:
    """A package with a file in a folder."""
    (path / "passes").mkdir(parents=True)
    (path / "__pycache__").mkdir()
    for name, text in ({"kernel": "k", "errors": "e"} | texts).items():
        (path / f"{name}.py").write_text(text)
    (path / "passes" / "fold.py").write_text("f")
    return path


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The packages whose files were read, in order."""
    seen: list[Path] = []
    contents = module._contents

    def spy(package: Path, files: list[module.SourceFile]) -> str:
        seen.append(package)
        return contents(package, files)

    monkeypatch.setattr(module, "_contents", spy)
    return seen


def test_it_is_the_same_for_the_same_text_anywhere(folder: Folder, tmp_path: Path) -> None:
    here, there = package(tmp_path / "here"), package(tmp_path / "there")

    assert fingerprint(folder, LATER, here) == fingerprint(folder, LATER, there)


def test_every_edit_changes_it(folder: Folder, tmp_path: Path) -> None:
    here = package(tmp_path / "here")
    seen = [fingerprint(folder, LATER, here)]
    fold = here / "passes" / "fold.py"

    fold.write_text("g")
    seen.append(fingerprint(folder, LATER, here))
    fold.rename(here / "passes" / "unfold.py")
    seen.append(fingerprint(folder, LATER, here))
    (here / "new.py").touch()
    seen.append(fingerprint(folder, LATER, here))
    (here / "errors.py").unlink()
    seen.append(fingerprint(folder, LATER, here))

    assert 5 == len(set(seen))


def test_what_python_makes_of_it_does_not_count(folder: Folder, tmp_path: Path) -> None:
    here = package(tmp_path / "here")
    before = fingerprint(folder, LATER, here)
    (here / "__pycache__" / "kernel.py").write_text("not a source")
    (here / "py.typed").touch()

    assert before == fingerprint(folder, LATER, here)


def test_files_that_did_not_change_are_read_once(
    folder: Folder, tmp_path: Path, reads: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SETTLED", -(10**12))
    here = package(tmp_path / "here")
    first = fingerprint(folder, LATER, here)
    assert first == fingerprint(folder, LATER, here)
    assert [here] == reads

    # The same length and the same time of modification: it is seen all the same.
    fold = here / "passes" / "fold.py"
    info = fold.stat()
    fold.write_text("g")
    os.utime(fold, ns=(info.st_atime_ns, info.st_mtime_ns))
    assert first != fingerprint(folder, LATER, here)
    assert [here, here] == reads


def test_files_that_were_just_written_are_read_each_time(
    folder: Folder, tmp_path: Path, reads: list[Path]
) -> None:
    # Two edits within one tick of the file system's clock leave the same time.
    here = package(tmp_path / "here")

    assert fingerprint(folder, LATER, here) == fingerprint(folder, LATER, here)
    assert [here, here] == reads


def test_a_damaged_memory_of_it_is_made_anew(
    folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SETTLED", -(10**12))
    here = package(tmp_path / "here")
    first = fingerprint(folder, LATER, here)
    (memo,) = folder.path.iterdir()
    memo.write_bytes(b"rubbish")

    assert first == fingerprint(folder, LATER, here)


def test_a_process_that_is_older_than_the_files_does_not_know(
    folder: Folder, tmp_path: Path
) -> None:
    loaded = time.time_ns()

    with pytest.raises(Unknown, match="changed after this process loaded hawk"):
        fingerprint(folder, loaded, package(tmp_path / "here"))


def test_an_edit_while_the_files_are_read_is_seen(
    folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = package(tmp_path / "here")
    read_bytes = Path.read_bytes

    def slowly(path: Path) -> bytes:
        (here / "kernel.py").write_text("edited")
        return read_bytes(path)

    monkeypatch.setattr(Path, "read_bytes", slowly)
    with pytest.raises(Unknown, match="changed after this process loaded hawk"):
        fingerprint(folder, LATER, here)


def test_times_in_the_future_are_another_clocks(folder: Folder, tmp_path: Path) -> None:
    here = package(tmp_path / "here")
    for path in (*here.glob("*.py"), *here.glob("*/*.py")):
        os.utime(path, (2**33, 2**33))

    assert fingerprint(folder, 0, here)


def test_without_source_files_it_is_not_known(folder: Folder, tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "hawk.zip" / "hawk"):
        with pytest.raises(Unknown, match="source files are not in"):
            fingerprint(folder, LATER, place)
