"""The picture of `eagle demo`: launches by their steps, and samples that stop at their own step."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from eagle.demo import Spread, Way

INK, FAINT = "#22303c", "#8a97a3"
WAYS = ("#b9c4ce", "#6c9bc4", "#1f5f99")
WORK, WASTE = "#1f5f99", "#f3d9c9"
WASTE_INK = "#b4532a"

STYLE = {
    "font.size": 10.5,
    "text.color": INK,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": INK,
    "ytick.color": INK,
}


def draw(ways: list[Way], spread: Spread, out: Path) -> None:
    """Write the picture to `out`; its ending says the format. Makes folders that are missing."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(11.5, 4.8), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=(1.0, 1.55))
        draw_launches(left, ways)
        draw_stops(right, spread)
        out.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(out, dpi=160)


def draw_launches(axes: Axes, ways: list[Way]) -> None:
    """How many launches there were of each length, one colour a way."""
    bars = [
        (way, k, count, color)
        for way, color in zip(ways, WAYS, strict=True)
        for k, count in sorted(way.report.launches_by_k.items())
    ]
    for position, (way, _, count, color) in enumerate(bars):
        axes.bar(position, count, width=0.62, color=color)
        axes.annotate(
            f"{count:,}",
            (position, count),
            xytext=(0, 16),
            textcoords="offset points",
            ha="center",
            fontsize=13,
            fontweight="bold",
        )
        axes.annotate(
            f"{way.name}, {way.seconds:.3g} s",
            (position, count),
            xytext=(0, 5),
            textcoords="offset points",
            ha="center",
            fontsize=9,
            color=FAINT,
        )
    axes.set_yscale("log")
    axes.set_ylim(1, 3.5 * max(count for _, _, count, _ in bars))
    axes.set_xticks(range(len(bars)), [f"{k}" for _, k, _, _ in bars])
    axes.tick_params(axis="x", length=0)
    axes.set_xlabel("steps in that launch (k)")
    axes.set_ylabel("number of launches")
    axes.set_title("The same result in fewer launches", loc="left", fontweight="bold", pad=12)


def draw_stops(axes: Axes, spread: Spread) -> None:
    """When each sample stops, slowest first, and what waiting for the slowest would cost."""
    steps = np.sort(spread.steps)[::-1]
    sample = np.arange(1, len(steps) + 1) / len(steps) * 100
    top = steps[0]
    axes.fill_between(sample, steps, top, color=WASTE, linewidth=0)
    axes.fill_between(sample, 0, steps, color=WORK, linewidth=0)
    axes.axhline(top, color=WASTE_INK, linewidth=1.2, linestyle=(0, (4, 3)))
    axes.annotate(
        f"{spread.wasted:.0%} thrown away",
        (60, 0.62 * top),
        ha="center",
        fontsize=17,
        fontweight="bold",
        color=WASTE_INK,
    )
    axes.annotate(
        "if the batch waited for its slowest sample",
        (60, 0.54 * top),
        ha="center",
        color=WASTE_INK,
    )
    axes.set_xlim(0, 100)
    axes.set_ylim(0, 1.06 * top)
    axes.set_xlabel("samples, slowest first (%)")
    axes.set_ylabel("steps until the sample is done")
    axes.set_title("Each sample stops at its own step", loc="left", fontweight="bold", pad=12)
