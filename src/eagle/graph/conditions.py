"""What a builder asks of cells: comparisons, `not`, `and`, `or`, and `x if test else y`.

Where Python knows both sides it computes as ever. Where one is a cell the answer is a `Condition`,
looked at when a replay comes by.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from eagle.devices.plan import CellKind, Compare, Condition, Every, If, Item, Not, Relation, Some
from eagle.graph.fork import CHOSEN
from eagle.graph.planes import Plane
from hawk.frontend.frame import Exit, Frame, Ways, always
from hawk.frontend.symbols import SYMBOLS
from hawk.frontend.values import Unusable

if TYPE_CHECKING:
    from eagle.graph.domain import BuilderDomain

CONDITIONS = (Compare, Not, Every, Some)
Test: TypeAlias = "Condition | bool"

_BY_PYTHON: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda value, container: value in container,
    ast.NotIn: lambda value, container: value not in container,
}


class Conditions:
    """Evaluates what asks."""

    def __init__(self, domain: BuilderDomain) -> None:
        self._domain, self._recorder = domain, domain.recorder

    def value(self, frame: Frame, node: ast.expr) -> Any:
        """What a comparison, `not`, `and` or `or` gives; a condition where it asks a cell."""
        match node:
            case ast.Compare():
                return self._compare(frame, node)
            case ast.UnaryOp():
                return self._opposite(self.truth(frame, node.operand))
            case ast.BoolOp():
                return self._bool_op(frame, node)
            case _:
                raise AssertionError(node)

    def truth(self, frame: Frame, node: ast.expr) -> Test:
        """The truth of an expression."""
        return self._domain.truth(frame, self._domain.evaluate(frame, node), node)

    def _opposite(self, test: Test) -> Test:
        return not test if isinstance(test, bool) else Not(test)

    def _compare(self, frame: Frame, node: ast.Compare) -> Any:
        """A chain of comparisons: all must hold, and each side is evaluated once."""
        left, left_node = self._domain.evaluate(frame, node.left), node.left
        tests: list[Condition] = []
        answer: Any = True
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            nodes = len(self._recorder.inside)
            right = self._domain.evaluate(frame, right_node)
            self._recorder.loc = frame.loc(node)
            if tests and len(self._recorder.inside) > nodes:
                what = "whether the rest of this chain runs is known only at replay"
                raise self._recorder.error("G103", what, "a < b and b < c, joined by `and`")
            if not isinstance(op, (ast.Is, ast.IsNot)):
                for value, side in ((left, left_node), (right, right_node)):
                    self._recorder.refuse_foreign(value, frame.source.text(side))
            answer = self._compared(op, left, right)
            if isinstance(answer, CONDITIONS):
                tests.append(answer)
            elif len(node.ops) > 1 and not self._domain.truth(frame, answer, node):
                return answer
            left, left_node = right, right_node
        if not tests:
            return answer
        return tests[0] if len(tests) == 1 else Every(tuple(tests))

    def _compared(self, op: ast.cmpop, left: Any, right: Any) -> Any:
        asked = [each for each in (left, right) if isinstance(each, Plane)]
        if isinstance(op, (ast.In, ast.NotIn)):
            if isinstance(left, Plane) and isinstance(right, (tuple, list, range, set, frozenset)):
                inside = Some(
                    tuple(self._recorder.comparison(left, Relation.EQ, each)[0] for each in right)
                )
                return inside if isinstance(op, ast.In) else Not(inside)
        elif asked and not isinstance(op, (ast.Is, ast.IsNot)):
            return self._recorder.comparison(left, Relation(SYMBOLS[type(op)]), right)[0]
        return _BY_PYTHON[type(op)](left, right)

    def _bool_op(self, frame: Frame, node: ast.BoolOp) -> Any:
        """`and` and `or`: as in Python where a side is known, and on truths where one is not."""
        wanted = isinstance(node.op, ast.And)
        tests: list[Condition] = []
        last = len(node.values) - 1
        for place, side in enumerate(node.values):
            written: list[Item] = []
            with self._recorder.into(
                written, frame.source.text(node) if tests else "", frame.names
            ):
                value = self._domain.evaluate(frame, side)
            truth = self._domain.truth(frame, value, side)
            if isinstance(truth, bool):
                if not tests:
                    self._recorder.inside.extend(written)
                    if truth is not wanted or place == last:
                        return value
                    continue
                tests = self._only_if(tests, wanted, written, None, frame, node)
                if truth is not wanted:
                    return not wanted
                continue
            self._check_bool(frame, node, side, value)
            if not tests:
                self._recorder.inside.extend(written)
                tests = [truth]
            else:
                tests = self._only_if(tests, wanted, written, truth, frame, node)
        return _joined(tests, wanted)

    def _check_bool(self, frame: Frame, node: ast.BoolOp, side: ast.expr, value: Any) -> None:
        """A number between `and` or `or` is itself the value: fine where only its truth counts."""
        is_number = isinstance(value, Plane) and value.kind is not CellKind.BOOL
        if is_number and not frame.source.is_test(node):
            word = "and" if isinstance(node.op, ast.And) else "or"
            text = frame.source.text(side)
            what = f"`{word}` gives one of its sides, and `{text}` is {value.described}"
            self._recorder.loc = frame.loc(side)
            raise self._recorder.error("G103", what, f"{text} != 0")

    def _only_if(
        self,
        tests: list[Condition],
        wanted: bool,  # noqa: FBT001 - which of two operators
        written: list[Item],
        truth: Condition | None,
        frame: Frame,
        node: ast.BoolOp,
    ) -> list[Condition]:
        """Let a later side run, and count, only where the sides before it let it."""
        if not written:
            return tests if truth is None else [*tests, truth]
        recorder = self._recorder
        before = _joined(tests, wanted)
        answer = recorder.truth(before, frame.source.text(node))
        if truth is not None:
            recorder.put(answer, truth, written)
        test = recorder.holds(answer)
        item = If(
            name=frame.source.text(node),
            test=test if wanted else Not(test),
            then=written,
            orelse=[],
        )
        recorder.add(item)
        return [recorder.holds(answer)]

    def choice(self, frame: Frame, node: ast.IfExp) -> Any:
        """`x if test else y`."""
        truth = self.truth(frame, node.test)
        if isinstance(truth, bool):
            return self._domain.evaluate(frame, node.body if truth else node.orelse)

        def arm(side: ast.expr) -> Callable[[], Ways]:
            def run() -> Ways:
                frame.names[CHOSEN] = self._domain.evaluate(frame, side)
                return {Exit.NEXT: always(frame.names)}

            return run

        ways = self._domain.walker.branch(frame, truth, arm(node.body), arm(node.orelse), node)
        names = ways[Exit.NEXT].names
        value = names.pop(CHOSEN)
        frame.names = names
        if isinstance(value, Unusable):
            raise value.why(frame.source.text(node), frame.loc(node))
        return value


def _joined(tests: list[Condition], wanted: bool) -> Condition:  # noqa: FBT001 - see above
    if len(tests) == 1:
        return tests[0]
    return Every(tuple(tests)) if wanted else Some(tuple(tests))
