"""The threads of this process: many callers, forks, the end of Python, other people's libraries."""

from __future__ import annotations

import _thread
import os
import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eagle
from eagle.devices.host import cores, watch_entries
from eagle.devices.host import team as module
from hawk.targets import native
from tests.unit.eagle.test_interrupt import bits, cheap, relax

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")


def run_python(code: str, *arguments: object) -> str:
    """Run a program; what it printed."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, timeout=120, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


@pytest.fixture
def small() -> dict[str, Any]:
    """Give samples that take long enough to be shared by several threads."""
    return cheap(n=500, steps=2_000)


@pytest.fixture
def expected(small: dict[str, Any]) -> tuple[bytes, bytes]:
    planes = {name: plane.copy() for name, plane in small.items()}
    eagle.simulate(relax, max_steps=5_000, threads=1, **planes)
    return bits(planes)


def test_several_threads_take_part_in_a_run_that_takes_long() -> None:
    with watch_entries() as entries:
        result = eagle.simulate(relax, max_steps=1 << 40, threads=3, **cheap())

    assert 3 == result.report.threads
    assert [3] == [entry.calls for entry in entries]


def test_a_run_that_is_over_soon_stays_on_its_thread() -> None:
    result = eagle.simulate(relax, max_steps=1 << 40, threads=3, **cheap(n=10, steps=10))

    assert 1 == result.report.threads


def test_eight_threads_simulate_one_kernel_at_once(
    small: dict[str, Any], expected: tuple[bytes, bytes]
) -> None:
    def simulate(_: int) -> set[tuple[bytes, bytes]]:
        seen: set[tuple[bytes, bytes]] = set()
        for _ in range(200):
            planes = {name: plane.copy() for name, plane in small.items()}
            eagle.simulate(relax, max_steps=5_000, threads=3, **planes)
            seen.add(bits(planes))
        return seen

    with ThreadPoolExecutor(8) as pool:
        assert [{expected}] * 8 == list(pool.map(simulate, range(8)))


FORKS = """
import os, sys, threading, warnings
import eagle
from tests.unit.eagle.test_interrupt import bits, cheap, relax
warnings.simplefilter("ignore")  # Python 3.12 warns of forks in processes with threads

def run(steps):
    planes = cheap(n=500, steps=steps)
    eagle.simulate(relax, max_steps=1 << 40, threads=3, **planes)
    return bits(planes)

