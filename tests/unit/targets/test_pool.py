"""In launches of many steps the lanes of samples that stopped are given to the next ones."""

from __future__ import annotations

import numpy as np
import pytest

import hawk
from hawk import Index, Mutable, Terminated
from hawk.ir.types import DType
from hawk.passes.pipeline import optimise
from hawk.targets.base import Word
from hawk.targets.cpu import entries
from hawk.targets.cpu.compile import compile_function
from hawk.targets.cpu.machine import host
from hawk.targets.cpu.width import variant
from tests.unit.targets.test_watch import Run

LANES = 8


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
