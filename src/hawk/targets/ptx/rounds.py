"""What is launched for a reduction or a scatter: which routines, on what, in which order. Pure.

The launches of a reduction make numbers of its values until each line has one; a scatter is one
launch. Whoever runs them makes the rooms, and puts addresses where arguments are names.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from hawk.ir.reduce import BLOCK, result_of
from hawk.ir.types import DType
from hawk.targets.ptx.block import THREADS
from hawk.targets.ptx.folds import fold_name, mean_name
from hawk.targets.ptx.places import least_name, take_name
from hawk.targets.ptx.scatters import scatter_name

MOST_BLOCKS = 4096
"""Blocks of a launch: enough to fill a GPU. They share the rest of the work."""

NULL, VALUES, KEEP, DONE, ORDER, RESULT = "", "values", "keep", "done", "order", "result"
"""Arguments of a reduction. RESULT gets a number for each line; for the others see `block`."""
TABLE, SPOTS = "table", "spots"
"""Arguments of a scatter, besides VALUES."""

Argument: TypeAlias = str | int
"""The name of an array or a room (NULL: the address 0), or an int64."""


class Room(NamedTuple):
    """Memory of a reduction's own: nothing in it is needed before or afterwards."""

    name: str
    dtype: DType
    size: int
    """Elements."""


class Call(NamedTuple):
    """The launch of a routine, with blocks of `THREADS` threads."""

    routine: str
    arguments: tuple[Argument, ...]
    blocks: int


class Plan(NamedTuple):
    """What a reduction takes."""

    rooms: tuple[Room, ...]
    calls: tuple[Call, ...]
    """In this order; each waits for the one before it."""


def reduction(kind: str, dtype: DType, lines: int, count: int) -> Plan:
    """The launches for `lines` lines of `count` samples each; `kind` as in `hawk.ir.reduce`."""
    plan = _Planner(lines, count)
    match kind:
        case "sum":
            plan.folds(fold_name(dtype), dtype, RESULT)
        case "mean":
            plan.folds(fold_name(dtype), dtype, plan.room("total", dtype, lines))
            plan.folds("fold_kept", DType.I64, plan.room("counted", DType.I64, lines))
            plan.by_line(mean_name(dtype), "total", "counted", lines, RESULT)
        case "any" | "all":
            counted = plan.room("counted", DType.I64, lines)
            plan.folds("fold_true" if kind == "any" else "fold_false", DType.I64, counted)
            plan.by_line(f"{kind}_of", counted, lines, RESULT)
        case "argmin" | "argmax":
            plan.places(least_name(kind, dtype), RESULT)
        case "min" | "max":
            places = plan.room("places", DType.I64, lines)
            plan.places(least_name(kind, dtype), places)
            take = take_name(kind, dtype)
            plan.by_line(take, VALUES, ORDER, lines, count, places, RESULT)
        case _:
            raise ValueError(kind)
    return Plan(tuple(plan.rooms), tuple(plan.calls))


def scatter(kind: str, dtype: DType, size: int, count: int) -> Call:
    """The launch that gives to a table of `size` elements what `count` samples have for it."""
    work = count if dtype.is_int else size
    arguments = (TABLE, size, SPOTS, VALUES, count)
    return Call(scatter_name(kind, dtype), arguments, _blocks(-(-work // THREADS)))


def result_type(kind: str, dtype: DType) -> DType:
    """The type of what a reduction puts into RESULT."""
    return result_of(kind, dtype)


def _blocks(wanted: int) -> int:
    return min(MOST_BLOCKS, max(1, wanted))


class _Planner:
    def __init__(self, lines: int, count: int) -> None:
        self.lines, self.count = lines, count
        self.rooms: list[Room] = []
        self.calls: list[Call] = []

    def room(self, name: str, dtype: DType, count: int) -> str:
        self.rooms.append(Room(name, dtype, count))
        return name

    def by_line(self, routine: str, *arguments: Argument) -> None:
        self.calls.append(Call(routine, arguments, _blocks(-(-self.lines // THREADS))))

    def folds(self, routine: str, dtype: DType, into: str) -> None:
        """Fold the values, and what comes of that, until each line has one number."""
        given: tuple[Argument, ...] = (VALUES, KEEP, DONE, ORDER)
        for left, parts, last in self._levels():
            out = into if last else self.room(f"{into} {parts}", dtype, self.lines * parts)
            call = Call(routine, (*given, self.lines, left, out), _blocks(self.lines * parts))
            self.calls.append(call)
            routine, given = fold_name(dtype), (out, NULL, NULL, NULL)

    def places(self, routine: str, into: str) -> None:
        """Choose among all places, and then among those, until each line has one."""
        among: str = NULL
        for left, parts, last in self._levels():
            out = into if last else self.room(f"{into} {parts}", DType.I64, self.lines * parts)
            sizes = (self.lines, self.count, among, left)
            arguments = (VALUES, KEEP, DONE, ORDER, *sizes, out)
            self.calls.append(Call(routine, arguments, _blocks(self.lines * parts)))
            among = out

    def _levels(self) -> list[tuple[int, int, bool]]:
        """Of each level the numbers of a line before and after it, and whether it is the last."""
        levels: list[tuple[int, int, bool]] = []
        left = self.count
        while not levels or left > 1:
            parts = max(1, -(-left // BLOCK))
            levels.append((left, parts, parts == 1))
            left = parts
        return levels
