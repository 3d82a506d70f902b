"""Binding kernels whose planes hold a small array a sample: each of its components is bound.

A kernel of scalars never comes here. An array is split into rows before the checks; what is wrong
with a row is said of the array it is part of.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from eagle.arguments import Arguments
from eagle.binder import Binder
from eagle.binding import AnyKernel, Array, Binding, Door
from eagle.devices.host.device import HOST
from eagle.devices.host.memory import address_of
from eagle.errors import LayoutWarning, user_level
from eagle.layouts import Axis, Copy, Oriented, fit, has_unit_stride, parse_layout, rows, turned
from eagle.misfits import copy_of, misfit_of_whole
from eagle.params import shown
from eagle.planes import convert, is_plane, view_of
from hawk.annotations import Element, owner
from hawk.ir.nodes import Role
from hawk.kernel import Parameter
from hawk.targets.base import Compiled


class SmallArrays(Binder):
    """One call on its way through the checks, with planes of small arrays."""

    def __init__(
        self,
        kernel: AnyKernel,
        door: Door,
        arguments: Arguments,
        problems: Sequence[str],
        layout: object,
    ) -> None:
        super().__init__(kernel, door, arguments, problems)
        signature = kernel.signature
        self.parameters, self.outputs = signature.scalars
        self.shaped: Mapping[str, Element] = signature.shaped
        self.roles = {each.name: each.role for each in (*kernel.parameters, *kernel.outputs)}
        texts = {each.name: each.text for each in (*kernel.parameters, *kernel.outputs)}
        called = {name: name for name in self.shaped} | {texts[name]: name for name in self.shaped}
        axes, wrong = parse_layout(layout, called)
        self.problems += wrong
        self.theirs: dict[str, Any] = {}
        """What the caller gave for planes of small arrays."""
        self.axes: dict[str, Axis | None] = {}
        self.wholes: dict[str, Array] = {}
        """What a direct call made of lists, with the samples last."""
        self.copies: list[Copy] = []
        self.told: set[str] = set()
        """Planes that something is said of already."""
        self.shared: set[tuple[str, str]] = set()
        self.unsplit: set[str] = set()
        """Planes whose array has no rows that could be bound."""
        for name, element in self.shaped.items():
            if name in self.given:
                self._split(name, element, self.given.pop(name), axes.get(name))
        for name, value in list(self.given.items()):
            if isinstance(value, Oriented):
                self.given[name] = value.array  # of one element a sample: no two ways to read it
        self.meant = {each for name in self.meant for each in self._components(name)}

    def _components(self, name: str) -> tuple[str, ...]:
        element = self.shaped.get(name)
        return (name,) if element is None else element.components(name)

    # -- from arrays to rows ---------------------------------------------------------------------

    def _split(self, name: str, element: Element, value: Any, said: Axis | None) -> None:
        if isinstance(value, Oriented):
            value, said = value.array, value.axis
        self.theirs[name] = value
        names, view = element.components(name), view_of(value)
        if self.roles[name] is Role.UNIFORM:
            self._split_numbers(name, element, value)
            return
        found = None if view is None else fit(view.shape, element.shape, said)
        if found is None or view is None or found.axis is None:
            self.unsplit.add(name)
            self.axes[name] = said
            if found is not None and found.both and view is not None:
                self._tell(name, _reads_both_ways(self.said(name), view, element))
            return
        axis = self.axes[name] = found.axis
        array = turned(view, axis)
        if name in self.converted:
            self.converted.update(names)
            self.wholes[name] = array
        elif axis is Axis.FIRST and not has_unit_stride(array) and view.flags.c_contiguous:
            array = self._copied(name, array)
        self.given.update(zip(names, rows(array, element.shape, axis), strict=True))

    def _copied(self, name: str, array: Array) -> Array:
        written = self.roles[name] is not Role.INPUT
        if written and not array.flags.writeable:
            return array
        unread = self.door.remote  # and refused, once all else has been looked at
        ours = np.empty(array.shape, array.dtype) if unread else np.array(array, order="C")
        copy = Copy(name, array, ours, written)
        self.copies.append(copy)
        return copy.ours

    def _split_numbers(self, name: str, element: Element, value: Any) -> None:
        """One small array for the whole launch: a sequence or an array of its numbers."""
        try:
            array = np.asarray(value)
        except ValueError:  # rows that differ in length
            array = np.empty(0)
        if array.shape not in (element.shape, (len(element.components(name)),)):
            got = shown(value)
            if isinstance(value, (list, tuple)):
                got = f"{got} of shape {array.shape}" if array.size else f"{got} of uneven rows"
            self.unsplit.add(name)
            kind = element.at(self.real).numpy
            self._tell(name, f"expected {kind} {element.shape} for the whole launch, got {got}")
            return
        self.given.update(zip(element.components(name), array.ravel(), strict=True))

    # -- what all planes have in common ----------------------------------------------------------

    def look(self) -> None:
        super().look()
        for name, array in self.wholes.items():
            element = self.shaped[name]
            whole = convert(array, element.at(self.real), floats=True)
            if whole is None:
                continue  # said when its rows are placed
            self.wholes[name] = whole = np.array(whole, order="C")
            axis = self.axes[name]
            assert axis is not None
            parts = rows(whole, element.shape, axis)
            self.views.update(zip(element.components(name), parts, strict=True))

    def measure(self, n: Any) -> None:
        super().measure(n)
        for name in self.unsplit:
            self._misfit(name)

    # -- one plane after the other ---------------------------------------------------------------

    def place(self, parameter: Parameter) -> None:
        if owner(parameter.name) not in self.unsplit:
            super().place(parameter)

    def place_array(self, name: str, element: Element, role: Role) -> None:
        whole = owner(name)
        if whole not in self.shaped:
            super().place_array(name, element, role)
            return
        if whole in self.told:
            return
        view = self.views.get(name)
        if view is None:  # a number for one component, which no caller can give
            self._misfit(whole)
            return
        dtype, written = element.dtype or self.real, role is not Role.INPUT
        if name not in self.converted:
            self.own[name] = view
        if is_plane(view, dtype, self.shape, written=written):
            self.arrays[name] = view
            start = address_of(view)
            self.spans.append((start, start + view.nbytes))
            return
        array = self.adapt(name, view, dtype, written=written) if self.door.lenient else None
        if array is None:
            self._misfit(whole)
            return
        self.arrays[name] = array

    def place_number(self, parameter: Parameter, value: object) -> None:
        whole = owner(parameter.name)
        before = len(self.problems)
        super().place_number(parameter, value)
        if whole in self.shaped and len(self.problems) > before:
            # Said once, of the first of its numbers.
            said = self.problems[before:]
            del self.problems[before:]
            if whole not in self.told:
                self.told.add(whole)
                self.problems += said

    def refuse_missing(self, parameter: Parameter) -> None:
        whole = owner(parameter.name)
        if whole not in self.shaped:
            super().refuse_missing(parameter)
            return
        element = self.shaped[whole]
        dtype = parameter.element.at(self.real).numpy
        known = self.shape is not None and (self.shape or self.views)
        tail = self.shape if known and self.shape is not None else ("n",)
        sizes = ", ".join(map(str, (*element.shape, *tail)))
        expected = f"{dtype} ({sizes}{',' * (len(element.shape) + len(tail) == 1)})"
        if parameter.role is Role.UNIFORM:
            expected = f"{dtype} {element.shape} for the whole launch"
        parameter = next(each for each in self.kernel.parameters if each.name == whole)
        if not self.is_absent(parameter):
            self._tell(whole, f"not given; expected {expected}; {self.how(parameter)}")

    def _misfit(self, whole: str) -> None:
        """Say once what is wrong with an array."""
        if whole in self.told:
            return
        element = self.shaped[whole]
        why = misfit_of_whole(
            self.said(whole),
            self.theirs[whole],
            element.dtype or self.real,
            element.shape,
            self.shape,
            first=self.axes.get(whole) is Axis.FIRST,
            role=self.roles[whole],
            like=self.like(),
        )
        view, said = view_of(self.theirs[whole]), self.axes.get(whole)
        other = {Axis.FIRST: Axis.LAST, Axis.LAST: Axis.FIRST}.get(said or Axis.NONE)
        if (
            view is not None
            and other is not None
            and whole in self.unsplit
            and fit(view.shape, element.shape, other).axis is other
        ):
            problem = why.partition("; each")[0].partition("; write")[0]
            why = f"{problem}; write eagle.{other.value}({self.said(whole)})"
        if "; write" in why:
            why += self.advice(element, self.roles[whole], view)
        self._tell(whole, why)

    def _tell(self, whole: str, why: str) -> None:
        if whole not in self.told:
            self.told.add(whole)
            self.refuse(whole, why)

    # -- all planes together ---------------------------------------------------------------------

    def refuse_overlaps(self) -> None:
        for copy in self.copies:
            # The caller's array is read and written too: it counts, as one more part of its plane.
            part = f"{copy.name}["
            self.own[part] = self.views[part] = copy.theirs
            start = address_of(copy.theirs)
            self.spans.append((start, start + copy.theirs.nbytes))
            for each in self.shaped[copy.name].components(copy.name):
                self.own.pop(each, None)
        super().refuse_overlaps()

    def copied_roles(self) -> dict[str, Role]:
        return {f"{copy.name}[": self.roles[copy.name] for copy in self.copies}

    def refuse_shared(self, name: str, other: str, why: str) -> None:
        one, two = owner(name), owner(other)
        if one == two:
            fix = copy_of(self.said(one), self.theirs[one])
            self._tell(one, f"its rows share memory, so one would change another; write {fix}")
            return
        if (one, two) not in self.shared and (two, one) not in self.shared:
            self.shared.add((one, two))
            fix = copy_of(self.said(one), self.theirs.get(one, self.own.get(one)))
            self.refuse(one, f"shares memory with {self.said(two)!r}{why}; write {fix}")

    def compile(self) -> Compiled:
        uniform = frozenset([owner(name) for name in self.uniform])
        return self.kernel.compile(self.real, uniform)

    def allocate(self, compiled: Compiled, build_seconds: float) -> Binding:
        assert self.shape is not None
        made: dict[str, Array] = {}
        for slot in compiled.planes:
            whole = owner(slot.name)
            if whole not in self.shaped or slot.role is Role.UNIFORM or slot.name in self.arrays:
                continue
            element = self.shaped[whole]
            if whole not in made:
                made[whole] = HOST.zeros((*element.shape, *self.shape), slot.dtype)
                names = element.components(whole)
                parts = made[whole].reshape(len(names), *self.shape)
                for place, name in enumerate(names):
                    self.arrays[name] = parts[place, ...]
                    if name in self.starts:
                        self.arrays[name][...] = self.starts[name]
        binding = super().allocate(compiled, build_seconds)
        self.arrays.update(made)
        self.arrays.update(self.wholes)
        states = [each.name for each in self.kernel.parameters if each.role is Role.STATE]
        left_out = {name for name in made if name in states and name not in self.theirs}
        order = [name for name in states if name in left_out or name in binding.allocated]
        hidden = [name for name in binding.allocated if name not in states]
        binding.allocated = tuple(order + hidden)
        own = {name: value for name, value in self.own.items() if "[" not in name}
        kept = {name for name in self.theirs if self.roles[name] is not Role.UNIFORM}
        own.update({name: self.theirs[name] for name in kept - self.converted})
        binding.own, binding.copies = own, tuple(self.copies)
        self._warn()
        return binding

    def _warn(self) -> None:
        if not self.copies or self.door.remote:
            return
        names = ", ".join(f"{self.said(copy.name)!r}" for copy in self.copies)
        first, text = self.copies[0], self.said(self.copies[0].name)
        door = self.door.name.format(kernel=self.kernel.name)
        # `.T` would turn round the rows and columns of each matrix as well.
        turned = f"{text}.T" if first.ours.ndim == 2 else f"np.moveaxis({text}, 0, -1)"
        warnings.warn(
            f"{door}: samples are the first axis of {names}, so each is copied in and out; give "
            f"{first.ours.shape}, such as np.ascontiguousarray({turned}), to avoid it",
            LayoutWarning,
            stacklevel=user_level(),
        )


def _reads_both_ways(name: str, view: Array, element: Element) -> str:
    return (
        f"expected a {element.name} for each sample, got {view.dtype} {view.shape}, whose samples "
        f"may be the first axis or the last; write eagle.samples_last({name}) or "
        f"eagle.samples_first({name})"
    )
