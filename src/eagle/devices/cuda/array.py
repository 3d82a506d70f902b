"""Arrays that eagle makes on a GPU: of graphs themselves, and where no other library is there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from eagle.devices.arrays import DeviceArray, Home

if TYPE_CHECKING:
    from eagle.devices.cuda.device import CudaDevice, CudaHome


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
