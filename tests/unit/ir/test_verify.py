"""A program that breaks a rule of the IR is refused, with a reason and its text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from hawk.ir.nodes import (
    Apply,
    Block,
    Const,
    Function,
    If,
    Lines,
    Loop,
    Plane,
    Reduction,
    Role,
    Scatter,
    Value,
)
from hawk.ir.types import DType
from hawk.ir.verify import InvalidProgram, verify

F64, BOOL, I32 = DType.F64, DType.BOOL, DType.I32

G, X, V = Value(F64, name="g"), Value(F64, name="x"), Value(F64, name="v")
SUM, TEST = Value(F64, name="sum"), Value(BOOL, name="test")
ADD, LESS = Apply("add", (X, V), SUM), Apply("lt", (X, V), TEST)
ONE = Const(F64, number=1.0)
FN = Function(
    "fn",
    (
        Plane("g", Role.UNIFORM, F64, G),
        Plane("x", Role.INPUT, F64, X),
        Plane("v", Role.STATE, F64, V),
        Plane("done", Role.MASK, BOOL),
        Plane("out", Role.OUTPUT, F64),
    ),
    F64,
    (ADD, LESS),
    (("v", SUM), ("done", TEST), ("out", ONE)),
)


def step(*statements) -> Function:
    return replace(FN, step=statements)


def with_value(value: Value) -> Function:
    return replace(FN, stores=(("v", value), *FN.stores[1:]))


def giving(kind: str = "add", spot: Value | None = None, role: Role = Role.SHARED) -> Function:
    """The program with a scatter to a table of floats."""
    place: Value = Const(I32, number=1) if spot is None else spot
    planes = (
        Plane("t", role, F64, Value(F64, name="t")),
        Plane("spot 0", Role.OUTPUT, place.dtype),
        Plane("given 0", Role.OUTPUT, F64),
    )
    stores = (("spot 0", place), ("given 0", SUM))
    return replace(
        FN,
        planes=(*FN.planes, *planes),
        stores=(*FN.stores, *stores),
        scatters=(Scatter(kind, "t", "spot 0", "given 0"),),
    )


def reducing(*over: int, role: Role = Role.TABLE, extent: int | str = "rows") -> Function:
    """The program with a reduction of `x` along dimensions of a grid of 2."""
    planes = (
        Plane("rows", Role.UNIFORM, I32, Value(I32, name="rows")),
        Plane("sum 0", role, F64, Value(F64, name="total")),
    )
    lines = Lines((extent, 7), over)
    made = Reduction("sum", X, None, "sum 0", lines=lines)
    return replace(FN, planes=(*FN.planes, *planes), reductions=(made,))


def test_a_good_reduction_along_a_dimension_is_accepted() -> None:
    for over in (0, 1):
        verify(reducing(over))
    verify(reducing(1, extent=3))


def test_a_good_program_is_accepted() -> None:
    verify(FN)
    verify(giving())


def loop(**changes) -> Function:
    """A good loop, with some fields changed."""
    p, q = Value(F64, name="p"), Value(F64, name="q")
    again = Value(BOOL)
    fields = {
        "inits": (X,),
        "test": Block((Apply("lt", (p, ONE), again),), (again,), (p,)),
        "body": Block((), (q,), (q,)),
        "results": (Value(F64),),
    }
    return step(ADD, LESS, Loop(**(fields | changes)))


def branch(**changes) -> Function:
    """A good branch, with some fields changed."""
    fields = {
        "test": TEST,
        "then": Block((), (X,)),
        "orelse": Block((), (ONE,)),
        "results": (Value(F64),),
    }
    return step(ADD, LESS, If(**(fields | changes)))


def test_a_good_loop_and_a_good_branch_are_accepted() -> None:
    verify(loop())
    verify(branch())


INSIDE = Value(F64, name="inside")
MADE_INSIDE = Apply("neg", (X,), INSIDE)

BROKEN: dict[str, tuple[Callable[[], Function], str]] = {
    "used before": (lambda: step(Apply("neg", (SUM,), Value(F64)), ADD, LESS), "before its defini"),
    "never defined": (lambda: with_value(Value(F64, name="lost")), "uses `lost`"),
    "defined twice": (lambda: step(ADD, ADD, LESS), "`sum` .* is defined twice"),
    "read defined again": (lambda: step(ADD, LESS, Apply("neg", (X,), X)), "`x` .* is defined tw"),
    "used outside its arm": (
        lambda: step(
            *branch(then=Block((MADE_INSIDE,), (INSIDE,))).step, Apply("neg", (INSIDE,), Value(F64))
        ),
        "uses `inside` .* outside the block",
    ),
    "used in the other arm": (
        lambda: branch(then=Block((MADE_INSIDE,), (X,)), orelse=Block((), (INSIDE,))),
        "outside the block",
    ),
    "no such operation": (
        lambda: step(ADD, LESS, Apply("pow", (X, V), Value(F64))),
        "no operation",
    ),
    "arity": (lambda: step(ADD, LESS, Apply("add", (X,), Value(F64))), "takes 2 operands"),
    "operand types": (lambda: step(ADD, LESS, Apply("add", (X, TEST), Value(F64))), "one type"),
    "result type": (lambda: step(ADD, LESS, Apply("add", (X, V), Value(I32))), "gives"),
    "constant of another type": (lambda: with_value(Const(F64, number=1)), "holds 1"),
    "a constant is defined": (
        lambda: step(ADD, LESS, Apply("neg", (X,), Const(F64, number=0.0))),
        "is defined",
    ),
    "if on a float": (lambda: branch(test=X), "tests a"),
    "if with params": (lambda: branch(then=Block((), (X,), (Value(F64),))), "has params"),
    "if yields too few": (lambda: branch(then=Block((), ())), "an if yields"),
    "if yields another type": (lambda: branch(orelse=Block((), (TEST,))), "an if yields"),
    "loop starts with another type": (lambda: loop(inits=(TEST,)), "starts with"),
    "loop test of a float": (lambda: loop(test=Block((), (X,), (Value(F64),))), "a loop tests"),
    "loop test without params": (lambda: loop(test=Block((), (TEST,))), "takes"),
    "loop yields too many": (lambda: loop(body=Block((), (X, X), (Value(F64),))), "a loop yields"),
    "loop shares params": (lambda: loop(body=Block((), (X,), (X,))), "is defined twice"),
    "store missing": (lambda: replace(FN, stores=FN.stores[:2]), "due"),
    "store of an input": (lambda: replace(FN, stores=(("x", X), *FN.stores)), "due"),
    "stores in another order": (lambda: replace(FN, stores=FN.stores[::-1]), "due"),
    "store of another type": (lambda: with_value(TEST), "`v` gets a"),
    "launch uses an input": (
        lambda: replace(FN, launch=(Apply("neg", (X,), Value(F64)),)),
        "uses `x`",
    ),
    "launch uses state": (
        lambda: replace(FN, launch=(Apply("neg", (V,), Value(F64)),)),
        "uses `v`",
    ),
    "sample uses state": (
        lambda: replace(FN, sample=(Apply("neg", (V,), Value(F64)),)),
        "uses `v`",
    ),
    "mask of floats": (
        lambda: replace(FN, planes=(*FN.planes[:3], Plane("done", Role.MASK, F64), FN.planes[4])),
        "is a mask of",
    ),
    "input without a read": (
        lambda: replace(FN, planes=(Plane("g", Role.UNIFORM, F64), *FN.planes[1:])),
        "has no read",
    ),
    "output with a read": (
        lambda: replace(FN, planes=(*FN.planes[:4], Plane("out", Role.OUTPUT, F64, Value(F64)))),
        "has a read",
    ),
    "read of another type": (
        lambda: replace(FN, planes=(Plane("g", Role.UNIFORM, F64, Value(I32)), *FN.planes[1:])),
        "its read is",
    ),
    "a scatter of no kind": (lambda: giving("mul"), "no kind mul"),
    "a scatter of bits to floats": (lambda: giving("or"), "no kind or"),
    "a scatter to a table that is only read": (lambda: giving(role=Role.TABLE), "it is table"),
    "a scatter at a float": (lambda: giving(spot=SUM), "a spot is"),
    "a scatter without its planes": (
        lambda: replace(FN, scatters=giving().scatters),
        "lacks a plane",
    ),
    "numbers of lines that are no table": (
        lambda: reducing(0, role=Role.UNIFORM),
        "has no table plane",
    ),
    "one number that is a table": (
        lambda: replace(reducing(0), reductions=(replace(reducing(0).reductions[0], lines=None),)),
        "has no uniform plane",
    ),
    "lines along nothing": (reducing, r"goes along \(\) of 2"),
    "lines along all": (lambda: reducing(0, 1), r"goes along \(0, 1\) of 2"),
    "lines along one of three": (lambda: reducing(2), r"goes along \(2,\) of 2"),
    "lines of no known extent": (lambda: reducing(1, extent="x"), "'x'. hold no extents"),
    "two planes of one name": (
        lambda: replace(FN, planes=(Plane("x", Role.UNIFORM, F64, G), *FN.planes[1:])),
        "one name",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_program_is_refused(case: str) -> None:
    broken, reason = BROKEN[case]
    with pytest.raises(InvalidProgram, match=reason) as caught:
        verify(broken())
    assert "kernel fn : f64" in str(caught.value)
