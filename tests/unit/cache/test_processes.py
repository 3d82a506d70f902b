"""Processes that share a cache. They run a copy of hawk, which nobody edits meanwhile."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hawk

KERNEL = """
import sys, hawk
from hawk import Mutable, Param, Scalar, Terminated
from hawk.ir.types import DType

@hawk.kernel(steps="auto")
def decay(rate: Scalar, dt: Param, low: Terminated, x: Mutable[Scalar], count: Mutable[hawk.Index]):
    a, b = x, rate
    if a > b:
        a, b, c = a - dt * b * a, b + a, count
    else:
        a, b, c = a - dt * b, b - a, count + 1
    for i in range(3):
        if a < b:
            a, b, c = b, a + b * dt, c + i
    x, count = a, c
    low = x < 0.1
"""
OBJECTS = """
import sys, hawk
from dataclasses import dataclass
from hawk import Index, Mutable, Scalar
from hawk.ir.types import DType

@dataclass
class Body:
    x: Scalar
    v: Scalar

    def move(self, by):
        self.x += by * self.v

@hawk.kernel
def decay(p: Mutable[Body], q: Mutable[Body], r: Mutable[Body], s: Mutable[Body], k: Index):
    for i in range(k):
        for each in (p, q, r, s):
            each.move(q.x)
            each.v -= p.x
"""
ASK = "print(decay.compile(DType.F64).cached)\n"


class Processes:
    """Runs programs with a hawk and a cache of their own."""

    def __init__(self, path: Path) -> None:
        self.source = path / "source"
        package = Path(hawk.__file__).parent
        shutil.copytree(package, self.source / "hawk", ignore=shutil.ignore_patterns("__pycache__"))
        self.program = path / "program.py"
        self.cache = path / "cache"
        self.variables = os.environ | {
            "PYTHONPATH": str(self.source),
            "PYTHONDONTWRITEBYTECODE": "1",
            "HAWK_CACHE_DIR": str(self.cache),
        }

    def start(self, text: str, *options: str, **variables: str) -> subprocess.Popen[str]:
        self.program.write_text(text)
        return subprocess.Popen(
            [sys.executable, "-W", "error", self.program, *options],
            env=self.variables | variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, text: str, *options: str, **variables: str) -> str:
        return finished(self.start(text, *options, **variables))


def finished(process: subprocess.Popen[str], answer: str = "") -> str:
    """What the process prints to its end; an answer lets it go on."""
    printed, errors = process.communicate(answer)
    assert 0 == process.returncode, errors
    assert "" == errors
    return printed


@pytest.fixture
def processes(tmp_path: Path) -> Processes:
    return Processes(tmp_path)


def test_importing_hawk_does_not_touch_the_cache(processes: Processes) -> None:
    loaded = processes.run(KERNEL + "print(*(name for name in sys.modules))").split()

    assert "hawk.kernel" in loaded
    assert [] == [n for n in loaded if n.startswith(("hawk.cache.", "hawk.config", "llvmlite"))]
    assert not processes.cache.exists()


def test_a_hit_loads_none_of_what_generates_code(processes: Processes) -> None:
    assert "first time\n" == processes.run(KERNEL + ASK)
    modules = "print(*(name for name in sys.modules))"
    cached, loaded = processes.run(KERNEL + ASK + modules).splitlines()

    assert "hit" == cached
    generators = ("compile", "entries", "steps")
    assert set() == {f"hawk.targets.cpu.{each}" for each in generators} & set(loaded.split())


def test_a_warm_process_generates_no_code_at_all(processes: Processes) -> None:
    text = """
from hawk.targets.cpu import link
if sys.argv[1:]:
    link.assemble = None
