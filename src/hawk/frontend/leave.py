"""The exits of a kernel: what is returned, and its Mutables and mask, as their planes hold them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from hawk.errors import HawkError
from hawk.frontend.frame import RESULT, Frame
from hawk.frontend.operators import Misfit, named
from hawk.frontend.signature import Output, Parameter, Signature, counted
from hawk.frontend.templates import describe
from hawk.frontend.values import Scalar, Unusable
from hawk.ir.nodes import Role

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
        if value is None:
            what = f"`{frame.source.name}` returns nothing on this path"
            fix = "return " + ", ".join(each.name for each in outputs)
            raise HawkError("H109", what, frame.head(node), fix)
        if not isinstance(values, (tuple, list)) or len(values) != len(outputs):
            count = len(values) if isinstance(values, (tuple, list)) else 1
            what = f"{counted(count)} returned, the signature says {len(outputs)}"
            raise HawkError("H109", what, frame.head(node))
        for place, (output, part) in enumerate(zip(outputs, values, strict=True)):
            where = parts[place] if len(parts) == len(outputs) else written or node
            left[output.name] = self._stored(frame, output, part, where)
        return left

    def _stored(self, frame: Frame, plane: Parameter | Output, value: Any, node: ast.AST) -> Any:
        """The value as its plane holds it."""
        if isinstance(value, Unusable):
            raise value.why(plane.name, frame.head(node))
        dtype, domain = plane.element.at(self.domain.numbers.real), self.domain
        at_text = isinstance(plane, Output)
        if not isinstance(value, (Scalar, bool, int, float)):
            what = f"`{plane.name}` is {named(dtype)}, and this is "
            raise HawkError("H207", what + describe(domain.numbers, value), frame.head(node))
        domain.builder.loc = frame.head(node)
        try:
            return domain.numbers.store(value, dtype)
        except Misfit as misfit:
            if at_text:
                raise domain.expressions.error(frame, node, misfit) from None
            where, text = frame.head(node), plane.name
            made = value.value.loc if isinstance(value, Scalar) else where
            if made.file == where.file and made.line == made.end_line and made.caller is None:
                where, text = made, frame.source.lines[made.line - 1][made.col : made.end_col]
            what = misfit.what.replace("`{left}`", f"`{plane.name}`", 1).replace("{left}", text)
            fix = f"{plane.name} = " + misfit.fix.replace("{left}", text)
            raise HawkError(misfit.code, what, where, fix if misfit.fix else "") from None
