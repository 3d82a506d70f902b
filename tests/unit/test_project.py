"""What the distribution promises whoever installs it."""

import subprocess
import sys
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

from tools import contents

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_it_needs_numpy_and_llvmlite_and_nothing_else() -> None:
    assert ["numpy>=2.0", "llvmlite>=0.48"] == PROJECT["dependencies"]


@pytest.mark.parametrize("package", ["hawk", "eagle"])
def test_type_checkers_see_the_types_of(package: str) -> None:
    assert files(package).joinpath("py.typed").is_file()


def test_importing_it_loads_neither_llvmlite_nor_an_optional_library() -> None:
    code = "import sys, hawk, eagle; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    loaded = set(run.stdout.split())

    assert {"hawk", "eagle"} <= loaded
    assert "eagle.graph" not in loaded, "graphs are loaded by who has one"
    assert set() == loaded & {"llvmlite", "matplotlib", "rich", "cupy", "torch", "jax", "numba"}


def test_the_table_of_contents_is_current() -> None:
    page = contents.PAGE.read_text(encoding="utf-8")

    assert contents.with_contents(page) == page, "write: make format"
