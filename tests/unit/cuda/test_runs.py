"""Runs of arrays on a GPU, by a driver made for tests: bits, reports, interrupts, going on."""

from __future__ import annotations

import gc
import signal
import threading
from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

import eagle
import hawk
from eagle.devices.base import SoFar
from eagle.devices.cuda import device, loop
from eagle.devices.cuda.array import CudaArray
from eagle.devices.cuda.driver import DriverError
from eagle.pace import Pace, auto, fixed
from hawk import Index, Mutable, Param, Scalar, Terminated, Vector
from hawk.passes.pipeline import optimise
from hawk.targets.cpu.compile import compile_function
from tests.oracle.batch import Batch, differences, launch
from tests.oracle.harness import case_of, forget, load
from tests.oracle.programs import write
from tests.unit.cuda.gpus import TestLibrary, gpu_of_tests
from tests.unit.graph.test_random_graphs import LONG

SEEDS = (10, 27, 34, 36)
"""Random programs that finish samples, some of them at different steps."""


@hawk.kernel(steps="auto")
def countdown(left: Mutable[Index], taken: Mutable[Index], over: Terminated):
    left -= 1
    taken += 1
    over = left <= 0


@hawk.kernel(steps="auto")
def orbit(
    x: Mutable[Vector[2]], v: Mutable[Vector[2]], t_end: Scalar, dt: Param, away: Terminated,
    t: Mutable[Scalar] = 0.0,
) -> tuple[Scalar, Index]:  # fmt: skip
    r2 = x[0] * x[0] + x[1] * x[1]
    v = v - dt * x / (r2 * hawk.math.sqrt(r2))
    x = x + dt * v
    t += dt
    away = t >= t_end
    return r2 + hawk.math.random.uniform(3, hawk.step_index()), hawk.sample_index()


@pytest.fixture(scope="module")
def xp() -> Iterator[TestLibrary]:
    with gpu_of_tests() as library:
        yield library


def counting(xp: Any, left: Any) -> dict[str, Any]:
    left = np.asarray(left, np.int64)
    return {"left": xp.array(left), "taken": xp.array(np.zeros_like(left))}


def orbiting(xp: Any, n: int, dtype: Any = np.float64) -> dict[str, Any]:
    rng = np.random.default_rng(n)
    x, v = rng.normal(size=(2, 2, n)).astype(dtype)
    t_end = (rng.random(n) * 0.7).astype(dtype)
    return {"x": xp.array(x), "v": xp.array(v), "t_end": xp.array(t_end), "dt": 1e-3}


def host(xp: TestLibrary, value: Any) -> Any:
    return xp.asnumpy(value) if isinstance(value, CudaArray) else value


def same(xp: TestLibrary, due: Any, got: Any) -> None:
    """The planes of two results, the second of them on the GPU, and what is exact in a report."""
    assert list(due.planes) == list(got.planes)
    assert due.allocated == got.allocated
    planes = [*got.planes.values(), got.finished]
    assert all(isinstance(each, CudaArray) for each in planes)
    for one, two in zip([*due.planes.values(), due.finished], planes, strict=True):
        assert one.tobytes() == xp.asnumpy(two).tobytes()
    for name in ("n", "finished", "done", "status", "max_steps", "worst", "mode", "math"):
        assert getattr(due.report, name) == getattr(got.report, name), name


def report(found: eagle.RunReport, *names: str) -> tuple[Any, ...]:
    return tuple(getattr(found, name) for name in names)


NS = [0, 1, 7, 3000]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", NS)
def test_simulate_gives_the_bits_of_the_host(xp: TestLibrary, n: int, dtype: Any) -> None:
    due, got = (
        eagle.simulate(orbit, max_steps=500, **orbiting(each, n, dtype)) for each in (np, xp)
    )
    same(xp, due, got)
    assert ("t",) == got.allocated
    assert n == 0 or due.report.launches == got.report.launches == 1


