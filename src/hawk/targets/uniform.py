"""Which values differ between samples: everything else is computed once for a whole vector."""

from __future__ import annotations

from hawk.ir.nodes import TABLES, Apply, Function, If, Loop, Role, Statement, Value, walk


def varying_values(fn: Function) -> set[Value]:
    """The values of `fn` that may differ from sample to sample.

    A value varies when something it is made from does. What a loop carries varies too when samples
    may leave the loop at different times, even if each round computes the same number for all.
    """
    varying = {
        plane.read
        for plane in fn.planes
        if plane.read is not None and plane.role not in TABLES | {Role.UNIFORM}
    }
    _mark(fn.statements, varying)
    return varying


def _mark(statements: tuple[Statement, ...], varying: set[Value]) -> None:
    for statement in statements:
        match statement:
            case Apply():
                if not varying.isdisjoint(statement.args):
                    varying.add(statement.result)
            case If():
                _mark_if(statement, varying)
            case Loop():
                _mark_loop(statement, varying)


def _mark_if(statement: If, varying: set[Value]) -> None:
    _mark(statement.then.items, varying)
    _mark(statement.orelse.items, varying)
    for result, *ends in zip(
        statement.results, statement.then.yields, statement.orelse.yields, strict=True
    ):
        if statement.test in varying or not varying.isdisjoint(ends):
            varying.add(result)


def _mark_loop(loop: Loop, varying: set[Value]) -> None:
    """Assume that as little varies as the entry allows, and add until nothing changes."""
    carried = tuple(zip(loop.inits, loop.test.params, loop.body.params, loop.results, strict=True))
    marked = [init in varying for init in loop.inits]
    while True:
        for moving, (_, tested, stepped, result) in zip(marked, carried, strict=True):
            if moving:
                varying.update((tested, stepped, result))
        _mark(loop.test.items, varying)
        _mark(loop.body.items, varying)
        after = [
            moving or loop.test.yields[0] in varying or end in varying
            for moving, end in zip(marked, loop.body.yields, strict=True)
        ]
        if after == marked:
            return
        marked = after


def has_loop(fn: Function) -> bool:
    """Is there a loop in what is done for a sample?

    Such a loop must never run for a sample that is not live: on numbers nobody asked for it may
    not end. And it may be left before its end, when it is time to go back to Python.
    """
    return any(isinstance(statement, Loop) for statement in walk(fn.sample + fn.step))
