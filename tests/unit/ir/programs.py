"""Random programs of the IR and random numbers for them, with every special value.

They come from `random.Random` and a size, not from hypothesis draw by draw: that is ten times
faster, and hypothesis still finds a small seed and size when a test fails.
"""

from __future__ import annotations

import struct
from random import Random

from hypothesis import strategies as st

from hawk.ir.meaning import RANGE, represent
from hawk.ir.nodes import (
    Apply,
    Block,
    Const,
    Function,
    If,
    Loop,
    Number,
    Plane,
    Role,
    Statement,
    Value,
)
from hawk.ir.ops import LOOKUPS, OPS, Op, result_type
from hawk.ir.types import DType

INTERNAL = ("quot", "fit_shl", "fit_shr", "fit_copysign", "fit_i32", "fit_u32", "fit_i64")
"""Made by decompositions only, and not defined for all numbers."""

FLOATS = [0.0, 1.0, 2.0, 0.5, 3.0, 1.5, 7.25, 0.1, 0.75, 2.5, float("inf"), float("nan")]
FLOATS += [5e-324, 2.2250738585072014e-308, 1.7976931348623157e308]  # the ends of f64
FLOATS += [1.401298464324817e-45, 1.1754943508222875e-38, 3.4028234663852886e38]  # and of f32
FLOATS += [2.0**n for n in (24, 31, 32, 53, 63, 64)] + [2.0**31 - 1, 2.0**32 - 1, 2.0**31 + 0.5]
FLOATS += [-x for x in FLOATS]
INTS = [0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 2**24 + 1, 2**31 - 1, 2**31, 2**32 - 1, 2**53 + 1]
INTS += [2**62 + 1, 2**63 - 1, 2**63]
INTS += [-n for n in INTS]


def number(rng: Random, dtype: DType) -> Number:
    """A number of a type: a special one, one of common size, or any bits at all."""
    if dtype is DType.BOOL:
        return rng.random() < 0.5
    if dtype.is_int:
        any_bits = rng.randint(*RANGE[dtype])
        return represent(dtype, rng.choice([rng.choice(INTS), rng.randint(-9, 9), any_bits]))
    code = "f" if dtype is DType.F32 else "d"
    (any_bits,) = struct.unpack(code, rng.randbytes(dtype.itemsize))
    return represent(dtype, rng.choice([rng.choice(FLOATS), rng.uniform(-4, 4), any_bits]))


def accepted(row: Op) -> list[tuple[DType, ...]]:
    """All operand types that an operation takes."""
    found: list[tuple[DType, ...]] = []
    for last in DType:
        for first in dict.fromkeys((last, DType.BOOL)):
            types = (first, *[last] * (row.arity - 1))
            if row.arity == 4:
                types = (last, DType.BOOL, DType.I32, DType.I32)
            try:
                result_type(row.name, types)
            except TypeError:
                continue
            found.append(types)
    return list(dict.fromkeys(found))


OF_TABLES = LOOKUPS
"""Whose first operand is no number."""

OPERATIONS = [
    (row.name, types)
    for row in OPS.values()
    if row.name not in (*INTERNAL, *OF_TABLES)
    for types in accepted(row)
]


def random_function(rng: Random, size: int) -> Function:
    """A function of about `size` statements with planes of all types and roles."""
    return _Writer(rng, size).function()


def random_inputs(rng: Random, fn: Function) -> dict[str, Number]:
    """What the planes hold when the step starts."""
    return {plane.name: number(rng, plane.dtype) for plane in fn.planes if plane.read is not None}


programs = st.builds(
    lambda size, seed: random_function(Random(seed), size),
    st.integers(0, 30),
    st.integers(0, 2**32),
)
"""A hypothesis strategy of functions."""


