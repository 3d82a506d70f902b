"""A driver made for tests: it writes down what it is asked for, refuses what CUDA does, and runs.

Its GPU is host memory and a thread. Of the nodes that may run next one is drawn, a pageable array
is read when a graph is launched, and nobody may use what is not there any more. Kernels are native
code of this machine, see `native`; those whose threads work together, or take samples in turns, are
run from their text, see `blocks`.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import random
import threading
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter_ns
from typing import Any

from eagle.devices.cuda import code
from eagle.devices.cuda.driver import (
    Copy,
    Driver,
    DriverError,
    Empty,
    Gpu,
    Host,
    Kernel,
    Kind,
    Side,
    Where,
    Work,
)
from eagle.devices.simulated.stream import Stream
from hawk.targets.ptx.collective import Collective, Part
from hawk.targets.ptx.routines import routines_text
from hawk.targets.ways import Way
from tests.unit.cuda import blocks, native
from tests.unit.cuda.captures import Captures

_TEXTS: dict[str, Any] = {}
"""The traced program that each PTX text was made of, and the way to launch it."""
_PARTS: dict[str, dict[str, Part]] = {}
"""The parts of kernels that reduce or scatter, by the PTX text and by their names."""
_BODIES: dict[tuple[str, str], tuple[int, tuple[int, ...]]] = {}
_ptx_of, _collective_of = code.ptx_of, code.collective_of


def ptx_of(fn: Any, arch: str, way: Way = Way.PLAIN) -> str:
    """What `code.ptx_of` gives, written down."""
    text = _ptx_of(fn, arch, way)
    _TEXTS[text] = fn, way
    return text


def parts_of(made: Collective) -> list[Part]:
    """The kernels of a kernel that reduces or scatters."""
    return [each for each in (*made.given, made.step) if isinstance(each, Part)]


def collective_of(fn: Any, arch: str, way: Way = Way.PLAIN) -> Collective:
    """What `code.collective_of` gives, written down."""
    made = _collective_of(fn, arch, way)
    _PARTS[made.ptx] = {each.entry: each for each in parts_of(made)}
    return made


def is_routine(text: str, name: str) -> bool:
    """Is it hawk's own, which the threads of a block do together, or a kernel in turns?"""
    if text in _TEXTS and _TEXTS[text][1] is Way.TURNS:
        return True
    return f"void @{name}(" in _routines() and text not in _TEXTS and text not in _PARTS


_routines = functools.cache(routines_text)


def native_code(text: str, name: str, setter: int, clock: int) -> tuple[int, tuple[int, ...]]:
    """Where the native code of a kernel is, and the sizes of its parameters; see `native`."""
    if text not in _TEXTS and text not in _PARTS:
        return native.of_small(text, setter, clock)
    if (text, name) not in _BODIES:
        part = _PARTS.get(text, {}).get(name)
        made = (
            native.of_kernel(part.fn, part.held, part.way)
            if part
            else native.of_program(*_TEXTS[text])
        )
        _BODIES[text, name] = made
    return _BODIES[text, name]


@dataclass(eq=False)
class Node:
    """A node of a graph."""

    number: int
    after: tuple[int, ...]
    work: Work | None
    handle: int = 0
    kind: Kind | None = None
    body: int = 0


@dataclass(eq=False)
class Graph:
    """A graph; bodies of conditional nodes are graphs with a node above them."""

    nodes: dict[int, Node] = field(default_factory=dict)
    inside: bool = False
    handles: dict[int, int] = field(default_factory=dict)
    """Handles made for it, and their defaults."""


@dataclass(eq=False)
class Function:
    """A kernel that was loaded."""

    text: str
    name: str
    address: int
    """Of native code; 0 for what is run from its text."""
    sizes: tuple[int, ...]


def refuse(call: str, name: str = "CUDA_ERROR_INVALID_VALUE", text: str = "", at: int = 0) -> None:
    raise DriverError(call, name, text, at)


