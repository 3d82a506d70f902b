"""When each node of a graph ran: as a table, as a picture, and for Perfetto."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eagle.devices.base import Span

MICRO = 1e6


def new_axes(ax: Any) -> Any:
    """The axes themselves, or new ones for None, where matplotlib is installed."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot as plt
    except ImportError as cause:
        message = "this needs matplotlib: pip install 'accipiter[plot]'"
        raise ImportError(message) from cause
    return plt.subplots()[1]


@dataclass(frozen=True, slots=True)
class Profile:
    """What `Graph.profile` saw: spans of nodes in the order they began, in seconds."""

    name: str
    spans: tuple[Span, ...]

    @property
    def seconds(self) -> float:
        """From the first beginning to the last end."""
        if not self.spans:
            return 0.0
        return max(span.end for span in self.spans) - self._begin

    @property
    def _begin(self) -> float:
        return min(span.begin for span in self.spans)

    @property
    def lanes(self) -> list[str]:
        """The branches of forks that nodes stand in; the first is that of all others."""
        return sorted({span.item.lane for span in self.spans} | {""})

    def __str__(self) -> str:
        """Each node with how often it ran, and for how long in all."""
        rows: dict[int, tuple[str, int, float]] = {}
        for span in self.spans:
            _, times, seconds = rows.get(id(span.item), ("", 0, 0.0))
            entry = span.item.name, times + 1, seconds + span.end - span.begin
            rows[id(span.item)] = entry
        lines = [f"{self.name}: {self.seconds * MICRO:,.1f} us"]
        lines += [
            f"{name:40.40} {times:8,} x {seconds / times * MICRO:12,.1f} us"
            for name, times, seconds in rows.values()
        ]
        return "\n".join(lines)

    def to_perfetto(self, path: str | Path) -> None:
        """Write it as a trace that ui.perfetto.dev and chrome://tracing show."""
        events: list[dict[str, Any]] = [
            {
                "name": "thread_name",
                "ph": "M",
                "pid": 1,
                "tid": place,
                "args": {"name": f"branch {lane}" if lane else self.name},
            }
            for place, lane in enumerate(self.lanes)
        ]
        events += [
            {
                "name": span.item.name,
                "cat": type(span.item).__name__.lower(),
                "ph": "X",
                "pid": 1,
                "tid": self.lanes.index(span.item.lane),
                "ts": (span.begin - self._begin) * MICRO,
                "dur": (span.end - span.begin) * MICRO,
                "args": {"replay": span.replay, "line": span.item.loc.short()},
            }
            for span in self.spans
        ]
        text = json.dumps({"traceEvents": events, "displayTimeUnit": "ns"})
        Path(path).write_text(text, encoding="utf-8")

    def plot(self, ax: Any = None) -> Any:
        """Draw the nodes as bars over time, a lane for each branch; return the axes.

        Needs matplotlib: pip install 'accipiter[plot]'.
        """
        axes = new_axes(ax)
        names = list(dict.fromkeys(span.item.name for span in self.spans))
        for name in names:
            for place, lane in enumerate(self.lanes):
                bars = [
                    ((span.begin - self._begin) * MICRO, (span.end - span.begin) * MICRO)
                    for span in self.spans
                    if span.item.name == name and span.item.lane == lane
                ]
                if bars:
                    axes.broken_barh(
                        bars, (place - 0.4, 0.8), color=f"C{names.index(name) % 10}", label=name
                    )
        axes.set_yticks(range(len(self.lanes)), [lane or self.name for lane in self.lanes])
        axes.set_xlabel("microseconds")
        if names:
            axes.legend()
        return axes
