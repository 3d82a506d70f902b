"""RAPTOR's `simulate`: the same interface as ours, so the kernel is written as ours would be."""

from __future__ import annotations

import numpy as np

import eagle
from benchmarks.limit.workloads import Workload
from benchmarks.peers.flat import Flat, flat, indented, module
from benchmarks.runner import Arm

_TEXT = """
import hawk
import hawk.math
from hawk import Mutable, Param, Scalar, Terminated

@hawk.kernel
def run({planes}):
{step}
"""


def arm(workload: Workload) -> Arm:
    step = flat(workload.name)
    kernel = module(text(step)).run
    state = [plane.copy() for plane in workload.state]
    given = {
        **dict(zip(step.state, state, strict=True)),
        **dict(zip(step.inputs, workload.inputs, strict=True)),
        **step.numbers(workload.shared),
    }

    def prepare() -> None:
        for plane, first in zip(state, workload.state, strict=True):
            np.copyto(plane, first)

    def run() -> None:
        eagle.simulate(
            kernel, max_steps=workload.max_steps, scalar_type=workload.dtype.name, **given
        )

    run()  # compiles, and how depends on what is asked
    return Arm("RAPTOR", prepare, run, lambda: state)


def text(step: Flat) -> str:
    planes = [
        *(f"{name}: Scalar" for name in step.inputs),
        *(f"{name}: Param" for name in step.shared),
        "terminated: Terminated",
        *(f"{name}: Mutable[Scalar]" for name in step.state),
    ]
    lines = step.lines("hawk.math", done="terminated")
    return _TEXT.format(planes=", ".join(planes), step=indented(lines, 1))
