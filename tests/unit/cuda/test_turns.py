"""Runs on a GPU whose threads take the next sample when theirs is done, by a driver for tests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

import eagle
import hawk
from eagle import pace
from eagle.devices.cuda import device, loop
from eagle.pace import Pace
from hawk.passes.pipeline import optimise
from hawk.targets.cpu.compile import compile_function
from hawk.targets.ways import Way
from tests.oracle.batch import Batch, differences, launch
from tests.oracle.harness import case_of, forget, load
from tests.oracle.programs import write
from tests.unit.cuda.gpus import TestLibrary, gpu_of_tests
from tests.unit.cuda.test_runs import (
    SEEDS,
    countdown,
    counting,
    each_call,
    on_gpu,
    orbit,
    orbiting,
    report,
    same,
)

TAKERS = 32
"""Threads that take samples here: those of a GPU with very few."""
MANY = 4 * TAKERS


@pytest.fixture(scope="module")
def xp() -> Iterator[TestLibrary]:
    with gpu_of_tests() as library:
        yield library


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A GPU for which 128 samples are many, and launches of which few rounds are enough."""
    monkeypatch.setattr(device, "CROWD", 2)
    monkeypatch.setattr(pace, "MOST_AT_ONCE", 100)


def in_turns(xp: TestLibrary) -> list[str]:
    """The kernels that were launched with threads that take turns, of all that are there."""
    names = [each.name for each in xp.driver.functions.values()]
    return [name for name in names if name.endswith(Way.TURNS.value)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [MANY - 1, MANY, 300])
def test_many_samples_are_taken_in_turns_and_have_the_bits_of_the_host(
    xp: TestLibrary, n: int, dtype: Any
) -> None:
    due, got = (
        eagle.simulate(orbit, max_steps=70, **orbiting(each, n, dtype)) for each in (np, xp)
    )
    same(xp, due, got)
    assert due.report.launches == got.report.launches == 1
    assert TAKERS == got.report.threads or n < MANY
    assert ("orbit_turns" in in_turns(xp)) or n < MANY


def test_samples_that_end_soon_or_late_have_the_bits_of_the_host(xp: TestLibrary) -> None:
    left = np.random.default_rng(3).integers(-5, 20, 300)
    left[::60] = 700
    for cap in (2000, 400):
        due, got = (
            eagle.simulate(countdown, max_steps=cap, **counting(each, left)) for each in (np, xp)
        )
        same(xp, due, got)


def test_a_report_is_that_of_the_host(xp: TestLibrary) -> None:
    left = np.where(np.arange(500) % 50, 3, 900)
    for cap in (1000, 900, 899, 64, 1):
        told = [
            eagle.simulate(countdown, max_steps=cap, **counting(each, left)).report
            for each in (np, xp)
        ]
        names = ("launches", "exact_steps", "status", "finished", "worst", "mode", "done")
        due, got = told
        assert report(due, *names) == report(got, *names)
        assert (0, False) == report(got, "compactions", "mapped")
        assert got.steps == min(960 if cap == 1000 else 900, cap) or cap == 900
    planes = counting(xp, left)
    over = xp.ones(500, np.bool_)
    told = [eagle.simulate(countdown, max_steps=90, over=over, **planes).report]
    assert (0, 0, {}, True) == report(told[0], "launches", "steps", "launches_by_k", "exact_steps")


@pytest.mark.parametrize("window", [0, loop.WINDOW])
@pytest.mark.parametrize("every", [64, 100])
def test_it_is_told_about_as_on_the_host(
    xp: TestLibrary, monkeypatch: pytest.MonkeyPatch, every: int, window: int
) -> None:
    monkeypatch.setattr(loop, "WINDOW", window)
    left, told = np.random.default_rng(0).integers(1, 220, 150), list[list[eagle.RunReport]]()
    for each in (np, xp):
        told.append([])
        options = {"every": every, "on_progress": told[-1].append}
        eagle.simulate(countdown, max_steps=200, **options, **counting(each, left))
    due, got = told
    assert len(due) == len(got)
    assert TAKERS == got[-1].threads
    leave = {"wall_s", "build_s", "threads", "compactions", "mapped"}
    names = [each.name for each in fields(eagle.RunReport) if each.name not in leave]
    for one, two in zip(due, got, strict=True):
        # One pass counts whole blocks of steps on the host, so that its last launch may be longer.
        last = {"steps", "launches_by_k"} if one.done else set[str]()
        for name in set(names) - last:
            assert getattr(one, name) == getattr(two, name), name


def test_a_few_steps_are_not_taken_in_turns(xp: TestLibrary) -> None:
    told: list[eagle.RunReport] = []
    left = np.arange(1, 500)
    for options in ({"max_steps": 63}, {"max_steps": 200, "every": 9, "on_progress": told.append}):
        found = eagle.simulate(countdown, **options, **counting(xp, left))  # type: ignore[arg-type]
        assert TAKERS != found.report.threads


def test_launch_by_launch_is_not_in_turns(xp: TestLibrary) -> None:
    told = eagle.run_until_done(countdown, max_steps=900, **counting(xp, np.arange(1, 500)))
    assert TAKERS != told.threads


