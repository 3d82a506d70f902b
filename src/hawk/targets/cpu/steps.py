"""The loop over steps: a group's state in registers, each sample until it is done.

Three ways, chosen by what the kernel and the machine are:

* `free`: no sample ever stops, so every step is plain.
* `masked`: each step keeps what a finished sample holds.
* `rushed` (see `rush`): steps run as if no sample stopped; if one did, they are done again, masked.
  Without mask registers a choice at every step costs three times the work, and with them the test
  at every step still doubles that of a short one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hawk.ir.nodes import Function, Plane, Role, Statement, Value, operands_of
from hawk.ir.types import DType
from hawk.targets.cpu.watch import Watch
from hawk.targets.cpu.width import Variant
from hawk.targets.llvm import Emitter, LoopHead, Names
from hawk.targets.stored import stop_of, stored_planes

LONGEST_FLIGHT = 4096
"""Plain steps that are taken in one go, before the clock is looked at."""


@dataclass(frozen=True, slots=True)
class Stepped:
    """A group between steps: what its planes hold and which samples go on."""

    state: tuple[Names, ...]
    """One entry for each of `Steps.kept`."""
    live: Names


def _fixed(fn: Function, varying: set[Value]) -> tuple[Value, ...]:
    """The numbers that differ from sample to sample but not from step to step."""
    known = {plane.read for plane in fn.planes if plane.role in (Role.INPUT, Role.INDEX)}
    known.update(result for item in fn.sample for result in item.results)
    used = (value for item in fn.step for value in operands_of(item))
    return tuple(
        dict.fromkeys(
            value
            for value in used
            if value in known and value in varying and value.dtype is not DType.BOOL
        )
    )


class Steps:
    """Writes the steps of one group. `loops`: may a step be given up in the middle of a loop?"""

    def __init__(
        self, emitter: Emitter, fn: Function, variant: Variant, watch: Watch, *, loops: bool
    ) -> None:
        self.emitter = emitter
        self.fn = fn
        self.variant = variant
        self.watch = watch
        self.loops = loops
        self.stop = stop_of(fn)
        self.kept: tuple[Plane, ...] = tuple(plane for plane, _ in stored_planes(fn))
        self.ends = tuple(end for _, end in stored_planes(fn))
        # An output has no value to read, but is carried like a state.
        self.values = tuple(
            plane.read if plane.role is Role.STATE and plane.read else Value(plane.dtype)
            for plane in self.kept
        )
        self.idle: Callable[[Names, str, str], str] | None = None
        """Given who goes on after a block, its steps and those of all blocks, writes one bool: do
        those that stopped wait for the others?"""
        self.patience: Callable[[], str] | None = None
        """Writes the most steps, an i64, that they would wait."""
        emitter.varying.update(self.values)
        self.fixed = _fixed(fn, emitter.varying) if variant.unroll > 1 else ()
        """What steps read and do not change, where steps are short."""

    # -- one step --------------------------------------------------------------------------------

    def step(
        self, state: tuple[Names, ...], statements: tuple[Statement, ...]
    ) -> tuple[Names, ...]:
        """Write one step from `state` and return the state after it."""
        for value, names in zip(self.values, state, strict=True):
            self.emitter.bind(value, names)
        self.emitter.statements(statements)
        return tuple(self.emitter.lanes(end) for end in self.ends)

    def once(self, start: Stepped) -> tuple[Stepped, str]:
        """The one step of a launch that has no other: the group after, steps taken."""
        e = self.emitter
        assert self.stop is not None
        e.mask = live = start.live
        after = self.step(start.state, self.fn.step)
        e.mask = None
        after = self.keep(live, after, start.state)
        live = e.combine("and", live, e.invert(e.lanes(self.stop)))
        self.watch.count("1")
        return Stepped(after, live), "1"

    # -- several steps ---------------------------------------------------------------------------

    def free(self, start: Stepped, steps: str) -> tuple[Stepped, str]:
        """Up to `steps` steps, none of which stops anybody: the group after, steps taken."""
        e = self.emitter
        blocks, now, left = self.begin_blocks(start, steps)
        longest = self.variant.block if self.loops else LONGEST_FLIGHT
        count = e.define(f"call i64 @llvm.umin.i64(i64 {left}, i64 {longest})")
        head = e.begin_loop([("i64", "0"), *self.carry(now.state)])
        with e.scope():
            state = self.carried(head.phis[1:])
            e.mask = now.live if self.loops else None
            after = self.step(state, self.fn.step)
            e.mask = None
            if self.loops:
                after = self.keep(self._not_given_up(now.live), after, state)
            taken, again = self._next(head.phis[0], count)
            e.end_loop(head, again, [taken, *(name for _, name in self.carry(after))])
        return self.end_blocks(blocks, Stepped(after, now.live), steps, taken)

    def masked(self, start: Stepped, steps: str) -> tuple[Stepped, str]:
        """Up to `steps` masked steps, in blocks, until no sample goes on.

        Gives the group after and the steps taken, counted in whole blocks.
        """
        blocks, now, left = self.begin_blocks(start, steps)
        count = self.emitter.define(
            f"call i64 @llvm.umin.i64(i64 {left}, i64 {self.variant.block})"
        )
        after, taken = self.masked_block(now, count)
        return self.end_blocks(blocks, after, steps, taken)

    def masked_block(
        self, start: Stepped, count: str, *, alone: str | None = None
    ) -> tuple[Stepped, str]:
        """`count` steps in which a sample that stopped keeps what it holds.

        `alone`, one bool: or fewer, up to the first step in which one stops; else up to that in
        which the last one does. Gives the group after and the steps taken.
        """
        e = self.emitter
        assert self.stop is not None
        chains = len(start.live)
        packed = [(e.carried_bits, name) for name in e.pack(start.live)]
        head = e.begin_loop([("i64", "0"), *packed, *self.carry(start.state)])
        with e.scope():
            live = e.unpack(head.phis[1 : 1 + chains])
            state = self.carried(head.phis[1 + chains :])
            e.mask = live
            after = self.step(state, self.fn.step)
            e.mask = None
            stepped = self._not_given_up(live) if self.loops else live
            after = self.keep(stepped, after, state)
            stopped = e.combine("and", stepped, e.lanes(self.stop))
            going = e.combine("and", live, e.invert(stopped))
            taken, again = self._next(head.phis[0], count)
            if alone is not None:
                first = e.define(f"and i1 {alone}, {e.any(stopped)}")
                nobody = e.define(f"xor i1 {first}, true")
                again = e.define(f"and i1 {again}, {e.define(f'and i1 {nobody}, {e.any(going)}')}")
            carried = [name for _, name in self.carry(after)]
            e.end_loop(head, again, [taken, *e.pack(going), *carried])
        return Stepped(after, going), taken

    def _not_given_up(self, live: Names) -> Names:
        """The samples of `live`, or none if the step was given up."""
        e = self.emitter
        whole = e.spread(e.define(f"xor i1 {self.watch.over()}, true"), "i1")
        return e.combine("and", live, (whole,) * len(live))

    def _next(self, number: str, count: str) -> tuple[str, str]:
        """Steps taken after step `number`, and whether to take another of `count`."""
        e = self.emitter
        if not self.loops:
            taken = e.define(f"add nuw i64 {number}, 1")
            return taken, e.define(f"icmp ult i64 {taken}, {count}")
        whole = e.define(f"xor i1 {self.watch.over()}, true")
        taken = e.define(f"add nuw i64 {number}, {e.define(f'zext i1 {whole} to i64')}")
        more = e.define(f"icmp ult i64 {taken}, {count}")
        return taken, e.define(f"and i1 {more}, {whole}")

    def begin_blocks(self, start: Stepped, steps: str) -> tuple[LoopHead, Stepped, str]:
        """Open the loop over blocks: the group at a block's start, steps left."""
        e = self.emitter
        chains = len(start.live)
        packed = [(e.carried_bits, name) for name in e.pack(start.live)]
        head = e.begin_loop([("i64", "0"), *packed, *self.carry(start.state)])
        now = Stepped(self.carried(head.phis[1 + chains :]), e.unpack(head.phis[1 : 1 + chains]))
        return head, now, e.define(f"sub i64 {steps}, {head.phis[0]}")

    def packed_live(self, head: LoopHead) -> Names:
        """Who goes on at a block's start, as loops carry it."""
        return head.phis[1 : 1 + self.emitter.shape.chains]

    def end_blocks(
        self, head: LoopHead, after: Stepped, steps: str, taken: str
    ) -> tuple[Stepped, str]:
        """Go on with the next block while steps, time and a sample that goes on are left."""
        e = self.emitter
        total = e.define(f"add i64 {head.phis[0]}, {taken}")
        carried = [*e.pack(after.live), *(name for _, name in self.carry(after.state))]
        more = e.define(f"icmp ult i64 {total}, {steps}")
        if self.stop is not None:
            wait = e.any(after.live) if self.idle is None else self.idle(after.live, taken, total)
            more = e.define(f"and i1 {more}, {wait}")
        self.watch.count(taken)
        again = e.define(f"xor i1 {self.watch.over()}, true")
        again = e.define(f"and i1 {more}, {again}")
        e.end_loop(head, again, [total, *carried])
        return after, total

    # -- what loops carry ------------------------------------------------------------------------

    def keep(
        self, live: Names, after: tuple[Names, ...], before: tuple[Names, ...]
    ) -> tuple[Names, ...]:
        """The state `after` for the live samples, the one `before` for the others."""
        rows = zip(self.values, after, before, strict=True)
        return tuple(
            self.emitter.choose(live, new, old, self.emitter.type_of(value))
            for value, new, old in rows
        )

    def carry(self, state: tuple[Names, ...]) -> list[tuple[str, str]]:
        """The state as (LLVM type, name) pairs for a loop to carry."""
        e = self.emitter
        return [
            (e.carried_type(value), name)
            for value, names in zip(self.values, state, strict=True)
            for name in e.pack_value(value, names)
        ]

    def carried(self, names: Names) -> tuple[Names, ...]:
        """The state from the names a loop carried."""
        self.emitter.unflatten(self.values, names)
        return tuple(self.emitter.names[value] for value in self.values)
