"""Replaying a graph on a GPU: its parts are launched one after the other, on one stream.

A graph is in parts where it is cut, and between two parts the GPU is waited for.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING

from eagle.devices.base import Captured, Failure, Span
from eagle.devices.cuda.build import Builder, Part
from eagle.devices.cuda.driver import DriverError
from eagle.devices.cuda.hosts import Kept, NativeCall
from eagle.devices.cuda.remains import Handles
from eagle.devices.cuda.stamps import Stamps, Taken
from eagle.devices.host.device import HOST
from eagle.devices.host.pinned import is_pinned
from eagle.devices.notes import ended_launching, ended_within
from eagle.devices.plan import Call, Copy, Item, Launch, Plan, walk
from eagle.devices.rules import pieces
from eagle.errors import DeviceError
from eagle.overlap import overlap

if TYPE_CHECKING:
    from eagle.devices.cuda.device import CudaDevice


class CudaCaptured(Captured):
    """The parts of a graph, each as the driver launches it, and eager functions between them."""

    def __init__(self, device: CudaDevice, plan: Plan) -> None:
        device.guard.check(f"replaying the graph {plan.name}")
        self._device, self._plan = device, plan
        self._kept = Kept()
        self._pieces = pieces(plan)
        self._alone = _reads_what_is_written(plan)
        """May a replay begin only when the one before is over?"""
        self._handles = Handles()
        device.remains.with_(self, self._handles)
        self._parts: list[Part | Call] = []
        self._used: object = None
        """What a replay on its way needs."""
        self._built = False
        self._n = self._begun = self._over = 0
        """Replays of the last call: how many it asks for, were begun, and launched for sure."""
        self._at = ""
        with device.current():
            self._build()

    def _look(self) -> None:
        """Raise DeviceError for an array that is not there any more.

        CUDA would say it much later, and of no array.
        """
        device = self._device
        for root in self._plan.roots:
            if root.device is not device or not root.view.size:
                continue
            where = device.driver.where(root.address)
            if where is None or where.gpu != device.number:
                raise DeviceError(
                    f"{device.name}: the memory of `{root.name}` is not there any more: was it "
                    f"freed since the graph {self._plan.name} was built?\n  write: "
                    "the array itself as the builder's argument, which keeps its memory"
                )

    def _build(self) -> None:
        """Make all parts. Nothing of them is on its way, the context is current."""
        device, self._built = self._device, False
        self._look()
        device.remains.add(self._handles.take())
        device.sweep()
        self._parts = self._made(None)
        for part in self._parts:
            if isinstance(part, Part):
                self._handles.ready += part.handles.ready
                self._handles.graphs += part.handles.graphs
                self._handles.memory += part.handles.memory
                self._handles.kept += part.handles.kept
        self._used = self._parts, self._plan
        self._built = True

    def _made(self, stamps: Stamps | None) -> list[Part | Call]:
        builder = Builder(self._device, self._plan, self._kept, stamps)
        made: list[Part | Call] = []
        try:
            for piece in self._pieces:
                part = piece if isinstance(piece, Call) else builder.make(piece)
                made.append(part)
        except BaseException:
            self._give_back(made)
            raise
        return made

    def _give_back(self, parts: list[Part | Call]) -> None:
        for part in parts:
            if isinstance(part, Part):
                self._device.remains.add(part.handles)

    # -- replays -----------------------------------------------------------------------------------

    def enqueue(self, n: int) -> None:
        device = self._device
        device.guard.check(f"replaying the graph {self._plan.name}")
        with device.current():
            if not self._built:
                self._build()
            if device.remains:
                device.sweep()
            self._n, self._begun, self._over = n, 0, 0
            try:
                device.follow_others()
                for replay in range(1, n + 1):
                    if self._alone:
                        device.wait()
                    self._begun, self._at = replay, ""
                    self._replay(replay, n)
                    self._over = replay
                device.lead_others()
            except DriverError as error:
                raise device.error(f"the graph {self._plan.name}", error) from None
            except DeviceError:
                raise
            except BaseException as error:  # Ctrl-C, or what a signal handler raises
                error.add_note(self._where())
                raise

    def _where(self) -> str:
        """What an exception says of the replays that were asked for."""
        begun, over, n = self._begun, self._over, self._n
        is_cut = len(self._parts) > 1 or any(isinstance(part, Call) for part in self._parts)
        if begun > over and is_cut:
            return ended_within(begun, n, self._at)
        return ended_launching(over, begun, n)

    def _replay(self, replay: int, n: int) -> None:
        device = self._device
        for place, part in enumerate(self._parts):
            if place or isinstance(part, Call):
                device.wait()
            if isinstance(part, Call):
                self._eager(part, replay, n)
            else:
                part.rounds.launch(replay, n)
                device.launch(part.ready, self._used)

    def _eager(self, item: Call, replay: int, n: int) -> None:
        """Call an eager function, on the thread that launches."""
        if self._kept.failure is not None:
            return
        self._at = item.name
        try:
            item.function()
        except KeyboardInterrupt:
            raise  # it is meant for who waits here, not for the function
        except BaseException as error:  # noqa: BLE001 - raised by the launch
            self._kept.keep(error, item.name, replay, n)
        self._device.driver.settle()  # it may have used streams of its own

    def synchronize(self) -> None:
        device = self._device
        device.guard.check(f"waiting for the graph {self._plan.name}")
        with device.current():
            try:
                device.wait()
            except DeviceError:
                raise
            except BaseException as error:
                error.add_note(self._where())
                raise

    def take_failure(self) -> Failure | None:
        failure, self._kept.failure = self._kept.failure, None
        return failure

    # -- exchanging --------------------------------------------------------------------------------

    def moved(self) -> None:
        built, self._built = self._built, False  # until its nodes are as they should be
        with self._device.current():
            self._look()
        if built:
            self._update(lambda item: True)

    def renumbered(self, launch: Launch) -> None:
        if self._built:  # or it is made of the new numbers when it is launched
            self._update(lambda item: item is launch)

    def _update(self, changed: Callable[[Item], bool]) -> None:
        """Have nodes do what they say now.

        Those in branches and loops cannot be changed, nor all others; then the graph is made anew.
        """
        device = self._device
        with device.current():
            for part in self._parts:
                if isinstance(part, Part) and not self._changed(part, changed):
                    self._build()
                    return
        self._built = True

    def _changed(self, part: Part, changed: Callable[[Item], bool]) -> bool:
        if any(map(changed, part.captured)):
            return False
        for call in part.calls:
            if isinstance(call, NativeCall):
                call.look_again()
        for node in part.nodes:
            work = node.work() if changed(node.item) else node.now
            if work == node.now:
                continue
            if node.inside:
                return False
            try:
                self._device.driver.update(part.ready, node.handle, work)
            except DriverError:
                return False
            node.now = work
        return True

    # -- seeing it ---------------------------------------------------------------------------------

    def profile(self, n: int) -> list[Span]:
        device = self._device
        self.synchronize()
        with device.current():
            stamps, parts = Stamps.on(device), list[Part | Call]()
            try:
                parts = self._made(stamps)
                device.follow_others()
                spans, taken = list[Span](), list[Taken]()
                for replay in range(1, n + 1):
                    for part in parts:
                        begin = perf_counter()
                        if isinstance(part, Call):
                            self._eager(part, replay, n)
                            spans.append(Span(part, replay, begin, perf_counter()))
                            continue
                        part.rounds.launch(replay, n)
                        device.launch(part.ready, (parts, self._plan))
                        device.wait()
                        taken.append(stamps.take(replay, begin, perf_counter()))
                spans += stamps.spans(taken)
            except DriverError as error:
                raise device.error(f"the graph {self._plan.name}", error) from None
            finally:
                device.wait()
                self._give_back(parts)
                stamps.free()
        return sorted(spans, key=lambda span: span.begin)


def _reads_what_is_written(plan: Plan) -> bool:
    """Does a replay read a pageable array that the replay before writes?

    The driver may read it when a replay is launched, and not when it comes to that.
    """
    written = [region for item in walk(plan.body) for region in item.writes]
    return any(
        item.reads[0].root.device is HOST
        and item.writes[0].root.device is not HOST
        and not is_pinned(item.reads[0].memory)
        and any(overlap(each.view, item.reads[0].view) for each in written)
        for item in walk(plan.body)
        if isinstance(item, Copy)
    )
