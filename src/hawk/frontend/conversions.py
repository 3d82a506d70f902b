"""Conversions a user writes in a kernel: `hawk.index(x)` and its like.

Outside a kernel they do the same to plain numbers, so a step can be tried as a Python function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import SupportsFloat

from hawk.ir.meaning import convert, represent
from hawk.ir.types import DType


def _convert(value: SupportsFloat, dtype: DType) -> float:
    number = value if isinstance(value, (bool, int, float)) else float(value)
    if isinstance(number, int) and not isinstance(number, bool):
        return represent(dtype, number)
    given = DType.F64 if isinstance(number, float) else DType.BOOL
    return convert(dtype)(given, number)


def index(value: SupportsFloat) -> int:
    """The number as an Index (int64): a float truncates and saturates, NaN gives 0.

    >>> index(-2.7)
    -2
    """
    return int(_convert(value, DType.I64))


def int32(value: SupportsFloat) -> int:
    """The number as an Int32: a wider integer wraps, a float truncates and saturates.

    >>> int32(2**31)
    -2147483648
    """
    return int(_convert(value, DType.I32))


def uint32(value: SupportsFloat) -> int:
    """The number as a UInt32: another integer wraps, a float truncates and saturates.

    >>> uint32(-1)
    4294967295
    """
    return int(_convert(value, DType.U32))


def real(value: SupportsFloat) -> float:
    """The number as the kernel's own float, float64 outside a kernel."""
    return _convert(value, DType.F64)


def float32(value: SupportsFloat) -> float:
    """The number rounded to float32.

    >>> float32(0.1)
    0.10000000149011612
    """
    return _convert(value, DType.F32)


def float64(value: SupportsFloat) -> float:
    """The number as a float64, also in a kernel whose own floats are float32."""
    return _convert(value, DType.F64)


TARGETS: dict[Callable[..., object], DType | None] = {
    index: DType.I64,
    int32: DType.I32,
    uint32: DType.U32,
    float32: DType.F32,
    float64: DType.F64,
    real: None,
}
"""Each conversion with its type; None: the kernel's own float."""
