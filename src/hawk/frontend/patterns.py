"""The patterns of `match`: whether a value fits one, and the names it then binds."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from hawk.errors import Edit, HawkError
from hawk.frontend.frame import Frame
from hawk.frontend.suggestions import subject
from hawk.frontend.values import Scalar
from hawk.ir.types import DType

if TYPE_CHECKING:
    from hawk.frontend.expressions import Expressions


def matches(
    expressions: Expressions, frame: Frame, value: Any, node: ast.pattern
) -> tuple[Any, dict[str, Any]]:
    """Whether `value` fits the pattern (a bool, or a number of the program), and its names."""
    match node:
        case ast.MatchValue():
            other = expressions.evaluate(frame, node.value)
            if not isinstance(value, Scalar) and not isinstance(other, Scalar):
                return bool(value == other), {}
            if not isinstance(other, (Scalar, bool, int, float)):
                return False, {}
            try:
                return expressions.equals(frame, node, value, other), {}
            except HawkError as error:
                raise _not_equal(expressions, frame, node, value, other, error) from None
        case ast.MatchSingleton():
            if isinstance(node.value, bool) and isinstance(value, Scalar):
                if value.dtype is DType.BOOL:
                    return expressions.equals(frame, node, value, node.value), {}
                what = "a number is never the object True or False"
                fix = "case 1:" if node.value else "case 0:"
                raise HawkError("H201", what, frame.loc(node), fix)
            return value is node.value, {}
        case ast.MatchAs():
            inner, names = (True, {})
            if node.pattern is not None:
                inner, names = matches(expressions, frame, value, node.pattern)
            return inner, {**names, node.name: value} if node.name else names
        case ast.MatchOr():
            found: Any = False
            for each in node.patterns:
                test, names = matches(expressions, frame, value, each)
                if names:
                    what = "alternatives that bind names are not part of the language"
                    raise HawkError("H103", what, frame.loc(each))
                found = expressions.domain.either(found, test)
                if found is True:
                    break
            return found, {}
        case ast.MatchSequence() if not any(isinstance(p, ast.MatchStar) for p in node.patterns):
            if not isinstance(value, (tuple, list)) or len(value) != len(node.patterns):
                return False, {}
            all_of: Any = True
            bound: dict[str, Any] = {}
            for part, each in zip(value, node.patterns, strict=True):
                test, names = matches(expressions, frame, part, each)
                if test is False:
                    return False, {}
                bound.update(names)
                if all_of is True:
                    all_of = test
                elif test is not True:
                    all_of = expressions.numbers.emit("and", all_of, test)
            return all_of, bound
        case _:
            what = "this kind of pattern is not part of the language"
            raise HawkError("H103", what, frame.loc(node), "case 0: or case (a, b):")


def _not_equal(
    expressions: Expressions,
    frame: Frame,
    node: ast.MatchValue,
    value: Any,
    other: Any,
    said: HawkError,
) -> HawkError:
    """The error of a number that cannot be compared with a pattern."""
    facing, clash = subject(frame.source, node), expressions.conditions.clash(value, other)
    if facing is None or clash is None or clash[0] == "right":
        return HawkError(said.code, said.what, said.loc)
    text = f"{clash[1]}({frame.source.text(facing)})"
    return HawkError(said.code, said.what, said.loc, Edit(text, at=frame.loc(facing)))