@pytest.mark.parametrize("n", NS)
@pytest.mark.parametrize("steps", [1, 16, "auto"])
def test_a_run_until_done_gives_the_bits_of_the_host(xp: TestLibrary, steps: Any, n: int) -> None:
    left = np.random.default_rng(n).integers(1, 150, n)
    found: list[Any] = []
    for each in (np, xp):
        simulation = eagle.until_done(
            hawk.steps(countdown, steps), max_steps=130, **counting(each, left)
        )
        found.append(simulation.run())
    due, got = found
    same(xp, due, got)
    assert got.report.steps == sum(k * count for k, count in got.report.launches_by_k.items())
    if steps != "auto":
        names = ("launches", "steps", "exact_steps", "launches_by_k")
        assert report(due.report, *names) == report(got.report, *names)


def test_auto_takes_longer_launches_while_few_become_done(xp: TestLibrary) -> None:
    told = eagle.run_until_done(countdown, max_steps=10_000, **counting(xp, [300] * 5))
    assert {16: 1, 32: 1, 64: 4} == told.launches_by_k
    assert (6, 304, False, 'steps="auto"') == report(
        told, "launches", "steps", "exact_steps", "mode"
    )
    told = eagle.run_until_done(countdown, max_steps=100, **counting(xp, [300] * 5))
    assert {16: 1, 32: 1, 52: 1} == told.launches_by_k
    assert (100, True) == report(told, "steps", "exact_steps")


def test_what_is_left_of_many_samples_is_picked(xp: TestLibrary) -> None:
    left = np.where(np.arange(9000) % 3, 10, 200 + np.arange(9000))
    planes = counting(xp, left)
    told = eagle.run_until_done(hawk.steps(countdown, 8), max_steps=400, **planes)
    assert (1, True, 201) == report(told, "compactions", "mapped", "worst")
    assert np.minimum(left, 400).tolist() == xp.asnumpy(planes["taken"]).tolist()
    told = eagle.run_until_done(
        hawk.steps(countdown, 8), max_steps=400, **counting(xp, left[:1000])
    )
    assert (0, False) == report(told, "compactions", "mapped")


def test_a_report_says_what_one_pass_took(xp: TestLibrary) -> None:
    told = eagle.simulate(countdown, max_steps=1000, **counting(xp, [1, 70, 300])).report
    assert ({320: 1}, 320, False, "one pass", 32) == report(
        told, "launches_by_k", "steps", "exact_steps", "mode", "threads"
    )
    told = eagle.simulate(countdown, max_steps=100, **counting(xp, [1, 70, 300])).report
    assert ({100: 1}, True, "max_steps", 2) == report(
        told, "launches_by_k", "exact_steps", "status", "worst"
    )
    assert str(told).startswith("2 of 3 samples done, 1 stopped at max_steps=100 (worst: sample 2)")
    # Longer than one launch takes at most: the GPU makes several, which is one pass all the same.
    told = eagle.simulate(countdown, max_steps=10_000, **counting(xp, [1, 9000])).report
    assert ({9024: 1}, 2) == report(told, "launches_by_k", "finished")


def test_a_mask_that_is_passed_is_read_and_written(xp: TestLibrary) -> None:
    mask = xp.array([False, True, False])
    result = eagle.simulate(countdown, max_steps=100, **counting(xp, [3, 4, 200]), over=mask)
    assert [3, 0, 100] == xp.asnumpy(result.taken).tolist()
    assert mask is result.finished
    assert [True, True, False] == xp.asnumpy(mask).tolist()
    over = xp.ones(3, np.bool_)
    told = eagle.simulate(countdown, max_steps=100, **counting(xp, [3, 4, 5]), over=over).report
    assert (0, 0, {}, True) == report(told, "launches", "steps", "launches_by_k", "exact_steps")


