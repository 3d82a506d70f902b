"""How many steps samples can be expected to take, where the stop test is one that stays true.

A guess from the distance to the limit: only speed depends on it.
"""

from __future__ import annotations

from hawk.ir.nodes import Const
from hawk.ir.ops import OPS
from hawk.ir.types import DType
from hawk.targets.cpu.stopping import Monotone
from hawk.targets.llvm import Emitter, Names, literal
from hawk.targets.shape import LLVM_TYPES

MARGINS = {DType.F64: 2.0**-30, DType.F32: 2.0**-9}
"""Share of the expected steps that are not run plainly: sums of rounded numbers drift."""

FARTHEST = 2.0**22
"""More steps than this are not expected: float32 still tells one from the next."""


def expected_steps(e: Emitter, stop: Monotone, reached: Names) -> Names:
    """The steps that samples will hardly stop before, where their state is `reached`.

    A number from 0 to `FARTHEST` for each, of the type that the state has. What the test and its
    increments read is bound already.
    """
    dtype = stop.state.dtype
    kind = e.shape.vector(LLVM_TYPES[dtype])
    far, least, share, half = (
        (e.splat(literal(Const(dtype, number=number)), dtype),) * e.shape.chains
        for number in (FARTHEST, 0.0, 1.0 - MARGINS[dtype], 0.5)
    )
    ahead = _arithmetic(e, "fsub", e.lanes(stop.limit), reached, kind)
    stride, *factor = (e.lanes(value) for value in stop.increments)
    for other in factor:
        stride = _arithmetic(e, "fmul", stride, other, kind)
    steps = _arithmetic(e, "fdiv", ahead, stride, kind)
    if stop.subtracts:
        steps = tuple(e.define(f"fneg {kind} {name}") for name in steps)
    steps = _arithmetic(e, "fsub", _arithmetic(e, "fmul", steps, share, kind), half, kind)
    # Not a number, and limits already behind, count as 0.
    steps = e.choose(compare(e, "gt", steps, least, dtype), steps, least, kind)
    return e.choose(compare(e, "lt", steps, far, dtype), steps, far, kind)


def compare(e: Emitter, operation: str, left: Names, right: Names, dtype: DType) -> Names:
    """A comparison of floats, by its name in the IR, chain by chain."""
    element, template = LLVM_TYPES[dtype], OPS[operation].llvm["f"]
    kind, suffix = e.shape.vector(element), e.shape.suffix(element)
    return tuple(
        e.define(template.format(a, b, A=kind, R=e.bits, C=e.bits, M=suffix))
        for a, b in zip(left, right, strict=True)
    )


def _arithmetic(e: Emitter, operation: str, left: Names, right: Names, kind: str) -> Names:
    pairs = zip(left, right, strict=True)
    return tuple(e.define(f"{operation} {kind} {a}, {b}") for a, b in pairs)
