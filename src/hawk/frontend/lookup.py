"""What a name means where it is read, and a record of all that was read from outside a function."""

from __future__ import annotations

import ast
import builtins
import math
import sys
import types
from typing import Any

import numpy as np

from hawk.errors import HawkError, Loc
from hawk.frontend.debug import quoted
from hawk.frontend.frame import Frame
from hawk.frontend.names import same_name
from hawk.frontend.source import nearest
from hawk.frontend.values import Unusable

_MISSING = object()
_KNOWN_BUILTINS = (
    *("abs", "min", "max", "sum", "int", "float", "bool", "round", "pow", "divmod", "range", "len"),
    *("zip", "enumerate", "reversed", "tuple", "list", "dict", "sorted", "any", "all"),
    *("isinstance", "print", "True", "False", "None"),
)
"""Builtins that a kernel may use: what a name that is not defined may be meant for."""
_STABLE = ("math", "numpy", "hawk", "builtins", "operator")
"""Modules whose contents do not change; their reads need no record."""


class Reads:
    """Every object read from outside the walked functions, with where it was read.

    `items` holds (namespace, name, object): a dict of globals, a closure cell, a list, or any
    object with attributes. An object that was missing is recorded too: it may appear later.
    """

    __slots__ = ("_attributes", "_cells", "_dicts", "_lists", "items")

    def __init__(self) -> None:
        self.items: list[tuple[Any, Any, Any]] = []
        self._dicts: list[tuple[dict[Any, Any], Any, Any]] = []
        self._cells: list[tuple[types.CellType, Any]] = []
        self._lists: list[tuple[list[Any], list[Any]]] = []
        self._attributes: list[tuple[Any, str, Any]] = []

    def from_dict(self, namespace: dict[Any, Any], name: Any, value: Any) -> None:
        if not any(a is namespace and b == name for a, b, _ in self._dicts):
            self._dicts.append((namespace, name, value))
            self.items.append((namespace, name, value))

    def from_cell(self, cell: types.CellType, name: str, value: Any) -> None:
        if not any(a is cell for a, _ in self._cells):
            self._cells.append((cell, value))
            self.items.append((cell, name, value))

    def from_list(self, values: list[Any]) -> None:
        if not any(a is values for a, _ in self._lists):
            self._lists.append((values, list(values)))
            self.items.append((values, slice(None), list(values)))

    def from_attribute(self, owner: Any, name: str, value: Any) -> None:
        if not any(a is owner and b == name for a, b, _ in self._attributes):
            self._attributes.append((owner, name, value))
            self.items.append((owner, name, value))

    def are_current(self) -> bool:
        """Whether everything read is still the same object. About 1 us."""
        for namespace, name, value in self._dicts:
            if namespace.get(name, _MISSING) is not value:
                return False
        for cell, value in self._cells:
            if _contents(cell) is not value:
                return False
        for owner, name, value in self._attributes:
            if getattr(owner, name, _MISSING) is not value:
                return False
        for now, then in self._lists:
            if len(now) != len(then) or any(a is not b for a, b in zip(now, then, strict=True)):
                return False
        return True


