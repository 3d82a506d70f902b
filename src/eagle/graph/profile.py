"""When each node of a graph ran: as a table, as a picture, and for Perfetto."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eagle.devices.base import Span
from eagle.graph import perfetto

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
        return max(span.end for span in self.spans) - self.begin

    @property
    def begin(self) -> float:
        """When the first one began, on the clock of the spans."""
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
        """Write it as a trace that ui.perfetto.dev opens.

        To `.json` as chrome://tracing opens it, too; to any other name in Perfetto's own format.
        """
        path = Path(path)
        if path.suffix == ".json":
            path.write_text(perfetto.as_json(self), encoding="utf-8")
        else:
            path.write_bytes(perfetto.native(self))

    def plot(self, ax: Any = None) -> Any:
        """Draw the nodes as bars over time, a lane for each branch; return the axes.

        Needs matplotlib: pip install 'accipiter[plot]'.
        """
        axes = new_axes(ax)
        names = list(dict.fromkeys(span.item.name for span in self.spans))
        for name in names:
            for place, lane in enumerate(self.lanes):
                bars = [
                    ((span.begin - self.begin) * MICRO, (span.end - span.begin) * MICRO)
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
