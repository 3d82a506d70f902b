"""How long a step may take on a CPU, from a table of instruction times: a guess, for people.

Nothing is decided by it. A step can be no faster than each of these: the chain of operations from
what a step reads to what the next one reads (`waiting`), the operations it has to issue
(`issuing`), and the unit that divides and takes roots, of which a core has one (`dividing`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hawk.ir.nodes import (
    Apply,
    Block,
    Const,
    Function,
    If,
    Loop,
    Role,
    Statement,
    Value,
    blocks_of,
    operands_of,
    walk,
)
from hawk.ir.ops import LOOKUPS
from hawk.ir.types import DType
from hawk.targets.llvm import RUN
from hawk.targets.shape import Shape
from hawk.targets.uniform import varying_values

PIPES = 2
"""Vector operations a core begins in a cycle."""
BYTES_A_CYCLE = 4
"""What one core gets from main memory: 12 GB/s at 3 GHz."""

_FLOAT = {"add": 4, "sub": 4, "mul": 4, "fma": 4, "div": 14, "sqrt": 18, "minimum": 8, "maximum": 8}
_DIVIDER = {
    ("div", DType.F64): 8,
    ("div", DType.F32): 5,
    ("sqrt", DType.F64): 10,
    ("sqrt", DType.F32): 7,
}
"""Cycles for which the dividing unit is busy with a vector of 256 bits."""
_SLOTS = {"minimum": 4, "maximum": 4, "floor": 2, "ceil": 2, "trunc": 2, "rint": 2}
_ROUNDING = ("floor", "ceil", "trunc", "rint")


@dataclass(frozen=True, slots=True)
class Estimate:
    """Cycles that a group of samples needs for a step, by what it waits for.

    Of a loop inside the step one round is counted.
    """

    waiting: float
    issuing: float
    dividing: float
    lanes: int
    registers: int
    """Vector registers wanted at once."""
    read: int
    written: int
    """Bytes of a sample that a launch reads and writes, whatever steps it takes."""
    operations: int
    """Floating-point operations of one sample in a step; a fused one counts twice."""
    fused: int
    divisions: int

    @property
    def cycles(self) -> float:
        """Of one sample and one step, where a launch takes many steps."""
        return max(self.waiting, self.issuing, self.dividing) / self.lanes

    @property
    def moving(self) -> float:
        """Cycles that a launch needs to move one sample between main memory and the core."""
        return (self.read + self.written) / BYTES_A_CYCLE


def estimate(fn: Function, shape: Shape) -> Estimate:
    """The estimate for `fn`, which has been through the passes, in groups of `shape`."""
    varying = varying_values(fn)
    steps = [item for item in walk(fn.step, rare=False) if isinstance(item, Apply)]
    mine = [item for item in steps if item.result in varying]
    slots = sum(_slots(item) for item in mine)
    # A vector of 512 bits takes the divider twice as long as one of 256, one of 128 half as long.
    halves = shape.width * fn.real.bits / 256
    divider = sum(_DIVIDER.get((item.op, item.result.dtype), 0) for item in mine) * halves
    floats = [item for item in steps if item.op in _FLOAT and item.result.dtype.is_float]
    fused = sum(item.op == "fma" for item in floats)
    read, written = _bytes(fn)
    return Estimate(
        waiting=_longest_chain(fn),
        issuing=slots * shape.chains / PIPES,
        dividing=divider * shape.chains,
        lanes=shape.lanes,
        registers=_registers(fn, shape, varying),
        read=read,
        written=written,
        operations=len(floats) + fused,
        fused=fused,
        divisions=sum(item.op in ("div", "sqrt") for item in floats),
    )


def _slots(item: Apply) -> int:
    if item.op == "mul" and item.result.dtype is DType.I64:
        return 8  # no instruction for it before AVX-512
    if item.op == "lookup":
        return 12  # a load and an insertion for each of four lanes, and their places
    if item.op == "near":
        return 2
    return _SLOTS.get(item.op, 1)


def _latency(item: Apply) -> int:
    dtype = item.args[-1].dtype
    if item.op in LOOKUPS:
        return 12
    if item.op in _ROUNDING or item.op.startswith(("to_", "fit_")):
        return 8 if dtype.is_float else 2
    if dtype.is_float:
        return _FLOAT.get(item.op, 4 if item.result.dtype is DType.BOOL else 1)
    return 10 if item.op == "mul" else 1


# --- the chain from step to step ------------------------------------------------------------------


def _longest_chain(fn: Function) -> float:
    """Cycles from the state a step reads to the state it leaves, along the slowest way."""
    ready: dict[Value, float] = {p.read: 0 for p in fn.planes if p.role is Role.STATE and p.read}
    _wait(fn.step, ready)
    states = {plane.name for plane in fn.planes if plane.role is Role.STATE}
    ends = [ready.get(value, 0) for name, value in fn.stores if name in states]
    return max(ends, default=0)


def _wait(items: Iterable[Statement], ready: dict[Value, float]) -> None:
    """Say when each result is there. What does not depend on state is always there."""
    for item in items:
        at = _latest(operands_of(item), ready)
        match item:
            case Apply():
                if at is not None:
                    ready[item.result] = at + _latency(item)
            case If(test, then, orelse, results, rare):
                sides = (orelse,) if rare else (then, orelse)
                for side in sides:
                    _wait(side.items, ready)
                for result, *ends in zip(results, *(side.yields for side in sides), strict=True):
                    _at(ready, result, _latest((test, *ends), ready), 1)
            case Loop():
                _wait_loop(item, at, ready)


def _wait_loop(loop: Loop, at: float | None, ready: dict[Value, float]) -> None:
    """One round: the body, then the test that says whether it was the last."""
    for init, stepped in zip(loop.inits, loop.body.params, strict=True):
        _at(ready, stepped, _latest((init,), ready), 0)
    _wait(loop.body.items, ready)
    for tested, end in zip(loop.test.params, loop.body.yields, strict=True):
        _at(ready, tested, _latest((end,), ready), 0)
    _wait(loop.test.items, ready)
    over = _latest(loop.test.yields, ready)
    for result, end in zip(loop.results, loop.body.yields, strict=True):
        known = [each for each in (at, over, _latest((end,), ready)) if each is not None]
        _at(ready, result, max(known, default=None), 1)


def _latest(values: Iterable[Value], ready: dict[Value, float]) -> float | None:
    return max((ready[value] for value in values if value in ready), default=None)


def _at(ready: dict[Value, float], value: Value, when: float | None, more: float) -> None:
    if when is not None:
        ready[value] = when + more


# --- registers and memory -------------------------------------------------------------------------


def _registers(fn: Function, shape: Shape, varying: set[Value]) -> int:
    """Vector values that are needed at one time, all chains together."""
    stores = dict(fn.stores)
    most = _most_alive(fn.step, set(stores.values()), varying)
    operands = {value for item in walk(fn.step) for value in operands_of(item)}
    spread = len({each for each in operands - varying if not isinstance(each, Const)})
    if sum(isinstance(item, Apply) for item in walk(fn.step)) <= RUN:
        return most * shape.chains + spread
    # A long step is written chain by chain: only what is kept is there for all of them.
    kept = sum(plane.role is not Role.MASK for plane in fn.planes if plane.name in stores)
    return kept * shape.chains + max(0, most - kept) + spread


def _most_alive(items: tuple[Statement, ...], after: set[Value], varying: set[Value]) -> int:
    """The most values of one chain that are needed at one time, if `after` are needed later."""
    alive = after & varying
    most = len(alive)
    for item in reversed(items):
        alive.difference_update(item.results)
        outside = set(alive)
        for block in blocks_of(item):
            most = max(most, _most_alive(block.items, outside | set(block.yields), varying))
            alive |= _needed(block) & varying
        alive |= set(operands_of(item)) & varying
        most = max(most, len(alive))
    return most


def _needed(block: Block) -> set[Value]:
    """The values that a block needs from outside."""
    inner = list(walk(block.items))
    blocks = [block, *(each for item in inner for each in blocks_of(item))]
    used = {value for item in inner for value in operands_of(item)}
    used.update(value for each in blocks for value in each.yields)
    made = {value for item in inner for value in item.results}
    return used - made - {param for each in blocks for param in each.params}


def _bytes(fn: Function) -> tuple[int, int]:
    """What a launch reads and writes of one sample."""
    stores = dict(fn.stores)
    read = written = 0
    stops = any(plane.role is Role.MASK for plane in fn.planes)
    for plane in fn.planes:
        size = plane.dtype.itemsize
        # What a sample that was done before returned is kept, so it is read.
        kept = plane.role is Role.OUTPUT and stops
        if plane.role in (Role.INPUT, Role.STATE, Role.MASK) or kept:
            read += size
        changed = plane.name in stores and stores[plane.name] is not plane.read
        if plane.role is not Role.UNIFORM and changed:
            written += size
    return read, written
