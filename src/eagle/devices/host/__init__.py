"""The CPU: arrays are NumPy's, kernels run on this thread and a team of others."""

from eagle.devices.host.device import HOST, HostDevice
from eagle.devices.host.team import HostTeam
from eagle.devices.host.watch import Entry, watch_entries

__all__ = ["HOST", "Entry", "HostDevice", "HostTeam", "watch_entries"]