from hawk.targets.cpu.runtime import runtime
print(decay.compile(DType.F64).cached, runtime() is None)
"""
    cold, warm = (processes.run(KERNEL + text, *more) for more in ((), ("warm",)))

    assert ("first time", "hit") == tuple(said.rsplit(" ", 1)[0] for said in (cold, warm))


@pytest.mark.parametrize(
    ("kernel", "seeds"), [(KERNEL, 4), (OBJECTS, 3)], ids=["numbers", "objects"]
)
def test_the_key_is_the_same_in_every_process(
    processes: Processes, kernel: str, seeds: int
) -> None:
    # Whatever is taken from a set of names comes in another order with another seed.
    text = kernel + ASK
    said = [processes.run(text, PYTHONHASHSEED=str(seed)) for seed in range(seeds)]

    assert ["first time\n"] + ["hit\n"] * (seeds - 1) == said


def test_processes_may_race_for_an_empty_cache(processes: Processes) -> None:
    ready = "print('ready', flush=True); input()\n"
    racers = [processes.start(KERNEL + ready + ASK) for _ in range(3)]
    for racer in racers:
        assert racer.stdout is not None
        assert "ready\n" == racer.stdout.readline()
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()

    for racer in racers:
        assert finished(racer)
    assert "hit\n" == processes.run(KERNEL + ASK)
    assert [] == list(processes.cache.glob("*.tmp"))
    assert [] == list(processes.cache.glob(".*"))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_child_that_is_forked_uses_the_cache(processes: Processes) -> None:
    text = """
import os, warnings
decay.compile(DType.F64)
# From Python 3.12 on: other libraries have threads.
warnings.simplefilter("ignore", DeprecationWarning)
child = os.fork()
if child == 0:
    said = [decay.compile(real).cached for real in (DType.F64, DType.F32)]
    print(*said, sep=", ", flush=True)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print(hawk.steps(decay, 1).compile(DType.F32).cached)
"""
    # The parent's own copy was made before the fork, so it looks for float32 in the folder.
    assert "first time, first time for float32\nhit\n" == processes.run(KERNEL + text)


def test_who_edits_hawk_gets_no_stale_code(processes: Processes) -> None:
    assert "first time\n" == processes.run(KERNEL + ASK)
    with (processes.source / "hawk" / "passes" / "lower.py").open("a") as file:
        file.write("# edited\n")

    assert "hawk itself changed\n" == processes.run(KERNEL + ASK)
    assert "hit\n" == processes.run(KERNEL + ASK)


def test_who_edits_hawk_under_a_running_process_gets_no_stale_code(processes: Processes) -> None:
    ready = "print('ready', flush=True); input()\n"
    process = processes.start(KERNEL + ready + ASK)
    assert process.stdout is not None
    assert "ready\n" == process.stdout.readline()
    with (processes.source / "hawk" / "passes" / "lower.py").open("a") as file:
        file.write("# edited\n")

    said = finished(process, "go\n")
    assert "off: hawk's own files were changed after this process loaded hawk\n" == said
    assert [] == list(processes.cache.glob("*.hawk"))
    assert "first time\n" == processes.run(KERNEL + ASK)


def test_a_helper_in_another_file_counts_by_what_it_computes(
    processes: Processes, tmp_path: Path
) -> None:
    text = "from users_helper import pull\n" + KERNEL.replace(
        "a - dt * b * a", "a - dt * pull(a, b)"
    )
    helper = tmp_path / "users_helper.py"
    helper.write_text("def pull(a, b):\n    return b * a\n")
    assert "first time\n" == processes.run(text + ASK)

    os.utime(helper, (2e9, 2e9))
    assert "hit\n" == processes.run(text + ASK)
    helper.write_text("# Hooke\ndef pull(\n    a,\n    b,\n):\n    return (b * a)\n")
    assert "hit\n" == processes.run(text + ASK)
    helper.write_text("def pull(a, b):\n    return b * a * a\n")
    assert "the program changed\n" == processes.run(text + ASK)


def test_without_a_home_one_warning_is_all(processes: Processes) -> None:
    text = """
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    decay.compile(DType.F64)
    decay.compile(DType.F32)
print(*(each.category.__name__ for each in caught))
"""
    del processes.variables["HAWK_CACHE_DIR"]
    processes.variables.pop("XDG_CACHE_HOME", None)

    assert "CacheWarning\n" == processes.run(KERNEL + text, HOME="")


def test_the_folder_is_made_below_the_home(processes: Processes, tmp_path: Path) -> None:
    del processes.variables["HAWK_CACHE_DIR"]
    processes.variables.pop("XDG_CACHE_HOME", None)
    processes.run(KERNEL + ASK, HOME=str(tmp_path / "home"))

    assert 0o40700 == (tmp_path / "home" / ".cache" / "hawk").stat().st_mode
