"""LLVM text to object bytes, and object bytes to a function that can be called.

A kernel whose object is kept already needs this file and `machine`, and none of those that write
LLVM text.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import llvmlite.binding as llvm

from hawk.ir.nodes import Role
from hawk.ir.types import DType
from hawk.locks import compiling
from hawk.targets.base import Compiled, Slot
from hawk.targets.cpu.machine import Machine, host, target_machine
from hawk.targets.parsed import parsed

ENTRY = "hawk_entry"
"""The symbol of the native function in every object."""

_serial = itertools.count()


SPARING = (20, 22)
"""Oldest and newest LLVM that is known to have `list-burr`: asked for what it does not know, it
ends the process."""


def assemble(text: str, machine: Machine, *, sparing: bool = False) -> bytes:
    """The object file of an LLVM module: code generation only, no optimiser runs.

    `sparing`: with instructions in the order that needs the fewest registers.
    """
    with compiling(), _ordered(sparing=sparing):
        return target_machine(machine).emit_object(parsed(text))


def assembly_text(text: str, machine: Machine, *, sparing: bool = False) -> str:
    """The same code as assembly, for people."""
    with compiling(), _ordered(sparing=sparing):
        return target_machine(machine).emit_assembly(parsed(text))


@contextmanager
def _ordered(*, sparing: bool) -> Iterator[None]:
    """Inside, instructions are put in order so. LLVM has it as an option of the process.

    Whoever else uses LLVM at this moment may get the order too, never other results.
    """
    oldest, newest = SPARING
    if not sparing or not oldest <= llvm.llvm_version_info[0] <= newest:
        yield
        return
    llvm.set_option("", "-pre-RA-sched=list-burr")
    try:
        yield
    finally:
        llvm.set_option("", "-pre-RA-sched=default")


@dataclass(frozen=True, slots=True)
class Linked:
    """Native code in memory: call it with the address of a block.

    The code is freed with this object. A call lets other Python threads run.
    """

    address: int
    call: Callable[[int], None]
    library: Any

    def __call__(self, block: int) -> None:
        self.call(block)


def load(code: bytes, facts: dict[str, Any]) -> Compiled:
    """The kernel of an image that `compile.build` made for this machine.

    Raises RuntimeError if it calls anything outside itself.
    """
    started = time.perf_counter()
    planes = tuple(
        Slot(name, Role(role), DType(dtype), needed)
        for name, role, dtype, needed in facts["planes"]
    )
    entry = link(code)
    known: dict[str, Any] = {**facts, "planes": planes, "entry": entry}
    return Compiled(**known, build_seconds=time.perf_counter() - started)


def link(image: bytes) -> Linked:
    """Load an object file made for this machine.

    Raises RuntimeError if it calls anything outside itself.
    """
    library = link_symbols(image, ENTRY)
    address = library[ENTRY]
    call = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)
    return Linked(address, call, library)


def link_symbols(image: bytes, *symbols: str) -> Any:
    """Load an object file; `[symbol]` of what is returned is an address, valid while it lives."""
    builder: Any = llvm.JITLibraryBuilder().add_object_img(image)
    for symbol in symbols:
        builder.export_symbol(symbol)
    with compiling():
        serial = next(_serial)
        linker = _linker(serial // LIBRARIES)
        library = builder.link(linker, f"library{serial}")
        library.linker = linker  # which goes with the last of its libraries
        return library


LIBRARIES = 64
"""That a linker links. It keeps some 9 KB of each, also of those that are freed, until it goes
itself: with the last of its libraries."""


@functools.lru_cache(maxsize=1)
def _linker(number: int) -> Any:
    """The linker of this number; the one before is let go."""
    return llvm.create_lljit_compiler(target_machine(host()))
