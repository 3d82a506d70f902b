"""Rebuild a program front to back: the one walk that the passes share.

A pass gives a function `change(statement, builder)`. It is asked about every statement, inner ones
first, with the operands already replaced by what they became. It answers None to keep the
statement, or with the values that take the place of the statement's results, after writing to
`builder` (the block that is open there) whatever is needed to make them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TypeAlias, assert_never

from hawk.ir.builder import Builder
from hawk.ir.nodes import Apply, Block, Function, If, Loop, Statement, Value

Change: TypeAlias = Callable[[Statement, Builder], Sequence[Value] | None]
Became: TypeAlias = dict[Value, Value]
Nested: TypeAlias = Callable[[Statement, Sequence[Statement]], tuple[Statement, ...]]
"""What becomes of the items of a block of a statement."""


def rewrite(
    fn: Function,
    change: Change,
    *,
    became: Became | None = None,
    inside: Callable[[Statement], AbstractContextManager[object]] = nullcontext,
) -> Function:
    """`fn` with each statement changed; the blocks of a statement in `with inside(statement):`.

    `became` says what takes the place of some values from the start.
    """
    became = dict(became or {})
    builder = Builder()

    def body(items: Sequence[Statement]) -> tuple[Statement, ...]:
        with builder.block() as written:
            for item in items:
                statement = substituted(item, became, nested)
                values = change(statement, builder)
                if values is None:
                    written.append(statement)
                else:
                    became.update(zip(item.results, values, strict=True))
        return tuple(written)

    def nested(statement: Statement, items: Sequence[Statement]) -> tuple[Statement, ...]:
        with inside(statement):
            return body(items)

    launch, sample, step = body(fn.launch), body(fn.sample), body(fn.step)
    stores = tuple([(name, became.get(value, value)) for name, value in fn.stores])
    return with_bodies(fn, launch, sample, step, stores)


def with_bodies(
    fn: Function,
    launch: tuple[Statement, ...],
    sample: tuple[Statement, ...],
    step: tuple[Statement, ...],
    stores: tuple[tuple[str, Value], ...],
) -> Function:
    """`fn` with other statements and stores."""
    return Function(fn.name, fn.planes, fn.real, step, stores, sample, launch, fn.loc)


def substituted(statement: Statement, became: Became, nested: Nested) -> Statement:
    """`statement` with operands as `became` says and the items of its blocks put through `nested`.

    Its results stay the same objects, and so does the statement if nothing in it changed.
    """
    match statement:
        case Apply():
            args = renamed(statement.args, became)
            if args == statement.args:
                return statement
            return Apply(statement.op, args, statement.result)
        case If():
            (test,) = renamed((statement.test,), became)
            then = _substituted_block(statement, statement.then, became, nested)
            orelse = _substituted_block(statement, statement.orelse, became, nested)
            if (test, then, orelse) == (statement.test, statement.then, statement.orelse):
                return statement
            return If(test, then, orelse, statement.results, statement.rare)
        case Loop():
            inits = renamed(statement.inits, became)
            test = _substituted_block(statement, statement.test, became, nested)
            body = _substituted_block(statement, statement.body, became, nested)
            if (inits, test, body) == (statement.inits, statement.test, statement.body):
                return statement
            return Loop(inits, test, body, statement.results)
        case _ as never:
            assert_never(never)


def _substituted_block(statement: Statement, block: Block, became: Became, nested: Nested) -> Block:
    items = nested(statement, block.items)
    yields = renamed(block.yields, became)
    if items == block.items and yields == block.yields:
        return block
    return Block(items, yields, block.params)


def renamed(values: tuple[Value, ...], became: Became) -> tuple[Value, ...]:
    """What the values became; the same tuple's equal where nothing did."""
    return tuple([became.get(value, value) for value in values])


def copy_block(block: Block, arguments: Sequence[Value], builder: Builder) -> list[Value]:
    """Write the statements of `block` once more, with values of its own; gives its yields.

    `arguments` take the place of the block's params. Operations whose operands are known by now
    are computed.
    """
    became: Became = dict(zip(block.params, arguments, strict=True))
    for item in block.items:
        _copy(item, became, builder)
    return [became.get(value, value) for value in block.yields]


def _copy(statement: Statement, became: Became, builder: Builder) -> None:
    def block(old: Block) -> Block:
        params = tuple([_again(param, became) for param in old.params])
        with builder.block() as items:
            for item in old.items:
                _copy(item, became, builder)
        return Block(
            tuple(items), tuple([became.get(value, value) for value in old.yields]), params
        )

    match statement:
        case Apply(op, args, result):
            values = [became.get(arg, arg) for arg in args]
            became[result] = builder.apply(op, *values, loc=result.loc, name=result.name)
        case If(test, then, orelse, results):
            test = became.get(test, test)
            then, orelse = block(then), block(orelse)
            builder.items.append(
                If(
                    test,
                    then,
                    orelse,
                    tuple([_again(r, became) for r in results]),
                    statement.rare,
                )
            )
        case Loop(inits, test, body, results):
            inits = tuple([became.get(init, init) for init in inits])
            test, body = block(test), block(body)
            builder.items.append(
                Loop(inits, test, body, tuple([_again(r, became) for r in results]))
            )
        case _ as never:
            assert_never(never)


def _again(value: Value, became: Became) -> Value:
    """A new value like `value`, which it becomes in the copy."""
    became[value] = Value(value.dtype, value.loc, value.name)
    return became[value]
