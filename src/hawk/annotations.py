"""What a parameter of a kernel is: the names a user writes as annotations.

Each annotation is an `Annotated` type, so a type checker sees the number the body computes with
(`Scalar` is a float, `Index` an int, `Terminated` a bool) and hawk sees the rest.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeAlias, TypeVar, get_args, get_origin

from hawk.ir.types import DType

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Element:
    """What one sample of a plane holds: a scalar of `dtype`, or of the kernel's float width."""

    name: str
    dtype: DType | None
    """None: the kernel's own float width, chosen at each call."""

    def at(self, real: DType) -> DType:
        """The type in a kernel of float width `real`."""
        return real if self.dtype is None else self.dtype


@dataclass(frozen=True, slots=True)
class TableForm:
    """What a table holds and how many dimensions it has."""

    element: Element
    extents: tuple[int | None, ...] = (None,)
    """The extent of each dimension where it is known, else None."""
    axes: tuple[str, ...] = ()
    """Their names, for `t.at(...)`; empty if they have none."""

    @property
    def name(self) -> str:
        """As a user writes it."""
        parts = [] if self.element is SCALAR and self.extents != (None,) else [self.element.name]
        if self.axes:
            pairs = zip(self.axes, self.extents, strict=True)
            parts += [f'"{a}"' if e is None else f'"{a}":{e}' for a, e in pairs]
        elif self.extents != (None,):
            parts += [":" if e is None else str(e) for e in self.extents]
        return f"Table[{', '.join(parts)}]"


class Marker(enum.Enum):
    """How a parameter differs from a plain input."""

    PARAM = "Param"
    MUTABLE = "Mutable"
    TERMINATED = "Terminated"


SCALAR = Element("Scalar", None)
INDEX = Element("Index", DType.I64)
INT32 = Element("Int32", DType.I32)
UINT32 = Element("UInt32", DType.U32)
BOOL = Element("Bool", DType.BOOL)

Scalar: TypeAlias = Annotated[float, SCALAR]
"""An input: one float a sample, array `(n,)`."""
Index: TypeAlias = Annotated[int, INDEX]
"""An input: one int64 a sample, array `(n,)`."""
Int32: TypeAlias = Annotated[int, INT32]
"""An input: one int32 a sample, array `(n,)`."""
UInt32: TypeAlias = Annotated[int, UINT32]
"""An input: one uint32 a sample, array `(n,)`."""
Bool: TypeAlias = Annotated[bool, BOOL]
"""An input: one bool a sample, array `(n,)`."""
Param = Annotated[T, Marker.PARAM]
"""One number for the whole launch; `Param` is a float, `Param[Int32]` says another type."""
Mutable = Annotated[T, Marker.MUTABLE]
"""State: read at the start of a step and stored at its end, array `(n,)`, writable."""
Terminated: TypeAlias = Annotated[bool, Marker.TERMINATED, BOOL]
"""True where the sample is done, array `(n,)` of bool, made by eagle unless passed."""

if TYPE_CHECKING:

    class Table(Generic[T]):
        """A table that all samples read and no step changes: `t[i]`, `t[i, j]`, `t.at(r=i)`."""

        def __getitem__(self, index: int | tuple[int, ...], /) -> T: ...
        def __len__(self) -> int: ...
        def at(self, **index: int) -> T: ...
        @property
        def shape(self) -> tuple[int, ...]: ...

else:

    class Table:
        """A table that all samples read and no step changes: `t[i]`, `t[i, j]`, `t.at(r=i)`.

        `Table[Scalar]` is one row of floats; also of `Index`, `Int32`, `UInt32` or `Bool`. More
        dimensions are written behind it: a known extent (`Table[Scalar, 3, 4]`), one that is taken
        from the array (`Table[Scalar, :, :]`), or either with a name: `Table["r":3, "c"]`.
        Raises TypeError for anything else.
        """

        def __class_getitem__(cls, items: Any) -> Any:
            parts = items if isinstance(items, tuple) else (items,)
            element, dimensions = _element_of(parts[0]) if parts else None, parts[1:]
            if element is None:
                element, dimensions = SCALAR, parts
            return Annotated[cls, _form(element, dimensions)]


_PLAIN = {float: SCALAR, int: INDEX, bool: BOOL}


def _element_of(item: Any) -> Element | None:
    """The element that the first thing in the brackets of a Table says, if it says one."""
    if isinstance(item, type):
        return _PLAIN.get(item)
    extras = get_args(item)[1:] if get_origin(item) is Annotated else ()
    return extras[0] if len(extras) == 1 and isinstance(extras[0], Element) else None


def _form(element: Element, dimensions: tuple[Any, ...]) -> TableForm:
    """The form of a table with dimensions as they are written."""
    axes: list[str] = []
    extents: list[int | None] = []
    for each in dimensions:
        name, extent = each, None
        if isinstance(each, slice):
            name, extent = each.start, each.stop
            if each.step is not None or (name is None and extent is not None):
                raise TypeError(f'a dimension of a Table is "name":extent or :, not {each!r}')
        elif not isinstance(each, str):
            name, extent = None, each
            if each is None:
                raise TypeError("a dimension of a Table is a number, a name or :, not None")
        if name is not None:
            if not isinstance(name, str) or not name.isidentifier():
                raise TypeError(f"a dimension of a Table has a name like a variable, not {name!r}")
            if name in axes:
                raise TypeError(f"two dimensions of a Table are called {name!r}")
            axes.append(name)
        extents.append(None if extent is None else _extent(extent))
    if axes and len(axes) < len(extents):
        raise TypeError("either all dimensions of a Table have a name or none")
    return TableForm(element, tuple(extents) or (None,), tuple(axes))


def _extent(given: Any) -> int:
    whole = hasattr(given, "__index__") and not isinstance(given, bool)
    if not whole or not 1 <= int(given) < 2**31:
        raise TypeError(f"the extent of a Table is a number from 1 to 2**31-1, not {given!r}")
    return int(given)
