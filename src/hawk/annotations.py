"""What a parameter of a kernel is: the names a user writes as annotations.

Each annotation is an `Annotated` type, so a type checker sees the number the body computes with
(`Scalar` is a float, `Index` an int, `Terminated` a bool) and hawk sees the rest.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Literal,
    TypeAlias,
    TypeVar,
    get_args,
    get_origin,
)

from hawk.ir.types import DType

T = TypeVar("T")

SIZE_MAX = 1024
"""The most numbers a small array holds: each of them is a value of the program."""


@dataclass(frozen=True, slots=True)
class Element:
    """What one sample of a plane holds: a number, or a small array of numbers of one type."""

    name: str
    dtype: DType | None
    """Of its numbers. None: the kernel's own float width, chosen at each call."""
    shape: tuple[int, ...] = ()
    """Of a small array: `(w,)` or `(r, c)`."""

    def at(self, real: DType) -> DType:
        """The type of its numbers in a kernel of float width `real`."""
        return real if self.dtype is None else self.dtype

    def components(self, name: str) -> tuple[str, ...]:
        """What the numbers of the plane `name` are called: `r[0]`, `P[0,1]`; of a scalar `x`.

        They are in the order of the rows. In a program each is a plane of its own.
        """
        if not self.shape:
            return (name,)
        if len(self.shape) == 1:
            return tuple([f"{name}[{i}]" for i in range(self.shape[0])])
        rows, columns = self.shape
        return tuple([f"{name}[{i},{j}]" for i in range(rows) for j in range(columns)])


def owner(component: str) -> str:
    """The plane that a component belongs to: of `P[0,1]` it is `P`, of `x` itself."""
    return component.partition("[")[0]


@dataclass(frozen=True, slots=True)
class TableForm:
    """What a table holds and how many dimensions it has."""

    element: Element
    extents: tuple[int | None, ...] = (None,)
    """The extent of each dimension where it is known, else None."""
    axes: tuple[str, ...] = ()
    """Their names, for `t.at(...)`; empty if they have none."""
    kind: ClassVar[str] = "Table"

    @property
    def name(self) -> str:
        """As a user writes it."""
        parts = [] if self.element is SCALAR and self.extents != (None,) else [self.element.name]
        if self.axes:
            pairs = zip(self.axes, self.extents, strict=True)
            parts += [f'"{a}"' if e is None else f'"{a}":{e}' for a, e in pairs]
        elif self.extents != (None,):
            parts += [":" if e is None else str(e) for e in self.extents]
        return f"{self.kind}[{', '.join(parts)}]"


@dataclass(frozen=True, slots=True)
class GridForm(TableForm):
    """What a sample of a grid holds, and the dimensions of the grid, which all have names."""

    kind: ClassVar[str] = "Grid"

    @property
    def name(self) -> str:
        """As a user writes it."""
        pairs = zip(self.axes, self.extents, strict=True)
        parts = [f'"{a}"' if e is None else f'"{a}":{e}' for a, e in pairs]
        if self.element is not SCALAR:
            parts.insert(0, self.element.name)
        return f"Grid[{', '.join(parts)}]"


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
"""One number for the whole launch; `Param` is a float, `Param[Int32]` says another type, and
`Param[Vector[3]]` three numbers."""
Mutable = Annotated[T, Marker.MUTABLE]
"""State: read at the start of a step and stored at its end, array `(n,)`, writable. A
`Mutable[Table[...]]` is a table that steps give to, see `hawk.scatter`."""
Terminated: TypeAlias = Annotated[bool, Marker.TERMINATED, BOOL]
"""True where the sample is done, array `(n,)` of bool, made by eagle unless passed."""

