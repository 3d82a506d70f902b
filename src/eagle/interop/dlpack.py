"""Any array that gives its memory by DLPack, the protocol that array libraries share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eagle.interop.base import Foreign, Spelling, described, on_cuda, on_device
from eagle.params import shown

_CPU = (1, 3, 11)
"""Numbers of the protocol for memory that the CPU reaches: its own, and pinned for a GPU."""

_CUDA = {2: "cuda:{}", 13: "cuda:{}, managed memory"}
_DEVICES = {
    4: "an OpenCL device ({})",
    7: "a Vulkan device ({})",
    8: "the GPU (metal:{})",
    10: "the GPU (rocm:{})",
    14: "a oneAPI device ({})",
}

_TO_CPU = {"cupy": "cupy.asnumpy({x})", "tensorflow": "{x}.numpy()"}
"""What users of a library write; of any other, what NumPy offers."""

SPELLING = Spelling(array="np.from_dlpack({x})")


def read(value: Any) -> Foreign:
    """See `value` as a NumPy array of the same memory, without a copy."""
    try:
        kind, number = value.__dlpack_device__()
        if int(kind) not in _CPU:
            library = type(value).__module__.partition(".")[0]
            fix = _TO_CPU.get(library, 'np.from_dlpack({x}, device="cpu")')
            if int(kind) in _CUDA:
                got = on_cuda(value, _CUDA[int(kind)].format(number))
                return Foreign(None, SPELLING, got, fix)
            device = _DEVICES.get(int(kind), f"device {int(kind)} ({{}})").format(number)
            return Foreign(None, SPELLING, on_device(value, device), fix)
        view = as_numpy(value)
        return Foreign(view, SPELLING, note="" if view.flags.writeable else f" ({shown(value)})")
    except Exception as refusal:  # noqa: BLE001 - whatever the exporter raises, it said no
        why = str(refusal).partition("\n")[0] or type(refusal).__name__
        got = f"{described(value)} ({shown(value)}) whose memory cannot be used: {why}"
        fix = "np.asarray({x}, dtype=np.{dtype})" if hasattr(type(value), "__array__") else ""
        return Foreign(None, SPELLING, got, fix)


def as_numpy(value: Any) -> NDArray[Any]:
    """The memory of `value` as a NumPy array, read-only where the exporter does not say otherwise.

    Raises whatever the exporter raises.
    """
    return np.from_dlpack(_Exporter(value))  # pyright: ignore[reportArgumentType]


class _Exporter:
    """An array, asked for as much of the protocol as it knows.

    NumPy asks for the newest, and if that is refused for the oldest, which cannot say that an array
    may be written (NumPy 2.4). And it would take a copy, which nobody sees when it is written.
    """

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        self._value = value

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._value.__dlpack_device__()

    def __dlpack__(self, **asked: Any) -> Any:
        version = asked.get("max_version")
        for options in ({"max_version": version, "copy": False}, {"max_version": version}):
            try:
                return self._value.__dlpack__(**options)
            except TypeError:  # it does not know one of them
                continue
        return self._value.__dlpack__()
