"""Launching on the CPU: the block, the pieces, the threads."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import eagle
import hawk
from eagle.devices.host import team as team_module
from eagle.devices.host import watch_entries
from eagle.devices.host.device import ALONE, TOGETHER
from eagle.devices.host.team import PIECES_PER_THREAD, HostTeam, piece_of_many, piece_to_end
from tests.unit.eagle.kernels import countdown, double, oscillator, swinging
from tests.unit.eagle.stand_in import StandIn


def test_every_launch_reaches_the_entry_once() -> None:
    with watch_entries() as entries:
        eagle.run_until_done(oscillator.again(16), max_steps=10_000, **swinging(3))

    assert 63 == len(entries)
    assert [1] * 63 == [entry.calls for entry in entries]
    assert {16} == {entry.steps for entry in entries}
    assert 3 == sum(entry.finished for entry in entries)
    assert {(0, 3)} == {(entry.begin, entry.end) for entry in entries}


def test_watchers_see_only_what_happens_while_they_watch() -> None:
    with watch_entries() as outer:
        double([1.0])
        with watch_entries() as inner:
            double([1.0])
    double([1.0])

    assert (2, 1) == (len(outer), len(inner))


def test_launches_take_the_tiles_that_are_promised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eagle.devices.host.cores.l2_bytes", lambda: 512 << 10)
    bound = eagle.deploy(oscillator).bind(**swinging(10_000))

    with watch_entries() as entries:
        bound.launch(1)

    assert [(4096, 3)] == [(entry.piece, entry.taken) for entry in entries]


def test_a_small_run_begins_in_pieces_that_leave_something_to_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("eagle.devices.host.cores.l2_bytes", lambda: 512 << 10)

    with watch_entries() as entries:
        for threads in (1, 2):
            eagle.simulate(oscillator, max_steps=2, threads=threads, **swinging(10_000))

    alone, shared = (entry.piece for entry in entries)
    assert 4096 == alone
    assert 10_000 / (2 * PIECES_PER_THREAD) <= shared < 700


def test_a_small_launch_stays_on_the_calling_thread() -> None:
    names: set[str] = set()

    def noting(x: Any) -> dict[str, Any]:
        names.add(threading.current_thread().name)
        return {"out": x}

    result = StandIn(double, noting)(np.ones(1000))

    assert 1000 == len(result)
    assert {threading.current_thread().name} == names


def test_a_long_pass_uses_several_threads() -> None:
    both = threading.Barrier(2, timeout=60)

    def meet(left: Any, taken: Any, over: Any) -> dict[str, Any]:
        both.wait()
        return {"left": left, "taken": taken + 1, "over": True}

    kernel = StandIn(countdown, meet)
    planes = {"left": np.ones(16, int), "taken": np.zeros(16, int)}

    with watch_entries() as entries:
        result = eagle.simulate(kernel, max_steps=1 << 20, threads=2, **planes)

    assert result.done
    assert 2 == result.report.threads
    assert [(8, 2, 2)] == [(entry.piece, entry.taken, entry.calls) for entry in entries]


def test_one_thread_is_enough_where_only_one_is_allowed() -> None:
    planes = {"left": np.ones(16, int), "taken": np.zeros(16, int)}

    result = eagle.simulate(countdown, max_steps=1 << 20, threads=1, **planes)

    assert 1 == result.report.threads


def test_what_a_helper_raises_is_raised_here() -> None:
    caller, both = threading.current_thread(), threading.Barrier(2, timeout=60)

    def entry(block: int) -> None:
        both.wait()
        if threading.current_thread() is not caller:
            raise MemoryError(block)

    with pytest.raises(MemoryError, match="7"):
        HostTeam().run(entry, 7, 1, keep=None)


def test_helpers_have_returned_when_the_caller_fails() -> None:
    caller, both = threading.current_thread(), threading.Barrier(2, timeout=60)
    ended: list[int] = []

    def entry(block: int) -> None:
        both.wait()
        if threading.current_thread() is caller:
            raise KeyboardInterrupt
        ended.append(block)

    with pytest.raises(KeyboardInterrupt):
        HostTeam().run(entry, 7, 1, keep=None)

    assert [7] == ended


def test_a_launch_does_not_wait_for_helpers_that_are_busy() -> None:
    team, started, go_on = HostTeam(), threading.Event(), threading.Event()
    caller = threading.current_thread()

    def long(block: int) -> None:
        started.set()
        assert go_on.wait(timeout=60)

    first = threading.Thread(target=team.run, args=(long, 0, 1), kwargs={"keep": None})
    first.start()
    assert started.wait(timeout=60)
    threads: list[threading.Thread] = []

    calls = team.run(lambda _: threads.append(threading.current_thread()), 0, 1, keep=None)
    go_on.set()
    first.join()

    assert caller in threads
    assert calls == len(threads)


def test_many_threads_launch_at_once() -> None:
    def run(seed: int) -> bool:
        left = np.random.default_rng(seed).integers(1, 50, 64)
        wanted = left.copy()
        planes = {"left": left, "taken": np.zeros(64, int)}
        result = eagle.simulate(countdown, max_steps=1 << 20, threads=3, **planes)
        return np.array_equal(wanted, result.taken)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(run, range(20)))


FORKING = """
import os, sys, warnings
import numpy as np
from eagle.devices.host.team import team
import threading
def meet(team):
    both = threading.Barrier(2, timeout=60)
    return team.run(lambda block: both.wait(), 0, 1, keep=None)