class _Writer:
    def __init__(self, rng: Random, size: int) -> None:
        self.rng = rng
        self.left = size
        self.pool: list[Value] = []  # what may be used here

    def function(self) -> Function:
        real = self.rng.choice([DType.F32, DType.F64])
        planes = [
            Plane(f"{role.value}_{dtype.value}", role, dtype, Value(dtype))
            for role in (Role.UNIFORM, Role.INPUT, Role.STATE)
            for dtype in DType
        ]
        planes.append(Plane("done", Role.MASK, DType.BOOL))
        planes.append(Plane("out", Role.OUTPUT, real))
        self.pool = [plane.read for plane in planes if plane.read is not None]
        step = self.statements(depth=0)
        stores = [
            (plane.name, self.value(plane.dtype))
            for plane in planes
            if plane.role in (Role.STATE, Role.MASK, Role.OUTPUT)
        ]
        return Function("random", tuple(planes), real, step, tuple(stores))

    def statements(self, depth: int) -> tuple[Statement, ...]:
        items: list[Statement] = []
        most = self.rng.randint(0, 5) if depth else self.left
        while self.left > 0 and len(items) < most:
            self.left -= 1
            kind = self.rng.randint(0, 9) if depth < 3 else 0
            if kind == 9:
                self.loop(depth, items)
            elif kind >= 7:
                self.branch(depth, items)
            else:
                self.apply(items, *self.rng.choice(OPERATIONS))
        return tuple(items)

    def value(self, dtype: DType) -> Value:
        """A value of a type that may be used here, mostly a new one; or a constant."""
        fitting = [value for value in self.pool if value.dtype is dtype]
        if not fitting or self.rng.random() < 0.2:
            return self.const(number(self.rng, dtype), dtype)
        return self.rng.choice([self.rng.choice(fitting), *fitting[-3:]])

    def const(self, known: Number, dtype: DType) -> Const:
        return Const(dtype, number=represent(dtype, known))

    def apply(
        self, items: list[Statement], op: str, types: tuple[DType, ...], *args: Value
    ) -> Value:
        """Write an operation, on random operands unless they are given."""
        args = args or tuple(self.value(dtype) for dtype in types)
        return self.add(items, Apply(op, args, Value(result_type(op, types))))[0]

    def add(self, items: list[Statement], statement: Statement) -> tuple[Value, ...]:
        items.append(statement)
        self.pool += statement.results
        return statement.results

    def branch(self, depth: int, items: list[Statement]) -> None:
        types = self.types()
        test = self.value(DType.BOOL)
        then, orelse = (self.block(depth, types) for _ in range(2))
        self.add(items, If(test, then, orelse, values(types)))

    def block(self, depth: int, types: list[DType]) -> Block:
        outside = list(self.pool)
        items = self.statements(depth + 1)
        yields = tuple(self.value(dtype) for dtype in types)
        self.pool = outside
        return Block(items, yields)

    def loop(self, depth: int, items: list[Statement]) -> None:
        """A loop of at most three trips, their number known or not; it may end before."""
        int_32 = (DType.I32, DType.I32)
        bound: Value = self.const(self.rng.randint(0, 3), DType.I32)
        if self.rng.random() < 0.5:
            bound = self.apply(items, "and", int_32, self.value(DType.I32), bound)
        types = [DType.I32, *self.types()]
        inits = (self.const(0, DType.I32), *[self.value(dtype) for dtype in types[1:]])
        outside = list(self.pool)

        params = values(types)
        self.pool = outside + list(params)
        tested = list(self.statements(depth + 1))
        below = self.apply(tested, "lt", int_32, params[0], bound)
        if self.rng.random() < 0.5:
            more = self.value(DType.BOOL)
            below = self.apply(tested, "and", (DType.BOOL, DType.BOOL), below, more)
        test = Block(tuple(tested), (below,), params)

        params = values(types)
        self.pool = outside + list(params)
        done = list(self.statements(depth + 1))
        following = self.apply(done, "add", int_32, params[0], self.const(1, DType.I32))
        yields = [self.rng.choice([param, self.value(param.dtype)]) for param in params[1:]]
        body = Block(tuple(done), (following, *yields), params)

        self.pool = outside
        self.add(items, Loop(inits, test, body, values(types)))

    def types(self) -> list[DType]:
        return [self.rng.choice(list(DType)) for _ in range(self.rng.randint(0, 3))]


def values(types: list[DType]) -> tuple[Value, ...]:
    """New values of these types."""
    return tuple(Value(dtype) for dtype in types)
