"""What a graph asks of a device: a tree of nodes and the memory they work on. Data only.

A plan is what a builder recorded, whole and checked, and all that a device gets to see: nodes in
the order of the program, with the memory each reads and writes. A device may run two nodes of one
body in any order, or at once, unless the memory of one is written by the other.

Memory is named by a `Root` and a distance from it. A root is an array of the caller's, which can be
exchanged for another one (`Graph.bind`), or an array that the graph made. So a device looks
addresses up when it captures a plan, and again when a root was exchanged.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hawk.edits import NOWHERE, Loc
from hawk.ir.nodes import Function
from hawk.ir.types import DType
from hawk.targets.base import Compiled

if TYPE_CHECKING:
    from eagle.devices.base import Device

View: TypeAlias = NDArray[Any]
"""An array as NumPy describes one: address, shape, strides and type. Of memory that the host
cannot read it is only that description, and nobody may look inside."""


@dataclass(slots=True, eq=False, repr=False)
class Root:
    """Memory that a graph works on."""

    name: str
    array: Any
    """The array itself, of whatever library; it is kept alive here."""
    view: View
    device: Device
    made: bool
    """Did the graph make it?"""
    parameter: str = ""
    """The builder's parameter it came in by."""
    address: int = 0
    sources: list[Region] = field(default_factory=list)
    """For memory in which paths meet: what its numbers are copied from. The program takes it for
    the same array as the one they came from."""
    asked: bool = False
    """Did the graph make it, and may somebody outside look at it?"""
    stored: bool = True
    """Is it written at all? Nodes that run in one pass hand their numbers on."""

    def __repr__(self) -> str:
        return f"<root {self.name}>"

    def at(self, offset: int = 0) -> Spot:
        return Spot(self, offset)


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in memory that moves with its root."""

    root: Root
    offset: int

    @property
    def address(self) -> int:
        return self.root.address + self.offset


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """Memory that a node reads or writes, and how the user calls it."""

    name: str
    root: Root
    view: View
    """As it was when the graph was built; `memory` is what it is now."""
    spot: Spot

    @property
    def memory(self) -> View:
        """Where it is now; its root keeps it alive."""
        return moved(self.view, self.spot.address)


def moved(view: View, address: int) -> View:
    """What is like `view`, at another address."""
    interface = view.__array_interface__
    if interface["data"][0] == address:
        return view
    return np.asarray(_Described({**interface, "data": (address, False)}))


class _Described:
    """Memory as NumPy takes it."""

    def __init__(self, interface: dict[str, Any]) -> None:
        self.__array_interface__ = interface


class CellKind(enum.Enum):
    """The type of a cell, by the name that NumPy has for it."""

    BOOL = "bool"
    I32 = "int32"
    U32 = "uint32"
    I64 = "int64"


@dataclass(frozen=True, slots=True)
class Cell:
    """One number in memory, which branches and loops look at when they are reached."""

    region: Region
    kind: CellKind
    number: int | None = None
    """The number in it, where nobody ever writes it."""


class Relation(enum.Enum):
    """How two cells may compare."""

    LT = "<"
    EQ = "=="
    LE = "<="
    GT = ">"
    NE = "!="
    GE = ">="


@dataclass(frozen=True, slots=True)
class Compare:
    """Do two cells compare so? As numbers, whatever their types."""

    left: Cell
    relation: Relation
    right: Cell


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite."""

    of: Condition


@dataclass(frozen=True, slots=True)
class Every:
    """Do all of these hold?"""

    of: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Some:
    """Does one of these hold?"""

    of: tuple[Condition, ...]


Condition: TypeAlias = Compare | Not | Every | Some


