"""The table of operations is complete, and decompositions mean what their operations mean."""

from __future__ import annotations

import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hawk.ir.builder import Builder
from hawk.ir.interpret import interpret
from hawk.ir.meaning import RANGE, same
from hawk.ir.nodes import Apply, Const, Function, Plane, Role, Value
from hawk.ir.ops import OPS, decomposition, llvm_text, result_type
from hawk.ir.types import DType
from tests.unit.ir.programs import INTERNAL, accepted, number

ROWS = OPS.values()


@pytest.mark.parametrize("row", ROWS, ids=OPS)
def test_a_row_is_complete(row) -> None:
    assert row.doc.endswith((".", "?"))
    assert 0 <= row.max_ulp <= 0.5
    assert accepted(row)
    for types in accepted(row):
        spelled = llvm_text(row.name, types[-1]), decomposition(row.name, types[-1])
        assert sum(way is not None for way in spelled) == 1, (row.name, types)


@pytest.mark.parametrize("row", ROWS, ids=OPS)
def test_an_llvm_text_uses_its_operands_and_known_words(row) -> None:
    for text in row.llvm.values():
        words = set(re.findall(r"\{(\w)\}", text))
        assert words <= {"0", "1", "2", "A", "R", "C", "M"}
        if text != "=":
            assert {str(i) for i in range(row.arity)} <= words


@pytest.mark.parametrize(
    ("op", "types", "text"),
    [
        ("add", (DType.F64, DType.F32), "`add` needs numbers of one type, got f64 and f32"),
        ("add", (DType.BOOL, DType.BOOL), "`add` needs numbers of one type, got bool and bool"),
        ("add", (DType.F64,), "`add` takes 2 operands, got 1"),
        ("div", (DType.I32, DType.I32), "`div` needs floats of one width, got i32 and i32"),
        ("lt", (DType.BOOL, DType.BOOL), "`lt` needs numbers of one type"),
        ("select", (DType.I32,) * 3, "`select` needs a bool and two values of one type"),
    ],
)
def test_types_that_do_not_fit_are_refused(op: str, types: tuple[DType, ...], text: str) -> None:
    with pytest.raises(TypeError, match=re.escape(text)):
        result_type(op, types)


DECOMPOSED = [
    (row.name, types)
    for row in ROWS
    for types in accepted(row)
    if decomposition(row.name, types[-1]) is not None
]


@pytest.mark.parametrize(("op", "types"), DECOMPOSED)
@given(seed=st.integers(0, 2**32))
def test_a_decomposition_means_the_same_and_is_safe(
    op: str, types: tuple[DType, ...], seed: int
) -> None:
    builder = Builder()
    params = [builder.param(dtype) for dtype in types]
    result = decomposed(builder, op, params)
    rng = Random(seed)
    for _ in range(5):
        numbers = [number(rng, dtype) for dtype in types]
        env = dict(zip(params, numbers, strict=True))

        for statement in builder.items:
            assert llvm_text(statement.op, statement.args[-1].dtype) is not None
            env[statement.result] = safe_meaning(statement, env)

        assert same(OPS[op].meaning(types[-1], *numbers), env[result]), numbers


def decomposed(builder: Builder, op: str, params: list[Value]) -> Value:
    how = decomposition(op, params[-1].dtype)
    assert how is not None
    return how(builder, *params)


def safe_meaning(statement: Apply, env: dict):
    """The meaning of an operation, after a look at what LLVM would make of its operands."""
    dtype = statement.args[-1].dtype
    numbers = [arg.number if isinstance(arg, Const) else env[arg] for arg in statement.args]
    if statement.op == "quot":
        assert numbers[1] != 0
        assert numbers[1] != -1 or numbers[0] != RANGE[dtype][0]
    if statement.op in ("fit_shl", "fit_shr"):
        assert 0 <= numbers[1] < dtype.bits
    if statement.op == "fit_copysign":
        assert numbers[1] == numbers[1]
    if statement.op in ("fit_i32", "fit_u32", "fit_i64"):
        least, greatest = RANGE[statement.result.dtype]
        assert least <= numbers[0] <= greatest
    return OPS[statement.op].meaning(dtype, *numbers)


def test_nothing_but_decompositions_makes_an_internal_operation() -> None:
    made: set[str] = set()
    for op, types in DECOMPOSED:
        builder = Builder()
        decomposed(builder, op, [builder.param(dtype) for dtype in types])
        made |= {statement.op for statement in builder.items}
    assert set(INTERNAL) == made & set(INTERNAL)


def test_interpret_uses_the_table() -> None:
    x = Value(DType.F64)
    plane = Plane("x", Role.STATE, DType.F64, x)
    twice = Apply("add", (x, x), Value(DType.F64))
    fn = Function("f", (plane,), DType.F64, (twice,), (("x", twice.result),))
    assert interpret(fn, {"x": 2}) == {"x": 4.0}