class Recorder(Driver):
    """The driver."""

    def __init__(self, gpus: int = 1, version: int = 13000, capability: int = 90) -> None:
        self._gpus, self._version, self._capability = gpus, version, capability
        self._numbers = itertools.count(0x1000)
        self._thread = threading.local()
        self.memory: dict[int, tuple[int, Any, int]] = {}
        """Address: size, what holds it, GPU."""
        self.locked: dict[int, int] = {}
        self.modules: dict[int, str] = {}
        self.functions: dict[int, Function] = {}
        self.graphs: dict[int, Graph] = {}
        self.ready: dict[int, dict[int, dict[int, Node]]] = {}
        """What can be launched: the graph itself, then its bodies, as they were."""
        self.values: dict[int, int] = {}
        self.calls: list[str] = []
        self.wrong: list[str] = []
        """What happened on the thread of the GPU and must not."""
        self.followed: list[tuple[int, int]] = []
        self.work = Stream()
        self.captures = Captures(self.add, self._run_now)
        """What other libraries ask of streams goes through it: `captures.ask(stream, work)`."""
        self.chance = random.Random(0)
        self.launches = 0
        self._tops: dict[int, int] = {}
        self._setter_type = ctypes.CFUNCTYPE(None, ctypes.c_uint64, ctypes.c_uint32)
        self._setter = self._setter_type(self._set)
        self._clock = ctypes.CFUNCTYPE(ctypes.c_uint64)(perf_counter_ns)

    def _enter(self, call: str, *, context: bool = True) -> None:
        self.calls.append(call)
        if getattr(self._thread, "called", False):
            self.wrong.append(f"{call} in a host function")
            refuse(call, "CUDA_ERROR_NOT_PERMITTED")
        if context and not getattr(self._thread, "contexts", None):
            refuse(call, "CUDA_ERROR_INVALID_CONTEXT")

    # -- GPUs --------------------------------------------------------------------------------------

    def version(self) -> int:
        return self._version

    def count(self) -> int:
        return self._gpus

    def gpu(self, number: int) -> Gpu:
        return Gpu("Recorder", self._capability, 4)

    def context(self, number: int) -> int:
        return 100 + number

    def push(self, context: int) -> None:
        self._enter("push", context=False)
        if not hasattr(self._thread, "contexts"):
            self._thread.contexts = []
        self._thread.contexts.append(context)

    def pop(self) -> None:
        self._enter("pop")
        self._thread.contexts.pop()

    # -- memory ------------------------------------------------------------------------------------

    def allocate(self, size: int) -> int:
        self._enter("allocate")
        assert size > 0
        memory = (ctypes.c_uint8 * (size + 256))()
        ctypes.memset(memory, 0xFF, size + 256)  # which is NaN, where there is one
        address = -(-ctypes.addressof(memory) // 256) * 256
        self.memory[address] = size, memory, self._thread.contexts[-1] - 100
        return address

    def adopt(self, memory: Any) -> None:
        """Take the memory of a test's array for the GPU's, for as long as the array is there."""
        address = memory.__array_interface__["data"][0]
        self.memory[address] = memory.nbytes, None, 0
        weakref.finalize(memory, self.memory.pop, address, None)

    def free(self, address: int) -> None:
        self._enter("free")
        if address not in self.memory:
            refuse("free")
        self._idle_only("free")
        del self.memory[address]

    def lock(self, address: int, size: int) -> None:
        self._enter("lock")
        if any(a < address + size and address < a + n for a, n in self.locked.copy().items()):
            refuse("lock", "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED")
        self.locked[address] = size

    def unlock(self, address: int) -> None:
        self._enter("unlock")
        if address not in self.locked:
            refuse("unlock", "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED")
        self._idle_only("unlock")
        del self.locked[address]

    def where(self, address: int) -> Where | None:
        self._enter("where")
        for start, (size, _, gpu) in self.memory.copy().items():
            if start <= address < start + max(size, 1):
                return Where(gpu, managed=False, pinned=False)
        if self._is_locked(address, 1):
            return Where(0, managed=False, pinned=True)
        return None

    def _is_device(self, address: int, size: int) -> bool:
        return any(
            a <= address and address + size <= a + n for a, (n, _, _) in self.memory.copy().items()
        )

    def _is_locked(self, address: int, size: int) -> bool:
        return any(a <= address and address + size <= a + n for a, n in self.locked.copy().items())

    def copy(self, work: Copy) -> None:
        self._enter("copy")
        self._check_copy("copy", work, inside=False)
        self.captures.synchronous("copy", 0)
        self.work.wait()
        self._move(work)

    def _idle_only(self, call: str) -> None:
        with self.work._lock:
            if self.work._due:
                self.wrong.append(f"{call} while something is on its way")

    # -- code --------------------------------------------------------------------------------------

    def load(self, ptx: str) -> int:
        self._enter("load")
        number = next(self._numbers)
        self.modules[number] = ptx
        return number

    def function(self, module: int, name: str) -> int:
        self._enter("function")
        text = self.modules[module]
        if f".entry {name}(" not in text:
            refuse("function", "CUDA_ERROR_NOT_FOUND")
        address, sizes = self._body_of(text, name)
        number = next(self._numbers)
        self.functions[number] = Function(text, name, address, sizes)
        return number

    def _body_of(self, text: str, name: str) -> tuple[int, tuple[int, ...]]:
        if is_routine(text, name):
            return 0, blocks.sizes_of(blocks.module(text).kernels[name])
        pointers = (self._setter, self._clock)
        setter, clock = (ctypes.cast(p, ctypes.c_void_p).value or 0 for p in pointers)
        return native_code(text, name, setter, clock)

    def _set(self, handle: int, value: int) -> None:
        if handle not in self.values:
            self.wrong.append(f"handle {handle} is set, and is none of the graph")
        self.values[handle] = value

    # -- streams -----------------------------------------------------------------------------------

    def stream(self) -> int:
        self._enter("stream")
        return next(self._numbers)

    def idle(self, stream: int) -> bool:
        self._enter("idle")
        with self.work._lock:
            return not self.work._due

    def synchronize(self, stream: int) -> None:
        self._enter("synchronize")
        self.captures.waited("synchronize", stream)
        self.work.wait()

    def settle(self) -> None:
        self._enter("settle")
        self.captures.waited("settle")
        self.work.wait()

    def run(self, work: Kernel, stream: int) -> None:
        self._enter("run")
        self._check_kernel("run", work)
        self.launches += 1
        self.work.submit(lambda: self._guarded(lambda: self._call(work)))

    def clear(self, address: int, size: int, stream: int) -> None:
        self._enter("clear")
        if not self._is_device(address, size) or size < 1:
            refuse("clear", text=f"device memory at {address:#x}")
        self.work.submit(lambda: ctypes.memset(address, 0, size))

    def follow(self, stream: int, other: int) -> None:
        self._enter("follow")
        if not self.captures.follow(stream, other):
            self.followed.append((stream, other))

    def begin_capture(self, stream: int, graph: int, after: Sequence[int]) -> None:
        self._enter("begin_capture")
        self._check(graph, after, None)
        self.captures.begin(stream, graph, after)

    def end_capture(self, stream: int) -> list[int]:
        self._enter("end_capture")
        return self.captures.end(stream, lambda graph: self.graphs[graph].nodes)

    def _run_now(self, work: Work) -> None:
        self.work.wait()
        self._do({}, Node(0, (), work), {})

    # -- graphs ------------------------------------------------------------------------------------

    def graph(self) -> int:
        self._enter("graph")
        number = next(self._numbers)
        self.graphs[number] = Graph()
        return number

    def add(self, graph: int, after: Sequence[int], work: Work) -> int:
        self._enter("add")
        self._check(graph, after, work)
        number = next(self._numbers)
        self.graphs[graph].nodes[number] = Node(number, tuple(after), work)
        return number

    def _check(self, graph: int, after: Sequence[int], work: Work | None) -> None:
        found = self.graphs[graph]
        if len(set(after)) != len(after) or not set(after) <= found.nodes.keys():
            refuse("add", text="dependencies")
        match work:
            case Kernel():
                self._check_kernel("add", work)
            case Copy():
                self._check_copy("add", work, inside=found.inside)
            case Host() if found.inside:
                refuse("add", "CUDA_ERROR_NOT_SUPPORTED", "a host node in a conditional body")
            case _:
                pass

    def _check_kernel(self, call: str, work: Kernel) -> None:
        function = self.functions[work.function]
        sizes = tuple(each.size for each in work.arguments)
        if sizes != function.sizes or not 0 < work.threads <= 1024 or work.blocks < 1:
            refuse(call, text=f"parameters of {function.name}")

    def _check_copy(self, call: str, work: Copy, *, inside: bool) -> None:
        ends = (
            (work.source, work.source_side, work.source_step),
            (work.into, work.into_side, work.into_step),
        )
        for address, side, step in ends:
            size = work.size + (work.rows - 1) * (step or work.size)
            if work.rows > 1 and step and step < work.size:
                refuse(call, text="pitch")
            if self._is_device(address, size) is not (side is Side.DEVICE):
                refuse(call, text=f"{side.value} memory at {address:#x}")
            if side is Side.HOST and inside and not self._is_locked(address, size):
                refuse(call, "CUDA_ERROR_NOT_SUPPORTED", "pageable memory in a conditional body")

    def handle(self, graph: int, default: int) -> int:
        self._enter("handle")
        number = next(self._numbers)
        self.graphs[graph].handles[number] = default
        return number

    def condition(
        self, graph: int, after: Sequence[int], handle: int, kind: Kind
    ) -> tuple[int, int]:
        self._enter("condition")
        self._check(graph, after, None)
        found = self.graphs[graph]
        if handle not in found.handles or any(n.handle == handle for n in found.nodes.values()):
            refuse("condition", text="handle")
        number, body = next(self._numbers), next(self._numbers)
        self.graphs[body] = Graph(inside=True)
        found.nodes[number] = Node(number, tuple(after), None, handle, kind, body)
        return number, body

    def instantiate(self, graph: int) -> int:
        self._enter("instantiate")
        number = next(self._numbers)
        parts: dict[int, dict[int, Node]] = {}
        self._snapshot(graph, parts)
        self.ready[number] = parts
        self._tops[number] = graph
        return number

    def _snapshot(self, graph: int, parts: dict[int, dict[int, Node]]) -> None:
        found = self.graphs[graph]
        used = {node.handle for node in found.nodes.values() if node.handle}
        if set(found.handles) != used:
            refuse("instantiate", text="a handle without a node")
        parts[graph] = {
            n: Node(n, node.after, node.work, node.handle, node.kind, node.body)
            for n, node in found.nodes.items()
        }
        for node in found.nodes.values():
            if node.body:
                if not self.graphs[node.body].nodes:
                    refuse("instantiate", text="an empty body", at=node.number)
                self._snapshot(node.body, parts)

    def update(self, ready: int, node: int, work: Work) -> None:
        self._enter("update")
        top = self._tops[ready]
        if top not in self.graphs or node not in self.graphs[top].nodes:
            refuse("update", "CUDA_ERROR_NOT_SUPPORTED")
        before = self.ready[ready][top][node].work
        if type(before) is not type(work):
            refuse("update")
        if isinstance(work, Copy) and work.rows > 1:
            refuse("update", text="a copy of more than one row")
        self._check(top, self.graphs[top].nodes[node].after, work)
        self._idle_only("update")
        self.ready[ready][top][node].work = work

    def launch(self, ready: int, stream: int) -> None:
        self._enter("launch")
        if ready not in self.ready:
            refuse("launch")
        self.launches += 1
        parts, top = self.ready[ready], self._tops[ready]
        staged = {
            node.number: ctypes.string_at(node.work.source, node.work.size)
            for node in parts[top].values()
            if isinstance(node.work, Copy)
            and node.work.rows == 1
            and node.work.source_side is Side.HOST
            and node.work.into_side is Side.DEVICE
            and not self._is_locked(node.work.source, node.work.size)
        }
        self.work.submit(lambda: self._replay(parts, top, staged))

    def destroy(self, graph: int, ready: int) -> None:
        self._enter("destroy")
        self._idle_only("destroy")
        if ready:
            del self.ready[ready], self._tops[ready]
        if graph:
            for node in self.graphs.pop(graph).nodes.values():
                if node.body:
                    self.destroy(node.body, 0)

    # -- running -----------------------------------------------------------------------------------

    def _replay(self, parts: dict[int, dict[int, Node]], top: int, staged: Any) -> None:
        self.values = {
            handle: default
            for graph in parts
            for handle, default in (
                self.graphs[graph].handles.items() if graph in self.graphs else ()
            )
        }
        self._guarded(lambda: self._run(parts, parts[top], staged))

    def _guarded(self, run: Callable[[], object]) -> None:
        try:
            run()
        except BaseException as error:  # noqa: BLE001 - nobody hears of it on this thread
            self.wrong.append(repr(error))

    def _run(self, parts: Any, nodes: dict[int, Node], staged: Any) -> None:
        left = dict(nodes)
        while left:
            ready = [node for node in left.values() if not any(each in left for each in node.after)]
            node = self.chance.choice(ready)
            self._do(parts, node, staged)
            del left[node.number]

    def _do(self, parts: Any, node: Node, staged: Any) -> None:
        match node.work:
            case Kernel():
                self._call(node.work)
            case Copy() if node.number in staged:
                ctypes.memmove(node.work.into, staged[node.number], node.work.size)
            case Copy():
                self._move(node.work)
            case Host():
                self._thread.called = True
                try:
                    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
                    kind(node.work.function)(node.work.data)
                finally:
                    self._thread.called = False
            case Empty():
                pass
            case _:
                while self.values[node.handle]:
                    self._run(parts, parts[node.body], staged)
                    if node.kind is Kind.IF:
                        break

    def _call(self, work: Kernel) -> None:
        function = self.functions[work.function]
        words = [each.word for each in work.arguments]
        if function.address:
            native.call(function.address, words)
            return
        module = blocks.module(function.text)
        kernel, count = module.kernels[function.name], min(3, work.blocks)  # they share the work
        known = self.memory.copy().items()  # at once: another thread may add to it
        spans = [(at, size) for at, (size, _, _) in known]
        blocks.run(module, kernel, words, count, work.threads, spans)

    def _move(self, work: Copy) -> None:
        for row in range(work.rows):
            into = work.into + row * work.into_step
            ctypes.memmove(into, work.source + row * work.source_step, work.size)

    # -- what was asked ----------------------------------------------------------------------------

    def text(self, graph: int, name: Callable[[int], str], indent: str = "") -> list[str]:
        """The nodes of a graph as lines, addresses by their names."""
        found, lines = self.graphs[graph], list[str]()
        places = {number: place for place, number in enumerate(found.nodes, 1)}
        for number, node in found.nodes.items():
            after = ", ".join(str(places[each]) for each in node.after)
            what = self._described(node, name)
            lines.append(
                f"{indent}{places[number]}. {what}" + (f"  (after {after})" if after else "")
            )
            if node.body:
                lines += self.text(node.body, name, indent + "   ")
        return lines

    def _described(self, node: Node, name: Callable[[int], str]) -> str:
        match node.work:
            case Kernel() as work:
                function = self.functions[work.function]
                given = [
                    name(each.word) if each.size == 8 else f"{each.size} bytes"
                    for each in work.arguments
                ]
                size = f"{work.blocks} x {work.threads}"
                return f"kernel {function.name}<{size}>({', '.join(given)})"
            case Copy() as work:
                ends = [
                    f"{side.value} {name(address)}" + (f" step {step}" if work.rows > 1 else "")
                    for address, side, step in (
                        (work.source, work.source_side, work.source_step),
                        (work.into, work.into_side, work.into_step),
                    )
                ]
                rows = f" x {work.rows}" if work.rows > 1 else ""
                return f"copy {ends[0]} -> {ends[1]}, {work.size} bytes{rows}"
            case Host():
                return "host function"
            case Empty():
                return "empty"
            case _:
                assert node.kind is not None
                return f"{node.kind.value}"
