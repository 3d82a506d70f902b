"""Objects of dataclasses for CPython: real ones, whose fields hold numbers of a kernel.

This is written apart from the walk, which has no objects: see `objects`.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hawk.frontend.bundles import fields_of, is_bundle, is_missing
from hawk.frontend.python_arrays import Array

if TYPE_CHECKING:
    from hawk.frontend.cpython import Shim


class PythonObjects:
    """What recompiled functions do with objects."""

    def __init__(self, shim: Shim) -> None:
        self.shim = shim

    def get(self, owner: Any, name: str) -> Any:
        """`owner.name`; a property of an object is computed as a kernel would."""
        if is_bundle(type(owner)):
            found = inspect.getattr_static(type(owner), name, None)
            if isinstance(found, property):
                return self.shim.call(found.fget, owner)
        return getattr(owner, name)

    def put(self, value: Any, owner: Any, name: str) -> None:
        """`owner.name = value`; a field holds the kernel type that it is annotated with."""
        cls: Any = type(owner)
        setattr(owner, name, self._held(cls, name, value) if is_bundle(cls) else value)

    def _held(self, cls: type, name: str, value: Any) -> Any:
        field = next((each for each in fields_of(cls) if each.name == name), None)
        if field is None or field.element is None or field.table is not None:
            return self.shim.settle(value)
        real = self.shim.numbers.real
        if not field.element.shape:
            return self.shim.stored(name, value, field.element, real)
        fits = isinstance(value, Array) and value.shape == field.element.shape
        if not fits or value.dtype is not field.element.at(real):
            raise TypeError(f"{name} is a {field.element.name}, not {value!r}")
        return value

    def construct(self, cls: Any, args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        """What a dataclass makes, with `__post_init__` as a kernel would run it."""
        signature = inspect.signature(cls)
        given = dict(signature.bind(*args, **keywords).arguments)
        known = {each.name for each in dataclasses.fields(cls)}
        extra = [
            given.pop(each.name, each.default)
            for each in signature.parameters.values()
            if each.name not in known
        ]
        made = cls.__new__(cls)
        for each in dataclasses.fields(cls):
            if each.init and each.name in given:
                value = self._held(cls, each.name, given.pop(each.name))
            elif not is_missing(each.default):
                value = self._default(cls, each.name, each.default)
            elif not is_missing(each.default_factory):
                value = self._default(cls, each.name, self.shim.call(each.default_factory))
            else:
                continue
            object.__setattr__(made, each.name, value)
        if hasattr(cls, "__post_init__"):
            self.shim.call(cls.__post_init__, made, *extra)
        return made

    def _default(self, cls: type, name: str, value: Any) -> Any:
        """A value from outside of the kernel as a field holds it: a tuple may be a small array."""
        element = next(each.element for each in fields_of(cls) if each.name == name)
        if element is not None and element.shape and isinstance(value, (tuple, list)):
            return self.shim.stored(name, value, element, self.shim.numbers.real)
        return self._held(cls, name, value)

    def replaced(self, owner: Any, /, **changes: Any) -> Any:
        """What `dataclasses.replace` makes."""
        kept = [each.name for each in dataclasses.fields(owner) if each.init]
        cls = type(owner)
        given = {n: self._default(cls, n, getattr(owner, n)) for n in kept if n not in changes}
        return self.construct(cls, (), {**given, **changes})
