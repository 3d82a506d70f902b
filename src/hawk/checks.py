"""What a kernel with `checks=True` saw while it ran, told afterwards.

Compiled code keeps for each sample the step and the number of its first event of each kind, and
nothing else. What is told of an event comes from the user's own function: its sample is put back
to where it started, compiled code takes the steps before the event, and CPython takes the one with
the event, watched. So texts, values and prints are Python's own.
"""

from __future__ import annotations

import ctypes
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hawk.annotations import owner
from hawk.errors import Loc, render
from hawk.frontend.events import OF_GRID, SHIFT, STEPS, Event, Events, Site, plane_name
from hawk.frontend.replay import Replay, Seen
from hawk.ir.hidden import (
    N_SAMPLES,
    SAMPLE_INDEX,
    STEP_INDEX,
    dimension_name,
    extent_name,
    grid_of,
    whole_name,
)
from hawk.ir.meaning import represent
from hawk.ir.nodes import TABLES, Number, Role
from hawk.ir.types import DType
from hawk.kernel import WIDTHS, Kernel
from hawk.targets.base import HEADER, Compiled, Slot, Word, new_block

MOST_SAMPLES = 10
"""Samples whose prints are shown."""
MOST_LINES = 100
"""Lines that are shown of them."""
MOST_PLACES = 10
"""Places that are told, of each kind of event."""
MOST_NAMED = 5
"""Further samples that are named for each."""
CHUNK = 4096
"""Steps that are taken at once to find the next print."""

Arrays: TypeAlias = "dict[str, NDArray[Any]]"

