"""Floats as integers that are ordered as they are, in LLVM's text: -0.0 is less than 0.0."""

from __future__ import annotations

from hawk.ir.types import DType

_INFINITE = {4: 0x7F800000, 8: 0x7FF0000000000000}
"""The bits of infinity: more than these, without the sign, are not a number."""
_NAN = {4: 0x7FC00000, 8: 0x7FF8000000000000}


def ordered(name: str, dtype: DType, *, key: str, nan: str) -> str:
    """Lines that make the integer %`key`, and whether it is none, of a float's bits %`name`."""
    bits, top = f"i{8 * dtype.itemsize}", 8 * dtype.itemsize - 1
    # Negative numbers in reverse, so -0.0 is just before 0.0.
    return f"""  %{name}.sign = ashr {bits} %{name}, {top}
  %{name}.turn = lshr {bits} %{name}.sign, 1
  %{key} = xor {bits} %{name}, %{name}.turn
  %{name}.size = and {bits} %{name}, {2**top - 1}
  %{nan} = icmp ugt {bits} %{name}.size, {_INFINITE[dtype.itemsize]}
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
