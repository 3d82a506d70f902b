"""Compute the same thing once: an operation on the same operands takes the first one's result."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager

from hawk.ir.builder import Builder
from hawk.ir.nodes import Apply, Const, Function, If, Statement, Value
from hawk.passes.rewrite import rewrite

COMMUTES = frozenset(
    {"add", "mul", "mulhi", "fma", "and", "or", "xor", "eq", "ne", "minimum", "maximum"}
)
"""Operations whose first two operands may be swapped (in a NaN, only unpromised bits change)."""


def common_subexpressions(fn: Function) -> Function:
    """Take an earlier result wherever one of the same operation on the same values is in sight.

    What is rarely needed computes its own: else ordinary samples would hold for it what it shares.
    """
    tables: list[dict[Hashable, Value]] = [{}]  # one for each open block, the innermost last

    @contextmanager
    def inside(statement: Statement) -> Iterator[None]:
        nonlocal tables
        outer = tables
        tables = [{}] if isinstance(statement, If) and statement.rare else [*outer, {}]
        yield
        tables = outer

    def earlier(statement: Statement, _: Builder) -> Sequence[Value] | None:
        if not isinstance(statement, Apply):
            return None
        key = _key(statement)
        for table in tables:
            if key in table:
                return [table[key]]
        tables[-1][key] = statement.result
        return None

    return rewrite(fn, earlier, inside=inside)


def _key(statement: Apply) -> Hashable:
    args = [_identity(arg) for arg in statement.args]
    if statement.op in COMMUTES and hash(args[1]) < hash(args[0]):
        args[:2] = args[1], args[0]
    return statement.op, statement.result.dtype, *args


def _identity(value: Value) -> Hashable:
    """Equal for values that are known to be the same number: constants by their bits."""
    # repr tells -0.0 from 0.0 and 1 from True, and is the same for every NaN.
    return (value.dtype.value, repr(value.number)) if isinstance(value, Const) else value
