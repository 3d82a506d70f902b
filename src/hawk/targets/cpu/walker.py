"""The walker: goes through a table of launches, copies, branches and loops without Python.

The table is an array of rows of eight 64-bit words, in the order they run. The first word says what
a row is (`Kind`), the others are its operands: addresses of memory, numbers of rows, constants.
Control flow is jumps, so any nesting of `if`, `while` and `for` becomes a flat list:

    while left > 0:            0  UNLESS left > nought, else go to 3
        kernel(...)            1  CALL   kernel
                               2  GOTO   0
    copy(a, into=b)            3  COPY   a to b
                               4  END

A *cell* is one number in memory, with a `CellKind`; a constant is a cell that nobody writes. Cells
are read when a row is reached, so every round sees what kernels and host functions wrote.

Walking needs a `State` of 64-bit words. `walk(state)` begins at its ROW and returns a `Reason`;
called again with the same state it goes on there. A round ends at END, and the next begins at the
first row while ROUNDS are left.
"""

from __future__ import annotations

import enum
from typing import TypeAlias

from hawk.targets.base import HEADER, Word
from hawk.targets.cpu.machine import Machine

ROW_WORDS = 8
Row: TypeAlias = "tuple[int, int, int, int, int, int, int, int]"

ROWS_BETWEEN_LOOKS = 256
"""Rows between two looks at the clock, where none of them calls anything. A power of two."""


class Kind(enum.IntEnum):
    """What a row is. The numbers are the format: they stay."""

    END = 0
    """The end of a round."""
    CALL = 1
    """Launch a kernel: see `call`."""
    COPY = 2
    """Copy memory: see `copy`."""
    UNLESS = 3
    """Go somewhere unless two cells compare so: see `unless`."""
    GOTO = 4
    """Go to a row."""
    SET = 5
    """Write a cell: see `put`."""
    COUNT = 6
    """Count one further, or go somewhere at the end: see `count`."""
    HOST = 7
    """Go back to Python, which calls a host function: see `ask`."""


class CellKind(enum.IntEnum):
    """The type of a cell."""

    BOOL = 0
    I32 = 1
    U32 = 2
    I64 = 3


class Relation(enum.IntEnum):
    """How two cells compare: the sum of 1 for less, 2 for equal, 4 for greater."""

    LT = 1
    EQ = 2
    LE = 3
    GT = 4
    NE = 5
    GE = 6


class State(enum.IntEnum):
    """The words of a walk."""

    TABLE = 0
    """Address of the table."""
    TEAM = 1
    """Address of the team that helps with launches."""
    ROW = 2
    """The row to begin with; where the walk is, when it comes back."""
    ROUNDS = 3
    """Rounds that are left, the one on its way among them; at least 1."""
    WINDOW = 4
    """Cycles after which it comes back; 0: never."""
    STOP = 5
    """Set to 1 during a walk, it comes back as soon as it can."""
    RUN = 6
    """Address of the routine `team_run`."""
    REASON = 7
    """What the walk returned, for whom an exception keeps from taking it."""


STATE_WORDS = 8


class Reason(enum.IntEnum):
    """Why a walk came back."""

    DONE = 0
    """No round is left; ROW is 0 again."""
    HOST = 1
    """ROW is a HOST row. Call its function, then go on with the row after it."""
    HALFWAY = 2
    """ROW is a CALL row whose launch came back early. Bring it to its end, then go on with the row
    after it."""
    LATE = 3
    """It is time, or STOP is set. Go on with ROW."""
    BETWEEN = 4
    """The same, and nothing of the next round was done."""


def call(function: int, block: int, helpers: int = 0, header: int = 0) -> Row:
    """Call `function(block)` here and on up to `helpers` threads of the team.

    With a `header`, the address of `HEADER` words, it is a launch: they are copied into the block
    before, and the block must say afterwards that nothing is left. Without one it is any routine.
    """
    return (Kind.CALL, function, block, helpers, header, 0, 0, 0)


def copy(
    to: int, source: int, size: int, rows: int = 1, to_step: int = 0, source_step: int = 0
) -> Row:
    """Copy `rows` stretches of `size` bytes; the steps lead from one to the next, in bytes."""
    return (Kind.COPY, to, source, size, rows, to_step, source_step, 0)


