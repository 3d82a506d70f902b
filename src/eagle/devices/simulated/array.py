"""Arrays on the simulated device: their memory is the host's, which the host may not read."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eagle.devices.arrays import DeviceArray, Home
from eagle.devices.simulated.stream import STREAM


class SimulatedHome(Home):
    """Host memory, and the thread that works on it."""

    name = "the simulated device"
    device = "simulated"

    def enter(self, what: str) -> None:
        STREAM.enter(what)

    def read(self, memory: NDArray[Any]) -> NDArray[Any]:
        return memory.copy()

    def write(self, memory: NDArray[Any], numbers: NDArray[Any]) -> None:
        memory[...] = numbers

    def new(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
        memory = np.empty(shape, dtype)
        poison(memory)
        return memory

    def array(self, memory: NDArray[Any]) -> SimulatedArray:
        return SimulatedArray(memory)


HOME = SimulatedHome()


class SimulatedArray(DeviceArray):
    """An array on the simulated device, or a view of one. Made by `eagle.xp_for("simulated")`."""

    __slots__ = ()

    @property
    def _home(self) -> Home:
        return HOME


_POISON_INT = -57005  # 0xDEAD


def poison(memory: NDArray[Any]) -> None:
    """Write into memory what nobody has written: NaN where there is one, else a strange number."""
    match memory.dtype.kind:
        case "f" | "c":
            memory[...] = np.nan
        case "b":
            memory[...] = True
        case "i":
            memory[...] = max(_POISON_INT, int(np.iinfo(memory.dtype).min))
        case "u":
            memory[...] = min(-_POISON_INT, int(np.iinfo(memory.dtype).max))
        case _:
            memory[...] = np.zeros((), memory.dtype)
