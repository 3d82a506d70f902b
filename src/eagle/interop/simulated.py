"""Arrays of the simulated device, where a call needs the host's."""

from __future__ import annotations

from typing import Any

from eagle.interop.base import NUMPY, Foreign, described


def read(value: Any) -> Foreign | None:
    """Say that the array is on the simulated device; None for what else there is of eagle's."""
    if not type(value).__module__.startswith("eagle.devices.simulated"):
        return None
    got = f"{described(value)} on the simulated device, where kernels run in a graph"
    return Foreign(
        None, NUMPY, got, "a graph that calls it, or eagle.copy({x}, into=<a NumPy array>)"
    )
