"""Conditions in expressions of a kernel: comparisons, `and`, `or`, and `x if test else y`."""

from __future__ import annotations

import ast
import enum
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hawk.edits import filled
from hawk.errors import Edit, Fix, HawkError
from hawk.frontend.arithmetic import PYTHON
from hawk.frontend.frame import Exit, Frame, Ways, always
from hawk.frontend.instances import Instance
from hawk.frontend.kernel_fork import zero
from hawk.frontend.known import by_python
from hawk.frontend.operators import CONVERSIONS, Mixed
from hawk.frontend.small_arrays import SmallArray
from hawk.frontend.suggestions import chained, elements, fresh
from hawk.frontend.symbols import SYMBOLS
from hawk.frontend.templates import describe, fill
from hawk.frontend.values import VIEWS, Scalar, Unusable, is_known, known_of
from hawk.ir.nodes import Const, Value
from hawk.ir.types import DType

if TYPE_CHECKING:
    from hawk.frontend.expressions import Expressions

CHOSEN = "if"
"""The key of a conditional expression's value among the names; a keyword, so no name of a user."""


def _filled(template: str, texts: list[str]) -> str:
    """`template` with the texts in the places of their numbers."""
    return filled(template, **{str(n): text for n, text in enumerate(texts)})


def _parted(frame: Frame, node: ast.Compare, side: ast.BinOp) -> str:
    """`a < b & c < d` as it is meant: `a < b and c < d`."""
    where, left, right = (frame.loc(each) for each in (node, side.left, side.right))
    if where.line != where.end_line:
        return ""
    line = frame.source.lines[where.line - 1]
    between = line[left.end_col : right.col]
    symbol = SYMBOLS[type(side.op)]
    word = " and " if isinstance(side.op, ast.BitAnd) else " or "
    before, after = between.split(symbol)
    between = before.rstrip() + word + after.lstrip()
    return line[where.col : left.end_col] + between + line[right.col : where.end_col]


