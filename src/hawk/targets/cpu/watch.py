"""Is it time to go back to Python? Looked at often enough for Ctrl-C, rarely enough to be free.

A launch goes back when its STOP word is set, or when it has run for longer than its WINDOW allows.
Samples then hold whole numbers of steps; what is left to do is written down by the entry. A step
that is in the middle of a loop when the time comes is given up: its sample keeps what it held.
"""

from __future__ import annotations

from hawk.targets.base import Word
from hawk.targets.cpu.machine import Machine
from hawk.targets.llvm import Emitter

WORK_BETWEEN_LOOKS = 40_000
"""Operations of one chain between two looks at the clock: some 30 microseconds."""

ROUNDS_BETWEEN_LOOKS = 256
"""Rounds of a loop inside a step between two looks. A power of two."""


class Watch:
    """Writes the looks. `begin` is written once, at the start of the entry."""

    def __init__(self, emitter: Emitter, machine: Machine, *, steps_between_looks: int) -> None:
        self.emitter = emitter
        self.steps_between_looks = steps_between_looks
        # AArch64's cycle counter may not be read by programs; its clock may.
        self.clock = "readcyclecounter" if machine.is_x86 else "readsteadycounter"
        self.flag = self.ticks = self.limit = self.stop = ""

    def begin(self) -> None:
        """Make room for the flag and start the clock."""
        e = self.emitter
        self.flag, self.ticks = e.define("alloca i1"), e.define("alloca i64")
        e.line(f"store i1 false, ptr {self.flag}")
        e.line(f"store i64 0, ptr {self.ticks}")
        self.stop = e.define(f"getelementptr i64, ptr %block, i64 {Word.STOP}")
        window = e.define(f"getelementptr i64, ptr %block, i64 {Word.WINDOW}")
        window = e.define(f"load i64, ptr {window}")
        now = e.define(f"call i64 @llvm.{self.clock}()")
        until = e.define(f"call i64 @llvm.uadd.sat.i64(i64 {now}, i64 {window})")
        endless = e.define(f"icmp eq i64 {window}, 0")
        self.limit = e.define(f"select i1 {endless}, i64 -1, i64 {until}")

    def over(self) -> str:
        """One bool: was it time at the last look?"""
        return self.emitter.define(f"load i1, ptr {self.flag}")

    def look(self) -> str:
        """Look at the stop word and the clock; one bool."""
        e = self.emitter
        word = e.define(f"load atomic i64, ptr {self.stop} monotonic, align 8")
        stopped = e.define(f"icmp ne i64 {word}, 0")
        now = e.define(f"call i64 @llvm.{self.clock}()")
        late = e.define(f"icmp ugt i64 {now}, {self.limit}")
        over = e.define(f"or i1 {stopped}, {late}")
        e.line(f"store i1 {over}, ptr {self.flag}")
        return over

    def count(self, steps: str) -> None:
        """Say that `steps` steps of a group were taken; look if it is due."""
        e = self.emitter
        ticks = e.define(f"load i64, ptr {self.ticks}")
        ticks = e.define(f"add i64 {ticks}, {steps}")
        e.line(f"store i64 {ticks}, ptr {self.ticks}")
        due = e.define(f"icmp uge i64 {ticks}, {self.steps_between_looks}")
        look, go_on = e.label("look"), e.label("on")
        e.branch(due, look, go_on)
        e.place(look)
        self.look()
        e.line(f"store i64 0, ptr {self.ticks}")
        e.jump(go_on)
        e.place(go_on)

    def round(self, number: str) -> str:
        """One bool: may a loop inside a step go round again after round `number`?"""
        e = self.emitter
        place = e.define(f"and i64 {number}, {ROUNDS_BETWEEN_LOOKS - 1}")
        due = e.define(f"icmp eq i64 {place}, {ROUNDS_BETWEEN_LOOKS - 1}")
        look, go_on, before = e.label("look"), e.label("on"), e.here
        e.branch(due, look, go_on)
        e.place(look)
        over = e.define(f"xor i1 {self.look()}, true")
        after = e.here
        e.jump(go_on)
        e.place(go_on)
        return e.phi("i1", ("true", before), (over, after))
