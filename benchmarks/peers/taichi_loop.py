"""Taichi as its users write it: a parallel loop over samples, and one over the steps of each."""

from __future__ import annotations

from typing import Any

import taichi as ti

from benchmarks.limit.workloads import Workload
from benchmarks.peers.flat import Flat, flat, indented, module
from benchmarks.runner import Arm

_TEXT = """
import taichi as ti

@ti.kernel
def run({arrays}, {numbers}, max_steps: ti.i32):
    for i in range(a_{first}.shape[0]):
{load}
        for at in range(max_steps):
{step}
            if done:
                break
{store}
"""


def arm(workload: Workload) -> Arm:
    wide = workload.dtype.name == "float64"
    # The arrays of an arm before this one go with its runtime.
    ti.init(arch=ti.cpu, default_fp=ti.f64 if wide else ti.f32, fast_math=True, log_level=ti.ERROR)
    step = flat(workload.name)
    kernel = module(text(step, "f64" if wide else "f32")).run
    state = [_array(plane) for plane in workload.state]
    numbers = step.numbers(workload.shared).values()
    given: list[Any] = [*state, *map(_array, workload.inputs), *numbers]

    def launch(most: int) -> None:
        kernel(*given, most)
        ti.sync()

    def prepare() -> None:
        for plane, first in zip(state, workload.state, strict=True):
            plane.from_numpy(first)

    launch(1)  # compiles
    return Arm(
        "Taichi",
        prepare,
        lambda: launch(workload.max_steps),
        lambda: [plane.to_numpy() for plane in state],
    )


def _array(plane: Any) -> Any:
    made = ti.ndarray(ti.f64 if plane.dtype.name == "float64" else ti.f32, shape=len(plane))
    made.from_numpy(plane)
    return made


def text(step: Flat, real: str) -> str:
    arrays = [f"a_{name}: ti.types.ndarray(ti.{real}, 1)" for name in (*step.state, *step.inputs)]
    return _TEXT.format(
        arrays=", ".join(arrays),
        numbers=", ".join(f"{name}: ti.{real}" for name in step.shared),
        first=step.state[0],
        load=indented([f"{name} = a_{name}[i]" for name in (*step.state, *step.inputs)], 2),
        step=indented(step.lines("ti"), 3),
        store=indented([f"a_{name}[i] = {name}" for name in step.state], 2),
    )
