"""Warp's graphs on the CPU: launches are captured once, and replayed by one call."""

from __future__ import annotations

import numpy as np
import warp as wp

from benchmarks.chains import CHAINS, make
from benchmarks.limit.workloads import Workload
from benchmarks.runner import Arm

workload = make
"""The worker makes workloads of this kind."""


@wp.kernel(enable_backward=False)
def advance(x: wp.array(dtype=wp.float64)):  # type: ignore[valid-type]
    i = wp.tid()
    x[i] = x[i] + wp.float64(1.0)


@wp.kernel(enable_backward=False)
def scaled(x: wp.array(dtype=wp.float64), k: wp.float64, out: wp.array(dtype=wp.float64)):  # type: ignore[valid-type]
    i = wp.tid()
    out[i] = k * x[i] + wp.float64(1.0)


@wp.kernel(enable_backward=False)
def squared(x: wp.array(dtype=wp.float64), out: wp.array(dtype=wp.float64)):  # type: ignore[valid-type]
    i = wp.tid()
    out[i] = x[i] * x[i] - wp.float64(0.5)


@wp.kernel(enable_backward=False)
def summed(x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64), out: wp.array(dtype=wp.float64)):  # type: ignore[valid-type]  # fmt: skip  # noqa: E501
    i = wp.tid()
    out[i] = x[i] + y[i]


def arm(workload: Workload) -> Arm:
    wp.config.quiet = True
    wp.init()
    first = workload.state[0]
    x, y, z, out = (wp.array(first, device="cpu") for _ in range(4))
    with wp.ScopedDevice("cpu"):
        wp.load_module(device="cpu")
        with wp.ScopedCapture(device="cpu") as capture:
            if workload.name == "three kernels":
                wp.launch(scaled, dim=len(first), inputs=[x, wp.float64(2.0), y])
                wp.launch(squared, dim=len(first), inputs=[y, z])
                wp.launch(summed, dim=len(first), inputs=[z, x, out])
            else:
                out = x
                for _ in range(CHAINS[workload.name].nodes):
                    wp.launch(advance, dim=len(first), inputs=[x])

    def prepare() -> None:
        x.assign(first)

    def run() -> None:
        for _ in range(workload.max_steps):
            wp.capture_launch(capture.graph)
        wp.synchronize()

    return Arm("Warp, CPU graph", prepare, run, lambda: [np.array(out.numpy())])
