"""The program: frozen data, structured control flow, single assignment.

    Function = planes, three bodies (once a launch, once a sample, each step), stores
    body     = Statement*
    Statement = Apply(op, args) | If(test, then, orelse) | Loop(inits, test, body)
    Block    = params, Statement*, yields
    Value    = Const | the read of a plane | a block parameter | a result

Everything is pure: a statement reads values and makes values. Planes are read when a step starts
(`Plane.read`) and stored when it ends (`Function.stores`); in between there are only values.
Meaning lives in `ops` (each operation) and `interpret` (the statements).
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from hawk.errors import NOWHERE, Loc
from hawk.ir.types import DType

Number: TypeAlias = "bool | int | float"


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """One value of the program. Two values are the same only if they are the same object."""

    dtype: DType
    loc: Loc = NOWHERE
    name: str = ""
    """The user's name for it where there is one; for printing only."""


@dataclass(frozen=True, slots=True, eq=False)
class Const(Value):
    """A value known now, of its own type: an f32 constant is already rounded to f32."""

    number: Number = 0


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Statements with values on the way in (`params`) and out (`yields`)."""

    items: tuple[Statement, ...]
    yields: tuple[Value, ...]
    params: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Apply:
    """One operation of the table applied to values."""

    op: str
    args: tuple[Value, ...]
    result: Value

    @property
    def results(self) -> tuple[Value, ...]:
        return (self.result,)


@dataclass(frozen=True, slots=True, eq=False)
class If:
    """Choose between two blocks by a bool. Both are pure, so both may be computed.

    Neither block has params; both yield one value for each of `results`.
    """

    test: Value
    then: Block
    orelse: Block
    results: tuple[Value, ...]
    rare: bool = False
    """Is `then` seldom needed? Only speed depends on it."""


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """While `test` yields True on the carried values, replace them by what `body` yields.

    `test` and `body` each have one param per carried value; `test` yields one bool, `body` the
    next carried values. `results` are the carried values when `test` first yields False.
    A sample whose test is False keeps its values while others go on.
    """

    inits: tuple[Value, ...]
    test: Block
    body: Block
    results: tuple[Value, ...]


Statement: TypeAlias = Apply | If | Loop


class Role(enum.Enum):
    """What a plane is to the launch."""

    INPUT = "input"
    """One number a sample, only read."""
    UNIFORM = "uniform"
    """One number for the whole launch."""
    INDEX = "index"
    """The sample's own index in the batch. It has no array."""
    TABLE = "table"
    """Numbers that all samples share, only read. Its `read` stands for all of them: `lookup` and
    `near` take it, and nothing else does."""
    SHARED = "shared"
    """Numbers that all samples share, read as a TABLE is: as they were when the step began. What a
    step gives to them, its scatters, comes after it."""
    STATE = "state"
    """Read at the start of a step, stored at its end."""
    MASK = "mask"
    """True where the sample is done. Its value starts every step as False."""
    OUTPUT = "output"
    """Stored at the end of a step, never read."""


WRITTEN = frozenset({Role.STATE, Role.MASK, Role.OUTPUT})
"""Planes that a step stores."""
TABLES = frozenset({Role.TABLE, Role.SHARED})
"""Planes that are an array of all samples."""
MUTABLE = frozenset({Role.STATE, Role.SHARED})
"""What a user calls Mutable: a kernel without `return` gives these."""
CHANGED = WRITTEN | {Role.SHARED}
"""Planes that are not what they were after a launch."""
ARRAYS = WRITTEN | {Role.INPUT}
"""Planes that are an array with one element for each sample."""


@dataclass(frozen=True, slots=True, eq=False)
class Plane:
    """One parameter or output of the function.

    `read` is the value when the step starts; MASK and OUTPUT planes have none.
    """

    name: str
    role: Role
    dtype: DType
    read: Value | None = None
    loc: Loc = NOWHERE


