"""A kernel's signature and the user's arrays and numbers, made into bound planes.

Every check is here and every message, and all of them come before a byte is touched: what is wrong
is collected and said at once.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eagle.arguments import Arguments, match
from eagle.devices.base import Device, Loaded, Partition
from eagle.devices.host.device import HOST
from eagle.errors import BindError
from eagle.params import is_number, shown, to_number, whole
from eagle.planes import Shape, convert, is_array, is_plane, misfit, overlap, same_plane
from hawk.annotations import Element
from hawk.ir.nodes import Number, Role
from hawk.ir.types import DType
from hawk.kernel import NO_DEFAULT, Kernel, Parameter
from hawk.targets.base import Compiled, raw_word

Array: TypeAlias = NDArray[Any]
AnyKernel: TypeAlias = Kernel[..., Any]


@dataclass(frozen=True, slots=True)
class Door:
    """The call through which arrays come in."""

    name: str
    lenient: bool = False
    """Convert lists, numbers and integers, and copy strided arrays: direct calls only."""
    in_place: bool = False
    """May an output be exactly an input? Right for launches of one step."""


@dataclass(frozen=True, slots=True)
class Binding:
    """Arrays and numbers that fit a kernel, ready to launch."""

    kernel: AnyKernel
    compiled: Compiled
    n: int
    arrays: Mapping[str, Array]
    """Every plane that is an array, as compiled code uses it: `(n,)`, or `()` for a lone sample."""
    own: Mapping[str, Array]
    """Arrays of the caller, as he gave them."""
    copied: tuple[str, ...]
    """Planes whose array is a copy of the caller's strided one."""
    words: Mapping[str, int]
    """The numbers for the whole launch, as words of a block."""
    allocated: tuple[str, ...]
    """State that the caller left out."""
    mask: str | None
    build_seconds: float
    device: Device

    def load(self) -> Loaded:
        """Put kernel and planes together on the device."""
        planes = [
            self.words[slot.name] if slot.role is Role.UNIFORM else self.arrays[slot.name]
            for slot in self.compiled.planes
        ]
        return self.device.load(self.compiled, planes, Partition.whole(self.n))

    @property
    def results(self) -> dict[str, Array]:
        """State planes, then outputs, as the caller gets them: his own arrays where he gave any."""
        names = [slot.name for slot in self.compiled.planes if slot.role is Role.STATE]
        names += [output.name for output in self.kernel.outputs]
        return {name: self.own.get(name, self.arrays[name]) for name in names}


def bind(
    kernel: AnyKernel,
    *,
    door: Door,
    planes: Mapping[str, object],
    args: Sequence[object] = (),
    n: SupportsIndex | None = None,
    out: object = None,
    problems: Sequence[str] = (),
) -> Binding:
    """Check everything and bind it.

    `args` are given by position, `planes` by name, `out` is an array or the return's nesting of
    arrays. `problems` are what the door itself found wrong. Raises BindError with all problems,
    HawkError where the kernel itself cannot be compiled.
    """
    given = match(kernel, args, planes, out, lists=door.lenient)
    return _Binder(kernel, door, given, problems).bind(n)


