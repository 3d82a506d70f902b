"""From the nodes of a plan to the nodes of a CUDA graph, one by one, in the order of the program.

A branch is a small kernel that looks at its cells and a conditional node for each of its arms. A
loop is a node whose body ends with such a kernel:

    [look]  ->  WHILE { body; [look] }

Where something has to run before the test of each pass, the body has three parts:

    [yes]  ->  WHILE { [look at exits]  ->  IF { before; [look]  ->  IF { body } }  ->  [goes on?] }
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from eagle.devices.cuda import driver as asked
from eagle.devices.cuda import ptx
from eagle.devices.cuda.arguments import of_planes, spread
from eagle.devices.cuda.capturing import captured
from eagle.devices.cuda.driver import Argument, DriverError, Empty, Kind, Side, Work
from eagle.devices.cuda.hosts import Kept, NativeCall, PythonCall, Rounds, native_call
from eagle.devices.cuda.refusals import MOST_STRETCHES, on_host, stretches
from eagle.devices.cuda.remains import Handles
from eagle.devices.cuda.together import Together, fresh_of
from eagle.devices.host.device import HOST
from eagle.devices.host.launched import CopyByNumpy, Launched, Reduction
from eagle.devices.host.stretches import Stretches, same_memory
from eagle.devices.plan import Call, Copy, If, Item, Launch, Loop, Plan, Put, Reduce, Region

if TYPE_CHECKING:
    from eagle.devices.cuda.device import CudaDevice
    from eagle.devices.cuda.stamps import Stamps

MOST_IN_A_ROW = 256
"""Nodes of steps that samples take together: of more than these one is written, in a loop."""


@dataclass(slots=True)
class Node:
    """A node of the driver's that may change."""

    handle: int
    work: Callable[[], Work]
    now: Work
    inside: bool
    """Is it in a branch or loop?"""
    item: Item


@dataclass(slots=True)
class Part:
    """A part of a graph between two cuts, ready to be launched."""

    rounds: Rounds
    ready: int = 0
    nodes: list[Node] = field(default_factory=list)
    calls: list[PythonCall | NativeCall] = field(default_factory=list)
    captured: list[Call] = field(default_factory=list)
    """Functions whose work is part of it, on the arrays that they were called with."""
    handles: Handles = field(default_factory=Handles)


class Body:
    """A graph of the driver's that nodes are added to; nodes of branches and loops have others."""

    def __init__(self, builder: Builder, graph: int, *, inside: bool) -> None:
        self.builder, self.graph, self.inside = builder, graph, inside
        self.last: dict[int, None] = {}
        """Nodes that none comes after."""
        self.after: list[int] = []
        """What the next node comes after."""

    def add(self, work: Callable[[], Work], item: Item) -> None:
        """Add a node after `after`; what comes next comes after it."""
        now = work()
        handle = self.builder.driver.add(self.graph, self.after, now)
        self.builder.part.nodes.append(Node(handle, work, now, self.inside, item))
        self._added(handle, item)

    def condition(self, handle: int, kind: Kind, item: Item) -> Body:
        """Add a conditional node; its body."""
        node, graph = self.builder.driver.condition(self.graph, self.after, handle, kind)
        self._added(node, item)
        return Body(self.builder, graph, inside=True)

    def small(self, write: Callable[[ptx.Small], None], item: Item) -> None:
        """Add a kernel of one thread."""
        small = ptx.Small()
        write(small)
        try:
            function = self.builder.device.function(small.text, ptx.NAME)
        except DriverError as error:
            if small.sets:
                error.text = "it sets a condition, by the driver's cudaGraphSetConditional"
            raise
        self.add(lambda: asked.Kernel(function, 1, 1, small.arguments), item)

    def handle(self) -> int:
        """What a conditional node of this graph looks at."""
        return self.builder.driver.handle(self.graph, 0)

    def close(self, item: Item) -> None:
        """No node is added any more. There is one at least: drivers hang where there is none."""
        if not self.last:
            self.add(Empty, item)

    def all_before(self) -> None:
        """What comes next comes after all that there is."""
        self.after = list(self.last)

    def _added(self, handle: int, item: Item) -> None:
        self.follow([handle], item)

    def follow(self, ends: list[int], item: Item) -> None:
        """What comes next comes after these, which were added after `after`."""
        for each in self.after:
            self.last.pop(each, None)
        self.last |= dict.fromkeys(ends)
        self.after = ends
        self.builder.items |= dict.fromkeys(ends, item)


