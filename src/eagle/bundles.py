"""Objects given for the parameters of a kernel that are objects: their fields are its planes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from eagle.params import is_number, shown
from hawk.annotations import Marker
from hawk.frontend.bundles import Bundle, fields_of, instance, is_bundle, opened
from hawk.frontend.source import nearest
from hawk.kernel import NO_DEFAULT, Kernel

if TYPE_CHECKING:
    from eagle.arguments import Arguments


def open_objects(kernel: Kernel[..., Any], given: Arguments) -> None:
    """Put what an object has in the place of the object, under the names of its planes."""
    for bundle in kernel.signature.bundles:
        if bundle.name not in given.values:
            continue
        value = given.values.pop(bundle.name)
        given.opened.add(bundle.name)
        twice = [text for text in bundle.planes() if text[1].name in given.values]
        if twice:
            path, plane = twice[0]
            text = ".".join((bundle.name, *path))
            why = f"given, and so is {plane.name!r}, which is {text}; write one of them"
            given.refuse(bundle.name, why)
            given.meant.update(plane.name for _, plane in bundle.planes())
            continue
        place_object(bundle, value, given)


def unfolded(bundles: Sequence[Bundle], given: Mapping[str, object]) -> Mapping[str, object]:
    """The planes of a call, with what each object has in its place; nothing where that is wrong."""
    planes = dict(given)
    for bundle in bundles:
        if bundle.name not in given:
            continue
        value = planes.pop(bundle.name)
        if no_object(bundle, value):
            return {}
        values, _ = opened(bundle, value)
        if not planes.keys().isdisjoint(values):  # a plane is given twice
            return {}
        planes |= values
    return planes


def place_object(bundle: Bundle, value: object, given: Arguments, root: str = "") -> None:
    """Put what one object has under the names of its planes; it is called `root` in messages."""
    root = root or bundle.name
    planes = {plane.name: ".".join((root, *path)) for path, plane in bundle.planes()}
    why = no_object(bundle, value)
    if why:
        given.refuse(root, why)
        given.meant.update(planes)
        return
    given.texts.update(planes)
    values, missing = opened(bundle, value)
    given.values.update(values)
    told: set[str] = set()
    optional = {p.name for _, p in bundle.planes() if getattr(p, "default", None) is not NO_DEFAULT}
    for plane, path, owner in missing:
        if plane in optional and not nearest(path[-1], _public(owner)):
            continue  # the dataclass has a default for it
        given.meant.add(plane)
        text = ".".join((root, *path))
        if text not in told:
            told.add(text)
            given.refuse(text, _missing(path[-1], owner))


def _missing(name: str, owner: object) -> str:
    """What to say of an object that lacks an attribute."""
    has = _public(owner)
    if name in has:  # of a class with slots
        return f"the {type(owner).__name__} that was given has nothing in {name!r}"
    near = nearest(name, has)
    fix = f"; did you mean {near!r}?" if near else ""
    if not near and has:
        fix = f"; it has {', '.join(has[:8])}"
    return f"the {type(owner).__name__} that was given has no attribute {name!r}{fix}"


def _public(owner: object) -> list[str]:
    return [each for each in dir(owner) if not each.startswith("_")]


def expected(bundle: Bundle) -> str:
    """What is to be given for a bundle."""
    names = [name for name, _ in bundle.parts]
    some = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
    made = ", ".join(f"{name}=..." for name in names)
    return f"an object with {some}, such as {bundle.cls.__name__}({made})"


def no_object(bundle: Bundle, value: Any) -> str:
    """Why a value has no fields to look at; nothing where it may have."""
    plain = is_number(value) or isinstance(value, (np.ndarray, list, tuple, dict, str, type))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        plain = False  # a named one, which has attributes
    if value is not None and not plain:
        return ""
    got = f"the class {value.__name__}" if isinstance(value, type) else shown(value)
    fix = ""
    if isinstance(value, dict):
        fix = f"; write types.SimpleNamespace(**{bundle.name})"
    if isinstance(value, np.ndarray) and value.dtype.names:
        planes = ", ".join(f"{plane.name}=..." for _, plane in bundle.planes())
        fix = f"; write {planes}, each a contiguous array"
    return f"expected {expected(bundle)}, got {got}{fix}"


def of_each(value: Any, change: Callable[[str, Any], Any]) -> Any:
    """Another object of a dataclass, with what `change` makes of all that this one holds."""
    names = [each.name for each in fields_of(type(value)) if hasattr(value, each.name)]
    return instance(type(value), {name: change(name, getattr(value, name)) for name in names})


def inner(bundle: Bundle | None, field: str) -> Bundle | None:
    """Of what a field of an object is to be an object, if it is one."""
    part = None if bundle is None else dict(bundle.parts).get(field)
    return part if isinstance(part, Bundle) else None


def arrays_in(value: object) -> Iterator[object]:
    """The arrays with a place for each sample in an object of a dataclass, and in those it holds.

    Anything else is itself.
    """
    if not is_bundle(type(value)):
        yield value
        return
    for each in fields_of(type(value)):
        held = getattr(value, each.name)
        whole = each.table is not None or each.marker is Marker.PARAM  # no sample has a part of it
        if not whole and held is not None and not is_number(held):
            yield from arrays_in(held)