def forked(work):
    child = os.fork()
    if child == 0:
        os._exit(0 if work() else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

expected = run(2_000)
assert {0} == {forked(lambda: run(2_000) == expected) for _ in range(50)}

# Once more, while another thread is inside a run.
going = True
def others():
    while going:
        run(20_000)
thread = threading.Thread(target=others)
thread.start()
assert {0} == {forked(lambda: run(2_000) == expected) for _ in range(20)}
going = False
thread.join()
assert run(2_000) == expected
"""


@needs_fork
def test_a_forked_child_runs_with_a_team_of_its_own() -> None:
    run_python(FORKS)


ENDS = {
    "with its threads waiting": "run(2_000)",
    "with a run in another thread": """
from eagle.devices.host.device import AWAY
planes = cheap(steps=1 << 50)
simulation = eagle.simulation(relax, max_steps=1 << 60, threads=3, **planes)
threading.Thread(target=simulation.run, daemon=True).start()
while simulation._batch._loaded._stage is not AWAY:
    threading.Event().wait(0.01)
""",
    "in the middle of another's runs": """
def others():
    while True:
        run(2_000)
threading.Thread(target=others, daemon=True).start()
run(100_000)
""",
    "after a run at exit": """
import atexit
atexit.register(run, 200_000)
""",
}
END = """
import threading
import eagle
from tests.unit.eagle.test_interrupt import cheap, relax

def run(steps):
    planes = cheap(n=500, steps=steps)
    assert eagle.simulate(relax, max_steps=1 << 40, threads=3, **planes).done

"""


@pytest.mark.parametrize("how", ENDS)
def test_python_ends(how: str) -> None:
    run_python(END + ENDS[how])


SLEEPING = """
import threading
from pathlib import Path
import eagle
from tests.unit.eagle.test_interrupt import cheap, relax
eagle.simulate(relax, max_steps=1 << 40, threads=3, **cheap())

def states():
    tasks = [each for each in Path("/proc/self/task").iterdir()
             if each.name != str(threading.get_native_id())]
    stats = [(each / "stat").read_text("ascii") for each in tasks]
    return [stat.rpartition(")")[2].split()[0] for stat in stats]

assert len(states()) >= 2
while set(states()) != {"S"}:
    threading.Event().wait(0.001)
"""


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs Linux")
def test_threads_that_wait_go_to_sleep() -> None:
    run_python(SLEEPING)


def test_without_threads_to_be_had_the_calling_one_does_all(
    small: dict[str, Any], expected: tuple[bytes, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: object) -> int:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(_thread, "start_new_thread", none)
    monkeypatch.setattr(module, "_team", module.HostTeam())

    eagle.simulate(relax, max_steps=5_000, threads=3, **small)

    assert expected == bits(small)


def test_systems_without_the_native_team_have_one_in_python(
    small: dict[str, Any], expected: tuple[bytes, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native, "routines", lambda: None)
    monkeypatch.setattr(module, "_team", module.HostTeam())

    eagle.simulate(relax, max_steps=5_000, threads=3, **small)

    assert expected == bits(small)


# -- how many ----------------------------------------------------------------------------------


@pytest.fixture
def chosen() -> Any:
    """Put back what a test chooses."""
    yield
    eagle.set_threads(None)


@pytest.mark.usefixtures("chosen")
def test_the_number_of_threads_can_be_chosen_for_all_runs() -> None:
    eagle.set_threads(np.int8(3))
    assert (3, 5) == (module.threads_allowed(None), module.threads_allowed(5))

    eagle.set_threads(None)
    assert cores.usable_cores() == module.threads_allowed(None)


@pytest.mark.usefixtures("chosen")
@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, "all"])
def test_the_number_of_threads_is_a_whole_number(wrong: Any) -> None:
    with pytest.raises(ValueError, match="^eagle.set_threads: expected a whole number of at least"):
        eagle.set_threads(wrong)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system pins no process")
def test_a_process_that_is_pinned_later_uses_fewer_threads() -> None:
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(before)})
        assert 1 == module.threads_allowed(None)
    finally:
        os.sched_setaffinity(0, before)


# -- libraries that change how numbers are rounded ---------------------------------------------

FAST_MATH = """
import ctypes, sys
import numpy as np
import eagle
from tests.unit.eagle.test_collective import least_and_all
from tests.unit.eagle.test_interrupt import cheap, relax
from tests.unit.eagle.test_scatters import histogram

def run():
    # The smallest numbers there are: they add up like the whole numbers that their bits are.
    planes = cheap(n=3_000, steps=3_000)
    units = np.arange(3_000)
    planes["rate"] = units.view(np.float64)
    result = eagle.simulate(relax, max_steps=1 << 40, threads=3, **planes)
    assert np.array_equal(planes["t"].astype(int) * units, planes["x"].view(np.int64))
    least, total = least_and_all(units.view(np.float64))
    assert (least.view(np.int64) == 1).all()
    assert (total.view(np.int64) == units.sum()).all()
    total = np.zeros(3)
    histogram(units.view(np.float64), np.zeros(3, np.int32), total)
    assert total.view(np.int64).tolist() == [units.sum(), 0, 0]

def load():
    ctypes.CDLL(sys.argv[1])
    assert ctypes.c_double(5e-324).value * 1.0 == 0.0

if sys.argv[2] == "before":
    load()
run()
if sys.argv[2] == "after":
    load()
run()
"""


@pytest.fixture(scope="module")
def fast_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a library that switches subnormal numbers off in the thread that loads it."""
    compiler = shutil.which("gcc")
    if compiler is None or "x86_64" not in sysconfig.get_platform():
        pytest.skip("needs gcc on x86-64")
    folder = tmp_path_factory.mktemp("library")
    source, library = folder / "fast.c", folder / "fast.so"
    source.write_text("int nothing(void) { return 0; }\n", encoding="ascii")
    # Newer compilers leave the start-up file out of libraries, older ones put it in themselves.
    start = subprocess.run(
        [compiler, "-print-file-name=crtfastmath.o"], capture_output=True, text=True, check=True
    ).stdout.strip()
    command = [compiler, "-shared", "-fPIC", "-ffast-math", str(source), start, "-o", str(library)]
    if not Path(start).is_file() or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("this gcc has no start-up file for -ffast-math")
    return library


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_library_made_with_fast_math_changes_no_bit(when: str, fast_library: Path) -> None:
    run_python(FAST_MATH, fast_library, when)
