"""`hawk cache why`, `size` and `clear`."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from hawk.cache.folder import Folder
from hawk.cache.journal import Miss
from hawk.cli import main

pytestmark = pytest.mark.usefixtures("environment")

NOTED = [
    Miss(1_800_000_000, "orbit", "orbit.py", {"variant": "float64"}, "first time"),
    Miss(1_800_000_060, "fall", "fall.py", {"variant": "float32"}, "the program changed"),
]


@pytest.fixture
def filled(folder: Folder) -> Folder:
    for miss in NOTED:
        folder.note(miss.line())
    folder.publish("12ab.hawk", (b"code", {}))
    return folder


def test_why_prints_a_line_for_each_miss(
    filled: Folder, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 0 == main(["cache", "why"])

    printed = capsys.readouterr().out
    assert re.fullmatch(
        r"2027-01-1\d \d\d:\d\d  orbit \(orbit\.py\), float64: first time\n"
        r"2027-01-1\d \d\d:\d\d  fall \(fall\.py\), float32: the program changed\n",
        printed,
    )


@pytest.mark.parametrize(
    ("kernels", "options"),
    [(["fall"], ["fall"]), (["fall"], ["--last", "1"]), ([], ["--last", "0"])],
)
def test_why_can_be_asked_for_some(
    filled: Folder, capsys: pytest.CaptureFixture[str], kernels: list[str], options: list[str]
) -> None:
    assert 0 == main(["cache", "why", *options])

    assert kernels == re.findall(r"  (\w+) \(", capsys.readouterr().out)


def test_why_says_so_when_nothing_was_compiled(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["cache", "why"])
    assert 0 == main(["cache", "why", "orbit"])

    assert ["nothing was compiled", "nothing was compiled that is called orbit"] == (
        capsys.readouterr().out.splitlines()
    )


def test_size_says_where_and_how_much(filled: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    size = (filled.path / "12ab.hawk").stat().st_size

    assert 0 == main(["cache", "size"])

    expected = f"{filled.path}: 1 program, {size} bytes; at most 268,435,456 bytes are kept\n"
    assert expected == capsys.readouterr().out


def test_clear_empties_it(filled: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["cache", "clear"])
    assert 0 == main(["cache", "clear"])

    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{filled.path}: removed 1 program, ")
    assert f"{filled.path}: removed 0 programs, 0 bytes" == second
    assert [] == list(filled.path.iterdir())


@pytest.mark.parametrize("action", ["why", "size", "clear"])
def test_a_folder_that_may_not_be_used_is_a_sentence(
    filled: Folder, capsys: pytest.CaptureFixture[str], action: str
) -> None:
    filled.path.chmod(0o777)

    assert 1 == main(["cache", action])

    expected = f"hawk: {filled.path}: can be written by others; write: chmod 700 {filled.path}\n"
    assert expected == capsys.readouterr().err


@pytest.mark.parametrize("action", ["why", "size", "clear"])
def test_without_a_folder_there_is_nothing_to_look_after(
    environment: Callable[..., None], capsys: pytest.CaptureFixture[str], action: str
) -> None:
    environment()

    assert 1 == main(["cache", action])

    assert capsys.readouterr().err.startswith("hawk: there is no cache: neither HAWK_CACHE_DIR")


def test_a_switched_off_cache_can_be_cleared(
    filled: Folder, environment: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    environment(HAWK_CACHE="0", HAWK_CACHE_DIR=str(filled.path))

    assert 0 == main(["cache", "size"])
    assert 0 == main(["cache", "clear"])

    assert "HAWK_CACHE=0 turns it off" in capsys.readouterr().out


def test_the_command_is_installed_under_its_name() -> None:
    pyproject = Path(__file__).parents[3] / "pyproject.toml"

    assert 'hawk = "hawk.cli:main"' in pyproject.read_text(encoding="utf-8").splitlines()
