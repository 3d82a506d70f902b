"""The picture of `eagle bench`: what the machine does at most, and where each batch is below it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from eagle.demo_picture import INK, STYLE

if TYPE_CHECKING:
    from eagle.bench import Machine, Speed

COLORS = {"float64": "#1f5f99", "float32": "#b4532a"}
MARKERS = "osD^vP*X"


def formats() -> list[str]:
    """The endings of files that matplotlib writes."""
    return sorted(Figure().canvas.get_supported_filetypes())


def draw(machines: dict[str, Machine], speeds: list[Speed], out: Path) -> None:
    """Write the picture to `out`; its ending says the format. Makes folders that are missing."""
    names = list(dict.fromkeys(speed.name for speed in speeds))
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(9.5, 5.0), layout="constrained")
        axes = figure.subplots()
        span = np.geomspace(0.5, 4 * max(speed.intensity for speed in speeds), 200)
        for dtype, machine in machines.items():
            roof = np.minimum(machine.operations, span * machine.bytes) / 1e9
            axes.plot(span, roof, color=COLORS[dtype], label=f"at most, {dtype}")
        for speed in speeds:
            marker, color = MARKERS[names.index(speed.name) % len(MARKERS)], COLORS[speed.dtype]
            axes.scatter(speed.intensity, speed.rate / 1e9, color=color, marker=marker, s=55)
        for marker, name in zip(MARKERS, names, strict=False):
            axes.scatter([], [], color=INK, marker=marker, label=name)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.set_xlabel("floating-point operations for each byte that a launch moves")
        axes.set_ylabel("G operations a second")
        figure.legend(frameon=False, loc="outside right upper")
        out.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(out, dpi=160)
