"""Lanes that are refilled: when samples stop, the next ones take their lanes.

    while a lane holds a sample:
        free lanes take samples from the queue, until there are no more
        the group advances, until enough lanes are idle
        samples that stopped, or have taken STEPS steps, are stored, and leave their lanes free

All samples live in the scratch group. A lane's arithmetic does not know its neighbours, so bits do
not depend on who they are. Steps are counted for the group: a sample has taken the group's ticks
less those at which it came. When it is time to go back to Python each sample that goes on is a row
of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hawk.ir.nodes import Function, Role
from hawk.ir.types import DType
from hawk.targets.cpu.order import WINDOW, Order, foreseen
from hawk.targets.cpu.queue import Group, Outcome
from hawk.targets.cpu.width import Variant, work_of
from hawk.targets.llvm import Names
from hawk.targets.shape import bits_of

if TYPE_CHECKING:
    from hawk.ir.nodes import Plane
    from hawk.targets.cpu.entries import Entry

MOST_LANES = 64
"""Lanes are kept as bits of a word."""

EXCHANGE = 300
"""Cycles that it takes to store the group, exchange samples and load it again, a few of them: each
takes some fifty more."""

WAIT = 16
"""So many times longer lanes wait where a window ends: then all of them begin the next together."""

WORK = 1_000
"""Operations of one chain that an exchange counts as, where those since the last look at the clock
are counted."""

NEVER = 1 << 62


def refills(fn: Function, variant: Variant) -> bool:
    """May a lane of `fn` whose sample stopped get another?"""
    stops = any(plane.role is Role.MASK for plane in fn.planes)
    return stops and variant.shape.lanes <= MOST_LANES


def most_rows(fn: Function, variant: Variant) -> int:
    """Most rows that a thread leaves: one a lane that goes on, and the rest of its piece.

    Of a window that was put in order, a row between each two samples that are told of, too.
    """
    if not refills(fn, variant):
        return 1
    lanes = variant.shape.lanes
    return lanes + 1 + (lanes + WINDOW // 2 if foreseen(fn) else 0)


class Pool:
    """Writes launches of many steps. Others, and their groups, are left to the entry."""

    def __init__(self, entry: Entry, steps: str) -> None:
        """To be made where the entry begins: it makes room, and has all lanes free."""
        self.entry, self.queue, self.emitter = entry, entry.queue, entry.emitter
        self.memory = entry.memory
        self.steps = steps
        e, lanes = self.emitter, entry.emitter.shape.lanes
        self.lanes, self.all = lanes, (1 << lanes) - 1 if lanes < 64 else -1
        self.patience = max(lanes, EXCHANGE * 2 * e.shape.width // work_of(entry.fn))
        """Steps of idle lanes, of all together, that cost as much as an exchange."""
        self.positions, self.starts, self.ends = (e.room(f"[{lanes} x i64]") for _ in range(3))
        """For each lane the position of its sample, the ticks at which it came and stopped."""
        self.busy, self.live, self.tick, self.left = (e.room("i64", 8) for _ in range(4))
        """Lanes that hold a sample, those whose sample goes on, ticks, and idle steps left."""
        self.dry = e.room("i1", 1)
        """Is the queue empty?"""
        self.waits = e.room("i1", 1)
        """Do idle lanes wait for the others, so that all begin the next window together?"""
        self.used = e.define(f"icmp ugt i64 {steps}, {entry.variant.refill}")
        for address in (self.busy, self.live, self.tick):
            e.line(f"store i64 0, ptr {address}")
        e.line(f"store i64 {NEVER}, ptr {self.left}")
        for address in (self.dry, self.waits):
            e.line(f"store i1 false, ptr {address}")
        entry.steps.idle, entry.steps.patience = self._idle, self._patience
        clear, ready = e.label("clear"), e.label("ready")
        e.branch(self.used, clear, ready)
        e.place(clear)
        self.memory.clear_places()
        for plane in self.memory.arrays:
            self.memory.clear(plane)
        wide = e.shape.vector("i64")
        never = e.splat(str(NEVER), DType.I64)
        for chain in range(e.shape.chains):
            there = self._lane(self.starts, chain * e.shape.width)
            e.line(f"store {wide} {never}, ptr {there}, align 8")
        e.jump(ready)
        e.place(ready)
        known = foreseen(entry.fn)
        self.order = Order(entry, self.queue, *known) if known else None
        entry.orders = self.order is not None

    def next(self, leave: str) -> Group:
        """The next group to advance; go to `leave` when there is none."""
        e, entry = self.emitter, self.entry
        pool, fresh, together = e.label("pool"), e.label("fresh"), e.label("together")
        fill, filled, plain = e.label("fill"), e.label("filled"), e.label("plain")
        ready = e.label("group")
        e.branch(self.used, pool, plain)
        e.place(pool)
        self._choose(fresh, together, fill, leave)
        e.place(fresh)
        base, most = self._fresh()
        e.jump(ready)
        e.place(together)
        self._together(pool)
        e.jump(filled)
        e.place(fill)
        self._fill(leave)
        e.jump(filled)
        e.place(filled)
        steps = self._least_left()
        e.jump(ready)
        e.place(plain)
        group = entry.next_group(self.steps, leave)
        plain = e.here
        e.jump(ready)
        e.place(ready)
        all_of_them = str(self.lanes)
        return Group(
            e.phi("i64", (base, fresh), ("0", filled), (group.base, plain)),
            e.phi("i64", (all_of_them, fresh), (all_of_them, filled), (group.held, plain)),
            e.phi("i1", ("false", fresh), ("true", filled), (group.apart, plain)),
            e.phi("i64", (most, fresh), (steps, filled), (group.steps, plain)),
        )

    def end(self, group: Group, outcome: Outcome, leave: str) -> None:
        """Store what has ended; go to `leave` if it is time."""
        e, entry, queue = self.emitter, self.entry, self.queue
        pool, fresh, plain = e.label("pool"), e.label("fresh"), e.label("plain")
        exchange, on = e.label("exchange"), e.label("on")
        e.branch(self.used, pool, plain)
        e.place(plain)
        entry.end_group(group, outcome, self.steps, leave)
        e.jump(on)
        e.place(pool)
        came = queue.load(self.tick)
        e.line(f"store i64 {e.define(f'add i64 {came}, {outcome.taken}')}, ptr {self.tick}")
        e.branch(group.apart, exchange, fresh)
        e.place(fresh)
        self._end_fresh(group, outcome, came, on)
        e.jump(exchange)
        e.place(exchange)
        self._give_back(outcome, leave)
        e.jump(on)
        e.place(on)

    # -- groups that begin together --------------------------------------------------------------

    def _choose(self, fresh: str, together: str, fill: str, leave: str) -> None:
        """Go where the next group comes from; to `leave` if there is none."""
        e, queue = self.emitter, self.queue
        take, at_hand, free, whole = (e.label(hint) for hint in ("take", "hand", "free", "whole"))
        idle = e.define(f"icmp eq i64 {queue.load(self.busy)}, 0")
        none = e.define(f"icmp sge i64 {queue.load(queue.next)}, {queue.load(queue.high)}")
        e.branch(e.define(f"and i1 {idle}, {none}"), take, at_hand)
        e.place(take)
        self._take(leave)
        e.jump(at_hand)
        e.place(at_hand)
        if self.order is not None:
            self.order.look()
        e.branch(idle, free, fill)
        e.place(free)
        until = queue.load(queue.high)
        if self.order is not None:  # no group reaches out of the window
            e.line(f"store i1 false, ptr {self.waits}")
            end = queue.load(self.order.end)
            until = e.define(f"select i1 {self.order.is_next()}, i64 {end}, i64 {until}")
        many = e.define(f"sub i64 {until}, {queue.load(queue.next)}")
        e.branch(e.define(f"icmp sge i64 {many}, {self.lanes}"), whole, fill)
        e.place(whole)
        apart = e.define(f"icmp ne ptr {self._map()}, null")
        e.branch(apart, together, fresh)

    def _map(self) -> str:
        """What the next positions are looked up in; null if every sample is its own."""
        e, order, given = self.emitter, self.order, self.memory.map
        if order is None:
            return given
        return e.define(f"select i1 {order.is_next()}, ptr {order.map()}, ptr {given}")

    def _take(self, leave: str) -> None:
        """Take the next row or piece; go to `leave` when there is none."""
        self.queue.take(leave)
        if self.order is not None:
            self.order.forget()

    def _together(self, again: str) -> None:
        """Take samples from all over into all lanes; go `again` if each of them is done."""
        e, queue = self.emitter, self.queue
        first, some = queue.load(queue.next), e.label("some")
        start = e.define(f"sub i64 {queue.load(self.tick)}, {queue.load(queue.before)}")
        going = self._copy_group(self._map(), first, start)
        e.line(f"store i64 {e.define(f'add i64 {first}, {self.lanes}')}, ptr {queue.next}")
        e.line(f"store i64 {self.patience}, ptr {self.left}")
        e.branch(e.define(f"icmp eq i64 {going}, 0"), again, some)
        e.place(some)

    def _copy_group(self, where: str, first: str, start: str) -> str:
        """Copy the group at positions from `first` on, where all lanes are free: those that go on.

        `start`: the ticks at which they came.
        """
        e, entry, memory = self.emitter, self.entry, self.memory
        assert entry.mask is not None
        memory.find(where, first, str(self.lanes))
        for plane in memory.arrays:
            memory.fetch(plane, str(self.lanes))
        (done,) = memory.load_bits(memory.scratch[entry.mask])
        going = e.define(f"and i64 {e.number_of(e.invert(done))}, {self.all}")
        for address in (self.busy, self.live):
            e.line(f"store i64 {going}, ptr {address}")
        wide, begin = e.shape.vector("i64"), e.spread(first, "i64")
        came, never = e.spread(start, "i64"), e.splat(str(NEVER), DType.I64)
        mapped = e.define(f"icmp ne ptr {memory.map}, null")
        for chain, (lanes, bits) in enumerate(zip(memory.lanes(), done, strict=True)):
            at = chain * e.shape.width
            place = e.define(f"add {wide} {begin}, {lanes}")
            sample = e.define(f"load {wide}, ptr {self._lane(memory.places, at)}, align 8")
            place = e.define(f"select i1 {mapped}, {wide} {place}, {wide} {sample}")
            begun = e.define(f"select {e.bits} {bits}, {wide} {never}, {wide} {came}")
            for address, value in ((self.positions, place), (self.starts, begun)):
                e.line(f"store {wide} {value}, ptr {self._lane(address, at)}, align 8")
        return going

    def _fresh(self) -> tuple[str, str]:
        """The first of the group, and the steps it may take."""
        e, queue = self.emitter, self.queue
        base = queue.load(queue.next)
        e.line(f"store i64 {e.define(f'add i64 {base}, {self.lanes}')}, ptr {queue.next}")
        e.line(f"store i64 {self.all}, ptr {self.live}")
        e.line(f"store i64 {self.patience}, ptr {self.left}")
        return base, e.define(f"sub i64 {self.steps}, {queue.load(queue.before)}")

    def _end_fresh(self, group: Group, outcome: Outcome, came: str, none: str) -> None:
        """Take those that go on into the pool; go to `none` if nobody does and it is not time."""
        e, entry, queue = self.emitter, self.entry, self.queue
        before = queue.load(queue.before)
        # Whoever stopped last did so in the last block.
        longest = e.define(f"add i64 {before}, {outcome.taken}")
        exchange = e.define(f"or i1 {outcome.going}, {entry.watch.over()}")
        # An exchange counts those that finished itself.
        queue.count(e.define(f"select i1 {exchange}, i64 0, i64 {outcome.finished}"), longest)
        keep = e.label("keep")
        e.branch(exchange, keep, none)
        e.place(keep)
        self._copy_group("null", group.base, e.define(f"sub i64 {came}, {before}"))

    # -- samples that come -----------------------------------------------------------------------

    def _fill(self, leave: str) -> None:
        """Give each free lane the next sample that is not done, for as long as there are any."""
        e, queue = self.emitter, self.queue
        busy = queue.load(self.busy)
        free = e.define(f"and i64 {e.define(f'xor i64 {busy}, -1')}, {self.all}")
        none, ask, filled = e.define(f"icmp eq i64 {free}, 0"), e.label("ask"), e.label("filled")
        dry = e.define(f"load i1, ptr {self.dry}")
        e.branch(e.define(f"or i1 {none}, {dry}"), filled, ask)
        e.place(ask)
        head = e.begin_loop([("i64", free)])
        (free,) = head.phis
        lane = e.define(f"call i64 @llvm.cttz.i64(i64 {free}, i1 true)")
        self._take_into(lane, filled)
        busy = e.define(f"or i64 {queue.load(self.busy)}, {e.define(f'shl i64 1, {lane}')}")
        e.line(f"store i64 {busy}, ptr {self.busy}")
        rest = e.define(f"and i64 {free}, {e.define(f'sub i64 {free}, 1')}")
        e.end_loop(head, e.define(f"icmp ne i64 {rest}, 0"), [rest])
        e.jump(filled)
        e.place(filled)
        busy, some = queue.load(self.busy), e.label("some")
        e.line(f"store i64 {busy}, ptr {self.live}")
        dry = e.define(f"load i1, ptr {self.dry}")
        waits = e.define(f"load i1, ptr {self.waits}")
        patience = e.define(f"select i1 {waits}, i64 {WAIT * self.patience}, i64 {self.patience}")
        patience = e.define(f"select i1 {dry}, i64 {NEVER}, i64 {patience}")
        e.line(f"store i64 {patience}, ptr {self.left}")
        e.branch(e.define(f"icmp ne i64 {busy}, 0"), some, leave)
        e.place(some)

    def _take_into(self, lane: str, none: str) -> None:
        """Copy the next sample that is not done; go to `none` if there is none."""
        e, queue, entry = self.emitter, self.queue, self.entry
        memory = self.memory
        seek, span, dried, got, copy = (
            e.label(hint) for hint in ("seek", "span", "dried", "got", "copy")
        )
        e.jump(seek)
        e.place(seek)
        position = queue.load(queue.next)
        if self.order is not None:
            self._wait_at_end(position, none)
        e.branch(e.define(f"icmp slt i64 {position}, {queue.load(queue.high)}"), got, span)
        e.place(span)
        self._take(dried)
        e.jump(seek)
        e.place(dried)
        e.line(f"store i1 true, ptr {self.dry}")
        e.jump(none)
        e.place(got)
        where = self._map()
        e.line(f"store i64 {e.define(f'add i64 {position}, 1')}, ptr {queue.next}")
        sample = self._sample_at(where, position)
        assert entry.mask is not None
        done = e.define(f"load i8, ptr {memory.at(entry.mask, memory.address[entry.mask], sample)}")
        e.branch(e.define(f"icmp eq i8 {done}, 0"), copy, seek)
        e.place(copy)
        for plane in memory.arrays:
            self._copy(plane, (memory.address[plane], sample), (memory.scratch[plane], lane))
        came = e.define(f"sub i64 {queue.load(self.tick)}, {queue.load(queue.before)}")
        mapped = e.define(f"icmp ne ptr {memory.map}, null")
        for rows, number in (
            (memory.places, sample),
            (self.positions, e.define(f"select i1 {mapped}, i64 {position}, i64 {sample}")),
            (self.starts, came),
        ):
            e.line(f"store i64 {number}, ptr {self._lane(rows, lane)}")

    def _wait_at_end(self, position: str, none: str) -> None:
        """At the end of a window, or of all at hand: go to `none` once, if lanes are busy."""
        e, queue = self.emitter, self.queue
        assert self.order is not None
        end, wait, on = e.label("end"), e.label("wait"), e.label("on")
        last = e.define(f"icmp sge i64 {position}, {queue.load(queue.high)}")
        edge = e.define(f"icmp eq i64 {position}, {queue.load(self.order.end)}")
        e.branch(e.define(f"or i1 {last}, {edge}"), end, on)
        e.place(end)
        busy = e.define(f"icmp ne i64 {queue.load(self.busy)}, 0")
        waited = e.define(f"load i1, ptr {self.waits}")
        first = e.define(f"icmp ugt i1 {busy}, {waited}")
        e.line(f"store i1 {first}, ptr {self.waits}")
        e.branch(first, wait, on)
        e.place(wait)
        e.jump(none)
        e.place(on)

    def _sample_at(self, where: str, position: str) -> str:
        """The sample that stands at a position: the map says so, if there is one."""
        e = self.emitter
        look, found, before = e.label("look"), e.label("found"), e.here
        e.branch(e.define(f"icmp ne ptr {where}, null"), look, found)
        e.place(look)
        there = e.define(f"load i64, ptr {self._lane(where, position)}")
        e.jump(found)
        e.place(found)
        return e.phi("i64", (position, before), (there, look))

    def _least_left(self) -> str:
        """Steps until the first sample meets the cap."""
        e = self.emitter
        kind, suffix = e.shape.vector("i64"), e.shape.suffix("i64")
        least, *rest = self._started()
        for other in rest:
            least = e.define(f"call {kind} @llvm.smin.{suffix}({kind} {least}, {kind} {other})")
        if e.shape.width > 1:
            least = e.define(f"call i64 @llvm.vector.reduce.smin.{suffix}({kind} {least})")
        taken = e.define(f"sub i64 {self.queue.load(self.tick)}, {least}")
        return e.define(f"sub i64 {self.steps}, {taken}")

    def _started(self) -> Names:
        """The ticks at which the samples of all lanes came."""
        e = self.emitter
        kind, width = e.shape.vector("i64"), e.shape.width
        starts = [self._lane(self.starts, chain * width) for chain in range(e.shape.chains)]
        return tuple(e.define(f"load {kind}, ptr {start}, align 8") for start in starts)

    # -- while the group advances ----------------------------------------------------------------

    def _idle(self, live: Names, taken: str, total: str) -> str:
        """One bool: does anybody go on, and is it too early for an exchange?

        It is time when idle lanes have cost as much as an exchange does. Those that stopped in the
        block are idle from now on.
        """
        e, queue = self.emitter, self.queue
        now, before = e.number_of(live), queue.load(self.live)
        note, on = e.label("note"), e.label("on")
        gone = e.define(f"and i64 {before}, {e.define(f'xor i64 {now}, -1')}")
        e.branch(e.define(f"icmp eq i64 {gone}, 0"), on, note)
        e.place(note)
        tick = e.define(f"add i64 {queue.load(self.tick)}, {total}")
        head = e.begin_loop([("i64", gone)])  # no function: a call would spill all vectors
        (rest,) = head.phis
        lane = e.define(f"call i64 @llvm.cttz.i64(i64 {rest}, i1 true)")
        e.line(f"store i64 {tick}, ptr {self._lane(self.ends, lane)}")
        rest = e.define(f"and i64 {rest}, {e.define(f'sub i64 {rest}, 1')}")
        e.end_loop(head, e.define(f"icmp ne i64 {rest}, 0"), [rest])
        e.line(f"store i64 {now}, ptr {self.live}")
        e.jump(on)
        e.place(on)
        waited = e.define(f"mul i64 {self._idle_lanes(before)}, {taken}")
        left = e.define(f"sub i64 {queue.load(self.left)}, {waited}")
        e.line(f"store i64 {left}, ptr {self.left}")
        some = e.define(f"icmp ne i64 {now}, 0")
        due = e.define(f"mul i64 {self._idle_lanes(now)}, {self.entry.variant.unroll}")
        return e.define(f"and i1 {some}, {e.define(f'icmp sge i64 {left}, {due}')}")

    def _idle_lanes(self, live: str) -> str:
        """How many lanes do not go on."""
        e = self.emitter
        many = e.define(f"call i64 @llvm.ctpop.i64(i64 {live})")
        return e.define(f"sub i64 {self.lanes}, {many}")

    def _patience(self) -> str:
        """Steps that those who go on may take until it is time for an exchange."""
        e, queue = self.emitter, self.queue
        idle = self._idle_lanes(queue.load(self.live))
        some = e.define(f"call i64 @llvm.umax.i64(i64 {idle}, i64 1)")
        steps = e.define(f"udiv i64 {queue.load(self.left)}, {some}")
        return e.define(f"select i1 {e.define(f'icmp eq i64 {idle}, 0')}, i64 {NEVER}, i64 {steps}")

    # -- samples that go -------------------------------------------------------------------------

    def _give_back(self, outcome: Outcome, leave: str) -> None:
        """Store samples that are done or at the cap, all of them when it is time."""
        e, queue, entry = self.emitter, self.queue, self.entry
        memory = self.memory
        assert entry.mask is not None
        tick = queue.load(self.tick)
        queue.count(outcome.finished, "0")
        (done,) = memory.load_bits(memory.scratch[entry.mask])
        over = entry.watch.over()
        ended = e.define(f"or i64 {e.number_of(done)}, {e.number_of(self._at_the_cap(tick))}")
        busy = queue.load(self.busy)
        wanted = e.define(f"select i1 {over}, i64 -1, i64 {ended}")
        gone = e.define(f"and i64 {busy}, {wanted}")
        going = e.define(f"xor i64 {gone}, -1")
        e.line(f"store i64 {e.define(f'and i64 {busy}, {going}')}, ptr {self.busy}")
        entry.watch.count(str(max(1, WORK // work_of(entry.fn))))
        all_done, one_by_one = e.label("alldone"), e.label("apart")
        some, stored = e.label("some"), e.label("stored")
        through = e.define(f"icmp eq i64 {e.number_of(done)}, {self.all}")
        full = e.define(f"icmp eq i64 {busy}, {self.all}")
        gone_by_now = e.define(f"icmp eq i64 {queue.load(self.live)}, 0")
        noted = e.define(f"and i1 {full}, {gone_by_now}")
        e.branch(e.define(f"and i1 {through}, {noted}"), all_done, one_by_one)
        e.place(all_done)
        self._give_all(tick)
        e.jump(stored)
        e.place(one_by_one)
        e.branch(e.define(f"icmp ne i64 {gone}, 0"), some, stored)
        e.place(some)
        head = e.begin_loop([("i64", gone)])
        (rest,) = head.phis
        lane = e.define(f"call i64 @llvm.cttz.i64(i64 {rest}, i1 true)")
        self._give(lane, e.define(f"lshr i64 {ended}, {lane}"), tick)
        rest = e.define(f"and i64 {rest}, {e.define(f'sub i64 {rest}, 1')}")
        e.end_loop(head, e.define(f"icmp ne i64 {rest}, 0"), [rest])
        e.jump(stored)
        e.place(stored)
        late, on = e.label("late"), e.label("on")
        e.branch(over, late, on)
        e.place(late)
        if self.order is not None:
            self.order.leave()
        queue.leave_row(*(queue.load(at) for at in (queue.next, queue.high, queue.before)))
        e.jump(leave)
        e.place(on)

    def _at_the_cap(self, tick: str) -> Names:
        e = self.emitter
        kind = e.shape.vector("i64")
        now, most = e.spread(tick, "i64"), e.spread(self.steps, "i64")
        taken = [e.define(f"sub {kind} {now}, {start}") for start in self._started()]
        return tuple(e.define(f"icmp sge {kind} {each}, {most}") for each in taken)

    def _give_all(self, tick: str) -> None:
        """Store the samples of all lanes, each of which stopped by itself."""
        e, entry = self.emitter, self.entry
        for plane in entry.stored:
            self.memory.give(plane, str(self.lanes))
        kind, suffix, width = e.shape.vector("i64"), e.shape.suffix("i64"), e.shape.width
        most, never = "", e.splat(str(NEVER), DType.I64)
        for chain, came in enumerate(self._started()):
            stopped = e.define(f"load {kind}, ptr {self._lane(self.ends, chain * width)}, align 8")
            taken = e.define(f"sub {kind} {stopped}, {came}")
            both = f"{kind} {most}, {kind} {taken}"
            most = e.define(f"call {kind} @llvm.smax.{suffix}({both})") if chain else taken
            there = self._lane(self.starts, chain * width)
            e.line(f"store {kind} {never}, ptr {there}, align 8")
        if width > 1:
            most = e.define(f"call i64 @llvm.vector.reduce.smax.{suffix}({kind} {most})")
        self.queue.count("0", most)

    def _give(self, lane: str, ended: str, tick: str) -> None:
        """Store the sample of a lane, which is free then. Bit 0 of `ended`: it is through."""
        e, queue, entry = self.emitter, self.queue, self.entry
        memory = self.memory
        assert entry.mask is not None
        sample = queue.load(self._lane(memory.places, lane))
        for plane in entry.stored:
            self._copy(plane, (memory.scratch[plane], lane), (memory.address[plane], sample))
        came = queue.load(self._lane(self.starts, lane))
        bit = e.define(f"lshr i64 {queue.load(self.live)}, {lane}")
        lives = e.define(f"trunc i64 {bit} to i1")
        stopped = queue.load(self._lane(self.ends, lane))
        until = e.define(f"select i1 {lives}, i64 {tick}, i64 {stopped}")
        taken = e.define(f"sub i64 {until}, {came}")
        queue.count("0", taken)
        position = queue.load(self._lane(self.positions, lane))
        if self.order is not None:
            done = memory.at(entry.mask, memory.scratch[entry.mask], lane)
            self.order.settle(position, e.define(f"load i8, ptr {done}"))
        behind = e.define(f"add i64 {position}, 1")
        through = e.define(f"trunc i64 {ended} to i1")
        low = e.define(f"select i1 {through}, i64 {behind}, i64 {position}")
        queue.leave_row(low, behind, taken)
        e.line(f"store i64 {NEVER}, ptr {self._lane(self.starts, lane)}")
        e.line(f"store i8 1, ptr {memory.at(entry.mask, memory.scratch[entry.mask], lane)}")

    # -- memory ----------------------------------------------------------------------------------

    def _lane(self, rows: str, lane: str | int) -> str:
        return self.emitter.define(f"getelementptr i64, ptr {rows}, i64 {lane}")

    def _copy(self, plane: Plane, source: tuple[str, str], target: tuple[str, str]) -> None:
        """Copy one element; each is the address of an array and a number."""
        e, memory = self.emitter, self.memory
        kind = bits_of(plane)
        value = e.define(f"load {kind}, ptr {memory.at(plane, *source)}")
        e.line(f"store {kind} {value}, ptr {memory.at(plane, *target)}")
