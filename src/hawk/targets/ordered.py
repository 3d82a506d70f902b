"""Floats as integers that are ordered as they are, in LLVM's text: -0.0 is less than 0.0."""

from __future__ import annotations

from hawk.ir.types import DType

_INFINITE = {4: 0x7F800000, 8: 0x7FF0000000000000}
"""The bits of infinity: more than these, without the sign, are not a number."""
_NAN = {4: 0x7FC00000, 8: 0x7FF8000000000000}


def ordered(name: str, dtype: DType, *, key: str, nan: str, lanes: int = 1) -> str:
    """Lines that make the integer %`key`, and whether it is none, of a float's bits %`name`.

    With `lanes` all of them are vectors.
    """
    bits, top = f"i{8 * dtype.itemsize}", 8 * dtype.itemsize - 1
    kind = f"<{lanes} x {bits}>" if lanes > 1 else bits
    sign, one, size, infinite = (
        f"splat ({bits} {number})" if lanes > 1 else str(number)
        for number in (top, 1, 2**top - 1, _INFINITE[dtype.itemsize])
    )
    # Negative numbers in reverse, so -0.0 is just before 0.0.
    return f"""  %{name}.sign = ashr {kind} %{name}, {sign}
  %{name}.turn = lshr {kind} %{name}.sign, {one}
  %{key} = xor {kind} %{name}, %{name}.turn
  %{name}.size = and {kind} %{name}, {size}
  %{nan} = icmp sgt {kind} %{name}.size, {infinite}
"""


def extreme_of(kind: str, dtype: DType) -> str:
    """Lines that make %both, the `min` or `max` of the bits of floats %old and %new.

    It is NaN where one is.
    """
    bits = f"i{8 * dtype.itemsize}"
    pair = ("%new", "%old") if kind == "min" else ("%old", "%new")
    first, second = (f"{bits} {each}" for each in pair)
    lines = "".join(
        ordered(each, dtype, key=f"{each}.key", nan=f"{each}.nan") for each in ("old", "new")
    )
    return f"""{lines}  %less = icmp slt {bits} %new.key, %old.key
  %number = select i1 %less, {first}, {second}
  %nan = or i1 %old.nan, %new.nan
  %both = select i1 %nan, {bits} {_NAN[dtype.itemsize]}, {bits} %number"""
