"""Ctrl-C in a graph: whole replays, or a note that says they are not."""

import contextlib
import re
import signal
import sys
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any

import numpy as np
import pytest

import eagle
import hawk
from eagle.devices.host import device, launched, replay
from hawk import Mutable, Scalar

SAMPLES = 5_000
FILES = {replay.__file__, launched.__file__}


class Alarm(Exception):
    """What the signal handlers of these tests raise."""


@hawk.kernel
def inc(x: Mutable[Scalar]):
    x += 1.0


@hawk.kernel
def follow(x: Scalar, y: Mutable[Scalar]):
    y += x


@hawk.kernel
def share(y: Scalar, z: Mutable[Scalar]):
    z += hawk.max(y)


@hawk.kernel(checks=True)
def checked(z: Mutable[Scalar]):
    assert z >= 0.0
    z += 1.0


@hawk.kernel
def grind(x: Mutable[Scalar]):
    for _ in range(1_000_000_000):
        x = x * 0.5 + 1.0


seen: list[float] = []


def look(total: Any) -> None:
    seen.append(total[0])


@eagle.Graph.builder
def build(x, y, z, total, k, other):
    g = eagle.Graph()
    inc(x)
    eagle.reduce(x, "max", into=total)
    for _ in range(2):
        follow(x, y)
    share(y, z)
    for _ in range(k):
        inc(z)
    eagle.opaque(look, reads=total)
    checked(z)
    eagle.copy(z, into=other)
    return g


def arrays() -> dict[str, Any]:
    planes = {name: np.zeros(SAMPLES) for name in ("x", "y", "z", "other")}
    return {**planes, "total": np.zeros(1), "k": np.array([2], np.int32)}


class Case:
    """A graph with its arrays, and what they hold after so many replays."""

    def __init__(self) -> None:
        self.planes = arrays()
        self.graph = build(**self.planes)
        self.graph.launch()  # binds and compiles
        self.reset()
        self.due = [self.held()]
        for _ in range(3):
            self.graph.launch()
            self.due.append(self.held())

    def reset(self) -> None:
        for name, plane in self.planes.items():
            plane[...] = 2 * (name == "k")

    def held(self) -> list[bytes]:
        return [plane.tobytes() for plane in self.planes.values()]