def cells_of(condition: Condition) -> Iterator[Cell]:
    """The cells that a condition looks at."""
    match condition:
        case Compare():
            yield condition.left
            yield condition.right
        case Not():
            yield from cells_of(condition.of)
        case Every() | Some():
            for each in condition.of:
                yield from cells_of(each)


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class Item:
    """What every node has."""

    name: str
    loc: Loc = NOWHERE
    reads: tuple[Region, ...] = ()
    writes: tuple[Region, ...] = ()
    own: tuple[Root, ...] = ()
    """Memory it writes that Python would make anew each time it comes by."""
    lane: str = ""
    """The branch of a fork it stands in, for pictures: `1`, `2`, and `1.2` inside a branch."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class Launch(Item):
    """A kernel and its planes."""

    compiled: Compiled
    n: int
    steps: int
    planes: list[Any]
    """What `Device.load` is given: an array for each plane, and numbers as words."""
    words: list[int | Spot]
    """The same as words."""
    fresh: tuple[tuple[Region, View], ...] = ()
    """Arrays that were made for this launch, with what they hold before each."""
    numbers: dict[str, list[int]] = field(default_factory=dict)
    """Places of words that hold a number which `Graph.params` can change."""
    threads: int | None = None
    """The most threads that may work on it, on a device that has threads."""
    careful: Callable[[list[Any]], Any] | None = None
    """What a launch that is looked at closely runs in, given its planes; see `hawk.checks`."""
    function: Function | None = None
    """The program, as it was traced, where it can be made part of another one."""

    @property
    def words_now(self) -> list[int]:
        """The words, with addresses as they are now."""
        return [word.address if isinstance(word, Spot) else word for word in self.words]

    @property
    def planes_now(self) -> list[Any]:
        """The planes as they are now."""
        return [
            plane if isinstance(plane, int) else moved(plane, word)
            for plane, word in zip(self.planes, self.words_now, strict=True)
        ]


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class Copy(Item):
    """A copy from the memory it reads to the memory it writes, one of each, of equal shape."""

    join: bool = False
    """Do paths meet here? Then nobody wrote it: it gives a name its array after a branch."""


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class Call(Item):
    """A Python function, called without arguments."""

    function: Callable[[], object]
    kind: str = "opaque"
    eager: bool = False
    """Must it run on the thread that launches, with nothing else on its way?"""
    captured: bool = False
    """Does it launch work on the device itself, of which the device makes nodes once?"""


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class Reduce(Item):
    """All numbers of what it reads made into one, with the bits of `hawk.ir.reduce`."""

    kind: str
    dtype: DType


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class Put(Item):
    """Write a cell: another cell's number, or whether a condition holds."""

    cell: Cell
    value: Cell | Condition


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class If(Item):
    """One of two bodies, chosen when it is reached."""

    test: Condition
    then: list[Item]
    orelse: list[Item]


@dataclass(frozen=True, slots=True)
class Counter:
    """What a `for` counts by: int64 cells."""

    count: Cell
    """The number of the next pass."""
    number: Cell
    """That of the pass on its way, as the body sees it."""
    limit: Cell
    step: int


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class Loop(Item):
    """A body, again and again.

    Before each pass: it ends if one of `exits` holds; `before` runs; it ends unless `test` holds,
    or where `counter` has reached its limit.
    """

    exits: tuple[Condition, ...]
    before: list[Item]
    test: Condition | None
    counter: Counter | None
    body: list[Item]


def parts_of(item: Item) -> tuple[list[Item], ...]:
    """The bodies inside a node."""
    match item:
        case If():
            return item.then, item.orelse
        case Loop():
            return item.before, item.body
        case _:
            return ()


def tests_of(item: Item) -> list[Region]:
    """The cells that a branch or loop itself looks at."""
    tests: list[Condition] = []
    match item:
        case If():
            tests = [item.test]
        case Loop():
            tests = [*item.exits, *([] if item.test is None else [item.test])]
        case _:
            pass
    return [cell.region for test in tests for cell in cells_of(test)]


def walk(body: list[Item]) -> Iterator[Item]:
    """Every node of a body, and of the bodies in it."""
    for item in body:
        yield item
        for part in parts_of(item):
            yield from walk(part)


@dataclass(slots=True, eq=False)
class Plan:
    """A whole graph."""

    name: str
    body: list[Item]
    roots: list[Root]
    device: Device
    order: Callable[[list[Item]], list[Item]]
    """A legal order of a body's nodes, for devices that run one after the other."""
    waits: Callable[[list[Item]], list[tuple[int, int]]]
    """Which nodes of a body wait for which, as places in it: (before, after)."""
    fuse: bool = True
    """May kernels run in one pass over the samples?"""
