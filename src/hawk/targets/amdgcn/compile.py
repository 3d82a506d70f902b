"""Object code of a kernel for AMD's GPUs, made by LLVM alone."""

from __future__ import annotations

import functools

import llvmlite.binding as llvm

from hawk.ir.nodes import Function
from hawk.locks import compiling
from hawk.targets.llvm import Emitter
from hawk.targets.module import Kernel, module_of
from hawk.targets.parsed import parsed
from hawk.targets.ways import Dialect, Way

TRIPLE = "amdgcn-amd-amdhsa"
THREADS = 256
"""Work items of a group, at most."""
_PACKET = "ptr addrspace(4)"
_SIZE, _ITEMS = 4, 12
"""Where a dispatch packet of the HSA has the work items of a group, 16 bits, and of all, 32."""


def object_code(fn: Function, chip: str, *, ways: tuple[Way, ...] = (Way.PLAIN,)) -> bytes:
    """The ELF object of `fn`, which has been through the passes, for a chip such as `gfx90a`."""
    with compiling():
        machine = _machine(chip)
        text = module_of([Kernel("kernel", fn, ways)], AMD)
        layout = f'target datalayout = "{machine.target_data}"'
        return machine.emit_object(parsed(f"{layout}\n{text}"))


def _place(e: Emitter) -> tuple[str, str]:
    packet = e.define(f"call {_PACKET} @llvm.amdgcn.dispatch.ptr()")
    size_at, items_at = (
        e.define(f"getelementptr i8, {_PACKET} {packet}, i64 {at}") for at in (_SIZE, _ITEMS)
    )
    size = e.define(f"zext i16 {e.define(f'load i16, {_PACKET} {size_at}')} to i64")
    items = e.define(f"zext i32 {e.define(f'load i32, {_PACKET} {items_at}')} to i64")
    item, group = (
        e.define(f"zext i32 {e.define(f'call i32 @llvm.amdgcn.{each}.id.x()')} to i64")
        for each in ("workitem", "workgroup")
    )
    start = e.define(f"mul i64 {group}, {size}")
    return e.define(f"add i64 {start}, {item}"), items


AMD = Dialect(
    TRIPLE,
    "amdgpu_kernel",
    f'nounwind "amdgpu-flat-work-group-size"="1,{THREADS}"',
    _place,
    (
        f"declare {_PACKET} @llvm.amdgcn.dispatch.ptr()",
        "declare i32 @llvm.amdgcn.workitem.id.x()",
        "declare i32 @llvm.amdgcn.workgroup.id.x()",
    ),
    "agent",
)


@functools.cache
def _machine(chip: str) -> llvm.TargetMachine:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(TRIPLE).create_target_machine(cpu=chip, opt=3)
