"""The array library of the simulated device: what makes arrays there, with NumPy's names."""

from __future__ import annotations

from typing import NoReturn

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

from eagle.devices.library import Library
from eagle.devices.simulated.array import HOME, SimulatedArray
from eagle.devices.simulated.order import set_seed

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

_library = Library(HOME, SimulatedArray)

ndarray = SimulatedArray
"""The type of its arrays."""
over = SimulatedArray
"""Memory of the host as an array of the device."""
zeros, ones, full, empty = _library.zeros, _library.ones, _library.full, _library.empty
zeros_like, ones_like = _library.zeros_like, _library.ones_like
full_like, empty_like = _library.full_like, _library.empty_like
arange, linspace = _library.arange, _library.linspace
array, asarray, asnumpy = _library.array, _library.asarray, _library.asnumpy


def __getattr__(name: str) -> NoReturn:
    getattr(_library, f"{name}")
    raise AttributeError(name)
