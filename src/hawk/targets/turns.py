"""A kernel for one thread of a GPU that takes the next sample when its own is done.

    round: who has none in hand takes the next one, and loads it; if it is done, it has none
           who has one takes one step of it
           who is through with it, or has made all its rounds, stores it

Threads of a warp run one instruction together. Where each goes through all steps of a sample in a
loop of its own, all wait for the longest of the 32; here there is one loop, so in each round all
take a step, whichever sample they are at, until there are no more samples to be had. No thread
leaves a round early, and before the step they wait for each other: since Volta, threads that took
different ways need not go on together by themselves. Those that ended are not waited for (CUDA C++
Programming Guide, `__syncwarp`).

A sample is through when it is done or has taken STEPS steps. Nobody knows which thread takes which,
but a sample's numbers depend on that sample alone. Rounds are counted, so a launch has an end, at
which a thread may be in the midst of its sample. It is stored like any other, after whole steps,
and the thread's hand says which it is and how many steps it took: that thread goes on with it.

The next sample comes from a counter in memory by one atomic addition of each thread, not of a warp
for all of its threads: that would need instructions of one make of GPUs, which say who else is
here, and saves one operation in memory for each sample, which takes loads and stores anyhow.
"""

from __future__ import annotations

from hawk.ir.nodes import ARRAYS, Role, Value, blocks_of, operands_of, walk
from hawk.targets.shape import LLVM_TYPES
from hawk.targets.stored import stop_of
from hawk.targets.thread import Entry
from hawk.targets.ways import GLOBAL, Words

NONE = "-1"


