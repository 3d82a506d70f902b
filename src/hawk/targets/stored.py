"""What a kernel carries from step to step and stores, without its mask."""

from __future__ import annotations

from hawk.ir.nodes import Function, Plane, Role, Value


def stored_planes(fn: Function) -> tuple[tuple[Plane, Value], ...]:
    """Each plane that a step changes, and the value it holds after the step."""
    stores = dict(fn.stores)
    return tuple(
        (plane, stores[plane.name])
        for plane in fn.planes
        if plane.name in stores
        and plane.role is not Role.MASK
        and stores[plane.name] is not plane.read
    )


def stop_of(fn: Function) -> Value | None:
    """The value that says whether the sample is done, of a kernel that finishes samples."""
    stores = dict(fn.stores)
    return next((stores[plane.name] for plane in fn.planes if plane.role is Role.MASK), None)
