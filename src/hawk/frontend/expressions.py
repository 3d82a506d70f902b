"""The walk of expressions of a kernel: each node gives a Python object or a number of the program.

A chain of operators is evaluated along its left side without recursion, so a sum of a thousand
terms is fine. Inside one expression a float product that is directly an operand of `+` or `-`
becomes part of an fma (of two products the left one).
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hawk.errors import HawkError
from hawk.frontend.arithmetic import PYTHON
from hawk.frontend.calls import Calls
from hawk.frontend.frame import Exit, Frame, Way, Ways
from hawk.frontend.lookup import plain, read_attribute, read_name
from hawk.frontend.operators import Misfit
from hawk.frontend.patterns import matches
from hawk.frontend.refused import refusal
from hawk.frontend.templates import describe
from hawk.frontend.values import Closure, NeedsKnown, Range, Scalar, Unusable, is_known, leaves

if TYPE_CHECKING:
    from hawk.frontend.kernel_domain import KernelDomain

SYMBOLS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.MatMult: "@",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.USub: "-",
    ast.UAdd: "+",
    ast.Invert: "~",
}
CHOSEN = "if"
"""The key of a conditional expression's value among the names; a keyword, so no name of a user."""


@dataclass(slots=True)
class _Product:
    """A product that may become part of an fma; not written yet."""

    first: Any
    second: Any
    node: ast.AST