class Builder:
    """Makes a part of a graph of nodes of a plan."""

    def __init__(
        self, device: CudaDevice, plan: Plan, kept: Kept, stamps: Stamps | None = None
    ) -> None:
        self.device, self.driver = device, device.driver
        self.plan, self._kept, self._stamps = plan, kept, stamps
        self.items: dict[int, Item] = {}
        """The node of the plan that each of the driver's is part of."""
        self.part = Part(Rounds())

    def make(self, items: Sequence[Item]) -> Part:
        """The part of a graph that `items` are. The context is current.

        Raises DeviceError, with the name of the node, where the driver refuses something.
        """
        return self.written(lambda body: self._body(body, list(items)))

    def written(self, write: Callable[[Body], object]) -> Part:
        """The part of a graph whose nodes `write` adds. The context is current."""
        self.part = Part(Rounds())
        try:
            graph = self.driver.graph()
        except DriverError as error:
            raise self.device.error("a graph", error) from None
        self.part.handles.graphs.append(graph)
        try:
            write(Body(self, graph, inside=False))
            self.part.ready = self._ready(graph)
        except BaseException:
            self.device.remains.add(self.part.handles)
            raise
        self.part.handles.ready.append(self.part.ready)
        return self.part

    def _ready(self, graph: int) -> int:
        try:
            return self.driver.instantiate(graph)
        except DriverError as error:
            item = self.items.get(error.at)
            node = "" if item is None else f"the node `{item.name}` of "
            raise self.device.error(f"{node}the graph {self.plan.name}", error) from None

    def _body(self, body: Body, items: list[Item]) -> None:
        before: dict[int, list[int]] = {}
        for first, second in self.plan.waits(items):
            before.setdefault(second, []).append(first)
        start, ends = body.after, list[list[int]]()
        for place, item in enumerate(items):
            earlier = before.get(place, ())
            after = dict.fromkeys(node for each in earlier for node in ends[each])
            body.after = list(after) if earlier else list(start)
            with self._naming(item):
                self._stamped(body, item)
            ends.append(body.after)
        if items:
            body.close(items[0])

    @contextmanager
    def _naming(self, item: Item) -> Iterator[None]:
        try:
            yield
        except DriverError as error:
            what = f"the node `{item.name}` of the graph {self.plan.name}"
            raise self.device.error(what, error) from None

    # -- nodes -------------------------------------------------------------------------------------

    def _stamped(self, body: Body, item: Item) -> None:
        stamps = self._stamps
        if stamps is None or isinstance(item, (If, Loop)):
            self._node(body, item)
            return
        begin, end = stamps.of(item)
        body.small(stamps.write(begin), item)
        self._node(body, item)
        body.small(stamps.write(end), item)

    def _node(self, body: Body, item: Item) -> None:
        match item:
            case Launch():
                self._launch(body, item)
            case Copy():
                self._copy(body, item)
            case Call() if item.captured:
                self._captured(body, item)
            case Call():
                self._python(body, item, item.function, users=True)
            case Reduce() if on_host(item):
                self._python(body, item, Reduction(item))
            case Reduce():
                for node in Together(self.device, self.part.handles.memory).reduce(item):
                    body.add(node, item)
            case Put():
                body.small(lambda small: small.put(item.cell, item.value), item)
            case If():
                self._if(body, item)
            case Loop():
                self._loop(body, item)
            case _:
                raise AssertionError(item)

    def _captured(self, body: Body, item: Call) -> None:
        ends, kept = captured(self.device, body.graph, body.after, item, self.plan.name)
        self.part.handles.kept += kept
        self.part.captured.append(item)
        body.follow(ends, item)

    def _python(
        self, body: Body, item: Item, function: Callable[[], object], *, users: bool = False
    ) -> None:
        part = self.part
        call = PythonCall(
            function,
            item.name,
            users=users,
            kept=self._kept,
            rounds=part.rounds,
            guard=self.device.guard,
        )
        part.calls.append(call)
        body.add(lambda: call.node, item)

    def _launch(self, body: Body, item: Launch) -> None:
        if on_host(item):
            self._launch_on_host(body, item)
            return
        for region, numbers in fresh_of(item):
            self._refresh(body, item, region, numbers)
        if not item.n:
            return
        if item.compiled.is_collective:
            self._together(body, item)
            return
        blocks, threads = spread(item.n, self.device.gpu.multiprocessors)
        function = self.device.code.of(item)
        body.add(lambda: asked.Kernel(function, blocks, threads, arguments(item)), item)

    def _together(self, body: Body, item: Launch) -> None:
        """A kernel that reduces or scatters: each step is several nodes."""
        memory = self.part.handles.memory
        nodes = Together(self.device, memory).step(item)
        if item.steps * len(nodes) <= MOST_IN_A_ROW:
            for node in nodes * item.steps:
                body.add(node, item)
            return
        left, handle = self.device.allocate(8), body.handle()
        memory.append(left)

        def begin(small: ptx.Small) -> None:
            small.begin(left, item.steps)
            small.set(handle, small.all())

        body.small(begin, item)
        inner = body.condition(handle, Kind.WHILE, item)
        for node in nodes:
            inner.add(node, item)
        inner.small(lambda small: small.set(handle, small.count_down(left)), item)

    def _refresh(
        self, body: Body, item: Launch, region: Region, numbers: NDArray[np.generic]
    ) -> None:
        """Give an array that was made for a launch the numbers that it has before each."""
        if not numbers.nbytes:
            return
        kept = self.device.upload(np.ascontiguousarray(numbers))
        self.part.handles.memory.append(kept)
        device, size = Side.DEVICE, numbers.nbytes
        body.add(lambda: asked.Copy(kept, device, region.spot.address, device, size), item)

    def _launch_on_host(self, body: Body, item: Launch) -> None:
        for region, numbers in item.fresh:
            self._python(body, item, _Refresh(region, numbers))
        if not item.n:
            return
        native = native_call(item)
        if native is None:
            self._python(body, item, Launched(item))
            return
        self.part.calls.append(native)
        body.add(lambda: native.node, item)

    def _copy(self, body: Body, item: Copy) -> None:
        (source,), (into,) = item.reads, item.writes
        if not source.view.nbytes or same_memory(source.view, into.view):
            return
        parts = stretches(source.view, into.view)
        if len(parts) > MOST_STRETCHES:
            self._python(body, item, CopyByNumpy(item))
            return
        after, ends = body.after, list[int]()
        for part in parts:
            body.after = list(after)
            body.add(functools.partial(_copied, source, into, part), item)
            ends += body.after
        body.after = ends

    # -- branches and loops ------------------------------------------------------------------------

    def _if(self, body: Body, item: If) -> None:
        arms = [(arm, yes) for arm, yes in ((item.then, True), (item.orelse, False)) if arm]
        if not arms:
            return
        handles = [body.handle() for _ in arms]

        def look(small: ptx.Small) -> None:
            test = small.holds(item.test)
            for handle, (_, yes) in zip(handles, arms, strict=True):
                small.set(handle, test if yes else small.opposite(test))

        body.small(look, item)
        after, ends = body.after, list[int]()
        for handle, (arm, _) in zip(handles, arms, strict=True):
            body.after = list(after)
            self._body(body.condition(handle, Kind.IF, item), arm)
            ends += body.after
        body.after = ends

    def _loop(self, body: Body, item: Loop) -> None:
        if item.before:
            self._loop_of_parts(body, item)
            return
        handle = body.handle()

        def look(small: ptx.Small) -> None:
            test = small.all(*(small.opposite(small.holds(each)) for each in item.exits))
            small.set(handle, _goes(small, item, test))

        body.small(look, item)
        inner = body.condition(handle, Kind.WHILE, item)
        self._body(inner, item.body)
        inner.all_before()
        inner.small(look, item)

    def _loop_of_parts(self, body: Body, item: Loop) -> None:
        goes = self.device.allocate(1)
        self.part.handles.memory.append(goes)
        whole = body.handle()
        # A loop in a loop is come by again in one launch, so no default will do.
        body.small(lambda small: small.set(whole, small.all()), item)
        inner = body.condition(whole, Kind.WHILE, item)
        first = inner.handle()

        def look_at_exits(small: ptx.Small) -> None:
            test = small.all(*(small.opposite(small.holds(each)) for each in item.exits))
            small.set(first, test)
            small.note(goes, small.opposite(small.all()))

        inner.small(look_at_exits, item)
        before = inner.condition(first, Kind.IF, item)
        self._body(before, item.before)
        before.all_before()
        second = before.handle()

        def look(small: ptx.Small) -> None:
            test = _goes(small, item, small.all())
            small.set(second, test)
            small.note(goes, test)

        before.small(look, item)
        pass_ = before.condition(second, Kind.IF, item)
        self._body(pass_, item.body)
        pass_.close(item)
        inner.small(lambda small: small.set(whole, small.noted(goes)), item)


