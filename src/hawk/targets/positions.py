"""Values that follow from where a sample is: what a whole group has in common is seen at its ends.

In a group of samples side by side the index rises by one from lane to lane. So does what is made of
it by adding what all samples share. A quotient of it, such as the row of a grid, never turns back:
where the first and the last lane have the same, all between them have it too, and then the column
rises by one as well. So whether any lane of a group is at a border is a question of two scalars,
and vectors of such values are written only where a lane is.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from hawk.ir.nodes import Apply, Function, Role, Statement, Value, blocks_of, operands_of
from hawk.ir.nodes import walk as every
from hawk.ir.ops import LOOKUPS


class Along(enum.Enum):
    """How a value goes on from lane to lane of a group that stands in one row."""

    FOLLOWS = "rises by one"
    TURNS_NOT = "a float that never turns back"
    LEAF = "an integer part of such a float: the same where both ends have the same"
    SAME = "the same, where all integer parts are"
    TEST = "a bool that is True somewhere only if it is so at one of the ends"


@dataclass(frozen=True, slots=True, eq=False)
class Positions:
    """What is known of the values of a program that follow from where a sample is."""

    made: dict[Value, Apply] = field(default_factory=dict[Value, Apply])
    """What makes each of them, but for the index itself."""
    along: dict[Value, Along] = field(default_factory=dict[Value, Along])
    """How they go on, as far as that is known."""
    told: frozenset[Value] = frozenset()
    """The results of each `near` of which scalars tell whether a lane is outside, and where not,
    which place comes first."""
    index: Value | None = None
    """The sample's index, if there is a `near`."""
    lazy: frozenset[Value] = frozenset()
    """Positions that only those ask for."""

    def made_of(self, value: Value, *, late: bool = False) -> list[Apply]:
        """What makes a position, in order; `late`: as far as it is lazy."""
        order: list[Apply] = []
        seen: set[Value] = set()
        stack: list[tuple[Value, bool]] = [(value, False)]
        while stack:
            at, done = stack.pop()
            node = self.made.get(at)
            if node is None or (late and at not in self.lazy):
                continue
            if done:
                order.append(node)
            elif at not in seen:
                seen.add(at)
                stack += [(at, True), *((arg, False) for arg in node.args)]
        return order

    def read_late(self, values: Iterable[Value | None]) -> set[Value]:
        """What those of the values that are lazy are made of, where somebody asks for them."""
        lazy = [value for value in values if value is not None and value in self.lazy]
        return {arg for value in lazy for at in self.made_of(value, late=True) for arg in at.args}

    def leaves(self, value: Value) -> list[Value]:
        """The integer parts that a position is made of."""
        made = [node.result for node in self.made_of(value)]
        return [each for each in made if self.along.get(each) is Along.LEAF]


def positions_of(fn: Function, varying: set[Value]) -> Positions:
    """The positions among the values of `fn`, which has been through the passes."""
    nears = [s for s in every(fn.statements) if isinstance(s, Apply) and s.op == "near"]
    index = [plane.read for plane in fn.planes if plane.role is Role.INDEX and plane.read]
    if not nears or not index:
        return Positions()
    along = dict.fromkeys(index, Along.FOLLOWS)
    positions, made = set(index), dict[Value, Apply]()
    for item in every(fn.statements):
        if not isinstance(item, Apply) or item.result not in varying or item.op in LOOKUPS:
            continue
        if all(arg in positions for arg in item.args if arg in varying):
            positions.add(item.result)
            made[item.result] = item
            kind = _kind(item, along, varying)
            if kind is not None:
                along[item.result] = kind
    told = frozenset(
        node.result
        for node in nears
        if along.get(node.args[1]) is Along.TEST and along.get(node.args[2]) is Along.FOLLOWS
    )
    needed = _needed(fn, made, told)
    return Positions(made, along, told, index[0], frozenset(positions - needed))


def _kind(item: Apply, along: dict[Value, Along], varying: set[Value]) -> Along | None:
    kinds = [along.get(arg) if arg in varying else Along.SAME for arg in item.args]
    if None in kinds:
        return None
    first, last = (Along.SAME if k is Along.LEAF else k for k in (kinds[0], kinds[-1]))
    steady = item.args[-1] not in varying
    match item.op:
        case "to_i32" | "to_i64" if item.args[0].dtype.is_int:
            return first if first is not Along.TEST else None
        case "add" | "sub" if first is Along.FOLLOWS and last is Along.SAME:
            return Along.FOLLOWS
        case "add" if first is Along.SAME and last is Along.FOLLOWS:
            return Along.FOLLOWS
        case "to_f64" if first is Along.FOLLOWS:
            return Along.TURNS_NOT
        case "add" | "mul" if first is Along.TURNS_NOT and steady:
            return Along.TURNS_NOT
        case "fit_i32" if first is Along.TURNS_NOT:
            return Along.LEAF
        case "add" | "sub" | "mul" | "to_f64" | "fit_i32" if first is last is Along.SAME:
            return Along.SAME
        case "lt" | "le" | "gt" | "ge" if first in (Along.FOLLOWS, Along.SAME) and steady:
            return Along.TEST
        case "or" if first is last is Along.TEST:
            return Along.TEST
        case _:
            return None


def _needed(fn: Function, made: dict[Value, Apply], told: frozenset[Value]) -> set[Value]:
    """The positions that something reads besides a `near` that is told, and what makes them."""
    needed: set[Value] = set()
    stack: list[Value] = [value for _, value in fn.stores]
    for item in every(fn.statements):
        if item.results[:1] == () or not (item.results[0] in made or item.results[0] in told):
            stack += operands_of(item)
        for block in blocks_of(item):
            stack += block.yields
    while stack:
        value = stack.pop()
        if value not in needed:
            needed.add(value)
            if value in made:
                stack += made[value].args
    return needed


def near_of(items: Sequence[Statement], told: frozenset[Value]) -> list[Apply]:
    """Each `near` among the items themselves that is told."""
    return [item for item in items if isinstance(item, Apply) and item.result in told]
