"""How the CPU splits a batch: the samples of a launch, and how many a worker takes at once."""

from eagle.devices.base import Partition
from eagle.devices.host.team import HostTeam

__all__ = ["HostTeam", "Partition"]
