"""The interpreter runs statements as the IR defines them."""

from __future__ import annotations

import pytest

from hawk.ir.builder import Builder
from hawk.ir.interpret import interpret
from hawk.ir.nodes import Block, Function, Plane, Role
from hawk.ir.types import DType

F32, F64, I64 = DType.F32, DType.F64, DType.I64


def collatz() -> Function:
    """The number of steps of a run-time loop with a branch in it: `x` until it is 1."""
    b = Builder()
    x, zero, one, two = b.param(I64), b.const(0, I64), b.const(1, I64), b.const(2, I64)
    p, q = [b.param(I64) for _ in range(2)], [b.param(I64) for _ in range(2)]
    with b.block() as test:
        more = b.apply("ne", p[0], one)
    with b.block() as body:
        even = b.apply("eq", b.apply("mod", q[0], two), zero)
        with b.block() as then:
            half = b.apply("floordiv", q[0], two)
        with b.block() as orelse:
            up = b.apply("add", b.apply("mul", q[0], b.const(3, I64)), one)
        (x1,) = b.branch(even, Block(tuple(then), (half,)), Block(tuple(orelse), (up,)))
        count = b.apply("add", q[1], one)
    _, steps = b.loop(
        [x, zero],
        Block(tuple(test), (more,), tuple(p)),
        Block(tuple(body), (x1, count), tuple(q)),
    )
    plane = Plane("x", Role.INPUT, I64, x), Plane("out", Role.OUTPUT, I64)
    return Function("collatz", plane, F64, tuple(b.items), (("out", steps),))


@pytest.mark.parametrize(("x", "steps"), [(1, 0), (2, 1), (27, 111), (97, 118)])
def test_a_loop_runs_until_its_test_is_false(x: int, steps: int) -> None:
    assert interpret(collatz(), {"x": x}) == {"out": steps}


def sum_of(terms: int) -> Function:
    b = Builder()
    x = total = b.param(F32)
    for _ in range(terms):
        total = b.apply("add", total, x)
    return Function("sum", (Plane("x", Role.STATE, F32, x),), F32, tuple(b.items), (("x", total),))


def test_a_sum_of_many_terms_is_no_matter_of_recursion() -> None:
    assert interpret(sum_of(5000), {"x": 1}) == {"x": 5001.0}


def test_what_planes_hold_is_rounded_to_their_type() -> None:
    assert interpret(sum_of(0), {"x": 0.1}) == {"x": 0.10000000149011612}


def test_state_that_is_never_read_may_be_missing_and_other_planes_may_not() -> None:
    b = Builder()
    plane = Plane("x", Role.STATE, F32, b.param(F32))
    fn = Function("f", (plane,), F32, (), (("x", b.const(2, F32)),))
    assert interpret(fn, {}) == {"x": 2.0}
    with pytest.raises(KeyError, match="x"):
        interpret(sum_of(1), {})
