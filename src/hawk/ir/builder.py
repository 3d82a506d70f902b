"""Write a program statement by statement.

A `Builder` appends to the block that is open. Operations on known numbers are computed at once, by
the operation's own meaning, and leave no statement.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from hawk.errors import NOWHERE, Loc
from hawk.ir.meaning import represent
from hawk.ir.nodes import Apply, Block, Const, If, Loop, Number, Statement, Value
from hawk.ir.ops import OPS, result_type
from hawk.ir.types import DType


class Builder:
    """The statements written so far in the open block (`items`).

    `loc` is the place given to what is written without one of its own.
    """

    __slots__ = ("items", "loc")

    def __init__(self, loc: Loc = NOWHERE) -> None:
        self.items: list[Statement] = []
        self.loc = loc

    def const(self, number: Number, dtype: DType, loc: Loc | None = None) -> Const:
        """A known number, rounded or wrapped into `dtype`."""
        return Const(dtype, loc or self.loc, "", represent(dtype, number))

    def param(self, dtype: DType, loc: Loc | None = None, name: str = "") -> Value:
        """A value that comes from outside: the param of a block, or the read of a plane."""
        return Value(dtype, loc or self.loc, name)

    def apply(self, op: str, *args: Value, loc: Loc | None = None, name: str = "") -> Value:
        """The result of the operation `op`. Raises TypeError when `args` do not fit it."""
        dtype = result_type(op, tuple([arg.dtype for arg in args]))
        where = loc or self.loc
        known = [arg.number for arg in args if isinstance(arg, Const)]
        if len(known) == len(args):
            return Const(dtype, where, name, OPS[op].meaning(args[-1].dtype, *known))
        result = Value(dtype, where, name)
        self.items.append(Apply(op, args, result))
        return result

    @contextmanager
    def block(self) -> Iterator[list[Statement]]:
        """Collect what is written inside `with` in a list of its own, which is given."""
        outside, self.items = self.items, []
        try:
            yield self.items
        finally:
            self.items = outside

    def branch(
        self,
        test: Value,
        then: Block,
        orelse: Block,
        *,
        loc: Loc | None = None,
        names: Sequence[str] = (),
        rare: bool = False,
    ) -> tuple[Value, ...]:
        """Choose between the yields of two blocks; `names` are the results' names.

        `rare` says that `then` is seldom needed. Raises TypeError when the two do not
        yield the same types.
        """
        types = _types(then.yields)
        if test.dtype is not DType.BOOL or types != _types(orelse.yields):
            raise TypeError(f"if {test.dtype.value}: {types} else {_types(orelse.yields)}")
        results = self._named(then.yields, loc, names)
        self.items.append(If(test, then, orelse, results, rare))
        return results

    def loop(
        self,
        inits: Sequence[Value],
        test: Block,
        body: Block,
        *,
        loc: Loc | None = None,
        names: Sequence[str] = (),
    ) -> tuple[Value, ...]:
        """Repeat `body` while `test` yields True; gives the carried values at the end.

        Raises TypeError when inits, params and yields are not of the same types.
        """
        types = _types(inits)
        carried = [_types(values) for values in (test.params, body.params, body.yields)]
        if _types(test.yields) != ["bool"] or any(other != types for other in carried):
            raise TypeError(f"loop {types} while {_types(test.yields)}: {carried}")
        results = self._named(inits, loc, names)
        self.items.append(Loop(tuple(inits), test, body, results))
        return results

    def _named(
        self, like: Sequence[Value], loc: Loc | None, names: Sequence[str]
    ) -> tuple[Value, ...]:
        where = loc or self.loc
        labels = names or [""] * len(like)
        return tuple(
            [Value(value.dtype, where, label) for value, label in zip(like, labels, strict=True)]
        )


def _types(values: Sequence[Value]) -> list[str]:
    return [value.dtype.value for value in values]
