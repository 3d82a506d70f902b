"""Write out loops that run a known, small number of times."""

from __future__ import annotations

from collections.abc import Sequence

from hawk.ir.builder import Builder
from hawk.ir.nodes import Apply, Block, Const, Function, Loop, Number, Statement, Value, walk
from hawk.ir.ops import OPS
from hawk.passes.rewrite import copy_block, rewrite

MOST_TRIPS = 16
MOST_OPERATIONS = 64
"""Of all trips together. Beyond it a counter costs next to nothing, and code has to be compiled."""


def unroll(fn: Function) -> Function:
    """Replace a loop by its trips, one after the other, where they are known, few and short."""
    return rewrite(fn, _unrolled) if any(_is_loop(s) for s in walk(fn.statements)) else fn


def _unrolled(statement: Statement, builder: Builder) -> Sequence[Value] | None:
    if not isinstance(statement, Loop):
        return None
    trips = _trips(statement, _most_trips(statement))
    if trips is None:
        return None
    carried: Sequence[Value] = statement.inits
    for _ in range(trips):
        carried = copy_block(statement.body, carried, builder)
    return carried


def _most_trips(loop: Loop) -> int:
    operations = sum(isinstance(inner, Apply) for inner in walk(loop.body.items))
    return min(MOST_TRIPS, MOST_OPERATIONS // max(1, operations))


def _trips(loop: Loop, most: int) -> int | None:
    """How often the body runs; None if that is not known or more than `most`."""
    carried = [_known(init, {}) for init in loop.inits]
    for trip in range(most + 1):
        (goes_on,) = _evaluated(loop.test, carried)
        if goes_on is None:
            return None
        if not goes_on:
            return trip
        carried = _evaluated(loop.body, carried)
    return None


def _evaluated(block: Block, arguments: Sequence[Number | None]) -> list[Number | None]:
    """What `block` yields, as far as that follows from the arguments that are known."""
    env = dict(zip(block.params, arguments, strict=True))
    for item in block.items:
        if isinstance(item, Apply):
            numbers = [_known(arg, env) for arg in item.args]
            if None not in numbers:
                env[item.result] = OPS[item.op].meaning(item.args[-1].dtype, *numbers)
    return [_known(value, env) for value in block.yields]


def _known(value: Value, env: dict[Value, Number | None]) -> Number | None:
    return value.number if isinstance(value, Const) else env.get(value)


def _is_loop(statement: Statement) -> bool:
    return isinstance(statement, Loop)
