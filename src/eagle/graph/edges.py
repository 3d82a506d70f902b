"""Which node waits for which, and why: nodes wait where the memory of one is written by the other.

Pure: it is told what overlaps. Only what must be kept is given: where B overwrites all that A
wrote, whoever comes later and touches it waits for B, which waits for A.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Hashable, Sequence
from typing import Generic, NamedTuple, TypeVar

R = TypeVar("R")


class Hazard(enum.Enum):
    """What would go wrong if a node did not wait."""

    RAW = "reads"
    """It reads what the other one writes."""
    WAR = "overwrites what is read there:"
    """It writes what the other one reads."""
    WAW = "overwrites"
    """Both write it."""


class Touch(NamedTuple, Generic[R]):
    """The memory of one node."""

    reads: Sequence[R]
    writes: Sequence[R]


class Edge(NamedTuple, Generic[R]):
    """Node `after` waits for node `before`."""

    before: int
    after: int
    hazard: Hazard
    region: R
    """The memory, as `after` calls it."""


class Memory(NamedTuple, Generic[R]):
    """What there is to know of memory."""

    meet: Callable[[R, R], bool]
    """Do two regions share a byte?"""
    pool: Callable[[R], Hashable]
    """Regions of different pools never meet."""
    extent: Callable[[R], Hashable]
    """Regions of one extent are the same bytes."""


def edges(touches: Sequence[Touch[R]], memory: Memory[R]) -> list[Edge[R]]:
    """The edges between nodes that are given in the order of the program; one for each pair."""
    found: dict[tuple[int, int], Edge[R]] = {}
    records: dict[Hashable, list[tuple[int, R, bool]]] = {}

    def note(before: int, after: int, hazard: Hazard, region: R) -> None:
        if before != after:
            found.setdefault((before, after), Edge(before, after, hazard, region))

    for node, touch in enumerate(touches):
        for region in touch.reads:
            for before, other, wrote in records.get(memory.pool(region), ()):
                if wrote and memory.meet(region, other):
                    note(before, node, Hazard.RAW, region)
        for region in touch.writes:
            for before, other, wrote in records.get(memory.pool(region), ()):
                if memory.meet(region, other):
                    note(before, node, Hazard.WAW if wrote else Hazard.WAR, region)
        for region in touch.writes:
            pool, extent = memory.pool(region), memory.extent(region)
            kept = [each for each in records.get(pool, ()) if memory.extent(each[1]) != extent]
            records[pool] = [*kept, (node, region, True)]
        for region in touch.reads:
            records.setdefault(memory.pool(region), []).append((node, region, False))
    return sorted(found.values(), key=lambda edge: (edge.after, edge.before))
