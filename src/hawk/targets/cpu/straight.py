"""Samples that are passed once: load a group, compute, store, and on to the next.

    for each turn of full groups:  pass them, one after the other
    for each group that is left:   copy it if it must be, pass it

So it is for kernels whose steps carry nothing on, however many steps a launch asks for, and for
launches of one step of kernels that finish no sample. They are mostly loads and stores, so whatever
else is done for a group shows: where it is in its piece is kept in registers, and outputs are not
read.

A store brings the line it goes to into the cache before, and that is a third of what `a * x + b` of
10**7 numbers moves. Where a launch moves more than caches hold, outputs that no sample reads are
written past them, from the first that begins a line on: such a store waits for the rest of its
line.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from hawk.ir.nodes import Function, Role
from hawk.targets.base import Word
from hawk.targets.cpu.memory import LINE
from hawk.targets.cpu.queue import Group
from hawk.targets.cpu.width import LONG, usual_work, usual_work_once, work_of, work_once

TURN = 8
"""Vectors that a turn of the loop passes, where steps are short: what is done around them shows."""
AHEAD = 1024
"""Bytes of an array ahead of the group that is passed which are asked for then."""
FAR_BYTES = 64 << 20
"""Launches that move more than this find little of it in a cache the next time."""
FAR_WORK = 60
"""Operations of a sample from which on memory is not what it waits for."""
FAR_LEAST = 16
"""Bytes of a vector that can be stored past the caches."""

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
        short = usual_work(entry.fn) + usual_work_once(entry.fn) <= LONG
        self.groups = max(1, TURN // entry.emitter.shape.chains) if short else 1
        """Full groups that a turn of the loop passes."""
        work = work_of(entry.fn) + work_once(entry.fn)
        self.outputs = [
            plane
            for plane in entry.steps.kept
            if plane.read is None
            and work <= FAR_WORK
            and entry.emitter.shape.width * plane.dtype.itemsize % FAR_LEAST == 0
        ]
        """What may be written past the caches."""

    def write(self, leave: str) -> None:
        """Pass the groups of all pieces; go to `leave` when there are none, or it is time."""
        entry, steps = self.entry, self.steps
        queue = entry.queue
        entry.look_between_pieces()
        queue.take(leave)
        queue.count("0", steps)
        low, high = queue.load(queue.next), queue.load(queue.high)
        queue.leave_row(self._near_or_far(low, high), high, "0")

    def _near_or_far(self, low: str, high: str) -> str:
        """Pass the samples; outputs are written past the caches where that is better.

        Gives the first sample that is left when it is time.
        """
        e = self.entry.emitter
        if not self.outputs:
            return self._one_by_one(self._full_groups(low, high), high)
        loop = e.begin_loop([("i64", low)])
        low = loop.phis[0]
        past, near, ask, merge = e.label("past"), e.label("near"), e.label("ask"), e.label("merge")
        far, line = self._first_line(low)
        # What comes before the first line is passed by itself, and then it is asked again.
        begins = e.define(f"icmp eq i64 {line}, {low}")
        line = e.define(f"call i64 @llvm.smin.i64(i64 {line}, i64 {high})")
        e.branch(far, ask, near)
        e.place(ask)
        e.branch(begins, past, merge)
        e.place(past)
        far_end = self._full_groups(low, high, far=True)
        e.line("fence seq_cst")  # such stores have an order of their own
        past = e.here
        e.jump(merge)
        e.place(near)
        near_end = self._full_groups(low, high)
        near = e.here
        e.jump(merge)
        e.place(merge)
        first = e.phi("i64", (low, ask), (far_end, past), (near_end, near))
        end = e.phi("i64", (line, ask), (high, past), (high, near))
        first = self._one_by_one(first, end)
        through = e.define(f"icmp sge i64 {first}, {end}")
        more = e.define(f"icmp slt i64 {end}, {high}")
        e.end_loop(loop, e.define(f"and i1 {through}, {more}"), [end])
        return first

    def _first_line(self, low: str) -> tuple[str, str]:
        """Is a launch large enough for stores past the caches, and can they be?

        And from which sample on: there a line begins, and every vector at a multiple of its size.
        """
        entry = self.entry
        e, queue, outputs = entry.emitter, entry.queue, self.outputs
        moved = sum(plane.dtype.itemsize for plane in entry.memory.arrays)
        begin, end = queue.word(Word.BEGIN), queue.word(Word.END)
        count = e.define(f"sub i64 {end}, {begin}")
        far = e.define(f"icmp ugt i64 {count}, {FAR_BYTES // moved}")
        plain = e.define(f"icmp eq ptr {entry.memory.map}, null")
        far = e.define(f"and i1 {far}, {plain}")
        leading = max(outputs, key=lambda plane: plane.dtype.itemsize)
        start = entry.memory.at(leading, entry.memory.address[leading], low)
        back = e.define(f"sub i64 0, {e.define(f'ptrtoint ptr {start} to i64')}")
        missing = e.define(f"and i64 {back}, {LINE - 1}")
        samples = e.define(f"udiv i64 {missing}, {leading.dtype.itemsize}")
        line = e.define(f"add i64 {low}, {samples}")
        for plane in outputs:
            start = entry.memory.at(plane, entry.memory.address[plane], line)
            place = e.define(f"ptrtoint ptr {start} to i64")
            size = e.shape.width * plane.dtype.itemsize
            beyond = e.define(f"and i64 {place}, {size - 1}")
            far = e.define(f"and i1 {far}, {e.define(f'icmp eq i64 {beyond}, 0')}")
        return far, line

    def _full_groups(self, low: str, high: str, *, far: bool = False) -> str:
        """As `_side_by_side`, where that is not what `_one_by_one` does as well."""
        return self._side_by_side(low, high, far=far) if far or self.groups > 1 else low

    def _side_by_side(self, low: str, high: str, *, far: bool = False) -> str:
        """Pass full groups whose samples stand side by side, several in each turn of a loop.

        Gives the first sample that is left, of fewer than a turn takes, or when it is time.
        """
        entry = self.entry
        e = entry.emitter
        lanes = e.shape.lanes
        last = e.define(f"sub i64 {high}, {self.groups * lanes}")
        widest = max(plane.dtype.itemsize for plane in entry.memory.arrays)
        ahead = -(-AHEAD // (lanes * widest)) * lanes

        def turn(first: str) -> tuple[str, str]:
            for _ in range(self.groups):
                with e.scope():
                    self._prefetch(e.define(f"add i64 {first}, {ahead}"), far=far)
                    group = Group(first, str(lanes), "false", self.steps)
                    entry.begin_group(group)
                    self._pass(group, far=far)
                first = e.define(f"add i64 {first}, {lanes}")
            entry.watch.count(str(self.groups))
            return first, e.define(f"icmp sle i64 {first}, {last}")

        fits = e.define(f"icmp sle i64 {low}, {last}")
        plain = e.define(f"icmp eq ptr {entry.memory.map}, null")
        return self._loop(e.define(f"and i1 {plain}, {fits}"), low, turn)

    def _one_by_one(self, low: str, high: str) -> str:
        """Pass groups that may be few samples, or of samples that stand apart.

        Gives the first sample that is left when it is time.
        """
        entry = self.entry
        e = entry.emitter

        def turn(first: str) -> tuple[str, str]:
            group = entry.group_at(first, high, self.steps)
            entry.begin_group(group)
            self._pass(group)
            entry.memory.copy_back(entry.stored, group.held, group.apart)
            entry.watch.count("1")
            following = e.define(f"add i64 {group.base}, {e.shape.lanes}")
            return following, e.define(f"icmp slt i64 {following}, {high}")

        some = e.define(f"icmp slt i64 {low}, {high}")
        time = e.define(f"xor i1 {entry.watch.over()}, true")
        return self._loop(e.define(f"and i1 {some}, {time}"), low, turn)

    def _loop(self, test: str, low: str, turn: Callable[[str], tuple[str, str]]) -> str:
        """A loop over samples from `low` on, if `test` holds: the first that is left.

        `turn` writes what is done from a sample on, and gives the next one, and whether to go on
        if it is not time.
        """
        entry = self.entry
        e = entry.emitter
        enter, out, before = e.label("groups"), e.label("out"), e.here
        e.branch(test, enter, out)
        e.place(enter)
        loop = e.begin_loop([("i64", low)])
        with e.scope():
            following, more = turn(loop.phis[0])
            again = e.define(f"xor i1 {entry.watch.over()}, true")
            e.end_loop(loop, e.define(f"and i1 {more}, {again}"), [following])
        after = e.here
        e.jump(out)
        e.place(out)
        return e.phi("i64", (low, before), (following, after))

    def _prefetch(self, first: str, *, far: bool) -> None:
        """Ask for a group's lines, but for what is written past the caches.

        The processor would come to ask for them late: before the first store to a line stand the
        operations of all groups before it. It does not matter if there are no such samples.
        """
        memory = self.entry.memory
        for plane in memory.arrays:
            if not (far and plane in self.outputs):
                memory.prefetch(plane, memory.at(plane, memory.address[plane], first))

    def _pass(self, group: Group, *, far: bool = False) -> None:
        entry, step = self.entry, self.entry.steps
        e, where = entry.emitter, entry.memory.where(group)
        entry.load_all(where)
        for plane, value in zip(step.kept, step.values, strict=True):
            if plane.read is not None:
                e.bind(value, e.names[plane.read])
        e.statements(entry.fn.step)
        for plane, end in zip(step.kept, step.ends, strict=True):
            past = far and plane in self.outputs
            entry.memory.store(plane, where[plane], e.lanes(end), past=past)