@pytest.mark.parametrize("make", [eagle.simulation, eagle.until_done])
def test_a_simulation_goes_on_and_is_put_back(xp: TestLibrary, make: Any) -> None:
    planes = counting(xp, [3, 400])
    simulation = make(countdown, max_steps=200, **planes)
    made = xp.driver.calls.count("instantiate")
    assert ["max_steps", "done"] == [simulation.run().status for _ in range(2)]
    assert 0 == simulation.run().report.launches
    simulation.reset()
    assert "ready" == simulation.status
    assert [3, 400] == xp.asnumpy(planes["left"]).tolist()
    assert [3, 200] == xp.asnumpy(simulation.run().taken).tolist()
    assert made == xp.driver.calls.count("instantiate"), "one graph for all runs"


@pytest.mark.parametrize("door", [eagle.simulation, eagle.until_done])
def test_steps_can_be_counted_sample_by_sample(xp: TestLibrary, door: Any) -> None:
    simulation = door(countdown, max_steps=100, count_steps=True, **counting(xp, [1, 70, 300, 9]))
    first = simulation.run()
    assert [1, 70, 100, 9] == xp.asnumpy(first.steps_taken).tolist()
    assert (100, True) == (first.steps, first.report.exact_steps)
    assert (["left", "taken"], ()) == (list(first.planes), first.allocated)
    second = simulation.run()
    assert [0, 0, 100, 0] == xp.asnumpy(second.steps_taken).tolist()
    assert [1, 70, 100, 9] == xp.asnumpy(first.steps_taken).tolist()


@pytest.mark.parametrize("door", [eagle.simulate, eagle.run_until_done])
@pytest.mark.parametrize("every", [1, 7, 64, 200])
def test_a_run_is_told_about_as_on_the_host(xp: TestLibrary, door: Any, every: int) -> None:
    kernel = countdown if door is eagle.simulate else hawk.steps(countdown, 16)
    left, told = np.random.default_rng(0).integers(1, 520, 40), list[list[eagle.RunReport]]()
    for each in (np, xp):
        told.append([])
        options = {"every": every, "on_progress": told[-1].append}
        door(kernel, max_steps=500, **options, **counting(each, left))
    due, got = told
    assert len(due) == len(got)
    leave = {"wall_s", "build_s", "threads", "compactions", "mapped"}
    names = [each.name for each in fields(eagle.RunReport) if each.name not in leave]
    for one, two in zip(due, got, strict=True):
        # One pass counts whole blocks of steps on the host, so that its last launch may be longer.
        last = {"steps", "launches_by_k"} if one.done and door is eagle.simulate else set()
        for name in set(names) - last:
            assert getattr(one, name) == getattr(two, name), name


