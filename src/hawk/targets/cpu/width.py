"""How many samples a vector and how many vectors a group, for one kernel on one machine."""

from __future__ import annotations

from dataclasses import dataclass

from hawk.ir.nodes import ARRAYS, Apply, Function, Role, walk
from hawk.targets.base import STEPS_MAX
from hawk.targets.cpu.machine import Machine
from hawk.targets.shape import Shape

BLOCK = 16
"""Steps between two looks at whether any sample goes on. Divides 64, which reports count in."""

NOTHING = 1
"""Work of a step that computes all it needs once a sample, as a step without state does. What is
done around a group takes as long as some thirty operations, so the group is large: `exp` of an
array takes 2.2 ns a number with 8 chains and 2.4 with 4 (AVX2, float64), `atan2` 3.9 and 4.1."""

SHORT, MIDDLE, LONG, ENDLESS = 12, 50, 150, 1000
"""Operations in a step up to which it waits for its own results, and from which on it has enough
to do without other chains. Measured on AVX2, float64, G sample-steps/s for 1 to 4 chains:
oscillator (5 operations) 2.9 5.5 7.5 7.4; Lorenz by Runge-Kutta (60) 0.24 0.37 0.44 0.46; orbit by
Runge-Kutta (90) 0.08 0.11 0.11 0.11. That was in the usual order; `sparing`, the oscillator's four
chains take 0.8 of the time of three. Each chain adds its part to the time of compilation."""

FEW_REGISTERS = 16
"""With so many it matters that what is carried from step to step leaves some for what is computed.
"""

COMPUTING = 4
"""Registers that are enough for what is computed, where the code generator is asked to spare."""

MOST = 4 * ENDLESS
"""Operations of all chains together, of a step and of what is computed once a sample, from which on
there are fewer chains: the time of compilation grows faster than the code."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to compile a kernel. All give the same bits."""

    shape: Shape
    block: int = BLOCK
    unroll: int = 1
    """Plain steps written one after the other, so that results can stay in the registers where
    they were made. Divides `block`."""
    refill: int = STEPS_MAX
    """Launches of more steps than this give the lanes of samples that stopped to others."""
    sparing: bool = False
    """Instructions are put in the order that needs the fewest registers. For chains that just fit
    them: in the usual order some of what is carried is spilled, and the oscillator takes 1.2 to 1.5
    times as long. Where it does not fit anyhow the usual order is as good, or better."""


def choose_variant(fn: Function, machine: Machine) -> Variant:
    """The variant for `fn`: native width, and as many chains as its steps have use for."""
    width = machine.vector_bits // _lane_bits(fn)
    chains = _chains(fn, machine)
    total = work_of(fn) + work_once(fn)
    return variant(fn, machine, width, max(1, min(chains, MOST // total)))


def variant(
    fn: Function,
    machine: Machine,
    width: int,
    chains: int,
    block: int = BLOCK,
    refill: int = STEPS_MAX,
) -> Variant:
    """The variant of `fn` with `width` samples a vector and `chains` vectors a group."""
    wide_masks = 0 if machine.mask_registers else _lane_bits(fn)
    unroll = 4 if work_of(fn) <= SHORT else 1
    fits = chains * _carried(fn) <= machine.registers - COMPUTING
    sparing = fits and machine.registers <= FEW_REGISTERS and NOTHING < work_of(fn) <= MIDDLE
    return Variant(Shape(width, chains, wide_masks), block, unroll, refill, sparing)


def work_of(fn: Function) -> int:
    """Operations in a step, at least 1."""
    return 1 + sum(isinstance(item, Apply) for item in walk(fn.step))


def work_once(fn: Function) -> int:
    """Operations that are computed once a sample."""
    return sum(isinstance(item, Apply) for item in walk(fn.sample))


def _chains(fn: Function, machine: Machine) -> int:
    work = work_of(fn)
    if work == NOTHING:
        return 8
    if work <= MIDDLE and 4 * _carried(fn) <= machine.registers - COMPUTING:
        return 4
    if work <= LONG:
        return 3
    return 2 if work <= ENDLESS else 1


def _carried(fn: Function) -> int:
    """Registers of a chain that hold what is carried from step to step."""
    stores = dict(fn.stores)
    states = (plane for plane in fn.planes if plane.role is Role.STATE)
    return sum(stores[plane.name] is not plane.read for plane in states)


def _lane_bits(fn: Function) -> int:
    """Bits of a lane: of the float width, or of the widest array where there is no float."""
    arrays = [plane.dtype for plane in fn.planes if plane.role in ARRAYS]
    if any(dtype.is_float for dtype in arrays) or not arrays:
        return fn.real.bits
    return max(32, *(dtype.bits for dtype in arrays))
