"""When the nodes of a graph ran: each has a kernel before and after it that writes the time down.

So it is seen in branches and loops too, where the driver records no events. The clock is the GPU's,
which many of them advance once in a microsecond.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from eagle.devices.base import Span
from eagle.devices.cuda import ptx
from eagle.devices.cuda.driver import Kernel, Side
from eagle.devices.plan import Item
from eagle.errors import DeviceError
from eagle.interop.cuda_array import described_at

if TYPE_CHECKING:
    from eagle.devices.cuda.device import CudaDevice

ROOM = 1 << 18
"""How many times of one replay there is room for: 4 MB."""
_NANO = 1e-9


class Stamps:
    """Where nodes write when they began and ended."""

    def __init__(self, device: CudaDevice, address: int) -> None:
        self._device, self._address = device, address
        self._items: list[Item] = []

    @classmethod
    def on(cls, device: CudaDevice) -> Stamps:
        """On a GPU, which has nothing else to do. The context is current."""
        return cls(device, device.upload(np.zeros(2 * ROOM + 1, np.uint64)))

    def free(self) -> None:
        self._device.driver.free(self._address)

    def of(self, item: Item) -> tuple[int, int]:
        """What is written for the beginning and the end of a node."""
        self._items.append(item)
        return 2 * len(self._items) - 2, 2 * len(self._items) - 1

    def write(self, what: int) -> Callable[[ptx.Small], None]:
        """What writes it into a small kernel."""
        return lambda small: small.stamp(self._address, ROOM, what)

    def offset(self) -> float:
        """What makes seconds of `perf_counter` of those of the GPU."""
        driver, device, small = self._device.driver, self._device, ptx.Small()
        self.write(0)(small)
        function, graph = device.function(small.text, ptx.NAME), driver.graph()
        driver.add(graph, (), Kernel(function, 1, 1, small.arguments))
        ready = driver.instantiate(graph)
        driver.launch(ready, device.stream)  # the first time takes longer
        driver.synchronize(device.stream)
        begin = perf_counter()
        driver.launch(ready, device.stream)
        driver.synchronize(device.stream)
        end = perf_counter()
        driver.destroy(graph, ready)
        return (begin + end) / 2 - float(self._taken()[-1, 1]) * _NANO

    def spans(self, replay: int, offset: float) -> list[Span]:
        """When the nodes of the replay that is over ran. DeviceError: too many did."""
        begun: dict[int, float] = {}
        found: list[Span] = []
        for what, time in self._taken().tolist():
            place, end = divmod(what, 2)
            seconds = time * _NANO + offset
            if end:
                found.append(Span(self._items[place], replay, begun.pop(place), seconds))
            else:
                begun[place] = seconds
        return found

    def _taken(self) -> NDArray[np.uint64]:
        """What was written, in the order in which it was; nothing is there afterwards."""
        whole = described_at(self._address, (2 * ROOM + 1,), np.dtype(np.uint64))
        count = self._read(whole[:1])[0]
        if count >= ROOM:
            raise DeviceError(f"a replay of {count:,} nodes, and a profile has room for {ROOM:,}")
        pairs = self._read(whole[1 : 2 * int(count) + 1]).reshape(-1, 2)
        zero = np.zeros(1, np.uint64)
        self._device.transfer(zero, Side.HOST, whole[:1], Side.DEVICE)
        return pairs

    def _read(self, there: NDArray[np.uint64]) -> NDArray[np.uint64]:
        return self._device.home.read(there)
