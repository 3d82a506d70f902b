"""The walker of graphs: a table does natively what the same rows mean in Python."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hawk.targets.cpu.runtime as native
from hawk import Index, Mutable, Scalar, Terminated, kernel
from hawk.ir.types import DType
from hawk.targets.base import HEADER, Word, new_block
from hawk.targets.cpu.link import assemble
from hawk.targets.cpu.team import new_team, team_text
from hawk.targets.cpu.walker import (
    END,
    ROW_WORDS,
    ROWS_BETWEEN_LOOKS,
    STATE_WORDS,
    CellKind,
    Kind,
    Reason,
    Relation,
    Row,
    State,
    ask,
    call,
    copy,
    count,
    goto,
    put,
    unless,
    walker_text,
)
from tests.unit.targets.machines import ASSEMBLED
from tests.unit.targets.test_objects import symbols

runtime = native.runtime()
pytestmark = pytest.mark.skipif(runtime is None, reason="needs Linux on x86-64 or AArch64")

CELLS, ORIGIN = 8, 2
"""Cells that programs use, and words before the first one."""
FORMATS = {CellKind.BOOL: "?", CellKind.I32: "i", CellKind.U32: "I", CellKind.I64: "q"}


class Walk:
    """A table, the state of a walk through it, and what keeps their memory alive."""

    def __init__(self, rows: Sequence[Row], rounds: int = 1, *keep: object) -> None:
        words = [word for row in rows for word in row]
        self.table = (ctypes.c_int64 * (len(rows) * ROW_WORDS))(*words)
        self.state = (ctypes.c_int64 * STATE_WORDS)()
        self.team, self.keep = new_team(), keep
        self.state[State.TABLE] = ctypes.addressof(self.table)
        self.state[State.TEAM] = ctypes.addressof(self.team)
        self.state[State.ROUNDS] = rounds
        self.state[State.RUN] = 0 if runtime is None else runtime.run_address

    def go(self) -> Reason:
        reason = Reason(native.walker().walk(ctypes.addressof(self.state)))
        assert reason == self.state[State.REASON]
        return reason

    def to_the_end(self) -> list[int]:
        """Go on until it is done; the host functions that were asked for."""
        asked: list[int] = []
        while (reason := self.go()) is not Reason.DONE:
            row = self.state[State.ROW]
            if reason is Reason.HOST:
                asked.append(self.table[row * ROW_WORDS + 1])
                self.state[State.ROW] = row + 1
        return asked


# -- random programs -------------------------------------------------------------------------------

Statement: TypeAlias = "tuple[Any, ...]"

cells = st.integers(0, CELLS - 1)
kinds = st.sampled_from(CellKind)
simple = st.one_of(
    st.tuples(st.just("put"), cells, kinds, cells, kinds),
    st.tuples(st.just("copy"), cells, cells, st.integers(0, 8), st.integers(0, 3)),
    st.tuples(st.just("ask"), st.integers(0, 9)),
)
conditions = st.tuples(cells, kinds, st.sampled_from(Relation), cells, kinds)


def _nested(inner: st.SearchStrategy[list[Statement]]) -> st.SearchStrategy[list[Statement]]:
    choice = st.tuples(st.just("if"), conditions, inner, inner)
    loop = st.tuples(st.just("for"), st.integers(0, 4), inner)
    return st.lists(st.one_of(simple, choice, loop), max_size=4)


programs = st.recursive(st.lists(simple, max_size=3), _nested, max_leaves=12)


def place(cell: int) -> int:
    """Where a cell is, in bytes."""
    return 8 * (ORIGIN + cell)


class Memory:
    """Cells that programs use, room for copies behind them, then what their loops need."""

    def __init__(self, start: Sequence[int]) -> None:
        self.words = (ctypes.c_int64 * 256)()
        self.words[ORIGIN : ORIGIN + CELLS] = start
        self.seen = place(3 * CELLS)
        """Bytes that a program can see."""
        self._used = 3 * CELLS

    def at(self, cell: int) -> int:
        return ctypes.addressof(self.words) + place(cell)

    def new(self, number: int = 0) -> int:
        """One more cell."""
        self.words[ORIGIN + self._used] = number
        self._used += 1
        return self._used - 1


def table_of(program: list[Statement], memory: Memory) -> list[Row]:
    """The rows of a program."""
    rows: list[Row] = []
    for statement in program:
        _write(statement, rows, memory)
    return [*rows, END]


def _write(statement: Statement, rows: list[Row], memory: Memory) -> None:
    at = memory.at
    match statement:
        case ("put", to, to_kind, source, source_kind):
            rows.append(put(at(to), to_kind, at(source), source_kind))
        case ("copy", to, source, size, stretches):
            rows.append(copy(at(CELLS + to), at(source), size, stretches, 3, -2))
        case ("ask", number):
            rows.append(ask(number))
        case ("if", (left, left_kind, relation, right, right_kind), then, otherwise):
            head = len(rows)
            rows.append(END)
            for each in then:
                _write(each, rows, memory)
            rows.append(END)
            beyond = len(rows)
            condition = (at(left), left_kind, relation, at(right), right_kind)
            rows[head] = unless(*condition, beyond)
            for each in otherwise:
                _write(each, rows, memory)
            rows[beyond - 1] = goto(len(rows))
        case ("for", times, body):
            counter, limit, nought = memory.new(), memory.new(times), memory.new()
            rows.append(put(at(counter), CellKind.I64, at(nought), CellKind.I64))
            head = len(rows)
            rows.append(END)
            for each in body:
                _write(each, rows, memory)
            rows.append(goto(head))
            rows[head] = count(at(counter), at(limit), len(rows))
        case _:
            raise AssertionError(statement)


def run(program: list[Statement], memory: bytearray, asked: list[int]) -> None:
    """What a program means."""
    for statement in program:
        match statement:
            case ("put", to, to_kind, source, source_kind):
                number = _cell(memory, source, source_kind)
                _put(memory, to, to_kind, number)
            case ("copy", to, source, size, stretches):
                for k in range(stretches):
                    begin, there = place(source) - 2 * k, place(CELLS + to) + 3 * k
                    for i in range(size):
                        memory[there + i] = memory[begin + i]
            case ("ask", number):
                asked.append(number)
            case ("if", (left, left_kind, relation, right, right_kind), then, otherwise):
                a, b = _cell(memory, left, left_kind), _cell(memory, right, right_kind)
                holds = {
                    Relation.LT: a < b,
                    Relation.LE: a <= b,
                    Relation.EQ: a == b,
                    Relation.NE: a != b,
                    Relation.GT: a > b,
                    Relation.GE: a >= b,
                }[relation]
                run(then if holds else otherwise, memory, asked)
            case ("for", times, body):
                for _ in range(times):
                    run(body, memory, asked)
            case _:
                raise AssertionError(statement)


def _cell(memory: bytearray, cell: int, kind: CellKind) -> int:
    return int(struct.unpack_from("<" + FORMATS[kind], memory, place(cell))[0])


def _put(memory: bytearray, cell: int, kind: CellKind, number: int) -> None:
    at, size = place(cell), struct.calcsize(FORMATS[kind])
    low = int(number != 0) if kind is CellKind.BOOL else number % 2**64
    memory[at : at + size] = low.to_bytes(8, "little")[:size]


@settings(max_examples=300)
@given(
    program=programs,
    start=st.lists(
        st.one_of(st.integers(-2, 2), st.integers(-(2**63), 2**63 - 1)),
        min_size=CELLS,
        max_size=CELLS,
    ),
    rounds=st.integers(1, 3),
)
def test_a_table_does_what_its_program_means(
    program: list[Statement], start: list[int], rounds: int
) -> None:
    memory = Memory(start)
    walk = Walk(table_of(program, memory), rounds, memory)
    expected, asked = bytearray(memory.words)[: memory.seen], []
    for _ in range(rounds):
        run(program, expected, asked)

    assert asked == walk.to_the_end()
    assert bytes(expected) == bytes(memory.words)[: memory.seen]
    assert 0 == walk.state[State.ROW]


# -- launches --------------------------------------------------------------------------------------


@kernel(steps="auto")
def halve(left: Mutable[Index], x: Mutable[Scalar], over: Terminated):
    x = 0.5 * x
    left -= 1
    over = left <= 0


class Launch:
    """A launch of `halve` on its own arrays."""

    def __init__(self, n: int = 100, *, steps: int = 1, window: int = 0) -> None:
        self.x, self.left = np.ones(n), np.full(n, 10)
        self.over = np.zeros(n, np.bool)
        self.compiled = halve.compile(DType.F64)
        planes = {"left": self.left, "x": self.x, "over": self.over}
        self.block = new_block(len(self.compiled.planes))
        self.rows = (ctypes.c_int64 * (6 * (self.compiled.lanes + 1)))()
        for place, slot in enumerate(self.compiled.planes, HEADER):
            self.block[place] = planes[slot.name].ctypes.data
        self.header = (ctypes.c_int64 * HEADER)()
        self.header[Word.END], self.header[Word.STEPS], self.header[Word.PIECE] = n, steps, 16
        self.header[Word.WINDOW], self.header[Word.LEFT] = window, ctypes.addressof(self.rows)

    def row(self, helpers: int = 0) -> Row:
        function = self.compiled.entry.address  # pyright: ignore[reportFunctionMemberAccess]
        addresses = ctypes.addressof(self.block), helpers, ctypes.addressof(self.header)
        return call(function, *addresses)


@pytest.mark.parametrize("helpers", [0, 1])
def test_each_round_launches_anew(helpers: int) -> None:
    launch = Launch(steps=2)
    walk = Walk([launch.row(helpers), END], 3, launch)

    assert Reason.DONE is walk.go()
    assert [0.5**6] * 100 == launch.x.tolist()
    assert 100 == launch.block[Word.END]


def test_a_kernel_in_a_while_loop_runs_as_often_as_its_cell_says() -> None:
    launch = Launch(1)
    nought = ctypes.c_int64(0)
    left, zero = launch.left.ctypes.data, ctypes.addressof(nought)
    going = unless(left, CellKind.I64, Relation.GT, zero, CellKind.I64, 3)
    walk = Walk([going, launch.row(), goto(0), END], 1, launch, nought)

    assert Reason.DONE is walk.go()
    assert [0.5**10] == launch.x.tolist()


def test_a_launch_that_comes_back_early_is_left_to_python() -> None:
    launch = Launch(steps=64, window=1)
    walk = Walk([launch.row(), ask(7), END], 1, launch)

    assert Reason.HALFWAY is walk.go()
    assert 0 == walk.state[State.ROW]
    while launch.block[Word.NEXT] < 100 or launch.block[Word.LEFT_COUNT]:
        rows = type(launch.rows)(*launch.rows)
        launch.block[Word.ROWS] = ctypes.addressof(rows)
        launch.block[Word.ROW_COUNT] = launch.block[Word.LEFT_COUNT]
        launch.block[Word.LEFT_COUNT] = launch.block[Word.NEXT_ROW] = 0
        launch.compiled.entry(ctypes.addressof(launch.block))
    walk.state[State.ROW] = 1
    assert [7] == walk.to_the_end()
    assert [0.5**10] * 100 == launch.x.tolist()


def test_a_walk_comes_back_when_it_is_time_and_goes_on_where_it_was() -> None:
    launch = Launch(steps=1)
    walk = Walk([launch.row(), END], 5, launch)
    walk.state[State.WINDOW] = 1

    reasons = [walk.go() for _ in range(6)]

    assert [Reason.LATE] * 5 + [Reason.DONE] == reasons
    assert [0.5**5] * 100 == launch.x.tolist()


def test_a_walk_says_where_it_came_back_between_two_rounds() -> None:
    rows = ROWS_BETWEEN_LOOKS - 1
    walk = Walk([*[goto(k + 1) for k in range(rows)], END], 3)
    walk.state[State.STOP] = 1

    # Each round is so many rows, the way to the next one is the last of them.
    assert [Reason.BETWEEN, Reason.BETWEEN, Reason.DONE] == [walk.go() for _ in range(3)]
    assert 0 == walk.state[State.ROW]


def test_a_walk_that_calls_nothing_hears_of_stop_too() -> None:
    walk = Walk([goto(0), END])
    walk.state[State.STOP] = 1

    assert Reason.LATE is walk.go()
    assert 0 == walk.state[State.ROW]


def test_rows_between_two_looks_are_few() -> None:
    walk = Walk([*[goto(k + 1) for k in range(ROWS_BETWEEN_LOOKS + 9)], END])
    walk.state[State.STOP] = 1

    assert Reason.LATE is walk.go()
    assert ROWS_BETWEEN_LOOKS == walk.state[State.ROW]
    walk.state[State.STOP] = 0
    assert Reason.DONE is walk.go()


@pytest.mark.parametrize("size", [0, 1, 31, 32, 33, 100])
def test_a_copy_copies_these_bytes_and_no_others(size: int) -> None:
    source, target = np.arange(1, 201, dtype=np.uint8), np.zeros(200, np.uint8)
    to = target.ctypes.data + 10

    Walk([copy(to, source.ctypes.data + 5, size), END], 1, source, target).to_the_end()

    assert source[5 : 5 + size].tolist() == target[10 : 10 + size].tolist()
    assert size == np.count_nonzero(target)


def test_the_numbers_of_the_format_stay() -> None:
    names = ["END", "CALL", "COPY", "UNLESS", "GOTO", "SET", "COUNT", "HOST"]
    assert {name: number for number, name in enumerate(names)} == dict(Kind.__members__)


@pytest.mark.parametrize("machine", ASSEMBLED.values(), ids=ASSEMBLED.keys())
def test_the_routines_call_nothing_outside(machine: Any) -> None:
    for text in (team_text(202), walker_text(machine)):
        found = symbols(assemble(native.module_text(machine, text), machine))
        assert found
        assert all(found.values())
