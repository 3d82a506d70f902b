"""The table of operations is complete, and decompositions mean what their operations mean."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hawk.ir.builder import Builder
from hawk.ir.interpret import Env, interpret
from hawk.ir.meaning import RANGE, same
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
    walk,
)
from hawk.ir.ops import OPS, decomposition, llvm_text, result_type
from hawk.ir.types import DType
from tests.unit.ir.programs import INTERNAL, OF_TABLES, accepted, number

ROWS = OPS.values()
ROUNDS_MAX = 75
"""Rounds that a loop of a decomposition may take. The longest takes 2,098 bits off a quotient, 53
at a time, and two rounds more each time for the first 470 bits, one more for the next 600."""


@pytest.mark.parametrize("row", ROWS, ids=OPS)
def test_a_row_is_complete(row) -> None:
    assert row.doc.endswith((".", "?"))
    assert 0 <= row.max_ulp <= 1.5
    assert accepted(row)
    for types in accepted(row):
        spelled = llvm_text(row.name, types[-1]), decomposition(row.name, types[-1])
        ways = 0 if row.name in OF_TABLES else 1  # a target reads memory in its own way
        assert sum(way is not None for way in spelled) == ways, (row.name, types)


@pytest.mark.parametrize("row", ROWS, ids=OPS)
def test_an_llvm_text_uses_its_operands_and_known_words(row) -> None:
    for text in row.llvm.values():
        words = set(re.findall(r"\{(\w)\}", text))
        assert words <= {"0", "1", "2", "A", "R", "C", "M", "P"}
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
    rng = Random(seed)
    builder = Builder()
    # Some decompositions look at operands that are known, as the second often is.
    last: Value = builder.param(types[-1])
    if len(types) == 2 and rng.random() < 0.5:
        last = builder.const(number(rng, types[-1]), types[-1])
    params = [*(builder.param(dtype) for dtype in types[:-1]), last]
    result = decomposed(builder, op, params)
    for _ in range(5):
        numbers = [number(rng, dtype) for dtype in types]
        if isinstance(last, Const):
            numbers[-1] = last.number
        env = dict(zip(params, numbers, strict=True))

        run_safely(builder.items, env)

        assert same(OPS[op].meaning(types[-1], *numbers), held(result, env)), numbers


def decomposed(builder: Builder, op: str, params: list[Value]) -> Value:
    how = decomposition(op, params[-1].dtype)
    assert how is not None
    return how(builder, *params)


def run_safely(items: Sequence[Statement], env: Env) -> None:
    """Run statements as a vector does: both sides of an If, and a Loop's body once too often."""
    for item in items:
        match item:
            case Apply():
                assert llvm_text(item.op, item.args[-1].dtype) is not None
                env[item.result] = safe_meaning(item, env)
            case If():
                sides = [block_safely(block, [], env) for block in (item.then, item.orelse)]
                chosen = sides[0] if held(item.test, env) else sides[1]
                env.update(zip(item.results, chosen, strict=True))
            case Loop():
                carried = [held(init, env) for init in item.inits]
                for _ in range(ROUNDS_MAX):
                    (again,) = block_safely(item.test, carried, env)
                    after = block_safely(item.body, carried, env)
                    if not again:
                        break
                    carried = after
                else:
                    raise AssertionError("a loop of a decomposition must end soon")
                env.update(zip(item.results, carried, strict=True))


def block_safely(block: Block, arguments: Sequence[Number], env: Env) -> list[Number]:
    env.update(zip(block.params, arguments, strict=True))
    run_safely(block.items, env)
    return [held(value, env) for value in block.yields]


def held(value: Value, env: Env) -> Number:
    return value.number if isinstance(value, Const) else env[value]


def safe_meaning(statement: Apply, env: Env) -> Number:
    """The meaning of an operation, after a look at what LLVM would make of its operands."""
    dtype = statement.args[-1].dtype
    numbers = [held(arg, env) for arg in statement.args]
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
        made |= {each.op for each in walk(tuple(builder.items)) if isinstance(each, Apply)}
    assert set(INTERNAL) == made & set(INTERNAL)


def test_interpret_uses_the_table() -> None:
    x = Value(DType.F64)
    plane = Plane("x", Role.STATE, DType.F64, x)
    twice = Apply("add", (x, x), Value(DType.F64))
    fn = Function("f", (plane,), DType.F64, (twice,), (("x", twice.result),))
    assert interpret(fn, {"x": 2}) == {"x": 4.0}
