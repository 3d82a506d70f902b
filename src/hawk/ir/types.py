"""The six types a value of the program can have."""

from __future__ import annotations

import enum


class DType(enum.Enum):
    """The type of one scalar. The value is its name in printed programs."""

    BOOL = "bool"
    I32 = "i32"
    U32 = "u32"
    I64 = "i64"
    F32 = "f32"
    F64 = "f64"

    # There is one object per type, and tables keyed by type are read for every operation;
    # Enum's own hash is a Python function.
    __hash__ = object.__hash__

    @property
    def is_float(self) -> bool:
        return self in (DType.F32, DType.F64)

    @property
    def is_int(self) -> bool:
        return self in (DType.I32, DType.U32, DType.I64)

    @property
    def kind(self) -> str:
        """`f` float, `i` signed, `u` unsigned, `b` bool: the key of the spelling tables."""
        return _KIND[self]

    @property
    def bits(self) -> int:
        """Bits of the number itself; a bool has one."""
        return _BITS[self]

    @property
    def itemsize(self) -> int:
        """Bytes of one element of an array of this type."""
        return max(1, self.bits // 8)

    @property
    def numpy(self) -> str:
        """NumPy's name of the type."""
        return _NUMPY[self]

    @property
    def hawk(self) -> str:
        """The name a user writes for it: the annotation, or the conversion for a float width."""
        return _HAWK[self]


_KIND = {
    DType.BOOL: "b",
    DType.I32: "i",
    DType.U32: "u",
    DType.I64: "i",
    DType.F32: "f",
    DType.F64: "f",
}
_BITS = {
    DType.BOOL: 1,
    DType.I32: 32,
    DType.U32: 32,
    DType.I64: 64,
    DType.F32: 32,
    DType.F64: 64,
}
_NUMPY = {
    DType.BOOL: "bool",
    DType.I32: "int32",
    DType.U32: "uint32",
    DType.I64: "int64",
    DType.F32: "float32",
    DType.F64: "float64",
}
_HAWK = {
    DType.BOOL: "Bool",
    DType.I32: "Int32",
    DType.U32: "UInt32",
    DType.I64: "Index",
    DType.F32: "float32",
    DType.F64: "float64",
}