def unless(
    left: int, left_kind: CellKind, relation: Relation, right: int, right_kind: CellKind, row: int
) -> Row:
    """Go to `row` unless the cells compare so. They are compared as numbers, whatever they are."""
    return (Kind.UNLESS, left, left_kind, relation, right, right_kind, row, 0)


def goto(row: int) -> Row:
    """Go to `row`."""
    return (Kind.GOTO, row, 0, 0, 0, 0, 0, 0)


def put(to: int, to_kind: CellKind, source: int, source_kind: CellKind) -> Row:
    """Write one cell's number to another: as a bool whether it is not 0, else the lowest bits."""
    return (Kind.SET, to, to_kind, source, source_kind, 0, 0, 0)


def count(counter: int, limit: int, row: int) -> Row:
    """Add 1 to an int64 counter that is less than the int64 limit, else go to `row`."""
    return (Kind.COUNT, counter, limit, row, 0, 0, 0, 0)


def ask(number: int) -> Row:
    """Let Python call its host function of this number."""
    return (Kind.HOST, number, 0, 0, 0, 0, 0, 0)


END: Row = (Kind.END, 0, 0, 0, 0, 0, 0, 0)


def walker_text(machine: Machine) -> str:
    """The routine `walk`, in LLVM text."""
    clock = "readcyclecounter" if machine.is_x86 else "readsteadycounter"
    return _TEXT.format(
        clock=clock,
        mask=ROWS_BETWEEN_LOOKS - 1,
        row_words=ROW_WORDS,
        header=8 * HEADER,
        **{f"at_{word.name}": 8 * word for word in Word},
        **{f"state_{word.name}": word for word in State},
        **{f"kind_{kind.name}": kind.value for kind in Kind},
        **{f"cell_{kind.name}": kind.value for kind in CellKind},
        **{f"why_{reason.name}": reason.value for reason in Reason},
    )


