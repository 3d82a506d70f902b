"""The shape of a value that paths share: where its numbers are, and of which kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType
from typing import Any, TypeAlias

from hawk.frontend.arithmetic import Arithmetic
from hawk.frontend.operators import Kind, Literal, named
from hawk.frontend.values import Closure, Range, Scalar
from hawk.ir.meaning import RANGE
from hawk.ir.types import DType


@dataclass(frozen=True, slots=True)
class Parts:
    """A tuple or list of templates."""

    form: type
    parts: tuple[Any, ...]


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


Template: TypeAlias = "Kind | Parts | Known"


def template_of(numbers: Arithmetic, value: Any) -> Template:
    """The template of a value. A known number has the kind it settles to."""
    match value:
        case Scalar():
            return numbers.kind(value)
        case bool():
            return DType.BOOL
        case int():
            least, greatest = RANGE[DType.I64]
            return Literal.INT if least <= value <= greatest else Known(value)
        case float():
            return numbers.real
        case tuple() | list():
            return Parts(type(value), tuple(template_of(numbers, part) for part in value))
        case _:
            return Known(value)


def open_up(value: Any, template: Template, leaf: Callable[[Any, Kind], Any]) -> Any:
    """`value`, or None where there is none yet, with its numbers replaced by `leaf`."""
    if isinstance(template, Known):
        return template.value
    if isinstance(template, Parts):
        parts = [None] * len(template.parts) if value is None else value
        pairs = zip(parts, template.parts, strict=True)
        return _form(template.form, [open_up(part, each, leaf) for part, each in pairs])
    return leaf(value, template)


def fill(tree: Any, leaf: Callable[[Any], Any]) -> Any:
    """`tree` with `leaf` applied to everything that is not a tuple or list."""
    if isinstance(tree, (tuple, list)):
        return _form(type(tree), [fill(part, leaf) for part in tree])
    return leaf(tree)


def _form(form: type, parts: list[Any]) -> Any:
    if hasattr(form, "_fields"):  # a named tuple takes its parts one by one
        return form(*parts)
    return form(parts)


def describe(numbers: Arithmetic, value: Any, *, lines: bool = False) -> str:
    """A value in words; with `lines`, also where it was made."""
    match value:
        case Scalar():
            line = value.value.loc.line
            return named(numbers.kind(value)) + (f" (line {line})" if line and lines else "")
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
        case _:
            name = type(value).__name__
            return f"{'an' if name[:1] in 'aeiouAEIOU' else 'a'} {name}"