_CODES = {
    Event.FAILED: "H601",
    Event.NAN: "H602",
    Event.LOST: "H603",
    Event.OUTSIDE: "H604",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """What happened at one place; told of the sample to which it happened first."""

    kind: str
    """`"failed"`, `"nan"`, `"lost"` or `"outside"`."""
    sample: int
    step: int
    """Counted from 1."""
    samples: int
    """Samples for which it was the first of its kind."""
    loc: Loc
    message: str


class CheckError(AssertionError):
    """An assertion in a kernel did not hold.

    The arrays hold the results of the run all the same. `findings` says what happened where, the
    earliest first.
    """

    def __init__(self, message: str, findings: tuple[Finding, ...]) -> None:
        super().__init__(message, findings)
        self.message, self.findings = message, findings

    def __str__(self) -> str:
        return self.message


class CheckWarning(UserWarning):
    """A number became NaN or was lost in a conversion or a division by 0, or an index was wrong."""


CheckError.__module__ = CheckWarning.__module__ = "hawk"  # where users find them


@contextmanager
def watching(
    kernel: Kernel[..., Any], compiled: Compiled, planes: Sequence[NDArray[Any] | int]
) -> Iterator[None]:
    """Tell, after what is done inside `with`, what the checks of `kernel` saw.

    `planes` is what the code is run on, in the order of `compiled.planes`: arrays, and for a
    UNIFORM plane the word that holds its number. Prints what the kernel prints, warns with
    CheckWarning, and raises CheckError where an assertion did not hold. Nothing without checks.
    """
    if not kernel.checks:
        yield
        return
    run = _Run(kernel, compiled, planes)
    yield
    run.tell()


def is_event(name: str) -> bool:
    """Does the plane of that name keep what happened first, which `watching` lets be forgotten?"""
    return name in _EVENTS


_EVENTS = frozenset(map(plane_name, Event))


class _Run:
    """One run: what it starts from, and what came of it."""

    def __init__(
        self, kernel: Kernel[..., Any], compiled: Compiled, planes: Sequence[NDArray[Any] | int]
    ) -> None:
        self.kernel, self.compiled = kernel, compiled
        self.slots = {slot.name: slot for slot in compiled.planes}
        given = dict(zip(self.slots, planes, strict=True))
        self.words = {n: each for n, each in given.items() if isinstance(each, int)}
        arrays = {n: each for n, each in given.items() if not isinstance(each, int)}
        self.tables = {n: a for n, a in arrays.items() if self.slots[n].role in TABLES}
        self.arrays = {n: a.reshape(-1) for n, a in arrays.items() if n not in self.tables}
        real = _width(kernel, self.slots)
        words = {owner(name) for name in self.words}
        inputs = {each.name for each in kernel.parameters if each.role is Role.INPUT}
        uniform = frozenset(inputs & words)
        self.replay = Replay(kernel, real)
        self.events: Events = kernel.program.trace(real, uniform).events
        self.kinds = tuple(self.events.first or ())
        forget(self.arrays, self.kinds)
        stored = (Role.STATE, Role.MASK)
        self.start = {n: a.copy() for n, a in self.arrays.items() if self.slots[n].role in stored}

    @cached_property
    def grids(self) -> dict[str, Any]:
        """The extents of the grid, and the numbers of all samples in each plane that is one."""
        grid = self.kernel.signature.grid
        names = [dimension_name(axis) for axis in grid.axes] if grid else []
        values: dict[str, Any] = {name: self.words[name] for name in names}
        for each in self.kernel.parameters:
            if each.grid is not None and each.role is Role.INPUT:
                values[whole_name(each.name)] = self.arrays[each.name].tolist()
        return values

    def tell(self) -> None:
        """Print, warn and raise."""
        if Event.PRINTED in self.kinds:
            self._print()
        for kind in (Event.LOST, Event.OUTSIDE, Event.NAN):
            if found := self._found(kind):
                warnings.warn(CheckWarning(_together(found)), stacklevel=_user_level())
        if failed := self._found(Event.FAILED):
            raise CheckError(_together(failed), tuple(failed))

    def _found(self, kind: Event) -> list[Finding]:
        """What happened, place by place, the earliest first."""
        if kind not in self.kinds:
            return []
        first = self.arrays[plane_name(kind)]
        samples = np.flatnonzero(first)
        steps, numbers = np.divmod(first[samples], SHIFT)
        order = np.lexsort((samples, steps))
        places: dict[int, list[tuple[int, int]]] = {}
        for at in order.tolist():
            happened = (int(samples[at]), int(steps[at]))
            places.setdefault(int(numbers[at]), []).append(happened)
        return [self._finding(self.events.sites[n - 1], each) for n, each in places.items()]

    def _finding(self, site: Site, happened: list[tuple[int, int]]) -> Finding:
        (sample, step), *others = happened
        again = Again(self, sample)
        again.advance(step - 1 - again.taken)
        seen, _ = self.replay.step(again.values(), site)
        seen = seen or Seen(site.loc, "")
        message = render(_CODES[site.kind], _sentence(site, sample, step, seen), seen.loc, "")
        if others:
            named = ", ".join(f"sample {s:,} at step {t:,}" for s, t in others[:MOST_NAMED])
            rest = len(others) - MOST_NAMED
            message += f"\n  also {named}" + (f" and {rest:,} more" if rest > 0 else "")
        return Finding(site.kind.value, sample, step, len(happened), seen.loc, message)

    # --- prints ---

    def _print(self) -> None:
        """Print what the first samples that printed did print."""
        samples = np.flatnonzero(self.arrays[plane_name(Event.PRINTED)]).tolist()
        lines = [line for sample in samples[:MOST_SAMPLES] for line in self._lines(sample)]
        lines.sort(key=lambda line: line[:2])
        for step, sample, text in lines[:MOST_LINES]:
            print(f"sample {sample:,}, step {step:,}: {text}")
        if len(lines) > MOST_LINES:
            print(f"... these are the first {MOST_LINES} lines")
        if len(samples) > MOST_SAMPLES:
            print(f"... {len(samples) - MOST_SAMPLES:,} more samples printed; these are the first")

    def _lines(self, sample: int) -> Iterator[tuple[int, int, str]]:
        """Step, sample and text of the lines one sample printed, and one more than are shown."""
        again, count = Again(self, sample), 0
        end = int(self.arrays[STEPS][sample])
        while again.taken < end and count <= MOST_LINES:
            ahead = Again(self, sample, again.arrays)
            ahead.advance(min(CHUNK, end - again.taken))
            printed = int(ahead.arrays[plane_name(Event.PRINTED)][0]) // SHIFT
            if not printed:
                again = ahead
                continue
            again.advance(printed - 1 - again.taken)
            _, texts = self.replay.step(again.values())
            again.advance(1)
            forget(again.arrays, self.kinds)
            count += len(texts)
            yield from ((printed, sample, text) for text in texts)


class Again:
    """One sample, as it was when the run started or as `arrays` say; compiled code advances it."""

    def __init__(self, run: _Run, sample: int, arrays: Arrays | None = None) -> None:
        self.run, self.sample = run, sample
        first = slice(sample, sample + 1)
        at_start = {n: run.start.get(n, array)[first] for n, array in run.arrays.items()}
        self.arrays = {n: array.copy() for n, array in (arrays or at_start).items()}

    @property
    def taken(self) -> int:
        """Steps so far, counted as the run counts them."""
        return int(self.arrays[STEPS][0])

    def advance(self, steps: int) -> None:
        if steps <= 0:
            return
        slots = self.run.compiled.planes
        block = new_block(len(slots))
        # It is launched as the sample that it is, in arrays of which nothing else is looked at.
        block[Word.BEGIN], block[Word.END] = self.sample, self.sample + 1
        block[Word.STEPS], block[Word.PIECE] = steps, 1
        for place, slot in enumerate(slots, HEADER):
            word = self.run.words.get(slot.name)
            if slot.role in TABLES:
                word = self.run.tables[slot.name].ctypes.data
            elif word is None:
                before = self.sample * slot.dtype.itemsize
                word = self.arrays[slot.name].ctypes.data - before
            block[place] = word
        self.run.compiled.entry(ctypes.addressof(block))

    def values(self) -> dict[str, Any]:
        """What a step of the kernel reads."""
        parameters, _ = self.run.kernel.signature.scalars
        read = (each.name for each in parameters if each.role not in TABLES | {Role.MASK})
        values: dict[str, Any] = {name: self._number(self.run.slots[name]) for name in read}
        # Which the program may not have, where only what is printed asks for them.
        place = {N_SAMPLES: len(self.run.arrays[STEPS]), STEP_INDEX: self.taken}
        for name, table in self.run.tables.items():
            if grid_of(name):
                continue
            values[name] = table.ravel().tolist()
            values |= {extent_name(name, axis): e for axis, e in enumerate(table.shape)}
        values |= self.run.grids
        return {**values, **place, SAMPLE_INDEX: self.sample}

    def _number(self, slot: Slot) -> Number:
        word = self.run.words.get(slot.name)
        array = self.arrays[slot.name] if word is None else np.array([word], np.int64)
        return represent(slot.dtype, array.view(slot.dtype.numpy)[0].item())


def forget(arrays: Arrays, kinds: Sequence[Event]) -> None:
    """Make room for the next event of each kind."""
    for kind in kinds:
        arrays[plane_name(kind)][...] = 0


def _width(kernel: Kernel[..., Any], slots: dict[str, Slot]) -> DType:
    """The float width that `kernel` was compiled for."""
    planes = (*kernel.signature.scalars[0], *kernel.signature.scalars[1])
    found = [slots[each.name].dtype for each in planes if each.element.dtype is None]
    return found[0] if found else WIDTHS[kernel.dtype or "float64"]


def _sentence(site: Site, sample: int, step: int, seen: Seen) -> str:
    values = f" ({seen.values})" if seen.values else ""
    match site.kind:
        case Event.FAILED:
            return f"sample {sample:,} failed at step {step:,}: {seen.text or site.text}{values}"
        case Event.NAN:
            return f"sample {sample:,} became NaN at step {step:,}, first in `{site.text}`{values}"
        case Event.OUTSIDE:
            what = seen.text or site.text
            place = "a grid" if site.text.startswith(OF_GRID) else "a table"
            return f"sample {sample:,} went outside of {place} at step {step:,}: {what}{values}"
        case Event.LOST | Event.PRINTED:
            what = seen.text or site.text
            return f"sample {sample:,} lost a number at step {step:,}: {what}{values}"


def _together(findings: list[Finding]) -> str:
    """The messages of the first places, and how many there are more."""
    text = "\n".join(each.message for each in findings[:MOST_PLACES])
    rest = findings[MOST_PLACES:]
    if rest:
        samples = sum(each.samples for each in rest)
        text += f"\n... and {len(rest):,} more places, {samples:,} samples"
    return text


def _user_level() -> int:
    """The stack level of the first frame outside of us, for a warning from our caller."""
    level, frame = 1, sys._getframe(1)  # noqa: SLF001 - the public way is in Python 3.12
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] in _OURS:
        level, frame = level + 1, frame.f_back
    return level


_OURS = ("hawk", "eagle", "contextlib")
