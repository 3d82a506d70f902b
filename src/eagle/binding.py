"""Planes that are bound to a kernel: arrays and numbers that fit, ready to launch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eagle.devices.base import Device, Loaded, Partition
from eagle.devices.host.device import HOST
from eagle.exact import Fit
from eagle.layouts import Copy
from hawk.annotations import owner
from hawk.ir.nodes import MUTABLE, Function, Number
from hawk.kernel import Kernel, Output, Parameter
from hawk.targets.base import Compiled

Array: TypeAlias = NDArray[Any]
AnyKernel: TypeAlias = Kernel[..., Any]

whole_batch = lru_cache(maxsize=16)(Partition.whole)


@dataclass(frozen=True, slots=True)
class Door:
    """The call through which arrays come in."""

    name: str
    """How the user wrote it; `{kernel}` is the kernel's name."""
    lenient: bool = False
    """Convert lists, numbers and integers, and copy strided arrays: direct calls only."""
    numbers: bool = False
    """May an input be one number for all samples? So it is for lenient doors too."""
    in_place: bool = False
    """May an output be exactly an input? Right for launches of one step."""
    remote: bool = False
    """May the memory of arrays not be read here, because they are on a device?"""


@dataclass(slots=True, eq=False)  # not frozen: that takes 2 us more, of 40 for all of it
class Binding:
    """Arrays and numbers that fit a kernel, ready to launch. Nobody changes it."""

    kernel: AnyKernel
    compiled: Compiled
    n: int
    arrays: Mapping[str, Array]
    """Every plane that is an array, as compiled code uses it: `(n,)`, or `()` for a lone sample."""
    own: Mapping[str, Any]
    """Arrays of the caller, of whatever library, as he gave them."""
    copied: Mapping[str, Array]
    """The caller's strided memory, for planes whose array is a copy of it."""
    planes: Sequence[Array | int]
    """What the compiled kernel is given: arrays, and numbers for the whole launch as words."""
    words: Sequence[int]
    """The same as words: where the arrays are, and the numbers."""
    allocated: tuple[str, ...]
    """State that the caller left out."""
    mask: str | None
    build_seconds: float
    device: Device
    numbers: Mapping[str, Number] = field(default_factory=dict[str, Number])
    """What was given as one number for all samples."""
    copies: tuple[Copy, ...] = ()
    """Arrays whose samples are the first axis, and what stands in for them in each launch."""
    function: Function | None = None
    """The program as it was traced, where the device makes code of its own of it."""

    def load(self) -> Loaded:
        """Put kernel and planes together on the device."""
        whole = whole_batch(self.n)
        return self.device.load(self.compiled, self.planes, self.words, whole, self.function)

    @property
    def careful(self) -> bool:
        """Does a launch need `watched`?"""
        return self.kernel.checks or bool(self.copies)

    def watched(self) -> AbstractContextManager[None]:
        """Tells, after what runs inside `with`, what the checks of the kernel saw.

        Arrays that have to be copied are copied before and after.
        """
        if self.copies:
            return self._copying()
        if not self.kernel.checks:
            return nullcontext()
        from hawk.checks import watching  # looks closely, so who does not ask need not wait

        if self.device is not HOST:
            return self._watched_there()
        return watching(self.kernel, self.compiled, self.planes)

    @contextmanager
    def _watched_there(self) -> Iterator[None]:
        """The same where the host cannot read the arrays: copies of them are looked at."""
        from hawk.checks import is_event, watching

        device, slots = self.device, self.compiled.planes
        planes = [each if isinstance(each, int) else device.fetch(each) for each in self.planes]
        with watching(self.kernel, self.compiled, planes):
            arrays = [
                (slot.name, here, there)
                for slot, here, there in zip(slots, planes, self.planes, strict=True)
                if not isinstance(here, int) and not isinstance(there, int)
            ]
            for name, _, there in arrays:
                if is_event(name):
                    device.fill(there, 0)
            yield
            for _, here, there in arrays:
                here[...] = device.fetch(there)

    @contextmanager
    def _copying(self) -> Iterator[None]:
        self.bring()
        try:
            with replace(self, copies=()).watched():
                yield
        finally:
            self.give()

    def bring(self) -> None:
        """Copy in what has to be."""
        for copy in self.copies:
            copy.bring()

    def give(self) -> None:
        """Copy out what has to be."""
        for copy in self.copies:
            copy.give()

    @property
    def results(self) -> dict[str, Any]:
        """State planes, then outputs, as the caller gets them: his own arrays where he gave any."""
        states = (slot.name for slot in self.compiled.planes if slot.role in MUTABLE)
        names = [name for name in states if " " not in name]  # those with a space are hawk's own
        names = list(dict.fromkeys(map(owner, names)))
        names += [output.name for output in self.kernel.outputs]
        return {name: self.given_back(name) for name in names}

    @property
    def objects(self) -> dict[str, Any]:
        """State and outputs that are objects, by name: each holds the planes of its fields."""
        return self.kernel.signature.objects(self.held)

    def held(self, plane: Parameter | Output) -> Any:
        """What the caller gets of a field of an object: an array, or the number he gave."""
        name, element = plane.name, plane.element
        if name in self.own or name in self.arrays:
            return self.given_back(name)
        numbers = [self.numbers.get(each) for each in element.components(name)]
        return np.array(numbers).reshape(element.shape) if element.shape else numbers[0]

    def given_back(self, name: str) -> Any:
        """A plane as the caller gets it: his own array, or the one eagle made."""
        own = self.own.get(name)
        return self.arrays[name] if own is None else own


def as_given(kernel: AnyKernel, fit: Fit) -> Binding:
    """Planes that need no second look."""
    return Binding(
        kernel=kernel,
        compiled=fit.compiled,
        n=fit.n,
        arrays={**fit.given, **fit.made},
        own=fit.given,
        copied={},
        planes=fit.planes,
        words=fit.words,
        allocated=(),
        mask=fit.mask,
        build_seconds=0.0,
        device=HOST,
        numbers=fit.numbers,
    )