class Turns(Entry):
    """Writes one kernel whose threads take samples in turns."""

    def write(self) -> None:
        e = self.emitter
        self._planes()
        self._launch()
        e.statements(self.fn.launch)
        hand, before = self._hand()
        fuel = self._said(Words.FUEL)
        waiting, already = self._in_hand(hand, before)
        kept = [(value, LLVM_TYPES[value.dtype]) for value in self._kept()]
        counts = [("i64", first) for first in ("0", NONE, waiting, already, "0", "0")]
        head = e.begin_loop([*counts, *((kind, "poison") for _, kind in kept)])
        rounds, sample, waiting, steps, finished, longest, *numbers = head.phis
        made = e.define(f"add i64 {rounds}, 1")
        last = e.define(f"icmp uge i64 {made}, {fuel}")
        has, join, latch = e.here, e.label("join"), e.label("latch")

        taken, so_far, empty, skipped = self._take(sample, waiting, steps, join)
        with e.scope():
            self._open(taken)
            opened, loaded = e.here, [e.lanes(value)[0] for value, _ in kept]
            e.jump(join)

        # All come by here in each round.
        e.place(join)

        def joined(kind: str, had: str, got: str, none: str, over: str) -> str:
            done = [(over, skipped)] if skipped else []
            return e.phi(kind, (had, has), (got, opened), (none, empty), *done)

        current = joined("i64", sample, taken, NONE, NONE)
        used = joined("i64", steps, so_far, "0", "0")
        dry = joined("i1", "false", "false", "true", "false")
        for (value, kind), old, new in zip(kept, numbers, loaded, strict=True):
            e.bind(value, (joined(kind, old, new, old, old),))
        if self.dialect.together:
            e.line(self.dialect.together)
        step = e.label("step")
        e.branch(e.define(f"icmp sge i64 {current}, 0"), step, latch)

        e.place(step)
        with e.scope():
            e.statements(self.fn.step)
            now = e.define(f"add i64 {used}, 1")
            ends = {plane.read: e.lanes(end)[0] for plane, end in self.states}
            known = [e.names[value][0] for value, _ in kept]
            after = [ends.get(value, name) for (value, _), name in zip(kept, known, strict=True)]
            stepped = e.here
            left, ended = self._put(current, now, last, latch)
            total = e.define(f"add i64 {finished}, {ended}")
            longer = e.define(f"icmp ugt i64 {now}, {longest}")
            most = e.define(f"select i1 {longer}, i64 {now}, i64 {longest}")
            stored = e.here
            e.jump(latch)

        e.place(latch)
        rows = [
            ("i64", current, left, NONE),
            ("i64", now, now, "0"),
            ("i64", finished, total, finished),
            ("i64", longest, most, longest),
        ]
        for (_, kind), end, old in zip(kept, after, known, strict=True):
            rows.append((kind, end, end, old))
        following = [
            e.phi(kind, (one, stepped), (two, stored), (three, join))
            for kind, one, two, three in rows
        ]
        some = e.define(f"xor i1 {dry}, true")
        more = e.define(f"icmp ult i64 {made}, {fuel}")
        more = e.define(f"and i1 {more}, {some}")
        e.end_loop(head, more, [made, following[0], NONE, *following[1:]])
        self._leave(hand, before, *following[:4])

    def _kept(self) -> list[Value]:
        """What is known of a sample from round to round: what a step reads of what was loaded."""
        needed = {value for _, value in self.fn.stores}
        for statement in walk(self.fn.step):
            needed.update(operands_of(statement))
            for block in blocks_of(statement):
                needed.update(block.yields)
        loaded = [
            plane.read
            for plane in self.fn.planes
            if plane.read is not None and (plane.role in ARRAYS or plane.role is Role.INDEX)
        ]
        for statement in self.fn.sample:
            loaded += statement.results
        return [value for value in loaded if value in needed]

    def _hand(self) -> tuple[str, str]:
        """Where it stands in memory what a thread has in hand, and how many steps that took."""
        e = self.emitter
        thread, threads = self.dialect.place(e)
        hand = e.define(f"getelementptr i64, {GLOBAL} %hands, i64 {thread}")
        return hand, e.define(f"getelementptr i64, {GLOBAL} {hand}, i64 {threads}")

    def _in_hand(self, hand: str, before: str) -> tuple[str, str]:
        """The sample that this thread has in hand from the launch before, or NONE; its steps."""
        e = self.emitter
        begin, some, ready = e.here, e.label("some"), e.label("ready")
        e.branch(e.define(f"icmp ne i64 {self._said(Words.HELD)}, 0"), some, ready)
        e.place(some)
        sample = e.define(f"add i64 {e.define(f'load i64, {GLOBAL} {hand}')}, {NONE}")
        steps = e.define(f"load i64, {GLOBAL} {before}")
        e.jump(ready)
        e.place(ready)
        return e.phi("i64", (NONE, begin), (sample, some)), e.phi(
            "i64", ("0", begin), (steps, some)
        )

    def _take(self, sample: str, waiting: str, steps: str, join: str) -> tuple[str, str, str, str]:
        """Who has no sample takes one; goes on in a block of those who did, and it is not done.

        Gives the sample and its steps so far, the label of those who found none, and that of those
        who found one that is done, if there may be any.
        """
        e = self.emitter
        want, take, look = e.label("want"), e.label("take"), e.label("look")
        e.branch(e.define(f"icmp slt i64 {sample}, 0"), want, join)
        e.place(want)
        e.branch(e.define(f"icmp slt i64 {waiting}, 0"), take, look)
        e.place(take)
        following = self._atomic("add", Words.FOLLOWING, "1")
        e.branch(e.define(f"icmp slt i64 {following}, %n"), look, join)
        e.place(look)
        taken = e.phi("i64", (waiting, want), (following, take))
        so_far = e.phi("i64", (steps, want), ("0", take))
        if self.mask is None:
            return taken, so_far, take, ""
        done, going = self._load(self.mask, taken), e.label("open")
        skipped = e.here
        e.branch(done, join, going)
        e.place(going)
        return taken, so_far, take, skipped

    def _put(self, sample: str, now: str, last: str, latch: str) -> tuple[str, str]:
        """Who is through stores it, and who makes no more rounds; goes on in a block of those.

        Gives what is in hand afterwards, and how many samples became done by that, one or none.
        """
        e, stop, put = self.emitter, stop_of(self.fn), self.emitter.label("put")
        through = e.define(f"icmp uge i64 {now}, {self.steps}")
        if stop is not None:
            through = e.define(f"or i1 {through}, {e.lanes(stop)[0]}")
        e.branch(e.define(f"or i1 {through}, {last}"), put, latch)
        e.place(put)
        for plane, end in self.stored:
            self._store(plane, sample, e.lanes(end)[0])
        ended = "0"
        if self.mask is not None and stop is not None:
            self._store(self.mask, sample, e.lanes(stop)[0])
            ended = e.define(f"zext i1 {e.lanes(stop)[0]} to i64")
        return e.define(f"select i1 {through}, i64 {NONE}, i64 {sample}"), ended

    def _leave(
        self, hand: str, before: str, sample: str, steps: str, finished: str, longest: str
    ) -> None:
        """Keep what is in hand, and tell what was done: whole numbers, the same in any order."""
        e = self.emitter
        held = e.define(f"add i64 {sample}, 1")
        e.line(f"store i64 {held}, {GLOBAL} {hand}")
        e.line(f"store i64 {steps}, {GLOBAL} {before}")
        self._if(f"icmp ne i64 {held}, 0", ("add", Words.HOLDING, "1"))
        self._if(f"icmp ne i64 {finished}, 0", ("add", Words.FINISHED, finished))
        self._if(f"icmp ne i64 {longest}, 0", ("umax", Words.LONGEST, longest))
        e.line("ret void")

    def _if(self, test: str, change: tuple[str, Words, str]) -> None:
        e = self.emitter
        yes, no = e.label("yes"), e.label("no")
        e.branch(e.define(test), yes, no)
        e.place(yes)
        self._atomic(*change)
        e.jump(no)
        e.place(no)
