"""Sums over a batch, in the one order that `ir.reduce` lays down: blocks folded in halves.

`fold_T(numbers, keep, lines, count, sums)` makes one number of each block; called again on those
until one is left, that is the sum. It does so for each of several lines of `count` numbers, one
after the other in memory; a batch is one line. `keep` is the address of a byte for each number, 0
where it counts as zero, or null. `mean_T(sums, counts, lines)` divides the sum of each line by an
int64; a NaN is the positive one on every machine.

A block of a short line is filled up to the next power of two only. The other zeros would be added
to each of its numbers at once, and all that does is to make 0.0 of -0.0: it is done without them.
"""

from __future__ import annotations

from hawk.ir.reduce import BLOCK
from hawk.ir.types import DType
from hawk.targets.cpu.control import default_control
from hawk.targets.cpu.machine import Machine
from hawk.targets.shape import LLVM_TYPES

LANES = 8
"""Numbers added at a time, as one vector of LLVM's: whatever registers a machine has."""

FOLDED = (DType.F64, DType.F32, DType.I64, DType.I32)


def symbol(dtype: DType) -> str:
    """The routine for numbers of a type. Unsigned ones are added as signed ones are."""
    return f"fold_{LLVM_TYPES[dtype]}"


def mean_symbol(dtype: DType) -> str:
    """The routine that divides sums of a type of floats."""
    return f"mean_{LLVM_TYPES[dtype]}"


def folds_text(machine: Machine) -> str:
    """The routines for all types."""
    called = [
        "declare i64 @llvm.ctlz.i64(i64, i1)",
        "declare i64 @llvm.umax.i64(i64, i64)",
        "declare i64 @llvm.umin.i64(i64, i64)",
    ]
    folds = [_fold_text(dtype, machine) for dtype in FOLDED]
    means = [_mean_text(dtype, machine) for dtype in FOLDED if dtype.is_float]
    return "\n".join([*called, *folds, *means])


