"""Arrays that only say where on a CUDA device they are, such as those of numba."""

from __future__ import annotations

from typing import Any

from eagle.interop.base import NUMPY, Foreign, on_device


def read(value: Any) -> Foreign:
    """Say that the array is on the GPU."""
    library = type(value).__module__.partition(".")[0]
    fix = "{x}.copy_to_host()" if library == "numba" else "a copy of it on the CPU"
    return Foreign(None, NUMPY, on_device(value, "the GPU (cuda)"), fix)
