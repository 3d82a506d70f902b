"""What a name of a walked function may hold, other than plain Python objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from hawk.annotations import GridForm, TableForm
from hawk.errors import HawkError, Loc
from hawk.frontend.instances import Fields, Instance
from hawk.frontend.small_arrays import SmallArray
from hawk.frontend.source import Source
from hawk.ir.nodes import Const, Number, Value
from hawk.ir.types import DType


@dataclass(frozen=True, slots=True, eq=False)
class Scalar:
    """A number of the program. A `free` one is an Index that takes the type of what it meets."""

    value: Value
    free: bool = False

    @property
    def dtype(self) -> DType:
        return self.value.dtype

    @property
    def number(self) -> Number | None:
        """The number it is known to be, else None."""
        return self.value.number if isinstance(self.value, Const) else None

    def __bool__(self) -> bool:
        raise TypeError("the truth of a number of the program is not known while it is traced")


@dataclass(frozen=True, slots=True, eq=False)
class GridScalar(Scalar):
    """A Grid parameter: this sample's own number, which can be asked for those of others."""

    name: str = ""
    numbers: Any = None
    """Whose numbers it holds."""
    form: GridForm | None = None
    changed: bool = False
    """Is it a Mutable?"""


@dataclass(frozen=True, slots=True, eq=False)
class Unusable:
    """What a name holds where paths left it without one value; `why` makes the error of a read."""

    why: Callable[[str, Loc], HawkError]
    where: Loc | None = None
    """Where the paths part, for a read that nobody wrote: at the end of the step."""


@dataclass(frozen=True, slots=True, eq=False)
class Range:
    """A `range` with a bound that is a number of the program. The step is known and not 0."""

    start: Any
    stop: Any
    step: int


@dataclass(frozen=True, slots=True, eq=False)
class Closure:
    """A function defined inside a walked function; it sees the names of `frame` as they are now."""

    source: Source
    frame: Any
    defaults: tuple[Any, ...]
    keyword_defaults: dict[str, Any]
    region: object = None
    """The arm or pass it was made in."""

    @property
    def __name__(self) -> str:  # so that messages name it like any function
        return self.source.name


@dataclass(frozen=True, slots=True, eq=False)
class TableView:
    """A Table parameter: what `lookup` takes, and its dimensions."""

    name: str
    numbers: Any
    """Whose numbers it holds."""
    handle: Any
    form: TableForm
    dtype: DType
    shared: bool = False
    """May a step give to its elements?"""

    def __bool__(self) -> bool:
        raise TypeError(f"the table `{self.name}` is neither true nor false")

    def extent(self, axis: int) -> Any:
        """A Python number where it is known, else an Int32 of the program."""
        known = self.form.extents[axis]
        return self.numbers.extent(self.name, axis) if known is None else known


@dataclass(frozen=True, slots=True, eq=False)
class Spots:
    """What `hawk.scatter(table, where=keep)` gives: the elements that something is given to."""

    table: TableView
    keep: Any


@dataclass(frozen=True, slots=True, eq=False)
class Spot:
    """One of them: `hawk.scatter(table)[i]`."""

    spots: Spots
    indices: tuple[Any, ...]
    written: tuple[Any, ...]
    """The expressions of the indices."""


@dataclass(frozen=True, slots=True, eq=False)
class Stream:
    """Values that are taken once, one after the other: what `zip` gives, or a generator."""

    parts: Iterator[Any]
    region: object
    """The arm or pass it was made in: taken elsewhere, what is left of it would not be known."""


class NeedsKnown(HawkError):
    """Something must be known while tracing. A loop that hears it is unrolled if it can be."""


VIEWS = (type({}.keys()), type({}.values()), type({}.items()))
"""What `keys`, `values` and `items` of a dict give."""


def leaves(value: object) -> Iterator[object]:
    """The parts of a value, tuples, lists and dicts opened."""
    match value:
        case tuple() | list():
            for part in value:
                yield from leaves(part)
        case dict():
            for part in value.values():
                yield from leaves(part)
        case _ if isinstance(value, VIEWS):
            for part in value:
                yield from leaves(part)
        case SmallArray() | Fields():
            yield from value.parts
        case slice():
            yield from leaves((value.start, value.stop, value.step))
        case _:
            yield value


def is_known(value: object) -> bool:
    """Whether Python knows all of `value`."""
    return not any(
        isinstance(
            part, (Scalar, Unusable, Range, Closure, Stream, TableView, Spots, Spot, Instance)
        )
        for part in leaves(value)
    )


def known_of(value: Any) -> Any:
    """The Python number that a number of the program is known to be; anything else as it is."""
    if isinstance(value, Scalar) and value.number is not None:
        return value.number
    if type(value) is tuple:
        return tuple([known_of(part) for part in value])
    return value
