"""A kernel ready to be launched: called at once, or bound to arrays and launched often."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from operator import index
from types import MappingProxyType
from typing import Any, NoReturn, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from eagle.active import ActiveSet
from eagle.binder import bind
from eagle.binding import AnyKernel, Binding, Door
from eagle.devices.base import Turn
from eagle.devices.host.device import HOST
from eagle.errors import BindError, Busy, PerformanceWarning, user_level
from eagle.params import shown, whole
from eagle.recording import recorder
from hawk.annotations import owner
from hawk.ir.hidden import SAMPLE_INDEX, STEP_INDEX, grid_of, is_hidden
from hawk.ir.nodes import ARRAYS, CHANGED, Role
from hawk.kernel import Kernel, Output, Parameter

_BIND, _CALL = Door("eagle.deploy({kernel}).bind"), Door("{kernel}", lenient=True)
_BIND_ONE, _CALL_ONE = replace(_BIND, in_place=True), replace(_CALL, in_place=True)
"""The same for kernels that take one step a launch."""


@dataclass(frozen=True, slots=True)
class Deployed:
    """A kernel that takes arrays. Made by `deploy`; any number of threads may use it."""

    kernel: AnyKernel

    def bind(
        self,
        /,
        *,
        n: SupportsIndex | None = None,
        out: object = None,
        buffer: object = None,
        layout: object = None,
        **planes: object,
    ) -> Bound:
        """Bind arrays once, to launch often.

        `planes` are the kernel's planes by name: arrays `(n,)` of the kernel's types, contiguous,
        and numbers for each `Param`. State is changed in place. `out`, which may also be called
        `buffer`, is the array for what the kernel returns, or a tuple of arrays nested as its
        `return` is; what is not given is made. `n` is the number of samples where no array tells.
        Nothing is copied or converted, but for small arrays with the samples first (LayoutWarning):
        BindError says all that does not fit. `layout` is `"samples_first"` or `"samples_last"`,
        for arrays of small arrays whose shape reads both ways, or a dict that says it by plane.
        """
        door = _BIND_ONE if largest_launch(self.kernel) == 1 else _BIND
        both = both_given(out, buffer)
        out = buffer if out is None else out
        return Bound(
            bind(
                self.kernel,
                door=door,
                planes=planes,
                n=n,
                out=out,
                problems=both,
                layout=layout,
            )
        )

    def __call__(
        self,
        /,
        *args: object,
        n: SupportsIndex | None = None,
        out: object = None,
        buffer: object = None,
        threads: SupportsIndex | None = None,
        layout: object = None,
        **planes: object,
    ) -> Any:
        """Launch once and return what the kernel returns.

        Planes are given by position or by name, as for any function. Lists are converted, but for
        state of a kernel that returns something else; so are integers where a float is needed; a
        number for an input holds for all samples; strided arrays are copied, with a
        `PerformanceWarning`. Numbers for the state are a lone sample, and numbers come back. A
        kernel without `return` returns its state: the one plane, or a tuple of them in the order of
        the signature. Arrays given for state are changed in place.
        Takes K steps for `steps=K`, one otherwise. `threads` bounds the threads that work on it.
        `layout` is as for `bind`. While a graph is built, the call becomes a node of it.

        With arrays on a GPU it runs there: nothing is converted, what is made is made there, and
        nobody waits for the end but who reads the arrays.
        """
        kernel = self.kernel
        writer = recorder()
        if writer is not None:
            options = {"n": n, "out": out, "buffer": buffer, "threads": threads, "layout": layout}
            return writer.call(kernel, args, planes, **options)
        steps = 1 if isinstance(kernel.steps, str) else kernel.steps
        door = _CALL_ONE if steps == 1 else _CALL
        wrong = (*both_given(out, buffer), *wrong_threads(threads))
        out = buffer if out is None else out
        binding = bind(
            kernel,
            door=door,
            args=args,
            planes=planes,
            n=n,
            out=out,
            problems=wrong,
            layout=layout,
        )
        if threads is not None:
            refuse_threads(binding, door)
        with binding.watched():
            binding.load().launch(steps, None if threads is None else index(threads))
            copy_back(binding)
        return returned(binding)


def deploy(kernel: AnyKernel) -> Deployed:
    """Make `kernel` ready to be launched. Raises TypeError for what is no kernel."""
    return Deployed(as_kernel(kernel, "eagle.deploy"))


def as_kernel(kernel: object, door: str) -> AnyKernel:
    """The kernel itself, where a kernel or a deployed one may be given."""
    if isinstance(kernel, Deployed):
        return kernel.kernel
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel):
        name = getattr(kernel, "__name__", "it")
        raise TypeError(f"{door}: expected a kernel, got {name}; write @hawk.kernel above its def")
    raise TypeError(f"{door}: expected a kernel, got {shown(kernel)}")


def both_given(out: object, buffer: object) -> tuple[str, ...]:
    """`out` and `buffer` are two names of one thing."""
    if out is None or buffer is None:
        return ()
    return ("'buffer': is another name of out=; give one of them",)


def wrong_threads(threads: SupportsIndex | None) -> tuple[str, ...]:
    """What is wrong with a number of threads, if anything is."""
    number = 1 if threads is None else whole(threads)
    if number is not None and number >= 1:
        return ()
    return (f"'threads': expected a whole number of at least 1, got {shown(threads)}",)


def no_threads(binding: Binding) -> tuple[str, ...]:
    """What is wrong with a number of threads for arrays on a device, which has its own."""
    if binding.device is HOST:
        return ()
    return (f"'threads': {binding.device.name} has its own; write the call without it",)


def refuse_threads(binding: Binding, door: Door) -> None:
    """Raise BindError for a number of threads that would have no effect."""
    problems = no_threads(binding)
    if problems:
        name = binding.kernel.name
        raise BindError(door.name.format(kernel=name), name, problems)


def largest_launch(kernel: AnyKernel) -> int:
    """The most steps that one launch of `kernel` takes."""
    return kernel.steps_max if isinstance(kernel.steps, str) else kernel.steps


_OF_PLACE = {
    SAMPLE_INDEX: "hawk.sample_index() or for random numbers",
    STEP_INDEX: "hawk.step_index()",
}
"""What a kernel cannot ask for where samples are moved."""


class Bound:
    """A kernel with its arrays, ready to launch. Made by `Deployed.bind`.

    Raises `Busy` when two threads launch it at once.
    """

    __slots__ = ("_binding", "_careful", "_largest", "_loaded", "_turn")

    def __init__(self, binding: Binding) -> None:
        self._binding = binding
        self._loaded = binding.load()
        self._largest = largest_launch(binding.kernel)
        self._careful = binding.careful
        self._turn = Turn()

    @property
    def kernel(self) -> AnyKernel:
        return self._binding.kernel

    @property
    def n(self) -> int:
        """Samples in the batch."""
        return self._binding.n

    @property
    def planes(self) -> Mapping[str, Any]:
        """State planes, then outputs, by name: the caller's own arrays, or those eagle made."""
        return MappingProxyType(self._binding.results)

    @property
    def finished(self) -> Any:
        """True where the sample is done: bool `(n,)`. None for a kernel that finishes none."""
        mask = self._binding.mask
        return None if mask is None else self._binding.given_back(mask)

    @property
    def allocated(self) -> tuple[str, ...]:
        """State planes that the caller left out and eagle made."""
        return self._binding.allocated

    def launch(
        self,
        steps: SupportsIndex | None = None,
        *,
        threads: SupportsIndex | None = None,
        active: ActiveSet | None = None,
    ) -> None:
        """Advance every sample that is not done.

        By `steps` at most; by default 1 for a kernel with `steps=1`, K for `steps=K`, and
        `kernel.steps_max` for `"auto"`, which are also the most that may be asked for. A sample
        stops at its own step. `threads` bounds the threads that work on it. `active` names the
        samples to look at; the others are left as they are.

        After Ctrl-C each sample has taken a whole number of these steps, but not all the same
        number. The next launch begins where each of them is.
        """
        if steps is None:
            steps = self._largest
        elif type(steps) is not int or not 1 <= steps <= self._largest:
            steps = self._parse(steps)
        if threads is not None:
            for problem in (*wrong_threads(threads), *no_threads(self._binding)):
                raise ValueError(f"launch: {problem}")
            threads = index(threads)
        picked = None if active is None else self._picked(active)
        mine, turn = object(), self._turn
        try:
            if not turn.take(mine):
                raise Busy(f"this Bound of {self.kernel.name} is being launched by another thread")
            if self._careful:
                with self._binding.watched():
                    self._loaded.launch(steps, threads, picked=picked)
            else:
                self._loaded.launch(steps, threads, picked=picked)
        finally:
            if turn.holder is mine:
                turn.holder = None

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a Bound belongs to arrays of this process and cannot be pickled; "
            f"send {self.kernel.name} and the arrays, and bind them there"
        )

    def _picked(self, active: ActiveSet) -> NDArray[np.int64]:
        if self._binding.device is not HOST and self._binding.compiled.is_collective:
            raise ValueError(
                f"launch: 'active': {self.kernel.name} reduces or scatters, and on "
                f"{self._binding.device.name} all its samples take part that are not done; write "
                "the launch without it"
            )
        if isinstance(active, ActiveSet):
            if active.n == self.n:
                self._moved_by(active)
                return active.map
            got = f"one of {active.n} samples"
        else:
            got = shown(active)
        raise ValueError(
            f"launch: 'active': expected an ActiveSet of {self.n} samples, got {got}; "
            "write eagle.ActiveSet(bound.finished)"
        )

    def _moved_by(self, active: ActiveSet) -> None:
        """Raises ValueError for a set that moves samples, but not all that is theirs."""
        compiled = self._binding.compiled
        planes = compiled.planes
        slots = {slot.name for slot in planes}
        asked = [call for hidden, call in _OF_PLACE.items() if hidden in slots]
        asked += [f"the neighbours in {grid_of(name)!r}" for name in slots if grid_of(name)]
        asked += [f"hawk.{each.kind}" for each in compiled.phases if each.kind.startswith("arg")]
        if active.moves and asked:
            raise ValueError(
                f"launch: 'active': moves samples, and {self.kernel.name} asks for {asked[0]}, "
                "which belongs to a place in the arrays; write eagle.ActiveSet(bound.finished)"
            )
        arrays = self._binding.arrays
        by_sample = [each.name for each in planes if each.role in ARRAYS]
        names = [name for name in by_sample if name in arrays and not is_hidden(name)]
        left = dict.fromkeys([owner(name) for name in names if active.leaves(arrays[name])])
        if left:
            names = ", ".join(repr(name) for name in left)
            raise ValueError(
                f"launch: 'active': moves samples, but not those of {names}; write "
                "eagle.ActiveSet(bound.finished, reorder=0.5, planes=(...)) with all of them"
            )

    def _parse(self, given: SupportsIndex) -> int:
        steps = whole(given)
        if steps is not None and 1 <= steps <= self._largest:
            return steps
        fix = ""
        if steps is not None and steps > self._largest:
            fix = f"; for longer launches bind hawk.steps({self.kernel.name}, {steps})"
        raise ValueError(
            f"launch: expected steps from 1 to {self._largest}, got {shown(given)}{fix}"
        )