@dataclass(frozen=True, slots=True)
class Lines:
    """Samples of a grid in lines: those of one differ in their places along some dimensions only.

    Lines, and the samples of each, are in the order of the batch.
    """

    extents: tuple[int | str, ...]
    """Of each dimension: a number, or the UNIFORM plane that holds it."""
    over: tuple[int, ...]
    """The dimensions along which a line goes, rising: some, and not all."""


@dataclass(frozen=True, slots=True, eq=False)
class Reduction:
    """One number made of a value of every sample, which a later part of the step reads.

    It is the number of the UNIFORM plane `plane`, set before the step is taken. With `lines` one
    number is made of each of them, and all are the TABLE `plane`.
    """

    kind: str
    """See `ir.reduce`."""
    value: Value
    """What is reduced."""
    keep: Value | None
    """A bool: does the sample take part? None: all do."""
    plane: str
    loc: Loc = NOWHERE
    lines: Lines | None = None
    """None: all samples make one number."""


@dataclass(frozen=True, slots=True, eq=False)
class Scatter:
    """What each sample gives to an element of the SHARED plane `plane`, once a step is taken.

    A step leaves it in two OUTPUT planes: see `ir.scatter`.
    """

    kind: str
    """See `ir.scatter`."""
    plane: str
    spot: str
    """The plane, an i32, that says which element: 1 is the first, 0 is none."""
    value: str
    """The plane, of the elements' type, that says what is given to it."""
    loc: Loc = NOWHERE


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """One step of one sample.

    `stores` gives for each STATE, MASK and OUTPUT plane, by name and in the order of `planes`, its
    value at the end of the step. `launch` and `sample` hold what a pass found to be the same for
    the whole launch, or for all steps of a sample; they run before `step` and are visible in it.
    `real` is the kernel's float width. A function with `reductions` takes one step of all samples
    at a time: `passes.phases` makes of it functions that have none. So does one with `scatters`.
    """

    name: str
    planes: tuple[Plane, ...]
    real: DType
    step: tuple[Statement, ...]
    stores: tuple[tuple[str, Value], ...]
    sample: tuple[Statement, ...] = ()
    launch: tuple[Statement, ...] = ()
    loc: Loc = field(default=NOWHERE)
    reductions: tuple[Reduction, ...] = ()
    """In the order they are made; each value depends on the planes of earlier ones only."""
    scatters: tuple[Scatter, ...] = ()
    """In the order they are done: each for all samples, from the first to the last."""

    @property
    def statements(self) -> tuple[Statement, ...]:
        """All statements in the order they run."""
        return self.launch + self.sample + self.step

    def plane(self, name: str) -> Plane:
        """The plane called `name`."""
        return next(plane for plane in self.planes if plane.name == name)


def blocks_of(statement: Statement) -> tuple[Block, ...]:
    """The blocks inside a statement, in the order they run."""
    match statement:
        case Apply():
            return ()
        case If():
            return (statement.then, statement.orelse)
        case Loop():
            return (statement.test, statement.body)


def operands_of(statement: Statement) -> tuple[Value, ...]:
    """The values a statement itself reads, those of its blocks left out."""
    match statement:
        case Apply():
            return statement.args
        case If():
            return (statement.test,)
        case Loop():
            return statement.inits


def walk(statements: tuple[Statement, ...], *, rare: bool = True) -> Iterator[Statement]:
    """Every statement, outer before inner, without recursion. `rare`: also those that few need."""
    stack = list(reversed(statements))
    while stack:
        statement = stack.pop()
        yield statement
        blocks = blocks_of(statement)
        if not rare and isinstance(statement, If) and statement.rare:
            blocks = (statement.orelse,)
        for block in reversed(blocks):
            stack.extend(reversed(block.items))


def used_values(fn: Function) -> set[Value | None]:
    """Every value that something reads: a statement, a block's end, or a store."""
    used: set[Value | None] = {value for _, value in fn.stores}
    for statement in walk(fn.statements):
        used.update(operands_of(statement))
        for block in blocks_of(statement):
            used.update(block.yields)
    return used
