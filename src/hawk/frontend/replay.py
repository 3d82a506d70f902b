"""One step of one sample in CPython, watched: where an event happens, with which numbers."""

from __future__ import annotations

import ast
import io
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any

import numpy as np

from hawk.errors import Loc
from hawk.frontend.cpython import Number, PythonNumbers, Shim
from hawk.frontend.debug import HAWK, debug, debug_text, place, quoted
from hawk.frontend.events import DIVISIONS, INTEGERS, Event, Site
from hawk.frontend.operators import named
from hawk.ir.meaning import RANGE
from hawk.ir.types import DType


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen of an event."""

    loc: Loc
    values: str
    """The numbers in the expression: `x = 1.5, v = 2.0`."""
    text: str = ""
    """What an assertion says, or what came of a lost number; empty where nothing is said."""


@dataclass(slots=True)
class _Record:
    """What a step, and the kernels it calls, are watched for, and what was seen."""

    codes: list[set[CodeType]] = field(default_factory=list)
    """Of every shim: the functions that are watched."""
    site: Site | None = None
    seen: Seen | None = None
    lines: list[str] = field(default_factory=list)
    origins: dict[int, tuple[Number, Seen | None]] = field(default_factory=dict)
    """Where each NaN comes from, by the identity of the number, which is kept alive."""

    def operation(self, op: str, values: tuple[Number, ...], result: Number) -> None:
        """Look at an operation that was just computed."""
        if self.site is None or self.seen is not None:
            return
        if self.site.kind is Event.NAN and _is_nan(result):
            chosen = (values[1 if values[0].number else 2],) if op == "select" else values
            known = [self.origins[id(v)][1] for v in chosen if _is_nan(v) and id(v) in self.origins]
            self.origins[id(result)] = result, known[0] if known else self.here()
        elif self.site.kind is Event.LOST and _is_lost(op, values[-1]):
            text = "a division by 0"
            if op in INTEGERS:
                text = f"{shown(values[-1])} as {named(result.dtype)}"
            self.seen = self.here(text=f"{text} gives {shown(result)}")

    def outside(self, index: Number, length: int) -> None:
        """Look at an index that is beyond the ends of a small array."""
        if self.site is not None and self.seen is None and self.site.kind is Event.LOST:
            self.seen = self.here(text=f"no element {index} of {length}, the nearest is taken")

    def here(self, innermost: FrameType | None = None, text: str = "") -> Seen | None:
        """What the user's functions are doing now."""
        frames = list(self._frames(innermost or sys._getframe(1)))  # noqa: SLF001 - public in 3.12
        loc: Loc | None = None
        for frame in reversed(frames):
            at = place(frame)
            if at is None:
                return None
            loc = Loc(at.file, at.line, at.col, at.end_line, at.end_col, at.function, loc)
        return None if loc is None else Seen(loc, values_in(quoted(loc), frames[0]), text)

    def _frames(self, frame: FrameType | None) -> Iterator[FrameType]:
        while frame is not None:
            code = frame.f_code
            if not code.co_filename.startswith(HAWK) and any(code in each for each in self.codes):
                yield frame
            frame = frame.f_back


class _Numbers(PythonNumbers):
    """Arithmetic that is watched."""

    def __init__(self, real: DType, record: _Record, *, fast: bool) -> None:
        super().__init__(real, fast=fast)
        self.record = record

    def emit(self, op: str, *values: Any, free: bool = False) -> Number:
        result = super().emit(op, *values, free=free)
        self.record.operation(op, values, result)
        return result

    def outside(self, index: Number, length: int) -> None:
        self.record.outside(index, length)

    def beyond_table(
        self, table: str, axis: int | None, index: Any, beyond: Callable[[], Any]
    ) -> None:
        site, record = self.record.site, self.record
        if site is None or site.kind is not Event.OUTSIDE or record.seen is not None:
            return
        if beyond().number:
            size = self._size(table, axis)
            record.seen = record.here(text=f"index {index} of `{table}`, which has {size}")

    def beyond_grid(
        self, grid: str, axis: int | None, index: Any, beyond: Callable[[], Any]
    ) -> None:
        self.beyond_table(grid, axis, index, beyond)

    def _size(self, table: str, axis: int | None) -> str:
        extents = self.extents[table]
        if axis is None:
            return f"{math.prod(extents)} of them"
        along = "of them" if len(extents) == 1 else f"along axis {axis}"
        return f"{extents[axis]} {along}"


