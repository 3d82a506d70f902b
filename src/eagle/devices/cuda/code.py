"""Kernels as functions of the driver's: made into PTX for the GPU, and loaded."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from eagle.devices.plan import Launch
from hawk.targets.ways import Way

if TYPE_CHECKING:
    from eagle.devices.cuda.device import CudaDevice
    from hawk.ir.nodes import Function
    from hawk.targets.ptx.collective import Collective

CHIPS = (75, 80, 86, 89, 90, 100, 120)
"""The compute capabilities that code is made for. One in between runs the code of that below."""

_ENTRY = re.compile(r"\.entry (\w+)")


def arch_of(capability: int) -> str:
    """What code for a GPU of this compute capability is made for: `sm_90`."""
    return f"sm_{max(chip for chip in CHIPS if chip <= capability)}"


class Parts(NamedTuple):
    """A kernel that reduces or scatters: a kernel for each part of its step."""

    made: Collective
    functions: dict[str, int]
    """By the name of the part in the PTX."""


class Code:
    """The kernels that a GPU has run. They are few, and stay there as long as the process."""

    def __init__(self, device: CudaDevice) -> None:
        self._device = device
        self._arch = arch_of(device.gpu.capability)
        self._functions: dict[tuple[Function, Way], int] = {}
        self._parts: dict[tuple[Function, Way], Parts] = {}

    def of(self, launch: Launch) -> int:
        """The function that a launch launches. Raises DriverError where it cannot be loaded."""
        fn = launch.function
        assert fn is not None
        return self.of_program(fn)

    def of_program(self, fn: Function, way: Way = Way.PLAIN) -> int:
        """The function of a traced program, to be launched in one of the ways there are."""
        known = self._functions.get((fn, way))
        if known is None:
            text = ptx_of(fn, self._arch, way)
            entry = _ENTRY.search(text)
            assert entry is not None
            known = self._functions[fn, way] = self._device.function(text, entry[1])
        return known

    def together(self, fn: Function, way: Way = Way.PLAIN) -> Parts:
        """The parts of a kernel that reduces or scatters, whose step is launched in that way.

        Raises DriverError, as `of`.
        """
        if (fn, way) not in self._parts:
            made = collective_of(fn, self._arch, way)
            parts = [each for each in (*made.given, made.step) if not isinstance(each, str)]
            load = self._device.function
            functions = {each.entry: load(made.ptx, each.entry) for each in parts}
            self._parts[fn, way] = Parts(made, functions)
        return self._parts[fn, way]

    def routine(self, name: str) -> int:
        """A routine that comes between those. Raises DriverError, as `of`."""
        return self._device.function(routine_of(name, self._arch), name)


def ptx_of(fn: Function, arch: str, way: Way = Way.PLAIN) -> str:
    """The PTX of a traced program. It has one entry."""
    from hawk.passes.pipeline import optimise  # loaded by who has a GPU
    from hawk.targets.ptx.compile import ptx_text

    return ptx_text(optimise(fn), arch, (way,))


def collective_of(fn: Function, arch: str, way: Way = Way.PLAIN) -> Collective:
    """The module of a traced program that reduces or scatters."""
    from hawk.targets.ptx.collective import collective

    return collective(fn, arch, way)


def routine_of(name: str, arch: str) -> str:
    """The PTX of a routine: the same for all kernels."""
    from hawk.targets.ptx.routines import routine_ptx

    return routine_ptx(name, arch)
