"""Cells as Python reads and writes them, and whether conditions hold."""

from __future__ import annotations

import operator
from typing import assert_never

from eagle.devices.plan import Cell, Compare, Condition, Every, Not, Put, Relation, Some

_RELATIONS = {
    Relation.LT: operator.lt,
    Relation.EQ: operator.eq,
    Relation.LE: operator.le,
    Relation.GT: operator.gt,
    Relation.NE: operator.ne,
    Relation.GE: operator.ge,
}


def number_in(cell: Cell) -> int:
    """The number in a cell."""
    return int(cell.region.memory.reshape(-1)[0])


def write(cell: Cell, number: int) -> None:
    """Write a number into a cell."""
    cell.region.memory[...] = number


def holds(condition: Condition) -> bool:
    """Does it hold now?"""
    match condition:
        case Compare():
            compare = _RELATIONS[condition.relation]
            return compare(number_in(condition.left), number_in(condition.right))
        case Not():
            return not holds(condition.of)
        case Every():
            return all(map(holds, condition.of))
        case Some():
            return any(map(holds, condition.of))
        case _ as never:
            assert_never(never)


def put(item: Put) -> None:
    """Write a cell as a node says."""
    value = item.value
    write(item.cell, number_in(value) if isinstance(value, Cell) else holds(value))
