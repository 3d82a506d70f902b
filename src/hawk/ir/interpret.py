"""The meaning of a program: run one step of one sample on Python numbers.

As plain as it can be, because it is what passes and targets are compared with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import assert_never

from hawk.ir.meaning import represent
from hawk.ir.nodes import (
    TABLES,
    Apply,
    Block,
    Const,
    Function,
    If,
    Loop,
    Number,
    Statement,
    Value,
)
from hawk.ir.ops import OPS

Env = dict[Value, Number]


def interpret(fn: Function, values: Mapping[str, Number]) -> dict[str, Number]:
    """What one step stores, by plane.

    `values` gives what the planes hold when the step starts; they are rounded or wrapped into the
    planes' types. For a table it is a sequence of such numbers, all dimensions in one row. A plane
    that is not read may be left out; KeyError names one that is missing.
    """
    env: Env = {}
    for plane in fn.planes:
        if plane.role in TABLES and plane.read is not None and plane.name in values:
            env[plane.read] = values[plane.name]
        elif plane.read is not None and plane.name in values:
            env[plane.read] = represent(plane.dtype, values[plane.name])
    try:
        _run(fn.statements, env)
        return {name: _number(value, env) for name, value in fn.stores}
    except KeyError as missing:
        for plane in fn.planes:
            if plane.read is not None and plane.read is missing.args[0]:
                raise KeyError(plane.name) from None
        raise


def _run(statements: Sequence[Statement], env: Env) -> None:
    for statement in statements:
        match statement:
            case Apply():
                numbers = [_number(arg, env) for arg in statement.args]
                meaning = OPS[statement.op].meaning
                env[statement.result] = meaning(statement.args[-1].dtype, *numbers)
            case If():
                chosen = statement.then if _number(statement.test, env) else statement.orelse
                _assign(statement.results, _run_block(chosen, [], env), env)
            case Loop():
                carried = [_number(init, env) for init in statement.inits]
                while _run_block(statement.test, carried, env)[0]:
                    carried = _run_block(statement.body, carried, env)
                _assign(statement.results, carried, env)
            case _ as never:
                assert_never(never)


def _run_block(block: Block, arguments: Sequence[Number], env: Env) -> list[Number]:
    _assign(block.params, arguments, env)
    _run(block.items, env)
    return [_number(value, env) for value in block.yields]


def _assign(values: Sequence[Value], numbers: Sequence[Number], env: Env) -> None:
    env.update(zip(values, numbers, strict=True))


def _number(value: Value, env: Env) -> Number:
    return value.number if isinstance(value, Const) else env[value]