def _fold_text(dtype: DType, machine: Machine) -> str:
    element, size = LLVM_TYPES[dtype], dtype.itemsize
    add, zero, nothing = ("fadd", "0.0", "-0.0") if dtype.is_float else ("add", "0", "0")
    control = default_control(machine)
    return f"""
define void @{symbol(dtype)}(ptr %numbers, ptr %keep, i64 %lines, i64 %count, ptr %sums) nounwind {{
entry:
  %room = alloca [{BLOCK} x {element}], align 64
  {control.begin}
  %all = icmp eq ptr %keep, null
  %some = icmp ne i64 %lines, 0
  br i1 %some, label %line, label %leave
line:
  %base = phi i64 [ 0, %entry ], [ %base.next, %ended ]
  %l = phi i64 [ 0, %entry ], [ %l.next, %ended ]
  %number.first = phi i64 [ 0, %entry ], [ %number.next, %ended ]
  br label %block
block:
  %low = phi i64 [ 0, %line ], [ %high, %folded ]
  %number = phi i64 [ %number.first, %line ], [ %number.next, %folded ]
  %high = add nuw i64 %low, {BLOCK}
  %begin = add nuw i64 %base, %low
  %start = getelementptr {element}, ptr %numbers, i64 %begin
  %full = icmp ule i64 %high, %count
  br i1 %full, label %whole, label %measure
whole:
  br i1 %all, label %fold, label %pick
pick:
  %p = phi i64 [ 0, %whole ], [ %p.next, %pick ]
  %p.place = add nuw i64 %begin, %p
  %p.mark = getelementptr i8, ptr %keep, i64 %p.place
  %p.marks = load <{LANES} x i8>, ptr %p.mark, align 1
  %p.kept = icmp ne <{LANES} x i8> %p.marks, zeroinitializer
  %p.at = getelementptr {element}, ptr %numbers, i64 %p.place
  %p.all = load <{LANES} x {element}>, ptr %p.at, align {size}
  %p.some = select <{LANES} x i1> %p.kept, <{LANES} x {element}> %p.all,
    <{LANES} x {element}> zeroinitializer
  %p.room = getelementptr {element}, ptr %room, i64 %p
  store <{LANES} x {element}> %p.some, ptr %p.room, align {size}
  %p.next = add nuw i64 %p, {LANES}
  %p.more = icmp ult i64 %p.next, {BLOCK}
  br i1 %p.more, label %pick, label %fold
measure:
  %rest = sub nuw i64 %count, %low
  %most = call i64 @llvm.umax.i64(i64 %rest, i64 2)
  %before = sub nuw i64 %most, 1
  %zeros = call i64 @llvm.ctlz.i64(i64 %before, i1 true)
  %bits = sub nuw i64 64, %zeros
  %power = shl nuw i64 1, %bits
  %size = call i64 @llvm.umin.i64(i64 %power, i64 {BLOCK})
  %half.first = lshr i64 %size, 1
  %short = icmp ult i64 %size, {BLOCK}
  %shift = select i1 %short, {element} {zero}, {element} {nothing}
  br label %copy
copy:
  %i = phi i64 [ 0, %measure ], [ %i.next, %placed ]
  %there = icmp ult i64 %i, %rest
  br i1 %there, label %ask, label %placed
ask:
  %at = add nuw i64 %begin, %i
  br i1 %all, label %take, label %look
look:
  %mark = getelementptr i8, ptr %keep, i64 %at
  %kept = load i8, ptr %mark
  %counts = icmp ne i8 %kept, 0
  br i1 %counts, label %take, label %placed
take:
  %source = getelementptr {element}, ptr %numbers, i64 %at
  %plain = load {element}, ptr %source
  %taken = {add} {element} %plain, %shift
  br label %placed
placed:
  %value = phi {element} [ {zero}, %copy ], [ {zero}, %look ], [ %taken, %take ]
  %place = getelementptr {element}, ptr %room, i64 %i
  store {element} %value, ptr %place
  %i.next = add nuw i64 %i, 1
  %i.more = icmp ult i64 %i.next, %size
  br i1 %i.more, label %copy, label %fold
fold:
  %from = phi ptr [ %start, %whole ], [ %room, %pick ], [ %room, %placed ], [ %room, %halved ]
  %half = phi i64 [ {BLOCK // 2}, %whole ], [ {BLOCK // 2}, %pick ], [ %half.first, %placed ],
    [ %half.next, %halved ]
  %upper = getelementptr {element}, ptr %from, i64 %half
  %wide = icmp uge i64 %half, {LANES}
  br i1 %wide, label %vectors, label %single
vectors:
  %j = phi i64 [ 0, %fold ], [ %j.next, %vectors ]
  %a.at = getelementptr {element}, ptr %from, i64 %j
  %b.at = getelementptr {element}, ptr %upper, i64 %j
  %a = load <{LANES} x {element}>, ptr %a.at, align {size}
  %b = load <{LANES} x {element}>, ptr %b.at, align {size}
  %sum = {add} <{LANES} x {element}> %a, %b
  %sum.at = getelementptr {element}, ptr %room, i64 %j
  store <{LANES} x {element}> %sum, ptr %sum.at, align {size}
  %j.next = add nuw i64 %j, {LANES}
  %j.more = icmp ult i64 %j.next, %half
  br i1 %j.more, label %vectors, label %halved
single:
  %k = phi i64 [ 0, %fold ], [ %k.next, %single ]
  %c.at = getelementptr {element}, ptr %from, i64 %k
  %d.at = getelementptr {element}, ptr %upper, i64 %k
  %c = load {element}, ptr %c.at
  %d = load {element}, ptr %d.at
  %one = {add} {element} %c, %d
  %one.at = getelementptr {element}, ptr %room, i64 %k
  store {element} %one, ptr %one.at
  %k.next = add nuw i64 %k, 1
  %k.more = icmp ult i64 %k.next, %half
  br i1 %k.more, label %single, label %halved
halved:
  %half.next = lshr i64 %half, 1
  %more = icmp ne i64 %half.next, 0
  br i1 %more, label %fold, label %folded
folded:
  %result = load {element}, ptr %room
  %target = getelementptr {element}, ptr %sums, i64 %number
  store {element} %result, ptr %target
  %number.next = add nuw i64 %number, 1
  %again = icmp ult i64 %high, %count
  br i1 %again, label %block, label %ended
ended:
  %base.next = add nuw i64 %base, %count
  %l.next = add nuw i64 %l, 1
  %l.more = icmp ult i64 %l.next, %lines
  br i1 %l.more, label %line, label %leave
leave:
  {control.end}
  ret void
}}"""


def _mean_text(dtype: DType, machine: Machine) -> str:
    element = LLVM_TYPES[dtype]
    control = default_control(machine)
    return f"""
define void @{mean_symbol(dtype)}(ptr %sums, ptr %counts, i64 %lines) nounwind {{
entry:
  {control.begin}
  %some = icmp ne i64 %lines, 0
  br i1 %some, label %line, label %leave
line:
  %l = phi i64 [ 0, %entry ], [ %l.next, %line ]
  %count.at = getelementptr i64, ptr %counts, i64 %l
  %count = load i64, ptr %count.at
  %divisor = sitofp i64 %count to {element}
  %sum.at = getelementptr {element}, ptr %sums, i64 %l
  %sum = load {element}, ptr %sum.at
  %quotient = fdiv {element} %sum, %divisor
  %none = fcmp uno {element} %quotient, %quotient
  %mean = select i1 %none, {element} 0x7FF8000000000000, {element} %quotient
  store {element} %mean, ptr %sum.at
  %l.next = add nuw i64 %l, 1
  %l.more = icmp ult i64 %l.next, %lines
  br i1 %l.more, label %line, label %leave
leave:
  {control.end}
  ret void
}}"""
