"""The exits of a kernel: what is returned, and its Mutables and mask, as their planes hold them."""

from __future__ import annotations

import ast
from types import BuiltinFunctionType
from typing import TYPE_CHECKING, Any

from hawk.errors import HawkError, Loc
from hawk.frontend.frame import RESULT, Frame
from hawk.frontend.operators import Misfit, named
from hawk.frontend.signature import Output, Parameter, Signature, counted, example
from hawk.frontend.source import bound_names, own_nodes
from hawk.frontend.templates import describe
from hawk.frontend.values import Scalar, Unusable
from hawk.ir.nodes import Role
from hawk.ir.types import DType

if TYPE_CHECKING:
    from hawk.frontend.kernel_domain import KernelDomain


class Leave:
    """What a `return` of the kernel leaves: the values of all planes that are stored."""

    def __init__(self, domain: KernelDomain, signature: Signature) -> None:
        self.domain, self.signature = domain, signature

    def __call__(self, frame: Frame, value: Any, node: ast.AST) -> dict[str, Any]:
        left: dict[str, Any] = {RESULT: None}
        for each in self.signature.parameters:
            if each.role in (Role.STATE, Role.MASK):
                left[each.name] = self._stored(frame, each, frame.names[each.name], node)
        outputs = self.signature.outputs
        if not outputs:
            return left
        values = (value,) if self.signature.nesting == "one" else value
        written = getattr(node, "value", None)
        parts = written.elts if isinstance(written, ast.Tuple) else []
        if value is None and written is None:
            what = f"`{frame.source.name}` may end without `return` after this statement"
            raise HawkError("H109", what, frame.head(node), f"{example(outputs)}, as its last line")
        if value is None:
            what = f"`{frame.source.name}` returns None, and its signature says a number"
            raise HawkError("H109", what, frame.head(node), example(outputs))
        if not isinstance(values, (tuple, list)) or len(values) != len(outputs):
            count = len(values) if isinstance(values, (tuple, list)) else 1
            what = f"{counted(count)} returned, the signature says {len(outputs)}"
            raise HawkError("H109", what, frame.head(node), example(outputs))
        for place, (output, part) in enumerate(zip(outputs, values, strict=True)):
            where = parts[place] if len(parts) == len(outputs) else written or node
            left[output.name] = self._stored(frame, output, part, where)
        return left

    def _stored(self, frame: Frame, plane: Parameter | Output, value: Any, node: ast.AST) -> Any:
        """The value as its plane holds it."""
        if isinstance(value, Unusable):
            raise value.why(plane.name, value.where or frame.head(node))
        dtype, domain = plane.element.at(self.domain.numbers.real), self.domain
        at_text = isinstance(plane, Output)
        if not isinstance(value, (Scalar, bool, int, float)):
            what = f"`{plane.name}` is {named(dtype)}, and here it becomes "
            if at_text:
                what = f"`{plane.name}` is {named(dtype)}, and this is "
            what += describe(domain.numbers, value)
            where = frame.head(node) if at_text else assigned_last(frame, plane.name, node)
            fix = f"{value.__name__}(...)" if isinstance(value, BuiltinFunctionType) else ""
            raise HawkError("H207", what, where, fix)
        domain.builder.loc = frame.head(node)
        try:
            return domain.numbers.store(value, dtype)
        except Misfit as misfit:
            where, text = frame.head(node), frame.source.text(node) if at_text else plane.name
            made = value.value.loc if isinstance(value, Scalar) else where
            one_line = made.line == made.end_line and made.caller is None
            if not at_text and made.file == where.file and one_line:
                where, text = made, frame.source.lines[made.line - 1][made.col : made.end_col]
            elif not at_text:
                where = assigned_last(frame, plane.name, node)
            if dtype is DType.BOOL and isinstance(value, (int, float)):
                misfit.fix = str(bool(value))
            if at_text:
                misfit.fix = fitted(text, dtype, misfit.fix)
                raise domain.expressions.error(frame, node, misfit) from None
            what = misfit.what.replace("`{left}`", f"`{plane.name}`", 1).replace("{left}", text)
            fix = f"{plane.name} = {fitted(text, dtype, misfit.fix)}" if misfit.fix else ""
            raise HawkError(misfit.code, what, where, fix) from None


def assigned_last(frame: Frame, name: str, node: ast.AST) -> Loc:
    """The place of the last statement that assigns to `name`; of `node` where there is none."""
    own = own_nodes(frame.source.body)
    found = [each for each in own if isinstance(each, ast.stmt) and name in _targets(each)]
    return frame.head(found[-1] if found else node)


def _targets(node: ast.stmt) -> set[str]:
    """The names that an assignment binds."""
    simple = isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign))
    return bound_names([node]) if simple else set()


def fitted(text: str, dtype: DType, fix: str) -> str:
    """What to write for an expression whose value is no `dtype`; `fix` holds {left} for its text.

    `k / 2` that should be an integer becomes `k // 2`; of `k += x` the sum is taken.
    """
    try:
        (node,) = ast.parse(text).body
    except (SyntaxError, ValueError):
        return fix.replace("{left}", text)
    match node:
        case ast.AugAssign(op=op):
            value: ast.expr = ast.BinOp(left=_read(node.target), op=op, right=node.value)
        case ast.Expr():
            value = node.value
        case _:
            return fix.replace("{left}", text)
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div) and dtype.is_int:
        return ast.unparse(ast.BinOp(left=value.left, op=ast.FloorDiv(), right=value.right))
    written = text if isinstance(node, ast.Expr) else ast.unparse(value)
    calls = fix.endswith("({left})")
    simple = isinstance(value, (ast.Name, ast.Call, ast.Constant, ast.Subscript, ast.Attribute))
    return fix.replace("{left}", written if calls or simple else f"({written})")


def _read(target: ast.expr) -> ast.expr:
    return ast.Name(target.id, ast.Load()) if isinstance(target, ast.Name) else target
