"""Samples in the order of the steps they are expected to take, the longest first.

Lanes whose samples stop at about the same time need no exchange on the way, and none of them is
idle. Where the stop test can be foreseen, the samples at hand are looked at in windows: if they
differ, a counting sort gives the order in which a group takes them. When it is time to go back to
Python, what is left of a window is told by the array again, so nobody else knows of the order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hawk.ir.nodes import Apply, Const, Function, Role, Value
from hawk.ir.ops import LOOKUPS
from hawk.ir.types import DType
from hawk.targets.cpu.foresight import FARTHEST, expected_steps
from hawk.targets.cpu.stopping import Monotone, monotone_stop
from hawk.targets.llvm import literal
from hawk.targets.shape import LLVM_TYPES

if TYPE_CHECKING:
    from hawk.targets.cpu.entries import Entry
    from hawk.targets.cpu.queue import Queue

WINDOW = 2048
"""Samples that are put in order together. So many of some planes are in the second-level cache, and
a group's share of them is within some steps of each other."""

LEAST_GROUPS = 4
"""With fewer groups at hand there is nothing to choose from."""

BUCKETS = 512
"""Samples whose expected steps differ by less than this share of the window's range count as equal.
"""

ALIKE = 0.875
"""Where the shortest takes at least this share of the longest the array's order is kept: groups
that stand side by side are not copied."""


def foreseen(fn: Function) -> tuple[Monotone, tuple[Apply, ...]] | None:
    """The stop test of `fn`, and what it needs to be computed of a sample before its first step.

    None where it cannot be foreseen, or where that takes more than arithmetic.
    """
    stop = monotone_stop(fn)
    if stop is None or stop.state.read is None:
        return None
    made = {value: item for item in fn.sample for value in item.results}
    varying = {plane.read for plane in fn.planes if plane.role is Role.INDEX}
    needed, stack = set[Value](), [stop.limit, *stop.increments]
    while stack:
        value = stack.pop()
        if isinstance(value, Const) or value in needed:
            continue
        if value in varying:
            return None
        needed.add(value)
        item = made.get(value)
        if item is None:
            continue
        if not isinstance(item, Apply) or item.op in LOOKUPS:
            return None
        stack += item.args
    items = [each for each in fn.sample if isinstance(each, Apply) and each.result in needed]
    return stop, tuple(items)


