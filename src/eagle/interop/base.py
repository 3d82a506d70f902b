"""What eagle needs to know of another library's array, and which file here knows it.

No library is imported for this: who passes an array of one has imported it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Spelling:
    """What the users of a library write to change an array `{x}`, as a message shows it."""

    array: str = "{x}"
    """The array itself; the rest is written of this."""
    cast: str = "{x}.astype(np.{dtype})"
    copy: str = "{x}.copy()"
    contiguous: str = "np.ascontiguousarray({x})"
    flat: str = "{x}.reshape(-1)"
    repeat: str = "np.repeat({x}, {n})"
    full: str = "np.full({n}, {x})"
    empty: str = "np.empty({shape}{dtype_too})"


NUMPY = Spelling()


class Foreign(NamedTuple):
    """An array of another library."""

    view: NDArray[Any] | None
    """Its memory as a NumPy array, read-only where it may not be written. None: eagle cannot use
    it, and `got` says why."""
    spelling: Spelling = NUMPY
    got: str = ""
    """What came, after "got"."""
    fix: str = ""
    """What to write instead, `{x}` being the array and `{dtype}` the type it should have."""
    note: str = ""
    """What else to say of the array."""


Reader: TypeAlias = "Callable[[Any], Foreign | None]"

_LIBRARIES = {"torch": "torch", "jax": "jax", "jaxlib": "jax", "eagle": "own"}
"""Libraries with a file of their own, by the package their types come from."""


def foreign(value: object) -> Foreign | None:
    """`value` as an array of another library; None for what is none."""
    read = _reader(type(value))
    return None if read is None else read(value)


@functools.lru_cache(maxsize=256)
def _reader(kind: type) -> Reader | None:
    """The function that reads what is of type `kind`."""
    if issubclass(kind, (np.ndarray, np.generic)):
        return None
    for base in kind.__mro__:
        own = _LIBRARIES.get(base.__module__.partition(".")[0])
        if own is not None:
            return import_module(f"eagle.interop.{own}").read
    if hasattr(kind, "__dlpack__") and hasattr(kind, "__dlpack_device__"):
        return import_module("eagle.interop.dlpack").read
    if hasattr(kind, "__cuda_array_interface__"):
        return import_module("eagle.interop.cuda_array").read
    return None


def on_device(value: object, device: str) -> str:
    """What came, where it is an array that lives on `device`."""
    return f"{described(value)} on {device}, and this version runs kernels on the CPU"


def on_cuda(value: object, device: str = "cuda") -> str:
    """What came, where it is an array on a GPU and none can be used, or not by this call."""
    said = "which cannot be used here: `eagle doctor` tells why"
    return f"{described(value)} on the GPU ({device}), {said}"


def described(value: object) -> str:
    """Type and shape of an array, as far as it tells them."""
    try:
        dtype, shape = getattr(value, "dtype", None), getattr(value, "shape", None)
        if dtype is None or shape is None:
            return "an array"
        return f"{str(dtype).rpartition('.')[2]} {tuple(shape)}"
    except Exception:  # noqa: BLE001 - another library's object may do anything
        return "an array"