class _Binder:
    """One call on its way through the checks."""

    def __init__(
        self, kernel: AnyKernel, door: Door, arguments: Arguments, problems: Sequence[str]
    ) -> None:
        self.kernel, self.door = kernel, door
        self.given = arguments.values
        self.converted, self.meant = arguments.converted, arguments.meant
        self.problems = [*problems, *arguments.problems]
        self.real = DType.F64
        self.n = 0
        self.shape: Shape = None
        self.arrays: dict[str, Array] = {}
        self.own: dict[str, Array] = {}
        self.copied: list[str] = []
        self.numbers: dict[str, Number] = {}
        self.uniform: set[str] = set()
        self.starts: dict[str, Number] = {}
        self.left_out: list[Parameter] = []

    def bind(self, n: SupportsIndex | None) -> Binding:
        rows = self.given_by_sample()
        self.real = self.float_width(rows)
        self.measure(n, [value for _, value in rows.values()])
        for parameter in self.kernel.parameters:
            self.place(parameter)
        for output in self.kernel.outputs:
            if output.name in self.given:
                self.place_array(output.name, output.element, Role.OUTPUT)
        self.refuse_overlaps()
        if self.problems and not self.left_out:
            raise self.error()
        begin = time.perf_counter()
        compiled = self.kernel.compile(self.real, frozenset(self.uniform))
        build_seconds = time.perf_counter() - begin
        self.refuse_left_out(compiled)
        if self.problems:
            raise self.error()
        return self.allocate(compiled, build_seconds)

    def error(self) -> BindError:
        return BindError(self.door.name, self.kernel.name, tuple(self.problems))

    def refuse(self, name: str, why: str) -> None:
        self.problems.append(f"{name!r}: {why}")

    # -- what all planes have in common ----------------------------------------------------------

    def given_by_sample(self) -> dict[str, tuple[Element, object]]:
        """What was given for planes that hold one value a sample."""
        rows: dict[str, tuple[Element, object]] = {}
        for parameter in self.kernel.parameters:
            value = self.given.get(parameter.name)
            number = parameter.role is Role.INPUT and self.door.lenient and is_number(value)
            if parameter.role is not Role.UNIFORM and value is not None and not number:
                rows[parameter.name] = (parameter.element, value)
        for output in self.kernel.outputs:
            if output.name in self.given:
                rows[output.name] = (output.element, self.given[output.name])
        return rows

    def float_width(self, rows: dict[str, tuple[Element, object]]) -> DType:
        """The kernel's own, or the one that most float arrays have; float64 where none says."""
        if self.kernel.dtype is not None:
            return DType.F32 if self.kernel.dtype == "float32" else DType.F64
        narrow = wide = 0
        for name, (element, value) in rows.items():
            if element.dtype is None and is_array(value) and name not in self.converted:
                narrow += value.dtype == np.float32
                wide += value.dtype == np.float64
        return DType.F32 if narrow > wide else DType.F64

    def measure(self, n: SupportsIndex | None, values: list[object]) -> None:
        """Find the number of samples, and whether the values are those of a lone sample."""
        if n is not None:
            number = whole(n)
            if number is None or number < 0:
                self.refuse("n", f"expected a whole number of at least 0, got {shown(n)}")
            else:
                self.n, self.shape = number, (number,)
            return
        arrays = [value for value in values if is_array(value)]
        lengths = [array.shape[0] for array in arrays if array.ndim == 1]
        lengths = lengths or [array.size for array in arrays if array.ndim > 1]
        lengths = lengths or [len(v) for v in values if isinstance(v, (list, tuple, range))]
        if lengths:
            self.n = max(lengths, key=lengths.count)  # the first of those that most have
            self.shape = (self.n,)
        elif arrays or self.door.lenient:
            self.n, self.shape = 1, ()
        elif not values:
            self.refuse("n", "not known, because no plane is given as an array; write n=...")

    # -- one plane after the other ---------------------------------------------------------------

    def place(self, parameter: Parameter) -> None:
        name, role = parameter.name, parameter.role
        if name not in self.given:
            self.place_default(parameter)
        elif role is Role.UNIFORM:
            self.place_number(parameter, self.given[name])
        elif not self.door.lenient or not is_number(self.given[name]):
            self.place_array(name, parameter.element, role)
        elif role is Role.INPUT:
            self.place_number(parameter, self.given[name])
        elif self.shape == () and not is_array(self.given[name]):
            self.start_at(parameter, self.given[name])
        else:
            self.place_array(name, parameter.element, role)

    def place_default(self, parameter: Parameter) -> None:
        match parameter.role:
            case Role.MASK:
                pass
            case Role.STATE if parameter.default is NO_DEFAULT:
                self.left_out.append(parameter)
            case Role.STATE:
                self.start_at(parameter, parameter.default)
            case _ if parameter.default is not NO_DEFAULT:
                self.place_number(parameter, parameter.default)
            case _ if parameter.name not in self.meant:
                self.refuse(parameter.name, f"not given; expected {self.expected(parameter)}")
            case _:
                pass

    def expected(self, parameter: Parameter) -> str:
        dtype = parameter.element.at(self.real)
        if parameter.role is Role.UNIFORM:
            return f"one {dtype.numpy} for the whole launch"
        return f"{dtype.numpy} {'(n,)' if self.shape is None else self.shape}"

    def place_number(self, parameter: Parameter, value: object) -> None:
        if parameter.role is Role.INPUT:
            self.uniform.add(parameter.name)
        try:
            number = to_number(value, parameter.element.at(self.real))
        except ValueError as refusal:
            self.refuse(parameter.name, str(refusal))
        else:
            self.numbers[parameter.name] = number

    def start_at(self, parameter: Parameter, value: object) -> None:
        """State that begins as one number for all samples."""
        try:
            self.starts[parameter.name] = to_number(value, parameter.element.at(self.real))
        except ValueError as refusal:
            self.refuse(parameter.name, str(refusal))

    def place_array(self, name: str, element: Element, role: Role) -> None:
        value, dtype = self.given[name], element.at(self.real)
        written = role is not Role.INPUT
        array = value if is_array(value) else None
        if array is not None and name not in self.converted:
            self.own[name] = array
        if array is not None and not is_plane(array, dtype, self.shape, written=written):
            array = self.adapt(name, array, dtype, written=written) if self.door.lenient else None
        if array is not None:
            self.arrays[name] = array
            return
        why = misfit(name, value, dtype, self.shape, written=written)
        self.refuse(name, why + self.advice(element, role, value))

    def adapt(self, name: str, array: Array, dtype: DType, *, written: bool) -> Array | None:
        """Make a plane of an array that is none, where a direct call may."""
        converted = name in self.converted
        plane = array
        if converted or not written:
            plane = convert(array, dtype, floats=converted)
        if plane is None or (written and not plane.flags.writeable):
            return None
        if not plane.flags.c_contiguous:
            plane = np.ascontiguousarray(plane)
            self.copied.append(name)
        return plane if is_plane(plane, dtype, self.shape, written=written) else None

    def advice(self, element: Element, role: Role, value: object) -> str:
        """What else can be done about a plane that does not fit."""
        if role is Role.MASK:
            return ", or leave it out: eagle makes it"
        if element.dtype is not None or not is_array(value):
            return ""
        if value.dtype.kind != "f" or value.dtype.itemsize not in (4, 8):
            return ""
        if value.dtype.itemsize == self.real.itemsize:
            return ""
        if self.kernel.dtype is not None:
            return f", or take dtype={self.kernel.dtype!r} off the kernel"
        return f", or give every plane as {value.dtype}"

    # -- all planes together ---------------------------------------------------------------------

    def refuse_overlaps(self) -> None:
        inputs = {p.name for p in self.kernel.parameters if p.role is Role.INPUT}
        outputs = {output.name for output in self.kernel.outputs}
        for (one, first), (two, second) in combinations(self.own.items(), 2):
            if (one in inputs and two in inputs) or not overlap(first, second):
                continue
            if (
                one in inputs
                and two in outputs
                and self.door.in_place
                and same_plane(first, second)
            ):
                continue
            if one in inputs or two in inputs:
                read, written = (one, two) if one in inputs else (two, one)
                why = f"shares memory with {written!r}, which is written; write {read}.copy()"
                self.refuse(read, why)
            else:
                why = f"shares memory with {one!r}, and both are written; write {two}.copy()"
                self.refuse(two, why)

    def refuse_left_out(self, compiled: Compiled) -> None:
        """State may be left out where its value at the start is never read."""
        needed = {slot.name for slot in compiled.planes if slot.needed}
        for parameter in self.left_out:
            if parameter.name in needed - self.meant:
                self.refuse(parameter.name, f"not given; expected {self.expected(parameter)}")

    def allocate(self, compiled: Compiled, build_seconds: float) -> Binding:
        assert self.shape is not None
        allocated: list[str] = []
        mask: str | None = None
        for slot in compiled.planes:
            mask = slot.name if slot.role is Role.MASK else mask
            if slot.role is Role.UNIFORM or slot.name in self.arrays:
                continue
            array = self.arrays[slot.name] = HOST.zeros(self.shape, slot.dtype)
            if slot.name in self.starts:
                array[...] = self.starts[slot.name]
            if slot.role is Role.STATE and slot.name not in self.given:
                allocated.append(slot.name)
        words = {
            slot.name: raw_word(self.numbers[slot.name], slot.dtype)
            for slot in compiled.planes
            if slot.role is Role.UNIFORM
        }
        return Binding(
            kernel=self.kernel,
            compiled=compiled,
            n=self.n,
            arrays=self.arrays,
            own=self.own,
            copied=tuple(self.copied),
            words=words,
            allocated=tuple(allocated),
            mask=mask,
            build_seconds=build_seconds,
            device=HOST,
        )
