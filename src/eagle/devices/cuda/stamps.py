"""When the nodes of a graph ran: each has a kernel before and after it that writes the time down.

So it is seen in branches and loops too, where the driver records no events. The clock is the GPU's,
which many of them advance once in a microsecond.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eagle.devices.base import Span
from eagle.devices.cuda import ptx
from eagle.devices.cuda.driver import Side
from eagle.devices.plan import Item
from eagle.errors import DeviceError
from eagle.interop.cuda_array import described_at

if TYPE_CHECKING:
    from eagle.devices.cuda.device import CudaDevice

ROOM = 1 << 18
"""How many times of one replay there is room for: 4 MB."""
_NANO = 1e-9


class Taken(NamedTuple):
    """What a part of a graph wrote in a replay."""

    replay: int
    begin: float
    end: float
    times: list[list[int]]
    """What happened, and when by the GPU's clock, in nanoseconds."""

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the most that the host's clock can be ahead."""
        return self.begin - self.times[0][1] * _NANO, self.end - self.times[-1][1] * _NANO


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

    def take(self, replay: int, begin: float, end: float) -> Taken:
        """What a part wrote that was launched after `begin` and over before `end`, on the host."""
        return Taken(replay, begin, end, self._taken().tolist())

    def spans(self, parts: list[Taken]) -> Iterator[Span]:
        """When nodes ran, in seconds of the host's clock.

        How far the two clocks are apart is not known, but each part lies between two times of the
        host's. So what runs there between two parts is between them here, too.
        """
        bounds = [part.bounds for part in parts if part.times]
        if not bounds:
            return
        guess = (max(low for low, _ in bounds) + min(high for _, high in bounds)) / 2
        begun: dict[int, float] = {}
        for part in parts:
            low, high = part.bounds if part.times else (guess, guess)
            offset = min(max(guess, low), high)
            for what, time in part.times:
                place, end = divmod(what, 2)
                seconds = time * _NANO + offset
                if end:
                    yield Span(self._items[place], part.replay, begun.pop(place), seconds)
                else:
                    begun[place] = seconds

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