def test_a_run_shows_how_far_it_is(
    xp: TestLibrary, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from eagle.runs import progress

    monkeypatch.setattr(progress, "REFRESH_SECONDS", 0.0)
    monkeypatch.setattr(loop, "WINDOW", 0)
    eagle.run_until_done(countdown, max_steps=500, progress=True, **counting(xp, [20, 100, 300]))
    lines = capsys.readouterr().err.splitlines()
    assert "countdown: 1 of 3 samples done" in lines[0]
    assert "countdown: 3 of 3 samples done (100 %)" in lines[-1]


@pytest.mark.parametrize("n", [5, 4000])
@pytest.mark.parametrize("window", [0, 200_000])
def test_it_does_not_matter_when_the_host_is_asked(
    xp: TestLibrary, monkeypatch: pytest.MonkeyPatch, window: int, n: int
) -> None:
    left = np.random.default_rng(n).integers(1, 200, n)
    told: list[Any] = []
    for each in (loop.WINDOW, window):
        monkeypatch.setattr(loop, "WINDOW", each)
        planes, before = counting(xp, left), xp.driver.launches
        found = eagle.run_until_done(hawk.steps(countdown, 4), max_steps=180, **planes)
        told.append((found, xp.asnumpy(planes["taken"]).tolist()))
        launches = xp.driver.launches - before
    assert told[0] == told[1]
    assert np.minimum(left, 180).tolist() == told[0][1]
    assert window or launches > told[0][0].launches, "each graph made one launch"


# -- interrupts ------------------------------------------------------------------------------------


class Stopped(Exception):
    """What a signal handler raises."""


def each_call(xp: TestLibrary, begin: Callable[[], eagle.Simulation]) -> Iterator[Any]:
    """Runs that are interrupted in a call of the driver, once in each; and what was raised."""
    enter, calls, before = xp.driver._enter, [0, 0], [""]
    names = ("launch", "run", "copy", "idle", "follow", "clear")

    def struck(call: str, *, context: bool = True) -> None:
        enter(call, context=context)
        again = call == "idle" == before[0]  # how often is asked depends on the time it takes
        before[0] = call
        if call in names and not again:
            calls[0] += 1
            if calls[0] == calls[1]:
                raise Stopped(call)

    for place in range(1, 200, 3):
        simulation = begin()
        calls[:] = 0, place
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(xp.driver, "_enter", struck)
            try:
                simulation.run()
            except Stopped as stopped:
                calls[1] = -1
                yield simulation, stopped
            else:
                return
    raise AssertionError("it never ends")


@pytest.mark.parametrize("door", [eagle.simulation, eagle.until_done])
def test_an_interrupt_at_any_call_leaves_whole_steps_and_the_run_goes_on(
    xp: TestLibrary, monkeypatch: pytest.MonkeyPatch, door: Any
) -> None:
    monkeypatch.setattr(loop, "WINDOW", 0)
    left = np.random.default_rng(5).integers(1, 300, 2500)
    planes: dict[str, Any] = {}

    def begin() -> eagle.Simulation:
        planes.update(counting(xp, left))
        return door(hawk.steps(countdown, 40), max_steps=250, **planes)

    several = 0
    for simulation, stopped in each_call(xp, begin):
        several += 1
        with xp.driver.work._lock:
            assert not xp.driver.work._due, "somebody works on them"
        now, taken = (xp.asnumpy(planes[name]) for name in ("left", "taken"))
        assert (left - now == taken).all(), "whole steps"
        assert "interrupted" == simulation.status == stopped.result.status
        assert int((now <= 0).sum()) == stopped.result.report.finished
        going = taken[now > 0]
        assert len(set(going.tolist())) <= 1, "all that go on took as many"
        result = simulation.run()
        assert "max_steps" == result.status
        assert np.minimum(left, 250).tolist() == xp.asnumpy(planes["taken"]).tolist()
        if door is eagle.until_done:
            assert {40: 6, 10: 1} == result.report.launches_by_k
    assert several > 10


def test_an_exception_of_the_function_that_is_told_ends_the_run(xp: TestLibrary) -> None:
    reports: list[Any] = []

    def tell(found: eagle.RunReport) -> None:
        reports.append(found)
        if len(reports) == 2:
            raise KeyboardInterrupt

    planes = counting(xp, [30, 300, 1000])
    simulation = eagle.simulation(countdown, max_steps=500, every=100, on_progress=tell, **planes)
    with pytest.raises(KeyboardInterrupt) as stopped:
        simulation.run()
    result = stopped.value.result  # type: ignore[attr-defined]
    assert ("interrupted", 1, 200) == (result.status, result.report.finished, result.steps)
    assert [30, 200, 200] == xp.asnumpy(planes["taken"]).tolist()
    assert {100: 5} == simulation.run().report.launches_by_k
    assert [100, 200, 300, 400, 500] == [each.steps for each in reports]


def test_a_signal_ends_a_long_run(xp: TestLibrary) -> None:
    planes = counting(xp, np.full(64, 2**62))
    simulation = eagle.until_done(hawk.steps(countdown, 8), max_steps=2**62, **planes)
    timer = threading.Timer(0.1, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt) as stopped:
        simulation.run()
    timer.join()
    taken = set(xp.asnumpy(planes["taken"]).tolist())
    result = stopped.value.result  # type: ignore[attr-defined]
    assert {result.report.steps} == taken
    assert result.report.exact_steps


# -- what else there is ----------------------------------------------------------------------------


def test_a_failure_of_the_driver_is_told(xp: TestLibrary, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(graph: int) -> int:
        raise DriverError("cuGraphInstantiateWithParams", "CUDA_ERROR_OUT_OF_MEMORY")

    planes = counting(xp, [3])
    with monkeypatch.context() as patch:
        patch.setattr(xp.driver, "instantiate", fails)
        with pytest.raises(eagle.DeviceError, match="the run of countdown"):
            eagle.simulate(countdown, max_steps=9, **planes)
    assert eagle.simulate(countdown, max_steps=9, **planes).done


def test_a_run_between_other_nodes_of_a_graph(xp: TestLibrary) -> None:
    @hawk.kernel
    def more(left: Mutable[Index]):
        left += 2

    results: list[Any] = []
    for each in (np, xp):
        planes, over = counting(each, [3, 500]), each.zeros(2, np.bool_)
        simulation = eagle.simulation(countdown, max_steps=9, over=over, **planes)

        @eagle.Graph.builder
        def build(left, simulation=simulation):
            g = eagle.Graph()
            more(left)
            g.add(simulation)
            more(left)
            return g

        build(planes["left"]).launch(3)
        results.append([host(xp, planes[name]).tolist() for name in planes])
    assert results[0] == results[1]


def test_all_is_given_back(xp: TestLibrary) -> None:
    def run() -> None:
        eagle.simulate(countdown, max_steps=99, count_steps=True, **counting(xp, range(1, 3000)))

    def there() -> tuple[int, int, int]:
        gc.collect()
        xp.zeros(1)
        device.gpu(0).home.enter("looking")
        driver = xp.driver
        return len(driver.memory), len(driver.graphs), len(driver.ready)

    run()
    before = there()
    for _ in range(3):
        run()
    assert before >= there()


def test_random_programs_have_the_bits_of_the_host(
    xp: TestLibrary, monkeypatch: pytest.MonkeyPatch, programs: int
) -> None:
    monkeypatch.setattr(device, "CROWD", 2)  # so that few samples are picked, too
    gpu, picks = device.gpu(0), dict.fromkeys((fixed(3), auto(64), Pace(2, 1, 7)), 0)
    for seed in SEEDS if programs < LONG else range(programs):
        case = case_of(write(seed))
        fn = load(case.text).trace(case.real)
        if fn.reductions or fn.scatters or "MASK" not in [each.role.name for each in fn.planes]:
            continue
        columns = {name: (list(column) * 50)[:50] for name, column in case.columns.items()}
        start = Batch.of(fn.planes, columns, case.numbers, 50, case.tables)
        due, compiled = start.copy(), compile_function(optimise(fn))
        launch(compiled, due, 20)
        for pace in picks:
            got = start.copy()
            picks[pace] += on_gpu(xp, gpu, fn, compiled, got, pace).picks
            assert not differences(due, got), f"program {seed}, {pace}"
    forget()
    assert all(picks.values())


def on_gpu(xp: TestLibrary, gpu: Any, fn: Any, compiled: Any, batch: Batch, pace: Pace) -> SoFar:
    """Run a program on the samples of a batch, 20 steps at most; how that went."""
    from hawk.ir.nodes import TABLES, Role
    from hawk.targets.base import raw_word

    planes: list[Any] = []
    words: list[int] = []
    kept: list[tuple[Any, Any]] = []
    for slot in compiled.planes:
        if slot.role is Role.INDEX:
            planes.append(0)
        elif slot.role is Role.UNIFORM:
            planes.append(raw_word(batch.numbers[slot.name], slot.dtype))
        else:
            arrays = batch.tables if slot.role in TABLES else batch.arrays
            there = xp.array(arrays[slot.name])
            kept.append((arrays[slot.name], there))
            planes.append(gpu.locate(there))
        plane = planes[-1]
        words.append(plane if isinstance(plane, int) else plane.__array_interface__["data"][0])
    run = gpu.loop(fn, compiled, planes, words, batch.n, pace)
    run.begin()
    while run.so_far().going and run.so_far().taken < 20:
        run.advance(20 - run.so_far().taken)
    for array, there in kept:
        if array.flags.writeable:
            array[...] = xp.asnumpy(there)
    return run.so_far()
