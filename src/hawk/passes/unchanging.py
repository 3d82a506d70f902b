"""A carried value that a loop never changes is what it was before the loop."""

from __future__ import annotations

from hawk.ir.nodes import Function, Loop, walk
from hawk.passes.rewrite import Became, rewrite


def unchanging(fn: Function) -> Function:
    """Replace such a value by its init, in the loop and after it; `dead_code` drops the rest."""
    became: Became = {}
    for statement in walk(fn.statements):  # outer loops first: an init may be such a value itself
        if isinstance(statement, Loop):
            for i, result in enumerate(statement.results):
                param = statement.body.params[i]
                if statement.body.yields[i] is param:
                    init = statement.inits[i]
                    init = became.get(init, init)
                    became[param] = became[statement.test.params[i]] = became[result] = init
    return rewrite(fn, lambda statement, builder: None, became=became) if became else fn
