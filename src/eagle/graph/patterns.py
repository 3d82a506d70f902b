"""The patterns of `match` in a builder: compared with a cell at replay, or by Python at once."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from eagle.devices.plan import CellKind, Condition, Relation, Some
from eagle.graph.planes import Plane
from hawk.frontend.frame import Frame

if TYPE_CHECKING:
    from eagle.graph.domain import BuilderDomain


def fits(
    domain: BuilderDomain, frame: Frame, value: Any, node: ast.pattern
) -> tuple[Any, dict[str, Any]]:
    """Whether a value fits a pattern: a bool, or a condition; and the names it binds."""
    if isinstance(value, Plane):
        return _cell(domain, frame, value, node)
    holds_planes = isinstance(value, (tuple, list)) and any(
        isinstance(each, Plane) for each in value
    )
    if holds_planes and isinstance(node, (ast.MatchAs, ast.MatchSequence)):
        return _sequence(domain, frame, value, node)
    domain.recorder.loc = frame.loc(node)
    domain.recorder.refuse_foreign(value)
    return _by_python(value, node, domain, frame)


def _cell(
    domain: BuilderDomain, frame: Frame, value: Plane, node: ast.pattern
) -> tuple[Any, dict[str, Any]]:
    recorder = domain.recorder
    match node:
        case ast.MatchValue():
            other = domain.evaluate(frame, node.value)
            recorder.loc = frame.loc(node)
            return recorder.comparison(value, Relation.EQ, other)[0], {}
        case ast.MatchSingleton(value=bool(truth)) if value.kind is CellKind.BOOL:
            return recorder.comparison(value, Relation.EQ, truth)[0], {}
        case ast.MatchAs():
            test: Any = True
            names: dict[str, Any] = {}
            if node.pattern is not None:
                test, names = fits(domain, frame, value, node.pattern)
            return test, {**names, node.name: value} if node.name else names
        case ast.MatchOr():
            tests: list[Condition] = []
            for each in node.patterns:
                test, names = fits(domain, frame, value, each)
                if isinstance(test, bool):
                    return test, names  # a wildcard, after which nothing may come
                tests.append(test)
            return Some(tuple(tests)), {}
        case _:
            what = f"`{value.name}` is a cell, and this pattern does not ask for a number"
            raise recorder.error("G108", what, "case 0: or case 1 | 2: or case _:")


def _sequence(
    domain: BuilderDomain, frame: Frame, value: Any, node: ast.MatchAs | ast.MatchSequence
) -> tuple[Any, dict[str, Any]]:
    if isinstance(node, ast.MatchAs) and node.pattern is None:
        return True, {node.name: value} if node.name else {}
    domain.recorder.loc = frame.loc(node)
    what = "a sequence that holds planes is not compared with a pattern"
    raise domain.recorder.error("G108", what, "match on one cell, in each case on the next")


def _by_python(
    value: Any, node: ast.pattern, domain: BuilderDomain, frame: Frame
) -> tuple[bool, dict[str, Any]]:
    """What CPython says, of the same pattern."""
    names = sorted(
        each.name
        for each in ast.walk(node)
        if isinstance(each, (ast.MatchAs, ast.MatchStar)) and each.name is not None
    )
    fitting = ast.Return(value=_tuple([ast.Constant(value=True), *map(_read, names)]))
    case = ast.match_case(pattern=node, guard=None, body=[fitting])
    other = ast.Return(value=_tuple([ast.Constant(value=False)]))
    statement = ast.Match(subject=_read("subject"), cases=[case])
    found, *values = domain.python.apply(frame, node, ["subject"], [statement, other], [value])
    return found, dict(zip(names, values, strict=True)) if found else {}


def _read(name: str) -> ast.expr:
    return ast.Name(id=name, ctx=ast.Load())


def _tuple(parts: list[ast.expr]) -> ast.expr:
    return ast.Tuple(elts=parts, ctx=ast.Load())
