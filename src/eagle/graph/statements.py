"""Statements that only builders of graphs have: Python runs them, where it runs them only once."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from eagle.devices.plan import Item
from eagle.graph.codes import graph_error
from eagle.graph.parallel import Branch, Parallel
from hawk.frontend.frame import Exit, Frame, Ways, always
from hawk.frontend.loops import bound
from hawk.frontend.walk import Walker

if TYPE_CHECKING:
    from eagle.graph.domain import BuilderDomain

_REFUSED: dict[type[ast.stmt], tuple[str, str]] = {
    ast.Try: ("`try`: nodes run at replay, and raise there", "try: around g.launch(...)"),
    ast.TryStar: ("`try`: nodes run at replay, and raise there", "try: around g.launch(...)"),
    ast.Global: ("`global`: a builder runs once", "the name as a parameter or an attribute"),
    ast.Nonlocal: ("`nonlocal`: a builder runs once", "the name as a parameter or an attribute"),
    ast.AsyncFor: ("`async for`: there is nothing to wait for", "for ..."),
    ast.AsyncWith: ("`async with`: there is nothing to wait for", "with ..."),
    ast.AsyncFunctionDef: ("`async def`: nothing in a graph awaits it", "def ...(...):"),
}


class BuilderWalker(Walker):
    """Walks builders."""

    domain: BuilderDomain

    def statement(self, frame: Frame, node: ast.stmt) -> Ways | None:
        domain = self.domain
        refused = _REFUSED.get(type(node))
        if refused is not None:
            what, fix = refused
            raise graph_error("G101", what, frame.head(node), fix)
        match node:
            case ast.With():
                return self._with(frame, node, 0)
            case ast.FunctionDef() | ast.ClassDef() | ast.Import() | ast.ImportFrom():
                domain.python.run(frame, node)
            case ast.Delete():
                self._delete(frame, node)
            case ast.Raise():
                fix = "eagle.opaque(f, reads=...), whose f raises when a replay comes by"
                domain.unless_decided(frame, node, fix)
                domain.python.run(frame, node)
            case ast.Expr(value=ast.Yield() | ast.YieldFrom() | ast.Await()):
                what = "a builder returns its graph at once; it is no generator"
                raise graph_error("G101", what, frame.head(node), "return g")
            case _:
                return super().statement(frame, node)
        return None

    def _delete(self, frame: Frame, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                frame.names.pop(target.id, None)
            else:
                part = ast.copy_location(ast.Delete(targets=[target]), node)
                self.domain.python.run(frame, part)

    def _with(self, frame: Frame, node: ast.With, place: int) -> Ways:
        """`with`: a fork of the graph, or any context of Python's, entered and left once."""
        if place == len(node.items):
            return self.block(frame, node.body)
        item = node.items[place]
        manager = self.domain.evaluate(frame, item.context_expr)
        self.domain.recorder.loc = frame.loc(item.context_expr)
        ways: Ways = {Exit.NEXT: always(frame.names)}  # if it keeps an exception to itself
        with manager as value:
            if item.optional_vars is not None:
                self.bind(frame, item.optional_vars, value)
            ways = self._with(frame, node, place + 1)
            if isinstance(manager, (Parallel, Branch)) and set(ways) != {Exit.NEXT}:
                way = next(each.value for each in ways if each is not Exit.NEXT)
                what = f"`{way}` leaves this branch, and others run beside it"
                raise graph_error("G303", what, frame.head(node), f"{way} after the `with`")
        return ways

    def _while(self, frame: Frame, node: ast.While) -> Ways:
        """A loop that Python decides runs here and now; one that a cell decides is recorded."""
        if isinstance(node.test, ast.Constant):
            return super()._while(frame, node)
        written: list[Item] = []
        names = dict(frame.names)
        with self.domain.recorder.into(written):
            first = self._truth(frame, node)
        if not isinstance(first, bool):
            frame.names = names
            return super()._while(frame, node)
        self.domain.recorder.inside.extend(written)

        def again() -> Iterator[Callable[[], None]]:
            test: Any = first
            while test:
                yield lambda: None
                test = self._truth(frame, node)
                if not isinstance(test, bool):
                    what = (
                        "whether this loop goes on is Python's to say at first and a cell's later"
                    )
                    raise graph_error("G107", what, frame.loc(node.test), "a cell from the start")

        return self._passes(frame, node, again(), bound(node))

    def _truth(self, frame: Frame, node: ast.While) -> Any:
        return self.domain.truth(frame, self.domain.evaluate(frame, node.test), node.test)
