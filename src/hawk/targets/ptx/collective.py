"""A kernel that reduces or scatters, as a module for the GPU: a kernel for each part of its step.

For each reduction one that leaves what every sample gives to it, then the step itself. What is made
of the reductions is read where the GPU left it, so nobody has to wait for it on the host. Between
these come the launches of `rounds`.
"""

from __future__ import annotations

from typing import NamedTuple

from hawk.ir.nodes import Function
from hawk.passes.phases import given_to, plane_given_to, step_of
from hawk.passes.pipeline import optimise
from hawk.targets.module import Kernel, module_of
from hawk.targets.ptx.chip import chip
from hawk.targets.ptx.compile import emitted, entry_name
from hawk.targets.ptx.entry import NVIDIA
from hawk.targets.ways import Way


class Part(NamedTuple):
    """A kernel of the module, launched for one step."""

    name: str
    fn: Function
    """Its planes are the parameters, see `hawk.targets.module`."""
    held: frozenset[str]
    """The planes that hold what a reduction gave: of these the address is passed."""
    way: Way = Way.PLAIN
    """How it is launched."""

    @property
    def entry(self) -> str:
        """What it is called in the PTX."""
        return self.name + self.way.value


class Collective(NamedTuple):
    """A module, and what is in it."""

    ptx: str
    given: tuple[Part | str, ...]
    """For each reduction, in their order: what leaves its values; or the array of the step that is
    reduced as it is."""
    step: Part
    """What takes the step, and leaves what it gives to tables."""


def collective(fn: Function, arch: str, way: Way = Way.PLAIN) -> Collective:
    """The module of a traced function that reduces or scatters, for a chip such as `sm_90`.

    `way` is how the step is launched; what comes before it is launched in the plain way.
    Raises HawkError (H502) for a chip that is not known.
    """
    known = chip(arch)
    name = entry_name(fn)
    made = {each.plane for each in fn.reductions if each.lines is None}
    given: list[Part | str] = []
    for place, reduction in enumerate(fn.reductions):
        plain = plane_given_to(fn, reduction)
        given.append(plain or _part(f"{name}_{place}", given_to(fn, reduction), made))
    step = _part(name, step_of(fn), made, way)
    parts = [each for each in (*given, step) if isinstance(each, Part)]
    kernels = [Kernel(each.name, each.fn, (each.way,), each.held) for each in parts]
    text = module_of(kernels, NVIDIA)
    return Collective(emitted(text, known), tuple(given), step)


def _part(name: str, fn: Function, made: set[str], way: Way = Way.PLAIN) -> Part:
    best = optimise(fn)
    return Part(name, best, frozenset(made & {plane.name for plane in best.planes}), way)
