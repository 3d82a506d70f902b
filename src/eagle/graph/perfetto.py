"""A profile as a trace that ui.perfetto.dev opens: its own format, and JSON.

Its own is a protocol buffer, `Trace` of Perfetto's protos/perfetto/trace/trace.proto: a packet that
names each track, and two for each bar, its begin and its end. Numbers of fields are from there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eagle.graph.profile import Profile

NANO, MICRO = 1e9, 1e6
PROCESS = 1
"""The uuid of the track that all others stand under."""
SEQUENCE = 1
"""All packets come from one writer."""
BEGIN, END = 1, 2
"""Types of a TrackEvent."""


def native(profile: Profile) -> bytes:
    """The trace in Perfetto's own format; times in nanoseconds."""
    return b"".join(_bytes(1, packet) for packet in _packets(profile))


def as_json(profile: Profile) -> str:
    """The trace as chrome://tracing reads it, too; times in microseconds."""
    events: list[dict[str, Any]] = [
        {
            "name": "thread_name",
            "ph": "M",
            "pid": 1,
            "tid": place,
            "args": {"name": _track(profile, lane)},
        }
        for place, lane in enumerate(profile.lanes)
    ]
    events += [
        {
            "name": span.item.name,
            "cat": type(span.item).__name__.lower(),
            "ph": "X",
            "pid": 1,
            "tid": profile.lanes.index(span.item.lane),
            "ts": (span.begin - profile.begin) * MICRO,
            "dur": (span.end - span.begin) * MICRO,
            "args": {"replay": span.replay, "line": span.item.loc.short()},
        }
        for span in profile.spans
    ]
    return json.dumps({"traceEvents": events, "displayTimeUnit": "ns"})


def _track(profile: Profile, lane: str) -> str:
    return f"branch {lane}" if lane else profile.name


# -- packets ---------------------------------------------------------------------------------------


def _packets(profile: Profile) -> Iterator[bytes]:
    process = _number(1, 1) + _text(6, profile.name)
    yield _described(_number(1, PROCESS) + _bytes(3, process))
    uuids = {lane: place for place, lane in enumerate(profile.lanes, PROCESS + 1)}
    for lane, uuid in uuids.items():
        name = _text(2, _track(profile, lane))
        yield _described(_number(1, uuid) + name + _number(5, PROCESS))
    ends: list[tuple[float, int, int, bytes]] = []
    for place, span in enumerate(profile.spans):
        track = _number(11, uuids[span.item.lane])
        about = _note("replay", _number(4, span.replay))
        about += _note("line", _text(6, span.item.loc.short()))
        kind = _text(22, type(span.item).__name__.lower())
        name = _text(23, span.item.name)
        ends.append((span.begin, place, BEGIN, _number(9, BEGIN) + track + kind + name + about))
        ends.append((span.end, place, END, _number(9, END) + track))
    # Of two at one time the earlier span's come first, so a bar ends before the next one begins.
    for time, _, _, event in sorted(ends, key=lambda each: each[:3]):
        yield _packet(_number(8, round((time - profile.begin) * NANO)) + _bytes(11, event))


def _packet(fields: bytes) -> bytes:
    return fields + _number(10, SEQUENCE)


def _described(track: bytes) -> bytes:
    return _packet(_bytes(60, track))


def _note(name: str, value: bytes) -> bytes:
    """A DebugAnnotation of an event."""
    return _bytes(4, _text(10, name) + value)


# -- protocol buffers ------------------------------------------------------------------------------


def _varint(number: int) -> bytes:
    """Seven bits a byte, the least first; the eighth says that more come."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode())
