"""Recognise a stop test that, once true, stays true: then a chunk of steps needs one test."""

from __future__ import annotations

from dataclasses import dataclass

from hawk.ir.nodes import (
    Apply,
    Const,
    Function,
    Plane,
    Role,
    Value,
    blocks_of,
    operands_of,
    walk,
)
from hawk.ir.types import DType

_REVERSED = {"le": "ge", "lt": "gt", "ge": "le", "gt": "lt"}


_FAR = {DType.F64: 2.0**500, DType.F32: 2.0**60}
"""No step this long: sums and products of two such numbers are finite."""


@dataclass(frozen=True, slots=True)
class Monotone:
    """`terminated = state >= limit` where each step adds to the state a number it does not change.

    While the `conditions` hold for all `increments`, rounding keeps `state` from turning back, so
    a test that came true stays true.
    """

    test: Apply
    state: Plane
    limit: Value
    operation: str
    """`ge`, `gt`, `le` or `lt`, with the state on the left."""
    increments: tuple[Value, ...]
    """What is added: one number, or the two factors of a fused product."""
    subtracts: bool
    """The one number is subtracted instead."""
    conditions: tuple[tuple[str, float], ...]
    """Comparisons that every increment must pass: (operation, number on the right)."""


def monotone_stop(fn: Function) -> Monotone | None:
    """The stop test of `fn`, if it is one that stays true, else None.

    Integers are left out: they wrap, so they do turn back.
    """
    made = {item.result: item for item in fn.step if isinstance(item, Apply)}
    fixed = _fixed_for_a_sample(fn)
    mask = next((plane.name for plane in fn.planes if plane.role is Role.MASK), None)
    stores = dict(fn.stores)
    test = made.get(stores[mask]) if mask is not None else None
    if test is None or test.op not in _REVERSED or _is_read(fn, test.result, mask):
        return None
    left, right = test.args
    for state, limit, operation in ((left, right, test.op), (right, left, _REVERSED[test.op])):
        plane = _stored_as(fn, stores, state)
        if plane is None or not _is_fixed(limit, fixed) or state.dtype not in _FAR:
            continue
        way = _increments(made.get(state), plane.read)
        if way is None or not all(_is_fixed(value, fixed) for value in way[1]):
            continue
        sign, increments = way
        rising = (operation in ("ge", "gt")) == (sign > 0)
        if len(increments) == 2 and not rising:
            continue  # two factors of one sign never make a negative product
        far = _FAR[state.dtype]
        conditions = (("ge", 0.0), ("le", far)) if rising else (("le", 0.0), ("ge", -far))
        return Monotone(test, plane, limit, operation, increments, sign < 0, conditions)
    return None


def _is_read(fn: Function, value: Value, mask: str | None) -> bool:
    """Does anything but the mask need `value`? Then it must be computed at every step."""
    if any(stored is value for name, stored in fn.stores if name != mask):
        return True
    return any(
        value in operands_of(item) or any(value in block.yields for block in blocks_of(item))
        for item in walk(fn.step)
    )


def _fixed_for_a_sample(fn: Function) -> set[Value]:
    """Values that do not change while a sample takes its steps."""
    fixed = {p.read for p in fn.planes if p.role is not Role.STATE and p.read}
    fixed.update(value for item in fn.launch + fn.sample for value in item.results)
    return fixed


def _is_fixed(value: Value, fixed: set[Value]) -> bool:
    return isinstance(value, Const) or value in fixed


def _stored_as(fn: Function, stores: dict[str, Value], value: Value) -> Plane | None:
    """The state plane that `value` is stored to at the end of the step."""
    states = (plane for plane in fn.planes if plane.role is Role.STATE)
    return next((plane for plane in states if stores[plane.name] is value), None)


def _increments(node: Apply | None, read: Value | None) -> tuple[int, tuple[Value, ...]] | None:
    """Sign and factors of what is added to `read`: by `read + d`, `read - d`, `fma(a, b, read)`."""
    if node is None or read is None:
        return None
    match node.op, node.args:
        case ("add" | "sub", (first, other)) if first is read and other is not read:
            return (1 if node.op == "add" else -1), (other,)
        case "add", (other, second) if second is read and other is not read:
            return 1, (other,)
        case "fma", (a, b, c) if c is read:
            return 1, (a, b)
        case _:
            return None
