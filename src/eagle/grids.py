"""Binding kernels whose samples are arranged on a grid: arrays of many dimensions, seen as rows.

A Grid's array in C order is a row of all samples, which is what the other checks know. Here is
what a row does not tell: that all of them have one shape, and what comes back has it too.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import SupportsIndex

import numpy as np

from eagle.arguments import Arguments
from eagle.binding import AnyKernel, Array, Binding, Door
from eagle.devices.host.device import HOST
from eagle.devices.host.memory import address_of
from eagle.misfits import extents_of, table_misfit
from eagle.overlap import overlaps_itself
from eagle.params import shown, whole
from eagle.planes import is_plane, view_of
from eagle.small_arrays import SmallArrays
from hawk.annotations import Element, GridForm
from hawk.ir.hidden import dimension_name, whole_name
from hawk.ir.nodes import Role
from hawk.ir.reduce import result_of
from hawk.kernel import Parameter
from hawk.targets.base import Compiled

LARGEST = 2**31 - 1
"""Samples of a grid."""


class Grids(SmallArrays):
    """One call on its way through the checks, with planes that are grids."""

    def __init__(
        self,
        kernel: AnyKernel,
        door: Door,
        arguments: Arguments,
        problems: Sequence[str],
        layout: object,
    ) -> None:
        super().__init__(kernel, door, arguments, problems, layout)
        grid = kernel.signature.grid
        assert grid is not None
        self.form: GridForm = grid
        planes = [each for each in (*kernel.parameters, *kernel.outputs) if each.grid is not None]
        self.grids = {each.name: each.element for each in planes}
        """What a sample holds in each plane that is a grid."""
        self.given_grids = {name: self.given[name] for name in self.grids if name in self.given}
        """What the caller gave for them."""
        self.whole: dict[str, Array] = {}
        """The memory of those that are arrays."""
        self.arranged: tuple[int, ...] | None = None
        self.source = ""
        """The plane that the shape is taken from."""
        for name, value in self.given_grids.items():
            view = view_of(value)
            if view is not None and view.ndim == len(grid.axes):
                self.whole[name] = view
        self._arrange()
        self.apart = [name for name in self.given_grids if not self._fits(name)]
        """Planes that are no grid of this shape: no row of theirs is looked at."""
        for name in self.given_grids:
            if name in self.apart:
                del self.given[name]
            else:
                self.given[name] = self._row(name)

    def _arrange(self) -> None:
        """Find the extents: those that are known, and else those that most arrays have."""
        extents: list[int] = []
        for axis, known in enumerate(self.form.extents):
            found = [view.shape[axis] for view in self.whole.values()]
            if known is None and not found:
                return
            extents.append(max(found, key=found.count) if known is None else known)
        self.arranged = tuple(extents)
        same = (name for name, view in self.whole.items() if view.shape == self.arranged)
        self.source = next(same, "")

    def _fits(self, name: str) -> bool:
        """Has it the shape of the grid?"""
        view = self.whole.get(name)
        if view is None:
            return False
        contiguous = view.flags.c_contiguous or self.door.lenient
        return view.shape == self.arranged and contiguous and view.size <= LARGEST

    def _row(self, name: str) -> Array:
        """All samples of a plane in one row: its own memory, or a copy where that is strided."""
        view = self.whole[name]
        if view.flags.c_contiguous:
            return view.reshape(-1)
        self.copied[name] = view
        return np.ascontiguousarray(view).reshape(-1)

    # -- what all planes have in common ----------------------------------------------------------

    def measure(self, n: SupportsIndex | None) -> None:
        if self.arranged is None and len(self.form.axes) == 1 and n is not None:
            number = whole(n)
            if number is not None and number >= 0:
                self.arranged = (number,)
        if self.arranged is None:
            self._measure_without(n)
            return
        self.n = prod(self.arranged)
        if self.n > LARGEST:  # a place in it is an int32
            self.refuse("n", f"expected at most {LARGEST:,} samples of a grid, got {self.n:,}")
        self.shape = (self.n,)
        number = self.n if n is None else whole(n)
        if number != self.n:
            of = " * ".join(map(str, self.arranged))
            like = f" like {self.said(self.source)!r}" if self.source else ""
            why = f"expected {of} = {self.n} samples{like}, got {shown(n)}; leave n= out"
            self.refuse("n", why)
        for name in self.apart:
            self._refuse_grid(name)
        for name in self.unsplit:
            self._misfit(name)

    def _measure_without(self, n: SupportsIndex | None) -> None:
        """No array tells the shape of the grid."""
        super().measure(n)
        for name in self.apart:
            self._refuse_grid(name)
        missing = [each.name for each in self.parameters if each.name in self.grids]
        missing = [name for name in missing if name not in self.given_grids]
        inputs = [each.name for each in self.parameters if each.role is Role.INPUT]
        if self.apart or set(missing) & set(inputs):
            return  # which is said, or will be
        name = missing[0] if missing else "out"
        shape = ", ".join(self.form.axes) + "," * (len(self.form.axes) == 1)
        why = "the extents of the grid are not known, because no plane of it is given; write "
        self.refuse(name, f"{why}{name}=np.empty(({shape}))")
        self.meant.add(name)  # that is all there is to say of it

    def like(self) -> str:
        return f" like {self.said(self.source)!r}" if self.source else super().like()

    # -- one plane after the other ---------------------------------------------------------------

    def place(self, parameter: Parameter) -> None:
        if parameter.name in self.apart:
            return
        super().place(parameter)

    def place_array(self, name: str, element: Element, role: Role) -> None:
        if name not in self.grids:
            super().place_array(name, element, role)
            return
        view, dtype, written = self.views[name], element.dtype or self.real, role is not Role.INPUT
        if name not in self.converted:
            self.own[name] = self.given_grids[name]
        memory = self.whole[name]
        writable = not written or (memory.flags.writeable and not overlaps_itself(memory))
        if writable and is_plane(view, dtype, self.shape, written=written):
            self.arrays[name] = view
            start = self.addresses[name] = address_of(view)
            if name not in self.copied:
                self.spans.append((start, start + view.nbytes))
            return
        array = None
        if self.door.lenient and writable:
            array = self.adapt(name, view, dtype, written=written)
        if array is None:
            self._refuse_grid(name)
        else:
            self.arrays[name] = array

    def _refuse_grid(self, name: str) -> None:
        """Say what is wrong with the array of a plane."""
        element, role, value = self.grids[name], self.roles[name], self.given_grids[name]
        why = table_misfit(
            self.said(name),
            value,
            element.at(self.real),
            self._form(element),
            lenient=self.door.lenient,
            role=role,
            like=f" like {self.said(self.source)!r}" if self.source not in ("", name) else "",
        )
        advice = self.advice(element, role, view_of(value)) if "; write" in why else ""
        self.refuse(name, why + advice)
        self.own.pop(name, None)

    def _form(self, element: Element) -> GridForm:
        return GridForm(element, self.arranged or self.form.extents, self.form.axes)

    def refuse_missing(self, parameter: Parameter) -> None:
        name = parameter.name
        if name not in self.grids:
            super().refuse_missing(parameter)
            return
        expected = extents_of(self._form(parameter.element))
        dtype, fix = parameter.element.at(self.real).numpy, self.how(parameter)
        if not self.is_absent(parameter):
            self.refuse(name, f"not given; expected a grid, {dtype} {expected}; {fix}")

    # -- all planes together ---------------------------------------------------------------------

    def refuse_overlaps(self) -> None:
        for name, view in self.whole.items():
            if name in self.own:
                self.views[name] = view  # the caller's memory counts, not what stands in for it
        super().refuse_overlaps()

    def may_be_output(self, name: str, role: Role) -> bool:
        return name not in self.grids and super().may_be_output(name, role)

    def refuse_shared(self, name: str, other: str, why: str) -> None:
        if name in self.grids and self.roles[name] is Role.INPUT:
            why = ", which is written while others read their neighbours"
        super().refuse_shared(name, other, why)

    def allocate(self, compiled: Compiled, build_seconds: float) -> Binding:
        assert self.arranged is not None
        made: dict[str, Array] = {}
        for slot in compiled.planes:
            if slot.name in self.grids and slot.name not in self.arrays:
                made[slot.name] = HOST.zeros(self.arranged, slot.dtype)
                if slot.name in self.starts:
                    made[slot.name][...] = self.starts[slot.name]
                self.arrays[slot.name] = made[slot.name].reshape(-1)
        for name in self.grids:
            if self.roles[name] is Role.INPUT:
                self.arrays[whole_name(name)] = self.arrays[name]
        for axis, extent in zip(self.form.axes, self.arranged, strict=True):
            self.numbers[dimension_name(axis)] = extent
        for phase in compiled.phases:
            if phase.lines is not None:  # a table with the number of each line
                kept = (e for axis, e in enumerate(self.arranged) if axis not in phase.lines.over)
                self.arrays[phase.plane] = HOST.zeros(
                    (prod(kept),), result_of(phase.kind, phase.dtype)
                )
        binding = super().allocate(compiled, build_seconds)
        for name in self.grids:
            self.arrays[name] = self.arrays[name].reshape(self.arranged)
        self.arrays.update(made)
        states = [each.name for each in self.kernel.parameters if each.role is Role.STATE]
        left_out = {*binding.allocated, *(n for n in made if n not in self.given_grids)}
        order = [name for name in states if name in left_out]
        binding.allocated = tuple(order + [n for n in binding.allocated if n not in states])
        return binding
