"""What a kernel with `checks=True` looks out for: the first event of each kind in a step.

An event has a kind and a number that names its place in the text. While a kernel is traced, `Watch`
holds for each kind the number of the first event of the step so far, 0 if there was none: a number
of the program like any other, chosen where paths join and carried through loops. `with_planes`
keeps, for each sample, the first of all steps.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from hawk.errors import Loc
from hawk.frontend.debug import HAWK
from hawk.frontend.values import Scalar
from hawk.ir.builder import Builder
from hawk.ir.meaning import RANGE
from hawk.ir.nodes import Const, Function, Plane, Role, Value
from hawk.ir.types import DType


class Event(enum.Enum):
    """What happened; the value is how its plane is called."""

    FAILED = "failed"
    """An assertion does not hold."""
    LOST = "lost"
    """A conversion to an integer, or a division by 0, that has no true result."""
    OUTSIDE = "outside"
    """An index that is none of the places of a table or a grid."""
    PRINTED = "printed"
    NAN = "nan"
    """A number that is stored became NaN."""


@dataclass(frozen=True, slots=True)
class Site:
    """Where in the text an event can happen, and what is written there."""

    kind: Event
    loc: Loc
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class Events:
    """The events of a traced step: the number of the first of each kind, and what they number."""

    sites: tuple[Site, ...] = ()
    """Event number n happens at `sites[n - 1]`."""
    first: Mapping[Event, Value] | None = None


_CARRIED = (Event.FAILED, Event.LOST, Event.PRINTED)
"""What any step may do. Only one with a table or a grid also reads outside of it."""
OF_GRID = "an index of the grid"
"""How the text of an `OUTSIDE` begins that is one of a grid."""
INTEGERS = {f"to_{dtype.value}": dtype for dtype in (DType.I32, DType.U32, DType.I64)}
DIVISIONS = ("floordiv", "mod")


class Watch:
    """The events of the step so far, while it is traced."""

    def __init__(self, builder: Builder, *, tables: bool = False) -> None:
        self.builder = builder
        nothing = Scalar(builder.const(0, DType.I64))
        kinds = (*_CARRIED, Event.OUTSIDE) if tables else _CARRIED
        self.first: dict[Event, Scalar] = dict.fromkeys(kinds, nothing)
        self.sites: dict[Site, int] = {}

    def note(self, kind: Event, happened: Scalar, loc: Loc, text: str) -> None:
        """An event that may have happened here."""
        if happened.number is False:
            return
        b, before = self.builder, self.first[kind]
        number = b.const(
            self.sites.setdefault(Site(kind, loc, text), len(self.sites) + 1), DType.I64
        )
        fresh = b.apply("eq", before.value, b.const(0, DType.I64))
        fresh = b.apply("and", fresh, happened.value)
        self.first = {**self.first, kind: Scalar(b.apply("select", fresh, number, before.value))}

    def _number(self, site: Site) -> Const:
        return self.builder.const(self.sites.setdefault(site, len(self.sites) + 1), DType.I64)

    def operation(self, op: str, values: tuple[Scalar, ...]) -> None:
        """Look at an operation that is about to be written: can its result be lost?"""
        loc, b = self.builder.loc, self.builder
        if loc.file.startswith(HAWK):
            return  # hawk's own functions convert numbers of any size on purpose
        last = values[-1].value
        if op in DIVISIONS and last.dtype.is_int:
            zero = b.apply("eq", last, b.const(0, last.dtype))
            self.note(Event.LOST, Scalar(zero), loc, "a division by 0, which gives 0")
        elif op in INTEGERS and last.dtype.is_float:
            dtype = INTEGERS[op]
            outside = Scalar(b.apply("not", _fits(b, last, dtype)))
            self.note(Event.LOST, outside, loc, f"no {dtype.hawk} is like it")

    def outside(self, happened: Scalar, loc: Loc, text: str) -> None:
        """An index of a small array that may be beyond its ends."""
        self.note(Event.LOST, happened, loc, text)

    # --- paths and loops ---

    @contextmanager
    def arm(self, ends: list[dict[Event, Scalar]]) -> Iterator[None]:
        """Events inside `with` are those of one path; what they came to is appended to `ends`."""
        entry = self.first
        try:
            yield
            ends.append(self.first)
        finally:
            self.first = entry

    def join(self, ends: list[dict[Event, Scalar]], pair: Callable[[str, Any, Any], Any]) -> None:
        """Two paths join."""
        first, second = ends
        self.first = {kind: pair("", first[kind], second[kind]) for kind in self.first}

    # --- the end of the step ---

    def finish(self, stored: list[tuple[Plane, Value]]) -> Events:
        """All events of the step, once it is known what each plane holds at its end."""
        first = {kind: each.value for kind, each in self.first.items() if each.number != 0}
        floats = [(p, v) for p, v in stored if p.dtype.is_float and v is not p.read]
        number: Value = self.builder.const(0, DType.I64)
        # From the last to the first, so that of several the first in the text counts.
        for plane, value in sorted(floats, key=lambda each: _order(each[1].loc), reverse=True):
            site = Site(Event.NAN, value.loc, plane.name)
            became = self._became(plane, value)
            number = self.builder.apply("select", became, self._number(site), number)
        if not isinstance(number, Const):
            first[Event.NAN] = number
        return Events(tuple(self.sites), first)

    def _became(self, plane: Plane, value: Value) -> Value:
        """Is it NaN now, and was it none before?"""
        now = self.builder.apply("isnan", value)
        if plane.read is None:
            return now
        before = self.builder.apply("isnan", plane.read)
        return self.builder.apply("and", now, self.builder.apply("not", before))


def _fits(b: Builder, x: Value, dtype: DType) -> Value:
    """Is `x` without its fraction a number that `dtype` holds? A NaN is none."""
    least, greatest = RANGE[dtype]
    # least - 1 is a float of this width, or else there is no float between the two.
    exact = x.dtype is DType.F64 and dtype is not DType.I64
    low = b.apply("gt" if exact else "ge", x, b.const(float(least - exact), x.dtype))
    if dtype is DType.U32:
        low = b.apply("gt", x, b.const(-1.0, x.dtype))
    return b.apply("and", low, b.apply("lt", x, b.const(float(greatest + 1), x.dtype)))


def _order(loc: Loc) -> tuple[int, int]:
    """Where in the kernel itself a value is made: of one from a helper, where that is called."""
    while loc.caller is not None:
        loc = loc.caller
    return loc.line, loc.col


# --- what a sample keeps --------------------------------------------------------------------------

STEPS = "check steps"
"""The plane that counts a sample's steps; the space keeps it apart from planes of users."""
SHIFT = 1 << 16
"""An event of a sample is kept as `step * SHIFT + number`, 0 if there was none."""


