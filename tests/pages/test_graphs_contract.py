"""The programs that graphs were agreed on run as they were printed, with NumPy in a GPU's place."""

import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eagle
import hawk
from hawk import Mutable, Vector

PROGRAMS = Path(__file__).parent / "programs"


def run(name: str) -> dict[str, Any]:
    """Run a program on a machine whose device library makes NumPy's arrays."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "cupy", np)
        return runpy.run_path(str(PROGRAMS / f"{name}.py"))


@pytest.fixture(scope="module")
def events() -> dict[str, Any]:
    return run("graph_with_events")


@pytest.fixture(scope="module")
def overlap() -> dict[str, Any]:
    return run("graph_with_overlap")


def test_ten_launches_are_ten_rounds_by_hand(events: dict[str, Any]) -> None:
    state, n = events["start"].copy(), events["n"]
    probe, flags = np.zeros((3, n)), np.zeros(n, np.uint32)
    for _ in range(10):
        events["propagate"](state)
        probe[...] = events["sample"](state)
        flags[...] = events["check_events"](probe)
        events["propagate"](state, flags)

    assert state.tobytes() == events["state"].tobytes()
    assert probe.tobytes() == events["h_probe"].tobytes()
    assert flags.tobytes() == events["h_flags"].tobytes() == events["flags"].tobytes()
    assert 0 < flags.sum() < n


def test_the_result_is_the_state_that_advanced(events: dict[str, Any]) -> None:
    assert events["g"].result is events["state"]


def test_a_kernel_that_returns_its_state_starts_each_round_from_the_same(
    events: dict[str, Any],
) -> None:
    @hawk.kernel
    def returned(state: Vector[6]) -> Vector[6]:
        return state * 0.5 + 1.0

    @eagle.Graph.builder
    def twice(state: Any) -> Any:
        g = eagle.Graph()
        state = returned(state)
        g.result = returned(state)
        return g

    state = events["start"].copy()
    graph = twice(state)

    assert returned(returned(state)).tobytes() == graph(10).tobytes()
    assert events["start"].tobytes() == state.tobytes()


def test_the_rounds_of_the_other_program_are_those_by_hand(overlap: dict[str, Any]) -> None:
    a, step = np.ones((2, overlap["n"])), overlap["step"]
    for _ in range(3):
        frame, a = a, step(step(step(a)))

    assert a.tobytes() == overlap["a"].tobytes()
    assert frame.tobytes() == overlap["h_frame"].tobytes()


def test_its_last_step_waits_for_the_copy(overlap: dict[str, Any]) -> None:
    assert "waits for 1: overwrites what is read there: `a`" in str(overlap["g"])


def test_without_the_wait_it_is_refused() -> None:
    @hawk.kernel
    def drift(x: Mutable[Vector[2]]):
        x[0] += 1.0

    @eagle.Graph.builder
    def unordered(a: Any, h_frame: Any) -> Any:
        g = eagle.Graph()
        with g.parallel() as p:
            with p.branch():
                eagle.copy(a, into=h_frame)
            with p.branch() as w:
                drift(a)
        return g

    with pytest.raises(eagle.GraphError, match=r"write: w\.wait\(h_frame\) before `drift`"):
        unordered(np.ones((2, 3)), np.ones((2, 3)))
