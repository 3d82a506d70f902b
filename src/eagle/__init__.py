"""Run kernels over a batch, until each sample is done."""

from eagle.active import ActiveSet
from eagle.deploy import Bound, Deployed, deploy
from eagle.devices.host.team import set_threads
from eagle.errors import BindError, Busy, LayoutWarning, PerformanceWarning
from eagle.graph.actions import copy, opaque, pinned, reduce
from eagle.graph.codes import GraphError
from eagle.graph.graph import Graph
from eagle.layouts import samples_first, samples_last
from eagle.runs.doors import run_until_done, simulate, simulation, until_done
from eagle.runs.report import RunReport, SimResult
from eagle.runs.simulation import Simulation
from eagle.spaces import gpu_available, xp_for

__all__ = [
    "ActiveSet",
    "BindError",
    "Bound",
    "Busy",
    "Deployed",
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
