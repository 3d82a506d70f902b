"""The picture of `eagle demo`: launches by their steps, and samples that stop at their own step."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from eagle.demo import Spread, Way

INK, FAINT = "#22303c", "#8a97a3"
WAYS = ("#b9c4ce", "#6c9bc4", "#1f5f99")
WORK, WASTE = "#1f5f99", "#f3d9c9"
WASTE_INK = "#b4532a"

STYLE: Any = {
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
        figure = Figure(figsize=(11.5, 4.8))
        figure.set_layout_engine("constrained", w_pad=0.12, h_pad=0.12, wspace=0.06)
        left, right = figure.subplots(1, 2, width_ratios=(1.0, 1.55))
        draw_launches(left, ways)
        draw_stops(right, spread)
        out.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(out, dpi=160)


def draw_launches(axes: Axes, ways: list[Way]) -> None:
    """How many launches there were of each length, one colour a way."""
    bars = [
        (way, color, k, count)
        for way, color in zip(ways, WAYS, strict=True)
        for k, count in sorted(way.report.launches_by_k.items())
    ]
    for position, (way, color, _, count) in enumerate(bars):
        axes.bar(position, count, width=0.64, color=color)
        note(axes, (position, count), f"{count:,}", up=18, size=14, weight="bold")
        note(axes, (position, count), f"{way.name}: {1e3 * way.seconds:,.3g} ms", up=5, color=FAINT)
    axes.set_yscale("log")
    axes.set_ylim(1, 4 * max(count for *_, count in bars))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_xticks(range(len(bars)), [f"{k}" for _, _, k, _ in bars])
    axes.tick_params(axis="x", length=0)
    axes.set_xlabel("steps in that launch (k)")
    axes.set_ylabel("number of launches")
    axes.set_title("The same bits in fewer launches", loc="left", fontweight="bold", pad=14)


def draw_stops(axes: Axes, spread: Spread) -> None:
    """When each sample stops, slowest first, and what waiting for the slowest would cost."""
    steps = np.sort(spread.steps)[::-1]
    share = np.linspace(0, 100, len(steps) + 1)
    top = int(steps[0])
    stairs = np.append(steps, steps[-1])
    axes.fill_between(share, stairs, top, step="post", color=WASTE, linewidth=0)
    axes.fill_between(share, 0, stairs, step="post", color=WORK, linewidth=0)
    axes.axhline(top, color=WASTE_INK, linewidth=1.2, linestyle=(0, (4, 3)))
    note(axes, (100, top), f"the slowest: {top:,} steps", up=5, color=WASTE_INK, side="right")
    wasted = f"{spread.wasted:.0%} of the steps for nothing"
    note(axes, (60, 0.6 * top), wasted, up=0, size=16, weight="bold", color=WASTE_INK)
    waiting = "if every sample went on until the slowest is done"
    note(axes, (60, 0.6 * top), waiting, up=-17, size=10.5, color=WASTE_INK)
    needed = f"{1 - spread.wasted:.0%} needed"
    note(axes, (2.5, 0.09 * top), needed, up=0, size=12, weight="bold", color="white", side="left")
    axes.set_xlim(0, 100)
    axes.set_ylim(0, 1.1 * top)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.set_xlabel("samples, the slowest first (%)")
    axes.set_ylabel("steps until the sample is done")
    axes.set_title("Each sample stops at its own step", loc="left", fontweight="bold", pad=14)


def note(
    axes: Axes,
    at: tuple[float, float],
    text: str,
    *,
    up: float,
    size: float = 9.5,
    weight: str = "normal",
    color: str = INK,
    side: Literal["left", "center", "right"] = "center",
) -> None:
    """Write `text` at a point of the data, `up` points above it."""
    axes.annotate(
        text,
        at,
        xytext=(0, up),
        textcoords="offset points",
        ha=side,
        fontsize=size,
        fontweight=weight,
        color=color,
    )
