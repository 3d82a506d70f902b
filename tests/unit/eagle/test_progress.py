"""What is shown of a run that is on its way."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

import eagle
from eagle.devices.host import device, errand
from eagle.runs import progress
from eagle.runs.progress import Bar, Lines, display
from tests.unit.eagle.kernels import countdown
from tests.unit.eagle.test_interrupt import cheap, relax


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Give the time, which a test may move."""
    now = [100.0]
    monkeypatch.setattr(progress, "perf_counter", lambda: now[0])
    return now


def test_lines_are_few_and_say_how_long_it_will_take(now: list[float]) -> None:
    stream = io.StringIO()
    lines = Lines("decay", 10_000, stream)

    for seconds, done in [(0.1, 500), (1, 600), (2, 1_000), (3, 1_500), (13, 1_501), (20, 9_000)]:
        now[0] = 100.0 + seconds
        lines.show(done)
    now[0] = 122.0
    lines.close(10_000)

    assert [
        "decay: 1,000 of 10,000 samples done (10 %), 500 a second, 0:18 left",
        "decay: 1,501 of 10,000 samples done (15 %), 115 a second, 1:14 left",
        "decay: 9,000 of 10,000 samples done (90 %), 450 a second, 0:02 left",
        "decay: 10,000 of 10,000 samples done (100 %), 455 a second, 0:22",
    ] == stream.getvalue().splitlines()


def test_of_a_run_that_is_over_at_once_nothing_is_shown(now: list[float]) -> None:
    stream = io.StringIO()
    lines = Lines("decay", 10, stream)
    now[0] += 0.1

    lines.show(5)
    lines.close(10)

    assert "" == stream.getvalue()


@pytest.mark.parametrize(
    ("n", "done", "seconds", "text"),
    [
        (10, 0, 5.0, "0 of 10 samples done (0 %), 0:05"),
        (10, 1, 20_000.0, "1 of 10 samples done (10 %), 5e-05 a second, 50:00:00 left"),
        (0, 0, 0.0, "0 of 0 samples done (0 %), 0 a second, 0:00"),
    ],
)
def test_the_figures_make_sense(n: int, done: int, seconds: float, text: str) -> None:
    assert text == progress.figures(n, done, seconds)


def test_a_terminal_gets_a_bar(now: list[float]) -> None:
    pytest.importorskip("rich")
    screen = Screen()
    bar = display("decay", 1000, screen)
    assert isinstance(bar, Bar)
    now[0] += 1

    bar.show(250)
    bar.close(1000)

    assert "decay" in screen.getvalue()
    assert "250 of 1,000 samples done (25 %), 250 a second, 0:03 left" in screen.getvalue()
    assert "1,000 of 1,000 samples done (100 %)" in screen.getvalue()


def test_a_bar_that_was_never_drawn_leaves_the_terminal_alone() -> None:
    pytest.importorskip("rich")
    screen = Screen()

    Bar("decay", 1000, screen).close(1000)

    assert "" == screen.getvalue()


def test_a_terminal_without_rich_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_has_rich", lambda: False)

    assert isinstance(display("decay", 1000, Screen()), Lines)


def test_a_file_gets_lines() -> None:
    assert isinstance(display("decay", 1000, io.StringIO()), Lines)


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Show everything at once, and let another thread do what takes longer than a moment."""
    monkeypatch.setattr(progress, "REFRESH_SECONDS", 0.0)
    monkeypatch.setattr(progress, "LINE_SHARE", 0.0)
    monkeypatch.setattr(errand, "POLL_SECONDS", 1e-4)
    monkeypatch.setattr(device, "ALONE_CYCLES", 1_000)
    monkeypatch.setattr(device, "TOGETHER_CYCLES", 1_000)


@pytest.mark.usefixtures("eager")
def test_a_launch_is_watched_while_it_runs(capsys: pytest.CaptureFixture[str]) -> None:
    result = eagle.simulate(relax, max_steps=1 << 40, progress=True, **cheap())

    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert ("", True, 1) == (out, result.done, result.report.launches)
    assert len(lines) > 3
    assert lines[0].startswith("relax: ")
    assert lines[-1].startswith("relax: 700 of 700 samples done (100 %)")


@pytest.mark.usefixtures("eager")
def test_launches_are_watched_one_by_one(capsys: pytest.CaptureFixture[str]) -> None:
    planes: dict[str, Any] = {"left": np.array([30, 100, 200]), "taken": np.zeros(3, int)}

    eagle.run_until_done(countdown, max_steps=1000, progress=True, **planes)

    done = [line.split()[1] for line in capsys.readouterr().err.splitlines()]
    assert ["1", "2", "2", "3", "3"] == done


def test_without_being_asked_nothing_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    eagle.simulate(relax, max_steps=1 << 40, **cheap())

    assert ("", "") == capsys.readouterr()
