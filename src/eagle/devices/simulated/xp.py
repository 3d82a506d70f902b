"""The array library of the simulated device: what makes arrays there, with NumPy's names.

It makes arrays and computes nothing: that is what kernels are for.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
from numpy import (
    bool_,
    float32,
    float64,
    inf,
    int32,
    int64,
    nan,
    newaxis,
    pi,
    uint32,
    uint64,
)

from eagle.devices.base import allocations
from eagle.devices.simulated.array import SimulatedArray, memory_of, poison
from eagle.devices.simulated.order import set_seed
from eagle.devices.simulated.stream import STREAM
from eagle.params import shown

__all__ = [
    "arange",
    "array",
    "asarray",
    "asnumpy",
    "bool_",
    "empty",
    "empty_like",
    "float32",
    "float64",
    "full",
    "full_like",
    "inf",
    "int32",
    "int64",
    "linspace",
    "nan",
    "ndarray",
    "newaxis",
    "ones",
    "ones_like",
    "pi",
    "set_seed",
    "uint32",
    "uint64",
    "zeros",
    "zeros_like",
]

ndarray = SimulatedArray
"""The type of its arrays."""


def _new(memory: Any) -> SimulatedArray:
    allocations.check("an array on the simulated device")
    STREAM.enter("making an array on the simulated device")
    return SimulatedArray(memory)


def zeros(shape: Any, dtype: Any = np.float64) -> SimulatedArray:
    """An array of zeros."""
    return _new(np.zeros(shape, dtype))


def ones(shape: Any, dtype: Any = np.float64) -> SimulatedArray:
    """An array of ones."""
    return _new(np.ones(shape, dtype))


def full(shape: Any, value: Any, dtype: Any = None) -> SimulatedArray:
    """An array of one number."""
    return _new(np.full(shape, value, dtype))


def empty(shape: Any, dtype: Any = np.float64) -> SimulatedArray:
    """An array in which nothing was written: NaN, and strange numbers where there is no NaN."""
    memory = np.empty(shape, dtype)
    poison(memory)
    return _new(memory)


def zeros_like(array: Any, dtype: Any = None) -> SimulatedArray:
    """An array of zeros, of the shape and type of another one."""
    return zeros(array.shape, array.dtype if dtype is None else dtype)


def ones_like(array: Any, dtype: Any = None) -> SimulatedArray:
    """An array of ones, of the shape and type of another one."""
    return ones(array.shape, array.dtype if dtype is None else dtype)


def full_like(array: Any, value: Any, dtype: Any = None) -> SimulatedArray:
    """An array of one number, of the shape and type of another one."""
    return full(array.shape, value, array.dtype if dtype is None else dtype)


def empty_like(array: Any, dtype: Any = None) -> SimulatedArray:
    """An array in which nothing was written, of the shape and type of another one."""
    return empty(array.shape, array.dtype if dtype is None else dtype)


def arange(*bounds: Any, dtype: Any = None) -> SimulatedArray:
    """Numbers from the first bound to the second in steps of the third, as NumPy counts them."""
    return _new(np.arange(*bounds, dtype=dtype))


def linspace(start: Any, stop: Any, num: int = 50, dtype: Any = None) -> SimulatedArray:
    """`num` numbers at equal distances, both ends included."""
    return _new(np.linspace(start, stop, num, dtype=dtype))


def array(value: Any, dtype: Any = None) -> SimulatedArray:
    """A new array with the numbers of another one, of the host or of the device, or of a list."""
    allocations.check("an array on the simulated device")
    source = memory_of(value) if isinstance(value, SimulatedArray) else value
    STREAM.enter("copying to the simulated device")
    memory = np.array(source, dtype)
    if memory.dtype.kind not in "fiubc":
        raise TypeError(f"array: expected numbers, got {shown(value)}")
    return SimulatedArray(memory)


def asarray(value: Any, dtype: Any = None) -> SimulatedArray:
    """The array itself where it is on the device and of the type, else a new one."""
    if isinstance(value, SimulatedArray) and dtype in (None, value.dtype):
        return value
    return array(value, dtype)


def asnumpy(value: Any) -> Any:
    """A new NumPy array with the numbers of an array of the device, as `cupy.asnumpy` gives it."""
    if not isinstance(value, SimulatedArray):
        return np.asarray(value)
    STREAM.enter("copying from the simulated device")
    return memory_of(value).copy()


def __getattr__(name: str) -> NoReturn:
    known = ", ".join(each for each in __all__ if each in _FUNCTIONS)
    raise AttributeError(
        f"the simulated device has no {name!r}: it makes arrays ({known}) and computes nothing\n"
        "  write: a @hawk.kernel that computes it, or NumPy before xp.asarray(...)"
    )


_FUNCTIONS = frozenset(name for name, value in list(globals().items()) if callable(value))
