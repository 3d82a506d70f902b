"""Steps without masks, until a sample may have stopped; then again with masks.

The steps run plainly from a state that is kept; afterwards the stop tests are looked at, and if a
live sample stopped on the way, the steps are done again with masks up to the first that stopped
one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hawk.ir.nodes import Const, Value
from hawk.targets.cpu.foresight import FARTHEST, compare, expected_steps
from hawk.targets.cpu.steps import LONGEST_FLIGHT, Stepped, Steps
from hawk.targets.cpu.stopping import Monotone
from hawk.targets.llvm import LoopHead, Names, literal, zero
from hawk.targets.shape import LLVM_TYPES


class Rush:
    """Writes the steps of one group this way."""

    def __init__(self, steps: Steps) -> None:
        self.steps = steps
        self.emitter = steps.emitter
        self.variant = steps.variant
        self.copies: list[dict[Value, Names]] = []
        """For each step that is written one after the other, where it finds what is fixed."""

    def run(self, start: Stepped, steps: str, stop: Monotone | None) -> tuple[Stepped, str]:
        """As `blocks`, but steps run plainly first, and again with masks if a sample stopped.

        Where the stop test stays true once it is, the plain steps go on for as long as no sample
        can be expected to stop, with one test at their end.
        """
        e = self.emitter
        trusted = self._trusted(stop) if stop else None
        self.copies = [self._put_aside() for _ in range(self.variant.unroll)]
        flights = self._flights(start, stop) if stop else ()
        head, now, left = self.steps.begin_blocks(start, steps)
        careful = e.define(f"call i64 @llvm.umin.i64(i64 {left}, i64 {self.variant.block})")
        if stop:
            plain = self._expected(now, flights, head.phis[0], left, stop)
        else:
            plain = self._whole_block(left)
        rush, redo, keep = e.label("rush"), e.label("redo"), e.label("keep")
        restore, rushed_all, join = e.label("restore"), e.label("rushed"), e.label("join")
        hurry = e.define(f"icmp ne i64 {plain}, 0")
        before, was = e.here, self.steps.carry(now.state)
        e.branch(e.define(f"and i1 {hurry}, {trusted}") if trusted else hurry, rush, redo)
        e.place(rush)
        with e.scope():
            if stop:
                rushed, stopped = self._rush_to_last_test(now, plain, stop)
            else:
                rushed, stopped = self._rush(now, plain)
            failed = e.here
            e.branch(e.any(e.combine("and", stopped, now.live)), redo, keep)
            e.place(keep)
            kept = self.steps.carry(rushed)
            e.branch(e.any(e.invert(now.live)), restore, rushed_all)
            e.place(restore)
            # Samples that stopped earlier took part; they get back what they held.
            restored = self.steps.carry(self.steps.keep(now.live, rushed, now.state))
            e.jump(rushed_all)
            e.place(rushed_all)
            held = self._merged((keep, kept), (restore, restored))
            rest = ""
            if stop:  # the first to stop is expected right after these steps
                rest = e.define(f"sub i64 {left}, {plain}")
                rest = e.define(f"call i64 @llvm.umin.i64(i64 {rest}, i64 {self.variant.block})")
                e.branch(e.define(f"icmp ne i64 {rest}, 0"), redo, join)
            else:
                e.jump(join)
        e.place(redo)
        ways = [(before, was), (failed, was), *([(rushed_all, held)] if stop else [])]
        merged = self._merged(*ways)
        counts, skips = [(careful, before), (plain, failed)], [("0", before), ("0", failed)]
        if stop:
            counts.append((rest, rushed_all))
            skips.append((plain, rushed_all))
        count, skipped = e.phi("i64", *counts), e.phi("i64", *skips)
        begin = Stepped(self._state(merged), now.live)
        with e.scope():
            alone = self._are_apart(now, flights, head.phis[0], skipped, stop) if stop else "true"
            redone, count = self.steps.masked_block(begin, count, alone=alone)
            count = e.define(f"add i64 {skipped}, {count}")
            packed, repeated, redo = e.pack(redone.live), self.steps.carry(redone.state), e.here
            e.jump(join)
        e.place(join)
        flat = self._merged((rushed_all, held), (redo, repeated))
        going = self.steps.packed_live(head)
        live = tuple(
            e.phi(e.carried_bits, (a, rushed_all), (b, redo))
            for a, b in zip(going, packed, strict=True)
        )
        count = e.phi("i64", (plain, rushed_all), (count, redo))
        after = Stepped(self._state(flat), e.unpack(live))
        return self.steps.end_blocks(head, after, steps, count)

    def _merged(self, *ways: tuple[str, list[tuple[str, str]]]) -> list[tuple[str, str]]:
        """What is carried, as it comes from several places; each a label and what it is there."""
        kinds = [kind for kind, _ in ways[0][1]]
        return [
            (kind, self.emitter.phi(kind, *((carried[place][1], at) for at, carried in ways)))
            for place, kind in enumerate(kinds)
        ]

    def _state(self, carried: list[tuple[str, str]]) -> tuple[Names, ...]:
        return self.steps.carried(tuple(name for _, name in carried))

    def _whole_block(self, left: str) -> str:
        """A block's steps, or 0 where fewer are left."""
        e = self.emitter
        whole = e.define(f"icmp uge i64 {left}, {self.variant.block}")
        return e.define(f"select i1 {whole}, i64 {self.variant.block}, i64 0")

    def _flights(self, start: Stepped, stop: Monotone) -> Names:
        """Where it is kept how many steps each sample can be expected to take: one a chain."""
        e = self.emitter
        kind = e.shape.vector(LLVM_TYPES[stop.state.dtype])
        expected = expected_steps(e, stop, start.state[self.steps.kept.index(stop.state)])
        kept = tuple(e.room(kind) for _ in expected)
        for name, address in zip(expected, kept, strict=True):
            e.line(f"store {kind} {name}, ptr {address}")
        return kept

    def _expected(self, now: Stepped, flights: Names, taken: str, left: str, stop: Monotone) -> str:
        """Steps, at most `left`, before the first live sample can be expected to stop."""
        e = self.emitter
        dtype = stop.state.dtype
        element = LLVM_TYPES[dtype]
        kind = e.shape.vector(element)
        far = (e.splat(literal(Const(dtype, number=FARTHEST)), dtype),) * e.shape.chains
        steps = tuple(e.define(f"load {kind}, ptr {address}") for address in flights)
        soonest = self._least(e.choose(now.live, steps, far, kind), kind, element)
        before = e.define(f"uitofp i64 {taken} to {element}")
        more = e.define(f"fsub {element} {soonest}, {before}")
        guess = e.define(f"fptosi {element} {more} to i64")
        guess = e.define(f"call i64 @llvm.smax.i64(i64 {guess}, i64 0)")
        guess = e.define(f"call i64 @llvm.umin.i64(i64 {guess}, i64 {LONGEST_FLIGHT})")
        guess = e.define(f"call i64 @llvm.umin.i64(i64 {guess}, i64 {left})")
        if self.steps.patience is not None:  # what stopped is not to wait for long
            guess = e.define(f"call i64 @llvm.umin.i64(i64 {guess}, i64 {self.steps.patience()})")
        return e.define(f"and i64 {guess}, {-self.variant.unroll}")

    def _are_apart(
        self, now: Stepped, flights: Names, taken: str, plain: str, stop: Monotone
    ) -> str:
        """One bool: is at most one live sample expected to stop soon after the plain steps?

        Where several are, a flight between two of them would be too short to pay.
        """
        e = self.emitter
        dtype = stop.state.dtype
        element = LLVM_TYPES[dtype]
        kind = e.shape.vector(element)
        soon = e.define(f"add i64 {taken}, {e.define(f'add i64 {plain}, {self.variant.block}')}")
        bound = (e.spread(e.define(f"uitofp i64 {soon} to {element}"), element),)
        steps = tuple(e.define(f"load {kind}, ptr {address}") for address in flights)
        sooner = compare(e, "lt", steps, bound * len(steps), dtype)
        many = e.count(e.combine("and", now.live, sooner))
        return e.define(f"icmp ult i64 {many}, 2")

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

    def _rush(self, now: Stepped, count: str) -> tuple[tuple[Names, ...], Names]:
        """`count` plain steps, and which samples would have stopped in one of them."""
        e = self.emitter
        assert self.steps.stop is not None
        chains = len(now.live)
        never = [(e.carried_bits, zero(e.carried_bits))] * chains
        head = e.begin_loop([("i64", "0"), *never, *self.steps.carry(now.state)])
        seen, state = head.phis[1 : 1 + chains], self.steps.carried(head.phis[1 + chains :])
        with e.scope():
            for _ in range(self.variant.unroll):
                state = self.steps.step(state, self.steps.fn.step)
                pairs = zip(seen, e.pack(e.lanes(self.steps.stop)), strict=True)
                seen = tuple(e.define(f"or {e.carried_bits} {a}, {b}") for a, b in pairs)
            carried = [*seen, *(name for _, name in self.steps.carry(state))]
            self._next_round(head, count, carried, by=self.variant.unroll)
        return state, e.unpack(seen)

    def _rush_to_last_test(
        self, now: Stepped, count: str, stop: Monotone
    ) -> tuple[tuple[Names, ...], Names]:
        """`count` plain steps; a test that stays true is made after the last."""
        e = self.emitter
        plain = tuple(item for item in self.steps.fn.step if item is not stop.test)
        head = e.begin_loop([("i64", "0"), *self.steps.carry(now.state)])
        state = self.steps.carried(head.phis[1:])
        with e.scope():
            for copy in self.copies:
                with self._taken_from(copy):
                    state = self.steps.step(state, plain)
            self._next_round(
                head, count, [name for _, name in self.steps.carry(state)], by=self.variant.unroll
            )
        reached = state[self.steps.kept.index(stop.state)]
        limit = e.lanes(stop.limit)
        return state, compare(e, stop.operation, reached, limit, stop.state.dtype)

    def _put_aside(self) -> dict[Value, Names]:
        """Store what is fixed for a sample on the stack: the addresses.

        Registers are for what changes. Each of the steps written one after the other reads its own
        copy, or the code generator would load once and spill a state to keep it.
        """
        e = self.emitter
        addresses: dict[Value, Names] = {}
        for value in self.steps.fixed:
            kind = e.type_of(value)
            addresses[value] = tuple(e.room(kind) for _ in e.names[value])
            for name, address in zip(e.names[value], addresses[value], strict=True):
                e.line(f"store {kind} {name}, ptr {address}")
        return addresses

    @contextmanager
    def _taken_from(self, copy: dict[Value, Names]) -> Iterator[None]:
        """Inside, the values in `copy` are read from there."""
        e = self.emitter
        held = {value: e.names[value] for value in copy}
        for value, addresses in copy.items():
            kind = e.type_of(value)
            e.bind(value, tuple(e.define(f"load {kind}, ptr {at}") for at in addresses))
        yield
        for value, names in held.items():
            e.bind(value, names)

    def _trusted(self, stop: Monotone) -> str:
        """One bool for the group: does every increment move the state the one way, and not far?"""
        e = self.emitter
        kind = stop.state.dtype
        good: Names | None = None
        for value in stop.increments:
            names = e.lanes(value)
            for operation, edge in stop.conditions:
                edges = (e.splat(literal(Const(kind, number=edge)), kind),) * len(names)
                holds = compare(e, operation, names, edges, kind)
                good = holds if good is None else e.combine("and", good, holds)
        assert good is not None
        wrong = e.any(e.invert(good))
        return e.define(f"xor i1 {wrong}, true")

    def _next_round(self, head: LoopHead, count: str, carried: list[str], by: int = 1) -> None:
        e = self.emitter
        following = e.define(f"add nuw i64 {head.phis[0]}, {by}")
        again = e.define(f"icmp ult i64 {following}, {count}")
        e.end_loop(head, again, [following, *carried])
