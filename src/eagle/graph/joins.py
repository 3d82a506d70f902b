"""Planes in which paths meet stand for the array of one path, without being it: where that shows.

After `y = x if test else f(x)` the program takes `y` for the very array, and the graph gives `y` a
copy. The two differ when one is written and the other is read afterwards. So a graph in which that
can happen is refused, on any path: nothing that it computes differs from what Python would.

The walk below keeps, for each joined plane, which arrays it may be now: the one that it was given,
and whatever that one may be at this moment. It is kept pair by pair and never concluded later: that
`a` may be `c` on one path and `b` on another does not make `a` and `b` one array. A node that
writes one of two such arrays in place makes the other stale, and whoever reads stale memory is
refused. What a kernel returns is a new array each time, so it ends what was known of the one
before. Arrays from outside may not be written by way of a joined plane at all: whoever gave them
would look there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NoReturn

from eagle.devices.plan import Copy, If, Item, Loop, Region, Root, tests_of
from eagle.graph.codes import graph_error
from eagle.graph.touches import meet


@dataclass
class _State:
    """What may be at a place of the program, by any path."""

    same: dict[tuple[Root, Region], None] = field(default_factory=dict)
    """Which arrays each joined plane may be, in the order of the program: messages name the first.
    """
    stale: dict[Region, Item] = field(default_factory=dict)
    """Arrays that were written under another name, by whom."""

    def copy(self) -> _State:
        return _State(dict(self.same), dict(self.stale))

    def add(self, other: _State) -> bool:
        """Add what may be on another path; whether that is anything new."""
        before = len(self.same), len(self.stale)
        self.same = {**self.same, **other.same}
        self.stale = {**other.stale, **self.stale}
        return before != (len(self.same), len(self.stale))

    def renew(self, root: Root) -> None:
        """The memory of `root` is another array from now on."""
        kept = ((j, r) for j, r in self.same if j is not root and r.root is not root)
        self.same = dict.fromkeys(kept)
        self.stale = {r: item for r, item in self.stale.items() if r.root is not root}


def check_joins(body: list[Item], roots: Iterable[Root], results: Iterable[Region]) -> None:
    """Raise GraphError where a joined plane is not what Python would take it for."""
    if not any(root.sources for root in roots):
        return
    walk = _Walk()
    state = walk.body(body, _State())
    for region in results:
        walk.read(region, state, None)


class _Walk:
    def __init__(self) -> None:
        self._whole: dict[Root, Region] = {}
        """All memory of each joined plane that was met."""

    def body(self, body: list[Item], state: _State) -> _State:
        for item in body:
            state = self._item(item, state)
        return state

    def _item(self, item: Item, state: _State) -> _State:
        match item:
            case If():
                self._reads(tests_of(item), state, item)
                then, orelse = self.body(item.then, state.copy()), self.body(item.orelse, state)
                then.add(orelse)
                return then
            case Loop():
                while True:  # what is known after a pass is known before the next one
                    self._reads(tests_of(item), state, item)
                    inside = self.body(item.before, state.copy())
                    if item.counter is not None:
                        inside.renew(item.counter.number.region.root)
                    if not state.add(self.body(item.body, inside)):
                        return state
            case Copy(join=True):
                return self._join(item, state)
            case _:
                self._reads(item.reads, state, item)
                for region in item.writes:
                    if region.root in item.own:
                        state.renew(region.root)
                    else:
                        self._write(item, region, state)
                return state

    def _join(self, item: Copy, state: _State) -> _State:
        """A path gives a joined plane its numbers: from now on it is that array."""
        self._reads(item.reads, state, item)
        (source,), (into,) = item.reads, item.writes
        arrays = [source, *self._others(source, state)]
        state.renew(into.root)
        self._whole[into.root] = into
        pairs = ((into.root, each) for each in arrays if each.root is not into.root)
        state.same |= dict.fromkeys(pairs)
        return state

    def _others(self, region: Region, state: _State) -> list[Region]:
        """The arrays that a region may be besides itself."""
        is_others = [each for root, each in state.same if root is region.root]
        return is_others + [self._whole[root] for root, r in state.same if meet(r, region)]

    def _reads(self, regions: Iterable[Region], state: _State, item: Item) -> None:
        for region in regions:
            self.read(region, state, item)

    def read(self, region: Region, state: _State, item: Item | None) -> None:
        """Refuse to read what is stale."""
        for stale, writer in state.stale.items():
            if meet(region, stale):
                _refuse(region, writer, item)

    def _write(self, item: Item, region: Region, state: _State) -> None:
        """A node changes an array in place, and whatever else that array may be goes stale."""
        for other in self._others(region, state):
            if not other.root.made:
                _refuse_write(region, other, item)
            if other.root is not region.root:
                state.stale.setdefault(other, item)


def _refuse_write(region: Region, source: Region, item: Item) -> NoReturn:
    what = f"`{item.name}` writes `{region.name}`, which on one path is `{source.name}`, an array "
    what += "from outside: the graph has a copy of it there, and that array would not change"
    fix = f"`{item.name}` inside the branch too; or eagle.copy({source.name}, into=...) in there"
    raise graph_error("G109", what, item.loc, fix)


def _refuse(region: Region, writer: Item, reader: Item | None) -> NoReturn:
    name = region.name
    what = f"`{name}` is perhaps the array that `{writer.name}` wrote, as a branch or loop decides "
    what += "at replay, and the graph holds a copy of it from before"
    loc = writer.loc if reader is None else reader.loc
    fix = f"eagle.copy(..., into=<an array of its own>) in place of one more name for `{name}`"
    raise graph_error("G109", what, loc, fix)
