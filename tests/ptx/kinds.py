"""The kinds of numbers of PTX, as NumPy holds them, and the numbers that the language leaves open.

What PTX leaves open is something here that no program would like: who relies on it is found out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.ptx.parse import SIZES, Number, Unknown, bits_of

Array = NDArray[Any]

_LETTERS = {"u": "u", "s": "i", "b": "u", "f": "f"}

GARBAGE = 0xA5C3_96F0_5A3C_690F
"""The bits of what is not specified: a register that was not written, a quotient by 0."""
CANONICAL_NAN = {"f32": 0x7FFF_FFFF, "f64": 0x7FFF_FFFF_FFFF_FFFF}
"""The NaN that instructions give. Of float32 it is laid down, of float64 only that it is one; this
one differs from those of the host."""


def dtype_of(kind: str) -> np.dtype[Any]:
    """NumPy's type of a kind."""
    return np.dtype(bool) if kind == "pred" else np.dtype(f"{_LETTERS[kind[0]]}{SIZES[kind[1:]]}")


def bits_in(kind: str) -> int:
    return 8 * SIZES[kind[1:]]


def raw_kind(kind: str) -> str:
    """The kind of the same size without a meaning: how registers are kept."""
    return kind if kind == "pred" else f"b{kind[1:]}"


def is_float(kind: str) -> bool:
    return kind[0] == "f"


def is_signed(kind: str) -> bool:
    return kind[0] == "s"


def number(each: Number, kind: str, line: int) -> Array:
    """A number of an instruction, as an array of one element. Raises Unknown."""
    if kind == "pred":
        return np.array([int(each.text) != 0])
    try:
        bits = bits_of(each.text, kind)
    except ValueError as no:
        raise Unknown(line, each.text, str(no)) from None
    return np.array([bits % 2 ** bits_in(kind)], dtype_of(raw_kind(kind))).view(dtype_of(kind))


def garbage(kind: str, count: int = 1) -> Array:
    if kind == "pred":
        return np.arange(count) % 3 == 1
    whole = np.full(count, GARBAGE, np.uint64)
    return whole.astype(dtype_of(raw_kind(kind))).view(dtype_of(kind))


def canonical(kind: str, result: Array) -> Array:
    """A float result in which each NaN is the canonical one."""
    nan = np.array([CANONICAL_NAN[kind]], dtype_of(raw_kind(kind))).view(result.dtype)
    return np.where(np.isnan(result), nan, result)


def resized(kind: str, numbers: Array, target: str) -> Array:
    """The bits of numbers in a register of another size: cut, or filled up by their sign or 0."""
    wide = dtype_of(f"{'s' if is_signed(kind) else 'u'}{target[1:]}")
    plain = numbers.view(dtype_of(raw_kind(kind))) if is_float(kind) else numbers
    return plain.astype(wide).view(dtype_of(raw_kind(target)))