class _Look(Shim):
    """A shim that watches. Functions are recompiled once, so it serves for many steps."""

    def __init__(
        self, real: DType, record: _Record, *, contract: bool, fast: bool, asserts: bool
    ) -> None:
        super().__init__(real, contract=contract, fast=fast)
        self.numbers = _Numbers(real, record, fast=fast)
        self.record, self.asserts = record, asserts
        record.codes.append(self.codes)

    def within(self, *, contract: bool) -> Shim:
        real, fast = self.numbers.real, self.numbers.fast
        inner = _Look(real, self.record, contract=contract, fast=fast, asserts=self.asserts)
        inner.numbers.at_the_place_of(self.numbers)
        return inner

    def call(self, function: Any, /, *args: Any, **keywords: Any) -> Any:
        if function is print:
            text = io.StringIO()
            options: dict[str, Any] = {**keywords, "file": text}
            print(*args, **options)
            self.record.lines += text.getvalue().splitlines()
            return None
        if function is debug:
            if keywords.get("where", True):
                seen = self.record.here()
                self.record.lines.append(debug_text(args, seen.loc if seen else None))
            return None
        return super().call(function, *args, **keywords)


class Replay:
    """Takes steps of a kernel in CPython, one at a time, each from given values."""

    def __init__(self, kernel: Any, real: DType) -> None:
        self.kernel = kernel
        contract, fast = kernel.contract, kernel.math == "fast"
        # A failed assertion ends a step of Python's, but not one of the kernel's.
        self.looks = [
            _Look(real, _Record(), contract=contract, fast=fast, asserts=asserts)
            for asserts in (False, True)
        ]

    def step(
        self, values: Mapping[str, Any], site: Site | None = None
    ) -> tuple[Seen | None, list[str]]:
        """What was seen of the event at `site`, and the lines that were printed."""
        look = self.looks[site is not None and site.kind is Event.FAILED]
        record = look.record
        record.site, record.seen, record.lines, record.origins = site, None, [], {}
        numbers = look.given(self.kernel, values)
        try:
            left = look.step(self.kernel, numbers)
            if site is not None and site.kind is Event.NAN:
                record.seen = record.origins.get(id(left[site.text]), (None, None))[1]
        except AssertionError as error:
            if site is not None:
                record.seen = _failed(record, site, error)
        except Exception as error:  # noqa: BLE001 - a text of the user may fail, the report must not
            if site is not None and site.kind is Event.FAILED:
                silent = AssertionError().with_traceback(error.__traceback__)
                record.seen = _failed(record, site, silent)
            record.lines.append(f"({type(error).__name__}: {error})")
        return record.seen, record.lines


def _failed(record: _Record, site: Site, error: AssertionError) -> Seen:
    """What an assertion says, and the numbers in it."""
    trace, frame = error.__traceback__, None
    while trace is not None:
        if any(trace.tb_frame.f_code in each for each in record.codes):
            frame = trace.tb_frame
        trace = trace.tb_next
    values = "" if frame is None else values_in(site.text, frame)
    return Seen(site.loc, values, str(error))


def values_in(text: str, frame: FrameType) -> str:
    """The numbers that the names in an expression or statement have in `frame`."""
    try:
        tree = ast.parse(text.strip())
    except SyntaxError:
        return ""
    names = [each for each in ast.walk(tree) if isinstance(each, ast.Name)]
    names.sort(key=lambda name: (name.lineno, name.col_offset))
    known = {each.id: frame.f_locals.get(each.id) for each in names}
    numbers = [(name, value) for name, value in known.items() if isinstance(value, Number)]
    return ", ".join(f"{name} = {shown(value)}" for name, value in numbers)


def shown(value: Number) -> str:
    """A number as short as its width allows."""
    return str(np.float32(value.number)) if value.dtype is DType.F32 else repr(value.number)


def _is_nan(value: Number) -> bool:
    return value.dtype.is_float and math.isnan(value.number)


def _is_lost(op: str, value: Number) -> bool:
    """Has the operation no true result, for this last operand?"""
    if op in DIVISIONS and value.dtype.is_int:
        return value.number == 0
    if op not in INTEGERS or not value.dtype.is_float:
        return False
    least, greatest = RANGE[INTEGERS[op]]
    return not (math.isfinite(value.number) and least <= math.trunc(value.number) <= greatest)
