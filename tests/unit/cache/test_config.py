"""The environment as a value."""

from __future__ import annotations

from pathlib import Path

import pytest

from hawk.config import Config

HOME = {"HOME": "/home/eva"}


@pytest.mark.parametrize(
    ("folder", "env"),
    [
        ("/home/eva/.cache/hawk", {}),
        ("/scratch/eva/hawk", {"XDG_CACHE_HOME": "/scratch/eva"}),
        ("/home/eva/.cache/hawk", {"XDG_CACHE_HOME": "relative/is/ignored"}),
        ("/fast", {"HAWK_CACHE_DIR": "/fast", "XDG_CACHE_HOME": "/scratch/eva"}),
        ("/home/eva/fast", {"HAWK_CACHE_DIR": "~/fast"}),
        ("/home/eva/.cache/hawk", {"HAWK_CACHE_DIR": ""}),
    ],
)
def test_the_folder_is_the_named_one_or_the_users_own(folder: str, env: dict[str, str]) -> None:
    assert Path(folder) == Config.from_env(HOME | env).cache_dir


def test_a_relative_folder_stays_where_it_is_when_the_process_moves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    config = Config.from_env(HOME | {"HAWK_CACHE_DIR": "here"})

    assert tmp_path / "here" == config.cache_dir


@pytest.mark.parametrize("env", [{}, {"HOME": ""}, {"HOME": "relative"}])
def test_without_a_home_there_is_no_folder(env: dict[str, str]) -> None:
    assert Config.from_env(env).cache_dir is None


@pytest.mark.parametrize(("on", "text"), [(True, "1"), (True, ""), (True, " 1 "), (False, "0")])
def test_the_switch_is_0_or_1(on: bool, text: str) -> None:
    assert on == Config.from_env(HOME | {"HAWK_CACHE": text}).cache


@pytest.mark.parametrize(("size", "text"), [(256 << 20, ""), (0, "0"), (5000, " 5000 ")])
def test_the_limit_is_a_number_of_bytes(size: int, text: str) -> None:
    assert size == Config.from_env(HOME | {"HAWK_CACHE_MAX_BYTES": text}).cache_max_bytes


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("HAWK_CACHE", "off"),
        ("HAWK_CACHE", "2"),
        ("HAWK_CACHE_MAX_BYTES", "1G"),
        ("HAWK_CACHE_MAX_BYTES", "-1"),
        ("HAWK_CACHE_MAX_BYTES", "²"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_name(name: str, text: str) -> None:
    with pytest.raises(ValueError, match=f"{name} must be .*, got {text!r}"):
        Config.from_env(HOME | {name: text})