class Order:
    """Writes how the samples at hand are put in order. For a pool, whose queue it follows."""

    def __init__(
        self, entry: Entry, queue: Queue, stop: Monotone, items: tuple[Apply, ...]
    ) -> None:
        self.entry, self.queue, self.emitter = entry, queue, entry.emitter
        self.memory = entry.memory
        self.stop, self.items = stop, items
        e = self.emitter
        self.low, self.end, self.seen = (e.room("i64", 8) for _ in range(3))
        """The window is from `low` to `end`, if it is in order; `seen`: looked at so far."""
        self.samples = e.room(f"[{WINDOW} x i64]")
        self.expected = e.room(f"[{WINDOW} x float]")
        self.heads = e.room(f"[{BUCKETS} x i32]")
        self.settled = e.room(f"[{WINDOW} x i8]")
        """Is this sample of the window at the cap, or left as a row of its own?"""
        self.forget()

    def forget(self) -> None:
        """There are other samples at hand."""
        for address in (self.low, self.end, self.seen):
            self.emitter.line(f"store i64 0, ptr {address}")

    # -- a window ----------------------------------------------------------------------------------

    def look(self) -> None:
        """Put the samples at hand in order, if it is time for that and worth it."""
        e, queue, lanes = self.emitter, self.queue, self.emitter.shape.lanes
        look, differ, on = e.label("foresee"), e.label("differ"), e.label("ordered")
        low, high = queue.load(queue.next), queue.load(queue.high)
        many = e.define(f"sub i64 {high}, {low}")
        due = [
            e.define(f"icmp sge i64 {low}, {queue.load(self.seen)}"),
            e.define(f"icmp sge i64 {many}, {LEAST_GROUPS * lanes}"),
            e.define(f"icmp eq i64 {queue.load(queue.before)}, 0"),
            e.define(f"icmp eq ptr {self.memory.map}, null"),
        ]
        total = due[0]
        for other in due[1:]:
            total = e.define(f"and i1 {total}, {other}")
        e.branch(total, look, on)
        e.place(look)
        # Of the last at hand also those that make no whole group: the shortest make it then.
        count = e.define(f"call i64 @llvm.umin.i64(i64 {many}, i64 {WINDOW // lanes * lanes})")
        end = e.define(f"add i64 {low}, {count}")
        e.line(f"store i64 {end}, ptr {self.seen}")
        least, most = self._foresee(low, count)
        share = e.define(f"fmul float {most}, {ALIKE}")
        e.branch(e.define(f"fcmp olt float {least}, {share}"), differ, on)
        e.place(differ)
        e.line(f"store i64 {low}, ptr {self.low}")
        e.line(f"store i64 {end}, ptr {self.end}")
        rooms = f"ptr {self.samples}, ptr {self.expected}, ptr {self.heads}, ptr {self.settled}"
        e.line(f"call void @in_order({rooms}, i64 {low}, i64 {count}, float {least}, float {most})")
        e.jump(on)
        e.place(on)

    def _foresee(self, low: str, count: str) -> tuple[str, str]:
        """Write down the steps expected of each sample; the least and the most of them.

        All of the window is asked for meanwhile: in another order than the array's nobody else
        does.
        """
        e, entry, shape = self.emitter, self.entry, self.emitter.shape
        kind, width = shape.vector("float"), shape.width
        nought, far = (
            e.splat(literal(Const(DType.F32, number=number)), DType.F32)
            for number in (0.0, FARTHEST)
        )
        last = e.define(f"sub i64 {count}, {shape.lanes}")
        head = e.begin_loop([("i64", "0"), (kind, far), (kind, nought)])
        at, least, most = head.phis
        with e.scope():
            first = e.define(f"call i64 @llvm.umin.i64(i64 {at}, i64 {last})")
            base = e.define(f"add i64 {low}, {first}")
            where = {p: self.memory.at(p, self.memory.address[p], base) for p in self.memory.arrays}
            held = dict(e.names)
            for plane, there in where.items():
                if plane.read is not None:
                    e.bind(plane.read, self.memory.load(plane, there))
                self.memory.prefetch(plane, there)
            e.statements(self.items)
            read = self.stop.state.read
            assert read is not None
            steps = expected_steps(e, self.stop, e.lanes(read))
            assert entry.mask is not None
            (done,) = self.memory.load_bits(where[entry.mask])
            element = LLVM_TYPES[self.stop.state.dtype]
            for chain, (own, through) in enumerate(zip(steps, done, strict=True)):
                wide = f"fptrunc {shape.vector(element)} {own} to {kind}"
                name = e.define(wide) if element == "double" else own
                name = e.define(f"select {e.bits} {through}, {kind} {nought}, {kind} {name}")
                place = e.define(f"add i64 {first}, {chain * width}")
                target = e.define(f"getelementptr float, ptr {self.expected}, i64 {place}")
                e.line(f"store {kind} {name}, ptr {target}, align 4")
                less = e.define(f"fcmp olt {kind} {name}, {least}")
                least = e.define(f"select {e.bits} {less}, {kind} {name}, {kind} {least}")
                more = e.define(f"fcmp ogt {kind} {name}, {most}")
                most = e.define(f"select {e.bits} {more}, {kind} {name}, {kind} {most}")
            e.names.clear()
            e.names.update(held)
            following = e.define(f"add nuw i64 {at}, {shape.lanes}")
            again = e.define(f"icmp ult i64 {following}, {count}")
            e.end_loop(head, again, [following, least, most])
        if width == 1:
            return least, most
        suffix = shape.suffix("float")
        reduced = "call nnan float @llvm.vector.reduce"
        return (
            e.define(f"{reduced}.fmin.{suffix}({kind} {least})"),
            e.define(f"{reduced}.fmax.{suffix}({kind} {most})"),
        )

    # -- while samples are taken -------------------------------------------------------------------

    def is_next(self) -> str:
        """One bool: is the next sample at hand one of the window?"""
        queue = self.queue
        return self.emitter.define(f"icmp slt i64 {queue.load(queue.next)}, {queue.load(self.end)}")

    def map(self) -> str:
        """What the window's positions are looked up in."""
        e = self.emitter
        back = e.define(f"sub i64 0, {self.queue.load(self.low)}")
        return e.define(f"getelementptr i64, ptr {self.samples}, i64 {back}")

    def settle(self, sample: str, done: str) -> None:
        """Say that a sample has been told of, if it is one of the window and not `done`."""
        e, queue = self.emitter, self.queue
        low = queue.load(self.low)
        place = e.define(f"sub i64 {sample}, {low}")
        size = e.define(f"sub i64 {queue.load(self.end)}, {low}")
        mine, on = e.label("mine"), e.label("on")
        inside = e.define(f"icmp ult i64 {place}, {size}")
        goes_on = e.define(f"icmp eq i8 {done}, 0")
        e.branch(e.define(f"and i1 {inside}, {goes_on}"), mine, on)
        e.place(mine)
        there = e.define(f"getelementptr i8, ptr {self.settled}, i64 {place}")
        e.line(f"store i8 1, ptr {there}")
        e.jump(on)
        e.place(on)

    def leave(self) -> None:
        """Leave what nobody took of the window as rows, and go on behind it.

        Those that are done are among them: whoever takes a sample looks at that.
        """
        e, queue = self.emitter, self.queue
        rest, on = e.label("rest"), e.label("on")
        e.branch(self.is_next(), rest, on)
        e.place(rest)
        low, end = queue.load(self.low), queue.load(self.end)
        head = e.begin_loop([("i64", low), ("i64", low)])
        sample, begun = head.phis
        place = e.define(f"sub i64 {sample}, {low}")
        told = e.define(f"getelementptr i8, ptr {self.settled}, i64 {place}")
        gone = e.define(f"icmp ne i8 {e.define(f'load i8, ptr {told}')}, 0")
        until = e.define(f"select i1 {gone}, i64 {sample}, i64 {begun}")
        queue.leave_row(begun, until, "0")
        following = e.define(f"add i64 {sample}, 1")
        begun = e.define(f"select i1 {gone}, i64 {following}, i64 {begun}")
        e.end_loop(head, e.define(f"icmp slt i64 {following}, {end}"), [following, begun])
        queue.leave_row(begun, end, "0")
        e.line(f"store i64 {end}, ptr {queue.next}")
        e.jump(on)
        e.place(on)