def test_how_far_it_is_is_shown(
    xp: TestLibrary, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from eagle.runs import progress

    monkeypatch.setattr(progress, "REFRESH_SECONDS", 0.0)
    monkeypatch.setattr(loop, "WINDOW", 0)
    eagle.simulate(countdown, max_steps=300, progress=True, **counting(xp, np.full(MANY, 70)))
    lines = capsys.readouterr().err.splitlines()
    assert "countdown: 32 of 128 samples done" in lines[0]
    assert "countdown: 128 of 128 samples done (100 %)" in lines[-1]


def test_an_interrupt_at_any_call_leaves_whole_steps_and_the_run_goes_on(
    xp: TestLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "WINDOW", 0)
    monkeypatch.setattr(pace, "MOST_AT_ONCE", 30)
    left = np.random.default_rng(5).integers(1, 90, MANY)
    planes: dict[str, Any] = {}

    def begin() -> eagle.Simulation:
        planes.update(counting(xp, left))
        return eagle.simulation(countdown, max_steps=70, count_steps=True, **planes)

    several = halves = 0
    for simulation, stopped in each_call(xp, begin):
        several += 1
        with xp.driver.work._lock:
            assert not xp.driver.work._due, "somebody works on them"
        now, taken = (xp.asnumpy(planes[name]) for name in ("left", "taken"))
        assert (left - now == taken).all(), "whole steps"
        assert (taken <= np.minimum(left, 70)).all()
        found = stopped.result
        assert "interrupted" == simulation.status == found.status
        assert int((now <= 0).sum()) == found.report.finished
        assert taken.tolist() == xp.asnumpy(found.steps_taken).tolist()
        assert taken.max() == found.report.steps
        halves += len(set(taken[now > 0].tolist())) > 1
        result = simulation.run()
        assert "max_steps" == result.status
        assert np.minimum(left, 70).tolist() == xp.asnumpy(planes["taken"]).tolist()
        assert (70, {70: 1}) == report(result.report, "steps", "launches_by_k")
    assert several > 5
    assert halves > 2, "some went on while others waited"


def test_the_steps_of_a_run_that_was_interrupted_are_those_of_its_longest(
    xp: TestLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "WINDOW", 0)
    planes = counting(xp, np.full(MANY, 1000))
    simulation = eagle.simulation(countdown, max_steps=500, **planes)

    def end(self: Any) -> None:
        ended(self)
        raise KeyboardInterrupt

    ended = loop.CudaLoop._end
    with monkeypatch.context() as patch:
        patch.setattr(loop.CudaLoop, "_end", end)
        with pytest.raises(KeyboardInterrupt) as stopped:
            simulation.run()
    taken = xp.asnumpy(planes["taken"])
    assert [100] * TAKERS + [0] * (MANY - TAKERS) == sorted(taken.tolist(), reverse=True)
    assert (128, False, {128: 1}) == report(
        stopped.value.result.report,  # type: ignore[attr-defined]
        "steps",
        "exact_steps",
        "launches_by_k",
    )
    assert {500: 1} == simulation.run().report.launches_by_k
    assert {500} == set(xp.asnumpy(planes["taken"]).tolist())
    simulation.reset()
    assert {500: 1} == simulation.run().report.launches_by_k


def test_a_run_after_one_that_was_put_back_begins_anew(
    xp: TestLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "WINDOW", 0)
    planes = counting(xp, np.full(MANY, 300))

    def once(found: Any) -> None:
        raise KeyboardInterrupt

    simulation = eagle.simulation(countdown, max_steps=200, on_progress=once, every=150, **planes)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            simulation.run()
        assert {150} == set(xp.asnumpy(planes["taken"]).tolist())
        simulation.reset()


def test_random_programs_have_the_bits_of_the_host(xp: TestLibrary) -> None:
    gpu, several = device.gpu(0), 0
    for seed in SEEDS:
        case = case_of(write(seed))
        fn = load(case.text).trace(case.real)
        columns = {name: (list(column) * 50)[:50] for name, column in case.columns.items()}
        start = Batch.of(fn.planes, columns, case.numbers, 50, case.tables)
        due, compiled = start.copy(), compile_function(optimise(fn))
        launch(compiled, due, 20)
        for rounds in (1, 7, 1000):
            got = start.copy()
            found = on_gpu(xp, gpu, fn, compiled, got, Pace(rounds, rounds, rounds, 3))
            assert not differences(due, got), f"program {seed}, {rounds}"
            assert not found.halfway
            several += found.taken == 20
    forget()
    assert several


def test_a_run_in_turns_between_other_nodes_of_a_graph(xp: TestLibrary) -> None:
    planes = counting(xp, np.full(MANY, 500))
    simulation = eagle.simulation(countdown, max_steps=90, **planes)

    @eagle.Graph.builder
    def build(left):
        g = eagle.Graph()
        g.add(simulation)
        return g

    build(planes["left"]).launch(3)
    assert {500 - 270} == set(xp.asnumpy(planes["left"]).tolist())


def test_a_kernel_that_reduces_keeps_its_way(xp: TestLibrary) -> None:
    @hawk.kernel(steps="auto")
    def shared(x: hawk.Mutable[hawk.Scalar], over: hawk.Terminated):
        x -= hawk.max(x) / 64.0
        over = x < 0.5  # noqa: F841 - a plane of the kernel

    x = 1.0 + np.random.default_rng(0).random(200)
    due, got = (eagle.simulate(shared, max_steps=70, x=each.array(x)) for each in (np, xp))
    same(xp, due, got)
    assert "shared_turns" not in in_turns(xp)
