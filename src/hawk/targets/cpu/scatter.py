"""Giving to a table what each sample has for it, one after the other, as `ir.scatter` lays down.

`scatter_KIND_T(table, size, spots, values, count)` gives the first `count` of `values` to the
elements of `table` that `spots` say, and makes those spots 0. So what was given once is not given
again, also when a signal comes between two calls: the second begins where it likes.
"""

from __future__ import annotations

from hawk.ir.scatter import kinds_of
from hawk.ir.types import DType
from hawk.targets.cpu.control import default_control
from hawk.targets.cpu.machine import Machine
from hawk.targets.ordered import extreme_of
from hawk.targets.shape import MEMORY_TYPES

ROUTINES = tuple((kind, dtype) for dtype in DType for kind in kinds_of(dtype))


def symbol(kind: str, dtype: DType) -> str:
    return f"scatter_{kind}_{dtype.value}"


def scatters_text(machine: Machine) -> str:
    """The routines for all kinds and types."""
    return "\n".join(_text(kind, dtype, machine) for kind, dtype in ROUTINES)


def _text(kind: str, dtype: DType, machine: Machine) -> str:
    extreme = dtype.is_float and kind in ("min", "max")
    # The least and greatest are found among integers that are ordered as the floats are.
    element = f"i{8 * dtype.itemsize}" if extreme else MEMORY_TYPES[dtype]
    together = extreme_of(kind, dtype) if extreme else _simple(kind, dtype, element)
    control = default_control(machine)
    return f"""
define void @{symbol(kind, dtype)}(ptr %table, i64 %size, ptr %spots, ptr %values, i64 %count) \
nounwind {{
entry:
  {control.begin}
  %some = icmp ne i64 %count, 0
  br i1 %some, label %next, label %leave
next:
  %i = phi i64 [ 0, %entry ], [ %i.next, %given ]
  %spot.at = getelementptr i32, ptr %spots, i64 %i
  %spot = load i32, ptr %spot.at
  store i32 0, ptr %spot.at
  %wide = zext i32 %spot to i64
  %place = sub i64 %wide, 1
  %there = icmp ult i64 %place, %size
  br i1 %there, label %give, label %given
give:
  %new.at = getelementptr {element}, ptr %values, i64 %i
  %new = load {element}, ptr %new.at
  %old.at = getelementptr {element}, ptr %table, i64 %place
  %old = load {element}, ptr %old.at
  {together}
  store {element} %both, ptr %old.at
  br label %given
given:
  %i.next = add nuw i64 %i, 1
  %more = icmp ult i64 %i.next, %count
  br i1 %more, label %next, label %leave
leave:
  {control.end}
  ret void
}}"""


def _simple(kind: str, dtype: DType, element: str) -> str:
    if kind in ("min", "max"):
        sign = "u" if dtype is DType.U32 else "s"
        less = f"%less = icmp {sign}lt {element} %new, %old"
        pair = ("%new", "%old") if kind == "min" else ("%old", "%new")
        first, second = (f"{element} {each}" for each in pair)
        return f"{less}\n  %both = select i1 %less, {first}, {second}"
    operation = "fadd" if dtype.is_float else kind
    return f"%both = {operation} {element} %old, %new"
