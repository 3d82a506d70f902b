"""`simulate` in one launch gives what a Simulation of the same arrays gives."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
import pytest

import eagle
import eagle.runs.doors
import hawk
from eagle.devices.host import device
from eagle.devices.host.device import HostLoaded
from eagle.runs.at_once import at_once
from hawk import Mutable, Param, Scalar, Terminated


@hawk.kernel
def count(x: Mutable[Scalar], end: Scalar, by: Param, over: Terminated) -> Scalar:
    x = x + by
    over = x >= end
    return 2.0 * x


@hawk.kernel
def together(x: Mutable[Scalar], end: Scalar, by: Param, over: Terminated) -> Scalar:
    x = x + by * hawk.mean(end)
    over = x >= end
    return 2.0 * x


def planes(n: int, **more: Any) -> dict[str, Any]:
    return {"x": np.zeros(n), "end": np.arange(1.0, n + 1.0), "by": 1.0, **more}


DONE = {"all": np.ones(7, bool), "some": np.arange(7) % 3 == 0}


@pytest.mark.parametrize("kernel", [count, together], ids=lambda kernel: kernel.name)
@pytest.mark.parametrize(
    ("given", "most"),
    [
        (lambda: planes(1), 10),
        (lambda: planes(7), 3),
        (lambda: planes(7), 7),
        (lambda: planes(1000), 2**40),
        (lambda: planes(0), 10),
        (lambda: planes(7, over=DONE["all"].copy()), 10),
        (lambda: planes(7, over=DONE["some"].copy()), 2),
        (lambda: planes(5000, by=0.25), 30_000),
    ],
    ids=["one", "cap", "at the cap", "more than a block", "none", "done", "some done", "long"],
)
def test_a_run_at_once_is_the_run_of_a_simulation(
    given: Any, most: int, kernel: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    eagle.simulate(kernel, max_steps=1, **planes(3))
    calls: list[object] = []
    monkeypatch.setattr(
        eagle.runs.doors, "at_once", lambda *args: calls.append(args) or at_once(*args)
    )
    mine, other = given(), given()
    got = eagle.simulate(kernel, max_steps=most, **mine)
    due = eagle.simulation(kernel, max_steps=most, **other).run()
    assert len(calls) == 1
    assert due.report == got.report
    assert (due.status, due.allocated, due.steps_taken) == (got.status, (), None)
    assert list(due.planes) == list(got.planes)
    for name in due.planes:
        assert due[name].tobytes() == got[name].tobytes()
    assert due.finished.tobytes() == got.finished.tobytes()
    assert got.x is mine["x"]
    if "over" in mine:
        assert got.finished is mine["over"]


@pytest.mark.parametrize("when", ["before", "after"])
def test_an_exception_has_what_was_done_so_far(when: str, monkeypatch: pytest.MonkeyPatch) -> None:
    eagle.simulate(count, max_steps=1, **planes(3))
    launch = HostLoaded.launch

    def struck(self: HostLoaded, *args: Any, **more: Any) -> None:
        if when == "after":
            launch(self, *args, **more)
        raise KeyboardInterrupt

    monkeypatch.setattr(HostLoaded, "launch", struck)
    given = planes(4)
    with pytest.raises(KeyboardInterrupt) as stopped:
        eagle.simulate(count, max_steps=2, **given)
    result = stopped.value.result  # pyright: ignore[reportAttributeAccessIssue]
    steps, finished = (0, 0) if when == "before" else (2, 2)
    assert ("interrupted", finished) == (result.status, result.report.finished)
    assert steps == result.report.steps
    assert result.x is given["x"]
    assert [min(steps, end) for end in (1, 2, 3, 4)] == result.x.tolist()


def test_calls_share_nothing_but_the_room_they_work_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "ALONE_CYCLES", 2**62)  # a slow machine keeps no room
    eagle.simulate(count, max_steps=1, **planes(4))
    eagle.simulate(count, max_steps=1, **planes(5))
    made: list[object] = []
    init = HostLoaded.__init__
    monkeypatch.setattr(
        HostLoaded, "__init__", lambda self, *args: made.append(self) or init(self, *args)
    )
    first, second = planes(5), planes(5, by=2.0)
    results = [eagle.simulate(count, max_steps=9, **each) for each in (first, second)]
    assert [result.x.tolist() for result in results] == [[1, 2, 3, 4, 5], [2, 2, 4, 4, 6]]
    assert [result.out.tolist() for result in results] == [[2, 4, 6, 8, 10], [4, 4, 8, 8, 12]]
    assert not made
    eagle.simulate(count, max_steps=9, **planes(6))
    assert len(made) == 1


def test_an_array_is_let_go_when_its_run_is_over() -> None:
    given = planes(5)
    for _ in range(2):
        result = eagle.simulate(count, max_steps=9, **given)
    x = weakref.ref(given["x"])
    del given, result
    assert x() is None
