"""How many samples a vector and how many vectors a group, for one kernel on one machine."""

from __future__ import annotations

from dataclasses import dataclass

from hawk.ir.nodes import Function, Role, walk
from hawk.targets.cpu.machine import Machine
from hawk.targets.shape import Shape

BLOCK = 16
"""Steps between two looks at whether any sample goes on. Divides 64, which reports count in."""

MOST_CHAINS = 4
"""On AVX2 and AVX-512 four chains hide the latency of a multiply-add within 6 % of more."""

LONG_STEP = 400
"""Statements in a step from which on it has enough arithmetic of its own to fill the pipelines."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to compile a kernel. All give the same bits."""

    shape: Shape
    block: int = BLOCK


def choose_variant(fn: Function, machine: Machine) -> Variant:
    """The variant for `fn`: native width, and as many chains as the registers hold."""
    width = machine.vector_bits // _lane_bits(fn)
    return variant(fn, machine, width, _chains(fn, machine))


def variant(fn: Function, machine: Machine, width: int, chains: int, block: int = BLOCK) -> Variant:
    """The variant of `fn` with `width` samples a vector and `chains` vectors a group."""
    wide_masks = 0 if machine.mask_registers else _lane_bits(fn)
    return Variant(Shape(width, chains, wide_masks), block)


def _lane_bits(fn: Function) -> int:
    """Bits of a lane: of the float width, or of the widest array where there is no float."""
    arrays = [plane.dtype for plane in fn.planes if plane.role is not Role.UNIFORM]
    if any(dtype.is_float for dtype in arrays) or not arrays:
        return fn.real.bits
    return max(32, *(dtype.bits for dtype in arrays))


def _chains(fn: Function, machine: Machine) -> int:
    """A state lives in a register for each chain, and a step needs a few more to work in."""
    states = sum(plane.role in (Role.STATE, Role.OUTPUT) for plane in fn.planes)
    work = sum(1 for _ in walk(fn.step))
    if work > LONG_STEP:
        return 1
    room = machine.registers // max(1, states + min(work, 24) // 8)
    return max(1, min(MOST_CHAINS, room))
