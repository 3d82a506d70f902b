"""A driver library made for tests: threads, Python's lock and the end of a process are real.

Each scenario is a process of its own, because a mistake here hangs or crashes.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.cuda import scenarios
from tests.unit.graph.test_random_graphs import LONG

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
SECONDS = 60

COMPILER = shutil.which(os.environ.get("CC", "cc"))
PACKAGE = importlib.util.find_spec("cuda") and importlib.util.find_spec("cuda.bindings")
pytestmark = [
    pytest.mark.skipif(COMPILER is None, reason="no C compiler: the library cannot be made"),
    pytest.mark.skipif(not PACKAGE, reason="no cuda-bindings: pip install 'accipiter[cuda]'"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where libcuda.so.1 is."""
    made = tmp_path_factory.mktemp("libcuda")
    assert COMPILER is not None
    options = ["-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-pthread"]
    files = [HERE / "libcuda.c", "-o", made / "libcuda.so.1"]
    subprocess.run([COMPILER, *options, *files], check=True)
    return made


def tried(folder: Path, *arguments: str, **environment: str) -> str:
    """What a process says that uses the library."""
    path = os.pathsep.join((str(ROOT / "src"), str(ROOT), *filter(None, sys.path)))
    names = {"LD_LIBRARY_PATH": str(folder), "PYTHONPATH": path, **environment}
    run = subprocess.run(
        [sys.executable, "-X", "faulthandler", *arguments],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        env={**os.environ, **names},
        cwd=ROOT,
    )
    assert 0 == run.returncode, run.stderr
    return run.stdout


def test_with_real_threads(folder: Path) -> None:
    names = [*scenarios.SCENARIOS]
    assert "leaving" == names[-1]
    said = tried(folder, "-m", "tests.unit.cuda.scenarios", *names)
    assert f"well {' '.join(names)}\nall 200\n" == said


def test_the_tests_of_graphs_run_with_it(folder: Path, programs: int) -> None:
    if programs < LONG:
        pytest.skip(f"in long runs only: --programs={LONG}")
    files = ["tests/unit/graph", "tests/pages/test_graphs_across_two_memories.py"]
    options = ["-q", "-n", "0", "-p", "no:cacheprovider", "-k", "cuda and not random"]
    said = tried(folder, "-m", "pytest", *options, *files, EAGLE_TESTS_ON_GPU="libcuda.c")
    assert " passed" in said.splitlines()[-1]


def test_a_gpu_is_found(folder: Path) -> None:
    text = (
        "import os, eagle\n"
        "for name, value in (('FAKE_GPUS', '0'), ('FAKE_CUDA', '12030')):\n"
        "    os.environ[name] = value\n"
        "    print(eagle.gpu_available())\n"
        "    del os.environ[name]\n"
        "print(eagle.gpu_available())\n"
    )
    assert "False\nFalse\nTrue\n" == tried(folder, "-c", text)
