"""A graph drawn by matplotlib: nodes from left to right by what they wait for, a row a branch."""

from __future__ import annotations

from typing import Any

from eagle.devices.plan import Plan
from eagle.graph.draw import kind_of
from eagle.graph.profile import new_axes
from eagle.graph.schedule import depths
from eagle.graph.touches import edges_of

STEP = 0.25
"""Rows between nodes of one branch that may run at once."""


def plot(plan: Plan, ax: Any = None) -> Any:
    """Draw the nodes of a graph, branches and loops as one each; return the axes.

    Arrows are waits, dotted where memory is overwritten, thick inside a pass. Needs matplotlib.
    """
    axes = new_axes(ax)
    body = plan.body
    edges = edges_of(body)
    columns = depths(len(body), [(edge.before, edge.after) for edge in edges])
    lanes = sorted({item.lane for item in body})
    taken: dict[tuple[int, str], int] = {}
    places: list[tuple[float, float]] = []
    for item, column in zip(body, columns, strict=True):
        above = taken[column, item.lane] = taken.get((column, item.lane), -1) + 1
        places.append((column, lanes.index(item.lane) + STEP * above))
    passes = {id(i): k for k, each in enumerate(plan.device.passes(plan)) for i in each.nodes}
    for edge in edges:
        one, two = (passes.get(id(body[place]), -1 - place) for place in (edge.before, edge.after))
        wide = 2.5 if one == two else 1.0
        dashes = "-" if edge.hazard.name == "RAW" else ":"
        arrow = {
            "arrowstyle": "->",
            "linestyle": dashes,
            "color": "0.5",
            "shrinkA": 20,
            "linewidth": wide,
        }
        axes.annotate(
            "", places[edge.after], places[edge.before], arrowprops=arrow | {"shrinkB": 20}
        )
    for item, place in zip(body, places, strict=True):
        box = {"boxstyle": "round", "facecolor": "white"}
        text = f"{item.name}\n{kind_of(item, plan)}"
        axes.text(*place, text, ha="center", va="center", fontsize=7, bbox=box)
    axes.set_yticks(range(len(lanes)), [f"branch {lane}" if lane else plan.name for lane in lanes])
    axes.set_xticks([])
    axes.set_xlim(-0.7, max(columns, default=0) + 0.7)
    axes.set_ylim(max((y for _, y in places), default=0) + 0.5, -0.5)
    return axes