def _contents(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _MISSING


def plain(value: Any, where: Loc, text: str = "") -> Any:
    """A value from outside as the walk knows it: NumPy's scalars are Python's numbers.

    `text` names it where that is not what is written at `where`. Raises HawkError for an array,
    whose contents could change unseen.
    """
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        text = text or quoted(where) or "this"
        if text.endswith(")"):
            what = f"`{text}` makes an array; a kernel holds numbers, tuples and lists"
            raise HawkError("H306", what, where, _listed(value))
        what = f"`{text}` is an array of shape {value.shape}; its numbers would become part of the "
        what += "kernel, and could change unseen"
        fix = "a parameter for it: Param for one number a launch, Scalar for one a sample"
        if not value.ndim:
            fix = f"{text}.item() outside the kernel, for a number that never changes;\nor {fix}"
        else:
            fix = f"a parameter for it: {_table(value)} for numbers that all samples read,\n"
            fix += "Scalar for one number a sample"
        if value.ndim and value.size <= 64:
            made = f"tuple({text}.tolist()) outside the kernel, for numbers that never change"
            if value.ndim == 2:
                made += ",\nand hawk.math.mat(*...) of it in the kernel, for a matrix"
            if value.ndim <= 2:
                sizes = ", ".join(map(str, value.shape))
                kind = f"{'Vector' if value.ndim == 1 else 'Matrix'}[{sizes}]"
                fix = f"a parameter for it: {_table(value)} for numbers that all samples read,\n"
                fix += f"{kind} for one a sample, Param[{kind}] for one a launch"
            fix = f"{fix};\nor {made}"
        raise HawkError("H306", what, where, fix)
    return value


def _table(value: np.ndarray[Any, Any]) -> str:
    """The annotation of a table that an array would be."""
    words = {"b": "Bool", "f": "Scalar", "int32": "Int32", "uint32": "UInt32"}
    kind = words.get(value.dtype.name) or words.get(value.dtype.kind, "Index")
    return (
        f"Table[{', '.join([kind, *[':'] * value.ndim])}]" if value.ndim > 1 else f"Table[{kind}]"
    )


def _listed(value: np.ndarray[Any, Any]) -> str:
    """An array as a list, if it is short enough to be written."""
    if not value.ndim:
        return f"{value.item()!r}"
    numbers = value.ravel().tolist()
    real = all(
        isinstance(each, int) or (isinstance(each, float) and math.isfinite(each))
        for each in numbers
    )
    if real and len(numbers) <= 16 and value.ndim == 2:
        return f"hawk.math.mat({', '.join(map(repr, value.tolist()))})"
    if real and len(numbers) <= 16:
        return repr(value.tolist())
    if real and value.ndim == 1 and len({repr(each) for each in numbers}) == 1:
        return f"[{numbers[0]!r}] * {len(numbers)}"
    return "a tuple of its numbers, made outside the kernel"


def read_name(frame: Frame, node: ast.Name, reads: Reads) -> Any:
    """The value of a name. Raises HawkError where it has none."""
    name = node.id
    scope = frame
    while True:
        if name in scope.names:
            value = scope.names[name]
            if isinstance(value, Unusable):
                raise value.why(name, frame.loc(node))
            return value
        if name in scope.source.locals:
            what = f"`{name}` is read before it is bound"
            fix = f"{name} = ... before this line"
            if hasattr(builtins, name) or name in scope.source.globals:
                what += ": it is a local name, because this function assigns to it"
                fix = f"another name for the local `{name}`"
            raise HawkError("H302", what, frame.loc(node), fix)
        if scope.parent is None:
            return _outside(scope, frame, node, reads)
        scope = scope.parent


def _outside(outermost: Frame, frame: Frame, node: ast.Name, reads: Reads) -> Any:
    """A name from the closure, the globals or the builtins of the outermost walked function."""
    name, source = node.id, outermost.source
    if name in source.cells:
        cell = source.cells[name]
        value = _contents(cell)
        reads.from_cell(cell, name, value)
        if value is not _MISSING:
            return _watched(value, frame.loc(node), reads)
    namespace: Any = source.globals
    if name in namespace:
        value = namespace[name]
        reads.from_dict(namespace, name, value)
        return _watched(value, frame.loc(node), reads)
    if hasattr(builtins, name):
        reads.from_dict(namespace, name, _MISSING)  # a global of that name may appear
        return getattr(builtins, name)
    known = {*source.locals, *frame.source.locals, *source.cells, *namespace}
    what = f"`{name}` is not defined"
    near = nearest(name, known) or nearest(name, _KNOWN_BUILTINS)
    fix = f"math.{name}" if hasattr(math, name) else near
    raise HawkError("H301", what, frame.loc(node), fix)


def read_attribute(owner: Any, name: str, where: Loc, reads: Reads) -> Any:
    """An attribute of an object known to Python."""
    try:
        value = getattr(owner, name)
    except AttributeError:
        if isinstance(owner, types.ModuleType):
            kind = f"the module `{owner.__name__}`"
        else:
            kind = f"a {type(owner).__name__}"
        if owner is sys.modules.get("hawk") and name == "random":
            what = f"`hawk` has no `{name}`; it is in `hawk.math`"
            raise HawkError("H307", what, where, f"hawk.math.{name}") from None
        what = f"{kind} has no `{name}`"
        near = same_name(name) or nearest(name, dir(owner))
        before = quoted(where).rpartition(".")[0]
        fix = f"{before}.{near}" if near and "." not in near and before else near
        raise HawkError("H307", what, where, fix) from None
    except Exception as error:  # noqa: BLE001  a property of the user may raise anything
        what = f"reading `{name}` failed: {type(error).__name__}: {error}"
        raise HawkError("H210", what, where) from None
    if isinstance(owner, types.ModuleType):
        if owner.__name__.split(".")[0] not in _STABLE:
            reads.from_dict(vars(owner), name, value)
    elif not callable(value) and not isinstance(getattr(type(owner), name, None), property):
        reads.from_attribute(owner, name, value)
    return _watched(value, where, reads)


def _watched(value: Any, where: Loc, reads: Reads) -> Any:
    value = plain(value, where)
    if isinstance(value, list):
        reads.from_list(value)
    elif isinstance(value, dict):
        for key, part in value.items():
            reads.from_dict(value, key, part)
    return value
