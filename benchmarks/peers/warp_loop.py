"""Warp as its users write it: a kernel whose thread runs one sample's loop over its steps.

Warp runs kernels on the CPU on one thread.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp

from benchmarks.limit.workloads import Workload
from benchmarks.peers.flat import Flat, flat, indented, module
from benchmarks.runner import Arm

_TEXT = """
import warp as wp

real = wp.{width}

@wp.kernel(enable_backward=False)
def run({arrays}, {numbers}, max_steps: wp.int32):
    i = wp.tid()
{load}
    for at in range(max_steps):
{step}
        if done:
            break
{store}
"""


def arm(workload: Workload) -> Arm:
    wp.config.quiet = True
    wp.init()
    step, width = flat(workload.name), workload.dtype.name
    kernel = module(text(step, width)).run
    state = [wp.array(plane, device="cpu") for plane in workload.state]
    begin = [wp.array(plane, device="cpu") for plane in workload.state]
    inputs = [wp.array(plane, device="cpu") for plane in workload.inputs]
    numbers = map(workload.dtype.type, step.numbers(workload.shared).values())
    given: list[Any] = [*state, *inputs, *numbers]

    def launch(most: int) -> None:
        wp.launch(kernel, dim=workload.samples, inputs=[*given, most], device="cpu")
        wp.synchronize()

    def prepare() -> None:
        for plane, first in zip(state, begin, strict=True):
            wp.copy(plane, first)

    launch(1)  # compiles
    return Arm(
        "Warp",
        prepare,
        lambda: launch(workload.max_steps),
        lambda: [np.array(plane.numpy()) for plane in state],
    )


def text(step: Flat, width: str) -> str:
    arrays = [f"a_{name}: wp.array(dtype=wp.{width})" for name in (*step.state, *step.inputs)]
    return _TEXT.format(
        width=width,
        arrays=", ".join(arrays),
        numbers=", ".join(f"{name}: wp.{width}" for name in step.shared),
        load=indented([f"{name} = a_{name}[i]" for name in (*step.state, *step.inputs)], 1),
        step=indented(step.lines("wp", lambda number: f"real({number!r})"), 2),
        store=indented([f"a_{name}[i] = {name}" for name in step.state], 1),
    )
