"""A program's text is readable, repeatable, and tells programs apart."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given

from hawk.errors import Loc
from hawk.ir.builder import Builder
from hawk.ir.nodes import Apply, Block, Const, Function, Plane, Role, Value
from hawk.ir.printer import to_text
from hawk.ir.types import DType
from tests.unit.ir.programs import programs

F64, I32, BOOL = DType.F64, DType.I32, DType.BOOL


def example() -> Function:
    """A decaying oscillator with a branch, a loop and a finishing test."""
    builder = Builder()
    dt, x, v = (builder.param(F64, name=name) for name in ("dt", "x", "v"))
    loc = Loc("/home/me/oscillator.py", 12, 4, 12, 20)
    x1 = builder.apply("fma", dt, v, x, loc=loc, name="x")
    test = builder.apply("lt", x1, builder.const(0, F64), loc=replace(loc, line=13))
    with builder.block() as then:
        minus = builder.apply("neg", x1)
    (size,) = builder.branch(test, Block(tuple(then), (minus,)), Block((), (x1,)), names=["size"])
    i, j = builder.param(I32, name="i"), builder.param(I32, name="i")
    with builder.block() as tested:
        more = builder.apply("lt", i, builder.const(3, I32))
    with builder.block() as body:
        following = builder.apply("add", j, builder.const(1, I32))
    builder.loop(
        [builder.const(0, I32)],
        Block(tuple(tested), (more,), (i,)),
        Block(tuple(body), (following,), (j,)),
    )
    planes = (
        Plane("dt", Role.UNIFORM, F64, dt),
        Plane("x", Role.STATE, F64, x),
        Plane("v", Role.STATE, F64, v),
        Plane("done", Role.MASK, BOOL),
    )
    stores = (("x", size), ("v", builder.const(-0.0, F64)), ("done", test))
    return Function("oscillator", planes, F64, tuple(builder.items), stores)


TEXT = """\
kernel oscillator : f64
  uniform dt : f64
  state x : f64
  state v : f64
  mask done : bool
step:
  %x.1 = fma %dt, %v, %x : f64
  %0 = lt %x.1, 0.0 : bool
  %size = if %0 : f64
    then:
      %1 = neg %x.1 : f64
      yield %1
    else:
      yield %x.1
  %4 = loop 0 : i32
    while (%i):
      %2 = lt %i, 3 : bool
      yield %2
    do (%i.1):
      %3 = add %i.1, 1 : i32
      yield %3
store:
  x = %size
  v = -0.0
  done = %0
"""


def test_a_program_reads_like_this() -> None:
    assert TEXT == to_text(example(), locations=False)


def test_places_are_comments() -> None:
    lines = to_text(example()).splitlines()
    assert lines[6].split("#")[1] == " oscillator.py:12"
    assert lines[7].split("#")[1] == " oscillator.py:13"
    assert TEXT == "".join(f"{line.split('#')[0].rstrip()}\n" for line in lines)


def test_without_names_only_planes_are_named() -> None:
    text = to_text(example(), locations=False, names=False)
    assert "%0 = fma %dt, %v, %x : f64" in text
    assert "size" not in text


@given(programs)
def test_the_same_program_gives_the_same_text(fn: Function) -> None:
    assert to_text(fn) == to_text(fn)


@given(programs)
def test_no_two_values_have_one_name(fn: Function) -> None:
    body, _ = to_text(fn).split("store:")
    names = [name for line in body.splitlines() if " = " in line for name in results(line)]
    assert len(set(names)) == len(names)


def results(line: str) -> list[str]:
    names, _ = line.split(" = ")
    return names.strip().split(", ")


def test_constants_of_different_types_or_bits_give_different_texts() -> None:
    def text(constant: Const) -> str:
        wide = Apply("to_f64", (constant,), Value(F64))
        return to_text(
            Function("f", (Plane("o", Role.OUTPUT, F64),), F64, (wide,), (("o", wide.result),))
        )

    consts = [Const(F64, number=0.0), Const(F64, number=-0.0), Const(DType.F32, number=0.0)]
    consts += [Const(I32, number=0), Const(DType.I64, number=0), Const(BOOL, number=False)]
    assert len({text(const) for const in consts}) == len(consts)