_TEXT = """
; A cell as a number.
define internal i64 @cell(ptr %at, i64 %kind) nounwind {{
entry:
  switch i64 %kind, label %wide [
    i64 {cell_BOOL}, label %byte
    i64 {cell_I32}, label %signed
    i64 {cell_U32}, label %unsigned
  ]
byte:
  %b = load i8, ptr %at
  %bit = icmp ne i8 %b, 0
  %bool = zext i1 %bit to i64
  ret i64 %bool
signed:
  %i = load i32, ptr %at
  %int = sext i32 %i to i64
  ret i64 %int
unsigned:
  %u = load i32, ptr %at
  %natural = zext i32 %u to i64
  ret i64 %natural
wide:
  %w = load i64, ptr %at
  ret i64 %w
}}

define internal void @put(ptr %at, i64 %kind, i64 %number) nounwind {{
entry:
  switch i64 %kind, label %wide [
    i64 {cell_BOOL}, label %byte
    i64 {cell_I32}, label %narrow
    i64 {cell_U32}, label %narrow
  ]
byte:
  %bit = icmp ne i64 %number, 0
  %b = zext i1 %bit to i8
  store i8 %b, ptr %at
  ret void
narrow:
  %i = trunc i64 %number to i32
  store i32 %i, ptr %at
  ret void
wide:
  store i64 %number, ptr %at
  ret void
}}

; memcpy would be a symbol from outside.
define internal void @bytes(ptr %to, ptr %from, i64 %size) nounwind {{
entry:
  %whole = and i64 %size, -32
  br label %block
block:
  %i = phi i64 [ 0, %entry ], [ %after, %more ]
  %any = icmp ult i64 %i, %whole
  br i1 %any, label %more, label %rest
more:
  %source = getelementptr i8, ptr %from, i64 %i
  %target = getelementptr i8, ptr %to, i64 %i
  %some = load <4 x i64>, ptr %source, align 1
  store <4 x i64> %some, ptr %target, align 1
  %after = add i64 %i, 32
  br label %block
rest:
  %k = phi i64 [ %i, %block ], [ %behind, %one ]
  %left = icmp ult i64 %k, %size
  br i1 %left, label %one, label %done
one:
  %from_here = getelementptr i8, ptr %from, i64 %k
  %to_there = getelementptr i8, ptr %to, i64 %k
  %byte = load i8, ptr %from_here
  store i8 %byte, ptr %to_there
  %behind = add i64 %k, 1
  br label %rest
done:
  ret void
}}

; Is nothing left of a launch?
define internal i1 @complete(ptr %block) nounwind {{
  %at_begin = getelementptr i8, ptr %block, i64 {at_BEGIN}
  %at_end = getelementptr i8, ptr %block, i64 {at_END}
  %at_next = getelementptr i8, ptr %block, i64 {at_NEXT}
  %at_rows = getelementptr i8, ptr %block, i64 {at_ROW_COUNT}
  %at_row = getelementptr i8, ptr %block, i64 {at_NEXT_ROW}
  %at_left = getelementptr i8, ptr %block, i64 {at_LEFT_COUNT}
  %begin = load i64, ptr %at_begin
  %end = load i64, ptr %at_end
  %next = load i64, ptr %at_next
  %rows = load i64, ptr %at_rows
  %row = load i64, ptr %at_row
  %left = load i64, ptr %at_left
  %count = sub i64 %end, %begin
  %handed_out = icmp sge i64 %next, %count
  %no_rows = icmp sge i64 %row, %rows
  %none_left = icmp eq i64 %left, 0
  %both = and i1 %handed_out, %no_rows
  %all = and i1 %both, %none_left
  ret i1 %all
}}

define i64 @walk(ptr %state) nounwind {{
entry:
  %at_table = getelementptr i64, ptr %state, i64 {state_TABLE}
  %at_team = getelementptr i64, ptr %state, i64 {state_TEAM}
  %at_row = getelementptr i64, ptr %state, i64 {state_ROW}
  %at_rounds = getelementptr i64, ptr %state, i64 {state_ROUNDS}
  %at_window = getelementptr i64, ptr %state, i64 {state_WINDOW}
  %at_stop = getelementptr i64, ptr %state, i64 {state_STOP}
  %at_run = getelementptr i64, ptr %state, i64 {state_RUN}
  %at_reason = getelementptr i64, ptr %state, i64 {state_REASON}
  %team_run = load ptr, ptr %at_run
  %table = load ptr, ptr %at_table
  %team = load ptr, ptr %at_team
  %first = load i64, ptr %at_row
  %window = load i64, ptr %at_window
  %start = call i64 @llvm.{clock}()
  %until = call i64 @llvm.uadd.sat.i64(i64 %start, i64 %window)
  %endless = icmp eq i64 %window, 0
  %limit = select i1 %endless, i64 -1, i64 %until
  br label %step

step:
  %row = phi i64 [ %first, %entry ], [ %following, %next ], [ %following, %look ]
  %ticks = phi i64 [ 0, %entry ], [ %ticked, %next ], [ %ticked, %look ]
  %at = getelementptr [{row_words} x i64], ptr %table, i64 %row
  %p1 = getelementptr i64, ptr %at, i64 1
  %p2 = getelementptr i64, ptr %at, i64 2
  %p3 = getelementptr i64, ptr %at, i64 3
  %p4 = getelementptr i64, ptr %at, i64 4
  %p5 = getelementptr i64, ptr %at, i64 5
  %p6 = getelementptr i64, ptr %at, i64 6
  %down = add i64 %row, 1
  %kind = load i64, ptr %at
  switch i64 %kind, label %host [
    i64 {kind_END}, label %end
    i64 {kind_CALL}, label %call
    i64 {kind_COPY}, label %copy
    i64 {kind_UNLESS}, label %unless
    i64 {kind_GOTO}, label %goto
    i64 {kind_SET}, label %set
    i64 {kind_COUNT}, label %count
  ]

next:
  %following = phi i64 [ 0, %again ], [ %down, %called ], [ %down, %copied ],
    [ %chosen, %unless ], [ %there, %goto ], [ %down, %set ], [ %down, %counted ],
    [ %out, %over ]
  %after_call = phi i1 [ false, %again ], [ true, %called ], [ true, %copied ],
    [ false, %unless ], [ false, %goto ], [ false, %set ], [ false, %counted ],
    [ false, %over ]
  %fresh = phi i1 [ true, %again ], [ false, %called ], [ false, %copied ],
    [ false, %unless ], [ false, %goto ], [ false, %set ], [ false, %counted ],
    [ false, %over ]
  %ticked = add i64 %ticks, 1
  %place = and i64 %ticked, {mask}
  %often = icmp eq i64 %place, 0
  %due = or i1 %often, %after_call
  br i1 %due, label %look, label %step
look:
  %stop = load atomic i64, ptr %at_stop monotonic, align 8
  %stopped = icmp ne i64 %stop, 0
  %now = call i64 @llvm.{clock}()
  %late = icmp ugt i64 %now, %limit
  %leave = or i1 %stopped, %late
  br i1 %leave, label %back, label %step
back:
  store i64 %following, ptr %at_row
  %which = select i1 %fresh, i64 {why_BETWEEN}, i64 {why_LATE}
  store i64 %which, ptr %at_reason
  ret i64 %which

end:
  %rounds = load i64, ptr %at_rounds
  %fewer = sub i64 %rounds, 1
  store i64 %fewer, ptr %at_rounds
  %further = icmp sgt i64 %fewer, 0
  br i1 %further, label %again, label %through
again:
  br label %next
through:
  store i64 0, ptr %at_row
  store i64 {why_DONE}, ptr %at_reason
  ret i64 {why_DONE}

host:
  store i64 %row, ptr %at_row
  store i64 {why_HOST}, ptr %at_reason
  ret i64 {why_HOST}

call:
  %function = load ptr, ptr %p1
  %block = load ptr, ptr %p2
  %helpers = load i64, ptr %p3
  %header = load ptr, ptr %p4
  %launch = icmp ne ptr %header, null
  br i1 %launch, label %fill, label %run
fill:
  call void @bytes(ptr %block, ptr %header, i64 {header})
  br label %run
run:
  %several = icmp sgt i64 %helpers, 0
  br i1 %several, label %together, label %alone
together:
  %took = call i64 %team_run(ptr %team, ptr %function, ptr %block, i64 %helpers)
  br label %ran
alone:
  call void %function(ptr %block)
  br label %ran
ran:
  br i1 %launch, label %check, label %called
check:
  %complete = call i1 @complete(ptr %block)
  br i1 %complete, label %called, label %halfway
halfway:
  store i64 %row, ptr %at_row
  store i64 {why_HALFWAY}, ptr %at_reason
  ret i64 {why_HALFWAY}
called:
  br label %next

copy:
  %to = load ptr, ptr %p1
  %from = load ptr, ptr %p2
  %size = load i64, ptr %p3
  %stretches = load i64, ptr %p4
  %to_step = load i64, ptr %p5
  %from_step = load i64, ptr %p6
  br label %stretch
stretch:
  %n = phi i64 [ 0, %copy ], [ %n_after, %one ]
  %target = phi ptr [ %to, %copy ], [ %target_after, %one ]
  %source = phi ptr [ %from, %copy ], [ %source_after, %one ]
  %some = icmp ult i64 %n, %stretches
  br i1 %some, label %one, label %copied
one:
  call void @bytes(ptr %target, ptr %source, i64 %size)
  %n_after = add i64 %n, 1
  %target_after = getelementptr i8, ptr %target, i64 %to_step
  %source_after = getelementptr i8, ptr %source, i64 %from_step
  br label %stretch
copied:
  br label %next

unless:
  %left = load ptr, ptr %p1
  %left_kind = load i64, ptr %p2
  %relation = load i64, ptr %p3
  %right = load ptr, ptr %p4
  %right_kind = load i64, ptr %p5
  %else = load i64, ptr %p6
  %a = call i64 @cell(ptr %left, i64 %left_kind)
  %b = call i64 @cell(ptr %right, i64 %right_kind)
  %less = icmp slt i64 %a, %b
  %equal = icmp eq i64 %a, %b
  %other = select i1 %equal, i64 2, i64 4
  %found = select i1 %less, i64 1, i64 %other
  %common = and i64 %found, %relation
  %holds = icmp ne i64 %common, 0
  %chosen = select i1 %holds, i64 %down, i64 %else
  br label %next

goto:
  %there = load i64, ptr %p1
  br label %next

set:
  %cell_to = load ptr, ptr %p1
  %to_kind = load i64, ptr %p2
  %cell_from = load ptr, ptr %p3
  %from_kind = load i64, ptr %p4
  %number = call i64 @cell(ptr %cell_from, i64 %from_kind)
  call void @put(ptr %cell_to, i64 %to_kind, i64 %number)
  br label %next

count:
  %counter = load ptr, ptr %p1
  %at_limit = load ptr, ptr %p2
  %reached = load i64, ptr %counter
  %goal = load i64, ptr %at_limit
  %on = icmp slt i64 %reached, %goal
  br i1 %on, label %counted, label %over
counted:
  %one_more = add i64 %reached, 1
  store i64 %one_more, ptr %counter
  br label %next
over:
  %out = load i64, ptr %p3
  br label %next
}}
"""
