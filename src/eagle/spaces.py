"""Where arrays can live, and the library that makes them there."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

import numpy as np

from eagle.params import shown


def gpu_available() -> bool:
    """Can kernels run on a GPU here? Not yet: this version runs them on the CPU only."""
    return False


def xp_for(device: str) -> ModuleType:
    """The array library for `device`: for `"cpu"` NumPy.

    For `"simulated"` it is that of a device made of host memory, which refuses what a GPU refuses.
    It has `zeros`, `ones`, `empty`, `linspace` and `asarray`, so a program can be written for any
    device. Raises ValueError for a device that there is not.
    """
    if device == "cpu":
        return np
    if device == "simulated":
        return import_module("eagle.devices.simulated.xp")
    if device == "gpu":
        raise ValueError(
            "eagle.xp_for: there is no 'gpu' device in this version, which runs kernels on the CPU "
            'only; write eagle.xp_for("cpu"), or "simulated" to see what a GPU refuses'
        )
    raise ValueError(f'eagle.xp_for: expected "cpu" or "simulated", got {shown(device)}')
