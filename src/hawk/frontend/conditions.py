"""Conditions in expressions of a kernel: comparisons, `and`, `or`, and `x if test else y`."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hawk.errors import HawkError
from hawk.frontend.arithmetic import PYTHON
from hawk.frontend.frame import Exit, Frame, Ways, always
from hawk.frontend.known import by_python
from hawk.frontend.symbols import SYMBOLS
from hawk.frontend.templates import describe
from hawk.frontend.values import Scalar, Unusable, is_known

if TYPE_CHECKING:
    from hawk.frontend.expressions import Expressions

CHOSEN = "if"
"""The key of a conditional expression's value among the names; a keyword, so no name of a user."""


class Conditions:
    """Evaluates what asks, and what chooses."""

    def __init__(self, expressions: Expressions) -> None:
        self.expressions = expressions
        self.domain, self.numbers = expressions.domain, expressions.numbers

    def compare(self, frame: Frame, node: ast.Compare, name: str) -> Any:
        """A chain of comparisons: all must hold, each operand is evaluated once."""
        left_node, left = node.left, self.expressions.evaluate(frame, node.left)
        result: Any = True
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            if isinstance(right_node, ast.Set) and isinstance(op, (ast.In, ast.NotIn)):
                right: Any = tuple(self.expressions.elements(frame, right_node.elts))
            else:
                right = self.expressions.evaluate(frame, right_node)
            label = name if len(node.ops) == 1 else ""
            sides = (left_node, right_node)
            answer = self.comparison(frame, node, op, left, right, sides, label)
            if not isinstance(answer, Scalar):
                if not answer:
                    return answer
            elif isinstance(result, Scalar):
                result = self.expressions.guarded(
                    frame, node, lambda a=result, b=answer: self.numbers.emit("and", a, b), name
                )
            else:
                result = answer
            left_node, left = right_node, right
        return result

    def comparison(
        self,
        frame: Frame,
        node: ast.AST,
        op: ast.cmpop,
        left: Any,
        right: Any,
        sides: tuple[ast.AST, ...],
        name: str = "",
    ) -> Any:
        match op:
            case ast.Is():
                return left is right
            case ast.IsNot():
                return left is not right
            case ast.In() | ast.NotIn():
                inside = self._contains(frame, node, left, right)
                if not isinstance(op, ast.NotIn):
                    return inside
                return self.domain.opposite(inside)
            case _:
                symbol = SYMBOLS[type(op)]
        if is_known(left) and is_known(right):
            return by_python(lambda: PYTHON[symbol](left, right), frame.loc(node))
        if isinstance(left, (Scalar, bool, int, float)) and isinstance(
            right, (Scalar, bool, int, float)
        ):
            return self.expressions.guarded(
                frame, node, lambda: self.numbers.binary(symbol, left, right), name, sides
            )
        if symbol in ("==", "!=") and (left is None or right is None):
            return symbol == "!="
        a, b = describe(self.numbers, left), describe(self.numbers, right)
        raise HawkError("H201", f"`{symbol}` of {a} and {b}", frame.loc(node))

    def _contains(self, frame: Frame, node: ast.AST, value: Any, container: Any) -> Any:
        """`value in container`: known, or equal to any of its elements."""
        if isinstance(container, Scalar) or not isinstance(
            container, (tuple, list, dict, str, range)
        ):
            what = (
                f"`in` needs values whose number is known, not {describe(self.numbers, container)}"
            )
            raise HawkError("H404", what, frame.loc(node))
        if is_known(value) and is_known(tuple(container)):
            return value in container
        found: Any = False
        for each in container:
            equal = self.comparison(frame, node, ast.Eq(), value, each, ())
            found = self.domain.either(found, equal)
            if found is True:
                return True
        return found

    def bool_op(self, frame: Frame, node: ast.BoolOp) -> Any:
        """`and` and `or`: as in Python where a side is known, on bools where it is not."""
        wanted = isinstance(node.op, ast.And)
        value = self.expressions.evaluate(frame, node.values[0])
        for place, right in enumerate(node.values[1:]):
            if not isinstance(value, Scalar):
                if self.domain.truth(frame, value, node.values[place]) is not wanted:
                    return value
                value = self.expressions.evaluate(frame, right)
                continue
            left = self._bool(frame, value, node.values[place], node)
            if left.number is not None and left.number is not wanted:
                return left
            value = self._second(frame, left, right, node, wanted=wanted)
        return value

    def _second(
        self, frame: Frame, left: Scalar, right: ast.expr, node: ast.BoolOp, *, wanted: bool
    ) -> Any:
        """The right side of `and` or `or` whose left side is a bool at run time."""
        if left.number is None and any(isinstance(n, ast.NamedExpr) for n in ast.walk(right)):
            # The name is bound only where the left side lets the right one run.
            known = ast.copy_location(ast.Constant(value=not wanted), right)
            arms = (right, known) if wanted else (known, right)
            return self._chosen(frame, left, *arms, node)
        value = self.expressions.evaluate(frame, right)
        if not isinstance(value, (Scalar, bool)):
            raise self._not_bool(frame, value, right, node)
        other = self._bool(frame, value, right, node)
        if left.number is not None:
            return other
        return self.expressions.guarded(
            frame, node, lambda: self.numbers.emit("and" if wanted else "or", left, other)
        )

    def _bool(self, frame: Frame, value: Any, node: ast.expr, whole: ast.BoolOp) -> Scalar:
        if isinstance(value, bool):
            return self.numbers.settle(value)
        if value.dtype.value != "bool":
            raise self._not_bool(frame, value, node, whole)
        return value

    def _not_bool(self, frame: Frame, value: Any, node: ast.expr, whole: ast.BoolOp) -> HawkError:
        word = "and" if isinstance(whole.op, ast.And) else "or"
        text = frame.source.text(node)
        what = f"`{word}` works on bools, and `{text}` is {describe(self.numbers, value)}"
        return HawkError("H201", what, frame.loc(node), f"{text} != 0")

    def choice(self, frame: Frame, node: ast.IfExp) -> Any:
        test = self.expressions.evaluate(frame, node.test)
        truth = self.domain.truth(frame, test, node.test)
        if isinstance(truth, bool):
            value = self.expressions.evaluate(frame, node.body if truth else node.orelse)
            return self.domain.settle(value) if isinstance(test, Scalar) else value
        return self._chosen(frame, truth, node.body, node.orelse, node)

    def _chosen(
        self, frame: Frame, truth: Any, body: ast.expr, orelse: ast.expr, node: ast.expr
    ) -> Any:
        """The value of two expressions chosen at run time."""

        def arm(side: ast.expr) -> Callable[[], Ways]:
            def run() -> Ways:
                value = self.expressions.evaluate(frame, side)
                frame.names[CHOSEN] = value
                return {Exit.NEXT: always(frame.names)}

            return run

        ways = self.domain.walker.branch(frame, truth, arm(body), arm(orelse), node)
        names = ways[Exit.NEXT].names
        value = names.pop(CHOSEN)
        frame.names = names
        if isinstance(value, Unusable):
            raise value.why(frame.source.text(node), frame.loc(node))
        return value
