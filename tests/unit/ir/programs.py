"""Random programs of the IR and random numbers for them, with every special value."""

from __future__ import annotations

from hypothesis import strategies as st

from hawk.ir.meaning import RANGE, represent
from hawk.ir.nodes import Apply, Block, Const, Function, If, Loop, Number, Plane, Role, Value
from hawk.ir.ops import OPS, Op, result_type
from hawk.ir.types import DType

INTERNAL = ("quot", "fit_shl", "fit_shr", "fit_copysign", "fit_i32", "fit_u32", "fit_i64")
"""Made by decompositions only, and not defined for all numbers."""

_FLOATS = [0.0, 1.0, 2.0, 0.5, 3.0, 1.5, 7.25, 0.1, float("inf"), float("nan")]
_FLOATS += [5e-324, 2.2250738585072014e-308, 1.7976931348623157e308]  # the ends of f64
_FLOATS += [1.401298464324817e-45, 1.1754943508222875e-38, 3.4028234663852886e38]  # and of f32
_FLOATS += [float(2**n) for n in (24, 31, 32, 53, 63, 64)] + [2.0**31 - 1, 2.0**32 - 1, 0.75, 2.5]
_INTS = [0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 2**24 + 1, 2**31 - 1, 2**31, 2**32 - 1, 2**53 + 1]
_INTS += [2**62 + 1, 2**63 - 1, 2**63]


def numbers(dtype: DType) -> st.SearchStrategy[Number]:
    """Numbers of a type: special ones, and any."""
    if dtype is DType.BOOL:
        return st.booleans()
    if dtype.is_int:
        special = st.sampled_from(_INTS + [-n for n in _INTS])
        return (special | st.integers(*RANGE[dtype])).map(lambda n: represent(dtype, n))
    special = st.sampled_from(_FLOATS + [-x for x in _FLOATS])
    return (special | st.floats(width=dtype.bits)).map(lambda x: represent(dtype, x))


def accepted(row: Op) -> list[tuple[DType, ...]]:
    """All operand types that an operation takes."""
    found: list[tuple[DType, ...]] = []
    for last in DType:
        for first in {last, DType.BOOL}:
            types = (first, *[last] * (row.arity - 1))
            try:
                result_type(row.name, types)
            except TypeError:
                continue
            found.append(types)
    return found


OPERATIONS = [
    (row.name, types) for row in OPS.values() if row.name not in INTERNAL for types in accepted(row)
]


@st.composite
def functions(draw: st.DrawFn) -> Function:
    """A function of three planes of each type, with branches and loops in each other."""
    return _Writer(draw).function()


def inputs(fn: Function) -> st.SearchStrategy[dict[str, Number]]:
    """What the planes hold when the step starts."""
    reads = {plane.name: numbers(plane.dtype) for plane in fn.planes if plane.read is not None}
    return st.fixed_dictionaries(reads)


class _Writer:
    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.pool: list[Value] = []  # what may be used here

    def function(self) -> Function:
        real = self.draw(st.sampled_from([DType.F32, DType.F64]))
        planes = [
            Plane(f"{role.value}_{dtype.value}", role, dtype, Value(dtype))
            for role in (Role.UNIFORM, Role.INPUT, Role.STATE)
            for dtype in DType
        ]
        planes.append(Plane("done", Role.MASK, DType.BOOL))
        planes.append(Plane("out", Role.OUTPUT, real))
        self.pool = [plane.read for plane in planes if plane.read is not None]
        step = self.statements(depth=0, most=12)
        stores = [
            (plane.name, self.value(plane.dtype))
            for plane in planes
            if plane.role in (Role.STATE, Role.MASK, Role.OUTPUT)
        ]
        return Function("random", tuple(planes), real, step, tuple(stores))

    def statements(self, depth: int, most: int) -> tuple:
        items = []
        for _ in range(self.draw(st.integers(0, most))):
            kind = self.draw(st.integers(0, 9))
            if kind == 9 and depth < 3:
                items += self.loop(depth)
            elif kind >= 7 and depth < 3:
                items.append(self.branch(depth))
            else:
                items.append(self.apply(*self.draw(st.sampled_from(OPERATIONS))))
            self.pool += items[-1].results
        return tuple(items)

    def value(self, dtype: DType) -> Value:
        """A value of a type that may be used here, the newest ones first; or a constant."""
        fitting = [value for value in reversed(self.pool) if value.dtype is dtype]
        i = self.draw(st.integers(0, len(fitting) + 2))
        return fitting[i] if i < len(fitting) else self.const(self.draw(numbers(dtype)), dtype)

    def const(self, number: Number, dtype: DType) -> Const:
        return Const(dtype, number=represent(dtype, number))

    def apply(self, op: str, types: tuple[DType, ...]) -> Apply:
        args = tuple(self.value(dtype) for dtype in types)
        return Apply(op, args, Value(result_type(op, types)))

    def block(self, depth: int, params: tuple[Value, ...], types: list[DType]) -> Block:
        outside = list(self.pool)
        self.pool += params
        items = self.statements(depth, most=5)
        yields = tuple(self.value(dtype) for dtype in types)
        self.pool = outside
        return Block(items, yields, params)

    def types(self) -> list[DType]:
        return self.draw(st.lists(st.sampled_from(list(DType)), max_size=3))

    def branch(self, depth: int) -> If:
        types = self.types()
        test = self.value(DType.BOOL)
        arms = [self.block(depth + 1, (), types) for _ in range(2)]
        return If(test, *arms, tuple(Value(dtype) for dtype in types))

    def loop(self, depth: int) -> list:
        """A loop that a counter ends after at most four trips, if nothing ends it before."""
        types = [DType.I32, *self.types()]
        last = self.apply("and", (DType.I32, DType.I32))
        last = Apply("and", (last.args[0], self.const(self.draw(st.integers(0, 3)), DType.I32)),
                     last.result)
        known = self.draw(st.booleans())
        bound = self.const(self.draw(st.integers(0, 3)), DType.I32) if known else last.result
        inits = (self.const(0, DType.I32), *[self.value(dtype) for dtype in types[1:]])

        params = tuple(Value(dtype) for dtype in types)
        inner = self.block(depth + 1, params, [DType.BOOL])
        below = Apply("lt", (params[0], bound), Value(DType.BOOL))
        tested = below.result
        goes_on = Apply("and", (tested, inner.yields[0]), Value(DType.BOOL))
        extra = (below, goes_on) if self.draw(st.booleans()) else (below,)
        test = Block((*inner.items, *extra), (extra[-1].result,), params)

        params = tuple(Value(dtype) for dtype in types)
        inner = self.block(depth + 1, params, types[1:])
        following = Apply("add", (params[0], self.const(1, DType.I32)), Value(DType.I32))
        body = Block((*inner.items, following), (following.result, *inner.yields), params)
        return [last, Loop(inits, test, body, tuple(Value(dtype) for dtype in types))]
