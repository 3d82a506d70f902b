"""Replace operations that LLVM has no safe instruction for by operations that it has."""

from __future__ import annotations

from collections.abc import Sequence

from hawk.ir.builder import Builder
from hawk.ir.nodes import Apply, Function, Statement, Value
from hawk.ir.ops import decomposition
from hawk.passes.rewrite import rewrite


def lower(fn: Function) -> Function:
    """Write every operation that has no LLVM text for its type as its decomposition."""
    return rewrite(fn, _decomposed)


def _decomposed(statement: Statement, builder: Builder) -> Sequence[Value] | None:
    if not isinstance(statement, Apply):
        return None
    how = decomposition(statement.op, statement.args[-1].dtype)
    if how is None:
        return None
    builder.loc = statement.result.loc
    return [how(builder, *statement.args)]
