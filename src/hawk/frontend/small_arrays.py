"""Small arrays while a kernel is traced: numbers with a shape, and which of them share memory.

A program holds each number of an array as a value of its own, so an array here is a tuple that
never changes: to assign to an element gives the name another tuple. Python's arrays are memory, and
two names, or a row and its matrix, may be the same memory. So each number also has a *cell*, the
piece of memory it would be in. Who assigns to an element writes its cell; an array that was read
from the cell before is then *old*. To read an old array is an error, not a silent difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from hawk.errors import HawkError, Loc
from hawk.frontend.instances import Fields
from hawk.ir.types import DType


@dataclass(frozen=True, slots=True, eq=False)
class SmallArray:
    """Numbers of one type with a shape, `(w,)` or `(r, c)`, row by row."""

    shape: tuple[int, ...]
    parts: tuple[Any, ...]
    """Numbers of the program."""
    cells: tuple[int, ...]
    """The memory of each number."""
    time: int
    """When they were read from it."""
    also: frozenset[int] = frozenset()
    """Memory that it may be as well, where paths met."""

    @property
    def dtype(self) -> DType:
        return self.parts[0].dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __bool__(self) -> bool:
        raise TypeError("an array has no truth of its own")


class Write(NamedTuple):
    """When and where an element was last assigned to, and how that array is called there."""

    time: int
    loc: Loc
    text: str


class Memory:
    """The cells of all arrays, and when each was last written on the path that is walked."""

    def __init__(self) -> None:
        self.clock = 0
        self.next = 0
        self.written: dict[int, Write] = {}

    def tick(self) -> int:
        self.clock += 1
        return self.clock

    def cell(self) -> int:
        """A piece of memory that nothing else is in."""
        self.next += 1
        return self.next - 1

    def fresh(self, shape: tuple[int, ...], parts: Any) -> SmallArray:
        """A new array, in memory of its own."""
        parts, first = tuple(parts), self.next
        self.next += len(parts)
        return SmallArray(shape, parts, tuple(range(first, self.next)), self.tick())

    def write(self, cells: Any, loc: Loc, text: str) -> None:
        """Note that these cells change now."""
        now = Write(self.tick(), loc, text)
        self.written = {**self.written, **dict.fromkeys(cells, now)}

    def change(
        self, array: SmallArray | Fields, written: dict[int, Write] | None = None
    ) -> Write | None:
        """What has changed of an array, or an object, since it was read, if anything."""
        written = self.written if written is None else written
        if not written:
            return None
        for cell in (*array.cells, *array.also):
            found = written.get(cell)
            if found is not None and found.time > array.time:
                return found
        return None

    def meet(self, shape: tuple[int, ...], parts: Any, ways: tuple[SmallArray, ...]) -> SmallArray:
        """The array that is one of several, where paths meet."""
        first, *others = ways
        also = set(first.also)
        for other in others:
            also |= other.also | set(other.cells)
        also -= set(first.cells)
        return SmallArray(shape, tuple(parts), first.cells, self.tick(), frozenset(also))

    def now(self, value: Any, written: dict[int, Write]) -> Any:
        """A value of a path as those see it who came that way: what was not old there is not."""
        if isinstance(value, Fields):
            parts = tuple([self.now(part, written) for part in value.parts])
            if any(a is not b for a, b in zip(parts, value.parts, strict=True)):
                value = replace(value, parts=parts)
        if isinstance(value, (SmallArray, Fields)):
            if not self.change(value) or self.change(value, written):
                return value
            return replace(value, time=self.tick())
        if type(value) is tuple:
            parts = tuple([self.now(part, written) for part in value])
            return parts if any(a is not b for a, b in zip(parts, value, strict=True)) else value
        return value

    @contextmanager
    def arm(self, ends: list[dict[int, Write]]) -> Iterator[None]:
        """Writes inside `with` are those of one path; after two of them both have happened."""
        entry = self.written
        try:
            yield
            ends.append(self.written)
        finally:
            self.written = entry
        if len(ends) == 2:
            self.written = joined(*ends)


def joined(first: dict[int, Write], second: dict[int, Write]) -> dict[int, Write]:
    """The last writes of two paths."""
    if first is second:
        return first
    both = dict(first)
    for cell, write in second.items():
        if cell not in both or both[cell].time < write.time:
            both[cell] = write
    return both


def old(name: str, write: Write, where: Loc) -> HawkError:
    """The error of reading an array whose memory was written under another name."""
    inside = write.loc.caller is not None and write.loc.function != where.function
    if inside and write.loc.function:
        helper = write.loc.function
        what = f"`{name}` changed in line {write.loc.line}, in `{helper}`, which was given this "
        what += "array: a helper changes arrays of its own"
        fix = (
            f"{name} = {helper}(...), with `return {write.text}` as the last line of `{helper}`;\n"
        )
        fix += f"or {helper}({name}.copy()), if `{name}` is not to change"
        return HawkError("H309", what, where, fix)
    what = f"`{name}` shares its numbers with `{write.text}`, which changed in line "
    what += f"{write.loc.line}: as an array of NumPy it would have changed too"
    fix = f"`.copy()` behind what `{name}` is made of, to keep the numbers of then;\n"
    fix += f"or `{name}` bound again after line {write.loc.line}"
    return HawkError("H309", what, where, fix)


def old_object(name: str, write: Write, where: Loc) -> HawkError:
    """The error of reading an object that may be another one, which was assigned to."""
    what = f"`{name}` may be the same object as `{write.text}`, which changed in line "
    what += f"{write.loc.line}, so what it holds now is not known"
    fix = [f"dataclasses.replace(...) around what `{name}` is made of, for an object of its own"]
    fix.append("an assignment on each path, where it is known which object it is")
    return HawkError("H309", what, where, fix)


def array_name(shape: tuple[int, ...], dtype: DType, real: DType) -> str:
    """What a user calls an array of this shape: `Vector[3]`, `Matrix[2, 2, Int32]`."""
    sizes = ", ".join(map(str, shape))
    kind = "" if dtype is real else f", {dtype.hawk}"
    return f"{'Vector' if len(shape) == 1 else 'Matrix'}[{sizes}{kind}]"


def described(array: SmallArray, real: DType) -> str:
    """The array with its article, for messages."""
    part = array.parts[0]
    if not isinstance(getattr(part, "dtype", None), DType):
        return "an array"
    return f"a {array_name(array.shape, array.dtype, real)}"
