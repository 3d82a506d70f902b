"""Run kernels over a batch, until each sample is done."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from eagle.active import ActiveSet
from eagle.deploy import Bound, Deployed, deploy
from eagle.devices.host.team import set_threads
from eagle.errors import BindError, Busy, DeviceError, LayoutWarning, PerformanceWarning
from eagle.layouts import samples_first, samples_last
from eagle.runs.doors import run_until_done, simulate, simulation, until_done
from eagle.runs.report import RunReport, SimResult
from eagle.runs.simulation import Simulation
from eagle.spaces import gpu_available, xp_for

if TYPE_CHECKING:
    from eagle.graph.actions import copy, opaque, pinned, reduce
    from eagle.graph.codes import GraphError
    from eagle.graph.graph import Graph

__all__ = [
    "ActiveSet",
    "BindError",
    "Bound",
    "Busy",
    "Deployed",
    "DeviceError",
    "Graph",
    "GraphError",
    "LayoutWarning",
    "PerformanceWarning",
    "RunReport",
    "SimResult",
    "Simulation",
    "copy",
    "deploy",
    "gpu_available",
    "opaque",
    "pinned",
    "reduce",
    "run_until_done",
    "samples_first",
    "samples_last",
    "set_threads",
    "simulate",
    "simulation",
    "until_done",
    "xp_for",
]

_OF_GRAPHS = {
    **dict.fromkeys(("copy", "opaque", "pinned", "reduce"), "eagle.graph.actions"),
    "GraphError": "eagle.graph.codes",
    "Graph": "eagle.graph.graph",
}
"""Names that are loaded when they are first used: who has no graph need not wait for them."""


def __getattr__(name: str) -> Any:
    if name not in _OF_GRAPHS:
        raise AttributeError(f"module 'eagle' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_OF_GRAPHS[name]), name)
    return value


def __dir__() -> list[str]:
    return [*globals(), *_OF_GRAPHS]