def plane_name(kind: Event) -> str:
    """The plane that keeps the first event of a kind."""
    return f"check {kind.value}"


def with_planes(fn: Function, events: Events) -> Function:
    """`fn` with STATE planes for the steps taken, and for the first event of each kind."""
    first = events.first or {}
    if not first:
        return fn
    b = Builder(fn.loc)
    planes = [Plane(STEPS, Role.STATE, DType.I64, Value(DType.I64, fn.loc), fn.loc)]
    zero = b.const(0, DType.I64)
    taken = b.apply("add", _read(planes[0]), b.const(1, DType.I64))
    stores = [(STEPS, taken)]
    for kind, number in first.items():
        plane = Plane(plane_name(kind), Role.STATE, DType.I64, Value(DType.I64, fn.loc), fn.loc)
        packed = b.apply("add", b.apply("mul", taken, b.const(SHIFT, DType.I64)), number)
        fresh = b.apply("and", b.apply("eq", _read(plane), zero), b.apply("ne", number, zero))
        planes.append(plane)
        stores.append((plane.name, b.apply("select", fresh, packed, _read(plane))))
    return replace(
        fn,
        planes=(*fn.planes, *planes),
        step=(*fn.step, *b.items),
        stores=(*fn.stores, *stores),
    )


def _read(plane: Plane) -> Value:
    assert plane.read is not None
    return plane.read
