"""Numbers for parameters: what is one, and its value in the parameter's own type."""

from __future__ import annotations

import ctypes
import math
import sys
from operator import index

import numpy as np

from hawk.ir.nodes import Number
from hawk.ir.types import DType

_WANTED = {DType.BOOL: "a bool", DType.F32: "a number", DType.F64: "a number"}


def is_number(value: object) -> bool:
    """Is `value` one number: Python's, a NumPy scalar, or an array of shape ()?"""
    if isinstance(value, np.ndarray):
        return value.ndim == 0
    return isinstance(value, (bool, int, float, np.generic))


def whole(value: object) -> int | None:
    """`value` as an int if it is a Python or NumPy integer, else None. A bool is none."""
    if type(value) is int:
        return value
    if isinstance(value, (bool, np.bool, np.ndarray)):
        return None
    try:
        return index(value)  # pyright: ignore[reportArgumentType]
    except TypeError:
        return None


def to_number(value: object, dtype: DType) -> Number:
    """`value` as a number of type `dtype`, rounded once.

    Raises ValueError, saying what was expected and what was given, for what is no number, is not
    whole where an integer is needed, or does not fit.
    """
    if type(value) is float and dtype is DType.F64:
        return value
    number = _plain(value)
    if dtype is DType.BOOL and isinstance(number, bool):
        return number
    if isinstance(number, (int, float, np.floating)) and not isinstance(number, bool):
        if dtype.is_float:
            return _rounded(number, dtype)
        if dtype.is_int:
            return _integral(number, dtype)
    wanted = _WANTED.get(dtype, "a whole number")
    raise ValueError(f"expected {wanted} ({dtype.numpy}), got {shown(value)}")


def _plain(value: object) -> object:
    """A NumPy scalar or array of shape () as Python's number, with nothing lost."""
    if not isinstance(value, (np.generic, np.ndarray)) or value.ndim:
        return value
    # A long double stays what it is: Python has nothing as precise.
    return np.asarray(value)[()] if value.dtype.char == "g" else value.item()


def _rounded(number: float | np.floating, dtype: DType) -> float:
    if isinstance(number, np.floating):
        with np.errstate(over="ignore"):
            rounded = float(np.dtype(dtype.numpy).type(number))
    else:
        if dtype is DType.F32 and isinstance(number, int):
            number = _odd(number)
        try:
            rounded = float(number)
        except OverflowError:  # an integer
            rounded = math.inf
        if dtype is DType.F32:
            rounded = ctypes.c_float(rounded).value
    if math.isinf(rounded) and (isinstance(number, int) or not np.isinf(number)):
        raise ValueError(f"expected a number that fits {dtype.numpy}, got {shown(number)}")
    return rounded


def _odd(number: int) -> int:
    """`number` cut to 53 bits, which a float64 holds, the last one saying if anything was cut off.

    Rounding it to 53 bits and then to the 24 of a float32 could end on the wrong side.
    """
    size, cut = abs(number), max(0, number.bit_length() - 53)
    kept = size >> cut << cut
    return int(math.copysign(1, number)) * (kept if kept == size else kept | (1 << cut))


def _integral(number: float | np.floating, dtype: DType) -> int:
    if number != number or number in (math.inf, -math.inf) or number != int(number):
        raise ValueError(f"expected a whole number ({dtype.numpy}), got {shown(number)}")
    bounds = np.iinfo(dtype.numpy)
    if not bounds.min <= number <= bounds.max:
        raise ValueError(
            f"expected a whole number from {bounds.min} to {bounds.max} ({dtype.numpy}), "
            f"got {shown(number)}"
        )
    return int(number)


def shown(value: object) -> str:
    """A value as a message names it, in less than a line."""
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} {value.shape}"
    if isinstance(value, int) and value.bit_length() > 128:
        return f"an integer of {value.bit_length()} bits"
    if isinstance(value, (bool, int, float, complex, np.generic, type(None))):
        return str(value)
    if isinstance(value, str):
        return repr(value if len(value) <= 40 else value[:37] + "...")
    if isinstance(value, (list, tuple, set, dict)):
        return f"a {type(value).__name__}"
    name = _type_name(type(value))
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def _type_name(kind: type) -> str:
    """The shortest name a user can write for a type, such as `pandas.Series`."""
    home, name = kind.__module__, kind.__qualname__
    if home == "builtins":
        return name
    package = home.partition(".")[0]
    public = getattr(sys.modules.get(package), name, None)
    return f"{package if public is kind else home}.{name}"
