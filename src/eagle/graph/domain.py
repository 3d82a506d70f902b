"""The domain of builders: what the walk of statements needs to know of planes, cells and Python.

Python runs whatever does not depend on a cell, once, while the graph is built. Where the truth of a
cell decides, both ways are recorded, to be chosen at each replay.
"""

from __future__ import annotations

import ast
import builtins
import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from eagle.devices.plan import Not, Root, Some
from eagle.graph import merging
from eagle.graph.conditions import CONDITIONS, Conditions
from eagle.graph.cycle import Counting, GraphCycle, bounds_of
from eagle.graph.fork import GraphFork, chosen
from eagle.graph.patterns import fits
from eagle.graph.planes import Plane
from eagle.graph.python import Python
from eagle.graph.recorder import GraphRecorder
from eagle.graph.statements import BuilderWalker
from hawk.errors import Loc
from hawk.frontend.frame import Frame
from hawk.frontend.source import COMPREHENSIONS, own_nodes
from hawk.frontend.values import Range, Unusable

_IN_PLACE: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.iadd,
    ast.Sub: operator.isub,
    ast.Mult: operator.imul,
    ast.Div: operator.itruediv,
    ast.FloorDiv: operator.ifloordiv,
    ast.Mod: operator.imod,
    ast.Pow: operator.ipow,
    ast.MatMult: operator.imatmul,
    ast.BitAnd: operator.iand,
    ast.BitOr: operator.ior,
    ast.BitXor: operator.ixor,
    ast.LShift: operator.ilshift,
    ast.RShift: operator.irshift,
}


