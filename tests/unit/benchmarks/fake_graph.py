"""An arm of no library that replays a chain once."""

from benchmarks.chains import CHAINS, make
from benchmarks.limit.workloads import Workload
from benchmarks.runner import Arm

workload = make


def arm(workload: Workload) -> Arm:
    state = [plane + CHAINS[workload.name].nodes for plane in workload.state]
    return Arm("fake", lambda: None, lambda: None, lambda: state)
