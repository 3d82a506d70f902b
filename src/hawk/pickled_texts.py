"""What pickles of kernels hold in the place of functions, classes and the like: their texts."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

PROGRAM_ITSELF = ("__main__", "__mp_main__")
"""Names of modules that mean another file in another process."""


@dataclass(slots=True, eq=False)
class FileText:
    """A file as it was read."""

    name: str
    lines: tuple[str, ...]


@dataclass(slots=True, eq=False)
class FunctionText:
    """A function as the text it is made of, and what it reads from outside."""

    file: FileText
    place: tuple[int, int]
    """Line and column where the function begins, without its decorators."""
    future: int
    """Compiler flags of the `from __future__` in force."""
    names: dict[str, Any] = field(default_factory=dict[str, Any])
    """What `__qualname__`, `__module__`, `__defaults__` ... are set to."""
    globals: dict[str, Any] = field(default_factory=dict[str, Any])
    cells: tuple[tuple[Any, ...], ...] = ()
    """What the closure's cells hold: nothing, or one value."""


@dataclass(slots=True, eq=False)
class KernelText:
    """A kernel as the function it is made of and its options."""

    steps: Any
    dtype: str | None
    options: dict[str, Any]
    """Of its program."""
    function: FunctionText | None = None


@dataclass(slots=True, frozen=True)
class ModuleName:
    """A module."""

    name: str


@dataclass(slots=True, frozen=True)
class Container:
    """A list, tuple or dict that holds some of these."""

    kind: type
    values: list[Any]
    """Of a dict, pairs."""


@dataclass(slots=True, eq=False)
class ClassText:
    """A dataclass as what it is made of."""

    names: dict[str, Any]
    """What `__qualname__`, `__module__` and `__doc__` are."""
    params: dict[str, Any]
    """The options of `@dataclass`."""
    bases: tuple[Any, ...] = ()
    fields: list[tuple[str, Any, dict[str, Any]]] = field(
        default_factory=list[tuple[str, Any, dict[str, Any]]]
    )
    """Of each field of its own: name, annotation, and the arguments of `dataclasses.field`."""
    others: dict[str, Any] = field(default_factory=dict[str, Any])
    """Its methods, and what else it holds."""


@dataclass(slots=True, eq=False)
class ObjectText:
    """An object of such a class."""

    cls: Any
    held: dict[str, Any]


@dataclass(slots=True, eq=False)
class Wrapped:
    """A function with a wrapper around it: a property, a static method or a method of the class."""

    kind: type
    function: Any


@dataclass(slots=True, eq=False)
class Alias:
    """An annotation with such a class in it: `Mutable[Body]`, `tuple[Body, Scalar]`."""

    kind: Any
    parts: list[Any]


_TEXTS = {
    *(FunctionText, KernelText, Container, ModuleName),
    *(ClassText, ObjectText, Wrapped, Alias),
}


def alike(one: Any, other: Any, seen: set[tuple[int, int]] | None = None) -> bool:
    """Do two texts say the same? The path of a file may differ."""
    seen = set() if seen is None else seen
    if one is other or (id(one), id(other)) in seen:
        return True
    if type(one) is not type(other):
        return False
    seen.add((id(one), id(other)))
    match one:
        case FileText():
            return one.lines == other.lines
        case str() if one in PROGRAM_ITSELF:
            return other in PROGRAM_ITSELF
        case dict():
            # The text that documents a dataclass, made by Python, has the names of modules in it.
            pairs = [(one[name], other.get(name)) for name in one if name != "__doc__"]
            return one.keys() == other.keys() and all(alike(*pair, seen) for pair in pairs)
        case list() | tuple():
            pairs = list(zip(one, other, strict=False))
            return len(one) == len(other) and all(alike(*pair, seen) for pair in pairs)
        case _ if type(one) in _TEXTS:
            names = [each.name for each in fields(one)]
            return all(alike(getattr(one, n), getattr(other, n), seen) for n in names)
        case _:
            try:
                return bool(one == other)
            except Exception:  # noqa: BLE001  arrays, and whatever else has its own idea of `==`
                return False
