"""From a function and its signature to a program: one step of one sample."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from hawk.errors import HawkError
from hawk.frontend.frame import RESULT, Frame
from hawk.frontend.kernel_domain import KernelDomain
from hawk.frontend.lookup import Reads
from hawk.frontend.operators import Misfit
from hawk.frontend.signature import Output, Parameter, Signature, counted
from hawk.frontend.source import Source
from hawk.frontend.templates import describe
from hawk.frontend.values import Scalar, Unusable
from hawk.ir.builder import Builder
from hawk.ir.nodes import Function, Plane, Role, Value
from hawk.ir.types import DType


@dataclass(frozen=True, slots=True, eq=False)
class Traced:
    """A program, with every object from outside the function that it depends on."""

    function: Function
    reads: Reads

    def is_current(self) -> bool:
        """Whether tracing again would read the same objects. About 1 us."""
        return self.reads.are_current()


def trace(
    source: Source,
    signature: Signature,
    *,
    real: DType,
    uniform: frozenset[str] = frozenset(),
    contract: bool = True,
) -> Traced:
    """The program of one step, for floats of width `real`.

    `uniform` names the inputs that are one number for the whole launch. Raises HawkError.
    """
    builder = Builder(source.head())
    domain = KernelDomain(builder, real, contract=contract)
    planes = _planes(source, signature, real, uniform)
    names: dict[str, Any] = {
        plane.name: Scalar(plane.read) for plane in planes if plane.read is not None
    }
    for each in signature.parameters:
        if each.role is Role.MASK:
            names[each.name] = domain.numbers.constant(False, DType.BOOL)
    frame = Frame(source, names, leave=_Leave(domain, signature, real))
    try:
        final = domain.walker.function(frame)
    except RecursionError:
        what = "an expression of this kernel, or what it calls, is nested too deeply"
        raise HawkError("H403", what, source.head(), "parts of it with names of their own") from None
    stores: list[tuple[str, Value]] = []
    for plane in planes:
        if plane.role in (Role.STATE, Role.MASK, Role.OUTPUT):
            value = final[plane.name]
            if isinstance(value, Unusable):
                raise value.why(plane.name, source.head())
            stores.append((plane.name, value.value))
    function = Function(
        source.name, planes, real, tuple(builder.items), tuple(stores), loc=source.head()
    )
    return Traced(function, domain.reads)


def _planes(
    source: Source, signature: Signature, real: DType, uniform: frozenset[str]
) -> tuple[Plane, ...]:
    args = source.node.args
    nodes = {arg.arg: arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)}
    planes: list[Plane] = []
    for each in signature.parameters:
        role = Role.UNIFORM if each.name in uniform else each.role
        where, dtype = source.loc(nodes[each.name]), each.element.at(real)
        read = None if role is Role.MASK else Value(dtype, where, each.name)
        planes.append(Plane(each.name, role, dtype, read, where))
    planes += [
        Plane(each.name, Role.OUTPUT, each.element.at(real), None, source.head())
        for each in signature.outputs
    ]
    return tuple(planes)


class _Leave:
    """What a `return` of the kernel leaves: the values of all planes that are stored."""

    def __init__(self, domain: KernelDomain, signature: Signature, real: DType) -> None:
        self.domain, self.signature, self.real = domain, signature, real

    def __call__(self, frame: Frame, value: Any, node: ast.AST) -> dict[str, Any]:
        left: dict[str, Any] = {RESULT: None}
        for each in self.signature.parameters:
            if each.role in (Role.STATE, Role.MASK):
                left[each.name] = self._stored(frame, each, frame.names[each.name], node)
        outputs = self.signature.outputs
        if not outputs:
            return left
        values = (value,) if self.signature.nesting == "one" else value
        parts = node.value.elts if isinstance(getattr(node, "value", None), ast.Tuple) else []
        if value is None:
            what = f"`{frame.source.name}` returns nothing on this path"
            fix = "return " + ", ".join(each.name for each in outputs)
            raise HawkError("H109", what, frame.head(node), fix)
        if not isinstance(values, (tuple, list)) or len(values) != len(outputs):
            count = len(values) if isinstance(values, (tuple, list)) else 1
            what = f"{counted(count)} returned, the signature says {len(outputs)}"
            raise HawkError("H109", what, frame.head(node))
        for place, (output, part) in enumerate(zip(outputs, values, strict=True)):
            where = parts[place] if len(parts) == len(outputs) else getattr(node, "value", node)
            left[output.name] = self._stored(frame, output, part, where)
        return left

    def _stored(
        self, frame: Frame, plane: Parameter | Output, value: Any, node: ast.AST
    ) -> Any:
        """The value as its plane holds it."""
        if isinstance(value, Unusable):
            raise value.why(plane.name, frame.head(node))
        dtype, domain = plane.element.at(self.real), self.domain
        at_text = isinstance(plane, Output)
        if not isinstance(value, (Scalar, bool, int, float)):
            what = f"`{plane.name}` is {plane.element.name}, and this is "
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
