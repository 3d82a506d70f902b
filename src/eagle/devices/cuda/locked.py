"""Page-locked memory of the host: eagle's own pinned arrays, and those of other libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from eagle.devices.cuda.driver import DriverError
from eagle.devices.cuda.remains import Handles
from eagle.devices.host.memory import address_of

if TYPE_CHECKING:
    from eagle.devices.cuda.device import CudaDevice


class Locker:
    """Page-locks pinned arrays, for all GPUs."""

    def __init__(self, device: CudaDevice) -> None:
        self._device = device

    def lock(self, address: int, size: int) -> None:
        device = self._device
        device.guard.check("making a pinned array")
        try:
            with device.current():
                device.driver.lock(address, size)
        except DriverError as error:
            raise device.error(f"{size:,} bytes of pinned memory", error) from None

    def unlock(self, address: int, memory: object) -> None:
        self._device.remains.add(Handles(locked=[(address, memory)]))


def pinned_by_others(device: CudaDevice, array: NDArray[Any]) -> bool:
    """Is it in page-locked memory that another library made?"""
    try:
        with device.current():
            where = device.driver.where(address_of(array)) if array.size else None
    except DriverError:
        return False
    return where is not None and where.pinned
