"""A call on its way to bound planes: every check, and every message.

All checks come before a byte is touched: what is wrong is collected and said at once.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, SupportsIndex

import numpy as np

from eagle.arguments import Arguments, match
from eagle.binding import AnyKernel, Array, Binding, Door, as_given
from eagle.bundles import expected as expected_of
from eagle.devices.host.device import HOST
from eagle.devices.host.memory import address_of
from eagle.errors import BindError
from eagle.exact import exact
from eagle.interop.base import foreign
from eagle.misfits import copy_of, extents_of, misfit, table_misfit
from eagle.overlap import are_apart, overlaps, overlaps_itself, same_plane
from eagle.params import is_number, shown, to_number, whole
from eagle.planes import Shape, convert, is_plane, view_of, width_of
from hawk.annotations import Element, owner
from hawk.ir.hidden import N_SAMPLES, extent_name
from hawk.ir.nodes import CHANGED, TABLES, Number, Role
from hawk.ir.types import DType
from hawk.kernel import NO_DEFAULT, Output, Parameter
from hawk.targets.base import Compiled, raw_word

_NO_STARTS: Mapping[str, Number] = {}
_NO_COPIES: Mapping[str, Array] = {}


def bind(
    kernel: AnyKernel,
    *,
    door: Door,
    planes: Mapping[str, object],
    args: Sequence[object] = (),
    n: SupportsIndex | None = None,
    out: object = None,
    problems: Sequence[str] = (),
    layout: object = None,
) -> Binding:
    """Check everything and bind it.

    `args` are given by position, `planes` by name, `out` is an array or the return's nesting of
    arrays. `problems` are what the door itself found wrong. Raises BindError with all problems,
    HawkError where the kernel itself cannot be compiled.
    """
    if n is None and out is None and layout is None and not args and not problems:
        fit = exact(kernel, planes)
        if fit is not None:
            return as_given(kernel, fit)
    given = match(kernel, args, planes, out, lists=door.lenient)
    if all(type(value) in _ON_THE_HOST for value in given.values.values()):
        return _bound(kernel, door, given, problems, layout, n)
    from eagle.elsewhere import elsewhere  # most arrays are NumPy's

    there = elsewhere(kernel, door, given)
    if there is None:
        return _bound(kernel, door, given, problems, layout, n)
    return there.moved(_bound(kernel, there.door(door), given, problems, layout, n))


_ON_THE_HOST = frozenset({np.ndarray, float, int, bool, np.float64, list, tuple})
"""Types of nearly all that is given."""


def _bound(
    kernel: AnyKernel,
    door: Door,
    given: Arguments,
    problems: Sequence[str],
    layout: object,
    n: SupportsIndex | None,
) -> Binding:
    if kernel.signature.grid is not None:
        from eagle.grids import Grids  # few kernels have one

        return Grids(kernel, door, given, problems, layout).bind(n)
    if kernel.signature.shaped or layout is not None:
        from eagle.small_arrays import SmallArrays  # kernels of scalars have no need of it

        return SmallArrays(kernel, door, given, problems, layout).bind(n)
    return Binder(kernel, door, given, problems).bind(n)


class Binder:
    """One call on its way through the checks."""

    def __init__(
        self, kernel: AnyKernel, door: Door, arguments: Arguments, problems: Sequence[str]
    ) -> None:
        self.kernel, self.door = kernel, door
        self.parameters, self.outputs = kernel.parameters, kernel.outputs
        self.given = arguments.values
        self.named = frozenset(arguments.values)
        """All planes that were given."""
        self.converted, self.meant = arguments.converted, arguments.meant
        self.texts, self.opened = arguments.texts, arguments.opened
        self.absent: set[str] = set()
        """Objects that were not given, and are told of already."""
        self.problems = [*problems, *arguments.problems]
        self.real = DType.F64
        self.n = 0
        self.asked = False
        """Was n given, and is it the one?"""
        self.shape: Shape = None
        self.views: dict[str, Array] = {}
        """The memory of what was given for planes that hold one value a sample."""
        self.lengths: dict[str, int] = {}
        """The length of those that have one dimension."""
        self.spans: list[tuple[int, int]] = []
        """First byte and one past the last, of planes that are used as the caller gave them."""
        self.arrays: dict[str, Array] = {}
        self.addresses: dict[str, int] = {}
        """Where those are that are used as the caller gave them."""
        self.own: dict[str, Any] = {}
        self.copied: dict[str, Array] = {}
        self.numbers: dict[str, Number] = {}
        self.uniform: set[str] = set()
        self.starts: dict[str, Number] = {}
        self.left_out: list[Parameter] = []
        self.tables = False

    def bind(self, n: SupportsIndex | None) -> Binding:
        self.look()
        self.measure(n)
        views = self.views
        for parameter in self.parameters:
            if parameter.name in views:
                self.place_array(parameter.name, parameter.element, parameter.role)
            else:
                self.place(parameter)
        for output in self.outputs:
            if output.name in self.given:
                self.place_array(output.name, output.element, Role.OUTPUT)
        self.refuse_overlaps()
        if self.problems and not self.left_out:
            raise self.error()
        begin = time.perf_counter()
        compiled = self.compile()
        build_seconds = time.perf_counter() - begin
        if self.left_out:
            self.refuse_left_out(compiled)
        if self.tables:
            self.refuse_unlike_tables()
        if self.problems:
            raise self.error()
        return self.allocate(compiled, build_seconds)

    def compile(self) -> Compiled:
        return self.kernel.compile(self.real, frozenset(self.uniform))

    def error(self) -> BindError:
        door = self.door.name.format(kernel=self.kernel.name)
        return BindError(door, self.kernel.name, tuple(self.problems))

    def refuse(self, name: str, why: str) -> None:
        self.problems.append(f"{self.said(name)!r}: {why}")

    def said(self, name: str) -> str:
        """A plane as the caller wrote it: `body.mass` of an object, else its name."""
        return self.texts.get(name, name)

    # -- what all planes have in common ----------------------------------------------------------

    def look(self) -> None:
        """See the memory of what was given by sample, its lengths, its float width."""
        given, views, narrow, wide = self.given, self.views, 0, 0
        each: Parameter | Output
        for each in (*self.parameters, *self.outputs):
            name = each.name
            if each.role is Role.UNIFORM or name not in given:
                continue
            if each.role in TABLES:
                width = width_of(given[name]) if each.element.dtype is None else ""
                narrow += width == "f"
                wide += width == "d"
                continue
            view = view_of(given[name])
            if view is None:
                continue
            if view.ndim == 1:
                self.lengths[name] = len(view)
            elif view.ndim == 0 and each.role is Role.INPUT and self.door.lenient:
                given[name] = view[()]  # a number for all samples
                continue
            views[name] = view
            if each.element.dtype is None and name not in self.converted:
                char = view.dtype.char
                narrow += char == "f"
                wide += char == "d"
        if self.kernel.dtype is not None:
            self.real = DType.F32 if self.kernel.dtype == "float32" else DType.F64
        elif narrow > wide:
            self.real = DType.F32

    def measure(self, n: SupportsIndex | None) -> None:
        """Find the number of samples, and whether the values are those of a lone sample."""
        if n is not None:
            number = whole(n)
            if number is None or number < 0:
                self.refuse("n", f"expected a whole number of at least 0, got {shown(n)}")
            else:
                self.n, self.shape = number, (number,)
                lengths = set(self.lengths.values())
                if len(lengths) != 1 or number in lengths:
                    self.asked = True
                    return
                first, length = next(iter(self.lengths.items()))
                like = self.said(owner(first))
                self.refuse("n", f"expected {length} like {like!r}, got {number}; leave n= out")
        lengths = list(self.lengths.values())
        if not lengths:
            lengths = [view.size for view in self.views.values() if view.ndim > 1]
        others = self.given_by_sample() if not lengths else {}
        if not lengths:
            lengths = [len(v) for v in others.values() if isinstance(v, (list, tuple, range))]
        if lengths:
            self.n = _usual(lengths)
            self.shape = (self.n,)
        elif self.views or (self.door.lenient and all(map(is_number, others.values()))):
            self.n, self.shape = 1, ()
        elif not others and n is None and not self.opened:  # else an object was refused
            self.refuse("n", "not known, because no plane is given as an array; write n=...")

    def like(self) -> str:
        """What the shape was taken from, as a message says it."""
        if self.asked:
            return f" for n={self.n}"
        first = next((name for name, n in self.lengths.items() if n == self.n), None)
        return "" if first is None else f" like {self.said(owner(first))!r}"

    def given_by_sample(self) -> dict[str, object]:
        """What was given for planes that hold one value a sample."""
        shared = {p.name for p in self.parameters if p.role in TABLES | {Role.UNIFORM}}
        return {k: v for k, v in self.given.items() if k not in shared}

    # -- one plane after the other ---------------------------------------------------------------

    def place(self, parameter: Parameter) -> None:
        name, role = parameter.name, parameter.role
        if name not in self.given:
            self.place_default(parameter)
        elif role is Role.UNIFORM:
            self.place_number(parameter, self.given[name])
        elif role in TABLES:
            self.place_table(parameter, self.given[name])
        elif not is_number(self.given[name]):
            self.place_array(name, parameter.element, role)
        elif role is Role.INPUT and (self.door.lenient or self.door.numbers):
            self.place_number(parameter, self.given[name])
        elif not self.door.lenient:
            self.place_array(name, parameter.element, role)
        elif self.shape == ():
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
                self.refuse_missing(parameter)
            case _:
                pass

    def refuse_missing(self, parameter: Parameter) -> None:
        dtype = parameter.element.at(self.real)
        known = self.shape is not None and (self.shape or self.views)
        expected = f"{dtype.numpy} {self.shape if known else '(n,)'}"
        if parameter.role is Role.UNIFORM:
            expected = f"one {dtype.numpy} for the whole launch"
        if parameter.table is not None:
            expected = f"a table, {dtype.numpy} {extents_of(parameter.table)}"
        name = parameter.name
        if not self.is_absent(parameter):
            self.refuse(name, f"not given; expected {expected}; {self.how(parameter)}")

    def how(self, parameter: Parameter) -> str:
        """What to write for a plane that was not given."""
        if parameter.path and parameter.path[0] in self.opened:
            return f"write {parameter.text} = ..."
        return f"write {parameter.name}=..."

    def is_absent(self, parameter: Parameter) -> bool:
        """Is all of the object missing that a plane is a field of? That is told once."""
        bundles = {each.name: each for each in self.kernel.signature.bundles}
        bundle = bundles.get(parameter.root)
        if bundle is None or bundle.name in self.opened:
            return False
        if any(plane.name in self.named for _, plane in bundle.planes()):
            return False
        if bundle.name not in self.absent | self.meant:
            self.absent.add(bundle.name)
            self.refuse(bundle.name, f"not given; expected {expected_of(bundle)}")
        return True

    def place_number(self, parameter: Parameter, value: object) -> None:
        if parameter.role is Role.INPUT:
            self.uniform.add(parameter.name)
        if type(value) is not float and type(value) is not int:
            view = view_of(value)
            value = value if view is None else view
        try:
            number = to_number(value, parameter.element.at(self.real))
        except ValueError as refusal:
            fix = _number_fix(parameter, self.said(parameter.name), value, self.real)
            self.refuse(parameter.name, f"{refusal}{fix}")
        else:
            self.numbers[parameter.name] = number

    def place_table(self, parameter: Parameter, value: object) -> None:
        """Numbers that all samples share."""
        name, form, lenient = parameter.name, parameter.table, self.door.lenient
        assert form is not None
        dtype, given = form.element.at(self.real), view_of(value)
        view, role = given, parameter.role
        if lenient and given is not None and (role is Role.TABLE or name in self.converted):
            converted = convert(given, dtype, floats=name in self.converted)
            view = given if converted is None else converted
        tried = value if view is given else view
        text = self.said(name)
        why = table_misfit(text, tried, dtype, form, role=role, lenient=lenient)
        if why or view is None:
            self.refuse(name, why + self.advice(form.element, role, view))
            return
        if not view.flags.c_contiguous:
            self.copied[name] = view
            if role is Role.SHARED:
                self.own[name], self.views[name] = value, view
            view = np.ascontiguousarray(view)
        elif view is given and name not in self.converted:
            self.own[name], self.views[name] = value, view
            start = address_of(view)
            self.spans.append((start, start + view.nbytes))
        self.arrays[name], self.tables = view, True
        for axis, extent in enumerate(view.shape):
            self.numbers[extent_name(name, axis)] = extent

    def start_at(self, parameter: Parameter, value: object) -> None:
        """State that begins as one number for all samples."""
        try:
            self.starts[parameter.name] = to_number(value, parameter.element.at(self.real))
        except ValueError as refusal:
            self.refuse(parameter.name, str(refusal))

    def place_array(self, name: str, element: Element, role: Role) -> None:
        value, dtype = self.given[name], element.dtype or self.real
        written = role is not Role.INPUT
        array = view = self.views.get(name)
        if view is not None:
            if name not in self.converted:
                self.own[name] = value
            if is_plane(view, dtype, self.shape, written=written):
                self.arrays[name] = view
                start = self.addresses[name] = address_of(view)
                self.spans.append((start, start + view.nbytes))
                return
            array = self.adapt(name, view, dtype, written=written) if self.door.lenient else None
        if array is not None:
            self.arrays[name] = array
            return
        why = misfit(self.said(name), value, dtype, self.shape, role=role, like=self.like())
        self.refuse(name, why + self.advice(element, role, view))
        if view is not None and not is_plane(view, dtype, view.shape, written=written):
            self.own.pop(name, None)  # it will be another array, which overlaps nothing

    def adapt(self, name: str, array: Array, dtype: DType, *, written: bool) -> Array | None:
        """Make a plane of an array that is none, where a direct call may."""
        converted = name in self.converted
        plane = array
        if converted or not written:
            plane = convert(array, dtype, floats=converted)
        if plane is None or plane.shape != self.shape:
            return None
        if written and (not plane.flags.writeable or overlaps_itself(plane)):
            return None
        if not plane.flags.c_contiguous:
            plane = np.ascontiguousarray(plane)
            self.copied[name] = array
        return plane if is_plane(plane, dtype, self.shape, written=written) else None

    def advice(self, element: Element, role: Role, view: Array | None) -> str:
        """What else can be done about a plane that does not fit."""
        if role is Role.MASK:
            return ", or leave it out: eagle makes it"
        if element.dtype is not None or view is None or role is Role.OUTPUT:
            return ""
        if view.dtype.kind != "f" or view.dtype.itemsize not in (4, 8) or not view.dtype.isnative:
            return ""
        if view.dtype.itemsize == self.real.itemsize:
            return ""
        if self.kernel.dtype is not None:
            return f", or take dtype={self.kernel.dtype!r} off the kernel"
        return f", or give every plane as {view.dtype}"

    # -- all planes together ---------------------------------------------------------------------

    def refuse_overlaps(self) -> None:
        """A plane that is written shares no byte with another of the launch.

        One exception: an output may be exactly an input, where the door allows it.
        """
        if len(self.spans) == len(self.own) and are_apart(self.spans):
            return
        roles = {each.name: each.role for each in (*self.parameters, *self.outputs)}
        roles.update(self.copied_roles())
        names = list(self.own)
        arrays = [self.views[name] for name in names]
        for i, j in overlaps(arrays, [roles[name] in CHANGED for name in names]):
            one, two = names[i], names[j]
            if roles[one] in CHANGED and roles[two] in CHANGED:
                self.refuse_shared(two, one, ", and both are written")
                continue
            read, written = (one, two) if roles[two] in CHANGED else (two, one)
            allowed = self.door.in_place and roles[written] is Role.OUTPUT
            allowed = allowed and self.may_be_output(read, roles[read])
            if not (allowed and same_plane(arrays[i], arrays[j])):
                self.refuse_shared(read, written, ", which is written")

    def may_be_output(self, name: str, role: Role) -> bool:
        """Does each sample read no more of it than its own number, before that is stored?"""
        return role is not Role.TABLE

    def copied_roles(self) -> dict[str, Role]:
        """The roles of memory that counts besides that of the planes."""
        return {}

    def refuse_shared(self, name: str, other: str, why: str) -> None:
        """Refuse a plane that shares memory with another."""
        fix = copy_of(self.said(name), self.own[name])
        self.refuse(name, f"shares memory with {self.said(other)!r}{why}; write {fix}")

    def refuse_left_out(self, compiled: Compiled) -> None:
        """State may be left out where its value at the start is never read."""
        needed = {slot.name for slot in compiled.planes if slot.needed}
        for parameter in self.left_out:
            if parameter.name in needed - self.meant:
                self.refuse_missing(parameter)

    def refuse_unlike_tables(self) -> None:
        """Knots and values are as many."""
        uniform = frozenset([owner(name) for name in self.uniform])
        for one, other in self.kernel.program.trace(self.real, uniform).as_long:
            first, second = len(self.arrays[one]), len(self.arrays[other])
            if first != second:
                why = f"has {second} elements, and {self.said(one)!r} has {first}; the kernel "
                why += "needs as many"
                self.refuse(other, why)

    def allocate(self, compiled: Compiled, build_seconds: float) -> Binding:
        """Bind what was placed, and make the arrays that nobody gave."""
        assert self.shape is not None
        return _complete(
            self.kernel,
            compiled,
            self.shape,
            _Placed(self.arrays, self.addresses, self.numbers),
            self.own,
            build_seconds,
            given=self.given,
            starts=self.starts,
            copied=self.copied,
        )


class _Placed(NamedTuple):
    """What there is to bind, by the name of the plane."""

    arrays: dict[str, Array]
    addresses: Mapping[str, int]
    """Where arrays are, as far as that was looked up."""
    numbers: Mapping[str, Number]


def _complete(
    kernel: AnyKernel,
    compiled: Compiled,
    shape: tuple[int, ...],
    placed: _Placed,
    own: Mapping[str, Any],
    build_seconds: float,
    *,
    given: Collection[str] = (),
    starts: Mapping[str, Number] = _NO_STARTS,
    copied: Mapping[str, Array] = _NO_COPIES,
) -> Binding:
    """Put planes in the order of the compiled kernel, and make those that are not there."""
    arrays, addresses, numbers = placed
    n = shape[0] if shape else 1
    allocated: list[str] = []
    planes: list[Array | int] = []
    words: list[int] = []
    mask: str | None = None
    for slot in compiled.planes:
        name, role = slot.name, slot.role
        if role is Role.UNIFORM:
            # Of hawk's own numbers, those of reductions come with each step.
            own_number = n if name == N_SAMPLES else numbers.get(name, 0)
            number = own_number if " " in name else numbers[name]
            word = raw_word(number, slot.dtype)
            planes.append(word)
            words.append(word)
            continue
        if role is Role.INDEX:
            planes.append(0)  # its word is not looked at
            words.append(0)
            continue
        if role is Role.MASK:
            mask = name
        array = arrays.get(name)
        if array is None:
            array = arrays[name] = HOST.zeros(shape, slot.dtype)
            if name in starts:
                array[...] = starts[name]
            if role is Role.STATE and name not in given and " " not in name:
                allocated.append(name)
        planes.append(array)
        words.append(addresses.get(name) or address_of(array))
    return Binding(
        kernel=kernel,
        compiled=compiled,
        n=n,
        arrays=arrays,
        own=own,
        copied=copied,
        planes=planes,
        words=words,
        allocated=tuple(allocated),
        mask=mask,
        build_seconds=build_seconds,
        device=HOST,
        numbers=numbers,
    )


def _usual(lengths: list[int]) -> int:
    """The length that most have, the first of several.

    An array of one element was perhaps meant for all samples, so it counts only where there is
    nothing else.
    """
    first = lengths[0]
    if lengths.count(first) == len(lengths):
        return first
    longer = [length for length in lengths if length != 1]
    return max(longer, key=longer.count)


def _number_fix(parameter: Parameter, name: str, value: object, real: DType) -> str:
    """What to write where a number was needed and something else came; it was given as `name`."""
    dtype, declared = parameter.element.at(real), (parameter.path or (name,))[-1]
    shape = getattr(value, "shape", (0,) if isinstance(value, (list, tuple)) else ())
    if shape and any(size != 1 for size in shape):
        return f"; for one number a sample declare it `{declared}: {parameter.element.name}`"
    if shape or foreign(value) is not None:  # one that eagle cannot look into
        return f"; write {name}.item()"
    if dtype is DType.BOOL:
        return f"; write bool({name})" if is_number(value) else ""
    if isinstance(value, (bool, np.bool, str)):
        return f"; write {'float' if dtype.is_float else 'int'}({name})"
    if isinstance(value, (complex, np.complexfloating)):
        return f"; write {name}.real"
    if dtype is DType.F32:
        return "; give every plane as float64"
    if dtype.is_int and isinstance(value, (float, np.floating)) and np.isfinite(value):
        return f"; write round({name})"
    if dtype in (DType.I32, DType.U32) and isinstance(value, (int, np.integer)):
        kind = "Param[Index]" if parameter.role is Role.UNIFORM else "Index"
        size = "for negative numbers" if value < 0 and dtype is DType.U32 else "for such numbers"
        return f"; {size} declare it `{declared}: {kind}`"
    return ""
