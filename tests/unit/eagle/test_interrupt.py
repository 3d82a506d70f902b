"""Ctrl-C and other exceptions: whole steps in every sample, and runs go on to the same bits."""

from __future__ import annotations

import ctypes
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import eagle
import hawk
from eagle.devices.host import device, errand
from hawk import Index, Mutable, Param, Scalar, Terminated


@hawk.kernel(steps="auto")
def relax(rate: Scalar, end: Scalar, over: Terminated, x: Mutable[Scalar], t: Mutable[Scalar]):
    x += rate * (1.0 - x)
    t += 1.0
    over = t >= end


@hawk.kernel(steps="auto")
def grind(
    rounds: Param[Index], end: Scalar, over: Terminated, x: Mutable[Scalar], t: Mutable[Scalar]
):
    y = x
    for _ in range(rounds):
        y = y * 0.999999 + 1e-6
    x = y
    t += 1.0
    over = t >= end


def cheap(n: int = 700, steps: int = 600_000) -> dict[str, Any]:
    """Samples of `relax` that take from half of `steps` to all of them."""
    end = np.linspace(steps / 2, steps, n).round()
    return {"rate": np.linspace(1e-6, 1e-3, n), "end": end, "x": np.zeros(n), "t": np.zeros(n)}


def dear(rounds: int = 1_000_000, n: int = 50, steps: int = 8) -> dict[str, Any]:
    """Samples of `grind`."""
    end = np.linspace(steps / 2, steps, n).round()
    return {"rounds": rounds, "end": end, "x": np.linspace(0, 2, n), "t": np.zeros(n)}


class Alarm(Exception):
    """What the signal handler of these tests raises."""


class Clock:
    """Rings in the main thread while something runs under it."""

    def __init__(self) -> None:
        self._armed = False

    def handle(self, *_: object) -> None:
        if self._armed:
            self._armed = False
            raise Alarm

    def call(self, work: Callable[[], Any], seconds: float) -> Any:
        """Call `work`; it rings after so many seconds, if it is not through."""
        signal.setitimer(signal.ITIMER_REAL, seconds)
        self._armed = True
        try:
            return work()
        finally:
            self._armed = False
            signal.setitimer(signal.ITIMER_REAL, 0)


@pytest.fixture
def clock() -> Iterator[Clock]:
    """Give a clock."""
    clock = Clock()
    before = signal.signal(signal.SIGALRM, clock.handle)
    yield clock
    signal.signal(signal.SIGALRM, before)


def whole(planes: dict[str, Any]) -> bool:
    """Do all samples hold whole numbers of steps?"""
    return bool((planes["t"] == np.floor(planes["t"])).all())


def bits(planes: dict[str, Any]) -> tuple[bytes, bytes]:
    return planes["x"].tobytes(), planes["t"].tobytes()


RUNS = {
    "cheap steps": (relax, cheap, eagle.simulation, {}),
    "cheap steps, 64 a launch": (relax, lambda: cheap(steps=60_000), eagle.until_done, {}),
    "cheap steps, one a launch": (relax.step, lambda: cheap(steps=6_000), eagle.until_done, {}),
    "cheap steps, told about": (relax, cheap, eagle.simulation, {"every": 90_000}),
    "dear steps": (grind, dear, eagle.simulation, {}),
    "dear steps, one a launch": (grind.step, dear, eagle.until_done, {}),
    "dear steps, counted": (grind, dear, eagle.simulation, {"count_steps": True}),
    "steps longer than the windows": (grind, lambda: dear(20_000_000, 8, 2), eagle.simulation, {}),
}


