"""From a plan to the table of the native walker: branches and loops become jumps between rows.

Rows hold places in memory as long as they can move, and numbers of rows as labels until all rows
are known; `Table.write` turns them into words, when it is made and each time an array is exchanged.
"""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from eagle.devices.base import Partition
from eagle.devices.host.device import HOST, Ask, HostLoaded
from eagle.devices.host.fusion import Fusion
from eagle.devices.host.launched import CopyByNumpy, Launched, Reduction, Task
from eagle.devices.host.stretches import same_memory, stretched
from eagle.devices.plan import (
    Call,
    Cell,
    CellKind,
    Compare,
    Condition,
    Copy,
    Every,
    If,
    Item,
    Launch,
    Loop,
    Not,
    Plan,
    Put,
    Reduce,
    Relation,
    Some,
    Spot,
)
from hawk.targets.cpu import walker as rows

KINDS = {
    CellKind.BOOL: rows.CellKind.BOOL,
    CellKind.I32: rows.CellKind.I32,
    CellKind.U32: rows.CellKind.U32,
    CellKind.I64: rows.CellKind.I64,
}
RELATIONS = {each: rows.Relation[each.name] for each in Relation}
OPPOSITES = {
    Relation.LT: Relation.GE,
    Relation.GE: Relation.LT,
    Relation.LE: Relation.GT,
    Relation.GT: Relation.LE,
    Relation.EQ: Relation.NE,
    Relation.NE: Relation.EQ,
}

MOST_STRETCHES = 64
"""Rows that one copy may take; a copy of more is made by NumPy."""


class Label:
    """A row that is not known yet."""

    __slots__ = ("row",)

    def __init__(self) -> None:
        self.row = -1


Word: TypeAlias = "int | Spot | Label"


class Host(NamedTuple):
    """A row that is done by Python."""

    work: Callable[[], object] | Task
    """The user's own function, or a task of ours."""
    name: str


