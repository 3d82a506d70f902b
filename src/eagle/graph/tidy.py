"""Leaves out what the walk of a builder wrote and nobody needs: cells that are never looked at."""

from __future__ import annotations

from collections.abc import Iterable

from eagle.devices.plan import Copy, If, Item, Loop, Put, Region, Root, parts_of, tests_of, walk


def tidy(body: list[Item], results: Iterable[Region]) -> None:
    """Take out cells and joins of the graph's own that nobody reads, and branches left empty.

    Nothing else is touched: what a user wrote stays, and what it changes in place.
    """
    kept = {region.root for region in results}
    while True:
        read = kept | {region.root for item in walk(body) for region in _needs(item)}
        if not _taken_out(body, read):
            return


def _needs(item: Item) -> list[Region]:
    """What a node reads or changes in place, and what a branch or loop looks at."""
    counter = item.counter if isinstance(item, Loop) else None
    counts = [] if counter is None else [counter.count.region, counter.limit.region]
    joins = isinstance(item, Copy) and item.join
    changed = [] if joins else [each for each in item.writes if each.root not in item.own]
    return [*item.reads, *changed, *tests_of(item), *counts]


def _taken_out(body: list[Item], read: set[Root]) -> bool:
    """Take out what can be in one go; whether that was anything."""
    before = len(body)
    changed = False
    for item in body:
        for part in parts_of(item):
            changed |= _taken_out(part, read)
    body[:] = [item for item in body if not _is_vain(item, read)]
    return changed or len(body) < before


def _is_vain(item: Item, read: set[Root]) -> bool:
    match item:
        case Put():
            return item.cell.region.root.made and item.cell.region.root not in read
        case Copy(join=True):
            return item.writes[0].root not in read
        case If():
            return not item.then and not item.orelse
        case _:
            return False
