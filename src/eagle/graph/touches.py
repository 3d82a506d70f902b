"""What memory each node of a body touches, branches and loops with all that is inside them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from eagle.devices.host.memory import address_of
from eagle.devices.plan import Item, Loop, Plan, Region, View, parts_of, tests_of
from eagle.graph import schedule
from eagle.graph.edges import Edge, Memory, Touch, edges
from eagle.overlap import overlap


def touch(item: Item) -> Touch[Region]:
    """The memory of a node."""
    reads, writes = [*item.reads, *tests_of(item)], [*item.writes]
    if isinstance(item, Loop) and item.counter is not None:
        reads += [item.counter.count.region, item.counter.limit.region]
        writes += [item.counter.count.region, item.counter.number.region]
    for part in parts_of(item):
        for each in part:
            inner = touch(each)
            reads += inner.reads
            writes += inner.writes
    return Touch(_once(reads), _once(writes))


def _once(regions: Sequence[Region]) -> list[Region]:
    kept: dict[Hashable, Region] = {}
    for region in regions:
        kept.setdefault(_extent(region), region)
    return list(kept.values())


def meet(first: Region, second: Region) -> bool:
    """Do two regions share a byte?"""
    return overlap(first.view, second.view)


def edges_of(items: Sequence[Item]) -> list[Edge[Region]]:
    """Which nodes of a body wait for which."""
    touches = [touch(item) for item in items]
    pools = _pools(region for each in touches for region in (*each.reads, *each.writes))
    memory = Memory[Region](meet, lambda region: pools[region.root], _extent)
    return edges(touches, memory)


class Dependency(NamedTuple):
    """One node of a graph waits for another."""

    node: Item
    on: Item
    why: str
    fused: bool
    """Do the two run in one pass over the samples?"""


def dependencies(plan: Plan) -> Iterator[Dependency]:
    """All edges, those of branches and loops after those around them."""
    passes = {id(i): k for k, each in enumerate(plan.device.passes(plan)) for i in each.nodes}

    def body(items: Sequence[Item]) -> Iterator[Dependency]:
        for edge in edges_of(items):
            node, on = items[edge.after], items[edge.before]
            fused = id(node) in passes and passes[id(node)] == passes.get(id(on))
            yield Dependency(node, on, f"{edge.hazard.value} `{edge.region.name}`", fused)
        for item in items:
            for part in parts_of(item):
                yield from body(part)

    yield from body(plan.body)


def waits_of(items: Sequence[Item]) -> list[tuple[int, int]]:
    """The same as places: (before, after)."""
    return [(edge.before, edge.after) for edge in edges_of(items)]


def ordered(items: list[Item], seed: int | None = None) -> list[Item]:
    """The nodes of a body in an order in which they may run: the program's, or a random one."""
    if seed is None:
        return items
    return [items[place] for place in schedule.order(len(items), waits_of(items), seed)]


def _extent(region: Region) -> Hashable:
    view = region.view
    return region.root, address_of(view), view.shape, view.strides, view.dtype


def _pools(regions: Iterable[Region]) -> dict[object, int]:
    """A number for each root; arrays that reach into each other have the same one."""
    roots = {region.root: region.root.view for region in regions}
    spans = sorted(
        (
            (low, high, place)
            for place, view in enumerate(roots.values())
            for low, high in [_span(view)]
        )
    )
    numbers = [0] * len(spans)
    reached = number = 0
    for low, high, place in spans:
        if low >= reached:
            number += 1
        numbers[place] = number
        reached = max(reached, high)
    return dict(zip(roots, numbers, strict=True))


def _span(view: View) -> tuple[int, int]:
    low, high = np.lib.array_utils.byte_bounds(view)
    return low, high
