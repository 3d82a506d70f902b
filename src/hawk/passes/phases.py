"""Take a function with reductions apart: what each sample gives to them, and the step after them.

A step is pure, so the part of it that leads to a reduction can be computed for itself, and again
in the step: nothing has to be kept between the two but the number itself.
"""

from __future__ import annotations

from dataclasses import replace

from hawk.ir.nodes import Function, Plane, Reduction, Role, Value, used_values
from hawk.passes.dead_code import dead_code

VALUE, KEEP = "reduced value", "is reduced"
"""The outputs of what a sample gives to a reduction. No plane of a user is called like one."""


def step_of(fn: Function) -> Function:
    """The step itself: reductions are numbers like any others, what is given to tables outputs."""
    return replace(fn, reductions=(), scatters=())


def plane_given_to(fn: Function, reduction: Reduction) -> str | None:
    """The array of which all numbers are reduced as they are, if it is one."""
    arrays = (Role.INPUT, Role.STATE)
    planes = [p.name for p in fn.planes if p.role in arrays and p.read is reduction.value]
    return planes[0] if planes and reduction.keep is None else None


def given_to(fn: Function, reduction: Reduction) -> Function:
    """What a sample gives to one of the reductions of `fn`: a function that changes nothing."""
    only_read = {Role.STATE: Role.INPUT, Role.SHARED: Role.TABLE}
    read = [
        replace(plane, role=only_read.get(plane.role, plane.role))
        for plane in fn.planes
        if plane.read is not None
    ]
    outputs: list[tuple[str, Value]] = [(VALUE, reduction.value)]
    if reduction.keep is not None:
        outputs.append((KEEP, reduction.keep))
    planes = [Plane(name, Role.OUTPUT, value.dtype, loc=reduction.loc) for name, value in outputs]
    name = f"{fn.name} {reduction.plane}"
    whole = replace(step_of(fn), name=name, planes=(*read, *planes), stores=tuple(outputs))
    slim = dead_code(whole)
    used = used_values(slim)
    kept = tuple(plane for plane in slim.planes if plane.read is None or plane.read in used)
    return replace(slim, planes=kept)
