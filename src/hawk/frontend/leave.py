"""The exits of a kernel: what is returned, and its Mutables and mask, as their planes hold them."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from types import BuiltinFunctionType
from typing import TYPE_CHECKING, Any

from hawk.edits import Edit, filled
from hawk.errors import HawkError, Loc
from hawk.frontend.bundle_planes import bundle_text
from hawk.frontend.bundles import Bundle
from hawk.frontend.frame import RESULT, Frame
from hawk.frontend.instances import Instance
from hawk.frontend.operators import Misfit, named
from hawk.frontend.scatters import rebound
from hawk.frontend.signature import Output, Parameter, Signature, article, counted, example
from hawk.frontend.small_arrays import SmallArray, old
from hawk.frontend.source import bound_names, own_nodes
from hawk.frontend.suggestions import fitted, site_of
from hawk.frontend.templates import describe
from hawk.frontend.values import Scalar, TableView, Unusable
from hawk.ir.nodes import Role
from hawk.ir.types import DType

if TYPE_CHECKING:
    from hawk.frontend.kernel_domain import KernelDomain


class Leave:
    """What a `return` of the kernel leaves: the values of all planes that are stored."""

    def __init__(
        self, domain: KernelDomain, signature: Signature, names: Mapping[str, Any]
    ) -> None:
        self.domain, self.signature = domain, signature
        self.tables = {n: each for n, each in names.items() if isinstance(each, TableView)}
        kept = (each for each in signature.parameters if each.role in (Role.STATE, Role.MASK))
        kept = (each for each in kept if not each.element.shape and not each.path)
        self.planes = {each.name: each.element.at(domain.numbers.real) for each in kept}

    def __call__(self, frame: Frame, value: Any, node: ast.AST) -> dict[str, Any]:
        left: dict[str, Any] = {RESULT: None}
        for each in self.signature.parameters:
            if each.role in (Role.STATE, Role.MASK):
                final = frame.names[each.root]
                final = self._field(frame, each, final, node) if each.path else final
                left[each.name] = self._stored(frame, each, final, node)
            elif each.role is Role.SHARED:
                left[each.name] = self._shared(frame, each.name, node)
        outputs = self.signature.returned
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
            if isinstance(output, Bundle):
                for _, plane in output.planes():
                    held = self._field(frame, plane, part, where)
                    left[plane.name] = self._stored(frame, plane, held, where)
            else:
                left[output.name] = self._stored(frame, output, part, where)
        return left

    def _field(self, frame: Frame, plane: Parameter | Output, whole: Any, node: ast.AST) -> Any:
        """What the object of a bundle has for one of its planes."""
        name, domain = plane.path[0], self.domain
        returned = isinstance(plane, Output)
        wholes = self.signature.returned if returned else self.signature.declared
        bundle = next(each for each in wholes if each.name == name)
        assert isinstance(bundle, Bundle)
        if isinstance(whole, Unusable):
            raise whole.why(name, whole.where or frame.head(node))
        if not isinstance(whole, Instance) or not issubclass(whole.cls, bundle.cls):
            where = frame.loc(node) if returned else assigned_last(frame, name, node)
            kind = f"a {bundle.cls.__name__}"
            what = f"`{name}` is {kind}, and here it becomes "
            what = f"the signature says {kind}, and this is " if returned else what
            what += describe(domain.numbers, whole)
            raise HawkError("H207", what, where, bundle_text(bundle))
        return domain.expressions.objects.at(frame, node, whole, plane.path[1:])

    def _shared(self, frame: Frame, name: str, node: ast.AST) -> TableView:
        """A shared table, which has no other value than itself."""
        if frame.names[name] is self.tables[name]:
            return self.tables[name]
        raise rebound(name, assigned_last(frame, name, node))

    def _stored(self, frame: Frame, plane: Parameter | Output, value: Any, node: ast.AST) -> Any:
        """The value as its plane holds it."""
        if isinstance(value, Unusable):
            raise value.why(plane.text, value.where or frame.head(node))
        dtype, domain = plane.element.at(self.domain.numbers.real), self.domain
        if plane.element.shape or isinstance(value, SmallArray):
            return self._array(frame, plane, value, node)
        at_text = isinstance(plane, Output)
        if not isinstance(value, (Scalar, bool, int, float)):
            what = f"`{plane.text}` is {named(dtype)}, and here it becomes "
            if at_text:
                what = f"`{plane.text}` is {named(dtype)}, and this is "
            what += describe(domain.numbers, value)
            where = frame.head(node) if at_text else assigned_last(frame, plane.text, node)
            fix = f"{value.__name__}(...)" if isinstance(value, BuiltinFunctionType) else ""
            raise HawkError("H207", what, where, fix)
        domain.builder.loc = frame.head(node)
        try:
            return domain.numbers.store(value, dtype)
        except Misfit as misfit:
            if dtype is DType.BOOL and isinstance(value, (int, float)):
                misfit.fixes = (str(bool(value)),)
            if at_text:
                raise self._returned(frame, plane, node, misfit, dtype) from None
            raise _became(frame, plane.text, value, node, misfit, dtype, domain.quotients) from None

    def _array(self, frame: Frame, plane: Parameter | Output, value: Any, node: ast.AST) -> Any:
        """A small array as its planes hold it."""
        numbers, element = self.domain.numbers, plane.element
        at_text = isinstance(plane, Output)
        where = frame.loc(node) if at_text else assigned_last(frame, plane.text, node)
        if isinstance(value, SmallArray) and value.shape == element.shape:
            change = self.domain.memory.change(value)
            if change is not None:
                raise old(plane.text, change, where)
            self.domain.builder.loc = frame.head(node)
            dtype = element.at(numbers.real)
            try:
                parts = [numbers.store(part, dtype) for part in value.parts]
            except Misfit:
                what = f"`{plane.text}` holds numbers of type {dtype.hawk}, and here they become "
                raise HawkError("H207", what + value.dtype.hawk, where) from None
            return self.domain.memory.fresh(value.shape, parts)
        what = (
            f"`{plane.text}` is {article(element) if element.shape else _number_named(plane, self)}"
        )
        what += f", and {'this is' if at_text else 'here it becomes'} "
        what += describe(numbers, value)
        raise HawkError("H207", what, where, _of_numbers(frame, plane, value, node))

    def _returned(
        self, frame: Frame, plane: Output, node: ast.AST, misfit: Misfit, dtype: DType
    ) -> HawkError:
        """The error of a returned value that is no number of its plane."""
        several = self.signature.nesting == "tuple"
        whole = isinstance(node, ast.stmt) or node is _given_back(frame, node)
        text = frame.source.text(node)
        if several and whole:  # a tuple that is not written out here
            what = misfit.what.replace("{left}", f"{text}[{plane.name.removeprefix('out')}]")
            return HawkError(misfit.code, what, frame.loc(node))
        assert isinstance(node, ast.expr)
        template = _template(misfit)
        whole = dtype.is_int and node in self.domain.quotients
        fix = template and fitted(frame.source, node, template, integer=whole)
        return HawkError(misfit.code, misfit.what.replace("{left}", text), frame.loc(node), fix)


def _number_named(plane: Parameter | Output, leave: Leave) -> str:
    return named(plane.element.at(leave.domain.numbers.real))


def _of_numbers(frame: Frame, plane: Parameter | Output, value: Any, node: ast.AST) -> str | Edit:
    """What to write where a tuple of numbers is to be an array."""
    shape = plane.element.shape
    arrays = isinstance(value, (tuple, list)) and any(isinstance(v, SmallArray) for v in value)
    if not isinstance(value, (tuple, list)) or (len(value) != (shape or (0,))[0] and not arrays):
        return ""
    maker = "hawk.math.vec" if len(shape) == 1 else "hawk.math.mat"
    if not isinstance(plane, Output):
        return f"{plane.text} = {maker}(...)"
    text = frame.source.text(node)
    if arrays:
        first = value[0].shape == shape if isinstance(value[0], SmallArray) else False
        return filled("{left}[0]", left=text) if first else ""
    if isinstance(node, ast.Tuple) and not text.startswith("("):
        text = f"({text})"
    return f"{maker}({text})" if isinstance(node, ast.expr) else ""


def _given_back(frame: Frame, node: ast.AST) -> ast.AST | None:
    """`node`, if it is all that a `return` gives."""
    own = own_nodes(frame.source.body)
    return next((node for each in own if getattr(each, "value", None) is node), None)


def _became(
    frame: Frame,
    name: str,
    value: Any,
    node: ast.AST,
    misfit: Misfit,
    dtype: DType,
    quotients: AbstractSet[ast.AST],
) -> HawkError:
    """The error of a Mutable or a mask that ends a step as no number of its plane."""
    what = misfit.what.replace("{left}", name)
    made = value.value.loc if isinstance(value, Scalar) else None
    site = site_of(frame, name, made)
    if site is None:
        return HawkError(misfit.code, what, frame.head(node))
    where = frame.loc(site.value or site.statement)
    if isinstance(site.statement, (ast.For, ast.AugAssign)):
        where = frame.head(site.statement)
    template = _template(misfit)
    if not template:
        return HawkError(misfit.code, what, where)
    whole = dtype.is_int and site.node in quotients
    edit = site.edit(frame, template, where, integer=whole)
    dots = filled(template, left="...")
    fix = edit or f"{dots} around what `{name}` becomes here"
    return HawkError(misfit.code, what, where if edit is None else edit.at, fix)


def _template(misfit: Misfit) -> str:
    """What to write for a value that does not fit, with {left} for it; nothing if not known."""
    fix = misfit.fixes[0] if misfit.fixes else ""
    return fix.text if isinstance(fix, Edit) else fix


def assigned_last(frame: Frame, name: str, node: ast.AST) -> Loc:
    """The place of the last statement that assigns to `name`; of `node` where there is none."""
    own = own_nodes(frame.source.body)
    found = [each for each in own if isinstance(each, ast.stmt) and name in _targets(each)]
    return frame.head(found[-1] if found else node)


def _targets(node: ast.stmt) -> set[str]:
    """The names that an assignment binds."""
    if not isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
        return set()
    own = own_nodes([node])
    stored = [n for n in own if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)]
    return bound_names([node]) | {ast.unparse(each) for each in stored}