class Expressions:
    """Evaluates expressions for the domain of kernels."""

    def __init__(self, domain: KernelDomain) -> None:
        self.domain = domain
        self.numbers = domain.numbers
        self.calls = Calls(domain)
        self.made: dict[int, tuple[Any, int]] = {}
        """Lists and dicts made while walking, with the depth they were made at."""

    def evaluate(self, frame: Frame, node: ast.expr, name: str = "") -> Any:
        """The value of `node`; `name` is the name it will have, for printed programs."""
        match node:
            case ast.Constant():
                return node.value
            case ast.Name():
                return read_name(frame, node, self.domain.reads)
            case ast.BinOp():
                return self._chain(frame, node, name)
            case ast.UnaryOp():
                return self._unary(frame, node, name)
            case ast.Compare():
                return self._compare(frame, node, name)
            case ast.BoolOp():
                return self._bool_op(frame, node)
            case ast.IfExp():
                return self._choice(frame, node)
            case ast.Call():
                return self.calls.call(frame, node, name)
            case ast.Attribute():
                return self._attribute(frame, node)
            case ast.Subscript():
                return self._subscript(frame, node)
            case ast.Tuple():
                return tuple(self.elements(frame, node.elts))
            case ast.List():
                return self._new(list(self.elements(frame, node.elts)))
            case ast.Dict():
                return self._dict(frame, node)
            case ast.NamedExpr():
                value = self.evaluate(frame, node.value, node.target.id)
                frame.names[node.target.id] = value
                return value
            case ast.Lambda():
                return self.domain.walker.closure(frame, node)
            case ast.ListComp():
                return self._new(self._comprehension(frame, node.generators, [node.elt]))
            case ast.GeneratorExp():
                return tuple(self._comprehension(frame, node.generators, [node.elt]))
            case ast.DictComp():
                pairs = self._comprehension(frame, node.generators, [node.key, node.value])
                return self._new(dict(pairs))
            case ast.Slice():
                bounds = (node.lower, node.upper, node.step)
                return slice(*(None if b is None else self._index(frame, b) for b in bounds))
            case ast.JoinedStr():
                return "".join(str(self.evaluate(frame, each)) for each in node.values)
            case ast.FormattedValue():
                value = self.evaluate(frame, node.value)
                if not is_known(value):
                    what = "text cannot hold a number that is known only at run time"
                    raise HawkError("H212", what, frame.loc(node))
                return str(value)
            case _:
                raise refusal(frame.source, node, frame.caller)

    def elements(self, frame: Frame, nodes: list[ast.expr]) -> list[Any]:
        """The values of a list of expressions, starred ones opened."""
        values: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                starred = self.evaluate(frame, node.value)
                values.extend(self.domain.unpack(frame, starred, node.value))
            else:
                values.append(self.evaluate(frame, node))
        return values

    # --- operators ---

    def _chain(self, frame: Frame, node: ast.BinOp, name: str) -> Any:
        """A chain of operators, from its innermost left operand outwards."""
        chain: list[ast.BinOp] = []
        inner: ast.expr = node
        while isinstance(inner, ast.BinOp):
            chain.append(inner)
            inner = inner.left
        value = self.evaluate(frame, inner)
        for place in range(len(chain) - 1, -1, -1):
            each = chain[place]
            outer = chain[place - 1] if place else None
            right = self._operand(frame, each)
            if isinstance(each.op, ast.Mult) and self._joins(outer):
                value = _Product(value, right, each)
            else:
                label = name if each is node else ""
                value = self._combine(frame, each, value, right, label)
        return value

    def _joins(self, outer: ast.BinOp | None) -> bool:
        """Whether a product that is the left operand of `outer` may be part of an fma."""
        return (
            self.domain.contract and outer is not None and isinstance(outer.op, (ast.Add, ast.Sub))
        )

    def _operand(self, frame: Frame, node: ast.BinOp | ast.AugAssign) -> Any:
        """The right operand, as a product not yet written where it may be part of an fma."""
        right = node.right if isinstance(node, ast.BinOp) else node.value
        sums = isinstance(node.op, (ast.Add, ast.Sub)) and self.domain.contract
        if sums and isinstance(right, ast.BinOp) and isinstance(right.op, ast.Mult):
            first = self.evaluate(frame, right.left)
            return _Product(first, self.evaluate(frame, right.right), right)
        return self.evaluate(frame, right)

    def augment(self, frame: Frame, node: ast.AugAssign) -> Any:
        """The new value of the target of `+=` and its like."""
        target = node.target
        load = ast.copy_location(_loaded(target), target)
        left = self.evaluate(frame, load)
        name = target.id if isinstance(target, ast.Name) else ""
        return self._combine(frame, node, left, self._operand(frame, node), name)

    def _combine(
        self, frame: Frame, node: ast.BinOp | ast.AugAssign, left: Any, right: Any, name: str = ""
    ) -> Any:
        """`left op right`, where either may be a product not yet written."""
        if isinstance(left, _Product):
            added = self._written(frame, right) if isinstance(right, _Product) else right
            dtype = self.numbers.contracts(left.first, left.second, added)
            if dtype is not None:
                signs = "++" if isinstance(node.op, ast.Add) else "+-"
                return self._fma(frame, node, left, added, dtype, signs, name)
            left, right = self._written(frame, left), added
        elif isinstance(right, _Product):
            dtype = self.numbers.contracts(right.first, right.second, left)
            if dtype is not None:
                signs = "++" if isinstance(node.op, ast.Add) else "-+"
                return self._fma(frame, node, right, left, dtype, signs, name)
            right = self._written(frame, right)
        return self._binary(frame, node, left, right, name)

    def _written(self, frame: Frame, product: _Product) -> Any:
        return self._binary(frame, product.node, product.first, product.second)

    def _fma(
        self,
        frame: Frame,
        node: ast.AST,
        product: _Product,
        added: Any,
        dtype: Any,
        signs: str,
        name: str,
    ) -> Any:
        return self.guarded(
            frame,
            node,
            lambda: self.numbers.fma(dtype, product.first, product.second, added, signs),
            name,
        )

    def _binary(self, frame: Frame, node: Any, left: Any, right: Any, name: str = "") -> Any:
        symbol = SYMBOLS[type(node.op)]
        if is_known(left) and is_known(right):
            try:
                return PYTHON[symbol](left, right)
            except Exception as error:
                what = f"{type(error).__name__}, of what is known while tracing: {error}"
                raise HawkError("H210", what, frame.loc(node)) from None
        sides = (getattr(node, "left", getattr(node, "target", node)), _right(node))
        if isinstance(left, (tuple, list)) or isinstance(right, (tuple, list)):
            return self._sequences(frame, node, left, right, symbol)
        return self.guarded(
            frame, node, lambda: self.numbers.binary(symbol, left, right), name, sides
        )

    def _sequences(self, frame: Frame, node: Any, left: Any, right: Any, symbol: str) -> Any:
        """Tuples and lists are joined and repeated as in Python."""
        both = isinstance(left, (tuple, list)) and type(left) is type(right)
        times = right if isinstance(left, (tuple, list)) else left
        if symbol == "+" and both:
            return self._new(left + right)
        if symbol == "*" and not both and (isinstance(times, int) or isinstance(times, Scalar)):
            count = self._as_index(frame, times, node)
            return self._new((left if times is right else right) * count)
        a, b = describe(self.numbers, left), describe(self.numbers, right)
        raise HawkError("H201", f"`{symbol}` of {a} and {b}", frame.loc(node))

    def guarded(
        self,
        frame: Frame,
        node: ast.AST,
        compute: Callable[[], Any],
        name: str = "",
        operands: tuple[ast.AST, ...] = (),
    ) -> Any:
        """The value of `compute`, its operations placed at `node`, its misfits made errors."""
        numbers = self.numbers
        numbers.builder.loc, numbers.name = frame.loc(node), name
        try:
            return compute()
        except Misfit as misfit:
            raise self.error(frame, node, misfit, operands) from None
        finally:
            numbers.name = ""

    def error(
        self, frame: Frame, node: ast.AST, misfit: Misfit, operands: tuple[ast.AST, ...] = ()
    ) -> HawkError:
        """The error of a misfit at `node`, with the texts of the operands."""
        what, fix = misfit.what, misfit.fix
        for slot, operand in zip(("left", "right"), operands or (node,), strict=False):
            text = frame.source.text(operand)
            simple = isinstance(
                operand, (ast.Name, ast.Attribute, ast.Call, ast.Constant, ast.Subscript)
            )
            what = what.replace(f"{{{slot}}}", text)
            fix = fix.replace(f"({{{slot}}})", f"({text})")
            fix = fix.replace(f"{{{slot}}}", text if simple else f"({text})")
        return HawkError(misfit.code, what, frame.loc(node), fix)

    def _unary(self, frame: Frame, node: ast.UnaryOp, name: str) -> Any:
        value = self.evaluate(frame, node.operand)
        if isinstance(node.op, ast.Not):
            truth = self.domain.truth(frame, value, node.operand)
            if isinstance(truth, bool):
                return self.numbers.settle(not truth) if isinstance(value, Scalar) else not truth
            return self.guarded(frame, node, lambda: self.numbers.opposite(truth), name)
        symbol = SYMBOLS[type(node.op)]
        if is_known(value):
            try:
                return {"-": lambda: -value, "+": lambda: +value, "~": lambda: ~value}[symbol]()
            except Exception as error:
                raise HawkError("H210", f"{error}", frame.loc(node)) from None
        return self.guarded(
            frame, node, lambda: self.numbers.unary(symbol, value), name, (node.operand,)
        )

    def _compare(self, frame: Frame, node: ast.Compare, name: str) -> Any:
        """A chain of comparisons: all must hold, each operand is evaluated once."""
        left_node, left = node.left, self.evaluate(frame, node.left)
        result: Any = True
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            right = self.evaluate(frame, right_node)
            label = name if len(node.ops) == 1 else ""
            sides = (left_node, right_node)
            answer = self._comparison(frame, node, op, left, right, sides, label)
            if not isinstance(answer, Scalar):
                if not answer:
                    return answer
            elif isinstance(result, Scalar):
                last, this = result, answer
                result = self.guarded(
                    frame, node, lambda: self.numbers.emit("and", last, this), name
                )
            else:
                result = answer
            left_node, left = right_node, right
        return result

    def _comparison(
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
            try:
                return PYTHON[symbol](left, right)
            except Exception as error:
                raise HawkError("H210", f"{error}", frame.loc(node)) from None
        if isinstance(left, (Scalar, bool, int, float)) and isinstance(
            right, (Scalar, bool, int, float)
        ):
            return self.guarded(
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
            equal = self._comparison(frame, node, ast.Eq(), value, each, ())
            found = self.domain.either(found, equal)
            if found is True:
                return True
        return found

    def _bool_op(self, frame: Frame, node: ast.BoolOp) -> Any:
        """`and` and `or`: as in Python where a side is known, on bools where it is not."""
        wanted = isinstance(node.op, ast.And)
        value = self.evaluate(frame, node.values[0])
        for place, right in enumerate(node.values[1:]):
            if not isinstance(value, Scalar):
                if self.domain.truth(frame, value, node.values[place]) is not wanted:
                    return value
                value = self.evaluate(frame, right)
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
        value = self.evaluate(frame, right)
        if not isinstance(value, (Scalar, bool)):
            raise self._not_bool(frame, value, right, node)
        other = self._bool(frame, value, right, node)
        if left.number is not None:
            return other
        return self.guarded(
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

    def _choice(self, frame: Frame, node: ast.IfExp) -> Any:
        test = self.evaluate(frame, node.test)
        truth = self.domain.truth(frame, test, node.test)
        if isinstance(truth, bool):
            value = self.evaluate(frame, node.body if truth else node.orelse)
            return self.domain.settle(value) if isinstance(test, Scalar) else value
        return self._chosen(frame, truth, node.body, node.orelse, node)

    def _chosen(
        self, frame: Frame, truth: Any, body: ast.expr, orelse: ast.expr, node: ast.expr
    ) -> Any:
        """The value of two expressions chosen at run time."""

        def arm(side: ast.expr) -> Callable[[], Ways]:
            def run() -> Ways:
                value = self.evaluate(frame, side)
                frame.names[CHOSEN] = value
                return {Exit.NEXT: Way(True, frame.names)}

            return run

        ways = self.domain.walker.branch(frame, truth, arm(body), arm(orelse), node)
        names = ways[Exit.NEXT].names
        value = names.pop(CHOSEN)
        frame.names = names
        if isinstance(value, Unusable):
            raise value.why(frame.source.text(node), frame.loc(node))
        return value

    # --- containers ---

    def _new(self, container: Any) -> Any:
        if isinstance(container, (list, dict)):
            self.made[id(container)] = (container, self.domain.depth)
        return container

    def changing(self, frame: Frame, container: Any, node: ast.AST) -> None:
        """Check that a list or dict may be changed here. Raises HawkError."""
        made = self.made.get(id(container))
        if made is None:
            what = "this list comes from outside the kernel and must not change"
            raise HawkError("H308", what, frame.loc(node), "list(...) of it")
        if made[1] != self.domain.depth:
            what = "a list changes here on one path, or in one pass of a loop, only"
            raise NeedsKnown("H212", what, frame.loc(node), "a name for each element")

    def _dict(self, frame: Frame, node: ast.Dict) -> Any:
        pairs: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                pairs.update(self.evaluate(frame, value))
                continue
            known = self.evaluate(frame, key)
            if not is_known(known):
                raise NeedsKnown("H212", "a key of a dict must be known", frame.loc(key))
            pairs[known] = self.evaluate(frame, value)
        return self._new(pairs)

    def _comprehension(
        self, frame: Frame, generators: list[ast.comprehension], parts: list[ast.expr]
    ) -> list[Any]:
        """The elements of a comprehension, written out one after the other."""
        results: list[Any] = []
        targets = {n.id for g in generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
        outside = {name: frame.names[name] for name in targets if name in frame.names}

        def run(place: int) -> None:
            if place == len(generators):
                values = [self.evaluate(frame, part) for part in parts]
                results.append(values[0] if len(values) == 1 else tuple(values))
                return
            generator = generators[place]
            sequence = self.domain.iterate(
                frame, self.evaluate(frame, generator.iter), generator.iter
            )
            if isinstance(sequence, Range):
                what = "a comprehension has a known number of elements"
                raise NeedsKnown("H404", what, frame.loc(generator.iter))
            for element in sequence:
                if isinstance(sequence, range):
                    element = self.domain.counter(element)  # noqa: PLW2901
                self.domain.walker.bind(frame, generator.target, element)
                if all(self._keeps(frame, test) for test in generator.ifs):
                    run(place + 1)

        run(0)
        for name in targets:
            frame.names.pop(name, None)
        frame.names.update(outside)
        return results

    def _keeps(self, frame: Frame, test: ast.expr) -> bool:
        truth = self.domain.truth(frame, self.evaluate(frame, test), test)
        if isinstance(truth, bool):
            return truth
        what = "how many elements a comprehension has must be known"
        raise NeedsKnown("H404", what, frame.loc(test))

    def _attribute(self, frame: Frame, node: ast.Attribute) -> Any:
        owner = self.evaluate(frame, node.value)
        if isinstance(owner, Scalar):
            what = f"`{frame.source.text(node.value)}` is a number and has no `{node.attr}`"
            raise HawkError("H307", what, frame.loc(node))
        return read_attribute(owner, node.attr, frame.loc(node), self.domain.reads)

    def _subscript(self, frame: Frame, node: ast.Subscript) -> Any:
        owner = self.evaluate(frame, node.value)
        if isinstance(owner, (Scalar, Range, Closure)):
            what = f"`{frame.source.text(node.value)}` is {describe(self.numbers, owner)}"
            raise HawkError("H201", what + " and has no elements", frame.loc(node))
        key = self._index(frame, node.slice)
        try:
            part = owner[key]
        except Exception as error:
            size = f"; there are {len(owner)}" if isinstance(error, IndexError) else ""
            what = f"{type(error).__name__}: {error}{size}"
            raise HawkError("H210", what, frame.loc(node)) from None
        return self._new(part) if isinstance(key, slice) else plain(part, frame.loc(node))

    def _index(self, frame: Frame, node: ast.expr) -> Any:
        """A key that is known now; a number of the program if it is known too."""
        return self._as_index(frame, self.evaluate(frame, node), node)

    def _as_index(self, frame: Frame, value: Any, node: ast.AST) -> Any:
        if isinstance(value, Scalar):
            if value.number is not None:
                return value.number
        elif is_known(value):
            return value
        elif isinstance(value, (tuple, slice)) and all(
            not isinstance(part, Scalar) or part.number is not None for part in leaves(value)
        ):
            parts = value if isinstance(value, tuple) else (value.start, value.stop, value.step)
            known = [part.number if isinstance(part, Scalar) else part for part in parts]
            return type(value)(*known) if isinstance(value, slice) else tuple(known)
        text = frame.source.text(node)
        what = f"`{text}` picks an element while the kernel is traced, so it must be known by then"
        raise NeedsKnown("H212", what, frame.loc(node), "a loop whose bounds are known")

    def store(self, frame: Frame, target: ast.expr, value: Any) -> None:
        """Assign to an element of a list or dict made in the kernel."""
        if not isinstance(target, ast.Subscript):
            what = f"`{frame.source.text(target)}` is not a local name; a step changes only its own"
            raise HawkError("H308", what, frame.loc(target), "a Mutable parameter")
        owner = self.evaluate(frame, target.value)
        if not isinstance(owner, (list, dict)):
            what = f"an element of {describe(self.numbers, owner)} cannot be assigned"
            raise HawkError("H308", what, frame.loc(target))
        self.changing(frame, owner, target)
        key = self._index(frame, target.slice)
        try:
            owner[key] = value
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            raise HawkError("H210", what, frame.loc(target)) from None

    def matches(self, frame: Frame, value: Any, node: ast.pattern) -> tuple[Any, dict[str, Any]]:
        return matches(self, frame, value, node)

    def equals(self, frame: Frame, node: ast.AST, value: Any, other: Any) -> Any:
        """`value == other` as a pattern asks it."""
        answer = self._comparison(frame, node, ast.Eq(), value, other, ())
        return self.domain.truth(frame, answer, node)


def _loaded(target: ast.expr) -> ast.expr:
    """The target of an assignment as an expression that reads it."""
    match target:
        case ast.Name():
            return ast.Name(id=target.id, ctx=ast.Load())
        case ast.Subscript():
            return ast.Subscript(value=target.value, slice=target.slice, ctx=ast.Load())
        case ast.Attribute():
            return ast.Attribute(value=target.value, attr=target.attr, ctx=ast.Load())
        case _:
            return target


def _right(node: Any) -> ast.AST:
    return node.right if isinstance(node, ast.BinOp) else getattr(node, "value", node)