@pytest.fixture(scope="module")
def case() -> Iterator[Case]:
    """Give a graph whose walk comes back to Python after each row, launches in their middle."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (device, replay):
            patch.setattr(module, "TOGETHER_CYCLES", 1)
        patch.setattr(replay, "ALONE_CYCLES", 1)
        yield Case()


@contextlib.contextmanager
def interrupted(at: int) -> Iterator[list[str]]:
    """Raise KeyboardInterrupt at the `at`-th line that files that replay run; give these lines."""
    lines: list[str] = []

    def line(frame: FrameType, event: str, _: object) -> Any:
        if event == "line" and len(lines) <= at:
            lines.append(f"{frame.f_code.co_qualname}:{frame.f_lineno}")
            if len(lines) == at + 1:
                raise KeyboardInterrupt
        return line

    def call(frame: FrameType, event: str, _: object) -> Any:
        code = frame.f_code
        around = code.co_name in {"synchronize", "take_failure"}  # nothing is under way
        return line if code.co_filename in FILES and not around else None

    before = sys.gettrace()
    sys.settrace(call)
    try:
        yield lines
    finally:
        sys.settrace(before)


REPLAYS = re.compile(r"(after|before) replay (\d+) of 2: arrays are (?:those|as)")


def replays_of(error: BaseException) -> int:
    """How many replays an exception says were run."""
    notes = getattr(error, "__notes__", [])
    if not notes:
        return 0  # before it began
    (found,) = [REPLAYS.match(note) for note in notes]
    assert found is not None, notes
    return int(found[2]) - (found[1] == "before")


@pytest.mark.parametrize("way", ["launch", "profile"])
def test_wherever_an_exception_comes_the_replay_under_way_is_ended(case: Case, way: str) -> None:
    replay_twice, at, ends = getattr(case.graph, way), 0, set[int]()
    while True:
        case.reset()
        try:
            with interrupted(at) as lines:
                replay_twice(2)
        except KeyboardInterrupt as error:
            count = replays_of(error)
            ends.add(count)
            assert case.due[count] == case.held(), lines[at]
        else:
            assert case.due[2] == case.held()
            break
        at += 1 if at < 40 else 3
    assert at > 100
    assert {0, 1, 2} == ends


def test_an_exception_after_the_last_row_says_that_all_was_run(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    captured: Any = case.graph._captured
    walk = captured._walk

    def late(pointer: Any) -> int:
        reason = walk(pointer)
        if reason == 0:
            raise Alarm
        return reason

    monkeypatch.setattr(captured, "_walk", late)
    case.reset()
    with pytest.raises(Alarm) as raised:
        case.graph.launch(2)
    assert 2 == replays_of(raised.value)
    assert case.due[2] == case.held()


def test_a_second_interrupt_says_where_it_came(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    captured: Any = case.graph._captured
    walk = captured._walk

    def twice(pointer: Any) -> int:
        walk(pointer)
        raise Alarm

    monkeypatch.setattr(captured, "_walk", twice)
    with pytest.raises(Alarm) as raised:
        case.graph.launch(2)
    (note,) = raised.value.__notes__
    assert note.startswith("within replay 1 of 2, at the node `"), note
    assert note.endswith("arrays hold a part of that replay; the next launch begins a new one")
    monkeypatch.undo()
    case.reset()
    case.graph.launch(2)
    assert case.due[2] == case.held(), "it began anew"


def test_a_function_that_was_interrupted_is_named_and_not_called_again() -> None:
    calls: list[int] = []

    def check() -> None:
        calls.append(len(calls))
        if len(calls) == 2:
            raise KeyboardInterrupt

    @eagle.Graph.builder
    def build(x):
        g = eagle.Graph()
        eagle.opaque(check, reads=x)
        inc(x)
        return g

    x = np.zeros(1)
    graph = build(x)
    with pytest.raises(KeyboardInterrupt) as raised:
        graph.launch(5)
    (note,) = raised.value.__notes__
    assert note.startswith("after replay 2 of 5: arrays are those of whole replays, but for what ")
    assert note.endswith("what `check` does, where this came")
    assert 2.0 == x[0]
    graph.launch(2)
    assert 4.0 == x[0]
    assert 4 == len(calls)


# -- real signals ----------------------------------------------------------------------------------

needs_timer = pytest.mark.skipif(
    not hasattr(signal, "setitimer"), reason="needs a timer that sends signals"
)


@pytest.fixture
def alarm() -> Iterator[Any]:
    """Give what rings after so many seconds."""

    def ring(*_: object) -> None:
        raise Alarm

    before = signal.signal(signal.SIGALRM, ring)
    yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds)
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    signal.signal(signal.SIGALRM, before)


@needs_timer
@pytest.mark.parametrize("samples", [1, 300_000])
def test_a_signal_leaves_whole_replays_in_every_sample(samples: int, alarm: Any) -> None:
    @eagle.Graph.builder
    def build(x, y):
        g = eagle.Graph(fuse=False)
        inc(x)
        inc(y)
        return g

    x, y = np.zeros(samples), np.zeros(samples)
    graph = build(x, y)
    graph.launch()
    for _ in range(3):
        before = x[0]
        alarm(0.02)
        with pytest.raises(Alarm) as raised:
            graph.launch(10**12)
        (note,) = raised.value.__notes__
        count = re.match(r"after replay (\d+) of", note)
        assert count is not None, note
        assert {before + int(count[1])} == {*x.tolist(), *y.tolist()}


@needs_timer
@pytest.mark.parametrize("samples", [1, 300_000])
def test_a_loop_without_an_end_hears_of_signals(
    samples: int, alarm: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    @eagle.Graph.builder
    def build(x, k):
        g = eagle.Graph()
        while k:
            inc(x)
        return g

    monkeypatch.setattr(replay, "GRACE", 0.02)
    x, k = np.zeros(samples), np.ones(1, np.int32)
    graph = build(x, k)
    alarm(0.05)
    with pytest.raises(Alarm) as raised:
        graph.launch()
    assert "within replay 1 of 1, at the node `" in raised.value.__notes__[0]
    k[0] = 0
    graph.launch(3)


@needs_timer
def test_a_kernel_that_takes_too_long_is_left_in_its_middle(
    alarm: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    @eagle.Graph.builder
    def build(x):
        g = eagle.Graph()
        grind(x)
        return g

    monkeypatch.setattr(replay, "GRACE", 0.02)
    graph = build(np.zeros(64))
    alarm(0.05)
    begun = time.perf_counter()
    with pytest.raises(Alarm) as raised:
        graph.launch(3)
    assert "within replay 1 of 3, at the node `grind`: " in raised.value.__notes__[0]
    assert time.perf_counter() - begun < 60
