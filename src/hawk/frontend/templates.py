"""The shape of a value that paths share: where its numbers are, and of which kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import BuiltinFunctionType, FunctionType
from typing import Any, TypeAlias

from hawk.frontend.arithmetic import Arithmetic
from hawk.frontend.bundles import is_bundle
from hawk.frontend.instances import Fields, Instance
from hawk.frontend.operators import Kind, Literal, named
from hawk.frontend.small_arrays import SmallArray, described
from hawk.frontend.values import (
    Closure,
    Range,
    Scalar,
    Spots,
    Stream,
    TableView,
    Unusable,
    is_known,
)
from hawk.ir.meaning import RANGE
from hawk.ir.types import DType


@dataclass(frozen=True, slots=True)
class Parts:
    """A tuple, list or dict of templates."""

    form: type
    parts: tuple[Any, ...]
    keys: tuple[Any, ...] = ()
    """Of a dict."""

    def fits(self, value: Any) -> bool:
        """Whether `value` is of this form, apart from its parts."""
        if not isinstance(value, self.form) or len(value) != len(self.parts):
            return False
        return not isinstance(value, dict) or tuple(value) == self.keys


@dataclass(frozen=True, slots=True)
class ArrayParts:
    """A small array: the kind of its numbers, and a value that has its memory."""

    shape: tuple[int, ...]
    kind: Kind
    like: SmallArray = field(compare=False)


@dataclass(frozen=True, slots=True)
class FieldParts:
    """What an object holds: a template for each field, Unusable where it holds no single thing."""

    cls: type
    parts: tuple[Any, ...]
    like: Fields = field(compare=False)


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """An object that stays what it is."""

    value: Any

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Known):
            return NotImplemented
        mine, theirs = self.value, other.value
        if mine is theirs:
            return True
        return isinstance(mine, (str, int)) and type(mine) is type(theirs) and mine == theirs

    def __hash__(self) -> int:
        return 0


Template: TypeAlias = "Kind | Parts | ArrayParts | FieldParts | Known"


def template_of(numbers: Arithmetic, value: Any) -> Template:
    """The template of a value. A known number has the kind it settles to."""
    match value:
        case Scalar():
            return numbers.kind(value)
        case SmallArray():
            return ArrayParts(value.shape, value.dtype, value)
        case bool():
            return DType.BOOL
        case int():
            least, greatest = RANGE[DType.I64]
            return Literal.INT if least <= value <= greatest else Known(value)
        case float():
            return numbers.real
        case tuple() | list():
            return Parts(type(value), tuple(template_of(numbers, part) for part in value))
        case dict() if type(value) is dict and not is_known(value):
            parts = tuple(template_of(numbers, part) for part in value.values())
            return Parts(dict, parts, tuple(value))
        case _:
            return Known(value)


def open_up(value: Any, template: Template, leaf: Callable[[Any, Kind], Any]) -> Any:
    """`value`, or None where there is none yet, with its numbers replaced by `leaf`."""
    if isinstance(template, Known):
        return template.value
    if isinstance(template, Unusable):
        return template
    if isinstance(template, FieldParts):
        whole = template.like if value is None else value
        parts = [None] * len(whole.parts) if value is None else whole.parts
        pairs = zip(parts, template.parts, strict=True)
        return replace(whole, parts=tuple([open_up(part, each, leaf) for part, each in pairs]))
    if isinstance(template, ArrayParts):
        old = template.like if value is None else value
        parts = [None] * len(old.parts) if value is None else value.parts
        return replace(old, parts=tuple([leaf(part, template.kind) for part in parts]))
    if isinstance(template, Parts):
        parts = [None] * len(template.parts) if value is None else value
        parts = list(parts.values()) if isinstance(parts, dict) else parts
        pairs = zip(parts, template.parts, strict=True)
        opened = [open_up(part, each, leaf) for part, each in pairs]
        return formed(template.form, opened, template.keys)
    return leaf(value, template)


def fill(
    tree: Any,
    leaf: Callable[[Any], Any],
    array: Callable[[Any, tuple[Any, ...]], Any] | None = None,
) -> Any:
    """`tree` with `leaf` applied to its parts; itself where that changes none of them.

    `array` makes a small array, or what an object holds, of the old one and its new parts.
    """
    match tree:
        case Fields():
            parts = tuple([fill(part, leaf, array) for part in tree.parts])
            if array is not None:
                return array(tree, parts)
            same = all(a is b for a, b in zip(tree.parts, parts, strict=True))
            return tree if same else replace(tree, parts=parts)
        case SmallArray():
            parts = tuple([leaf(part) for part in tree.parts])
            if all(a is b for a, b in zip(tree.parts, parts, strict=True)):
                return tree
            return replace(tree, parts=parts) if array is None else array(tree, parts)
        case tuple() | list():
            old, keys = list(tree), ()
        case dict():
            old, keys = list(tree.values()), tuple(tree)
        case Range():
            start, stop = fill(tree.start, leaf, array), fill(tree.stop, leaf, array)
            same = start is tree.start and stop is tree.stop
            return tree if same else Range(start, stop, tree.step)
        case _:
            return leaf(tree)
    new = [fill(part, leaf, array) for part in old]
    same = all(a is b for a, b in zip(old, new, strict=True))
    return tree if same else formed(type(tree), new, keys)


def formed(form: type, parts: list[Any], keys: tuple[Any, ...] = ()) -> Any:
    """A tuple, list or dict of the parts."""
    if issubclass(form, dict):
        return dict(zip(keys, parts, strict=True))
    if hasattr(form, "_fields"):  # a named tuple takes its parts one by one
        return form(*parts)
    return form(parts)


def describe(numbers: Arithmetic, value: Any, *, lines: bool = False) -> str:
    """A value in words; with `lines`, also where it was made."""
    match value:
        case Scalar():
            line = value.value.loc.line
            return named(numbers.kind(value)) + (f" (line {line})" if line and lines else "")
        case SmallArray():
            line = value.parts[0].value.loc.line
            return described(value, numbers.real) + (f" (line {line})" if line and lines else "")
        case Instance() | Fields():
            name = value.cls.__name__
            return f"{'an' if name[:1] in 'aeiouAEIOU' else 'a'} {name}"
        case bool() | int() | float():
            return f"the number {value!r}"
        case None:
            return "None"
        case tuple() | list():
            return f"a {type(value).__name__} of {len(value)}"
        case Closure() | FunctionType() | BuiltinFunctionType():
            return f"the function `{value.__name__}`"
        case Range():
            return "a range"
        case TableView():
            return f"the table `{value.name}`"
        case Spots():
            return f"the elements of `{value.table.name}`, to give something to"
        case Stream():
            return "an iterator, whose values are taken once"
        case type():
            return f"the class `{value.__name__}`"
        case _:
            name = type(value).__name__
            known = " made outside of the kernel" if is_bundle(type(value)) else ""
            return f"{'an' if name[:1] in 'aeiouAEIOU' else 'a'} {name}{known}"
