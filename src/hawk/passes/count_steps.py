"""Let every sample count its own steps, for whoever asks."""

from __future__ import annotations

from dataclasses import replace

from hawk.ir.builder import Builder
from hawk.ir.nodes import Function, Plane, Role, Value
from hawk.ir.types import DType

STEPS_TAKEN = "steps_taken"
"""The plane that holds the count; no plane of a user may have this name."""


def count_steps(fn: Function) -> Function:
    """`fn` with one more STATE plane, an i64 that grows by one in each step.

    Not one of the pipeline: it stores something new, and kernels that do not count pay nothing.
    """
    read = Value(DType.I64, fn.loc, STEPS_TAKEN)
    builder = Builder(fn.loc)
    after = builder.apply("add", read, builder.const(1, DType.I64), name=STEPS_TAKEN)
    return replace(
        fn,
        planes=(*fn.planes, Plane(STEPS_TAKEN, Role.STATE, DType.I64, read, fn.loc)),
        step=(*fn.step, *builder.items),
        stores=(*fn.stores, (STEPS_TAKEN, after)),
    )
