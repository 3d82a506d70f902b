"""How wide code is: samples a vector, vectors a group, and how masks are carried."""

from __future__ import annotations

from dataclasses import dataclass

from hawk.ir.nodes import Plane
from hawk.ir.types import DType

LLVM_TYPES = {
    DType.BOOL: "i1",
    DType.I32: "i32",
    DType.U32: "i32",
    DType.I64: "i64",
    DType.F32: "float",
    DType.F64: "double",
}
"""LLVM's name of each type inside a program."""

MEMORY_TYPES = {**LLVM_TYPES, DType.BOOL: "i8"}
"""LLVM's name of each type in an array: a bool is a byte."""


def bits_of(plane: Plane) -> str:
    """LLVM's name of an integer that has the size of an element of an array, to copy it."""
    return f"i{8 * plane.dtype.itemsize}"


_SUFFIXES = {"float": "f32", "double": "f64"}


@dataclass(frozen=True, slots=True)
class Shape:
    """A group is `chains` separate vectors of `width` samples each.

    The chains are separate values of native width so that their arithmetic interleaves; one wider
    value would be cut and glued at every step. Width 1 is plain scalar code.
    """

    width: int
    chains: int = 1
    wide_masks: int = 0
    """0: bools are carried through loops as bits (mask registers); else as integers of that many
    bits, one a lane, which is what a machine without mask registers compares into."""

    @property
    def lanes(self) -> int:
        """Samples one group advances together."""
        return self.width * self.chains

    def vector(self, element: str) -> str:
        """The LLVM type of `width` times `element`."""
        return element if self.width == 1 else f"<{self.width} x {element}>"

    def suffix(self, element: str) -> str:
        """The type's part of an intrinsic's name: `f64`, `v4f64`."""
        name = _SUFFIXES.get(element, element)
        return name if self.width == 1 else f"v{self.width}{name}"


ONE = Shape(1)
"""A scalar."""
