"""A device for tests: memory that NumPy refuses to read, graphs that run a node at a time.

It shows what a device needs to give, and that graphs need nothing else. Its memory is the host's,
so compiled kernels run on it; nothing is compared with a real device.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from eagle.devices import base
from eagle.devices.base import (
    Captured,
    Device,
    Failure,
    Loaded,
    Objection,
    Partition,
    Span,
)
from eagle.devices.host.device import HOST
from eagle.devices.host.pinned import is_pinned
from eagle.devices.host.reduce import reduced
from eagle.devices.plan import (
    Call,
    Cell,
    Compare,
    Condition,
    Copy,
    Every,
    If,
    Item,
    Launch,
    Loop,
    Not,
    Plan,
    Put,
    Reduce,
    Root,
    Some,
    View,
    parts_of,
    walk,
)
from eagle.graph.touches import ordered
from hawk.ir.types import DType
from hawk.targets.base import Compiled


class There:
    """An array on the device."""

    def __init__(self, memory: np.ndarray) -> None:
        self.memory = memory

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise TypeError("this array is not on the host")

    def __getitem__(self, key: Any) -> There:
        return There(self.memory[key])

    @property
    def T(self) -> There:
        return There(self.memory.T)


class Elsewhere(Device):
    name = "elsewhere"

    def zeros(self, shape: tuple[int, ...], dtype: DType) -> Any:
        return There(np.zeros(shape, dtype.numpy))

    def locate(self, value: object) -> View | None:
        return value.memory if isinstance(value, There) else None

    def pinned(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray:
        return HOST.pinned(shape, dtype)

    def objections(self, plan: Plan) -> list[Objection]:
        found: list[Objection] = []
        for item in plan.body:
            for part in parts_of(item):
                for inner in walk(part):
                    regions = (*inner.reads, *inner.writes)
                    hosts = [each for each in regions if each.root.device is HOST]
                    if isinstance(inner, Call):
                        what = f"`{inner.name}` is a host function inside `{item.name}`"
                        found.append(Objection(inner, what, "it before or after"))
                    elif isinstance(inner, Copy) and not all(is_pinned(h.view) for h in hosts):
                        what = f"`{hosts[0].name}` is pageable, and copied inside `{item.name}`"
                        found.append(Objection(inner, what, "eagle.pinned(...) for it"))
        return found

    def capture(self, plan: Plan) -> Captured:
        return Slow(plan)

    def copy(self, source: Root, into: Root) -> None:
        into.view[...] = source.view

    def load(
        self,
        compiled: Compiled,
        planes: Sequence[np.ndarray | int],
        words: Sequence[int],
        partition: Partition,
    ) -> Loaded:
        return HOST.load(compiled, planes, words, partition)


class Slow(Captured):
    """Interprets the plan, in another legal order each time, when somebody waits for it."""

    def __init__(self, plan: Plan) -> None:
        self._plan, self._chance, self._due = plan, random.Random(3), 0
        self._failure: Failure | None = None

    def enqueue(self, n: int) -> None:
        self._due += n

    def synchronize(self) -> None:
        due, self._due = self._due, 0
        for replay in range(due):
            self._body(self._plan.body, replay, due)

    def profile(self, n: int) -> list[Span]:
        raise NotImplementedError

    def take_failure(self) -> Failure | None:
        failure, self._failure = self._failure, None
        return failure

    def moved(self) -> None:
        """Addresses are looked up at each node."""

    def renumbered(self, launch: Launch) -> None:
        """So are numbers."""

    def _body(self, body: list[Item], replay: int, due: int) -> None:
        for item in ordered(body, self._chance.randrange(1000)):
            match item:
                case Launch():
                    for region, kept in item.fresh:
                        region.view[...] = kept
                    whole = Partition.whole(item.n)
                    planes, words = item.planes_now, item.words_now
                    HOST.load(item.compiled, planes, words, whole).launch(item.steps)
                case Copy():
                    item.writes[0].memory[...] = item.reads[0].memory
                case Reduce():
                    number = reduced(item.kind, item.dtype, item.reads[0].memory)
                    item.writes[0].memory[...] = number
                case Call():
                    self._call(item, replay, due)
                case Put():
                    value = item.value
                    number = _number(value) if isinstance(value, Cell) else _holds(value)
                    item.cell.region.memory[...] = number
                case If():
                    self._body(item.then if _holds(item.test) else item.orelse, replay, due)
                case Loop():
                    while self._goes_on(item, replay, due):
                        self._body(item.body, replay, due)
                case _:
                    raise AssertionError(item)

    def _call(self, item: Call, replay: int, due: int) -> None:
        if self._failure is None:
            try:
                item.function()
            except Exception as error:  # noqa: BLE001 - kept, as a device keeps it
                self._failure = Failure(error, item.name, replay + 1, due)

    def _goes_on(self, loop: Loop, replay: int, due: int) -> bool:
        if any(map(_holds, loop.exits)):
            return False
        self._body(loop.before, replay, due)
        if loop.counter is not None:
            count, limit = _number(loop.counter.count), _number(loop.counter.limit)
            loop.counter.number.region.view[...] = count
            loop.counter.count.region.view[...] = min(limit, count + loop.counter.step)
            return count < limit
        return loop.test is None or _holds(loop.test)


def _number(cell: Cell) -> int:
    return int(cell.region.memory.reshape(-1)[0])


def _holds(condition: Condition) -> bool:
    match condition:
        case Compare():
            left, right = _number(condition.left), _number(condition.right)
            return bool(eval(f"{left} {condition.relation.value} {right}"))
        case Not():
            return not _holds(condition.of)
        case Every():
            return all(map(_holds, condition.of))
        case Some():
            return any(map(_holds, condition.of))


@contextmanager
def elsewhere() -> Iterator[Elsewhere]:
    """The device, known to eagle until the block ends."""
    device = Elsewhere()
    base.register(device)
    try:
        yield device
    finally:
        base._devices.remove(device)
