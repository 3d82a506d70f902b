"""Samples that end at very different steps, on a GPU: with threads that take the next one, and not.

`eagle.pace` says how many samples are enough for that. Nobody has measured it yet; this does.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import eagle
from eagle import pace
from eagle.devices.cuda import device
from eagle.devices.library import Library
from tests.unit.cuda.scenarios import countdown


def turns(gpu: device.CudaDevice, xp: Library[Any], *, dry: bool) -> str:
    """Run them both ways, and compare what they are in the end; the seconds of each."""
    before = device.CROWD, pace.EACH
    try:
        device.CROWD = 2 if dry else before[0]
        n, cap = 2 * pace.EACH * pace.CROWDS * gpu.crowd, 70 if dry else 50_000
        left = np.random.default_rng(0).integers(1, 2 + cap // 50, n)
        left[::50] = 2 * cap  # of each 32 there is one, in most cases, that the others wait for
        left[::97] = cap - 1
        seconds: list[float] = []
        for in_turns in (True, False):
            pace.EACH = before[1] if in_turns else n
            planes = {"left": xp.array(left), "taken": xp.zeros(n, np.int64)}
            simulation = eagle.simulation(countdown, max_steps=cap, **planes)
            report = simulation.run().report
            assert (report.compactions == 0) is in_turns
            assert report.finished == int((left <= cap).sum())
            assert (np.minimum(left, cap) == xp.asnumpy(planes["taken"])).all()
            seconds.append(report.wall_s)
    finally:
        device.CROWD, pace.EACH = before
    first, second = seconds
    return f"{n:,} samples: {first:.3g} s, launch by launch {second:.3g} s"
