"""Where arrays can live, and the library that makes them there."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from eagle.params import shown


def gpu_available() -> bool:
    """Can kernels run on a GPU here? They do so in graphs."""
    return not _why_no_gpu()


def xp_for(device: str) -> Any:
    """The array library for `device`: for `"cpu"` NumPy.

    For `"gpu"` it is CuPy where that is installed, else a small one of eagle's own. For
    `"simulated"` it is that of a device made of host memory, which refuses what a GPU refuses.
    All have `zeros`, `ones`, `empty`, `linspace` and `asarray`, so a program can be written for any
    device. Raises ValueError for a device that there is not.
    """
    if device == "cpu":
        return np
    if device == "simulated":
        return import_module("eagle.devices.simulated.xp")
    if device == "gpu":
        why = _why_no_gpu()
        if why:
            raise ValueError(
                f"eagle.xp_for: there is no GPU to be used: {why}\n"
                '  write: eagle.xp_for("cpu"), or "simulated" to see what a GPU refuses'
            )
        try:
            return import_module("cupy")
        except ImportError:
            return import_module("eagle.devices.cuda.device").library(0)
    raise ValueError(f'eagle.xp_for: expected "cpu", "gpu" or "simulated", got {shown(device)}')


def _why_no_gpu() -> str:
    return import_module("eagle.devices.cuda.device").available()
