"""Samples that are passed once: load a group, compute, store, and on to the next.

So it is for kernels whose steps carry nothing on, however many steps a launch asks for, and for
launches of one step of kernels that finish no sample. They are mostly loads and stores, so whatever
else is done for a group shows: where it is in its piece is kept in registers, and outputs are not
read.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hawk.ir.nodes import Function, Role
from hawk.targets.cpu.queue import Group

if TYPE_CHECKING:
    from hawk.targets.cpu.entries import Entry


def repeats_itself(fn: Function) -> bool:
    """Does every step of a sample store what the first one does? Then one is enough."""
    read = {plane.name: plane.read for plane in fn.planes}
    states = {plane.read for plane in fn.planes if plane.role is Role.STATE}
    masked = any(plane.role is Role.MASK for plane in fn.planes)
    carried = any(end in states and end is not read[name] for name, end in fn.stores)
    return not (fn.step or masked or carried)


def in_its_step(fn: Function) -> Function:
    """`fn`, but of one that repeats itself all that is done for a sample is done in its step."""
    return replace(fn, sample=(), step=fn.sample) if repeats_itself(fn) else fn


class Straight:
    """Writes the loop over the groups of an entry."""

    def __init__(self, entry: Entry, steps: str) -> None:
        self.entry, self.steps = entry, steps

    def write(self, leave: str) -> None:
        """Pass the groups of all pieces; go to `leave` when there are none, or it is time."""
        entry, steps = self.entry, self.steps
        e, queue = entry.emitter, entry.queue
        entry.look_between_pieces()
        queue.take(leave)
        queue.count("0", steps)
        low, high = queue.load(queue.next), queue.load(queue.high)
        loop = e.begin_loop([("i64", low)])
        with e.scope():
            group = entry.group_at(loop.phis[0], high, steps)
            entry.begin_group(group)
            self._pass(group)
            entry.memory.copy_back(entry.stored, group.held, group.apart)
            following = e.define(f"add i64 {group.base}, {e.shape.lanes}")
            entry.watch.count("1")
            more = e.define(f"icmp slt i64 {following}, {high}")
            again = e.define(f"xor i1 {entry.watch.over()}, true")
            e.end_loop(loop, e.define(f"and i1 {more}, {again}"), [following])
        queue.leave_row(following, high, "0")

    def _pass(self, group: Group) -> None:
        entry, step = self.entry, self.entry.steps
        e, where = entry.emitter, entry.memory.where(group)
        entry.load_all(where)
        for plane, value in zip(step.kept, step.values, strict=True):
            if plane.read is not None:
                e.bind(value, e.names[plane.read])
        e.statements(entry.fn.step)
        for plane, end in zip(step.kept, step.ends, strict=True):
            entry.memory.store(plane, where[plane], e.lanes(end))
