"""A device made of host memory: a laptop sees on it what a GPU refuses, and what races there."""

from eagle.devices.simulated.array import SimulatedArray
from eagle.devices.simulated.device import SIMULATED, SimulatedDevice
from eagle.devices.simulated.order import set_seed

__all__ = ["SIMULATED", "SimulatedArray", "SimulatedDevice", "set_seed"]
