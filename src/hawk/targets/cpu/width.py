"""How many samples a vector and how many vectors a group, for one kernel on one machine."""

from __future__ import annotations

from dataclasses import dataclass

from hawk.ir.nodes import ARRAYS, Apply, Function, Role, walk
from hawk.targets.base import STEPS_MAX
from hawk.targets.cpu.machine import Machine
from hawk.targets.cpu.stopping import monotone_stop
from hawk.targets.shape import Shape
from hawk.targets.uniform import has_loop

BLOCK = 16
"""Steps between two looks at whether any sample goes on. Divides 64, which reports count in."""

NOTHING = 1
"""Work of a step that computes all it needs once a sample, as a step without state does. Samples
do not wait for their own results, and several groups are passed in a turn of a loop, see
`straight`; so a group is no larger than registers hold."""

SHORT, MIDDLE, LONG, LONGER, ENDLESS = 12, 60, 150, 300, 1000
"""Operations in a step up to which it waits for its own results, and from which on it has enough
to do without other chains. Measured on AVX2, float64, G sample-steps/s for 1 to 4 chains:
oscillator (5 operations) 2.9 5.5 7.5 7.4; Lorenz by Runge-Kutta (60) 0.24 0.37 0.44 0.46; orbit by
Runge-Kutta (90) 0.08 0.11 0.11 0.11. That was in the usual order; `sparing`, the oscillator's four
chains take 0.8 of the time of three. The pendulum (250 with sin, exp and pow) takes 0.94 of its
time with three instead of two. Measuring each kernel instead would gain little: decision 38. Each
chain adds its part to the time of compilation."""

MUCH = 4
"""Operations for each number that is carried from step to step, from which on five chains are best
in steps of middle length, though what they carry does not fit into 16 registers. Time with 3, 4, 5
and 6 chains, by the best: damped oscillator (29 operations, 3 carried) 1.4 1.2 1.0 1.0, Lorenz (55,
4) 1.07 1.02 1.01 1.00, Henon and Heiles (21, 5) 1.2 1.3 1.1 1.1; but two coupled oscillators (17,
5) 1.00 1.03 1.15 1.05."""

MASKS_PAY = 10
"""Operations for each number that is carried, from which on a step whose end cannot be foreseen is
better masked than done again. Time masked, by that of steps done again, of samples that take some
70, 280 and 2,100 steps: 3 operations a number 1.4 1.7 1.8, 13 of them 1.0 0.8 0.9, 29 of them 0.7
0.8 0.9; Runge-Kutta of adaptive steps (69, 200 steps) 0.5, in float32 0.25."""

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
    times as long. And for steps of middle length with `MUCH` to compute; for others that do not fit
    the usual order is as good, or better: long ones take 1.2 to 1.3 times as long in this one. So
    it is for what carries nothing on."""


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
    fits = chains * carried(fn) <= machine.registers - COMPUTING or _computes(fn)
    sparing = fits and machine.registers <= FEW_REGISTERS and NOTHING < work_of(fn) <= MIDDLE
    return Variant(Shape(width, chains, wide_masks), block, unroll, refill, sparing)


def work_of(fn: Function) -> int:
    """Operations in a step, at least 1."""
    return 1 + sum(isinstance(item, Apply) for item in walk(fn.step))


def usual_work(fn: Function) -> int:
    """Those of them that are for more than a few samples."""
    return sum(isinstance(item, Apply) for item in walk(fn.step, rare=False))


def work_once(fn: Function) -> int:
    """Operations that are computed once a sample."""
    return sum(isinstance(item, Apply) for item in walk(fn.sample))


def usual_work_once(fn: Function) -> int:
    """Those of them that are for more than a few samples."""
    return sum(isinstance(item, Apply) for item in walk(fn.sample, rare=False))


def _chains(fn: Function, machine: Machine) -> int:
    work = work_of(fn)
    if work == NOTHING:
        return 4
    if SHORT < work <= MIDDLE and machine.registers <= FEW_REGISTERS and _computes(fn):
        return 5
    if work <= MIDDLE and 4 * carried(fn) <= machine.registers - COMPUTING:
        return 4
    usual = usual_work(fn)
    if usual <= LONGER:
        return 3
    return 2 if usual <= ENDLESS else 1


def is_masked(fn: Function, machine: Machine) -> bool:
    """Does every step of `fn` keep what a sample that is done holds?

    Else steps are taken as if no sample stopped, and done again if one did. Where it can be
    foreseen when one stops that is seldom, and better also with mask registers: decision 53.
    """
    if has_loop(fn):
        return True
    if monotone_stop(fn) is not None:
        return False
    return machine.mask_registers or work_of(fn) >= MASKS_PAY * max(1, carried(fn))


def _computes(fn: Function) -> bool:
    """Is so much computed of what is carried that it may wait in memory meanwhile?

    Not where samples wait for each other in a loop: the more stand side by side, the longer.
    """
    return work_of(fn) >= MUCH * carried(fn) and not has_loop(fn)


def carried(fn: Function) -> int:
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