assert 2 == meet(team())
warnings.simplefilter("ignore")  # Python 3.12 warns of forks in processes with threads
child = os.fork()
if child == 0:
    os._exit(0 if meet(team()) == 2 else 1)
_, status = os.waitpid(child, 0)
assert 2 == meet(team())
sys.exit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="this system cannot fork")
def test_a_forked_child_has_a_team_of_its_own() -> None:
    subprocess.run([sys.executable, "-c", FORKING], check=True, timeout=120)


def test_the_arrays_of_a_launch_are_not_kept() -> None:
    import gc
    import weakref

    class Tracked(np.ndarray):
        """An array that can be watched."""

    x = np.ones(4).view(Tracked)
    gone = weakref.ref(x)
    double(x)
    del x
    gc.collect()

    assert gone() is None


@pytest.mark.parametrize(
    ("count", "threads", "lanes", "tile", "piece"),
    [
        (100_000, 2, 16, 4096, 4096),
        (1000, 2, 16, 4096, 64),
        (100, 2, 16, 4096, 16),
        (100_000, 2, 24, 4096, 4080),
        (10, 8, 128, 64, 128),
        (0, 2, 16, 4096, 16),
    ],
)
def test_a_long_pass_is_cut_so_that_all_threads_work(
    count: int, threads: int, lanes: int, tile: int, piece: int
) -> None:
    assert piece == piece_to_end(count, threads, lanes, tile)


@pytest.mark.parametrize(
    ("count", "threads", "size", "piece"),
    [
        (10_000_000, 2, 16, 65_536),
        (10_000_000, 2, 800, 4096),
        (10_000_000, 64, 16, 4880),
        (1_000_000, 2, 16, 15_616),
        (1000, 2, 16, 4096),
        (0, 1, 0, 4096),
    ],
)
def test_a_large_batch_whose_samples_take_as_long_is_cut_into_long_pieces(
    count: int, threads: int, size: int, piece: int
) -> None:
    assert piece == piece_of_many(count, threads, 16, 4096, size)


def test_a_launch_that_did_not_end_alone_begins_together_the_next_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("eagle.devices.host.device.ALONE_CYCLES", 1)
    monkeypatch.setattr("eagle.devices.host.device._next_stage", lambda seconds: ALONE)
    bound = eagle.deploy(hawk.steps(oscillator, 1000)).bind(**swinging(5000))
    stages = []
    for _ in range(3):
        bound.finished[:] = False
        bound.launch(threads=1)
        stages.append(bound._loaded._stage)
    assert [TOGETHER, ALONE, ALONE] == stages  # the others are of one step


def test_only_samples_that_all_take_as_long_are_taken_in_long_pieces() -> None:
    n = 1_000_000
    with watch_entries() as entries:
        double(np.ones(n), threads=2)
        eagle.deploy(oscillator).bind(**swinging(n)).launch(1, threads=2)

    even, uneven = (entry.piece for entry in entries)
    assert uneven == HostTeam.tile_size(3 * 8) < even


def test_the_environment_says_how_many_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    from eagle.config import Config

    monkeypatch.setattr(team_module, "config", lambda: Config(threads=3))

    assert 3 == team_module.threads_allowed(None)
    assert 5 == team_module.threads_allowed(5)
