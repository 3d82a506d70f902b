"""Kernels as an LLVM module for NVIDIA's GPUs; `hawk.targets.thread` says what they are given."""

from __future__ import annotations

from collections.abc import Sequence

from hawk.ir.nodes import Function
from hawk.targets.llvm import Emitter
from hawk.targets.module import Kernel, module_of
from hawk.targets.ways import Dialect, Way

TRIPLE = "nvptx64-nvidia-cuda"
THREADS = 256
"""Threads of a block, at most. With 255 registers each they fill the register file."""
ATTRIBUTES = f'nounwind "nvvm.maxntid"="{THREADS}" "nvvm.minctasm"="1"'
"""One block a multiprocessor is asked for at least: without it the assembler takes fewer registers
than there are, to have room for more blocks, and keeps numbers in memory instead."""
_INDEX = "llvm.nvvm.read.ptx.sreg"


def module_text(fn: Function, name: str, ways: Sequence[Way] = (Way.PLAIN,)) -> str:
    """The LLVM module of `fn`, which has been through the passes, with an entry for each way."""
    return module_of([Kernel(name, fn, ways)], NVIDIA)


def _place(e: Emitter) -> tuple[str, str]:
    tid, ntid, block, blocks = (
        e.define(f"zext i32 {e.define(f'call i32 @{_INDEX}.{each}.x()')} to i64")
        for each in ("tid", "ntid", "ctaid", "nctaid")
    )
    start = e.define(f"mul i64 {block}, {ntid}")
    return e.define(f"add i64 {start}, {tid}"), e.define(f"mul i64 {blocks}, {ntid}")


NVIDIA = Dialect(
    TRIPLE,
    "ptx_kernel",
    ATTRIBUTES,
    _place,
    (
        *(f"declare i32 @{_INDEX}.{each}.x()" for each in ("tid", "ntid", "ctaid", "nctaid")),
        "declare void @llvm.nvvm.bar.warp.sync(i32) convergent nounwind",
    ),
    "device",
    "call void @llvm.nvvm.bar.warp.sync(i32 -1) convergent",
)
