"""Planes given just as compiled code uses them: seen in a third of the time.

Nearly every call gives NumPy arrays of the right type and length, and numbers. Here is decided
that a call is one of these, and nothing else. Whatever takes a second look, and all that is wrong,
is left to `binding`, which would bind the same planes to the same memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eagle.devices.host.memory import address_of
from eagle.overlap import are_apart
from eagle.params import to_number
from eagle.planes import NUMPY
from hawk.ir.nodes import Number, Role
from hawk.ir.types import DType
from hawk.kernel import WIDTHS, Kernel

Array: TypeAlias = NDArray[Any]

_NARROW, _WIDE = NUMPY[DType.F32], NUMPY[DType.F64]
_UNIFORM, _INPUT, _MASK = Role.UNIFORM, Role.INPUT, Role.MASK


class Exact(NamedTuple):
    """Planes that fit as they are."""

    real: DType
    n: int
    arrays: dict[str, Array]
    """Those given by sample."""
    addresses: dict[str, int]
    """Where they are."""
    numbers: dict[str, Number]
    """Those given for the whole launch."""


def exact(kernel: Kernel[..., Any], given: Mapping[str, object]) -> Exact | None:
    """The planes of a call that gives all of them by name, the mask perhaps left out, and fits.

    None for every other call, right or wrong.
    """
    signature = kernel.signature
    if signature.shaped or signature.tables or signature.grid:
        return None  # an array is several planes, or for all samples, or has several dimensions
    real = WIDTHS[kernel.dtype] if kernel.dtype else _real(given)
    arrays: dict[str, Array] = {}
    addresses: dict[str, int] = {}
    numbers: dict[str, Number] = {}
    spans: list[tuple[int, int]] = []
    shape = None
    for parameter in kernel.parameters:
        name, role = parameter.name, parameter.role
        value = given.get(name)
        dtype = parameter.element.dtype or real
        if type(value) is np.ndarray and role is not _UNIFORM:
            # Types that are equal are nearly always one object, and that is seen at once.
            if value.dtype is not NUMPY[dtype] or value.ndim != 1:
                return None
            if shape is None:
                shape = value.shape
            flags = value.flags
            if value.shape != shape or not (
                flags.carray or (role is _INPUT and flags.c_contiguous and flags.aligned)
            ):
                return None
            arrays[name] = value
            start = addresses[name] = address_of(value)
            spans.append((start, start + value.nbytes))
        elif type(value) is float and role is _UNIFORM and dtype is DType.F64:
            numbers[name] = value
        elif type(value) in (int, float, bool) and role is _UNIFORM:
            try:
                numbers[name] = to_number(value, dtype)
            except ValueError:
                return None
        elif value is not None or role is not _MASK:
            return None
    if shape is None or len(arrays) + len(numbers) != len(given) or not are_apart(spans):
        return None
    return Exact(real, shape[0], arrays, addresses, numbers)


def _real(given: Mapping[str, object]) -> DType:
    """The float width of the first array of floats."""
    for value in given.values():
        if type(value) is np.ndarray:
            if value.dtype is _WIDE:
                return DType.F64
            if value.dtype is _NARROW:
                return DType.F32
    return DType.F64
