"""The program that the interface was agreed on runs as it was printed, and prints what was agreed.

Its kernels repeat one body with steps=1, 16 and "auto"; they live in programs/steps_per_launch.py.
"""

import contextlib
import functools
import io
import runpy
import warnings
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import eagle

PROGRAM = Path(__file__).parent / "programs" / "steps_per_launch.py"
PRINTED = """\
running on cpu
  k=1: 1000 launches,  1000 steps, exact_steps=True
 k=16:   63 launches,  1008 steps, exact_steps=False
 auto:   16 launches,  1024 steps, exact_steps=False
25 tiles for 100,000 samples -- about 4,000 samples per tile
"""
KERNELS = {"k=1": "oscillator_k1", "k=16": "oscillator_k16", "auto": "oscillator_auto"}


@pytest.fixture(scope="module")
def program() -> Any:
    """Run the program once, on the CPU wherever this is; give its names and what it printed."""
    printed = io.StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(printed),
        warnings.catch_warnings(),
    ):
        patch.setattr(eagle, "gpu_available", lambda: False)
        # plt.show() says so where there is a screen.
        warnings.filterwarnings("ignore", message=".*non-interactive")
        names = runpy.run_path(str(PROGRAM))
    names["plt"].close("all")
    return SimpleNamespace(names=names, printed=printed.getvalue())


@pytest.fixture(scope="module")
def run(program: Any) -> Callable[[str, float], tuple[Any, dict[str, np.ndarray]]]:
    """Run a kernel as the program does, with a given dt; give the report and the final states."""

    @functools.cache
    def run(name: str, dt: float) -> tuple[Any, dict[str, np.ndarray]]:
        n = program.names["n"]
        state = {"x": np.ones(n), "v": np.zeros(n), "t": np.zeros(n)}
        report = eagle.run_until_done(
            eagle.deploy(program.names[KERNELS[name]]),
            max_steps=10_000,
            **state,
            omega=np.linspace(1.0, 3.0, n),
            t_end=1.0,
            dt=dt,
        )
        return report, state

    return run


def test_it_prints_exactly_its_lines(program: Any) -> None:
    assert PRINTED == program.printed


def test_auto_asks_for_the_largest_launch_each_time(program: Any) -> None:
    assert {64: 16} == program.names["reports"]["auto"].launches_by_k


def test_its_figure_has_one_bar_of_16_launches(program: Any) -> None:
    (bar,) = program.names["ax"].patches
    assert 16 == bar.get_height()


@pytest.mark.parametrize(("name", "launches"), [("k=1", 10_000), ("k=16", 625), ("auto", 157)])
def test_its_exercise_stops_at_max_steps(run: Any, name: str, launches: int) -> None:
    # With dt = 1e-4 the sum of 10,000 steps is just below 1.0: no sample is done at the cap.
    report, _ = run(name, 1e-4)

    assert launches == report.launches
    assert 10_000 == report.steps
    assert report.done is False
    assert report.exact_steps is True


@pytest.mark.parametrize("dt", [1e-3, 1e-4])
def test_the_three_ways_end_in_the_same_bits(run: Any, dt: float) -> None:
    _, one_by_one = run("k=1", dt)

    for name in ("k=16", "auto"):
        _, fused = run(name, dt)
        for plane, expected in one_by_one.items():
            assert expected.tobytes() == fused[plane].tobytes(), (name, plane)
