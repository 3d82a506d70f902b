"""Compute each thing as rarely as possible: once a launch, once a sample, once before a loop.

The bodies and the blocks open at a place are numbered from the outside: 0 `launch`, 1 `sample`,
2 `step`, then block in block. The number of a value is that of the place where it is made, so a
statement could stand at the greatest number among the values it needs. It moves there, but not
out of an arm of an If for nothing: only if that also takes it out of something that repeats.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from hawk.ir.nodes import (
    Apply,
    Block,
    Function,
    If,
    Loop,
    Role,
    Statement,
    Value,
    blocks_of,
    operands_of,
)
from hawk.passes.rewrite import with_bodies

_STEP = 2
_PLACE = {
    Role.UNIFORM: 0,
    Role.TABLE: 0,
    Role.SHARED: 0,
    Role.INPUT: 1,
    Role.INDEX: 1,
    Role.STATE: _STEP,
}


def rates(fn: Function) -> Function:
    """Move every statement to where it runs as rarely as the values it needs allow."""
    mover = _Mover(fn)
    launch = _Place([], repeats=True)
    sample = _Place([], repeats=True)
    step = _Place([], repeats=True)
    mover.move(fn.launch, [launch])
    mover.move(fn.sample, [launch, sample])
    mover.move(fn.step, [launch, sample, step])
    return with_bodies(fn, tuple(launch.items), tuple(sample.items), tuple(step.items), fn.stores)


class _Place:
    """A body or a block being written; `repeats` says if it runs more often than what is around."""

    __slots__ = ("items", "repeats")

    def __init__(self, items: list[Statement], *, repeats: bool) -> None:
        self.items, self.repeats = items, repeats


class _Mover:
    def __init__(self, fn: Function) -> None:
        # Constants are not listed: they can be used everywhere, as if made at 0.
        self.made_at = {p.read: _PLACE[p.role] for p in fn.planes if p.read is not None}
        self.free: dict[Statement, frozenset[Value]] = {}

    def move(self, items: Sequence[Statement], places: list[_Place]) -> None:
        """Write each of `items`, found at the last of `places`, at the place where it belongs."""
        for item in items:
            at = self.belongs_at(item, places)
            match item:
                case Apply():
                    moved = item
                case If(test, then, orelse, results):
                    then = self.block(then, places[: at + 1], repeats=False)
                    orelse = self.block(orelse, places[: at + 1], repeats=False)
                    moved = If(test, then, orelse, results, item.rare)
                case Loop(inits, test, body, results):
                    test = self.block(test, places[: at + 1], repeats=True)
                    body = self.block(body, places[: at + 1], repeats=True)
                    moved = Loop(inits, test, body, results)
                case _ as never:
                    assert_never(never)
            places[at].items.append(moved)
            for result in item.results:
                self.made_at[result] = at

    def block(self, block: Block, outside: list[_Place], *, repeats: bool) -> Block:
        for param in block.params:
            self.made_at[param] = len(outside)
        inside = _Place([], repeats=repeats)
        self.move(block.items, [*outside, inside])
        return Block(tuple(inside.items), block.yields, block.params)

    def belongs_at(self, item: Statement, places: list[_Place]) -> int:
        """The number of the place where `item`, found at the last of `places`, should stand."""
        here = len(places) - 1
        needs = item.args if isinstance(item, Apply) else self.free_values(item)
        at = max([self.made_at.get(value, 0) for value in needs], default=0)
        if at < here and here > _STEP and _has_loop(item):
            return here  # the loop might have no end for samples that do not come here
        while at < here and not places[at + 1].repeats:
            at += 1
        return at

    def free_values(self, item: Statement) -> frozenset[Value]:
        """The values that `item` and the blocks in it need from outside."""
        if item not in self.free:
            needs = set(operands_of(item))
            for block in blocks_of(item):
                inside = set(block.yields)
                made = set(block.params)
                for inner in block.items:
                    inside.update(
                        inner.args if isinstance(inner, Apply) else self.free_values(inner)
                    )
                    made.update(inner.results)
                needs |= inside - made
            self.free[item] = frozenset(needs)
        return self.free[item]


def _has_loop(item: Statement) -> bool:
    return isinstance(item, Loop) or any(
        _has_loop(inner) for block in blocks_of(item) for inner in block.items
    )
