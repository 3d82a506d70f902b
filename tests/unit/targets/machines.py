"""The machines and variants that the tests of the targets compile for."""

from __future__ import annotations

from dataclasses import replace

from hawk.ir.nodes import Function
from hawk.targets.cpu.machine import Machine, avx2, avx512, host, neon
from hawk.targets.cpu.width import Variant, variant

LINUX = "x86_64-unknown-linux-gnu"

ASSEMBLED: dict[str, Machine] = {
    "AVX2": avx2(LINUX),
    "AVX-512": avx512(LINUX),
    "NEON": neon("aarch64-unknown-linux-gnu"),
}
"""Machines that objects are made for; they need not be run."""


def runnable() -> dict[str, Machine]:
    """The ways this machine can hold its masks, by name.

    Any x86-64 core runs code for AVX2. That code may also carry masks as bits, as code for AVX-512
    does: slow, but the same statements are written.
    """
    native = host()
    if not native.is_x86:
        return {"native": native}
    narrow = avx2(native.triple, native.cpu)
    machines = {"vectors": narrow, "bits": replace(narrow, mask_registers=True)}
    if native.vector_bits == 512:
        machines["native"] = native
    return machines


def variants(fn: Function, machine: Machine) -> list[Variant]:
    """Widths from 1 to 16, one to four chains, short and long blocks, and one in which lanes are
    refilled in all launches."""
    rows = [(1, 3, 16), (2, 2, 4), (4, 4, 4), (8, 1, 16), (16, 1, 4)]
    plain = [variant(fn, machine, width, chains, block) for width, chains, block in rows]
    return [*plain, variant(fn, machine, 4, 3, 4, refill=0)]
