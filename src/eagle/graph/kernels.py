"""Calls of kernels as nodes: bound as a direct call binds, but strictly, and launched at replay."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass
from itertools import zip_longest
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np

from eagle.arguments import match
from eagle.binder import bind
from eagle.binding import Binding, Door
from eagle.bundles import Bundle, inner, no_object, of_each
from eagle.deploy import both_given, nested, wrong_threads
from eagle.devices.base import Device
from eagle.devices.host.device import HOST
from eagle.devices.host.memory import address_of
from eagle.devices.host.pinned import pinned_like
from eagle.devices.plan import Launch, Region, Spot, View
from eagle.errors import LayoutWarning
from eagle.graph.codes import graph_error
from eagle.graph.numbers import Given
from eagle.graph.planes import Plane
from eagle.layouts import Oriented
from hawk.annotations import owner
from hawk.errors import NOWHERE
from hawk.ir.hidden import grid_of
from hawk.ir.nodes import CHANGED, Role
from hawk.kernel import Kernel, Output, Parameter

if TYPE_CHECKING:
    from eagle.graph.recorder import GraphRecorder


def launch(
    recorder: GraphRecorder,
    kernel: Kernel[..., Any],
    args: Sequence[object],
    planes: Mapping[str, object],
    *,
    n: Any,
    out: object,
    buffer: object,
    threads: Any,
    layout: object,
) -> Any:
    """Record a launch; what the kernel returns, as planes."""
    problems = (*both_given(out, buffer), *wrong_threads(threads))
    out = buffer if out is None else out
    values = match(kernel, args, planes, out, lists=False).values
    given = _planes(recorder, kernel, values)
    _refuse_numbers_to_come(recorder, kernel, given)
    device = _side(recorder, kernel, given)
    steps = 1 if isinstance(kernel.steps, str) else kernel.steps
    bundles = {each.name: each for each in kernel.signature.bundles}
    names = [each.name for each in kernel.signature.declared]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LayoutWarning)  # refused below
        binding = bind(
            kernel,
            door=Door(
                f"{_place(recorder)}{{kernel}}",
                numbers=True,
                in_place=steps == 1,
                remote=device is not HOST,
            ),
            args=[
                _view(recorder, each, bundles.get(name))
                for each, name in zip_longest(args, names[: len(args)])
            ],
            planes={
                name: _view(recorder, each, bundles.get(name)) for name, each in planes.items()
            },
            n=n,
            out=_view(recorder, out),
            problems=problems,
            layout=layout,
        )
    _refuse_copies(recorder, binding)
    return _Node(recorder, kernel, binding, given, device).add(steps, threads, values)


def _place(recorder: GraphRecorder) -> str:
    """Where the call stands, as messages begin."""
    place = "" if recorder.loc is NOWHERE else f"{recorder.loc.short()}: "
    return place.replace("{", "{{").replace("}", "}}")


class _Node:
    """A launch on its way into the graph."""

    def __init__(
        self,
        recorder: GraphRecorder,
        kernel: Kernel[..., Any],
        binding: Binding,
        given: dict[str, Plane],
        device: Device,
    ) -> None:
        self.recorder, self.kernel, self.binding = recorder, kernel, binding
        self.given, self.device = given, device
        self.made: dict[str, Plane] = {}
        self.hint = recorder.hint

    def add(self, steps: int, threads: Any, values: Mapping[str, object]) -> Any:
        binding, recorder = self.binding, self.recorder
        roles: dict[str, Role] = {}
        words: list[int | Spot] = []
        planes: list[Any] = []
        for slot, array, word in zip(
            binding.compiled.planes, binding.planes, binding.words, strict=True
        ):
            if isinstance(array, int):
                words.append(word)
                planes.append(array)
                continue
            # The array of a grid is a second plane, for its neighbours, which are read only.
            whole = grid_of(slot.name) or owner(slot.name)
            if roles.get(whole) not in CHANGED:
                roles[whole] = slot.role
            plane = self.given[whole] if whole in self.given else self._make(whole)
            base = plane.root.address if whole in self.given else address_of(self._array(whole))
            words.append(plane.root.at(word - base))
            planes.append(array)
        item = Launch(
            name=self.kernel.name,
            reads=self._touched(roles, written=False),
            writes=self._touched(roles, written=True),
            compiled=self.device.compiled(self.kernel.program, binding.compiled),
            function=self.kernel.program.function_of(binding.compiled),
            n=binding.n,
            steps=steps,
            planes=planes,
            words=words,
            own=tuple(plane.root for plane in self.made.values()),
            fresh=self._fresh(roles),
            numbers=self._numbers(values),
            threads=None if threads is None else index(threads),
            careful=_watching(self.kernel, binding) if self.kernel.checks else None,
        )
        recorder.add(item)
        return nested(self.kernel, self._held)

    def _held(self, plane: Parameter | Output) -> Any:
        """What a call gives back of a plane: a plane of the graph, or a number of an object."""
        name = plane.name
        known = name in self.given or name in self.made
        return self._plane(name) if known else self.binding.held(plane)

    def _plane(self, whole: str) -> Plane:
        return self.given[whole] if whole in self.given else self.made[whole]

    def _array(self, whole: str) -> View:
        """The array that binding made for a plane."""
        array = self.binding.arrays[whole]
        assert isinstance(array, np.ndarray)
        return array

    def _make(self, whole: str) -> Plane:
        """The plane that nobody gave."""
        if whole not in self.made:
            array, role = self._array(whole), self._role(whole)
            given = (plane.view for plane in self.given.values())
            assert not any(np.may_share_memory(array, view) for view in given), whole
            name = f"{self.kernel.name}.{whole}"
            if role is Role.OUTPUT and not self.made and self.hint:
                name = self.hint
            recorder = self.recorder
            if self.device is HOST:
                self.made[whole] = recorder.made(name, array)
            else:
                self.made[whole] = recorder.make(name, array.shape, array.dtype, self.device)
            if role is Role.OUTPUT and self.device is HOST:
                recorder.on_host.append((self.kernel.name, self.made[whole], whole, recorder.loc))
        return self.made[whole]

    def _role(self, whole: str) -> Role:
        planes = (*self.kernel.parameters, *self.kernel.outputs)
        return next((each.role for each in planes if each.name == whole), Role.STATE)

    def _touched(self, roles: Mapping[str, Role], *, written: bool) -> tuple[Region, ...]:
        masked = Role.MASK in roles.values()
        touched: list[Region] = []
        for whole, role in roles.items():
            plane = self._plane(whole)
            # What a sample that is done already has in an output stays there.
            partly = role is Role.OUTPUT and masked
            if (role in CHANGED) if written else (role is not Role.OUTPUT or partly):
                touched.append(plane.region)
        return tuple(touched)

    def _fresh(self, roles: Mapping[str, Role]) -> tuple[tuple[Region, View], ...]:
        """What each call makes anew, so a replay does too, unless it is overwritten whole."""
        masked = Role.MASK in roles.values()
        return tuple(
            (plane.region, self._array(whole).copy())
            for whole, plane in self.made.items()
            if roles[whole] is not Role.OUTPUT or masked
        )

    def _numbers(self, values: Mapping[str, object]) -> dict[str, list[int]]:
        """Which words are a number that came in by a parameter of the builder."""
        places: dict[str, list[int]] = {}
        for place, slot in enumerate(self.binding.compiled.planes):
            value = values.get(slot.name) if slot.role is Role.UNIFORM else None
            if isinstance(value, Given):
                places.setdefault(value.parameter, []).append(place)
        return places


def _watching(kernel: Kernel[..., Any], binding: Binding) -> Callable[[list[Any]], Any]:
    """What a launch of a kernel with checks runs in, on the planes it is given."""
    from hawk.checks import watching  # looks closely, so who does not ask need not wait

    return functools.partial(watching, kernel, binding.compiled)


def _planes(
    recorder: GraphRecorder, kernel: Kernel[..., Any], values: Mapping[str, object]
) -> dict[str, Plane]:
    """The planes of a call, by the names that the kernel has for them."""
    shared = {p.name for p in kernel.parameters if p.role is Role.UNIFORM}
    given: dict[str, Plane] = {}
    for name, value in values.items():
        array = value.array if isinstance(value, Oriented) else value
        if name in shared and not isinstance(array, Plane):
            continue  # read when the graph is built, as a direct call reads it
        plane = recorder.plane(array, name)
        if plane is not None:
            given[name] = plane
    return given


def _view(recorder: GraphRecorder, value: Any, bundle: Bundle | None = None) -> Any:
    """What stands for `value` where it is bound: the memory of planes and of devices' arrays.

    `bundle`: of what it is to be an object.
    """
    if isinstance(value, Oriented):
        return Oriented(_view(recorder, value.array), value.axis)
    if isinstance(value, Plane):
        return value.view
    if is_dataclass(value) and not isinstance(value, (type, Given)):
        return of_each(value, lambda name, held: _view(recorder, held, inner(bundle, name)))
    if bundle is not None and not no_object(bundle, value):
        looking = type(type(value).__name__, (_Object,), {"__slots__": ()})  # as messages call it
        return looking(recorder, value, bundle)
    if isinstance(value, (tuple, list)) and any(isinstance(each, Plane) for each in value):
        return type(value)(_view(recorder, each) for each in value)
    plane = recorder.known(value)
    return value if plane is None or plane.root.device is HOST else plane.view


class _Object:
    """An object of any class, given for one of a dataclass, and what stands for its planes."""

    __slots__ = ("_of",)

    def __init__(self, recorder: GraphRecorder, value: object, bundle: Bundle) -> None:
        self._of = recorder, value, bundle

    def __getattr__(self, name: str) -> Any:
        recorder, value, bundle = self._of
        return _view(recorder, getattr(value, name), inner(bundle, name))

    def __dir__(self) -> list[str]:
        return dir(self._of[1])


def _refuse_numbers_to_come(
    recorder: GraphRecorder, kernel: Kernel[..., Any], given: Mapping[str, Plane]
) -> None:
    for parameter in kernel.parameters:
        if parameter.role is Role.UNIFORM and parameter.name in given:
            plane, kind = given[parameter.name], parameter.element.name
            what = f"{kernel.name} takes {parameter.name!r} as a Param, one number that is known "
            what += f"when the graph is built, and `{plane.name}` is known only at replay"
            fix = f"{parameter.name}: Table[{kind}] in the kernel, and {parameter.name}[0]"
            raise recorder.error("G207", what, fix)


def _refuse_copies(recorder: GraphRecorder, binding: Binding) -> None:
    if binding.copies:
        copy = binding.copies[0]
        what = f"the samples are the first axis of {copy.name!r}, so it would be copied in and out "
        what += "at each replay"
        raise recorder.error("G206", what, f"an array {copy.ours.shape}, with the samples last")


def _side(recorder: GraphRecorder, kernel: Kernel[..., Any], given: Mapping[str, Plane]) -> Device:
    """The device that all planes of a call live on; that of the graph where it has none."""
    sides = {plane.root.device: (name, plane) for name, plane in reversed(list(given.items()))}
    if len(sides) > 1:
        host = sides.pop(HOST)
        device, other = next(iter(sides.items()))
        written = {p.name for p in (*kernel.parameters, *kernel.outputs) if p.role in CHANGED}
        what = f"{kernel.name} has planes on both sides: {host[0]!r} on the host, {other[0]!r} on "
        what += device.name
        name = host[1].name
        fix = f"eagle.copy({name}, into=<an array on {device.name}>) before it, and that array here"
        if host[0] in written:
            fix = (
                f"<an array on {device.name}> here, and eagle.copy(<that array>, into={name}) after"
            )
        raise recorder.error("G201", what, fix)
    return next(iter(sides), recorder.device)


def refuse_allocations(recorder: GraphRecorder) -> None:
    """In a graph of another device, nothing is made on the host that nobody asked for."""
    if recorder.device is HOST or not recorder.on_host:
        return
    kernel, plane, whole, loc = recorder.on_host[0]
    what = f"{kernel} runs on the host, in a graph of {recorder.device.name}, and nothing says "
    what += f"where {whole!r} goes: no host array is made there that nobody asked for"
    fix = f"buffer={pinned_like(plane.view)}, made before the builder is called"
    raise graph_error("G202", what, loc, fix)
