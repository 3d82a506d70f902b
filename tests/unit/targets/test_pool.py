"""In launches of many steps the lanes of samples that stopped are given to the next ones."""

from __future__ import annotations

import numpy as np
import pytest

import hawk
from hawk import Index, Mutable, Scalar, Terminated
from hawk.ir.types import DType
from hawk.passes.pipeline import optimise
from hawk.targets.base import Word
from hawk.targets.cpu import entries
from hawk.targets.cpu.compile import compile_function
from hawk.targets.cpu.machine import avx2 as avx2_machine
from hawk.targets.cpu.machine import host
from hawk.targets.cpu.width import variant
from tests.unit.targets.test_watch import Run

LANES = 8
AVX2 = avx2_machine(host().triple)
avx2 = pytest.mark.skipif(not host().triple.startswith("x86_64"), reason="code for x86")


@hawk.kernel
def tick(t: Mutable[Scalar], k: Mutable[Index], end: Scalar, dt: Scalar, over: Terminated):
    """Its stop is foreseen: so are the steps that a sample takes."""
    t = t + dt
    k = k + 1
    over = t >= end


@hawk.kernel
def count(k: Mutable[Index], end: Index, over: Terminated):
    k = k + 1
    over = k >= end


def run(ends: np.ndarray, steps: int, *, looks: int | None = None, refill: int = 64) -> Run:
    """A launch of groups of `LANES` samples; `looks`: operations between two looks at the clock."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(entries, "WORK_BETWEEN_LOOKS", looks or entries.WORK_BETWEEN_LOOKS)
        fn = optimise(count.trace(DType.F64))
        row = variant(fn, host(), 4, LANES // 4, refill=refill)
        return Run(compile_function(fn, host(), row), len(ends), steps, {"end": ends, "k": 0})


def test_the_next_samples_run_beside_one_that_goes_on() -> None:
    ends = np.full(1000, 50)
    ends[3] = 5000
    launch = run(ends, 10_000, looks=1)
    launch.block[Word.WINDOW] = 1
    rows: list[int] = []
    seen: set[int] = set()
    while 5000 > launch.arrays["k"][3]:
        rows = launch.call(rows)
        for low, high, taken in zip(rows[::3], rows[1::3], rows[2::3], strict=True):
            if low == 3:
                assert (4, launch.arrays["k"][3]) == (high, taken)
                seen.update(other for other in rows[::3] if other != 3)
    assert len(seen) > LANES  # who was on its way while sample 3 was
    while rows or launch.block[Word.NEXT] < launch.n:
        rows = launch.call(rows)
    assert ends.tolist() == launch.arrays["k"].tolist()


@pytest.mark.parametrize("looks", [None, 1], ids=["at once", "interrupted"])
@pytest.mark.parametrize("cap", [65, 100, 101, 2**62])
def test_no_sample_takes_more_steps_than_asked(cap: int, looks: int | None) -> None:
    ends = np.random.default_rng(4).integers(1, 200, 333)
    launch = run(ends, cap, looks=looks)
    launch.block[Word.WINDOW] = looks or 0
    launch.to_the_end()
    assert np.minimum(ends, cap).tolist() == launch.arrays["k"].tolist()
    assert (ends <= cap).tolist() == launch.arrays["over"].tolist()
    assert int((ends <= cap).sum()) == launch.block[Word.FINISHED]
    longest = min(int(ends.max()), cap)
    assert longest <= launch.block[Word.LONGEST] < longest + 16


def test_samples_that_are_done_take_no_lane() -> None:
    ends = np.arange(1, 101)
    launch = run(ends, 1000)
    launch.arrays["over"][::3] = True
    launch.to_the_end()
    assert [0 if i % 3 == 0 else i + 1 for i in range(100)] == launch.arrays["k"].tolist()
    assert 66 == launch.block[Word.FINISHED]


def test_launches_of_few_steps_refill_no_lane() -> None:
    ends = np.full(64, 50)
    ends[3] = 5000
    launch = run(ends, 64, looks=1)
    launch.block[Word.WINDOW] = 1
    rows = launch.call([])
    while rows or launch.block[Word.NEXT] < launch.n:
        assert len(rows) <= 3  # what is left of a piece is one row
        rows = launch.call(rows)


def test_groups_whose_samples_all_stop_end_when_it_is_time() -> None:
    launch = run(np.ones(1000, np.int64), 1000, looks=1)
    launch.block[Word.WINDOW] = 1
    assert launch.to_the_end() > 1000 // LANES // 2
    assert [1] * 1000 == launch.arrays["k"].tolist()
    assert 1000 == launch.block[Word.FINISHED]


# --- samples in the order of their expected steps -------------------------------------------------


def ticks(ends: np.ndarray, steps: int, *, looks: int | None = None, **given: object) -> Run:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(entries, "WORK_BETWEEN_LOOKS", looks or entries.WORK_BETWEEN_LOOKS)
        fn = optimise(tick.trace(DType.F64))
        row = variant(fn, AVX2, 4, LANES // 4, refill=64)
        planes = {"end": ends, "dt": 1.0, "t": 0.0, "k": 0, **given}
        return Run(compile_function(fn, AVX2, row), len(ends), steps, planes)


def shuffled(n: int) -> np.ndarray:
    """Ends from 10 to 1,000, each somewhere."""
    return np.random.default_rng(n).permutation(np.linspace(10.0, 1000.0, n).round())


def begun(launch: Run) -> list[int]:
    """The samples that a launch took until it was asked to come back, as soon as it had begun."""
    launch.block[Word.WINDOW], launch.block[Word.PIECE] = 1, launch.n
    launch.call([])
    return np.flatnonzero(launch.arrays["k"]).tolist()


@avx2
def test_samples_that_take_long_are_taken_together_and_first() -> None:
    ends = shuffled(800)
    first = begun(ticks(ends, 10_000, looks=1))
    assert LANES == len(first)
    bucket = 990 / 511
    assert np.sort(ends)[-LANES] - bucket <= ends[first].min()


@avx2
def test_the_last_of_all_are_looked_at_too() -> None:
    n = 25 * LANES + 3
    first = begun(ticks(np.linspace(10.0, 1000.0, n).round(), 10_000, looks=1))
    assert first[-1] == n - 1
    assert first[0] >= n - LANES - 2  # of a bucket any may come first


@avx2
def test_samples_that_stop_at_about_the_same_time_are_taken_as_they_stand() -> None:
    launch = ticks(np.linspace(1000.0, 900.0, 800).round()[::-1].copy(), 10_000, looks=1)
    assert list(range(LANES)) == begun(launch)


@avx2
@pytest.mark.parametrize("n", [31, 32, 33, 2048, 2049, 5000])
@pytest.mark.parametrize("cap", [65, 500, 2**62])
@pytest.mark.parametrize("looks", [None, 1], ids=["at once", "interrupted"])
def test_the_order_changes_nothing_but_the_order(n: int, cap: int, looks: int | None) -> None:
    ends = shuffled(n)
    launch = ticks(ends, cap, looks=looks)
    launch.block[Word.WINDOW] = looks or 0
    launch.arrays["over"][1::7] = True
    launch.to_the_end()
    asked = np.minimum(ends, cap)
    asked[1::7] = 0
    assert asked.tolist() == launch.arrays["k"].tolist() == launch.arrays["t"].tolist()
    finished = int((asked == ends).sum())
    assert finished == launch.block[Word.FINISHED]
    assert asked.max() <= launch.block[Word.LONGEST] < asked.max() + 16


@avx2
@pytest.mark.parametrize("looks", [None, 1], ids=["at once", "interrupted"])
def test_steps_that_cannot_be_foreseen_change_the_order_only(looks: int | None) -> None:
    """A step back, no number, a limit that is none: whatever is expected, the steps are right."""
    ends, dt = shuffled(700), np.ones(700)
    dt[3::11], dt[4::13], dt[5::17] = -1.0, 0.0, np.inf
    ends[6::19], ends[7::23], ends[8::29] = np.nan, np.inf, -np.inf
    launch = ticks(ends, 333, looks=looks, dt=dt)
    launch.block[Word.WINDOW] = looks or 0
    launch.to_the_end()
    for k, end, by in zip(launch.arrays["k"].tolist(), ends.tolist(), dt.tolist(), strict=True):
        t, steps = 0.0, 0
        while steps < 333:
            t, steps = t + by, steps + 1
            if t >= end:
                break
        assert steps == k


@avx2
def test_samples_at_the_cap_are_no_part_of_what_is_left() -> None:
    """Every second sample meets the cap, between others that were not taken yet."""
    ends = np.where(np.arange(2000) % 2, 1e6, 20.0)
    launch = ticks(ends, 100, looks=1)
    launch.block[Word.WINDOW] = 1
    calls = launch.to_the_end()
    assert calls > 100
    assert np.minimum(ends, 100).tolist() == launch.arrays["k"].tolist()
