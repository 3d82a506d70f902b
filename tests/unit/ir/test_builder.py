"""The builder writes statements in the open block and computes what is known."""

from __future__ import annotations

import pytest

from hawk.errors import NOWHERE, Loc
from hawk.ir.builder import Builder
from hawk.ir.nodes import Apply, Block, Const, If, Loop
from hawk.ir.types import DType

F32, F64, BOOL = DType.F32, DType.F64, DType.BOOL
PLACE = Loc("orbit.py", 12, 4, 12, 9)


def test_an_operation_becomes_a_statement_with_name_and_place() -> None:
    builder = Builder(PLACE)
    x = builder.param(F64, name="x")

    y = builder.apply("add", x, builder.const(1, F64), name="y")
    z = builder.apply("neg", y, loc=NOWHERE)

    assert [Apply, Apply] == [type(item) for item in builder.items]
    assert (F64, "y", PLACE, NOWHERE) == (y.dtype, y.name, y.loc, z.loc)


def test_an_operation_on_constants_is_a_constant() -> None:
    builder = Builder()

    third = builder.apply("div", builder.const(1, F32), builder.const(3, F32))

    assert isinstance(third, Const)
    assert third.number == 0.3333333432674408
    assert builder.items == []


def test_operands_that_do_not_fit_are_refused() -> None:
    builder = Builder()
    with pytest.raises(TypeError, match="`fma` takes 3 operands"):
        builder.apply("fma", builder.param(F64))


def test_blocks_collect_their_own_statements() -> None:
    builder = Builder()
    x = builder.param(F64)
    test = builder.apply("lt", x, builder.const(0, F64))
    with builder.block() as then:
        minus = builder.apply("neg", x)
    (size,) = builder.branch(test, Block(tuple(then), (minus,)), Block((), (x,)), names=["size"])

    assert [Apply, If] == [type(item) for item in builder.items]
    assert [minus] == [item.result for item in then]
    assert size.name == "size"


def test_a_block_closes_when_writing_it_fails() -> None:
    builder = Builder()
    outside = builder.items
    with pytest.raises(ZeroDivisionError), builder.block():
        raise ZeroDivisionError
    assert builder.items is outside


def test_a_loop_gives_its_carried_values() -> None:
    builder = Builder()
    x = builder.param(F64)
    p, q = builder.param(F64), builder.param(F64)
    with builder.block() as tested:
        more = builder.apply("lt", p, builder.const(8, F64))
    with builder.block() as body:
        twice = builder.apply("add", q, q)
    test, do = Block(tuple(tested), (more,), (p,)), Block(tuple(body), (twice,), (q,))

    (end,) = builder.loop([x], test, do)

    assert isinstance(builder.items[-1], Loop)
    assert end.dtype is F64
    with pytest.raises(TypeError, match="loop"):
        builder.loop([more], test, do)


def test_arms_of_different_types_are_refused() -> None:
    builder = Builder()
    x, test = builder.param(F64), builder.param(BOOL)
    with pytest.raises(TypeError, match="if"):
        builder.branch(test, Block((), (x,)), Block((), (test,)))
