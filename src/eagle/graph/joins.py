"""Planes in which paths meet stand for the array of one path, without being it: where that shows.

After `y = x if test else f(x)` the program takes `y` for the very array, and the graph gives `y` a
copy. The two differ when one is written and the other is read afterwards. So a graph in which that
can happen is refused, on any path: nothing that it computes differs from what Python would.

The walk below keeps, for each joined plane, which arrays it may be now. A node that writes one of
two such arrays in place makes the other stale, and whoever reads stale memory is refused. What a
kernel returns is a new array each time, so it ends what was known of the one before. Arrays from
outside may not be written by way of a joined plane at all: whoever gave them would look there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NoReturn

from eagle.devices.plan import Copy, If, Item, Loop, Region, Root, tests_of
from eagle.graph.codes import graph_error
from eagle.graph.touches import meet

Pair = tuple[Root, int]
"""A joined plane, and the place of one of its sources."""


@dataclass
class _State:
    """What may be known at a place of the program, by any path."""

    same: set[Pair] = field(default_factory=set)
    """Which source each joined plane may be."""
    joined: dict[Root, Item] = field(default_factory=dict)
    """Joined planes that are stale, by whom."""
    sources: dict[Pair, Item] = field(default_factory=dict)
    """Sources that are stale."""

    def copy(self) -> _State:
        return _State(set(self.same), dict(self.joined), dict(self.sources))

    def add(self, other: _State) -> bool:
        """Add what is known on another path; whether that is anything new."""
        before = len(self.same), len(self.joined), len(self.sources)
        self.same |= other.same
        self.joined = {**other.joined, **self.joined}
        self.sources = {**other.sources, **self.sources}
        return before != (len(self.same), len(self.joined), len(self.sources))

    def renew(self, root: Root) -> None:
        """The memory of `root` is another array from now on."""
        self.same = {
            (j, k) for j, k in self.same if j is not root and j.sources[k].root is not root
        }
        self.joined.pop(root, None)
        self.sources = {
            (j, k): item
            for (j, k), item in self.sources.items()
            if j is not root and j.sources[k].root is not root
        }


def check_joins(body: list[Item], roots: Iterable[Root], results: Iterable[Region]) -> None:
    """Raise GraphError where a joined plane is not what Python would take it for."""
    joined = [root for root in roots if root.sources]
    if not joined:
        return
    walk = _Walk(joined)
    state = walk.body(body, _State())
    for region in results:
        walk.read(region, state, None)


class _Walk:
    def __init__(self, joined: list[Root]) -> None:
        self._joined = joined

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
        (source,), root = item.reads, item.writes[0].root
        state.renew(root)
        for place, each in enumerate(root.sources):
            if each.root is source.root and meet(each, source):
                state.same.add((root, place))
        return state

    def _reads(self, regions: Iterable[Region], state: _State, item: Item) -> None:
        for region in regions:
            self.read(region, state, item)

    def read(self, region: Region, state: _State, item: Item | None) -> None:
        """Refuse to read what is stale."""
        by = state.joined.get(region.root)
        if by is not None:
            _refuse(region, by, item)
        for (root, place), writer in state.sources.items():
            if region.root is not root and meet(region, root.sources[place]):
                _refuse(region, writer, item)

    def _write(self, item: Item, region: Region, state: _State) -> None:
        """A node changes an array in place."""
        self._spoil(region, region.root, item, state)
        self._write_sources(region, region.root, item, state, set())

    def _write_sources(
        self, region: Region, root: Root, item: Item, state: _State, seen: set[Root]
    ) -> None:
        """What a joined plane may be would be written as well, and what that may be."""
        for joined, place in sorted(state.same, key=lambda pair: pair[1]):
            if joined is not root or root in seen:
                continue
            source = root.sources[place]
            if not source.root.made:
                _refuse_write(region, source, item)
            state.sources.setdefault((root, place), item)
            self._spoil(source, region.root, item, state)
            self._write_sources(region, source.root, item, state, {*seen, root})

    def _spoil(self, region: Region, written: Root, item: Item, state: _State) -> None:
        """Joined planes that may be a region are stale, and those that may be these."""
        for root, place in state.same:
            stale = root is written or state.joined.get(root) is item
            if not stale and meet(region, root.sources[place]):
                state.joined.setdefault(root, item)
                for other, k in list(state.same):
                    if other is not written and other.sources[k].root is root:
                        self._spoil(other.sources[k], written, item, state)


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
