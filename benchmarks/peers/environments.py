"""Environments for the libraries we are compared with: one each, in build/, of pinned packages.

    python -m benchmarks.peers.environments [name ...]      # what `make bench-env` does

What does not install is named, with pip's last word, and leaves the others alone.
"""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

from benchmarks.peers.table import ENVIRONMENTS

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build" / "bench-env"
INSTALLED, FAILED = "installed.txt", "failed.txt"


def main() -> None:
    for name in sys.argv[1:] or ENVIRONMENTS:
        print(f"{name:8} {install(name, FOLDER)}", flush=True)


def install(name: str, folder: Path) -> str:
    """Make the environment where it is not there yet as the table says; a word on how it went."""
    place, wanted = folder / name, "\n".join(ENVIRONMENTS[name])
    if _read(place / INSTALLED) == wanted:
        return "is there"
    venv.EnvBuilder(with_pip=True, clear=True).create(place)
    command = [python_of(name, folder), "-m", "pip", "--disable-pip-version-check", "install"]
    done = subprocess.run(
        [*command, "--quiet", *ENVIRONMENTS[name]], capture_output=True, text=True, check=False
    )
    if done.returncode == 0:
        (place / INSTALLED).write_text(wanted)
        return f"installed {', '.join(ENVIRONMENTS[name])}"
    why = last_word(done.stderr)
    (place / FAILED).write_text(why)
    return f"FAILED: {why}"


def missing(name: str, folder: Path | None = None) -> str:
    """Why an environment cannot be used; empty where it can."""
    place = (folder or FOLDER) / name
    if _read(place / INSTALLED) == "\n".join(ENVIRONMENTS[name]):
        return ""
    return _read(place / FAILED) or "not installed (make bench-env)"


def versions(folder: Path | None = None) -> list[str]:
    """What is installed, for whoever reads the numbers."""
    there = [name for name in ENVIRONMENTS if not missing(name, folder)]
    packages = [package for name in there for package in ENVIRONMENTS[name]]
    return [each.replace("==", " ") for each in packages if not each.startswith("numpy")]


def python_of(name: str, folder: Path = FOLDER) -> Path:
    return folder / name / "bin" / "python"


def last_word(said: str) -> str:
    """The line in which pip says what went wrong."""
    lines = [line for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR:")]
    return (errors or lines or ["pip said nothing"])[-1]


def _read(path: Path) -> str:
    return path.read_text() if path.exists() else ""


if __name__ == "__main__":
    main()
