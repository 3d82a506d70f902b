"""Binding arrays that live on a device: checked like the host's, though nobody reads a number.

What describes their memory is bound in their place. Arrays that nobody gave are made on the same
device, and what comes back are the caller's arrays and those.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np

from eagle.arguments import Arguments
from eagle.binding import AnyKernel, Array, Binding, Door
from eagle.devices.base import Device, home_of
from eagle.devices.host.device import HOST
from eagle.devices.host.memory import address_of
from eagle.errors import BindError, DeviceError
from eagle.interop.cuda_array import is_described
from eagle.layouts import Oriented
from eagle.params import is_number
from eagle.planes import NUMPY
from hawk.ir.nodes import CHANGED, TABLES, Role

_DTYPES = {numpy: dtype for dtype, numpy in NUMPY.items()}


class Elsewhere:
    """The arrays of a call that live on one device, and what stands for them."""

    def __init__(self, device: Device, door: str, given: Mapping[int, Any]) -> None:
        self.device, self._door, self._given = device, door, given
        """By what describes its memory: the array of the caller."""
        self._like = next(iter(given.values()))
        """What is made is of the library that this is of."""

    def door(self, door: Door) -> Door:
        """A door through which nothing is converted or copied."""
        return replace(door, lenient=False, numbers=door.lenient or door.numbers, remote=True)

    def moved(self, binding: Binding) -> Binding:
        """What was bound, with the arrays that were made for it on the device."""
        kernel, device = binding.kernel, self.device
        refused = _refused(binding, device)
        if refused:
            raise BindError(self._door, kernel.name, (refused,))
        function = kernel.program.function_of(binding.compiled)
        if function is None:
            raise DeviceError(
                f"something that {kernel.name} reads has changed while it was bound\n"
                "  write: the call again"
            )
        memory: dict[int, Array] = {}
        own = {name: self._given.get(id(value), value) for name, value in binding.own.items()}
        arrays = dict(binding.arrays)
        for name, array in binding.arrays.items():
            if is_described(array):
                continue
            root = _root(array)
            if id(root) not in memory:
                made = device.empty(root.shape, _DTYPES[root.dtype])
                view = device.locate(made)
                assert view is not None
                memory[id(root)] = view
            arrays[name] = _part(array, root, memory[id(root)])
            own[name] = device.array(arrays[name], self._like)
        planes: list[Array | int] = []
        words: list[int] = []
        for slot, plane, word in zip(
            binding.compiled.planes, binding.planes, binding.words, strict=True
        ):
            if isinstance(plane, int) or is_described(plane):
                planes.append(plane)
                words.append(word)
                continue
            there = _part(plane, _root(plane), memory[id(_root(plane))])
            if plane.size and (slot.role is not Role.OUTPUT or binding.mask is not None):
                device.fill(there, plane.flat[0])
            planes.append(there)
            words.append(address_of(there))
        return replace(
            binding,
            arrays=arrays,
            own=own,
            planes=planes,
            words=words,
            device=device,
            function=function,
        )


def elsewhere(kernel: AnyKernel, door: Door, given: Arguments) -> Elsewhere | None:
    """The device that the arrays of a call live on, if that is not the host.

    Describes their memory in the place of them. Raises BindError where they live apart.
    """
    numbers = {each.name for each in kernel.parameters if each.role is Role.UNIFORM}
    tables = {each.name for each in kernel.parameters if each.role in TABLES}
    sides: dict[Device, str] = {}
    views: dict[str, tuple[Any, Array]] = {}
    for name, value in given.values.items():
        array = value.array if isinstance(value, Oriented) else value
        if name in numbers or array is None or (is_number(array) and name not in tables):
            continue
        found = _home(array)
        sides.setdefault(HOST if found is None else found[0], name)
        if found is not None and found[0] is not HOST:
            views[name] = array, found[1]
    device = next((each for each in sides if each is not HOST), None)
    if device is None or not device.calls:
        return None
    named = door.name.format(kernel=kernel.name)
    if len(sides) > 1:
        said = {side: given.texts.get(name, name) for side, name in sides.items()}
        written = {p.name for p in (*kernel.parameters, *kernel.outputs) if p.role in CHANGED}
        apart = _apart(device, said, written=sides.get(HOST) in written)
        raise BindError(named, kernel.name, (apart,))
    for name, (_, view) in views.items():
        value = given.values[name]
        given.values[name] = Oriented(view, value.axis) if isinstance(value, Oriented) else view
    return Elsewhere(device, named, {id(view): array for array, view in views.values()})


def _home(array: Any) -> tuple[Device, Array] | None:
    """Where an array lives; None also for one on a GPU where none can be used."""
    try:
        return home_of(array)
    except Exception:  # whatever an exporter raises
        if import_module("eagle.devices.cuda.device").available():
            return None  # said of the plane, with what else is wrong
        raise


def _apart(device: Device, said: Mapping[Device, str], *, written: bool) -> str:
    """What to say of a call whose arrays live on two sides."""
    if HOST not in said:
        (one, there), (two, other) = list(said.items())[:2]
        return f"{there!r} is on {one.name}, and {other!r} on {two.name}; write arrays of one GPU"
    name = said[HOST]
    what = f"{name!r} is on the host, and {said[device]!r} on {device.name}; write "
    if written:
        return f"{what}an array on {device.name}, and eagle.copy(<it>, into={name}) after the call"
    return f"{what}eagle.copy({name}, into=<an array on {device.name}>), and give that array"


def _refused(binding: Binding, device: Device) -> str:
    """What kernels cannot do there yet."""
    if binding.copies:
        copy = binding.copies[0]
        return (
            f"{copy.name!r}: its samples are the first axis, so it would be copied in and out at "
            f"each launch; write an array {copy.ours.shape} on {device.name}, with the samples last"
        )
    return ""


def _root(array: Array) -> Array:
    """The array whose memory it is a view of."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _part(array: Array, root: Array, memory: Array) -> Array:
    """What `array` is of `root`, of memory that is as large. Neither has gaps."""
    begin = (address_of(array) - address_of(root)) // max(1, array.itemsize)
    return memory.reshape(-1)[begin : begin + array.size].reshape(array.shape)
