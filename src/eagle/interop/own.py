"""Arrays that eagle makes on a device, where a call needs the host's."""

from __future__ import annotations

from typing import Any

from eagle.interop.base import NUMPY, Foreign, described


def read(value: Any) -> Foreign | None:
    """Say on which device the array is; None for what else there is of eagle's."""
    if not type(value).__module__.startswith("eagle.devices."):
        return None
    from eagle.devices.arrays import DeviceArray, home_of  # there is such a device only then

    if not isinstance(value, DeviceArray):
        return None
    got = f"{described(value)} on {home_of(value).name}"
    if not home_of(value).calls:
        got += ", where kernels run in a graph"
    return Foreign(
        None, NUMPY, got, "a graph that calls it, or eagle.copy({x}, into=<a NumPy array>)"
    )
