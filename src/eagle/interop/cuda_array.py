"""Arrays on CUDA devices: where their memory is, asked of arrays of any library.

They say so by `__cuda_array_interface__`, as those of CuPy, PyTorch and Numba, or by DLPack. No
library is imported for it, and nobody looks inside the memory.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eagle.interop.base import NUMPY, Foreign, on_cuda

_DLPACK = frozenset({2, 13})
"""Numbers of DLPack for memory of CUDA: a device's own, and managed."""


def read(value: Any) -> Foreign:
    """Say that the array is on the GPU."""
    library = type(value).__module__.partition(".")[0]
    fix = "{x}.copy_to_host()" if library == "numba" else "a copy of {x} on the CPU"
    return Foreign(None, NUMPY, on_cuda(value), fix)


class Located(NamedTuple):
    """An array on a CUDA device."""

    view: NDArray[Any]
    """Its memory, described."""
    gpu: int | None
    """The number of its device; None where only the driver knows."""


def located(value: Any) -> Located | None:
    """Where an array on a CUDA device is; None for what is no such array.

    Raises ValueError for one of which only some elements count.
    """
    kind = type(value)
    if not _says_where(kind):
        return None
    try:
        interface = getattr(value, "__cuda_array_interface__", None)
    except (RuntimeError, TypeError) as refusal:  # of a tensor that records gradients, for one
        raise ValueError(str(refusal).partition("\n")[0]) from None
    if isinstance(interface, dict):
        return Located(_by_interface(value, interface), None)
    if not hasattr(kind, "__dlpack_device__"):
        return None
    try:
        device, number = value.__dlpack_device__()
    except Exception:  # noqa: BLE001 - whatever the exporter raises, who binds it says it
        return None
    if int(device) not in _DLPACK:
        return None
    return Located(_by_dlpack(value), int(number) if int(device) == 2 else None)


@functools.lru_cache(maxsize=256)
def _says_where(kind: type) -> bool:
    """May an array of this type be on a CUDA device?"""
    if issubclass(kind, (np.ndarray, np.generic)):
        return False
    return hasattr(kind, "__cuda_array_interface__") or (
        hasattr(kind, "__dlpack__") and hasattr(kind, "__dlpack_device__")
    )


def _by_interface(value: Any, interface: dict[str, Any]) -> NDArray[Any]:
    if interface.get("mask") is not None:
        raise ValueError("an array with a mask, of which only some elements count")
    address, readonly = interface["data"]
    dtype = np.dtype(interface["typestr"])
    strides = interface.get("strides")
    return described_at(address, tuple(interface["shape"]), dtype, strides, value, readonly)


class _Described:
    """Memory as NumPy takes it, and what keeps it alive."""

    def __init__(self, interface: dict[str, Any], owner: object) -> None:
        self.__array_interface__ = interface
        self.owner = owner


def described_at(
    address: int,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    strides: tuple[int, ...] | None = None,
    owner: object = None,
    readonly: bool = False,  # noqa: FBT001, FBT002 - in the order of the protocol
) -> NDArray[Any]:
    """Memory as a NumPy array that describes it, keeps its owner alive, and is not to be read."""
    interface = {
        "shape": shape,
        "typestr": dtype.str,
        "strides": strides,
        # NumPy takes no address of 0, which arrays without elements have.
        "data": (address or dtype.alignment, bool(readonly)),
        "version": 3,
    }
    return np.asarray(_Described(interface, owner))


def is_described(array: NDArray[Any]) -> bool:
    """Is the memory of an array only described, here or by `moved`, and not to be read?"""
    base: object = array
    while isinstance(base, np.ndarray):
        base = base.base
    return isinstance(base, _Described)


class _Shown:
    """Memory of a device as other libraries take it, kept alive by them."""

    def __init__(self, view: NDArray[Any]) -> None:
        self._view = view
        self.__cuda_array_interface__ = {
            "shape": view.shape,
            "strides": None,
            "typestr": view.dtype.str,
            "data": (view.__array_interface__["data"][0] if view.size else 0, False),
            "version": 3,  # without a stream: nobody has to be waited for
        }


def in_library_of(like: Any, view: NDArray[Any]) -> Any:
    """Memory without gaps as an array of the library of `like`, CuPy or PyTorch; None for others.

    Neither is imported for it, and neither waits.
    """
    cupy, torch = sys.modules.get("cupy"), sys.modules.get("torch")
    if cupy is not None and isinstance(like, getattr(cupy, "ndarray", ())):
        return cupy.asarray(_Shown(view))
    if torch is not None and isinstance(like, getattr(torch, "Tensor", ())):
        try:
            return torch.as_tensor(_Shown(view), device=like.device)
        except TypeError:  # it has no such type of numbers
            return None
    return None


# -- DLPack ----------------------------------------------------------------------------------------


class _Tensor(ctypes.Structure):
    """`DLTensor` of dlpack.h."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


_CODES = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}


def _by_dlpack(value: Any) -> NDArray[Any]:
    """The memory of an array that gives itself as a capsule.

    The capsule stays unused: it lets go of the array when it is gone, and the view holds it.
    """
    capsule = value.__dlpack__(stream=-1)  # nothing is waited for here: graphs wait themselves
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    tensor = _Tensor.from_address(pointer(capsule, b"dltensor"))
    kind = _CODES.get(tensor.code)
    if kind is None or tensor.lanes != 1:
        raise ValueError("an array of a type that NumPy has not")
    dtype = np.dtype(f"{kind}{tensor.bits // 8}")
    shape = tuple(tensor.shape[k] for k in range(tensor.ndim))
    strides = None
    if tensor.strides:
        strides = tuple(tensor.strides[k] * dtype.itemsize for k in range(tensor.ndim))
    address = (tensor.data or 0) + tensor.byte_offset
    return described_at(address, shape, dtype, strides, (capsule, value))
