"""The loop over steps: a group's state in registers, each sample until it is done.

Three ways, chosen by what the kernel and the machine are:

* `free`: no sample ever stops, so every step is plain.
* `masked`: each step keeps what a finished sample holds. With mask registers that is free.
* `chunked`: without mask registers a choice at every step costs three times the work. So a chunk
  of steps runs as if no sample stopped; if one did, the chunk is done again, masked.
"""

from __future__ import annotations

from dataclasses import dataclass

from hawk.ir.nodes import Const, Function, Plane, Role, Statement, Value
from hawk.ir.ops import OPS
from hawk.ir.types import DType
from hawk.targets.cpu.stopping import Monotone
from hawk.targets.llvm import Emitter, LoopHead, Names, literal, zero
from hawk.targets.shape import LLVM_TYPES

FAR = 2.0**40
"""More steps than this are never expected at once."""

MARGIN = 1.0 - 2.0**-9
"""Share of the expected steps that are run plainly: sums of rounded numbers drift."""


@dataclass(frozen=True, slots=True)
class Stepped:
    """A group between steps: what its planes hold and which samples go on."""

    state: tuple[Names, ...]
    """One entry for each of `Steps.kept`."""
    live: Names


class Steps:
    """Writes the steps of one group."""

    def __init__(self, emitter: Emitter, fn: Function, *, block: int, unroll: int) -> None:
        self.emitter = emitter
        self.fn = fn
        self.block, self.unroll = block, unroll
        stores = dict(fn.stores)
        mask = next((plane for plane in fn.planes if plane.role is Role.MASK), None)
        self.stop = stores[mask.name] if mask else None
        self.kept: tuple[Plane, ...] = tuple(
            plane
            for plane in fn.planes
            if plane.name in stores and plane is not mask and stores[plane.name] is not plane.read
        )
        self.ends = tuple(stores[plane.name] for plane in self.kept)
        # An output has no value to read, but is carried like a state.
        self.values = tuple(
            plane.read if plane.role is Role.STATE and plane.read else Value(plane.dtype)
            for plane in self.kept
        )
        emitter.varying.update(self.values)

    # -- one step --------------------------------------------------------------------------------

    def step(
        self, state: tuple[Names, ...], statements: tuple[Statement, ...]
    ) -> tuple[Names, ...]:
        """Write one step from `state` and return the state after it."""
        for value, names in zip(self.values, state, strict=True):
            self.emitter.bind(value, names)
        self.emitter.statements(statements)
        return tuple(self.emitter.lanes(end) for end in self.ends)

    # -- the three ways --------------------------------------------------------------------------

    def free(self, start: Stepped, count: str) -> Stepped:
        """`count` steps, none of which stops anybody."""
        e = self.emitter
        head = e.begin_loop([("i64", "0"), *self._carry(start.state)])
        with e.scope():
            after = self.step(self._carried(head.phis[1:]), self.fn.step)
            self._next_round(head, count, [name for _, name in self._carry(after)])
        return Stepped(after, start.live)

    def masked(
        self, start: Stepped, count: str, *, to_first_stop: bool = False
    ) -> tuple[Stepped, str]:
        """`count` steps in which a sample that stopped keeps what it holds.

        `to_first_stop`: or fewer, up to the first step in which one stops. Gives the group after
        and the steps taken.
        """
        e = self.emitter
        assert self.stop is not None
        chains = len(start.live)
        packed = [(e.carried_bits, name) for name in e.pack(start.live)]
        head = e.begin_loop([("i64", "0"), *packed, *self._carry(start.state)])
        with e.scope():
            live = e.unpack(head.phis[1 : 1 + chains])
            state = self._carried(head.phis[1 + chains :])
            e.mask = live
            after = self._keep(live, self.step(state, self.fn.step), state)
            stops = e.lanes(self.stop)
            going = e.combine("and", live, e.invert(stops))
            e.mask = None
            taken = e.define(f"add nuw i64 {head.phis[0]}, 1")
            again = e.define(f"icmp ult i64 {taken}, {count}")
            if to_first_stop:
                nobody = e.define(f"xor i1 {e.any(e.combine('and', live, stops))}, true")
                again = e.define(f"and i1 {again}, {nobody}")
            carried = [name for _, name in self._carry(after)]
            e.end_loop(head, again, [taken, *e.pack(going), *carried])
        return Stepped(after, going), taken

    def blocks(self, start: Stepped, steps: str) -> tuple[Stepped, str]:
        """Up to `steps` masked steps, in blocks, until no sample goes on.

        Gives the group after and the steps taken, counted in whole blocks.
        """
        head, now, left = self._begin_blocks(start, steps)
        count = self.emitter.define(f"call i64 @llvm.umin.i64(i64 {left}, i64 {self.block})")
        after, _ = self.masked(now, count)
        return self._end_blocks(head, after, steps, count)

    def chunks(self, start: Stepped, steps: str, stop: Monotone | None) -> tuple[Stepped, str]:
        """As `blocks`, but steps run plainly first, and again with masks if a sample stopped.

        Where the stop test stays true once it is, the plain steps go on for as long as no sample
        can be expected to stop, with one test at their end.
        """
        e = self.emitter
        trusted = self._trusted(stop) if stop else None
        head, now, left = self._begin_blocks(start, steps)
        careful = e.define(f"call i64 @llvm.umin.i64(i64 {left}, i64 {self.block})")
        plain = self._expected(now, left, stop) if stop else self._whole_block(left)
        rush, redo, keep = e.label("rush"), e.label("redo"), e.label("keep")
        restore, join = e.label("restore"), e.label("join")
        hurry = e.define(f"icmp ne i64 {plain}, 0")
        before = e.here
        e.branch(e.define(f"and i1 {hurry}, {trusted}") if trusted else hurry, rush, redo)
        e.place(rush)
        with e.scope():
            if stop:
                rushed, stopped = self._rush_to_last_test(now, plain, stop)
            else:
                rushed, stopped = self._rush(now, plain)
            rush = e.here
            e.branch(e.any(e.combine("and", stopped, now.live)), redo, keep)
            e.place(keep)
            going, kept = e.pack(now.live), self._carry(rushed)
            e.branch(e.any(e.invert(now.live)), restore, join)
            e.place(restore)
            # Samples that stopped earlier took part; they get back what they held.
            restored = self._carry(self._keep(now.live, rushed, now.state))
            e.jump(join)
        e.place(redo)
        count = e.phi("i64", (careful, before), (plain, rush))
        with e.scope():
            redone, count = self.masked(now, count, to_first_stop=True)
            packed, repeated, redo = e.pack(redone.live), self._carry(redone.state), e.here
            e.jump(join)
        e.place(join)
        count = e.phi("i64", (plain, keep), (plain, restore), (count, redo))
        live = tuple(
            e.phi(e.carried_bits, (a, keep), (a, restore), (b, redo))
            for a, b in zip(going, packed, strict=True)
        )
        flat = tuple(
            e.phi(kind, (a, keep), (b, restore), (c, redo))
            for (kind, a), (_, b), (_, c) in zip(kept, restored, repeated, strict=True)
        )
        after = Stepped(self._carried(flat), e.unpack(live))
        return self._end_blocks(head, after, steps, count)

    def _whole_block(self, left: str) -> str:
        """A block's steps, or 0 where fewer are left."""
        e = self.emitter
        whole = e.define(f"icmp uge i64 {left}, {self.block}")
        return e.define(f"select i1 {whole}, i64 {self.block}, i64 0")

    def _expected(self, now: Stepped, left: str, stop: Monotone) -> str:
        """Steps, at most `left`, before the first live sample can be expected to stop.

        A guess from the distance to the limit; only speed depends on it.
        """
        e = self.emitter
        dtype = stop.state.dtype
        element = LLVM_TYPES[dtype]
        kind = e.shape.vector(element)
        far, least = (
            (e.splat(literal(Const(dtype, number=number)), dtype),) * e.shape.chains
            for number in (FAR, 0.0)
        )
        reached = now.state[self.kept.index(stop.state)]
        ahead = self._arithmetic("fsub", e.lanes(stop.limit), reached, kind)
        stride, *factor = (e.lanes(value) for value in stop.increments)
        for other in factor:
            stride = self._arithmetic("fmul", stride, other, kind)
        steps = self._arithmetic("fdiv", ahead, stride, kind)
        if stop.subtracts:
            steps = tuple(e.define(f"fneg {kind} {name}") for name in steps)
        # Not a number, and limits already behind, count as 0.
        steps = e.choose(self._compare("gt", steps, least, dtype), steps, least, kind)
        steps = e.choose(self._compare("lt", steps, far, dtype), steps, far, kind)
        steps = e.choose(now.live, steps, far, kind)
        soonest = self._least(steps, kind, element)
        margin = literal(Const(dtype, number=MARGIN))
        soonest = e.define(f"fmul {element} {soonest}, {margin}")
        guess = e.define(f"fptosi {element} {soonest} to i64")
        guess = e.define(f"call i64 @llvm.umin.i64(i64 {guess}, i64 {left})")
        return e.define(f"and i64 {guess}, {-self.unroll}")

    def _least(self, names: Names, kind: str, element: str) -> str:
        """The least of all lanes; none is NaN."""
        e = self.emitter
        total, *rest = names
        for other in rest:
            smaller = e.define(f"fcmp olt {kind} {other}, {total}")
            total = e.define(f"select {e.bits} {smaller}, {kind} {other}, {kind} {total}")
        if e.shape.width == 1:
            return total
        suffix = e.shape.suffix(element)
        return e.define(f"call nnan {element} @llvm.vector.reduce.fmin.{suffix}({kind} {total})")

    def _begin_blocks(self, start: Stepped, steps: str) -> tuple[LoopHead, Stepped, str]:
        """Open the loop over blocks: the group at a block's start, steps left."""
        e = self.emitter
        chains = len(start.live)
        packed = [(e.carried_bits, name) for name in e.pack(start.live)]
        head = e.begin_loop([("i64", "0"), *packed, *self._carry(start.state)])
        now = Stepped(self._carried(head.phis[1 + chains :]), e.unpack(head.phis[1 : 1 + chains]))
        return head, now, e.define(f"sub i64 {steps}, {head.phis[0]}")

    def _end_blocks(
        self, head: LoopHead, after: Stepped, steps: str, count: str
    ) -> tuple[Stepped, str]:
        """Go on with the next block while steps are left and some sample goes on."""
        e = self.emitter
        total = e.define(f"add i64 {head.phis[0]}, {count}")
        more = e.define(f"icmp ult i64 {total}, {steps}")
        again = e.define(f"and i1 {more}, {e.any(after.live)}")
        carried = [*e.pack(after.live), *(name for _, name in self._carry(after.state))]
        e.end_loop(head, again, [total, *carried])
        return after, total

    def _rush(self, now: Stepped, count: str) -> tuple[tuple[Names, ...], Names]:
        """`count` plain steps, and which samples would have stopped in one of them."""
        e = self.emitter
        assert self.stop is not None
        chains = len(now.live)
        never = [(e.carried_bits, zero(e.carried_bits))] * chains
        head = e.begin_loop([("i64", "0"), *never, *self._carry(now.state)])
        seen, state = head.phis[1 : 1 + chains], self._carried(head.phis[1 + chains :])
        with e.scope():
            for _ in range(self.unroll):
                state = self.step(state, self.fn.step)
                pairs = zip(seen, e.pack(e.lanes(self.stop)), strict=True)
                seen = tuple(e.define(f"or {e.carried_bits} {a}, {b}") for a, b in pairs)
            carried = [*seen, *(name for _, name in self._carry(state))]
            self._next_round(head, count, carried, by=self.unroll)
        return state, e.unpack(seen)

    def _rush_to_last_test(
        self, now: Stepped, count: str, stop: Monotone
    ) -> tuple[tuple[Names, ...], Names]:
        """`count` plain steps; a test that stays true is made after the last."""
        e = self.emitter
        plain = tuple(item for item in self.fn.step if item is not stop.test)
        head = e.begin_loop([("i64", "0"), *self._carry(now.state)])
        state = self._carried(head.phis[1:])
        with e.scope():
            for _ in range(self.unroll):
                state = self.step(state, plain)
            self._next_round(head, count, [name for _, name in self._carry(state)], by=self.unroll)
        reached = state[self.kept.index(stop.state)]
        limit = e.lanes(stop.limit)
        return state, self._compare(stop.operation, reached, limit, stop.state.dtype)

    def _trusted(self, stop: Monotone) -> str:
        """One bool for the group: does every increment move the state the one way, and not far?"""
        e = self.emitter
        kind = stop.state.dtype
        good: Names | None = None
        for value in stop.increments:
            names = e.lanes(value)
            for operation, edge in stop.conditions:
                edges = (e.splat(literal(Const(kind, number=edge)), kind),) * len(names)
                holds = self._compare(operation, names, edges, kind)
                good = holds if good is None else e.combine("and", good, holds)
        assert good is not None
        wrong = e.any(e.invert(good))
        return e.define(f"xor i1 {wrong}, true")

    # -- bookkeeping -----------------------------------------------------------------------------

    def _compare(self, operation: str, left: Names, right: Names, dtype: DType) -> Names:
        e = self.emitter
        element = LLVM_TYPES[dtype]
        kind = e.shape.vector(element)
        template = OPS[operation].llvm["f"]
        return tuple(
            e.define(template.format(a, b, A=kind, R=e.bits, C=e.bits, M=e.shape.suffix(element)))
            for a, b in zip(left, right, strict=True)
        )

    def _arithmetic(self, operation: str, left: Names, right: Names, kind: str) -> Names:
        pairs = zip(left, right, strict=True)
        return tuple(self.emitter.define(f"{operation} {kind} {a}, {b}") for a, b in pairs)

    def _keep(
        self, live: Names, after: tuple[Names, ...], before: tuple[Names, ...]
    ) -> tuple[Names, ...]:
        rows = zip(self.values, after, before, strict=True)
        return tuple(
            self.emitter.choose(live, new, old, self.emitter.type_of(value))
            for value, new, old in rows
        )

    def _carry(self, state: tuple[Names, ...]) -> list[tuple[str, str]]:
        """The state as (LLVM type, name) pairs for a loop to carry."""
        e = self.emitter
        return [
            (e.carried_type(value), name)
            for value, names in zip(self.values, state, strict=True)
            for name in e.pack_value(value, names)
        ]

    def _carried(self, names: Names) -> tuple[Names, ...]:
        """The state from the names a loop carried."""
        self.emitter.unflatten(self.values, names)
        return tuple(self.emitter.names[value] for value in self.values)

    def _next_round(self, head: LoopHead, count: str, carried: list[str], by: int = 1) -> None:
        e = self.emitter
        following = e.define(f"add nuw i64 {head.phis[0]}, {by}")
        again = e.define(f"icmp ult i64 {following}, {count}")
        e.end_loop(head, again, [following, *carried])