class Conditions:
    """Evaluates what asks, and what chooses."""

    def __init__(self, expressions: Expressions) -> None:
        self.expressions = expressions
        self.domain, self.numbers = expressions.domain, expressions.numbers
        self.bound: dict[Value, dict[str, Any]] = {}
        """What `:=` binds behind an `and`, by the bool that says whether it was run."""

    def bound_where(self, truth: Any) -> dict[str, Any]:
        """The names that are bound for sure where `truth` holds."""
        return self.bound.get(truth.value, {}) if isinstance(truth, Scalar) else {}

    def compare(self, frame: Frame, node: ast.Compare, name: str) -> Any:
        """A chain of comparisons: all must hold, each operand is evaluated once."""
        left_node, left = node.left, self._compared(frame, node, node.left)
        result: Any = True
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            if isinstance(right_node, ast.Set) and isinstance(op, (ast.In, ast.NotIn)):
                right: Any = tuple(self.expressions.elements(frame, right_node.elts))
            else:
                written = self.domain.memory.written
                with self.domain.reductions.for_some(some=isinstance(result, Scalar)):
                    right = self._compared(frame, node, right_node)
                if isinstance(result, Scalar) and self.domain.memory.written is not written:
                    raise self._changes(frame, right_node)
            label = name if len(node.ops) == 1 else ""
            sides = (left_node, right_node)
            answer = self.comparison(frame, node, op, left, right, sides, label)
            if isinstance(answer, SmallArray):
                if len(node.ops) > 1:
                    raise self._chained(frame, node)
                return answer
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

    @staticmethod
    def _changes(frame: Frame, node: ast.AST) -> HawkError:
        """The error of a side of a chain that does something, and runs for some samples only."""
        text = frame.source.text(node)
        what = f"`{text}` changes an array or an object, and runs only where the comparison before "
        return HawkError("H308", what + "it holds", frame.loc(node), "... and ..., two comparisons")

    def _chained(self, frame: Frame, node: ast.Compare) -> HawkError:
        """The error of `a < v < b`, which asks for the truth of an array."""
        what = "a chain of comparisons joins truths by `and`, and an array has none as a whole"
        sides = [frame.source.text(each) for each in (node.left, *node.comparators)]
        ops = [SYMBOLS[type(op)] for op in node.ops if type(op) in SYMBOLS]
        if len(ops) != len(node.ops):
            return HawkError("H208", what, frame.loc(node))
        both = [f"({a} {op} {b})" for a, op, b in zip(sides, ops, sides[1:], strict=False)]
        return HawkError("H208", what, frame.loc(node), " & ".join(both))

    def _compared(self, frame: Frame, node: ast.Compare, side: ast.expr) -> Any:
        """One side of a comparison; `a < b & c < d` is told to be `a < (b & c) < d`."""
        try:
            return self.expressions.evaluate(frame, side)
        except HawkError as error:
            bits = isinstance(side, ast.BinOp) and isinstance(side.op, (ast.BitAnd, ast.BitOr))
            if not bits or error.code != "H201" or error.loc != frame.loc(side):
                raise
            assert isinstance(side, ast.BinOp)
            symbol, text = SYMBOLS[type(side.op)], frame.source.text(side)
            what = f"`{symbol}` comes before comparisons, so this is `{text}` of numbers"
            raise HawkError("H201", what, frame.loc(node), _parted(frame, node, side)) from None

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
            case ast.Is() | ast.IsNot():
                if self._are_bools(left, right):
                    equal = self.comparison(frame, node, ast.Eq(), left, right, sides, name)
                    return equal if isinstance(op, ast.Is) else self.domain.opposite(equal)
                self._check_identity(frame, node, left, right, sides)
                if isinstance(left, Instance) and isinstance(right, Instance):
                    same = self.expressions.objects.same(frame, node, left, right)
                    return same is isinstance(op, ast.Is)
                return (left is right) is isinstance(op, ast.Is)
            case ast.In() | ast.NotIn():
                inside = self._contains(frame, node, left, right, sides)
                if not isinstance(op, ast.NotIn):
                    return inside
                return self.domain.opposite(inside)
            case _:
                symbol = SYMBOLS[type(op)]
        if isinstance(left, SmallArray) or isinstance(right, SmallArray):
            if left is None or right is None:
                return symbol == "!="
            return self.expressions.arrays.binary(frame, node, symbol, left, right, sides)
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
        fix = self._values_of(frame, symbol, (left, right), sides)
        raise HawkError("H201", f"`{symbol}` of {a} and {b}", frame.loc(node), fix)

    def _values_of(
        self, frame: Frame, symbol: str, values: tuple[Any, Any], sides: tuple[ast.AST, ...]
    ) -> str:
        """What to write for a comparison of a number with an Enum, or of two tuples."""
        if len(sides) != 2:
            return ""
        texts = [frame.source.text(side) for side in sides]
        if all(isinstance(each, (tuple, list)) for each in values) and symbol in ("==", "!="):
            if len(values[0]) != len(values[1]):
                return str(symbol == "!=")
            quantified = "all" if symbol == "==" else "any"
            return f"{quantified}([a {symbol} b for a, b in zip({texts[0]}, {texts[1]})])"
        for place, each in enumerate(values):
            if isinstance(each, enum.Enum) and isinstance(each.value, (bool, int, float)):
                texts[place] += ".value"
                name = type(each).__name__
                return f" {symbol} ".join(texts) + f";\nor class {name}(enum.IntEnum): ..."
        return ""

    def _are_bools(self, left: Any, right: Any) -> bool:
        """Whether both are bools and one is a number of the program: then `is` is `==`."""
        kinds = [
            each.dtype is DType.BOOL if isinstance(each, Scalar) else isinstance(each, bool)
            for each in (left, right)
        ]
        return all(kinds) and (isinstance(left, Scalar) or isinstance(right, Scalar))

    def _check_identity(
        self, frame: Frame, node: ast.AST, left: Any, right: Any, sides: tuple[ast.AST, ...]
    ) -> None:
        """`is` tells objects apart, and a number of the program is no object."""
        numbers = (Scalar, bool, int, float)
        for value, other in ((left, right), (right, left)):
            if not isinstance(value, Scalar) or not isinstance(other, numbers):
                continue
            texts = [frame.source.text(side) for side in sides]
            fix = "=="
            if len(texts) == 2:
                isnt = "!=" if " is not " in frame.source.text(node) else "=="
                fix = filled(f"{{left}} {isnt} {{right}}", left=texts[0], right=texts[1])
                if isinstance(node, ast.Compare):
                    fix = chained(frame.source, node, sides, fix)
            what = "`is` compares objects, and a number of a sample is not an object"
            raise HawkError("H201", what, frame.loc(node), fix)

    def _contains(
        self,
        frame: Frame,
        node: ast.AST,
        value: Any,
        container: Any,
        sides: tuple[ast.AST, ...],
    ) -> Any:
        """`value in container`: known, or equal to any of its elements."""
        if isinstance(container, SmallArray) and not isinstance(value, SmallArray):
            container = tuple(self.expressions.arrays.rows(frame, node, container))
        if any(isinstance(each, SmallArray) for each in (value, container)) or (
            isinstance(container, (tuple, list))
            and any(isinstance(each, SmallArray) for each in container)
        ):
            what = "`in` asks whether one number is equal, and here is an array"
            raise HawkError("H208", what, frame.loc(node))
        if isinstance(container, Scalar) or not isinstance(
            container, (tuple, list, dict, str, range, *VIEWS)
        ):
            what = (
                f"`in` needs values whose number is known, not {describe(self.numbers, container)}"
            )
            fix = "(..., ...), a tuple of them"
            if isinstance(container, Scalar) and isinstance(node, ast.Compare):
                sides = (node.left, node.comparators[-1])
                symbol = "!=" if isinstance(node.ops[-1], ast.NotIn) else "=="
                left, right = (frame.source.text(side) for side in sides)
                fix = filled(f"{{left}} {symbol} {{right}}", left=left, right=right)
            raise HawkError("H404", what, frame.loc(node), fix)
        known = known_of(value)
        if is_known(known) and is_known(tuple(container)):
            found = by_python(lambda: known in container, frame.loc(node))
            return found if known is value else self.numbers.settle(found)
        found = False
        parts = elements(frame.source, sides[1]) if len(sides) == 2 else []
        for place, each in enumerate(container):
            both = (sides[0], parts[place] if parts else sides[1]) if sides else ()
            try:
                equal = self.comparison(frame, node, ast.Eq(), value, each, both)
            except HawkError as error:
                raise self._not_in(frame, node, value, each, place, error) from None
            found = self.domain.either(found, equal)
            if found is True:
                return True
        return found

    def _not_in(
        self, frame: Frame, node: ast.AST, value: Any, each: Any, place: int, said: HawkError
    ) -> HawkError:
        """The error of `value in container` where the comparison with one element fails."""
        clash = self.clash(value, each)
        if not isinstance(node, ast.Compare) or len(node.ops) != 1 or clash is None:
            return HawkError(said.code, said.what, said.loc)
        turned, conversion = clash
        source, container = frame.source, node.comparators[0]
        parts = elements(source, container)
        text = source.text(node.left)
        if turned == "left":
            return HawkError(said.code, said.what, frame.loc(node.left), f"{conversion}({text})")
        if parts:
            fix = f"{conversion}({source.text(parts[place])})"
            return HawkError(said.code, said.what, frame.loc(parts[place]), fix)
        within = source.text(container)
        (one, _) = fresh(text, within)
        fix = filled(f"{{left}} == {conversion}({one})", left=text)
        fix = f"any([{fix} for {one} in {within}])"
        fix = f"not {fix}" if isinstance(node.ops[0], ast.NotIn) else fix
        return HawkError(said.code, said.what, frame.loc(node), fix)

    def clash(self, value: Any, other: Any) -> tuple[str, str] | None:
        """Which of two integers that do not mix becomes another type, and by which function."""
        if not all(isinstance(each, (Scalar, bool, int, float)) for each in (value, other)):
            return None
        kinds = [self.numbers.kind(each) for each in (value, other)]
        types = [each for each in kinds if isinstance(each, DType) and each.is_int]
        if len(types) == 2 and types[0] is not types[1]:
            mixed = Mixed("==", *types)
            return mixed.turned, CONVERSIONS[mixed.into]
        if len(types) == 1 and DType.I64 not in types:
            return ("left" if kinds[0] in types else "right"), CONVERSIONS[DType.I64]
        return None

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
        binds = {n.target.id for n in ast.walk(right) if isinstance(n, ast.NamedExpr)}
        sure = self.bound_where(left) if wanted else {}
        if left.number is None and (binds or sure or self.domain.watches):
            # The right side binds names, or is looked at, only where the left one lets it run.
            known = ast.copy_location(ast.Constant(value=not wanted), right)
            if not wanted:
                return self._chosen(frame, left, known, right, node)
            return self._and_then(frame, left, right, known, node, binds | sure.keys())
        if left.number is not None:
            return self._truth_of(frame, right, node)
        names, written = dict(frame.names), self.domain.memory.written
        with (
            self.domain.reductions.for_some(),
            self.domain.inside(),
            self.domain.builder.block() as items,
        ):
            other = self._truth_of(frame, right, node)
        if self.domain.memory.written is not written:
            # It changes something, so it must run only where the left side lets it.
            frame.names, self.domain.memory.written = names, written
            known = ast.copy_location(ast.Constant(value=not wanted), right)
            arms = (right, known) if wanted else (known, right)
            return self._chosen(frame, left, *arms, node)
        self.domain.builder.items.extend(items)
        return self.expressions.guarded(
            frame, node, lambda: self.numbers.emit("and" if wanted else "or", left, other)
        )

    def _and_then(
        self,
        frame: Frame,
        left: Scalar,
        right: ast.expr,
        known: ast.expr,
        node: ast.BoolOp,
        binds: set[str],
    ) -> Any:
        """`left and right`, where `right` binds names: they are bound where both hold."""
        inside: dict[str, Any] = {}

        def keep(names: dict[str, Any], *, ran: bool) -> None:
            if ran:
                inside.update((n, names[n]) for n in sorted(binds) if _can_leave(names.get(n)))
            for name, value in inside.items():
                names[f"{CHOSEN} {name}"] = value if ran else fill(value, _any_number)

        both = self._chosen(frame, left, right, known, node, keep)
        kept = {name: frame.names.pop(f"{CHOSEN} {name}") for name in inside}
        kept = {n: value for n, value in kept.items() if not isinstance(value, Unusable)}
        if kept and isinstance(both, Scalar):
            self.bound[both.value] = kept
        return both

    def _truth_of(self, frame: Frame, side: ast.expr, whole: ast.BoolOp) -> Scalar:
        value = self.expressions.evaluate(frame, side)
        if not isinstance(value, (Scalar, bool)):
            raise self._not_bool(frame, value, side, whole)
        return self._bool(frame, value, side, whole)

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
        if value is None and node is whole.values[-1] and frame.source.is_statement(whole):
            before = f" {word} ".join(frame.source.text(each) for each in whole.values[:-1])
            test = before if word == "and" else f"not ({before})"
            return HawkError("H201", what, frame.loc(whole), f"if {test}: {text}")
        fix = self._meant(frame, value, node, whole)
        return HawkError("H201", what, frame.loc(whole if fix else node), fix)

    def _meant(self, frame: Frame, value: Any, node: ast.expr, whole: ast.BoolOp) -> Fix:
        """What somebody means who writes a number between `and` or `or`."""
        texts = [frame.source.text(each) for each in whole.values]
        place, both = whole.values.index(node), isinstance(whole.op, ast.And)
        first, rest = whole.values[0], whole.values[1:]
        constants = all(isinstance(each, ast.Constant) for each in rest)
        equal = isinstance(first, ast.Compare) and [type(op) for op in first.ops] == [ast.Eq]
        if constants and not both and equal and isinstance(first, ast.Compare):
            choices = ", ".join([frame.source.text(first.comparators[0]), *texts[1:]])
            return f"{frame.source.text(first.left)} in ({choices})"
        if not isinstance(value, (Scalar, bool, int, float)):
            return ""
        word = " and " if both else " or "
        asked = [f"{{{n}}} != 0" if n == place else f"{{{n}}}" for n in range(len(texts))]
        truth = _filled(word.join(asked), texts)
        if frame.source.is_test(whole):
            return truth
        behind = word.join(f"{{{n}}}" for n in range(max(place, 1), len(texts)))
        before = word.join(f"{{{n}}}" for n in range(max(place, 1)))
        behind, before = _filled(behind, texts), _filled(before, texts)
        test = "{left} != 0" if place == 0 else "{left}"
        left = "{left}" if place == 0 else "0" if both else "1"
        form = f"{{right}} if {test} else {left}" if both else f"{left} if {test} else {{right}}"
        number = filled(form, left=before, right=behind)
        if place == 0:
            return number
        return [Edit(truth, ", a truth"), Edit(number, ", a number")]

    def choice(self, frame: Frame, node: ast.IfExp) -> Any:
        test = self.expressions.evaluate(frame, node.test)
        truth = self.domain.truth(frame, test, node.test)
        if isinstance(truth, bool):
            value = self.expressions.evaluate(frame, node.body if truth else node.orelse)
            return self.domain.settle(value) if isinstance(test, Scalar) else value
        return self._chosen(frame, truth, node.body, node.orelse, node)

    def _chosen(
        self,
        frame: Frame,
        truth: Any,
        body: ast.expr,
        orelse: ast.expr,
        node: ast.expr,
        keep: Callable[..., None] | None = None,
    ) -> Any:
        """The value of two expressions chosen at run time; `keep` adds to the names of an arm."""

        def arm(side: ast.expr, *, ran: bool) -> Callable[[], Ways]:
            def run() -> Ways:
                if isinstance(node, ast.BoolOp):
                    value: Any = self._truth_of(frame, side, node)
                else:
                    value = self.expressions.evaluate(frame, side)
                frame.names[CHOSEN] = value
                if keep is not None:
                    keep(frame.names, ran=ran)
                return {Exit.NEXT: always(frame.names)}

            return run

        arms = arm(body, ran=True), arm(orelse, ran=False)
        ways = self.domain.walker.branch(frame, truth, *arms, node)
        names = ways[Exit.NEXT].names
        value = names.pop(CHOSEN)
        frame.names = names
        if isinstance(value, Unusable):
            raise value.why(frame.source.text(node), frame.loc(node))
        return value


def _can_leave(value: Any) -> bool:
    """Whether a value is numbers, which can be given another value where it is not bound."""
    if isinstance(value, (tuple, list)):
        return all(map(_can_leave, value))
    return isinstance(value, (Scalar, SmallArray, bool, int, float, str, type(None)))


def _any_number(part: Any) -> Any:
    """A number of the same type, which nobody reads."""
    if not isinstance(part, Scalar):
        return part
    return Scalar(Const(part.dtype, part.value.loc, "", zero(part.dtype)), part.free)