class BuilderDomain:
    """What the walker needs to know of builders."""

    region: object = None
    watches = False

    def __init__(self, recorder: GraphRecorder, frame: Frame) -> None:
        self.recorder = recorder
        self.walker = BuilderWalker(self)
        self.python = Python(frame)
        self.conditions = Conditions(self)
        self.counted: dict[ast.AST, Range] = {}
        self.flags: set[Root] = set()
        """Cells that say whether a statement went on to the next one."""
        """The bounds of each loop that counts, by what it goes through."""
        self._loops = {
            each.iter: each for each in own_nodes(frame.source.body) if isinstance(each, ast.For)
        }

    # -- expressions -------------------------------------------------------------------------------

    def evaluate(self, frame: Frame, node: ast.expr, name: str = "") -> Any:
        self.recorder.loc = frame.loc(node)
        match node:
            case ast.Compare() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
                value = self.conditions.value(frame, node)
                if not isinstance(value, CONDITIONS) or frame.source.is_test(node):
                    return value
                self.recorder.loc = frame.loc(node)
                return self.recorder.truth(value, name or frame.source.text(node))
            case ast.IfExp():
                return self.conditions.choice(frame, node)
            case ast.Tuple() if not any(isinstance(each, ast.Starred) for each in node.elts):
                return tuple([self.evaluate(frame, each) for each in node.elts])
            case ast.Call(func=ast.Name(id="range"), keywords=[]) if self._is_range(frame):
                args = tuple([self.evaluate(frame, each) for each in node.args])
                self.recorder.loc = frame.loc(node)
                for each, bound in zip(args, node.args, strict=True):
                    self.recorder.refuse_foreign(each, frame.source.text(bound))
                if any(isinstance(each, Plane) for each in args):
                    return bounds_of(self.recorder, args)
                return range(*args)
            case ast.Call() if _asks_inside(node):
                return self._call(frame, node, name)
            case _:
                self.recorder.hint = name if isinstance(node, ast.Call) else ""
                try:
                    return self.python.value(frame, node)
                finally:
                    self.recorder.hint = ""

    def _call(self, frame: Frame, node: ast.Call, name: str) -> Any:
        """A call one of whose arguments may ask a cell, so they are walked."""
        callee = self.python.value(frame, node.func)
        args = [self.evaluate(frame, each) for each in node.args]
        keywords = {str(each.arg): self.evaluate(frame, each.value) for each in node.keywords}
        self.recorder.loc, self.recorder.hint = frame.loc(node), name
        try:
            return callee(*args, **keywords)
        finally:
            self.recorder.hint = ""

    def _is_range(self, frame: Frame) -> bool:
        source = frame.source
        known = {**source.globals, **source.cells, **dict.fromkeys(source.locals)}
        return known.get("range", builtins.range) is builtins.range

    def augment(self, frame: Frame, node: ast.AugAssign) -> None:
        self.recorder.loc = frame.loc(node)
        if not isinstance(node.target, ast.Name):
            self.unless_decided(frame, node)
            self.python.run(frame, node)
            return
        read = ast.copy_location(ast.Name(id=node.target.id, ctx=ast.Load()), node.target)
        before, by = self.evaluate(frame, read), self.evaluate(frame, node.value)
        self.recorder.loc = frame.loc(node)
        frame.names[node.target.id] = _IN_PLACE[type(node.op)](before, by)

    def asserts(self, frame: Frame, node: ast.Assert) -> None:
        truth = self.truth(frame, self.evaluate(frame, node.test), node.test)
        self.recorder.loc = frame.loc(node)
        if not isinstance(truth, bool):
            fix = "eagle.opaque(f, reads=(...,)), whose f asserts at each replay"
            raise self.recorder.error("G101", "whether this holds is known only at replay", fix)
        if not truth:
            self.unless_decided(frame, node)
            self.python.run(frame, node)

    def store(self, frame: Frame, target: ast.expr, value: Any) -> None:
        self.recorder.loc = frame.loc(target)
        if isinstance(target, ast.Attribute):
            self.unless_decided(frame, target)
            setattr(self.python.value(frame, target.value), target.attr, value)
            return
        assert isinstance(target, ast.Subscript)
        owner = self.python.value(frame, target.value)
        owner[self.python.value(frame, target.slice)] = value

    def unless_decided(
        self,
        frame: Frame,
        node: ast.AST,
        fix: str = "a name for it in there, and this line after the branch or loop",
    ) -> None:
        """Refuse what would be done once, where a replay decides whether it is to be done."""
        if self.recorder.controls:
            self.recorder.loc = frame.loc(node)
            what = f"this would be done once, while the graph is built, and `{self._control}` is "
            what += "decided at each replay"
            raise self.recorder.error("G101", what, fix)

    @property
    def _control(self) -> str:
        return self.recorder.controls[-1]

    @contextmanager
    def unchanged(self, frame: Frame, node: ast.AST) -> Iterator[None]:
        """Refuse lists, dicts and sets that change inside: nobody knows how often it runs."""
        before = list(_containers(frame.names))
        yield
        for name, container, content in before:
            if len(container) != len(content) or any(
                a is not b for a, b in zip(_content(container), content, strict=True)
            ):
                self.recorder.loc = frame.head(node)
                what = (
                    f"`{name}` changes in here, once while the graph is built, and how often this "
                )
                what += "runs is known only at replay"
                raise self.recorder.error("G106", what, "names and planes in place of the list")

    def unpack(self, frame: Frame, value: Any, node: ast.expr) -> tuple[Any, ...]:
        self.recorder.loc = frame.loc(node)
        return tuple(value)

    def new(self, container: Any) -> Any:
        return container

    # -- truth -------------------------------------------------------------------------------------

    def is_number(self, value: object) -> bool:
        return False  # numbers keep the type they have

    def settle(self, value: Any) -> Any:
        return value

    def truth(self, frame: Frame, value: Any, node: ast.AST) -> Any:
        if isinstance(value, CONDITIONS):
            return value
        self.recorder.loc = frame.loc(node)
        self.recorder.refuse_foreign(value, frame.source.text(node))
        return self.recorder.holds(value) if isinstance(value, Plane) else bool(value)

    def bound_where(self, truth: Any) -> dict[str, Any]:
        return {}

    def opposite(self, flag: Any) -> Any:
        if isinstance(flag, bool):
            return not flag
        return self.recorder.truth(Not(self.recorder.holds(flag)), "not left")

    def either(self, first: Any, second: Any) -> Any:
        if first is True or second is True:
            return True
        if first is False or second is False:
            return second if first is False else first
        holds = [
            each if isinstance(each, CONDITIONS) else self.recorder.holds(each)
            for each in (first, second)
        ]
        return self.recorder.truth(Some(tuple(holds)), "either")

    def matches(self, frame: Frame, value: Any, node: ast.pattern) -> tuple[Any, dict[str, Any]]:
        self.recorder.loc = frame.loc(node)
        return fits(self, frame, value, node)

    # -- joins and loops ---------------------------------------------------------------------------

    def fork(self, frame: Frame, test: Any, node: ast.AST) -> GraphFork:
        said = _said(frame, node)
        self.recorder.loc = frame.head(node)
        title = said
        if isinstance(test, Plane):
            # What follows a statement that was left by some is a branch of its own.
            if test.root in self.flags or isinstance(node, (ast.For, ast.While)):
                title = f"if not left in `{said}`"
            test = self.recorder.holds(test)
        return GraphFork(self, test, frame, node, said, title)

    def choose(self, flag: Any, name: str, first: Any, second: Any, where: Loc) -> Any:
        if isinstance(flag, bool):
            return first if flag else second
        return chosen(self, flag, name, first, second, where)

    def cycle(self, frame: Frame, node: ast.AST, trips: int | None = None) -> GraphCycle:
        self.recorder.loc = frame.head(node)
        return GraphCycle(self, frame, node, _said(frame, node))

    def kept(self) -> Any:
        return self.recorder.inside, len(self.recorder.inside)

    def restore(self, kept: Any) -> None:
        body, size = kept
        del body[size:]

    def changes_in_place(self, value: Any) -> bool:
        return False

    # The objects of a builder are Python's own: nothing of what they hold is among its names.

    def acts(self, node: ast.expr) -> bool:
        return self.watches

    def changing(self, node: ast.AST, names: dict[str, Any]) -> frozenset[str]:
        return frozenset()

    def unite(
        self,
        paths: Sequence[dict[str, Any]],
        stands: dict[str, Any] | None = None,
        anew: Collection[str] = (),
    ) -> list[dict[str, Any]]:
        return list(paths)

    def template(self, value: Any) -> Any:
        return value if isinstance(value, Unusable) else merging.template_of(value)

    def widen(
        self, frame: Frame, name: str, entry: Any, template: Any, value: Any, node: ast.AST
    ) -> Any:
        return merging.widened(name, template, value, frame.loc(node))

    def iterate(self, frame: Frame, value: Any, node: ast.AST) -> Range | range | Iterable[Any]:
        if isinstance(value, Range):
            self.counted[node] = value
            return value
        if isinstance(value, range):
            loop = self._loops.get(node) if isinstance(node, ast.expr) else None
            if loop is None or not _leaves_early(loop) or value.step != 1:
                return tuple(value)
            self.counted[node] = Range(value.start, value.stop, value.step)
            return value
        return value

    def below(self, number: Any, bounds: Range) -> Any:
        return Counting(number)

    def advance(self, number: Any, bounds: Range) -> Any:
        return Counting(number)

    def counter(self, number: int) -> Any:
        return number


