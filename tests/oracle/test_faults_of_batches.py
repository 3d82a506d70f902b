"""Faults in what all samples make together, and in where a sample is: each must be noticed.

Reductions and scatters are tried with the programs that have some, places of samples and tables
with those of `test_faults`.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from eagle.devices.host import collective, reduce
from eagle.devices.host.collective import CollectiveLoaded
from hawk.cache.lookup import Cache
from hawk.frontend import lines, tables
from hawk.frontend.kernel_numbers import KernelNumbers
from hawk.ir.hidden import SAMPLE_INDEX, STEP_INDEX
from hawk.ir.ops import OPS
from hawk.ir.types import DType
from hawk.targets import tables as reading
from tests.oracle.harness import Mismatch, case_of, check
from tests.oracle.programs import Program, write
from tests.oracle.test_collective import compare, reducing
from tests.oracle.test_scatter import scattering

SEEDS = range(60)
MOST = 40
"""How many programs are tried on a fault, the shortest first."""

Fault = Callable[[pytest.MonkeyPatch], None]


def instead(owner: Any, name: str, make: Callable[[Any], Any]) -> Fault:
    """What `make` makes of what is right takes its place."""
    return lambda patch: patch.setattr(owner, name, make(getattr(owner, name)))


# -- what all samples make together ----------------------------------------------------------------


def from_the_left(right: Any) -> Any:
    def wrong(dtype: DType, numbers: Any, kept: Any) -> Any:
        total = np.zeros(len(numbers), numbers.dtype)
        with np.errstate(all="ignore"):
            for place, column in enumerate(numbers.T):
                total += column if kept is None else np.where(kept[:, place], column, 0)
        return total

    return wrong


def of_all(right: Any) -> Any:
    def wrong(self: Any, threads: Any, alive: Any) -> Any:
        kept, self.keep = self.keep, None
        try:
            return right(self, threads, alive)
        finally:
            self.keep = kept

    return wrong


def of_the_finished_too(right: Any) -> Any:
    return lambda self, threads, alive: right(self, threads, None)


def from_the_end(right: Any) -> Any:
    def wrong(kind: str, dtype: DType, numbers: Any, kept: Any) -> Any:
        turned = [None if each is None else each[:, ::-1].copy() for each in (numbers, kept)]
        places = right(kind, dtype, *turned)
        return np.where(places < 0, places, numbers.shape[1] - 1 - places)

    return wrong


REDUCTIONS: dict[str, Fault] = {
    "sums are added from the left": instead(reduce, "_sums", from_the_left),
    "where= is not looked at": instead(collective._Round, "reduce", of_all),
    "samples that are done take part": instead(collective._Round, "reduce", of_the_finished_too),
    "of several least the last is meant": instead(reduce, "_places", from_the_end),
    "a mean is a sum": instead(
        collective,
        "reduce_array",
        lambda right: lambda kind, *rest: right("sum" if kind == "mean" else kind, *rest),
    ),
}


LINES: dict[str, Fault] = {
    "samples are reduced in the order of the batch": instead(
        collective._Lines,
        "of",
        lambda right: lambda self, name, row: row.reshape(self._shape),
    ),
    "a sample reads the number of the first line": instead(
        lines,
        "own_line",
        lambda right: (
            lambda numbers, over: (
                numbers.constant(0, DType.I32)
                if isinstance(numbers, KernelNumbers)
                else right(numbers, over)
            )
        ),
    ),
    **{name: REDUCTIONS[name] for name in list(REDUCTIONS)[1:3]},
}


def given_by(change: Callable[[Any, Any, Any], None]) -> Fault:
    """What is given in one scatter is changed, in place, before."""

    def make(right: Any) -> Any:
        def wrong(self: Any) -> None:
            change(*self._arrays)
            right(self)

        return wrong

    return instead(collective._Given, "give", make)


def backwards(table: Any, spots: Any, values: Any) -> None:
    spots[...], values[...] = spots[::-1].copy(), values[::-1].copy()


def to_the_last(table: Any, spots: Any, values: Any) -> None:
    spots[spots == 0] = table.size


def to_the_next(table: Any, spots: Any, values: Any) -> None:
    spots[(spots > 0) & (spots < table.size)] += 1


def twice(right: Any) -> Any:
    """What was given stays, for those who do not give in the next step."""

    def wrong(self: Any) -> None:
        _, spots, _ = self._arrays
        kept = spots.copy()
        right(self)
        spots[...] = kept

    return wrong


def in_the_next_step(right: Any) -> Any:
    def wrong(self: Any) -> None:
        if self._step_mark is None:
            right(self)

    return wrong


def last_first(right: Any) -> Any:
    def wrong(self: Any) -> None:
        self._scatters.reverse()
        right(self)
        self._scatters.reverse()

    return wrong


SCATTERS: dict[str, Fault] = {
    "the last sample gives first": given_by(backwards),
    "what is outside of a table goes to its end": given_by(to_the_last),
    "each gives to the element after the one that is meant": given_by(to_the_next),
    "samples that are done give again": instead(collective._Given, "give", twice),
    "what is given comes a step later": instead(CollectiveLoaded, "_give", in_the_next_step),
    "the last scatter comes first": instead(CollectiveLoaded, "_give", last_first),
}


@functools.cache
def programs(make: Callable[[Program], Program | None]) -> list[Program]:
    found = [program for seed in SEEDS if (program := make(write(seed))) is not None]
    return sorted(found, key=lambda program: len(program.text))


def notices(make: Callable[[Program], Program | None], patch: pytest.MonkeyPatch) -> bool:
    for program in programs(make)[:MOST]:
        try:
            compare(program, patch)
        except pytest.fail.Exception:
            return True
    return False


@pytest.fixture
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """What the cache holds has no fault, and what has one must not get there."""
    monkeypatch.setattr(Cache, "get_or_make", lambda self, wanted, make, load: (load(*make()), ""))
    return monkeypatch


@pytest.mark.parametrize("fault", REDUCTIONS.values(), ids=REDUCTIONS)
def test_of_reductions_it_is_noticed_that(fault: Fault, nothing_kept: pytest.MonkeyPatch) -> None:
    fault(nothing_kept)
    assert notices(reducing, nothing_kept)


@functools.cache
def along_dimensions() -> list[Program]:
    every = [each for seed in range(12) if (each := reducing(write(seed, grids=True)))]
    lined = [program for program in every if ", over='" in program.text]
    return sorted(lined, key=lambda program: len(program.text))


@pytest.mark.parametrize("fault", LINES.values(), ids=LINES)
def test_of_lines_it_is_noticed_that(fault: Fault, nothing_kept: pytest.MonkeyPatch) -> None:
    fault(nothing_kept)
    for program in along_dimensions():
        try:
            compare(program, nothing_kept)
        except pytest.fail.Exception:
            return
    pytest.fail("all programs give the right bits in spite of the fault")


@pytest.mark.parametrize("fault", SCATTERS.values(), ids=SCATTERS)
def test_of_scatters_it_is_noticed_that(fault: Fault, nothing_kept: pytest.MonkeyPatch) -> None:
    fault(nothing_kept)
    assert notices(scattering, nothing_kept)


def test_without_a_fault_nothing_is_noticed(nothing_kept: pytest.MonkeyPatch) -> None:
    for make in (reducing, scattering):
        for program in programs(make)[:2]:
            compare(program, nothing_kept)


# -- where a sample is, and what a table holds -----------------------------------------------------


def one_off(which: str) -> Fault:
    """A place that the program takes for one more than it is."""

    def make(right: Any) -> Any:
        def wrong(self: Any, name: str) -> Any:
            value = right(self, name)
            if name != which:
                return value
            return self.emit("add", value, self.constant(1, DType.I64))

        return wrong

    return instead(KernelNumbers, "place", make)


def last_but_one(right: Any) -> Any:
    """An index that is too large is brought to the last element but one."""

    def wrong(numbers: Any, extent: Any, dtype: DType) -> Any:
        last = right(numbers, extent, dtype)
        if not isinstance(numbers, KernelNumbers):
            return last
        return numbers.emit("sub", last, numbers.constant(1, dtype))

    return wrong


def element_after(right: Any) -> Any:
    def wrong(e: Any, table: str, memory: str, place: str) -> Any:
        # The first element for the second, so that no one reads beyond the end.
        other = e.define(f"call i64 @llvm.usub.sat.i64(i64 {place}, i64 1)")
        return right(e, table, memory, other)

    return wrong


def misread(patch: pytest.MonkeyPatch) -> None:
    """The interpreter looks up the element before."""
    row = OPS["lookup"]
    wrong = dataclasses.replace(row, meaning=lambda _, table, place: table[max(0, place - 1)])
    patch.setitem(OPS, "lookup", wrong)  # type: ignore[arg-type]


PLACES: dict[str, tuple[Fault, str, tuple[str, ...]]] = {
    "the index of a sample is one off": (one_off(SAMPLE_INDEX), "sample_index", ("python",)),
    "steps are counted from 1": (one_off(STEP_INDEX), "step_index", ("python",)),
    "an index is brought to the last but one": (
        instead(tables, "_last", last_but_one), r"(knots|values|places|flags|grid|whole)\[",
        ("python",),
    ),
    "code reads the element before": (
        instead(reading, "_address", element_after), r"(knots|values|places|flags|grid|whole)\[",
        ("width 1",),
    ),
    "the table of operations means the element before": (
        misread, r"(knots|values|places|flags|grid|whole)\[", ("width 1",),
    ),
}  # fmt: skip
"""Each with a word of the programs that it is about, and where it shows."""


@functools.cache
def placed() -> list[Program]:
    every = [write(seed, placed=True) for seed in range(300)]
    return sorted(every, key=lambda program: len(program.text))


@pytest.mark.parametrize(("fault", "word", "stages"), PLACES.values(), ids=PLACES)
def test_of_places_it_is_noticed_that(
    fault: Fault, word: str, stages: tuple[str, ...], nothing_kept: pytest.MonkeyPatch
) -> None:
    fault(nothing_kept)
    found = (program for program in placed() if re.search(word, program.text))
    for program in itertools.islice(found, MOST):
        try:
            check(case_of(program), stages)
        except Mismatch:
            return
    pytest.fail(f"the programs about {word!r} give the right bits in spite of the fault")