@pytest.mark.parametrize("max_steps", [1 << 40, 5], ids=["to the end", "to the cap"])
@pytest.mark.parametrize("name", RUNS)
def test_an_interrupted_run_goes_on_to_the_same_bits(
    name: str, max_steps: int, clock: Clock
) -> None:
    kernel, make_planes, make, options = RUNS[name]
    if max_steps == 5 and "cheap" in name:
        max_steps = int(make_planes()["end"].max()) * 3 // 4
    due, got = make_planes(), make_planes()
    undisturbed = make(kernel, max_steps=max_steps, **due, **options).run()
    simulation = make(kernel, max_steps=max_steps, **got, **options)
    seconds = undisturbed.report.wall_s / 4
    alarms, results = 0, list[eagle.SimResult]()

    while not results:
        try:
            clock.call(lambda: results.append(simulation.run()), seconds)
        except Alarm as alarm:
            if results:  # it rang when all was over
                break
            alarms += 1
            seconds *= 1.3
            check_what_is_left(simulation, alarm.result, got, max_steps)
        if results and not alarms:  # this time it was much quicker
            seconds /= 4
            simulation.reset()
            results.clear()

    (result,) = results
    assert bits(due) == bits(got)
    assert undisturbed.status == result.status == simulation.status
    same = ("finished", "launches", "steps", "exact_steps", "launches_by_k", "worst")
    for field in same:
        assert getattr(undisturbed.report, field) == getattr(result.report, field), field
    if "count_steps" in options:
        assert np.array_equal(got["t"], result.steps_taken)
        assert result.steps == got["t"].max()


