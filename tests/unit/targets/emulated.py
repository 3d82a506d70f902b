"""Code for AArch64 that runs on another machine: linked to a small driver, in an emulator.

The driver reads memory from its standard input, calls the kernel, and writes the memory back. It
needs `qemu-aarch64` (Debian's qemu-user) and GNU binutils for AArch64
(binutils-aarch64-linux-gnu).
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hawk.ir.nodes import ARRAYS, Function, Role
from hawk.targets.base import HEADER, Word, raw_word
from hawk.targets.cpu.entries import ENTRY, module_text
from hawk.targets.cpu.link import assemble
from hawk.targets.cpu.machine import neon
from hawk.targets.cpu.width import Variant, choose_variant
from tests.oracle.batch import Batch

EMULATOR, LINKER, ASSEMBLER = (
    shutil.which(name) for name in ("qemu-aarch64", "aarch64-linux-gnu-ld", "aarch64-linux-gnu-as")
)
MACHINE = neon("aarch64-unknown-linux-gnu")
ROOM = 1 << 22
"""Bytes of memory that the driver has."""

DRIVER = f"""
target triple = "aarch64-unknown-linux-gnu"
@memory = internal global [{ROOM} x i8] zeroinitializer, align 64
declare void @{ENTRY}(ptr)
declare i64 @system(i64, i64, i64, i64)
define void @_start() nounwind {{
entry:
  %base = ptrtoint ptr @memory to i64
  br label %read
read:
  %have = phi i64 [ 0, %entry ], [ %now, %read ]
  %to = add i64 %base, %have
  %room = sub i64 {ROOM}, %have
  %got = call i64 @system(i64 63, i64 0, i64 %to, i64 %room)
  %now = add i64 %have, %got
  %more = icmp sgt i64 %got, 0
  br i1 %more, label %read, label %patch
patch:
  %count = load i64, ptr @memory
  %first = getelementptr i64, ptr @memory, i64 2
  br label %next
next:
  %i = phi i64 [ 0, %patch ], [ %after, %move ]
  %again = icmp slt i64 %i, %count
  br i1 %again, label %move, label %run
move:
  %row = getelementptr i64, ptr %first, i64 %i
  %offset = load i64, ptr %row
  %place = getelementptr i8, ptr @memory, i64 %offset
  %relative = load i64, ptr %place
  %address = add i64 %relative, %base
  store i64 %address, ptr %place
  %after = add i64 %i, 1
  br label %next
run:
  %at = getelementptr i64, ptr @memory, i64 1
  %start = load i64, ptr %at
  %block = getelementptr i8, ptr @memory, i64 %start
  call void @{ENTRY}(ptr %block)
  br label %write
write:
  %done = phi i64 [ 0, %run ], [ %total, %write ]
  %from = add i64 %base, %done
  %left = sub i64 %have, %done
  %put = call i64 @system(i64 64, i64 1, i64 %from, i64 %left)
  %total = add i64 %done, %put
  %unwritten = icmp slt i64 %total, %have
  br i1 %unwritten, label %write, label %leave
leave:
  %never = call i64 @system(i64 93, i64 0, i64 0, i64 0)
  unreachable
}}
"""


CALL = """
.globl system
system:
  mov x8, x0
  mov x0, x1
  mov x1, x2
  mov x2, x3
  svc #0
  ret
"""
"""A call of the system: its number, and what it is given."""


class Emulated:
    """A kernel for AArch64, as a program in `folder`."""

    def __init__(self, fn: Function, folder: Path, variant: Variant | None = None) -> None:
        """`fn` has been through the passes."""
        variant = variant or choose_variant(fn, MACHINE)
        self.fn, self.program = fn, folder / f"{fn.name}.{variant.shape.width}"
        parts: list[str] = []
        code = assemble(module_text(fn, variant, MACHINE), MACHINE, sparing=variant.sparing)
        for name, image in (("kernel", code), ("driver", assemble(DRIVER, MACHINE))):
            parts.append(f"{self.program}.{name}.o")
            Path(parts[-1]).write_bytes(image)
        parts.append(f"{self.program}.call.o")
        assert ASSEMBLER is not None
        subprocess.run([ASSEMBLER, "-o", parts[-1], "-"], input=CALL, text=True, check=True)
        assert LINKER is not None
        subprocess.run([LINKER, "-static", "-o", self.program, *parts], check=True)

    def launch(self, batch: Batch, steps: int, piece: int | None = None) -> list[int]:
        """Run it on the batch; gives the header of the block after it."""
        memory = _Memory()
        block = np.zeros(HEADER + len(self.fn.planes), np.int64)
        block[Word.END], block[Word.STEPS] = batch.n, steps
        block[Word.PIECE] = max(1, batch.n) if piece is None else piece
        at = memory.add(block)
        for place, plane in enumerate(self.fn.planes, HEADER):
            if plane.role is Role.UNIFORM:
                block[place] = raw_word(batch.numbers[plane.name], plane.dtype)
            elif plane.role is Role.TABLE:
                block[place] = memory.add(batch.tables[plane.name])
                memory.addresses.append(at + 8 * place)
            elif plane.role in ARRAYS:
                raw, array = batch.fenced[plane.name], batch.arrays[plane.name]
                block[place] = memory.add(raw) + array.ctypes.data - raw.ctypes.data
                memory.addresses.append(at + 8 * place)
        memory.run(self.program, at)
        return block[:HEADER].tolist()


class _Memory:
    """What the driver is given: a table of addresses, then everything else."""

    TABLE = 4096

    def __init__(self) -> None:
        self.addresses: list[int] = []
        """Where a word holds an address, as it is counted from the start of the memory."""
        self._arrays: list[tuple[int, NDArray[Any]]] = []
        self._size = self.TABLE

    def add(self, array: NDArray[Any]) -> int:
        """Where the array is to be."""
        at = self._size
        self._arrays.append((at, array))
        self._size = -(-(at + array.nbytes) // 64) * 64
        assert self._size <= ROOM
        return at

    def run(self, program: Path, block: int) -> None:
        """Run it; then each array holds what it holds there, but addresses are as they were."""
        memory = np.zeros(self._size, np.uint8)
        table = [len(self.addresses), block, *self.addresses]
        assert len(table) * 8 <= self.TABLE
        memory[: len(table) * 8] = np.array(table, np.int64).view(np.uint8)
        for at, array in self._arrays:
            memory[at : at + array.nbytes] = array.reshape(-1).view(np.uint8)
        assert EMULATOR is not None
        done = subprocess.run(
            [EMULATOR, program], input=memory.tobytes(), stdout=subprocess.PIPE, check=True
        )
        after = np.frombuffer(done.stdout, np.uint8)
        assert len(after) == len(memory)
        for at, array in self._arrays:
            array.reshape(-1).view(np.uint8)[:] = after[at : at + array.nbytes]
