"""Compile the hand-written limit of a workload with g++, once a machine and version of it."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
BUILT = HERE / ".built"
FLAGS = (
    # Only the fused multiply-adds that the sources ask for: so all arms give the same bits.
    "-O3", "-march=native", "-ffp-contract=off", "-std=c++20", "-fopenmp", "-shared", "-fPIC",
)  # fmt: skip
LIBRARIES = ("-lmvec", "-lm")


class NoLimit(Exception):
    """The limit cannot be had on this machine; the text says why."""


def library(source: str) -> ctypes.CDLL:
    """The compiled library of `<source>.cpp`; compiling it takes some 5 to 20 seconds."""
    compiler = shutil.which("g++")
    if compiler is None:
        raise NoLimit("g++ is not installed; the limit is compiled with it (apt install g++)")
    path = BUILT / f"{source}-{_key(compiler, source)}.so"
    if not path.exists():
        _compile(compiler, HERE / f"{source}.cpp", path)
    return ctypes.CDLL(str(path))


def _key(compiler: str, source: str) -> str:
    """What the compiled code depends on: sources, flags, compiler, and the features of this CPU."""
    macros = subprocess.run(
        [compiler, *FLAGS, "-dM", "-E", "-x", "c++", "/dev/null"], capture_output=True, check=True
    ).stdout
    key = hashlib.sha256(macros)
    for path in (HERE / f"{source}.cpp", *sorted(HERE.glob("*.hpp"))):
        key.update(path.read_bytes())
    key.update(repr((FLAGS, LIBRARIES)).encode())
    return key.hexdigest()[:16]


def _compile(compiler: str, source: Path, path: Path) -> None:
    """Under a name of its own first, so that two processes may compile at once."""
    path.parent.mkdir(exist_ok=True)
    handle, temporary = tempfile.mkstemp(suffix=".so", dir=path.parent)
    os.close(handle)
    command = [compiler, *FLAGS, "-o", temporary, str(source), *LIBRARIES]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        Path(temporary).unlink()
        raise NoLimit(f"{' '.join(command)}\n{done.stderr[-2000:]}")
    Path(temporary).replace(path)
