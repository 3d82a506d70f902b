"""The samples that are not done: a map of them, and moving them to the front and back."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import CodeType, FrameType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eagle
import hawk
from eagle.active import live_places
from eagle.devices.host import watch_entries
from hawk import Index, Mutable, Scalar, Terminated

N = 203


@hawk.kernel(steps=16)
def walk(step: Scalar, left: Mutable[Index], x: Mutable[Scalar], over: Terminated):
    """Take `left` steps."""
    x = 0.5 * x + step
    left -= 1
    over = left <= 0


def planes(seed: int = 1) -> dict[str, Any]:
    left = np.random.default_rng(seed).integers(1, 200, N)
    return {"step": np.linspace(0.1, 1.0, N), "left": left, "x": np.ones(N)}


@pytest.fixture(scope="module")
def end() -> bytes:
    """What x is when all samples are done."""
    batch = planes()
    eagle.simulate(walk, max_steps=1000, **batch)
    return batch["x"].tobytes()


def test_a_set_begins_with_all_that_are_not_done() -> None:
    active = eagle.ActiveSet(np.array([False, True, False]))

    assert [0, 2] == active.map.tolist()
    assert (3, 2, 2, 2) == (active.n, active.count, active.live, len(active))
    assert np.int64 == active.map.dtype
    assert "<ActiveSet of 2 of 3 samples>" == repr(active)


def test_compacting_leaves_out_what_became_done() -> None:
    mask = np.zeros(5, bool)
    active = eagle.ActiveSet(mask)
    mask[[1, 3]] = True

    assert (5, 3) == (active.count, active.live)
    assert 3 == active.compact()
    assert [0, 2, 4] == active.map.tolist()
    assert 3 == active.compact()
    assert 1 == active.compactions


def test_resetting_picks_all_that_are_not_done_by_then() -> None:
    mask = np.ones(4, bool)
    active = eagle.ActiveSet(mask)
    mask[2:] = False
    active.reset()

    assert [2, 3] == active.map.tolist()


def test_the_map_cannot_be_written() -> None:
    active = eagle.ActiveSet(np.zeros(4, bool))

    with pytest.raises(ValueError, match="read-only"):
        active.map[0] = 2
    with pytest.raises(ValueError, match="read-only"):
        active.order[0] = 2


def test_a_launch_looks_at_the_samples_of_the_set_only() -> None:
    batch = planes()
    bound = eagle.deploy(walk).bind(**batch)
    mask = np.ones(N, bool)
    mask[[0, 77, 202]] = False
    bound.launch(active=eagle.ActiveSet(mask))

    changed = np.flatnonzero(batch["left"] != planes()["left"])
    assert [0, 77, 202] == changed.tolist()


def test_a_loop_of_ones_own_ends_in_the_same_bits(end: bytes) -> None:
    batch = planes()
    bound = eagle.deploy(walk).bind(**batch)
    active = eagle.ActiveSet(bound.finished)
    with watch_entries() as entries:
        while active.compact():
            bound.launch(active=active)

    assert end == batch["x"].tobytes()
    looked_at = [entry.end - entry.begin for entry in entries]
    assert N == looked_at[0]
    assert sorted(looked_at, reverse=True) == looked_at
    assert looked_at[-1] < 20


@pytest.mark.parametrize("share", [0.25, 0.5, 0.75])
def test_moved_samples_end_in_the_same_bits_and_the_callers_order(share: float, end: bytes) -> None:
    batch = planes()
    bound = eagle.deploy(walk).bind(**batch)
    moved = [batch["step"], batch["left"], batch["x"]]
    with eagle.ActiveSet(bound.finished, reorder=share, planes=moved) as active:
        while active.compact():
            assert sorted(active.map) == active.map.tolist()
            assert (batch["step"] == planes()["step"][active.order]).all()
            bound.launch(active=active)

    assert active.reorders > 0
    assert end == batch["x"].tobytes()
    assert (batch["step"] == planes()["step"]).all()
    assert np.arange(N).tolist() == active.order.tolist()
    assert bound.finished.all()


@given(
    rounds=st.lists(st.lists(st.integers(0, 39), max_size=20), max_size=6),
    share=st.sampled_from([None, 0.25, 0.5, 0.75]),
)
def test_whatever_becomes_done_when_the_set_tells_who_is_not(
    rounds: list[list[int]], share: float | None
) -> None:
    mask, names = np.zeros(40, bool), np.arange(40)
    table = np.stack([np.arange(40), np.arange(40, 80)])
    done: set[int] = set()
    moved = [] if share is None else [names, table[:, ::1]]
    active = eagle.ActiveSet(mask, reorder=share, planes=moved)
    for some in rounds:
        where = np.argsort(active.order)
        mask[where[some]] = True
        done.update(some)
        active.compact()
        alive = names if share is not None else active.order
        assert sorted(set(range(40)) - done) == sorted(alive[active.map].tolist())
    active.reset()

    assert list(range(40)) == names.tolist()
    assert list(range(80)) == table.ravel().tolist()
    assert sorted(done) == np.flatnonzero(mask).tolist()


@pytest.mark.parametrize("n", [0, 1, 7])
@pytest.mark.parametrize("share", [None, 0.5])
def test_small_batches_and_none_at_all(n: int, share: float | None) -> None:
    batch = {name: plane[:n].copy() for name, plane in planes().items()}
    again = {name: plane.copy() for name, plane in batch.items()}
    bound = eagle.deploy(walk).bind(**batch)
    moved = [] if share is None else list(batch.values())
    with eagle.ActiveSet(bound.finished, reorder=share, planes=moved) as active:
        bound.launch(active=active)
        while active.compact():
            bound.launch(active=active)

    eagle.simulate(walk, max_steps=1000, **again)
    assert again["x"].tobytes() == batch["x"].tobytes()
    assert 0 == active.count == active.live


@pytest.mark.parametrize("line", range(1, 40, 2))
def test_ctrl_c_leaves_no_half_of_the_arrays_moved(line: int) -> None:
    mask, x, y = np.zeros(4, bool), np.arange(4.0), np.arange(4)
    active = eagle.ActiveSet(mask, reorder=0.5, planes=[x, y])
    mask[:3] = True
    with suppress(KeyboardInterrupt), pressing_ctrl_c(active._move.__code__, line):  # noqa: SLF001
        active.compact()

    assert x.tolist() == y.tolist() == active.order.tolist()
    assert [not done for done in mask] == [sample == 3 for sample in y]
    active.compact()
    assert [3] == y[active.map].tolist()
    active.reset()
    assert ([0, 1, 2, 3], [3]) == (x.tolist(), active.map.tolist())


@contextmanager
def pressing_ctrl_c(code: CodeType, line: int) -> Iterator[None]:
    """Ctrl-C before the n-th line that runs in this function."""
    left = [line]

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code is code and event == "line":
            left[0] -= 1
            if not left[0]:
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


@pytest.mark.parametrize(
    ("mask", "places", "busy"),
    [
        ([1, 1, 1, 1, 1, 1, 1, 1, 1], [], 0),
        ([0, 1, 1, 1, 1, 1, 1, 1, 1], [0], 1),
        ([0, 1, 1, 0, 1, 1, 1, 1, 0], [0, 3, 8], 2),
        ([0, 0, 0, 0, 0, 0, 0, 0, 0], list(range(9)), 3),
    ],
)
def test_groups_are_busy_that_have_a_sample_that_goes_on(
    mask: list[int], places: list[int], busy: int
) -> None:
    found, count = live_places(np.array(mask, bool), None, 4)

    assert (places, busy) == (found.tolist(), count)


def test_places_in_a_map_are_looked_up_in_it() -> None:
    mask = np.array([False, True, False, True, False, False])

    found, busy = live_places(mask, np.array([1, 2, 3, 5]), 2)

    assert ([2, 5], 2) == (found.tolist(), busy)


X = np.zeros(3)


@pytest.mark.parametrize(
    ("given", "kind", "said"),
    [
        (
            {"mask": [False]},
            TypeError,
            "'mask': expected bool (n,), True where a sample is done, got a list; write bound.f",
        ),
        ({"mask": np.zeros(3)}, TypeError, "got float64 (3,)"),
        ({"mask": np.zeros((3, 3), bool)}, TypeError, "got bool (3, 3)"),
        ({"mask": None}, TypeError, "got None"),
        ({"reorder": 0.9, "planes": [X]}, ValueError, "from 0.25 to 0.75, got 0.9"),
        ({"reorder": True, "planes": [X]}, ValueError, "got True; write reorder=0.5"),
        ({"reorder": "half", "planes": [X]}, ValueError, "got 'half'"),
        ({"reorder": float("nan"), "planes": [X]}, ValueError, "got nan"),
        ({"reorder": 0.5}, ValueError, "give all arrays, inputs too: planes=(x, v, omega)"),
        ({"planes": [X]}, ValueError, "planes= is for reorder=; write reorder=0.5"),
        ({"reorder": 0.5, "planes": X}, TypeError, "planes= is a tuple of arrays, got an array"),
        ({"reorder": 0.5, "planes": [np.ones(4)]}, ValueError, "of 3 samples, got shape (4,)"),
        ({"reorder": 0.5, "planes": [2.0]}, ValueError, "no array that eagle can move"),
        ({"reorder": 0.5, "planes": [X, X]}, ValueError, "planes[1]: shares memory"),
        (
            {"reorder": 0.5, "planes": [np.broadcast_to(0.0, 3)]},
            ValueError,
            "planes[0]: is read-only, and reorder= moves it; give a copy",
        ),
    ],
)
def test_what_is_no_mask_share_or_plane_is_refused(
    given: dict[str, Any], kind: type[Exception], said: str
) -> None:
    with pytest.raises(kind) as caught:
        eagle.ActiveSet(**{"mask": np.zeros(3, bool), **given})

    assert str(caught.value).startswith("eagle.ActiveSet: ")
    assert said in str(caught.value)


def test_a_set_that_moves_other_arrays_than_are_launched_is_refused() -> None:
    batch = planes()
    bound = eagle.deploy(walk).bind(**batch)
    moved = [batch["left"], batch["x"]]
    active = eagle.ActiveSet(bound.finished, reorder=0.5, planes=moved)

    with pytest.raises(ValueError, match="moves samples, but not those of 'step'; write"):
        bound.launch(active=active)

    other = eagle.ActiveSet(np.zeros(N, bool), reorder=0.5, planes=[*moved, batch["step"]])
    with pytest.raises(ValueError, match="not those of 'over'"):
        bound.launch(active=other)


@pytest.mark.parametrize(
    ("active", "got"),
    [(np.zeros(N, bool), "an array of bool (203,)"), (eagle.ActiveSet(np.zeros(4, bool)), "4")],
)
def test_a_launch_refuses_what_is_no_set_of_its_batch(active: Any, got: str) -> None:
    bound = eagle.deploy(walk).bind(**planes())

    with pytest.raises(ValueError, match="'active': expected an ActiveSet of 203 samples") as error:
        bound.launch(active=active)
    assert got in str(error.value)
