"""Stream capture, as the driver made for tests has it: what other libraries ask of streams."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from eagle.devices.cuda.driver import DriverError, Work

_DEFAULT = (0, 1)
_STATE, _IMPLICIT = "CUDA_ERROR_ILLEGAL_STATE", "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT"
_UNSUPPORTED = "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"


@dataclass
class _Capture:
    graph: int
    origin: int
    ends: dict[int, list[int]] = field(default_factory=dict)
    """Of each stream that takes part, what its next node comes after."""
    invalid: bool = False


class Captures:
    """What is captured now. `add` adds a node to a graph; `run` runs what is not captured."""

    def __init__(
        self, add: Callable[[int, Sequence[int], Work], int], run: Callable[[Work], None]
    ) -> None:
        self._add, self._run = add, run
        self._now: list[_Capture] = []

    def of(self, stream: int) -> _Capture | None:
        return next((each for each in self._now if stream in each.ends), None)

    def begin(self, stream: int, graph: int, after: Sequence[int]) -> None:
        if stream in _DEFAULT or self.of(stream):
            raise DriverError("begin_capture", _STATE)
        self._now.append(_Capture(graph, stream, {stream: list(after)}))

    def end(self, stream: int, nodes: Callable[[int], dict[int, Any]]) -> list[int]:
        found = self.of(stream)
        if found is None or found.origin != stream:
            raise DriverError("end_capture", _STATE)
        self._now.remove(found)
        if found.invalid:
            raise DriverError("end_capture", "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED")
        ends = found.ends.pop(stream)
        joined, open_ = set[int](), list(ends)
        while open_:
            each = open_.pop()
            joined.add(each)
            open_ += nodes(found.graph)[each].after
        if any(not joined.issuperset(others) for others in found.ends.values()):
            raise DriverError("end_capture", "CUDA_ERROR_STREAM_CAPTURE_UNJOINED")
        return ends

    def ask(self, stream: int, work: Work) -> None:
        """What another library asks of a stream."""
        found = self.of(stream)
        if found is None:
            self.synchronous("launch", stream)
            self._run(work)
            return
        if found.invalid:
            raise DriverError("launch", "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED")
        found.ends[stream] = [self._add(found.graph, found.ends[stream], work)]

    def follow(self, stream: int, other: int) -> bool:
        """Has it to do with a capture that one stream comes after another?"""
        found = self.of(other)
        if found is None:
            return False
        before = found.ends.get(stream, [])
        found.ends[stream] = list(dict.fromkeys([*before, *found.ends[other]]))
        return True

    def synchronous(self, call: str, stream: int) -> None:
        """A call on the default stream, or one that waits for a stream, ends what is captured."""
        if stream in _DEFAULT and self._now:
            for each in self._now:
                each.invalid = True
            raise DriverError(call, _IMPLICIT)

    def waited(self, call: str, stream: int | None = None) -> None:
        """Somebody waits for a stream; None: for all of them."""
        for each in self._now:
            if stream is None or stream in each.ends:
                each.invalid = True
                raise DriverError(call, _UNSUPPORTED)
