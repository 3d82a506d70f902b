"""Where the samples of a launch come from: rows that were left, then pieces that threads take."""

from __future__ import annotations

from dataclasses import dataclass

from hawk.targets.base import Word
from hawk.targets.cpu.watch import Watch
from hawk.targets.llvm import Emitter


@dataclass(frozen=True, slots=True)
class Group:
    """Samples that are advanced together."""

    base: str
    """The first, where they stand side by side."""
    held: str
    """How many they are."""
    apart: str
    """One bool: are they in the scratch group?"""
    steps: str
    """Most steps they may take."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a group."""

    finished: str
    """Samples that became done."""
    taken: str
    """Steps taken."""
    going: str
    """One bool: does a sample go on?"""


class Queue:
    """Writes how samples are taken, and how those that are left are written down.

    The span at hand, from `next` to `high`, is kept on the stack. `begin` is written once.
    """

    def __init__(self, emitter: Emitter, watch: Watch) -> None:
        self.emitter, self.watch = emitter, watch
        self.next = self.high = self.before = ""
        """Where it is kept: the first sample not begun, one past the last, and the steps that
        those at its start took before."""
        self.finished = self.longest = ""
        """The same for what is not in the block yet: samples that became done, most steps taken."""

    # -- the block -------------------------------------------------------------------------------

    def word(self, index: int, kind: str = "i64") -> str:
        """What a word of the block holds."""
        return self.emitter.define(f"load {kind}, ptr {self.address(index)}")

    def address(self, index: int) -> str:
        return self.emitter.define(f"getelementptr i64, ptr %block, i64 {index}")

    def atomic(self, operation: str, word: Word, operand: str) -> str:
        """Change a word that other threads change; what it held."""
        address = self.address(word)
        return self.emitter.define(f"atomicrmw {operation} ptr {address}, i64 {operand} monotonic")

    # -- samples ---------------------------------------------------------------------------------

    def begin(self) -> None:
        """Begin with no samples at hand."""
        e = self.emitter
        self.next, self.high, self.before = (e.room("i64", 8) for _ in range(3))
        self.finished, self.longest = e.room("i64", 8), e.room("i64", 8)
        for address in (self.next, self.high, self.before, self.finished, self.longest):
            e.line(f"store i64 0, ptr {address}")

    def load(self, address: str) -> str:
        return self.emitter.define(f"load i64, ptr {address}")

    def count(self, finished: str, longest: str) -> None:
        """Say that samples became done, and how many steps one took."""
        e = self.emitter
        total = e.define(f"add i64 {self.load(self.finished)}, {finished}")
        e.line(f"store i64 {total}, ptr {self.finished}")
        most = self.load(self.longest)
        most = e.define(f"call i64 @llvm.umax.i64(i64 {most}, i64 {longest})")
        e.line(f"store i64 {most}, ptr {self.longest}")

    def tell(self) -> None:
        """Add what was counted to the block."""
        self.atomic("add", Word.FINISHED, self.load(self.finished))
        self.atomic("max", Word.LONGEST, self.load(self.longest))
        self.emitter.line(f"store i64 0, ptr {self.finished}")

    def take(self, leave: str) -> None:
        """Take the next row, or else a piece; go to `leave` when it is time or none is left."""
        e = self.emitter
        self.tell()
        ask, row, fresh = e.label("ask"), e.label("row"), e.label("fresh")
        piece, taken = e.label("piece"), e.label("taken")
        e.branch(self.watch.over(), leave, ask)
        e.place(ask)
        number = self.atomic("add", Word.NEXT_ROW, "1")
        e.branch(e.define(f"icmp slt i64 {number}, {self.word(Word.ROW_COUNT)}"), row, fresh)
        e.place(row)
        rows = self.word(Word.ROWS, "ptr")
        for index, address in enumerate((self.next, self.high, self.before)):
            held = e.define(f"load i64, ptr {self._row_word(rows, number, index)}")
            e.line(f"store i64 {held}, ptr {address}")
        e.jump(taken)
        e.place(fresh)
        size, begin, end = (self.word(word) for word in (Word.PIECE, Word.BEGIN, Word.END))
        offset = self.atomic("add", Word.NEXT, size)
        low = e.define(f"add i64 {begin}, {offset}")
        e.branch(e.define(f"icmp slt i64 {low}, {end}"), piece, leave)
        e.place(piece)
        self.atomic("add", Word.TAKEN, "1")
        high = e.define(f"add i64 {low}, {size}")
        high = e.define(f"call i64 @llvm.smin.i64(i64 {high}, i64 {end})")
        for value, address in ((low, self.next), (high, self.high), ("0", self.before)):
            e.line(f"store i64 {value}, ptr {address}")
        e.jump(taken)
        e.place(taken)

    def leave_row(self, low: str, high: str, taken: str) -> None:
        """Write down that the samples from `low` to `high`, if any, are not through."""
        e = self.emitter
        write, on = e.label("write"), e.label("on")
        e.branch(e.define(f"icmp slt i64 {low}, {high}"), write, on)
        e.place(write)
        number = self.atomic("add", Word.LEFT_COUNT, "1")
        rows = self.word(Word.LEFT, "ptr")
        for index, held in enumerate((low, high, taken)):
            e.line(f"store i64 {held}, ptr {self._row_word(rows, number, index)}")
        e.jump(on)
        e.place(on)

    def _row_word(self, rows: str, number: str, index: int) -> str:
        """The address of one of the three words of a row."""
        e = self.emitter
        start = e.define(f"getelementptr [3 x i64], ptr {rows}, i64 {number}")
        return e.define(f"getelementptr i64, ptr {start}, i64 {index}")
