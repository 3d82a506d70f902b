"""Compute both arms of a short branch and select: cheaper than a jump that samples disagree on."""

from __future__ import annotations

from collections.abc import Sequence

from hawk.ir.builder import Builder
from hawk.ir.nodes import Apply, Block, Function, If, Statement, Value, walk
from hawk.passes.rewrite import rewrite

COST = {"div": 10, "sqrt": 10, "lookup": 6, "near": 6, "quot": 40, "floordiv": 40, "mod": 40}
"""What an operation costs a vector of samples, in additions; those not listed cost 1."""
MOST = 30
"""The most that both arms together may cost; about as much as one mispredicted jump."""


def flatten(fn: Function) -> Function:
    """Replace an If whose arms are short by the statements of both and a select per result.

    A long arm, one with a loop in it, or one that is seldom needed stays: the target can skip it
    where no sample needs it.
    """
    return rewrite(fn, _flat) if any(_is_if(s) for s in walk(fn.statements)) else fn


def _flat(statement: Statement, builder: Builder) -> Sequence[Value] | None:
    if not isinstance(statement, If) or statement.rare:
        return None
    if not _short(statement.then, statement.orelse):
        return None
    builder.items += statement.then.items + statement.orelse.items
    return [
        builder.apply("select", statement.test, yes, no, loc=result.loc, name=result.name)
        for yes, no, result in zip(
            statement.then.yields, statement.orelse.yields, statement.results, strict=True
        )
    ]


def _short(*arms: Block) -> bool:
    cost = 0
    for arm in arms:
        for item in arm.items:
            if not isinstance(item, Apply):  # a branch that stayed is a long one
                return False
            cost += COST.get(item.op, 1)
    return cost <= MOST


def _is_if(statement: Statement) -> bool:
    return isinstance(statement, If)