if TYPE_CHECKING:

    class Table:
        """A table that all samples read and no step changes: `t[i]`, `t[i, j]`, `t.at(r=i)`."""

        # Not a generic class: to a type checker its brackets would then hold types alone.
        def __class_getitem__(cls, items: Any) -> Any: ...
        def __getitem__(self, index: int | tuple[int, ...], /) -> Any: ...
        def __len__(self) -> int: ...
        def at(self, **index: int) -> Any: ...
        @property
        def shape(self) -> tuple[int, ...]: ...

    class Grid(float):
        """One number a sample, where the samples are arranged on a grid."""

        def __class_getitem__(cls, items: Any) -> Any: ...
        def __getitem__(self, index: int | tuple[int, ...], /) -> Any: ...
        def neighbor(self, *, edge: Literal["clamp", "wrap"] = "clamp", **offset: int) -> Any: ...
        def at(self, *, edge: Literal["clamp", "wrap"] = "clamp", **index: int) -> Any: ...
        @property
        def shape(self) -> tuple[int, ...]: ...
        def __add__(self, other: float, /) -> Any: ...
        def __radd__(self, other: float, /) -> Any: ...
        def __sub__(self, other: float, /) -> Any: ...
        def __rsub__(self, other: float, /) -> Any: ...
        def __mul__(self, other: float, /) -> Any: ...
        def __rmul__(self, other: float, /) -> Any: ...
        def __truediv__(self, other: float, /) -> Any: ...
        def __rtruediv__(self, other: float, /) -> Any: ...
        def __floordiv__(self, other: float, /) -> Any: ...
        def __mod__(self, other: float, /) -> Any: ...
        def __neg__(self) -> Any: ...
        def __abs__(self) -> Any: ...

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
            element, dimensions = _first(parts), parts[1:]
            if element is None:
                element, dimensions = SCALAR, parts
            return Annotated[cls, TableForm(element, *_form("Table", dimensions))]

    class Grid:
        """One number a sample, where the samples are arranged on a grid, with neighbours.

        `Grid["r", "c"]` is an array of two dimensions, whose elements are the samples in C order:
        floats, or `Grid[Int32, "r", "c"]` of another type. A known extent is written as in
        `Grid["r":64, "c"]`. Raises TypeError for anything else.
        """

        def __class_getitem__(cls, items: Any) -> Any:
            parts = items if isinstance(items, tuple) else (items,)
            element, dimensions = _first(parts), parts[1:]
            if element is None:
                element, dimensions = SCALAR, parts
            if element is SCALAR and get_origin(parts[0]) is Annotated and dimensions == parts:
                held = [each.name for each in get_args(parts[0]) if isinstance(each, Element)]
                what = "a sample of a Grid is one Scalar, Index, Int32, UInt32 or Bool"
                raise TypeError(f"{what}, not {' '.join(held) or parts[0]}")
            extents, axes = _form("Grid", dimensions)
            if not axes:
                raise TypeError('each dimension of a Grid has a name; write Grid["r", "c"]')
            if "edge" in axes:
                raise TypeError('no dimension of a Grid is called "edge": u.neighbor(edge=...) is')
            return Annotated[cls, GridForm(element, extents, axes)]


def _first(parts: tuple[Any, ...]) -> Element | None:
    """The element that the first thing in the brackets of a Table says, if it says one."""
    named = parts and (isinstance(parts[0], type) or get_origin(parts[0]) is Annotated)
    return _scalar(parts[0]) if named else None


def _form(kind: str, dimensions: tuple[Any, ...]) -> tuple[tuple[int | None, ...], tuple[str, ...]]:
    """The extents and the names of dimensions as they are written, of a Table or a Grid."""
    axes: list[str] = []
    extents: list[int | None] = []
    for each in dimensions:
        name, extent = each, None
        if isinstance(each, slice):
            name, extent = each.start, each.stop
            if each.step is not None or (name is None and extent is not None):
                raise TypeError(f'a dimension of a {kind} is "name":extent or :, not {each!r}')
        elif not isinstance(each, str):
            name, extent = None, each
            if each is None:
                raise TypeError(f"a dimension of a {kind} is a number, a name or :, not None")
        if name is not None:
            if not isinstance(name, str) or not name.isidentifier():
                raise TypeError(f"a dimension of a {kind} has a name like a variable, not {name!r}")
            if name in axes:
                raise TypeError(f"two dimensions of a {kind} are called {name!r}")
            axes.append(name)
        extents.append(None if extent is None else _extent(kind, extent))
    if axes and len(axes) < len(extents):
        raise TypeError(f"either all dimensions of a {kind} have a name or none")
    return tuple(extents) or (None,), tuple(axes)


def _extent(kind: str, given: Any) -> int:
    whole = hasattr(given, "__index__") and not isinstance(given, bool)
    if not whole or not 1 <= int(given) < 2**31:
        raise TypeError(f"the extent of a {kind} is a number from 1 to 2**31-1, not {given!r}")
    return int(given)


# --- small arrays ---------------------------------------------------------------------------------


