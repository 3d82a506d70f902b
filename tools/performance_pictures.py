"""The pictures of docs/performance.md: our time next to the limit's, and others' next to ours."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tools.performance import Line

WIDTHS = {"float64": "#2f5d8a", "float32": "#d98841"}
MARKERS = "osD^vP*X"
COLOURS = ("#2f5d8a", "#d98841", "#5b8c5a", "#8a3b5d", "#6c6c6c", "#3aa0a0", "#b0a030", "#7b5fb0")


def draw_limit(lines: Sequence[Line], path: Path) -> None:
    """Bars of the ratios to the limit."""
    shown = [line for line in lines if line.ratio is not None and not line.order]
    names = list(dict.fromkeys(map(_label, shown)))
    figure = Figure(figsize=(9.0, 0.36 * len(names) + 1.0), layout="constrained")
    axes = figure.subplots()
    for shift, (dtype, colour) in zip((-0.2, 0.2), WIDTHS.items(), strict=True):
        mine = {_label(line): line.ratio or 0.0 for line in shown if line.dtype == dtype}
        places = [names.index(name) + shift for name in mine]
        axes.barh(places, list(mine.values()), height=0.36, color=colour, label=dtype)
    axes.axvline(1.0, color="black", linewidth=1.0)
    axes.axvline(1.25, color="black", linewidth=0.8, linestyle=":")
    axes.set_xlabel("time / the limit's (dotted: our goal)")
    _finish(figure, axes, names, columns=2)
    figure.savefig(path, dpi=110)


def draw_libraries(lines: Sequence[Line], path: Path) -> None:
    """Points of the ratios of others' times to ours, a library a marker."""
    shown = [line for line in lines if line.peers]
    names = [f"{_label(line)}, {line.dtype}" for line in shown]
    libraries = list(dict.fromkeys(name for line in shown for name in line.peers))
    figure = Figure(figsize=(9.0, 0.42 * len(names) + 1.4), layout="constrained")
    axes = figure.subplots()
    for library, marker, colour in zip(libraries, MARKERS, COLOURS, strict=False):
        mine = {
            place: line.peers[library] / line.ours
            for place, line in enumerate(shown)
            if library in line.peers
        }
        axes.scatter(
            list(mine.values()), list(mine), marker=marker, color=colour, label=library, zorder=3
        )
    numba = {k: line.numba / line.ours for k, line in enumerate(shown) if line.numba is not None}
    axes.scatter(list(numba.values()), list(numba), marker="|", color="black", s=140, label="Numba")
    axes.axvline(1.0, color="black", linewidth=1.0)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_xlabel("time / ours: left of the line we are slower")
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    _finish(figure, axes, names, columns=4)
    figure.savefig(path, dpi=110)


def _label(line: Line) -> str:
    return line.label.replace("`", "")


def _finish(figure: Figure, axes: Axes, names: list[str], *, columns: int) -> None:
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    figure.legend(frameon=False, loc="outside upper right", ncols=columns)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