def _goes(small: ptx.Small, item: Loop, test: str) -> str:
    """Does the next pass begin, if `test` holds? It is counted then."""
    if item.test is not None:
        test = small.all(test, small.holds(item.test))
    return test if item.counter is None else small.count(item.counter, test)


def arguments(item: Launch) -> tuple[Argument, ...]:
    """The parameters of a kernel: its planes, the number of samples, the most steps."""
    planes = of_planes(item.compiled.planes, item.words_now)
    return (*planes, Argument(item.n, 8), Argument(item.steps, 8))


def _copied(source: Region, into: Region, part: Stretches) -> asked.Copy:
    """A part of a copy, from where its source is now to where its target is."""
    one, two = (Side.HOST if each.root.device is HOST else Side.DEVICE for each in (source, into))
    begin, end = source.spot.address + part.source, into.spot.address + part.into
    steps = (part.source_step, part.into_step) if part.times > 1 else (0, 0)
    return asked.Copy(begin, one, end, two, part.size, part.times, *steps)


class _Refresh:
    """An array of the host that was made for a launch, as it is before each."""

    def __init__(self, region: Region, numbers: NDArray[np.generic]) -> None:
        self._region, self._numbers = region, numbers

    def __call__(self) -> None:
        self._region.memory[...] = self._numbers