IN_ORDER = f"""define internal void @in_order(ptr %samples, ptr %expected, ptr %heads,
  ptr %settled, i64 %low, i64 %count, float %least, float %most) nounwind {{
entry:
  %range = fsub float %most, %least
  %scale = fdiv float {BUCKETS - 1}.0, %range
  br label %clear
clear:
  %b = phi i64 [ 0, %entry ], [ %b.next, %clear ]
  %b.head = getelementptr i32, ptr %heads, i64 %b
  store <8 x i32> zeroinitializer, ptr %b.head, align 4
  %b.next = add nuw i64 %b, 8
  %b.more = icmp ult i64 %b.next, {BUCKETS}
  br i1 %b.more, label %clear, label %keys.first
keys.first:
  %most.one = insertelement <8 x float> poison, float %most, i32 0
  %mosts = shufflevector <8 x float> %most.one, <8 x float> poison, <8 x i32> zeroinitializer
  %scale.one = insertelement <8 x float> poison, float %scale, i32 0
  %scales = shufflevector <8 x float> %scale.one, <8 x float> poison, <8 x i32> zeroinitializer
  br label %keys
keys:
  %e = phi i64 [ 0, %keys.first ], [ %e.next, %keys ]
  %e.at = getelementptr float, ptr %expected, i64 %e
  %steps = load <8 x float>, ptr %e.at, align 4
  %behind = fsub <8 x float> %mosts, %steps
  %scaled = fmul <8 x float> %behind, %scales
  %e.keys = fptosi <8 x float> %scaled to <8 x i32>
  store <8 x i32> %e.keys, ptr %e.at, align 4
  %e.mark = getelementptr i8, ptr %settled, i64 %e
  store <8 x i8> zeroinitializer, ptr %e.mark, align 1
  %e.next = add nuw i64 %e, 8
  %e.more = icmp ult i64 %e.next, %count
  br i1 %e.more, label %keys, label %tally
tally:
  %i = phi i64 [ 0, %keys ], [ %i.next, %tally ]
  %i.at = getelementptr i32, ptr %expected, i64 %i
  %key = load i32, ptr %i.at
  %key.wide = zext i32 %key to i64
  %i.head = getelementptr i32, ptr %heads, i64 %key.wide
  %so.far = load i32, ptr %i.head
  %one.more = add i32 %so.far, 1
  store i32 %one.more, ptr %i.head
  %i.next = add nuw i64 %i, 1
  %i.more = icmp ult i64 %i.next, %count
  br i1 %i.more, label %tally, label %sum
sum:
  %h = phi i64 [ 0, %tally ], [ %h.next, %sum ]
  %before = phi i32 [ 0, %tally ], [ %total, %sum ]
  %h.head = getelementptr i32, ptr %heads, i64 %h
  %own = load i32, ptr %h.head
  store i32 %before, ptr %h.head
  %total = add i32 %before, %own
  %h.next = add nuw i64 %h, 1
  %h.more = icmp ult i64 %h.next, {BUCKETS}
  br i1 %h.more, label %sum, label %deal
deal:
  %k = phi i64 [ 0, %sum ], [ %k.next, %deal ]
  %k.at = getelementptr i32, ptr %expected, i64 %k
  %bucket = load i32, ptr %k.at
  %bucket.wide = zext i32 %bucket to i64
  %k.head = getelementptr i32, ptr %heads, i64 %bucket.wide
  %place = load i32, ptr %k.head
  %place.next = add i32 %place, 1
  store i32 %place.next, ptr %k.head
  %place.wide = zext i32 %place to i64
  %target = getelementptr i64, ptr %samples, i64 %place.wide
  %sample = add i64 %low, %k
  store i64 %sample, ptr %target
  %k.next = add nuw i64 %k, 1
  %k.more = icmp ult i64 %k.next, %count
  br i1 %k.more, label %deal, label %done
done:
  ret void
}}"""
"""A counting sort of the window, the most steps first. `expected` holds the buckets afterwards."""
