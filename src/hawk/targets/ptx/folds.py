"""Sums on the GPU with the bits of `hawk.ir.reduce`: 1,024 places are folded in halves by a block.

    fold_T(values, keep, done, order, lines, count, sums)       the sum of each 1,024 places
    fold_kept, fold_true, fold_false(the same)                  how many take part, are True, False
    mean_T(sums, counts, lines, out)                            the quotient, for each line
    any_of, all_of(counts, lines, out)                          are some True, are none False?

`sums` has, for each line, a number for each 1,024 places begun, one at least; those are folded
again by a launch with `values=sums`, until each line has one. See `block` for the parameters.
"""

from __future__ import annotations

from collections.abc import Iterator

from hawk.ir.types import DType
from hawk.targets.ptx.block import (
    ARRAYS,
    BARRIER,
    EACH,
    HALVES,
    SHARED,
    SIZES,
    define,
    each,
    if_it_takes_part,
    items,
    sample_of,
)
from hawk.targets.ptx.entry import THREADS
from hawk.targets.shape import LLVM_TYPES
from hawk.targets.ways import GLOBAL

SUMMED = (DType.I32, DType.U32, DType.I64, DType.F32, DType.F64)
COUNTS = {"fold_kept": "", "fold_true": "ne", "fold_false": "eq"}
"""What is counted: how an element compares to 0, or every sample that takes part."""


def fold_name(dtype: DType) -> str:
    return f"fold_{dtype.value}"


def mean_name(dtype: DType) -> str:
    return f"mean_{dtype.value}"


def texts() -> Iterator[str]:
    """All of them."""
    yield from (_fold(fold_name(dtype), dtype, _element(dtype)) for dtype in SUMMED)
    yield from (_fold(name, DType.I64, _counted(test)) for name, test in COUNTS.items())
    yield from (_mean(dtype) for dtype in SUMMED if dtype.is_float)
    yield from (_truth(name, test) for name, test in (("any_of", "ne"), ("all_of", "eq")))


def _element(dtype: DType) -> str:
    kind = LLVM_TYPES[dtype]
    return f"""  %value.at{{j}} = getelementptr {kind}, {GLOBAL} %values, i64 %sample{{j}}
  %value{{j}} = load {kind}, {GLOBAL} %value.at{{j}}
"""


def _counted(test: str) -> str:
    if not test:
        return "  %value{j} = add i64 1, 0\n"
    return f"""  %value.at{{j}} = getelementptr i8, {GLOBAL} %values, i64 %sample{{j}}
  %value.is{{j}} = load i8, {GLOBAL} %value.at{{j}}
  %value.bit{{j}} = icmp {test} i8 %value.is{{j}}, 0
  %value{{j}} = zext i1 %value.bit{{j}} to i64
"""


def _term(j: int, kind: str, zero: str, value: str) -> str:
    """%term: what this thread's j-th place gives, or zero."""
    return f"""  %place{j} = add i64 %mine, {j * THREADS}
  %there{j} = icmp ult i64 %place{j}, %count
  br i1 %there{j}, label %in{j}, label %over{j}
in{j}:
  %at{j} = add i64 %base, %place{j}
{sample_of(str(j), f"in{j}")}{if_it_takes_part(str(j), f"over{j}")}{value.format(j=j)}  \
br label %over{j}
over{j}:
  %term{j} = phi {kind} [ {zero}, %{"inside" if not j else f"over{j - 1}"} ], \
[ {zero}, %keep{j} ], [ {zero}, %done{j} ], [ %value{j}, %part{j} ]
"""


def _fold(name: str, dtype: DType, value: str) -> str:
    kind = LLVM_TYPES[dtype]
    add, zero = ("fadd", "0.0") if dtype.is_float else ("add", "0")
    room = f"@{name}_room"
    inside = "  %base = mul i64 %line, %count\n  %mine = add i64 %first, %tid\n"
    inside += "".join(_term(j, kind, zero, value) for j in range(EACH))
    inside += f"""  %left = {add} {kind} %term0, %term2
  %right = {add} {kind} %term1, %term3
  %both = {add} {kind} %left, %right
  %own = getelementptr {kind}, {SHARED} {room}, i64 %tid
  store {kind} %both, {SHARED} %own
{BARRIER}
"""
    for half in HALVES:
        inside += f"""  %low{half} = icmp ult i64 %tid, {half}
  br i1 %low{half}, label %fold{half}, label %folded{half}
fold{half}:
  %other.at{half} = getelementptr {kind}, {SHARED} %own, i64 {half}
  %other{half} = load {kind}, {SHARED} %other.at{half}
  %mine{half} = load {kind}, {SHARED} %own
  %sum{half} = {add} {kind} %mine{half}, %other{half}
  store {kind} %sum{half}, {SHARED} %own
  br label %folded{half}
folded{half}:
{BARRIER}
"""
    inside += f"""  %lead = icmp eq i64 %tid, 0
  br i1 %lead, label %put, label %ended
put:
  %result = load {kind}, {SHARED} {room}
  %result.at = getelementptr {kind}, {GLOBAL} %sums, i64 %item
  store {kind} %result, {GLOBAL} %result.at
"""
    shared = f"{room} = internal addrspace(3) global [{THREADS} x {kind}] poison, align 8\n"
    return shared + define(name, (*ARRAYS, *SIZES, f"{GLOBAL} %sums"), items("%count", inside))


def _mean(dtype: DType) -> str:
    kind = LLVM_TYPES[dtype]
    inside = f"""  %count.at = getelementptr i64, {GLOBAL} %counts, i64 %one
  %count = load i64, {GLOBAL} %count.at
  %divisor = sitofp i64 %count to {kind}
  %sum.at = getelementptr {kind}, {GLOBAL} %sums, i64 %one
  %sum = load {kind}, {GLOBAL} %sum.at
  %mean = fdiv {kind} %sum, %divisor
  %out.at = getelementptr {kind}, {GLOBAL} %out, i64 %one
  store {kind} %mean, {GLOBAL} %out.at
"""
    parameters = (f"{GLOBAL} %sums", f"{GLOBAL} %counts", "i64 %lines", f"{GLOBAL} %out")
    return define(mean_name(dtype), parameters, each("%lines", inside))


def _truth(name: str, test: str) -> str:
    inside = f"""  %count.at = getelementptr i64, {GLOBAL} %counts, i64 %one
  %count = load i64, {GLOBAL} %count.at
  %holds = icmp {test} i64 %count, 0
  %byte = zext i1 %holds to i8
  %out.at = getelementptr i8, {GLOBAL} %out, i64 %one
  store i8 %byte, {GLOBAL} %out.at
"""
    parameters = (f"{GLOBAL} %counts", "i64 %lines", f"{GLOBAL} %out")
    return define(name, parameters, each("%lines", inside))
