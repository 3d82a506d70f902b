"""One plane of a kernel as its signature declares it: a parameter, or an output."""

from __future__ import annotations

from dataclasses import dataclass

from hawk.annotations import Element, GridForm, TableForm
from hawk.ir.nodes import Role


class _NoDefault:
    """The default of a parameter that has none."""

    def __repr__(self) -> str:
        return "NO_DEFAULT"

    def __reduce__(self) -> str:
        return "NO_DEFAULT"


NO_DEFAULT = _NoDefault()


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a kernel: the plane it becomes."""

    name: str
    role: Role
    element: Element
    default: object = NO_DEFAULT
    table: TableForm | None = None
    """The dimensions of a Table."""
    grid: GridForm | None = None
    """The dimensions of a Grid."""
    path: tuple[str, ...] = ()
    """Of a field of a bundle: the parameter, and the fields that lead to it."""

    @property
    def text(self) -> str:
        """How the kernel calls it: of the plane `body_mass` that is `body.mass`."""
        return ".".join(self.path) or self.name

    @property
    def root(self) -> str:
        """What the signature calls it, or the object that it is a field of."""
        return self.path[0] if self.path else self.name

    @property
    def type_name(self) -> str:
        """The type of its numbers as a user writes it, with how they are arranged."""
        return (self.table or self.grid or self.element).name


@dataclass(frozen=True, slots=True)
class Output:
    """One thing a kernel returns: the plane `out`, or `out0`, `out1` ... of a tuple."""

    name: str
    element: Element
    grid: GridForm | None = None
    """The dimensions of a Grid."""
    path: tuple[str, ...] = ()
    """Of a field of a bundle: what is returned, and the fields that lead to it."""

    @property
    def role(self) -> Role:
        return Role.OUTPUT

    @property
    def text(self) -> str:
        """How it is called in messages: `out.mass`."""
        return ".".join(self.path) or self.name

    @property
    def root(self) -> str:
        """What the annotations of a function call it."""
        return "return"

    @property
    def type_name(self) -> str:
        """The type of its numbers as a user writes it, with how they are arranged."""
        return (self.grid or self.element).name
