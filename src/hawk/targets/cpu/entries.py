"""The one native function of a kernel: take pieces, advance groups of samples, store them.

    while there is a piece:                      (an atomic counter, shared by all threads)
        for each group of `lanes` samples:
            load the planes, advance up to STEPS steps in registers, store the planes

In launches of many steps samples stop at different times, so lanes are refilled: see `pool`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hawk.ir.nodes import (
    ARRAYS,
    TABLES,
    Block,
    Function,
    Loop,
    Plane,
    Role,
    Value,
    used_values,
    walk,
)
from hawk.ir.types import DType
from hawk.targets import tables
from hawk.targets.base import HEADER, Word
from hawk.targets.cpu.control import default_control
from hawk.targets.cpu.link import ENTRY
from hawk.targets.cpu.machine import Machine
from hawk.targets.cpu.memory import Memory
from hawk.targets.cpu.order import IN_ORDER
from hawk.targets.cpu.pool import Pool, refills
from hawk.targets.cpu.queue import Group, Outcome, Queue
from hawk.targets.cpu.rush import Rush
from hawk.targets.cpu.steps import Stepped, Steps
from hawk.targets.cpu.stopping import monotone_stop
from hawk.targets.cpu.straight import Straight, repeats_itself
from hawk.targets.cpu.watch import WORK_BETWEEN_LOOKS, Watch
from hawk.targets.cpu.width import LONG, Variant, is_masked, work_of, work_once
from hawk.targets.llvm import PAST, RARE, Emitter, Names
from hawk.targets.positions import near_of, positions_of
from hawk.targets.shape import MEMORY_TYPES
from hawk.targets.uniform import has_loop, varying_values


def module_text(fn: Function, variant: Variant, machine: Machine) -> str:
    """The LLVM module of `fn`: one function `ENTRY(block)` and what it calls.

    `fn` has been through the passes. The module calls nothing outside itself.
    """
    writer = Entry(fn, variant, machine)
    short = work_of(fn) + work_once(fn) <= LONG
    apart = not (writer.straight or writer.loops) and short
    writer.write(ones_apart=apart)
    functions = [_function(f"void @{ENTRY}", writer.emitter, machine)]
    if apart:
        one = Entry(fn, variant, machine, one_step=True)
        writer.emitter.share_sides(one.emitter)
        one.write()
        functions.append(_function(f"internal void {ONE_STEP}", one.emitter, machine))
    return "\n".join(
        (
            f'target triple = "{machine.triple}"',
            *functions,
            *writer.emitter.functions,
            *([IN_ORDER] if writer.orders else []),
            *writer.memory.functions,
            f'{RARE} = !{{!"branch_weights", i32 1, i32 1000}}',
            f"{PAST} = !{{i32 1}}",
        )
    )


ONE_STEP = "@one_step"
"""The same launch where it is of one step, in which nothing is carried from step to step. It is
mostly loads and stores, so whatever else is done for a group shows; in long steps it does not, and
to write them twice would take time. A function of its own leaves the registers of the other alone.
"""


def _function(head: str, emitter: Emitter, machine: Machine) -> str:
    body = "\n".join([*emitter.stack, *emitter.lines])
    attributes = f'nounwind "tune-cpu"="{machine.cpu}"'
    return f"define {head}(ptr nocapture %block) {attributes} {{\nentry:\n{body}\n}}"


class Entry:
    """Writes the entry of one kernel. `one_step`: for launches of one step."""

    def __init__(
        self, fn: Function, variant: Variant, machine: Machine, *, one_step: bool = False
    ) -> None:
        self.fn = fn
        self.variant = variant
        self.machine = machine
        varying = varying_values(fn)
        self.loops = has_loop(fn)
        self.emitter = Emitter(variant.shape, varying, positions_of(fn, varying))
        self.mask = next((plane for plane in fn.planes if plane.role is Role.MASK), None)
        once = repeats_itself(fn) or (one_step and self.mask is None)
        self.straight = once and not self.loops
        """Is each sample passed once?"""
        work = work_of(fn) + work_once(fn) if self.straight else work_of(fn)
        looks = 1 if self.loops else max(1, WORK_BETWEEN_LOOKS // work)
        self.watch = Watch(self.emitter, machine, steps_between_looks=looks)
        self.emitter.round = self.watch.round
        self.queue = Queue(self.emitter, self.watch)
        self.steps = Steps(self.emitter, fn, variant, self.watch, loops=self.loops)
        self.memory = Memory(self.emitter, self.queue, fn)
        self.one_step = one_step
        self.refills = refills(fn, variant) and not one_step
        """May a lane whose sample stopped get another?"""
        self.orders = False
        """Are samples put in order?"""

    @property
    def stored(self) -> list[Plane]:
        return [*self.steps.kept, *([self.mask] if self.mask else [])]

    # -- once a launch ---------------------------------------------------------------------------

    def write(self, *, ones_apart: bool = False) -> None:
        """Write it. `ones_apart`: launches of one step are left to `ONE_STEP`."""
        e = self.emitter
        if ones_apart:
            self._leave_ones()
        control = default_control(self.machine)
        if control.begin:
            e.line(control.begin)
        self.watch.begin()
        self.queue.begin()
        steps = self.queue.word(Word.STEPS)
        self._planes()
        pool = Pool(self, steps) if self.refills else None
        e.statements(self.fn.launch)
        self._spread_what_is_known()
        head, leave = e.label("work"), e.label("leave")
        e.jump(head)
        e.place(head)
        with e.scope():
            if self.straight:
                Straight(self, steps).write(leave)
            else:
                group = self.next_group(steps, leave) if pool is None else pool.next(leave)
                self.begin_group(group)
                outcome = self._advance(group)
                if pool is None:
                    self.end_group(group, outcome, steps, leave)
                else:
                    pool.end(group, outcome, leave)
        e.jump(head)
        e.place(leave)
        self.queue.tell()
        if control.end:
            e.line(control.end)
        e.line("ret void")

    def _leave_ones(self) -> None:
        e = self.emitter
        leave, stay = e.label("one"), e.label("several")
        e.branch(e.define(f"icmp eq i64 {self.queue.word(Word.STEPS)}, 1"), leave, stay)
        e.place(leave)
        e.line(f"call void {ONE_STEP}(ptr %block)")
        e.line("ret void")
        e.place(stay)

    def _planes(self) -> None:
        """Read the block: addresses of arrays, and the numbers that are one for all samples."""
        e = self.emitter
        self.memory.begin()
        for index, plane in enumerate(self.fn.planes, HEADER):
            if plane.role in ARRAYS:
                self.memory.add(plane, index)
            elif plane.role is Role.INDEX:
                self.memory.index = plane.read
            elif plane.role in TABLES and plane.read is not None:
                e.tables.add(plane.read)
                e.bind(plane.read, (self.queue.word(index, "ptr"),))
            elif plane.read is not None:
                number = self.queue.word(index, MEMORY_TYPES[plane.dtype])
                if plane.dtype is DType.BOOL:
                    number = e.define(f"icmp ne i8 {number}, 0")
                e.bind(plane.read, (number,))

    def _spread_what_is_known(self) -> None:
        """Spread numbers that are one for all samples here, once, not where they are first used."""
        e = self.emitter
        known = [p.read for p in self.fn.planes if p.read in e.names and p.read not in e.tables]
        known += [result for item in self.fn.launch for result in item.results]
        for value in known:
            e.lanes(value)

    # -- once a group ----------------------------------------------------------------------------

    def next_group(self, steps: str, leave: str) -> Group:
        """The next samples that stand side by side; go to `leave` when there are none.

        Those at the start of a row took some steps already.
        """
        e, queue = self.emitter, self.queue
        take, have = e.label("take"), e.label("have")
        some = e.define(f"icmp slt i64 {queue.load(queue.next)}, {queue.load(queue.high)}")
        e.branch(some, have, take)
        e.place(take)
        self.look_between_pieces()
        queue.take(leave)
        e.jump(have)
        e.place(have)
        base, high = queue.load(queue.next), queue.load(queue.high)
        return self.group_at(base, high, e.define(f"sub i64 {steps}, {queue.load(queue.before)}"))

    def group_at(self, base: str, high: str, steps: str) -> Group:
        """The samples from `base` on, before `high`, that make a group; copied if they must be."""
        e = self.emitter
        left = e.define(f"sub i64 {high}, {base}")
        held = e.define(f"call i64 @llvm.umin.i64(i64 {left}, i64 {e.shape.lanes})")
        partial = e.define(f"icmp ult i64 {left}, {e.shape.lanes}")
        mapped = e.define(f"icmp ne ptr {self.memory.map}, null")
        apart = e.define(f"or i1 {partial}, {mapped}")
        self.memory.bring(base, held, apart)
        return Group(base, held, apart, steps)

    def begin_group(self, group: Group) -> None:
        """Let what asks for positions know where the samples of `group` are."""
        e = self.emitter
        e.apart = group.apart
        index = self.memory.index
        if index is None:
            return
        e.indices = lambda: self.memory.indices(group)
        tables.begin(e, group.base)
        if index not in e.positions.lazy:
            e.bind(index, e.indices())

    def look_between_pieces(self) -> None:
        """Look at the clock, but not before the first: whoever comes takes at least one."""
        e, queue = self.emitter, self.queue
        look, on = e.label("look"), e.label("on")
        e.branch(e.define(f"icmp eq i64 {queue.load(queue.high)}, 0"), on, look)
        e.place(look)
        self.watch.look()
        e.jump(on)
        e.place(on)

    def end_group(self, group: Group, outcome: Outcome, steps: str, leave: str) -> None:
        """Store what was copied, and go on with the samples behind, or to `leave` if it is time."""
        e, queue = self.emitter, self.queue
        self.memory.copy_back(self.stored, group.held, group.apart)
        before = queue.load(queue.before)
        total = e.define(f"add i64 {before}, {outcome.taken}")
        queue.count(outcome.finished, total)
        following = e.define(f"add i64 {group.base}, {e.shape.lanes}")
        late, more = e.label("late"), e.label("more")
        e.branch(self.watch.over(), late, more)
        e.place(late)
        # A group that has samples and steps left comes first in what is left.
        some = e.define(f"icmp ult i64 {total}, {steps}")
        halfway = e.define(f"and i1 {some}, {outcome.going}")
        first = e.define(f"select i1 {halfway}, i64 {group.base}, i64 {following}")
        taken = e.define(f"select i1 {halfway}, i64 {total}, i64 0")
        queue.leave_row(first, queue.load(queue.high), taken)
        e.jump(leave)
        e.place(more)
        e.line(f"store i64 {following}, ptr {queue.next}")
        e.line(f"store i64 0, ptr {queue.before}")

    def _active(self, left: str) -> Names:
        """The lanes that hold a sample."""
        e = self.emitter
        wide, limit = e.shape.vector("i64"), e.spread(left, "i64")
        return tuple(e.define(f"icmp ult {wide} {lane}, {limit}") for lane in self.memory.lanes())

    def _advance(self, group: Group) -> Outcome:
        """Load, step and store one group."""
        e, where = self.emitter, self.memory.where(group)
        if self.mask is None:
            after, taken = self._run(where, self._active(group.held), group.steps)
            self._store_all(where, after)
            return Outcome("0", taken, "true")
        (done,) = self.memory.load_bits(where[self.mask])
        live = e.invert(done)  # lanes that hold no sample are done in the scratch group
        run, merge, skip = e.label("run"), e.label("merge"), e.here
        some = e.any(live)
        e.branch(some, run, merge)
        e.place(run)
        with e.scope():
            after, taken = self._run(where, live, group.steps)
            self._store_all(where, after)
            finished = e.count(e.combine("and", live, e.invert(after.live)))
            self.memory.store(self.mask, where[self.mask], e.invert(after.live))
            going = e.any(after.live)
        run = e.here
        e.jump(merge)
        e.place(merge)
        return Outcome(
            e.phi("i64", (finished, run), ("0", skip)),
            e.phi("i64", (taken, run), ("0", skip)),
            e.phi("i1", (going, run), ("false", skip)),
        )

    def _run(self, where: dict[Plane, str], live: Names, steps: str) -> tuple[Stepped, str]:
        """Load a group and take its steps: the group after, the steps taken."""
        e = self.emitter
        e.mask = live if self.loops else None
        kept = self.load_all(where)
        e.mask = None
        for value in kept:
            e.lanes(value)
        start = Stepped(tuple(self._first(plane, where) for plane in self.steps.kept), live)
        if self.one_step:
            return self.steps.once(start)
        if self.mask is None:
            return self.steps.free(start, steps)
        if is_masked(self.fn, self.machine):
            return self.steps.masked(start, steps)
        return Rush(self.steps).run(start, steps, monotone_stop(self.fn))

    def load_all(self, where: dict[Plane, str]) -> list[Value]:
        """Load a group and compute what is computed once a sample: what its steps may read."""
        for plane in self.memory.arrays:
            if plane.read is not None:
                self.emitter.bind(plane.read, self.memory.load(plane, where[plane]))
        return self._sample()

    def _sample(self) -> list[Value]:
        """What is computed once a sample: for groups at no border of a grid in a way of its own.

        There each neighbour is a vector some places on, and nothing else is asked. Gives the values
        that the steps may read.
        """
        e, items = self.emitter, self.fn.sample
        nears = near_of(items, e.positions.told)
        results = [result for item in items for result in item.results]
        kept = [value for value in results if value not in e.positions.lazy]
        if not nears or work_once(self.fn) > LONG:
            e.statements(items)
            return kept
        border, inside, merge = e.label("border"), e.label("inside"), e.label("merge")
        e.branch(tables.outside(e, nears), border, inside, rare=True)
        used = used_values(replace(self.fn, sample=()))
        used |= e.positions.read_late(used)
        kept = [value for value in kept if value in used]
        e.place(inside)
        with e.scope():
            e.sure = {node.result for node in nears}
            e.statements(items)
            plain = [e.names_of(value) for value in kept]
            e.sure = set()
        inside = e.here
        e.jump(merge)
        e.place(border)
        with e.scope():
            other = self._at_border(kept)
        border = e.here
        e.jump(merge)
        e.place(merge)
        for value, a, b in zip(kept, plain, other, strict=True):
            kind, pairs = e.type_of(value), zip(a, b, strict=False)  # a scalar is one for all
            e.bind(value, tuple(e.phi(kind, (x, inside), (y, border)) for x, y in pairs))
        return kept

    def _at_border(self, kept: Sequence[Value]) -> list[Names]:
        """The same for groups that may be at a border: one chain after the other, in a function.

        Written out for each chain it would be most of the code.
        """
        e, items = self.emitter, self.fn.sample
        if e.shape.chains == 1 or any(isinstance(item, Loop) for item in walk(items)):
            e.at_border = True
            e.statements(items)
            e.at_border = False
            return [e.names_of(value) for value in kept]
        block, results = Block(items, tuple(kept)), tuple(kept)
        rooms = [e.room_of(value) for value in kept]
        ends: list[Names] = []
        assert e.positions.index is not None
        base, _ = tables.at_ends(e, e.positions.index, None)
        for chain in range(e.shape.chains):
            first = e.define(f"add i64 {base}, {chain * e.shape.width}")
            ends.append(e.called(block, results, chain, rooms, base=first))
        return list(zip(*ends, strict=True))

    def _first(self, plane: Plane, where: dict[Plane, str]) -> Names:
        """What a kept plane holds before the first step."""
        if plane.read is not None:
            return self.emitter.names[plane.read]
        # A sample that was done before keeps its output, so the output is loaded like a state.
        return self.memory.load(plane, where[plane])

    def _store_all(self, where: dict[Plane, str], after: Stepped) -> None:
        for plane, names in zip(self.steps.kept, after.state, strict=True):
            self.memory.store(plane, where[plane], names)