def _asks_inside(node: ast.Call) -> bool:
    """Does an argument hold something that asks, perhaps a cell?"""
    values = [*node.args, *(each.value for each in node.keywords)]
    if any(isinstance(each, ast.Starred) for each in values):
        return False
    if any(each.arg is None for each in node.keywords):
        return False
    return any(
        isinstance(each, (ast.IfExp, ast.BoolOp))
        or (isinstance(each, ast.UnaryOp) and isinstance(each.op, ast.Not))
        or (isinstance(each, ast.Compare) and len(each.ops) > 1)
        for value in values
        for each in own_nodes([value])
        if not isinstance(value, COMPREHENSIONS)
    )


def _said(frame: Frame, node: ast.AST) -> str:
    """The first line of a branch or loop, as it is written."""
    if isinstance(node, ast.expr):
        return frame.source.text(node)
    where = frame.head(node)
    return frame.source.lines[where.line - 1][where.col : where.end_col].strip().rstrip(":")


def _leaves_early(loop: ast.For) -> bool:
    """Is it a loop that counts nothing and may be left, as `for _ in range(99): if x: break` is?"""
    inside = list(own_nodes([*loop.body]))
    targets = {each.id for each in ast.walk(loop.target) if isinstance(each, ast.Name)}
    reads = any(isinstance(each, ast.Name) and each.id in targets for each in inside)
    return not reads and any(isinstance(each, (ast.Break, ast.Return)) for each in inside)


def _containers(names: dict[str, Any]) -> Iterator[tuple[str, Any, list[Any]]]:
    """The lists, dicts and sets that names hold, and those in them."""
    seen: set[int] = set()
    for name, value in names.items():
        for each in (value, *(_content(value) if isinstance(value, (list, tuple, dict)) else ())):
            if isinstance(each, (list, dict, set)) and id(each) not in seen:
                seen.add(id(each))
                yield name, each, _content(each)


def _content(container: Any) -> list[Any]:
    if isinstance(container, dict):
        return [part for pair in container.items() for part in pair]
    return list(container)
