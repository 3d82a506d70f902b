"""The simulated device: where its arrays live, what it refuses, copies at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from eagle.devices import rules
from eagle.devices.arrays import memory_of
from eagle.devices.base import Captured, Cut, Device, Loaded, Objection, Partition, register
from eagle.devices.host.device import HOST
from eagle.devices.plan import Call, walk
from eagle.devices.simulated.array import SimulatedArray, poison
from eagle.devices.simulated.stream import STREAM
from hawk.ir.types import DType
from hawk.targets.base import Compiled

if TYPE_CHECKING:
    from eagle.devices.plan import Plan, Root, View
    from hawk.ir.nodes import Function
    from hawk.kernel import Program


class SimulatedDevice(Device):
    """Host memory that the host may not read, and a thread that works on it."""

    name = "the simulated device"

    def empty(self, shape: tuple[int, ...], dtype: DType) -> SimulatedArray:
        memory = np.empty(shape, dtype.numpy)
        poison(memory)
        return SimulatedArray(memory)

    def locate(self, value: object) -> View | None:
        return memory_of(value) if isinstance(value, SimulatedArray) else None

    def pinned(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
        return HOST.pinned(shape, dtype)

    def objections(self, plan: Plan) -> list[Objection]:
        return rules.objections(plan) or [
            Objection(
                item,
                f"{item.name} launches work on a GPU by itself, and {self.name} is none",
                "eager=True instead of capture=True here; or NumPy's arrays, on which it is called",
            )
            for item in walk(plan.body)
            if isinstance(item, Call) and item.captured
        ]

    def cuts(self, plan: Plan) -> list[Cut]:
        return rules.cuts(plan)

    def compiled(self, program: Program, compiled: Compiled) -> Compiled:
        return program.lone(compiled)

    def capture(self, plan: Plan) -> Captured:
        from eagle.devices.simulated.replay import SimulatedCaptured

        return SimulatedCaptured(plan)

    def copy(self, source: Root, into: Root) -> None:
        STREAM.enter("eagle.copy")
        into.view[...] = source.view

    def load(
        self,
        compiled: Compiled,
        planes: Sequence[np.ndarray | int],
        words: Sequence[int],
        partition: Partition,
        function: Function | None = None,
    ) -> Loaded:
        return HOST.load(compiled, planes, words, partition)


SIMULATED = SimulatedDevice()
"""The simulated device."""
register(SIMULATED)