class Table:
    """The rows of a plan, and what they need."""

    def __init__(self, plan: Plan) -> None:
        self.rows: list[list[Word]] = []
        self.items: list[Item | None] = []
        """The node that each row is part of."""
        self._item: Item | None = None
        self.hosts: list[Host] = []
        self.launched: dict[int, tuple[HostLoaded, int | None]] = {}
        """What a row of a launch launches, and its threads."""
        self.loaded: list[tuple[Launch, HostLoaded]] = []
        self.helpers = 0
        """Most threads that any launch wants besides the calling one."""
        self.work = 0
        """Samples and steps of the largest launch."""
        self._keep: list[object] = []
        self._numbers: dict[int, array[int]] = {}
        for root in plan.roots:
            root.stored = True  # until a pass hands it on
        self._fusion = Fusion(plan)
        self.body(plan.body)
        self._add(*rows.END)
        self.words = (ctypes.c_int64 * (len(self.rows) * rows.ROW_WORDS))()
        self.address = ctypes.addressof(self.words)
        self.write()

    def write(self) -> None:
        """Look every address up, and write the table."""
        for launch, loaded in self.loaded:
            for place, word in enumerate(launch.words_now):
                loaded.move(place, word)
        self.words[:] = [_number(word) for row in self.rows for word in row]

    # -- nodes -------------------------------------------------------------------------------------

    def body(self, items: list[Item]) -> None:
        for item in self._fusion.body(items):
            self.node(item)

    def node(self, item: Item) -> None:
        self._item = item
        match item:
            case Launch():
                self._launch(item)
            case Copy():
                self._copy(item)
            case Call():
                self._ask(Host(item.function, item.name))
            case Reduce():
                self._ask(Host(Reduction(item), item.name))
            case Put():
                self._put(item.cell, item.value)
            case If():
                self._if(item)
            case Loop():
                self._loop(item)
            case _:
                raise AssertionError(item)

    def _launch(self, item: Launch) -> None:
        for region, kept in item.fresh:
            self._keep.append(kept)
            if kept.nbytes:
                self._add(*rows.copy(0, kept.ctypes.data, kept.nbytes), spots={1: region.spot})
        if not item.n:
            return
        compiled, whole = item.compiled, Partition.whole(item.n)
        loaded = HOST.load(compiled, item.planes, item.words_now, whole)
        ask: Ask | None = None
        if isinstance(loaded, HostLoaded) and item.careful is None:
            ask = loaded.ask(item.steps, item.threads)
        if not isinstance(loaded, HostLoaded) or ask is None:
            self._ask(Host(Launched(item), item.name))
            return
        self.loaded.append((item, loaded))
        self.work = max(self.work, item.n * item.steps)
        self._called(loaded, ask, item.threads)

    def _called(self, loaded: HostLoaded, ask: Ask, threads: int | None) -> None:
        self._keep.append(ask.header)
        self.helpers = max(self.helpers, ask.helpers)
        self.launched[len(self.rows)] = loaded, threads
        header = ask.header.buffer_info()[0]
        self._add(*rows.call(ask.function, ask.block, ask.helpers, header))

    def _copy(self, item: Copy) -> None:
        (source,), (into,) = item.reads, item.writes
        if not source.view.nbytes or same_memory(source.view, into.view):
            return
        stretches = list(stretched(source.view, into.view, MOST_STRETCHES + 1))
        if len(stretches) > MOST_STRETCHES:
            self._ask(Host(CopyByNumpy(item), item.name))
            return
        for there, here, size, count, step, source_step in stretches:
            spots = {
                1: Spot(into.root, into.spot.offset + there),
                2: Spot(source.root, source.spot.offset + here),
            }
            self._add(*rows.copy(0, 0, size, count, step, source_step), spots=spots)

    def _put(self, cell: Cell, value: Cell | Condition) -> None:
        if isinstance(value, Cell):
            self._set(cell, value.region.spot, KINDS[value.kind])
            return
        no, end = Label(), Label()
        self._unless(value, no)
        self._set(cell, self._number(1), rows.CellKind.I64)
        self._add(rows.Kind.GOTO, end)
        self._place(no)
        self._set(cell, self._number(0), rows.CellKind.I64)
        self._place(end)

    def _if(self, item: If) -> None:
        no, end = Label(), Label()
        self._unless(item.test, no)
        self.body(item.then)
        if item.orelse:
            self._add(rows.Kind.GOTO, end)
        self._place(no)
        self.body(item.orelse)
        self._place(end)

    def _loop(self, item: Loop) -> None:
        top, out = Label(), Label()
        self._place(top)
        for each in item.exits:
            self._when(each, out)
        self.body(item.before)
        if item.test is not None:
            self._unless(item.test, out)
        counter = item.counter
        if counter is not None:
            count, limit = counter.count.region.spot, counter.limit.region.spot
            wide = rows.CellKind.I64
            self._add(rows.Kind.UNLESS, count, wide, rows.Relation.LT, limit, wide, out)
            self._set(counter.number, count, wide)
            for _ in range(counter.step):
                after = Label()
                self._add(rows.Kind.COUNT, count, limit, after)
                self._place(after)
        self.body(item.body)
        self._add(rows.Kind.GOTO, top)
        self._place(out)

    # -- conditions --------------------------------------------------------------------------------

    def _unless(self, condition: Condition, label: Label) -> None:
        """Go to `label` unless it holds."""
        match condition:
            case Compare():
                left, right = condition.left, condition.right
                self._add(
                    rows.Kind.UNLESS,
                    left.region.spot,
                    KINDS[left.kind],
                    RELATIONS[condition.relation],
                    right.region.spot,
                    KINDS[right.kind],
                    label,
                )
            case Not():
                self._when(condition.of, label)
            case Every():
                for each in condition.of:
                    self._unless(each, label)
            case Some():
                holds = Label()
                for each in condition.of:
                    self._when(each, holds)
                self._add(rows.Kind.GOTO, label)
                self._place(holds)

    def _when(self, condition: Condition, label: Label) -> None:
        """Go to `label` if it holds."""
        match condition:
            case Compare():
                opposite = OPPOSITES[condition.relation]
                self._unless(Compare(condition.left, opposite, condition.right), label)
            case Not():
                self._unless(condition.of, label)
            case Every():
                fails = Label()
                for each in condition.of:
                    self._unless(each, fails)
                self._add(rows.Kind.GOTO, label)
                self._place(fails)
            case Some():
                for each in condition.of:
                    self._when(each, label)

    # -- rows --------------------------------------------------------------------------------------

    def _add(self, *words: Word, spots: dict[int, Spot] | None = None) -> None:
        row: list[Word] = [*words, *[0] * (rows.ROW_WORDS - len(words))]
        for place, spot in (spots or {}).items():
            row[place] = spot
        self.rows.append(row)
        self.items.append(self._item)

    def _place(self, label: Label) -> None:
        label.row = len(self.rows)

    def _ask(self, host: Host) -> None:
        self._add(*rows.ask(len(self.hosts)))
        self.hosts.append(host)

    def _set(self, cell: Cell, source: Word, kind: rows.CellKind) -> None:
        self._add(rows.Kind.SET, cell.region.spot, KINDS[cell.kind], source, kind)

    def _number(self, number: int) -> int:
        """The address of an int64."""
        kept = self._numbers.setdefault(number, array("q", [number]))
        return kept.buffer_info()[0]


def _number(word: Word) -> int:
    match word:
        case Spot():
            return word.address
        case Label():
            return word.row
        case _:
            return int(word)
