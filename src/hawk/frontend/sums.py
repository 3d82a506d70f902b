"""Operators in expressions of a kernel, and the contraction of products in sums.

A chain of operators is evaluated along its left side without recursion, so a sum of a thousand
terms is fine. A float product that is directly an operand of `+` or `-` becomes part of an fma (of
two products the left one).
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hawk.edits import filled
from hawk.errors import HawkError
from hawk.frontend.arithmetic import PYTHON
from hawk.frontend.bundles import fields_of
from hawk.frontend.frame import Frame
from hawk.frontend.instances import Instance
from hawk.frontend.known import by_python, no_text
from hawk.frontend.small_arrays import SmallArray
from hawk.frontend.suggestions import augmented, fresh
from hawk.frontend.symbols import SYMBOLS
from hawk.frontend.templates import describe
from hawk.frontend.values import Scalar, Spots, is_known

if TYPE_CHECKING:
    from hawk.frontend.expressions import Expressions


@dataclass(slots=True)
class _Product:
    """A product that may become part of an fma; not written yet."""

    first: Any
    second: Any
    node: ast.AST


class Sums:
    """Evaluates operators between numbers."""

    def __init__(self, expressions: Expressions) -> None:
        self.expressions = expressions
        self.domain, self.numbers = expressions.domain, expressions.numbers

    def chain(self, frame: Frame, node: ast.BinOp, name: str) -> Any:
        """A chain of operators, from its innermost left operand outwards."""
        chain: list[ast.BinOp] = []
        inner: ast.expr = node
        while isinstance(inner, ast.BinOp):
            chain.append(inner)
            inner = inner.left
        value = self.expressions.evaluate(frame, inner)
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
            first = self.expressions.evaluate(frame, right.left)
            return _Product(first, self.expressions.evaluate(frame, right.right), right)
        return self.expressions.evaluate(frame, right)

    def augment(self, frame: Frame, node: ast.AugAssign) -> None:
        """Run `target += value` and its like; owner and key of an element are evaluated once."""
        target, containers = node.target, self.expressions.containers
        if isinstance(target, ast.Attribute):
            of = self.expressions.evaluate(frame, target.value)
            if isinstance(of, Instance):
                self._augment_field(frame, node, target, of)
                return
        if not isinstance(target, ast.Subscript):
            load = ast.copy_location(_loaded(target), target)
            left = self.expressions.evaluate(frame, load)
            name = target.id if isinstance(target, ast.Name) else ""
            value = self._augmented(frame, node, left, name)
            if isinstance(left, SmallArray):
                assert isinstance(target, ast.Name)
                changed = self.expressions.arrays.assign(frame, node, left, value)
                frame.names[target.id] = changed
                return
            self.domain.walker.bind(frame, target, value)
            return
        owner, key = containers.place(frame, target)
        if isinstance(owner, Spots):
            right = self._operand(frame, node)
            right = self._written(frame, right) if isinstance(right, _Product) else right
            self.domain.scatters.augment(frame, node, owner, key, right)
            return
        left = containers.element(frame, target, owner, key)
        value = self._augmented(frame, node, left)
        containers.put(frame, target, owner, key, value)

    def _augment_field(
        self, frame: Frame, node: ast.AugAssign, target: ast.Attribute, of: Instance
    ) -> None:
        """`object.name += value`: an array changes where it is, a number is assigned."""
        objects = self.expressions.objects
        load = ast.copy_location(_loaded(target), target)
        assert isinstance(load, ast.Attribute)
        left = objects.attribute(frame, load, of)
        if isinstance(left, SmallArray):
            self.expressions.arrays.check(frame, load, left)
        value = self._augmented(frame, node, left)
        if isinstance(left, SmallArray) and not of.cls.__dataclass_params__.frozen:  # type: ignore[attr-defined]
            changed = self.expressions.arrays.assign(frame, node, left, value)
            objects.put(frame, of, target.attr, changed)
            return
        objects.store(frame, target, of, value)

    def _augmented(self, frame: Frame, node: ast.AugAssign, left: Any, name: str = "") -> Any:
        """What `left op= right` makes of `left`: a list or dict stays the object it is."""
        right = self._operand(frame, node)
        symbol = SYMBOLS[type(node.op)]
        if not hasattr(type(left), IN_PLACE.get(symbol, "")):
            return self._combine(frame, node, left, right, name)
        containers, text = self.expressions.containers, frame.source.text(node.target)
        right = self._written(frame, right) if isinstance(right, _Product) else right
        containers.changing(frame, left, node.target)
        methods = self.expressions.calls.structural.methods
        if symbol == "+" and isinstance(left, list):
            left += methods.sequence(frame, node, right)
        elif symbol == "*" and isinstance(left, list) and _counts(right):
            left *= containers.as_index(frame, right, node)
        elif symbol == "|" and isinstance(left, dict):
            left.update(methods.pairs(frame, node.value, right))
        else:
            what = f"`{symbol}=` of {describe(self.numbers, left)} and "
            what += describe(self.numbers, right)
            raise HawkError("H201", what, frame.loc(node), f"{text} = {text} {symbol} ...")
        return left

    def _combine(
        self, frame: Frame, node: ast.BinOp | ast.AugAssign, left: Any, right: Any, name: str = ""
    ) -> Any:
        """`left op right`, where either may be a product not yet written."""
        if isinstance(left, _Product):
            added = self._written(frame, right) if isinstance(right, _Product) else right
            if _arrays(left.first, left.second, added):
                signs = "++" if isinstance(node.op, ast.Add) else "+-"
                return self.expressions.arrays.fused(frame, node, left, added, signs, first=True)
            dtype = self.numbers.contracts(left.first, left.second, added)
            if dtype is not None:
                signs = "++" if isinstance(node.op, ast.Add) else "+-"
                return self._fma(frame, node, left, added, dtype, signs, name)
            left, right = self._written(frame, left), added
        elif isinstance(right, _Product):
            if _arrays(right.first, right.second, left):
                signs = "++" if isinstance(node.op, ast.Add) else "-+"
                return self.expressions.arrays.fused(frame, node, right, left, signs, first=False)
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
        return self.expressions.guarded(
            frame,
            node,
            lambda: self.numbers.fma(dtype, product.first, product.second, added, signs),
            name,
        )

    def _binary(self, frame: Frame, node: Any, left: Any, right: Any, name: str = "") -> Any:
        symbol = SYMBOLS[type(node.op)]
        for value, side in ((left, _left(node)), (right, _right(node))):
            if isinstance(value, Instance):
                what = f"`{frame.source.text(side)}` is {describe(self.numbers, value)}, and "
                what += f"`{symbol}` works on numbers and arrays"
                fix = f"{frame.source.text(side)}.{fields_of(value.cls)[0].name}, or another field"
                raise HawkError("H201", what, frame.loc(side), fix)
        if symbol == "/" and _counts(left) and _counts(right):
            self.domain.quotients.add(node)
        if _arrays(left, right):
            sides = (_left(node), _right(node))
            return self.expressions.arrays.binary(frame, node, symbol, left, right, sides)
        if is_known(left) and is_known(right):
            result = by_python(lambda: PYTHON[symbol](left, right), frame.loc(node))
            builtin = {type(left), type(right), type(result)} <= {list, dict, int, bool}
            return self.domain.new(result) if builtin else result
        if symbol == "|" and type(left) is type(right) is dict:
            return self.domain.new(left | right)
        if symbol == "%" and isinstance(left, str):
            raise no_text(frame.loc(node))
        sides = (_left(node), _right(node))
        if isinstance(left, (tuple, list)) or isinstance(right, (tuple, list)):
            return self._sequences(frame, node, left, right, symbol)
        return self.expressions.guarded(
            frame, node, lambda: self.numbers.binary(symbol, left, right), name, sides
        )

    def _sequences(self, frame: Frame, node: Any, left: Any, right: Any, symbol: str) -> Any:
        """Tuples and lists are joined and repeated as in Python."""
        both = isinstance(left, (tuple, list)) and type(left) is type(right)
        times = right if isinstance(left, (tuple, list)) else left
        if symbol == "+" and both:
            return self.expressions.containers.new(left + right)
        if symbol == "*" and not both and _counts(times):
            count = self.expressions.containers.as_index(frame, times, node)
            return self.expressions.containers.new((left if times is right else right) * count)
        a, b = describe(self.numbers, left), describe(self.numbers, right)
        what = f"`{symbol}` of {a} and {b}: a tuple or list is not a vector"
        texts = [frame.source.text(side) for side in (_left(node), _right(node))]
        one, other = fresh(*texts)
        fix = f"[{one} {symbol} {other} for {one}, {other} in zip({texts[0]}, {texts[1]})]"
        if not isinstance(left, (tuple, list)):
            fix = f"[{filled(f'{{left}} {symbol} {one}', left=texts[0])} for {one} in {texts[1]}]"
        elif not isinstance(right, (tuple, list)):
            fix = filled(f"{one} {symbol} {{right}}", right=texts[1])
            fix = f"[{fix} for {one} in {texts[0]}]"
        if isinstance(node, ast.AugAssign):
            fix = augmented(frame.source, node, fix)
        raise HawkError("H201", what, frame.loc(node), fix)

    def unary(self, frame: Frame, node: ast.UnaryOp, name: str) -> Any:
        value = self.expressions.evaluate(frame, node.operand)
        if isinstance(node.op, ast.Not):
            truth = self.domain.truth(frame, value, node.operand)
            if isinstance(truth, bool):
                return self.numbers.settle(not truth) if isinstance(value, Scalar) else not truth
            return self.expressions.guarded(frame, node, lambda: self.numbers.opposite(truth), name)
        symbol = SYMBOLS[type(node.op)]
        if isinstance(value, SmallArray):
            return self.expressions.arrays.unary(frame, node, symbol, value)
        if is_known(value):
            operator = {"-": lambda: -value, "+": lambda: +value, "~": lambda: ~value}[symbol]
            return by_python(operator, frame.loc(node))
        return self.expressions.guarded(
            frame, node, lambda: self.numbers.unary(symbol, value), name, (node.operand,)
        )


def _arrays(*values: Any) -> bool:
    return any(isinstance(each, SmallArray) for each in values)


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


IN_PLACE = {
    symbol: f"__i{name}__"
    for symbol, name in (
        *(("+", "add"), ("-", "sub"), ("*", "mul"), ("/", "truediv"), ("//", "floordiv")),
        *(("%", "mod"), ("**", "pow"), ("@", "matmul"), ("<<", "lshift"), (">>", "rshift")),
        *(("&", "and"), ("|", "or"), ("^", "xor")),
    )
}
"""The method of what `+=` and its like change in place, by the operator."""


def _counts(value: Any) -> bool:
    """Whether a list may be repeated so often."""
    integer = isinstance(value, Scalar) and (value.free or value.dtype.is_int)
    return integer or (isinstance(value, int) and not isinstance(value, bool))


def _left(node: Any) -> ast.AST:
    return getattr(node, "left", getattr(node, "target", node))


def _right(node: Any) -> ast.AST:
    return node.right if isinstance(node, ast.BinOp) else getattr(node, "value", node)
