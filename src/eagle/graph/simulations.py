"""A `Simulation` as a node of a graph: at each replay it runs until its samples are done."""

from __future__ import annotations

from typing import Any

from eagle.devices.host.device import HOST
from eagle.devices.plan import Call, Region
from eagle.graph.recorder import GraphRecorder
from eagle.params import shown
from eagle.runs.simulation import Simulation


def add_simulation(writer: GraphRecorder, simulation: Any) -> None:
    """Record a run of it: at each replay `run` is called once more."""
    if hasattr(simulation, "nodes") and hasattr(simulation, "recorder"):
        what = "a graph is no node of another one: a CUDA graph with branches or loops cannot be"
        fix = (
            f"def {simulation.name}(g: eagle.Graph, ...): its nodes, and {simulation.name}(g, ...)"
        )
        raise writer.error("G204", what, fix)
    if not isinstance(simulation, Simulation):
        what = f"g.add takes an eagle.Simulation, got {shown(simulation)}"
        raise writer.error("G204", what, "g.add(eagle.simulation(kernel, max_steps=..., ...))")
    reads: list[Region] = []
    writes: list[Region] = []
    for name, (array, written) in simulation.planes.items():
        plane = writer.plane(array, name)
        if plane is not None:
            reads.append(plane.region)
            writes += [plane.region] if written else []
    writer.add(
        Call(
            name=f"simulation of {simulation.name}",
            reads=tuple(reads),
            writes=tuple(writes),
            function=simulation.run,
            kind="simulation",
            # A run on a device is launched and asked by the host, which no node of CUDA's may do.
            eager=any(each.root.device is not HOST for each in reads),
        )
    )
