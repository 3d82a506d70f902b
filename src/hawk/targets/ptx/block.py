"""Pieces of LLVM text for routines that a block of threads does together.

A routine goes through the lines of a grid, or through the one line that a batch is, and makes a
number of every 1,024 places of each: `hawk.ir.reduce` lays down how. Its parameters:

    values    what is reduced: an element for each sample
    keep      a byte for each sample: does it take part? Null: all do
    done      a byte for each sample: is it done? Then it takes no part. Null: none is
    order     an int64 for each place: the sample that stands there, line after line. Null: all
              stand in their own order
    lines     how many there are
    count     the places of each

It is launched with blocks of `THREADS` threads, and any number of them.
"""

from __future__ import annotations

from collections.abc import Iterable

from hawk.ir.reduce import BLOCK
from hawk.targets.ptx.entry import THREADS
from hawk.targets.ways import GLOBAL

SHARED = "ptr addrspace(3)"
"""Memory that the threads of a block see."""
EACH = BLOCK // THREADS
"""Places of a block of 1,024 that a thread looks at: those 256 apart."""
HALVES = tuple(THREADS >> level for level in range(1, THREADS.bit_length()))

DECLARED = """declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
declare void @llvm.nvvm.barrier0() convergent nounwind
declare i64 @llvm.umax.i64(i64, i64)
"""
BARRIER = "  call void @llvm.nvvm.barrier0() convergent"


def define(name: str, parameters: Iterable[str], body: str) -> str:
    """A kernel; `body` begins with what follows its first label."""
    head = f"define ptx_kernel void @{name}({', '.join(parameters)})"
    attributes = f'nounwind "nvvm.reqntid"="{THREADS}" "nvvm.minctasm"="1"'
    return f"{head} {attributes} {{\nentry:\n{body}}}\n"


ARRAYS = tuple(f"{GLOBAL} %{name}" for name in ("values", "keep", "done", "order"))
SIZES = ("i64 %lines", "i64 %count")

PLACE = """  %tid.32 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %tid = zext i32 %tid.32 to i64
  %block.32 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %block = zext i32 %block.32 to i64
  %blocks.32 = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %blocks = zext i32 %blocks.32 to i64
"""


def items(places: str, inside: str) -> str:
    """A loop of each block over its share of the items.

    `inside` is written for %item, of %line, whose places begin at %first; a line has `places`.
    """
    return f"""{PLACE}  %filled = add i64 {places}, {BLOCK - 1}
  %whole = lshr i64 %filled, {BLOCK.bit_length() - 1}
  %parts = call i64 @llvm.umax.i64(i64 %whole, i64 1)
  %all = mul i64 %lines, %parts
  br label %next
next:
  %item = phi i64 [ %block, %entry ], [ %item.next, %ended ]
  %some = icmp ult i64 %item, %all
  br i1 %some, label %inside, label %leave
inside:
  %line = udiv i64 %item, %parts
  %line.at = mul i64 %line, %parts
  %part = sub i64 %item, %line.at
  %first = shl i64 %part, {BLOCK.bit_length() - 1}
{inside}  br label %ended
ended:
  %item.next = add i64 %item, %blocks
  br label %next
leave:
  ret void
"""


def each(count: str, inside: str) -> str:
    """A loop of each thread over its share of `count` things: %one."""
    return f"""{PLACE}  %start.block = mul i64 %block, {THREADS}
  %start = add i64 %start.block, %tid
  %threads = mul i64 %blocks, {THREADS}
  br label %next
next:
  %one = phi i64 [ %start, %entry ], [ %one.next, %ended ]
  %some = icmp ult i64 %one, {count}
  br i1 %some, label %inside, label %leave
inside:
{inside}  br label %ended
ended:
  %one.next = add i64 %one, %threads
  br label %next
leave:
  ret void
"""


def sample_of(j: str, here: str) -> str:
    """%sample: the one at `%at`, in a block labelled `here`; goes on in the label `found`."""
    return f"""  %ordered{j} = icmp ne {GLOBAL} %order, null
  br i1 %ordered{j}, label %order{j}, label %found{j}
order{j}:
  %order.at{j} = getelementptr i64, {GLOBAL} %order, i64 %at{j}
  %order.is{j} = load i64, {GLOBAL} %order.at{j}
  br label %found{j}
found{j}:
  %sample{j} = phi i64 [ %at{j}, %{here} ], [ %order.is{j}, %order{j} ]
"""


def if_it_takes_part(j: str, skip: str) -> str:
    """Goes to the label `skip` if %sample takes no part, else on in the label `part`."""
    lines: list[str] = []
    for name, out in (("keep", "eq"), ("done", "ne")):
        after = {"keep": f"kept{j}", "done": f"part{j}"}[name]
        lines.append(f"""  %{name}.no{j} = icmp eq {GLOBAL} %{name}, null
  br i1 %{name}.no{j}, label %{after}, label %{name}{j}
{name}{j}:
  %{name}.at{j} = getelementptr i8, {GLOBAL} %{name}, i64 %sample{j}
  %{name}.is{j} = load i8, {GLOBAL} %{name}.at{j}
  %{name}.out{j} = icmp {out} i8 %{name}.is{j}, 0
  br i1 %{name}.out{j}, label %{skip}, label %{after}
{after}:
""")
    return "".join(lines)
