"""Arrays that eagle makes on a GPU: of graphs themselves, and where no other library is there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from eagle.devices.arrays import DeviceArray, Home
from eagle.devices.cuda.driver import Side
from eagle.devices.cuda.remains import Handles
from eagle.interop.cuda_array import described_at

if TYPE_CHECKING:
    from eagle.devices.cuda.device import CudaDevice


class Held:
    """Memory of a GPU, which is given back some time after this is gone."""

    __slots__ = ("__weakref__",)


class CudaArray(DeviceArray):
    """An array on a GPU, or a view of one. Other libraries see it by `__cuda_array_interface__`."""

    __slots__ = ("_on",)

    def __init__(self, memory: NDArray[Any], on: CudaHome) -> None:
        super().__init__(memory)
        self._on = on

    def _like(self, memory: NDArray[Any]) -> CudaArray:
        return CudaArray(memory, self._on)

    @property
    def _home(self) -> Home:
        return self._on

    @property
    def gpu(self) -> CudaDevice:
        """The GPU that it lives on."""
        return self._on.gpu

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """What other libraries ask for. They wait for the default stream, which follows ours."""
        memory = self._memory
        return {
            "shape": memory.shape,
            "strides": None if memory.flags.c_contiguous else memory.strides,
            "typestr": memory.dtype.str,
            "data": (memory.__array_interface__["data"][0], False),
            "version": 3,
            "stream": 1,
        }


class CudaHome(Home):
    """A GPU, as its arrays need it."""

    calls = True

    def __init__(self, gpu: CudaDevice) -> None:
        self.gpu, self.name, self.device = gpu, gpu.name, f"cuda:{gpu.number}"

    def enter(self, what: str) -> None:
        self.gpu.guard.check(what)
        with self.gpu.current():
            self.gpu.wait()

    def read(self, memory: NDArray[Any]) -> NDArray[Any]:
        numbers = np.empty(memory.shape, memory.dtype)
        self.gpu.transfer(memory, Side.DEVICE, numbers, Side.HOST)
        return numbers

    def write(self, memory: NDArray[Any], numbers: NDArray[Any]) -> None:
        self.gpu.transfer(numbers, Side.HOST, memory, Side.DEVICE)

    def new(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
        size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        held, address = Held(), self.gpu.allocate(size)
        self.gpu.remains.with_(held, Handles(memory=[address]))
        return described_at(address, shape, dtype, owner=held)

    def array(self, memory: NDArray[Any]) -> CudaArray:
        return CudaArray(memory, self)


def address_at(array: NDArray[Any]) -> int:
    """The address of an array of the host or of a device."""
    return array.__array_interface__["data"][0]
