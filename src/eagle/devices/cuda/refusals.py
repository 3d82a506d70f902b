"""What a graph on a GPU may not hold yet, besides what no CUDA graph may."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from eagle.devices import rules
from eagle.devices.base import Cut, Objection
from eagle.devices.host.device import HOST
from eagle.devices.host.stretches import Stretches, same_memory, stretched
from eagle.devices.plan import Copy, Item, Launch, Plan, Reduce, View, parts_of

MOST_STRETCHES = 64
"""Nodes that one copy may take."""


def objections(plan: Plan) -> list[Objection]:
    """What is wrong with a graph, in the order of the program."""
    return rules.objections(plan) or list(_of_body(plan.body, "", plan.device.name))


def cuts(plan: Plan) -> list[Cut]:
    """Where it is cut."""
    return rules.cuts(plan)


def on_host(item: Item) -> bool:
    """Does a node run on the host? Of a copy: are both ends there?"""
    return all(each.root.device is HOST for each in (*item.reads, *item.writes))


def stretches(source: View, into: View) -> list[Stretches]:
    """The parts of a copy, each of which the driver makes at once; one more than it may have.

    It takes rows at equal distances, but not backwards, and none of them twice.
    """
    return list(itertools.islice(_rows(source, into), MOST_STRETCHES + 1))


def _rows(source: View, into: View) -> Iterator[Stretches]:
    for part in stretched(source, into, MOST_STRETCHES + 1):
        if part.into_step >= part.size <= part.source_step:
            yield part
            continue
        for row in range(part.times):
            there, here = part.into + row * part.into_step, part.source + row * part.source_step
            yield Stretches(there, here, part.size, 1, part.size, part.size)


def _of_body(body: list[Item], control: str, device: str) -> Iterator[Objection]:
    for item in body:
        yield from _of_node(item, control, device)
        for part in parts_of(item):
            yield from _of_body(part, item.name, device)


def _of_node(item: Item, control: str, device: str) -> Iterator[Objection]:
    match item:
        case Launch() if not on_host(item):
            yield from _of_launch(item, device)
        case Reduce() if not on_host(item):
            source = item.reads[0]
            if any(step % source.view.itemsize for step in source.view.strides):
                what = f"`{item.name}` on {device}: the numbers of `{source.name}` are not a whole "
                what += f"number of times {source.view.itemsize} bytes apart"
                yield Objection(item, what, "an array of its own, not a field of a larger one")
        case Copy() if not same_memory(item.reads[0].view, item.writes[0].view):
            yield from _of_copy(item, control, device)
        case _:
            return


def _of_launch(item: Launch, device: str) -> Iterator[Objection]:
    if item.careful is not None:
        what = f"{item.name} has checks=True, and in graphs such kernels run on the host only"
        fix = f"@hawk.kernel without checks, for graphs on {device}, or a call outside of the graph"
        yield Objection(item, what, fix)
    elif item.function is None:
        what = f"something that {item.name} reads has changed while the graph was built"
        yield Objection(item, what, "the graph again")


def _of_copy(item: Copy, control: str, device: str) -> Iterator[Objection]:
    (source,), (into,) = item.reads, item.writes
    if on_host(item) and not control:
        return  # Python makes it, if it has to
    if len(stretches(source.view, into.view)) > MOST_STRETCHES:
        host = source if source.root.device is HOST else into
        what = f"eagle.copy: `{host.name}` has so many gaps that {device} would need more than "
        what += f"{MOST_STRETCHES} copies for it"
        yield Objection(item, what, "a contiguous array, and a copy of that")
