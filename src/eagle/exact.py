"""Planes given just as compiled code uses them: seen at once, without a second look.

Nearly every call gives NumPy arrays of the right type and length, and numbers, to a kernel that was
compiled before. Here is decided that a call is one of these, and nothing else. Whatever takes a
second look, and all that is wrong, is left to `binding`, which would bind the same planes to the
same memory.
"""

from __future__ import annotations

import ctypes
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eagle.bundles import unfolded
from eagle.devices.host.memory import nothing_at
from eagle.overlap import are_apart
from eagle.params import to_number
from eagle.planes import NUMPY
from hawk.ir.hidden import N_SAMPLES, is_hidden
from hawk.ir.nodes import ARRAYS, Number, Role
from hawk.ir.types import DType
from hawk.kernel import WIDTHS, Kernel, Output, Parameter
from hawk.targets.base import Compiled, raw_word

Array: TypeAlias = NDArray[Any]

_NARROW, _WIDE = NUMPY[DType.F32], NUMPY[DType.F64]
_NUMBERS = (float, int, bool)
_GIVEN = ARRAYS - {Role.OUTPUT}

_address = ctypes.addressof


class Fit(NamedTuple):
    """Planes that fit as they are."""

    compiled: Compiled
    n: int
    given: dict[str, Array]
    """The caller's arrays."""
    made: dict[str, Array]
    """Arrays that nobody gave."""
    planes: list[Array | int]
    """What the compiled kernel is given: arrays, and numbers for the whole launch as words."""
    words: list[int]
    """The same as words: where the arrays are, and the numbers."""
    mask: str | None
    """The name of the mask, for kernels that finish samples."""
    names: tuple[str, ...]
    """State planes, then outputs."""
    numbers: dict[str, Number]
    """What was given for the whole launch."""
    kept: dict[Any, Any]
    """What is kept with the code of the kernel, from one call to the next."""

    @property
    def results(self) -> dict[str, Array]:
        """State planes, then outputs, by name."""
        given, made = self.given, self.made
        return {name: given[name] if name in given else made[name] for name in self.names}

    def array(self, name: str) -> Array:
        """One of the planes."""
        return self.given[name] if name in self.given else self.made[name]

    def held(self, plane: Parameter | Output) -> Any:
        """What a field of an object holds: an array, or a number."""
        numbers = self.numbers
        return numbers[plane.name] if plane.name in numbers else self.array(plane.name)


class _Form(NamedTuple):
    """Where each plane of a compiled kernel goes."""

    arrays: tuple[tuple[int, str, np.dtype[Any], int], ...]
    """Place, name, type and bytes of an element, of planes that are given by sample."""
    numbers: tuple[tuple[int, str, DType], ...]
    """Place, name and type of those that are given for the whole launch."""
    made: tuple[tuple[int, str, np.dtype[Any]], ...]
    """Outputs, what hawk keeps for itself, and a mask that is left out."""
    n: int | None
    """Place of the number of samples."""
    size: int


class _Forms(NamedTuple):
    """What is known of a kernel after its first call, kept with its code."""

    mask: str | None
    results: tuple[str, ...]
    without: _Form
    """The mask is left out, or there is none."""
    masked: _Form


def exact(kernel: Kernel[..., Any], given: Mapping[str, object]) -> Fit | None:
    """The planes of a call that gives all of them by name, the mask perhaps left out, and fits.

    None for every other call, right or wrong, and for the first call of a kernel. An object stands
    for its planes.
    """
    if kernel.signature.bundles:
        given = unfolded(kernel.signature.bundles, given)
    ready = kernel.ready(WIDTHS[kernel.dtype] if kernel.dtype else _real(given))
    if ready is None:
        return None
    kept = ready.kept
    if _Forms not in kept:
        kept[_Forms] = _forms(kernel, ready.compiled)
    forms: _Forms | None = kept[_Forms]
    if forms is None:
        return None
    form = forms.masked if forms.mask in given else forms.without
    if len(given) != len(form.arrays) + len(form.numbers):
        return None
    words = [0] * form.size
    planes: list[Any] = [0] * form.size
    arrays: dict[str, Array] = {}
    numbers: dict[str, Number] = {}
    spans: list[tuple[int, int]] = []
    shape, n = None, 0
    try:
        for place, name, dtype, size in form.arrays:
            value: Any = given[name]
            # Types that are equal are nearly always one object, and that is seen at once.
            if type(value) is not np.ndarray or value.dtype is not dtype:
                return None
            if value.shape != shape:
                if shape is not None:
                    return None
                shape = value.shape
                (n,) = shape
            # Memory that has gaps or may not be written is refused here.
            words[place] = start = _address(nothing_at(value))
            if start % size:
                return None
            spans.append((start, start + n * size))
            planes[place] = arrays[name] = value
        for place, name, dtype in form.numbers:
            value = given[name]
            if type(value) not in _NUMBERS:
                return None
            numbers[name] = number = to_number(value, dtype)
            words[place] = planes[place] = raw_word(number, dtype)
    except (KeyError, TypeError, ValueError, BufferError):
        return None
    if shape is None or not are_apart(spans):
        return None
    made: dict[str, Array] = {}
    for place, name, dtype in form.made:
        planes[place] = array = made[name] = np.zeros(n, dtype)
        words[place] = _address(nothing_at(array))
    if form.n is not None:
        words[form.n] = planes[form.n] = n
    names = forms.results
    return Fit(ready.compiled, n, arrays, made, planes, words, forms.mask, names, numbers, kept)


def _forms(kernel: Kernel[..., Any], compiled: Compiled) -> _Forms | None:
    """None for kernels that need a second look at every call."""
    signature = kernel.signature
    # An array may be several planes, or for all samples, or have several dimensions, or be looked
    # at by checks.
    if signature.shaped or signature.tables or signature.grid or kernel.checks:
        return None
    names = [p.name for p in kernel.parameters if p.role in _GIVEN]
    mask = next((p.name for p in kernel.parameters if p.role is Role.MASK), None)
    without = [name for name in names if name != mask]
    states = [slot.name for slot in compiled.planes if slot.role is Role.STATE]
    results = [name for name in states if not is_hidden(name)]
    results += [output.name for output in kernel.outputs]
    return _Forms(mask, tuple(results), _form(compiled, without), _form(compiled, names))


def _form(compiled: Compiled, names: Collection[str]) -> _Form:
    """`names` are given by sample."""
    slots = list(enumerate(compiled.planes))
    arrays = [(i, slot.name, NUMPY[slot.dtype]) for i, slot in slots if slot.role in ARRAYS]
    return _Form(
        tuple((*row, row[2].itemsize) for row in arrays if row[1] in names),
        tuple(
            (i, slot.name, slot.dtype)
            for i, slot in slots
            if slot.role is Role.UNIFORM and not is_hidden(slot.name)
        ),
        tuple(row for row in arrays if row[1] not in names),
        next((i for i, slot in slots if slot.name == N_SAMPLES), None),
        len(slots),
    )


def _real(given: Mapping[str, object]) -> DType:
    """The float width of the first array of floats."""
    for value in given.values():
        if type(value) is np.ndarray:
            if value.dtype is _WIDE:
                return DType.F64
            if value.dtype is _NARROW:
                return DType.F32
    return DType.F64
