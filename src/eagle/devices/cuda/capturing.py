"""Functions that launch work of their own on a GPU: what they launch is captured as nodes.

A function is called once, by the first launch, with a stream of ours for the one that CuPy or
PyTorch works on. What it asks of that stream does not run; the driver adds it to our graph instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from eagle.devices.cuda.driver import DriverError
from eagle.devices.plan import Call
from eagle.errors import DeviceError
from eagle.interop.streams import working_on

if TYPE_CHECKING:
    from eagle.devices.cuda.device import CudaDevice

_free: WeakKeyDictionary[CudaDevice, list[int]] = WeakKeyDictionary()
"""Streams for this alone: what other threads launch meanwhile must not be captured."""

_EAGER = "eager=True instead of capture=True: the graph is cut there, and it runs at each replay"


def captured(
    device: CudaDevice, graph: int, after: Sequence[int], item: Call, name: str
) -> tuple[list[int], list[Any]]:
    """Call a function, and add what it launches to a graph, after these nodes.

    Gives the nodes that none of them comes after, and what has to be kept as long as the graph.
    Raises DeviceError for what cannot be captured, and what the function raises, with a note.
    """
    free = _free.setdefault(device, [])
    try:
        stream = free.pop()
    except IndexError:
        stream = device.driver.stream()
    try:
        ends, kept = _on(stream, device, graph, after, item, name)
    finally:
        free.append(stream)
    if set(ends) == set(after):
        raise DeviceError(
            f"{device.name}: {item.name}, in the graph {name}, launched nothing while it was "
            "captured, at least not on the stream that CuPy and PyTorch had for the current one\n"
            f"  write: work on their current stream; or {_EAGER}"
        )
    return ends, kept


def _on(
    stream: int, device: CudaDevice, graph: int, after: Sequence[int], item: Call, name: str
) -> tuple[list[int], list[Any]]:
    """The same on a stream, but for functions that launch nothing."""
    driver = device.driver
    try:
        driver.begin_capture(stream, graph, after)
        with working_on(stream, device.number) as kept, device.guard.capturing(item.name):
            item.function()
        return driver.end_capture(stream), kept
    except DriverError as error:
        said = f"{device.name}: {item.name}, in the graph {name}, cannot be captured"
        why = _WHY.get(error.name, str(error))
        raise DeviceError(f"{said}: {why}\n  write: {_fix(error)}") from None
    except BaseException as error:
        error.add_note(_after(device, stream, item, name))
        raise


def _after(device: CudaDevice, stream: int, item: Call, name: str) -> str:
    """End the capture of a function that raised; what is said of it."""
    note = f"in the node {item.name} of the graph {name}, while it was captured"
    try:
        device.driver.end_capture(stream)
    except DriverError as error:
        if error.name in _WHY:
            return f"{note}: {_WHY[error.name]}\nwrite: {_fix(error)}"
    return note


_WHY = {
    "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED": "it did what no CUDA graph can hold, such as waiting "
    "for the GPU, reading a number of it, or working on the default stream",
    "CUDA_ERROR_STREAM_CAPTURE_UNJOINED": "it left work on another stream, for which the current "
    "one does not wait",
}


def _fix(error: DriverError) -> str:
    if error.name == "CUDA_ERROR_STREAM_CAPTURE_UNJOINED":
        return "<current stream>.wait_event(<an event recorded on the other>) at its end"
    return _EAGER
