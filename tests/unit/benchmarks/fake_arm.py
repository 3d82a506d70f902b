"""An arm of no library: it counts its runs, and two workloads it does not take."""

import sys

from benchmarks.limit.workloads import Workload
from benchmarks.runner import Arm


def arm(workload: Workload) -> Arm:
    if workload.name == "lorenz":
        raise ValueError("no chaos here\nand a second line")
    if workload.name == "pendulum":
        sys.exit("it swung too far")
    state = [plane.copy() for plane in workload.state]

    def run() -> None:
        print("what a library prints goes elsewhere")
        state[0] += 1

    return Arm("fake", lambda: None, run, lambda: state)
