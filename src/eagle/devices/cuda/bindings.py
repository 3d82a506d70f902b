"""The driver's calls, made with the package `cuda-bindings`. No other file imports it."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from importlib import import_module
from typing import Any

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

_APPLIES_AT_EACH_LAUNCH = 1
_PORTABLE = 1
_LEGACY = 1
"""The default stream."""
_TYPES = {1: ctypes.c_uint8, 4: ctypes.c_uint32, 8: ctypes.c_uint64}


class Bindings(Driver):
    """The real one.

    Raises ImportError where the package is not there, DriverError where CUDA is not.
    """

    def __init__(self) -> None:
        self._cuda: Any = _package()
        self._ask("cuInit", 0)
        # In versions before 13 of the package the first of them has no data for edges.
        second = hasattr(self._cuda, "cuGraphAddNode_v2")
        self._adds = "cuGraphAddNode_v2" if second else "cuGraphAddNode"
        self._events: dict[int, Any] = {}

    def _ask(self, name: str, *given: Any) -> Any:
        """Make a call; what it gives besides its result."""
        try:
            result, *found = getattr(self._cuda, name)(*given)
        except RuntimeError as missing:  # the library, or one function of it, is not there
            raise DriverError(name, "cannot be called", str(missing).partition("\n")[0]) from None
        if result != self._cuda.CUresult.CUDA_SUCCESS:
            raise DriverError(name, result.name, self._text(result))
        return found[0] if len(found) == 1 else tuple(found)

    def _text(self, result: Any) -> str:
        known, text = self._cuda.cuGetErrorString(result)
        well = known == self._cuda.CUresult.CUDA_SUCCESS
        return text.decode() if well and text is not None else ""

    # -- GPUs --------------------------------------------------------------------------------------

    def version(self) -> int:
        return int(self._ask("cuDriverGetVersion"))

    def count(self) -> int:
        return int(self._ask("cuDeviceGetCount"))

    def gpu(self, number: int) -> Gpu:
        device, kinds = self._ask("cuDeviceGet", number), self._cuda.CUdevice_attribute
        name: bytes = self._ask("cuDeviceGetName", 256, device)
        major, minor, several = (
            int(
                self._ask(
                    "cuDeviceGetAttribute", getattr(kinds, f"CU_DEVICE_ATTRIBUTE_{each}"), device
                )
            )
            for each in (
                "COMPUTE_CAPABILITY_MAJOR",
                "COMPUTE_CAPABILITY_MINOR",
                "MULTIPROCESSOR_COUNT",
            )
        )
        return Gpu(name.split(b"\0")[0].decode(), 10 * major + minor, several)

    def context(self, number: int) -> int:
        return int(self._ask("cuDevicePrimaryCtxRetain", self._ask("cuDeviceGet", number)))

    def push(self, context: int) -> None:
        self._ask("cuCtxPushCurrent", context)

    def pop(self) -> None:
        self._ask("cuCtxPopCurrent")

    # -- memory ------------------------------------------------------------------------------------

    def allocate(self, size: int) -> int:
        return int(self._ask("cuMemAlloc", size))

    def free(self, address: int) -> None:
        self._ask("cuMemFree", address)

    def lock(self, address: int, size: int) -> None:
        self._ask("cuMemHostRegister", address, size, _PORTABLE)

    def unlock(self, address: int) -> None:
        self._ask("cuMemHostUnregister", address)

    def where(self, address: int) -> Where | None:
        kinds = self._cuda.CUpointer_attribute
        try:
            kind, gpu, managed = (
                int(
                    self._ask(
                        "cuPointerGetAttribute",
                        getattr(kinds, f"CU_POINTER_ATTRIBUTE_{each}"),
                        address,
                    )
                )
                for each in ("MEMORY_TYPE", "DEVICE_ORDINAL", "IS_MANAGED")
            )
        except DriverError as unknown:
            if unknown.name == "CUDA_ERROR_INVALID_VALUE":
                return None
            raise
        host = int(self._cuda.CUmemorytype.CU_MEMORYTYPE_HOST)
        return Where(gpu, bool(managed), kind == host and not managed)

    def copy(self, work: Copy) -> None:
        match work.source_side, work.into_side:
            case Side.HOST, Side.DEVICE:
                self._ask("cuMemcpyHtoD", work.into, work.source, work.size)
            case Side.DEVICE, Side.HOST:
                self._ask("cuMemcpyDtoH", work.into, work.source, work.size)
            case _:
                self._ask("cuMemcpyDtoD", work.into, work.source, work.size)

    # -- code --------------------------------------------------------------------------------------

    def load(self, ptx: str) -> int:
        return int(self._ask("cuModuleLoadData", ptx.encode() + b"\0"))

    def function(self, module: int, name: str) -> int:
        return int(self._ask("cuModuleGetFunction", module, name.encode()))

    # -- streams -----------------------------------------------------------------------------------

    def stream(self) -> int:
        return int(self._ask("cuStreamCreate", 0))

    def idle(self, stream: int) -> bool:
        result = self._cuda.cuStreamQuery(stream)[0]
        if result == self._cuda.CUresult.CUDA_ERROR_NOT_READY:
            return False
        if result != self._cuda.CUresult.CUDA_SUCCESS:
            raise DriverError("cuStreamQuery", result.name, self._text(result))
        return True

    def synchronize(self, stream: int) -> None:
        self._ask("cuStreamSynchronize", stream)

    def settle(self) -> None:
        self._ask("cuCtxSynchronize")

    def run(self, work: Kernel, stream: int) -> None:
        function, on = self._cuda.CUfunction(work.function), self._cuda.CUstream(stream)
        shared, given = 0, _passed(work)
        grid, block = (work.blocks, 1, 1), (work.threads, 1, 1)
        self._ask("cuLaunchKernel", function, *grid, *block, shared, on, given, 0)

    def clear(self, address: int, size: int, stream: int) -> None:
        self._ask("cuMemsetD8Async", address, 0, size, self._cuda.CUstream(stream))

    def follow(self, stream: int, other: int) -> None:
        event = self._events.get(stream)
        if event is None:
            untimed = int(self._cuda.CUevent_flags.CU_EVENT_DISABLE_TIMING)
            event = self._events[stream] = self._ask("cuEventCreate", untimed)
        self._ask("cuEventRecord", event, other)
        self._ask("cuStreamWaitEvent", stream, event, 0)

    def begin_capture(self, stream: int, graph: int, after: Sequence[int]) -> None:
        cuda = self._cuda
        nodes = [cuda.CUgraphNode(each) for each in after]
        edges = [cuda.CUgraphEdgeData() for _ in nodes]
        given = (nodes or None, edges or None, len(nodes))
        relaxed = cuda.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
        where = cuda.CUstream(stream), cuda.CUgraph(graph)
        self._ask("cuStreamBeginCaptureToGraph", *where, *given, relaxed)

    def end_capture(self, stream: int) -> list[int]:
        # Before version 13 of the package the first of them has no data for edges.
        third = hasattr(self._cuda, "cuStreamGetCaptureInfo_v3")
        asks = "cuStreamGetCaptureInfo_v3" if third else "cuStreamGetCaptureInfo"
        try:
            status, _, _, nodes, *_ = self._ask(asks, self._cuda.CUstream(stream))
            active = self._cuda.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_ACTIVE
            return [int(each) for each in nodes or ()] if status == active else []
        finally:
            self._ask("cuStreamEndCapture", self._cuda.CUstream(stream))

    # -- graphs ------------------------------------------------------------------------------------

    def graph(self) -> int:
        return int(self._ask("cuGraphCreate", 0))

    def add(self, graph: int, after: Sequence[int], work: Work) -> int:
        return int(self._add(graph, after, self._parameters(work)))

    def _add(self, graph: int, after: Sequence[int], parameters: Any) -> Any:
        nodes = [self._cuda.CUgraphNode(each) for each in after]
        edges = [self._cuda.CUgraphEdgeData() for _ in nodes]  # whole nodes wait for whole nodes
        given = (nodes or None, edges or None, len(nodes), parameters)
        return self._ask(self._adds, self._cuda.CUgraph(graph), *given)

    def _parameters(self, work: Work) -> Any:
        """What a node does, as the driver takes it."""
        cuda, kinds = self._cuda, self._cuda.CUgraphNodeType
        parameters = cuda.CUgraphNodeParams()
        match work:
            case Kernel():
                parameters.type = kinds.CU_GRAPH_NODE_TYPE_KERNEL
                kernel = parameters.kernel
                kernel.func = cuda.CUfunction(work.function)
                kernel.gridDimX, kernel.gridDimY, kernel.gridDimZ = work.blocks, 1, 1
                kernel.blockDimX, kernel.blockDimY, kernel.blockDimZ = work.threads, 1, 1
                kernel.kernelParams = _passed(work)
            case Copy():
                parameters.type = kinds.CU_GRAPH_NODE_TYPE_MEMCPY
                self._describe(parameters.memcpy, work)
            case Host():
                parameters.type = kinds.CU_GRAPH_NODE_TYPE_HOST
                parameters.host.fn = cuda.CUhostFn(work.function)
                parameters.host.userData = work.data
            case Empty():
                parameters.type = kinds.CU_GRAPH_NODE_TYPE_EMPTY
        return parameters

    def _describe(self, memcpy: Any, work: Copy) -> None:
        """A copy.

        Both types of memory are said: what the driver does not know it would take for its own.
        """
        kinds = self._cuda.CUmemorytype
        three = memcpy.copyParams
        three.WidthInBytes, three.Height, three.Depth = work.size, work.rows, 1
        three.srcPitch, three.srcHeight = work.source_step or work.size, work.rows
        three.dstPitch, three.dstHeight = work.into_step or work.size, work.rows
        if work.source_side is Side.HOST:
            three.srcMemoryType, three.srcHost = kinds.CU_MEMORYTYPE_HOST, work.source
        else:
            three.srcMemoryType, three.srcDevice = kinds.CU_MEMORYTYPE_DEVICE, work.source
        if work.into_side is Side.HOST:
            three.dstMemoryType, three.dstHost = kinds.CU_MEMORYTYPE_HOST, work.into
        else:
            three.dstMemoryType, three.dstDevice = kinds.CU_MEMORYTYPE_DEVICE, work.into
        memcpy.copyParams = three
        memcpy.copyCtx = self._ask("cuCtxGetCurrent")

    def handle(self, graph: int, default: int) -> int:
        context, flags = self._ask("cuCtxGetCurrent"), _APPLIES_AT_EACH_LAUNCH
        given = (self._cuda.CUgraph(graph), context, default, flags)
        return int(self._ask("cuGraphConditionalHandleCreate", *given))

    def condition(
        self, graph: int, after: Sequence[int], handle: int, kind: Kind
    ) -> tuple[int, int]:
        cuda = self._cuda
        parameters = cuda.CUgraphNodeParams()
        parameters.type = cuda.CUgraphNodeType.CU_GRAPH_NODE_TYPE_CONDITIONAL
        conditional, kinds = parameters.conditional, cuda.CUgraphConditionalNodeType
        conditional.handle = cuda.CUgraphConditionalHandle(handle)
        conditional.type = {
            Kind.IF: kinds.CU_GRAPH_COND_TYPE_IF,
            Kind.WHILE: kinds.CU_GRAPH_COND_TYPE_WHILE,
        }[kind]
        conditional.size = 1
        conditional.ctx = self._ask("cuCtxGetCurrent")
        node = self._add(graph, after, parameters)
        return int(node), int(parameters.conditional.phGraph_out[0])

    def instantiate(self, graph: int) -> int:
        parameters = self._cuda.CUDA_GRAPH_INSTANTIATE_PARAMS()
        try:
            given = (self._cuda.CUgraph(graph), parameters)
            return int(self._ask("cuGraphInstantiateWithParams", *given))
        except DriverError as refusal:
            refusal.at = int(parameters.hErrNode_out)
            why = str(parameters.result_out).rpartition(".")[2]
            refusal.text = f"{refusal.text}; {why}"
            raise

    def update(self, ready: int, node: int, work: Work) -> None:
        cuda = self._cuda
        given = (cuda.CUgraphExec(ready), cuda.CUgraphNode(node), self._parameters(work))
        self._ask("cuGraphExecNodeSetParams", *given)

    def launch(self, ready: int, stream: int) -> None:
        self._ask("cuGraphLaunch", self._cuda.CUgraphExec(ready), self._cuda.CUstream(stream))

    def destroy(self, graph: int, ready: int) -> None:
        if ready:
            self._ask("cuGraphExecDestroy", self._cuda.CUgraphExec(ready))
        if graph:
            self._ask("cuGraphDestroy", self._cuda.CUgraph(graph))


def _passed(work: Kernel) -> tuple[tuple[int, ...], tuple[Any, ...]]:
    """The parameters of a kernel as the package takes them: words, and their types."""
    sizes = tuple(_TYPES[each.size] for each in work.arguments)
    return tuple(each.word & ((1 << 8 * each.size) - 1) for each in work.arguments), sizes


@functools.cache
def _package() -> Any:
    return import_module("cuda.bindings.driver")  # which has no types
