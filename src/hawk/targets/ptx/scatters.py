"""Giving to a table on the GPU what each sample has for it, with the bits of `hawk.ir.scatter`.

    scatter_KIND_T(table, size, spots, values, count)

`size` elements, `count` samples. Whole numbers, and bits of them, come to the same in any order: a
thread takes a sample, and adds by one atomic operation. Floats are rounded after each addition, so
a thread takes an element, and goes through all samples from the first to the last: no element has
two writers, and all threads read the same spots at a time. Bools and the least and greatest of
floats, for which there is no atomic operation, are done like that too.

Spots are only read. Who launches this makes them 0 afterwards, see `hawk.ir.scatter`.
"""

from __future__ import annotations

from collections.abc import Iterator

from hawk.ir.scatter import kinds_of
from hawk.ir.types import DType
from hawk.targets.ordered import extreme_of
from hawk.targets.ptx.block import define, each
from hawk.targets.shape import MEMORY_TYPES
from hawk.targets.ways import GLOBAL

_PARAMETERS = (
    f"{GLOBAL} %table",
    "i64 %size",
    f"{GLOBAL} %spots",
    f"{GLOBAL} %values",
    "i64 %count",
)


def scatter_name(kind: str, dtype: DType) -> str:
    return f"scatter_{kind}_{dtype.value}"


def texts() -> Iterator[str]:
    """All of them."""
    for dtype in DType:
        for kind in kinds_of(dtype):
            write = _atomic if dtype.is_int else _in_order
            yield write(kind, dtype)


def _atomic(kind: str, dtype: DType) -> str:
    element = MEMORY_TYPES[dtype]
    operation = f"u{kind}" if dtype is DType.U32 and kind in ("min", "max") else kind
    inside = f"""  %spot.at = getelementptr i32, {GLOBAL} %spots, i64 %one
  %spot = load i32, {GLOBAL} %spot.at
  %wide = zext i32 %spot to i64
  %place = sub i64 %wide, 1
  %there = icmp ult i64 %place, %size
  br i1 %there, label %give, label %ended
give:
  %new.at = getelementptr {element}, {GLOBAL} %values, i64 %one
  %new = load {element}, {GLOBAL} %new.at
  %old.at = getelementptr {element}, {GLOBAL} %table, i64 %place
  %old = atomicrmw {operation} {GLOBAL} %old.at, {element} %new syncscope("device") monotonic
"""
    return define(scatter_name(kind, dtype), _PARAMETERS, each("%count", inside))


def _in_order(kind: str, dtype: DType) -> str:
    extreme = dtype.is_float and kind in ("min", "max")
    element = f"i{8 * dtype.itemsize}" if extreme else MEMORY_TYPES[dtype]
    operation = "fadd" if dtype.is_float else kind
    together = extreme_of(kind, dtype) if extreme else f"%both = {operation} {element} %old, %new"
    inside = f"""  %old.at = getelementptr {element}, {GLOBAL} %table, i64 %one
  %was = load {element}, {GLOBAL} %old.at
  %mine.64 = add i64 %one, 1
  %mine = trunc i64 %mine.64 to i32
  br label %look
look:
  %i = phi i64 [ 0, %inside ], [ %i.next, %given ]
  %old = phi {element} [ %was, %inside ], [ %now, %given ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %ask, label %put
ask:
  %spot.at = getelementptr i32, {GLOBAL} %spots, i64 %i
  %spot = load i32, {GLOBAL} %spot.at
  %is = icmp eq i32 %spot, %mine
  br i1 %is, label %give, label %given
give:
  %new.at = getelementptr {element}, {GLOBAL} %values, i64 %i
  %new = load {element}, {GLOBAL} %new.at
  {together}
  br label %given
given:
  %now = phi {element} [ %old, %ask ], [ %both, %give ]
  %i.next = add i64 %i, 1
  br label %look
put:
  store {element} %old, {GLOBAL} %old.at
"""
    return define(scatter_name(kind, dtype), _PARAMETERS, each("%size", inside))