def copy_back(binding: Binding) -> None:
    """Write what stood in for the caller's strided arrays into them, and warn."""
    if not binding.copied:
        return
    for slot in binding.compiled.planes:
        if slot.name in binding.copied and slot.role in CHANGED:
            binding.copied[slot.name][...] = binding.arrays[slot.name]
    names = ", ".join(dict.fromkeys(repr(owner(name)) for name in binding.copied))
    warnings.warn(
        f"{binding.kernel.name}: copied what is strided: {names}; "
        "give contiguous arrays (np.ascontiguousarray) to avoid it",
        PerformanceWarning,
        stacklevel=user_level(),
    )


def returned(binding: Binding) -> Any:
    """What a direct call returns."""
    return nested(binding.kernel, lambda plane: _value(binding, plane.name, binding.held(plane)))


def nested(kernel: AnyKernel, value: Callable[[Parameter | Output], Any]) -> Any:
    """What a call of `kernel` returns, made of the values of its planes."""
    signature = kernel.signature
    if signature.returned or signature.state:
        return signature.given_back(value)
    return value(next(each for each in kernel.parameters if each.role is Role.MASK))


def _value(binding: Binding, name: str, value: Any) -> Any:
    """A plane as it comes back: the caller's own array, a new one, or a number."""
    lone = isinstance(value, np.ndarray) and not value.ndim and name not in binding.own
    return value[()] if lone else value
