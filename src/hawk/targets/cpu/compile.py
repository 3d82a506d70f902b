"""A program to a kernel that runs on this CPU: choose a variant, write, assemble, link."""

from __future__ import annotations

import time
from dataclasses import replace

from hawk.ir.nodes import ARRAYS, Function, Role, used_values
from hawk.targets.base import STEPS_MAX, Compiled, Image
from hawk.targets.cpu.entries import module_text
from hawk.targets.cpu.link import assemble, assembly_text, load
from hawk.targets.cpu.machine import Machine, host
from hawk.targets.cpu.pool import most_rows
from hawk.targets.cpu.width import Variant, choose_variant


def compile_function(
    fn: Function, machine: Machine | None = None, variant: Variant | None = None
) -> Compiled:
    """Compile `fn`, which has been through the passes, for `machine` (default: this one)."""
    started = time.perf_counter()
    compiled = load(*build(fn, machine, variant))
    return replace(compiled, build_seconds=time.perf_counter() - started)


def build(fn: Function, machine: Machine | None = None, variant: Variant | None = None) -> Image:
    """The native code of `fn`, as bytes that `load` takes."""
    machine = machine or host()
    variant = variant or choose_variant(fn, machine)
    code = assemble(module_text(fn, variant, machine), machine, sparing=variant.sparing)
    used = used_values(fn)
    states = [plane.dtype.itemsize for plane in fn.planes if plane.role is Role.STATE]
    arrays = [plane.dtype.itemsize for plane in fn.planes if plane.role in ARRAYS]
    facts = {
        "planes": [
            (plane.name, plane.role.value, plane.dtype.value, plane.read in used)
            for plane in fn.planes
        ],
        "bytes_per_sample": sum(states or arrays),
        "steps_max": STEPS_MAX,
        "lanes": variant.shape.lanes,
        "rows": most_rows(fn, variant),
        "description": describe(machine, variant),
    }
    return Image(code, facts)


def describe(machine: Machine, variant: Variant) -> str:
    """The variant in words: `AVX2, 4 vectors of 4 samples`."""
    shape = variant.shape
    return f"{machine.name}, {shape.chains} vectors of {shape.width} samples"


def llvm_text(fn: Function) -> str:
    """The LLVM text of `fn` as it is compiled on this machine."""
    return module_text(fn, choose_variant(fn, host()), host())


def asm_text(fn: Function) -> str:
    """The assembly of `fn` as it is compiled on this machine."""
    variant = choose_variant(fn, host())
    return assembly_text(module_text(fn, variant, host()), host(), sparing=variant.sparing)
