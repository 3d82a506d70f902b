"""What a parameter of a kernel is: the names a user writes as annotations.

Each annotation is an `Annotated` type, so a type checker sees the number the body computes with
(`Scalar` is a float, `Index` an int, `Terminated` a bool) and hawk sees the rest.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Annotated, TypeAlias, TypeVar

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