def check_what_is_left(
    simulation: eagle.Simulation, result: eagle.SimResult, planes: dict[str, Any], max_steps: int
) -> None:
    """Check what an interrupted run leaves behind."""
    assert "interrupted" == simulation.status == result.status
    assert planes["x"] is result.x
    assert whole(planes)
    assert planes["t"].max() <= max_steps


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let another thread do what takes longer than some microseconds."""
    monkeypatch.setattr(device, "ALONE_CYCLES", 1_000)
    monkeypatch.setattr(device, "TOGETHER_CYCLES", 1_000)


@pytest.mark.usefixtures("impatient")
def test_a_step_that_never_ends_is_given_up(clock: Clock) -> None:
    planes = dear(rounds=1 << 60)
    start = planes["x"].copy()
    simulation = eagle.simulation(grind, max_steps=9, **planes)

    for _ in range(3):
        with pytest.raises(Alarm) as caught:
            clock.call(simulation.run, 0.02)

        assert np.array_equal(start, planes["x"])
        assert str(caught.value.result).startswith("interrupted with 0 of 50 samples done: 0 steps")
    simulation.reset()
    assert "ready" == simulation.status


@pytest.mark.usefixtures("impatient")
def test_a_reset_forgets_the_interrupted_run(clock: Clock) -> None:
    planes = cheap()
    simulation = eagle.simulation(relax, max_steps=1 << 40, **planes)
    with pytest.raises(Alarm):
        clock.call(simulation.run, 0.02)

    simulation.reset()

    assert 0.0 == planes["t"].max()
    result = simulation.run()
    assert np.array_equal(planes["end"], planes["t"])
    assert (1, True) == (result.report.launches, result.done)


@pytest.mark.usefixtures("impatient")
def test_a_bound_kernel_can_be_launched_again_after_an_interrupt(clock: Clock) -> None:
    planes = dear(rounds=1 << 60)
    bound = eagle.deploy(hawk.steps(grind, 3)).bind(**planes)
    with pytest.raises(Alarm):
        clock.call(bound.launch, 0.02)
    assert 0.0 == planes["t"].max()

    planes = cheap(steps=1 << 40)
    bound = eagle.deploy(hawk.steps(relax, 500_000)).bind(**planes)
    with pytest.raises(Alarm):
        clock.call(bound.launch, 0.02)
    assert whole(planes)
    before = planes["t"].copy()
    bound.launch(10)

    assert np.array_equal(before + 10, planes["t"])


@pytest.mark.usefixtures("impatient")
def test_one_who_asked_for_a_report_gets_one_from_the_exception_too(clock: Clock) -> None:
    with pytest.raises(Alarm) as caught:
        clock.call(lambda: eagle.run_until_done(grind, max_steps=9, **dear(rounds=1 << 60)), 0.02)

    assert isinstance(caught.value.result, eagle.RunReport)
    assert "interrupted" == caught.value.result.status


@pytest.mark.usefixtures("impatient")
def test_an_exception_set_by_another_thread_ends_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    # Until a new thread runs, Python 3.11 gives it the number of the one that started it, and what
    # is set for that number comes to the newest. So the one that runs starts a single thread, which
    # has begun when the exception is set; the team is there before.
    eagle.simulate(relax, max_steps=1 << 40, **cheap())
    monkeypatch.setattr(errand, "PATIENCE", 1 << 40)
    begun = threading.Event()

    def later(work: Callable[[], None], **others: Any) -> None:
        errand.by_another_thread(lambda: (begun.set(), work())[1], **others)

    monkeypatch.setattr(device, "by_another_thread", later)
    simulation = eagle.simulation(grind, max_steps=9, **dear(rounds=1 << 60))
    ended: list[Any] = []

    def run() -> None:
        try:
            simulation.run()
        except BaseException as caught:  # noqa: BLE001 - looked at below
            ended.append(caught)

    thread = threading.Thread(target=run, daemon=True)  # a test that fails does not hang
    thread.start()
    assert begun.wait(timeout=300)
    number = ctypes.c_ulong(thread.ident or 0)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(number, ctypes.py_object(Alarm))
    thread.join(timeout=300)

    (alarm,) = ended
    assert isinstance(alarm, Alarm)
    assert "interrupted" == simulation.status == alarm.result.status


def test_an_exception_of_on_progress_comes_between_two_steps_and_the_run_goes_on() -> None:
    due, got = cheap(steps=1000), cheap(steps=1000)
    eagle.simulate(relax, max_steps=5000, **due)
    told: list[int] = []

    def on_progress(report: eagle.RunReport) -> None:
        told.append(report.steps)
        assert whole(got)
        if report.steps in (300, 700):
            raise ZeroDivisionError

    simulation = eagle.simulation(relax, max_steps=5000, every=100, on_progress=on_progress, **got)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError) as caught:
            simulation.run()
        assert "interrupted" == simulation.status == caught.value.result.status
        assert caught.value.result.report.exact_steps
    result = simulation.run()

    assert [*range(100, 1001, 100)] == told
    assert bits(due) == bits(got)
    assert (True, 10, {100: 10}) == (
        result.done,
        result.report.launches,
        result.report.launches_by_k,
    )


CONTROL_C = """
import os, signal, sys, threading, time
import numpy as np
import eagle
from tests.unit.eagle.test_interrupt import bits, cheap, dear, grind, relax

# A shell starts what it runs in the background with SIGINT ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)

def interrupted(simulation, seconds):
    for attempt in range(5):  # on a busy machine a run may be over before
        timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        try:
            simulation.run()
            timer.join()
            time.sleep(1)
        except KeyboardInterrupt as interrupt:
            if simulation.status == "interrupted":
                assert interrupt.result.status == "interrupted"
                return
        simulation.reset()
        seconds /= 4
    raise AssertionError("it was not interrupted")

interrupted(eagle.simulation(grind, max_steps=9, **dear(rounds=1 << 60)), 0.2)
due, got = cheap(), cheap()
undisturbed = eagle.simulation(relax, max_steps=1 << 40, **due).run()
simulation = eagle.simulation(relax, max_steps=1 << 40, **got)
interrupted(simulation, undisturbed.report.wall_s / 2)
simulation.run()
assert bits(due) == bits(got)
"""


def test_control_c_raises_keyboard_interrupt() -> None:
    subprocess.run([sys.executable, "-c", CONTROL_C], check=True, timeout=120)
