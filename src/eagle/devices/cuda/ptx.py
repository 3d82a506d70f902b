"""PTX of what a graph computes itself: cells, conditions, times, and how often something was.

These are a few instructions that one thread runs. What differs from one graph to the next are
addresses and handles, and those are parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, assert_never

from eagle.devices.cuda.driver import Argument
from eagle.devices.plan import (
    Cell,
    CellKind,
    Compare,
    Condition,
    Counter,
    Every,
    Not,
    Relation,
    Some,
    Spot,
)

NAME = "small"
_HEAD = """\
.version 8.0
.target sm_75
.address_size 64

"""
_SETTER = ".extern .func cudaGraphSetConditional (.param .b64 handle, .param .b32 value);\n\n"
_LOADS = {CellKind.BOOL: "u8", CellKind.I32: "s32", CellKind.U32: "u32", CellKind.I64: "s64"}
_RELATIONS = {each: each.name.lower() for each in Relation}

Word: TypeAlias = "int | Spot | Callable[[], int]"
"""A parameter: a number, a place in memory that may move, or what is looked up when it is asked."""


class Small:
    """A kernel of one thread on its way; registers are named by what they hold."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._words: list[Word] = []
        self._predicates = self._wide = self._narrow = 0
        self.sets = False

    @property
    def text(self) -> str:
        """The module. Equal work on other cells has equal text."""
        parameters = ",\n".join(f"  .param .u64 p{k}" for k in range(len(self._words)))
        registers = (("pred", "p", self._predicates), ("b64", "d", self._wide))
        declared = [
            f"  .reg .{kind} %{name}<{count}>;"
            for kind, name, count in (*registers, ("b32", "r", self._narrow))
            if count
        ]
        body = "\n".join([*declared, *(f"  {line}" for line in self._lines), "  ret;"])
        head = _HEAD + _SETTER * self.sets
        return f"{head}.visible .entry {NAME}(\n{parameters}\n)\n{{\n{body}\n}}\n"

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """The parameters as they are now."""
        return tuple(Argument(now(word), 8) for word in self._words)

    # -- what it does ------------------------------------------------------------------------------

    def put(self, cell: Cell, value: Cell | Condition) -> None:
        """Write a cell: the number of another one, or whether a condition holds."""
        if isinstance(value, Cell):
            self._store(cell, self._load(value))
        else:
            self._store(cell, self._as_number(self.holds(value)))

    def note(self, address: int, test: str) -> None:
        """Write whether a test holds, as a byte at an address."""
        number = self._as_number(test)
        self._do(f"st.global.u8 [{self._parameter(address)}], {number};")

    def noted(self, address: int) -> str:
        """What was noted there."""
        number = self._new_wide()
        self._do(f"ld.global.u8 {number}, [{self._parameter(address)}];")
        return self._is_true(number)

    def begin(self, address: int, passes: int) -> None:
        """Write how many passes there are, as an int64 at an address."""
        at, number = self._parameter(address), self._parameter(passes)
        self._do(f"st.global.u64 [{at}], {number};")

    def count_down(self, address: int) -> str:
        """One of them is over; is one left?"""
        at, number = self._parameter(address), self._new_wide()
        self._do(f"ld.global.u64 {number}, [{at}];")
        self._do(f"sub.s64 {number}, {number}, 1;")
        self._do(f"st.global.u64 [{at}], {number};")
        return self._is_true(number)

    def set(self, handle: int, test: str) -> None:
        """Tell a conditional node whether to run."""
        self.sets = True
        number, value = self._new_narrow(), self._parameter(handle)
        self._do(f"selp.u32 {number}, 1, 0, {test};")
        self._lines += [
            "{",
            "  .param .b64 handle;",
            "  .param .b32 value;",
            f"  st.param.b64 [handle], {value};",
            f"  st.param.b32 [value], {number};",
            "  call.uni cudaGraphSetConditional, (handle, value);",
            "}",
        ]

    def count(self, counter: Counter, test: str) -> str:
        """Begin the next pass of a `for` if `test` holds and one is left; does it begin?"""
        count, limit = self._load(counter.count), self._load(counter.limit)
        goes = self._both(test, self._compare(count, Relation.LT, limit))
        left, after, over = self._new_wide(), self._new_wide(), self._new_predicate()
        self._do(f"sub.s64 {left}, {limit}, {count};")
        self._do(f"setp.le.u64 {over}, {left}, {counter.step};")
        self._do(f"add.s64 {after}, {count}, {counter.step};")
        self._do(f"selp.s64 {after}, {limit}, {after}, {over};")
        self._do(f"selp.s64 {after}, {after}, {count}, {goes};")
        number = self._load(counter.number)
        self._do(f"selp.s64 {number}, {count}, {number}, {goes};")
        self._store(counter.count, after)
        self._store(counter.number, number)
        return goes

    def stamp(self, buffer: int, room: int, what: int) -> None:
        """Write what happens and the time as the next of `room` pairs in a buffer.

        Its first word counts them. The last pair is where all go for which there is no room.
        """
        at, place, time = (self._new_wide() for _ in range(3))
        start = self._parameter(buffer)
        self._do(f"atom.global.add.u64 {place}, [{start}], 1;")
        self._do(f"min.u64 {place}, {place}, {room - 1};")
        self._do(f"mad.lo.u64 {at}, {place}, 16, {start};")
        self._do(f"mov.u64 {time}, %globaltimer;")
        self._do(f"st.global.u64 [{at}+8], {self._parameter(what)};")
        self._do(f"st.global.u64 [{at}+16], {time};")

    def start(self, clock: int) -> None:
        """Write the time down."""
        time = self._new_wide()
        self._do(f"mov.u64 {time}, %globaltimer;")
        self._do(f"st.global.u64 [{self._parameter(clock)}], {time};")

    def early(self, clock: int, nanoseconds: int) -> str:
        """Is it less than so long since the time was written down? Also before that."""
        time, then, test = self._new_wide(), self._new_wide(), self._new_predicate()
        self._do(f"ld.global.u64 {then}, [{self._parameter(clock)}];")
        self._do(f"mov.u64 {time}, %globaltimer;")
        self._do(f"sub.s64 {time}, {time}, {then};")
        self._do(f"setp.lt.s64 {test}, {time}, {nanoseconds};")
        return test

    def tally(self, number: int, counts: int, room: int) -> None:
        """Count the number at an address: as one more of its kind, the last of which is any other.

        `counts` are `room` numbers in memory.
        """
        at, place, count = (self._new_wide() for _ in range(3))
        self._do(f"ld.global.u64 {place}, [{self._parameter(number)}];")
        self._do(f"min.u64 {place}, {place}, {room - 1};")
        self._do(f"mad.lo.u64 {at}, {place}, 8, {self._parameter(counts)};")
        self._do(f"ld.global.u64 {count}, [{at}];")
        self._do(f"add.s64 {count}, {count}, 1;")
        self._do(f"st.global.u64 [{at}], {count};")

    # -- conditions --------------------------------------------------------------------------------

    def holds(self, condition: Condition) -> str:
        """Does it hold? The name of a predicate."""
        match condition:
            case Compare():
                left, right = self._load(condition.left), self._load(condition.right)
                return self._compare(left, condition.relation, right)
            case Not():
                return self.opposite(self.holds(condition.of))
            case Every():
                return self.all(*map(self.holds, condition.of))
            case Some():
                tests = map(self.opposite, map(self.holds, condition.of))
                return self.opposite(self.all(*tests))
            case _ as never:
                assert_never(never)

    def all(self, *tests: str) -> str:
        """Do all of these hold? True where there is none."""
        if not tests:
            always = self._new_predicate()
            self._do(f"setp.eq.u64 {always}, 0, 0;")
            return always
        result, *others = tests
        for other in others:
            result = self._both(result, other)
        return result

    def opposite(self, test: str) -> str:
        """Does it not hold?"""
        result = self._new_predicate()
        self._do(f"not.pred {result}, {test};")
        return result

    def _both(self, one: str, two: str) -> str:
        result = self._new_predicate()
        self._do(f"and.pred {result}, {one}, {two};")
        return result

    def _compare(self, left: str, relation: Relation, right: str) -> str:
        result = self._new_predicate()
        self._do(f"setp.{_RELATIONS[relation]}.s64 {result}, {left}, {right};")
        return result

    # -- cells -------------------------------------------------------------------------------------

    def _load(self, cell: Cell) -> str:
        """The number in a cell, as 64 bits."""
        number = self._new_wide()
        if cell.number is not None:
            self._do(f"mov.b64 {number}, {cell.number};")
            return number
        kind = _LOADS[cell.kind]
        self._do(f"ld.global.{kind} {number}, [{self._parameter(cell.region.spot)}];")
        return self._as_number(self._is_true(number)) if cell.kind is CellKind.BOOL else number

    def _store(self, cell: Cell, number: str) -> None:
        if cell.kind is CellKind.BOOL:
            number = self._as_number(self._is_true(number))
        kind = _LOADS[cell.kind].replace("s", "u")
        self._do(f"st.global.{kind} [{self._parameter(cell.region.spot)}], {number};")

    def _is_true(self, number: str) -> str:
        test = self._new_predicate()
        self._do(f"setp.ne.u64 {test}, {number}, 0;")
        return test

    def _as_number(self, test: str) -> str:
        number = self._new_wide()
        self._do(f"selp.u64 {number}, 1, 0, {test};")
        return number

    # -- lines -------------------------------------------------------------------------------------

    def _do(self, line: str) -> None:
        self._lines.append(line)

    def _parameter(self, word: Word) -> str:
        """The register of a parameter."""
        name = self._new_wide()
        self._do(f"ld.param.u64 {name}, [p{len(self._words)}];")
        self._words.append(word)
        return name

    def _new_predicate(self) -> str:
        self._predicates += 1
        return f"%p{self._predicates - 1}"

    def _new_wide(self) -> str:
        self._wide += 1
        return f"%d{self._wide - 1}"

    def _new_narrow(self) -> str:
        self._narrow += 1
        return f"%r{self._narrow - 1}"


def now(word: Word) -> int:
    """A parameter as it is now."""
    if isinstance(word, Spot):
        return word.address
    return word if isinstance(word, int) else word()