class _Small:
    """What a type checker knows of small arrays in the body of a kernel."""

    if TYPE_CHECKING:
        shape: tuple[int, ...]
        ndim: int
        size: int
        T: Any

        def copy(self) -> Any: ...
        def __len__(self) -> int: ...
        def __iter__(self) -> Iterator[Any]: ...
        def __getitem__(self, place: Any) -> Any: ...
        def __setitem__(self, place: Any, value: Any) -> None: ...
        def __add__(self, other: Any) -> Any: ...
        def __radd__(self, other: Any) -> Any: ...
        def __sub__(self, other: Any) -> Any: ...
        def __rsub__(self, other: Any) -> Any: ...
        def __mul__(self, other: Any) -> Any: ...
        def __rmul__(self, other: Any) -> Any: ...
        def __truediv__(self, other: Any) -> Any: ...
        def __rtruediv__(self, other: Any) -> Any: ...
        def __floordiv__(self, other: Any) -> Any: ...
        def __mod__(self, other: Any) -> Any: ...
        def __pow__(self, other: Any) -> Any: ...
        def __matmul__(self, other: Any) -> Any: ...
        def __neg__(self) -> Any: ...
        def __abs__(self) -> Any: ...
        def __lt__(self, other: Any) -> Any: ...
        def __le__(self, other: Any) -> Any: ...
        def __gt__(self, other: Any) -> Any: ...
        def __ge__(self, other: Any) -> Any: ...


class Vector(_Small):
    """`Vector[w]`: w floats a sample, array `(w, n)`; `Vector[w, Int32]` of another type."""

    def __class_getitem__(cls, asked: Any) -> Any:
        return Annotated[Vector, _element("Vector", asked, 1)]


class Matrix(_Small):
    """`Matrix[r, c]`: r rows of c floats a sample, array `(r, c, n)` or `(r*c, n)`.

    `Matrix[r, c, Int32]` is one of another type.
    """

    def __class_getitem__(cls, asked: Any) -> Any:
        return Annotated[Matrix, _element("Matrix", asked, 2)]


Quat: TypeAlias = Annotated[Vector, Element("Quat", None, (4,))]
"""A quaternion, array `(4, n)`: the vector part x, y, z, then the scalar w, as in SciPy."""


def _element(kind: str, asked: Any, count: int) -> Element:
    """The element of `Vector[...]` or `Matrix[...]`. Raises TypeError for what is none."""
    parts = asked if isinstance(asked, tuple) else (asked,)
    sizes, types = parts[:count], parts[count:]
    usual = {"Vector": "Vector[3]", "Matrix": "Matrix[3, 3]"}[kind]
    if len(sizes) < count or not all(type(size) is int and size >= 1 for size in sizes):
        sized = "its length" if count == 1 else "its rows and columns"
        given = ", ".join(map(_text, parts))
        raise TypeError(f"{kind}[{given}]: a {kind} has {sized} in brackets; write {usual}")
    if prod(sizes) > SIZE_MAX:
        given = ", ".join(map(str, sizes))
        raise TypeError(f"{kind}[{given}]: a small array holds at most {SIZE_MAX} numbers")
    scalar = _scalar(types[0]) if types else SCALAR
    if len(types) > 1 or scalar is None:
        given = ", ".join(map(_text, parts))
        raise TypeError(
            f"{kind}[{given}]: after its size comes the type of its numbers, one of Scalar, Index, "
            f"Int32, UInt32 and Bool; write {kind}[{', '.join(map(str, sizes))}, Int32]"
        )
    name = ", ".join([*map(str, sizes), *([] if scalar is SCALAR else [scalar.name])])
    return Element(f"{kind}[{name}]", scalar.dtype, tuple(sizes))


def _scalar(annotation: Any) -> Element | None:
    """The element of `Scalar`, `Int32` and their like; None for anything else."""
    if annotation in (float, int, bool):
        return {float: SCALAR, int: INDEX, bool: BOOL}[annotation]
    if get_origin(annotation) is not Annotated:
        return None
    extras = get_args(annotation)[1:]
    plain = len(extras) == 1 and isinstance(extras[0], Element) and not extras[0].shape
    return extras[0] if plain else None


def _text(part: Any) -> str:
    """A part of an annotation as it is written."""
    scalar = _scalar(part) if not isinstance(part, (int, str, float)) else None
    return scalar.name if scalar is not None else getattr(part, "__name__", repr(part))
