"""Where paths meet: names that hold one plane on one path and another on the other.

Which path was taken is known only at replay, so such a name gets memory of its own, into which each
path copies. The program takes it for the array itself, so its memory keeps a list of where its
numbers come from, and `joins` looks after that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from eagle.graph.codes import graph_error
from eagle.graph.planes import Plane
from hawk.errors import HawkError, Loc
from hawk.frontend.values import NeedsKnown, Unusable

if TYPE_CHECKING:
    from eagle.graph.recorder import GraphRecorder


@dataclass(frozen=True, slots=True, eq=False)
class Same:
    """The template of a plane that a loop does not exchange for another one."""

    plane: Plane

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.plane.same_as(other.plane)

    __hash__ = object.__hash__


@dataclass(frozen=True, slots=True)
class Carried:
    """The template of a plane that is another one in each pass."""

    shape: tuple[int, ...]
    dtype: Any


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """The template of a Python object."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Known) and equal(self.value, other.value)

    __hash__ = object.__hash__


@dataclass(frozen=True, slots=True)
class Parts:
    """The template of a tuple or list."""

    form: type
    parts: tuple[Any, ...]


def template_of(value: Any) -> Any:
    """What a loop takes a value for."""
    match value:
        case Plane():
            return Same(value)
        case tuple() | list():
            return Parts(type(value), tuple(template_of(part) for part in value))
        case _:
            return Known(value)


def widened(name: str, template: Any, value: Any, where: Loc) -> Any:
    """The template that holds what `template` holds and `value`; Unusable if there is none."""
    match template:
        case Same():
            if isinstance(value, Plane):
                if value.same_as(template.plane):
                    return template
                if alike(template.plane, value):
                    return Carried(value.shape, value.dtype)
        case Carried():
            if isinstance(value, Plane) and (value.shape, value.dtype) == (
                template.shape,
                template.dtype,
            ):
                return template
        case Parts():
            if type(value) is template.form and len(value) == len(template.parts):
                pairs = zip(template.parts, value, strict=True)
                parts = tuple(widened(name, part, each, where) for part, each in pairs)
                bad = [part for part in parts if isinstance(part, Unusable)]
                return bad[0] if bad else Parts(template.form, parts)
        case Known() if equal(template.value, value):
            return template
        case _:
            pass
    return _changes(template, value, where)


def alike(first: Plane, second: Plane) -> bool:
    """May one stand for the other?"""
    return (
        first.shape == second.shape
        and first.dtype == second.dtype
        and first.root.device is second.root.device
    )


def equal(first: Any, second: Any) -> bool:
    """Are two Python objects the same, or numbers or texts that are?"""
    if first is second:
        return True
    plain = (bool, int, float, complex, str, bytes, type(None))
    return type(first) is type(second) and isinstance(first, plain) and first == second


def merged(
    recorder: GraphRecorder, name: str, first: Any, second: Any, where: Loc, pairs: Pairs
) -> Any:
    """The value where two paths meet; Unusable where there is no single one."""
    if isinstance(first, Unusable) or isinstance(second, Unusable):
        return first if isinstance(first, Unusable) else second
    if isinstance(first, Plane) and isinstance(second, Plane):
        if first.same_as(second):
            return first
        if alike(first, second):
            return pairs.joined(recorder, name, first, second)
    if isinstance(first, (tuple, list)) and type(first) is type(second):
        if len(first) == len(second):
            both = zip(first, second, strict=True)
            parts = [merged(recorder, name, a, b, where, pairs) for a, b in both]
            bad = [part for part in parts if isinstance(part, Unusable)]
            if bad:
                return bad[0]
            return (
                first
                if all(a is b for a, b in zip(parts, first, strict=True))
                else type(first)(parts)
            )
    elif equal(first, second):
        return first
    return _differs(first, second, where)


class Pairs:
    """Planes that have met at one join: what are two names of one array stays so."""

    def __init__(self, bodies: tuple[list[Any], list[Any]]) -> None:
        self.bodies = bodies
        self._met: list[tuple[Plane, Plane, Plane]] = []

    def joined(self, recorder: GraphRecorder, name: str, first: Plane, second: Plane) -> Plane:
        for a, b, both in self._met:
            if a.same_as(first) and b.same_as(second):
                return both
        plane = recorder.make(name, first.shape, first.dtype, first.root.device)
        plane.root.sources += [first.region, second.region]
        for source, body in zip((first, second), self.bodies, strict=True):
            recorder.join(source, plane, body)
        self._met.append((first, second, plane))
        return plane


def described(value: Any) -> str:
    """A value as a message names it."""
    if isinstance(value, Plane):
        return f"the plane {value.described}"
    text = repr(value)
    return text if len(text) <= 40 else f"a {type(value).__name__}"


def _differs(first: Any, second: Any, where: Loc) -> Unusable:
    one, two = described(first), described(second)

    def why(name: str, place: Loc) -> HawkError:
        what = f"`{name}` is {one} or {two}, as line {where.line} decides at each replay; only "
        what += "planes of one shape and type can differ so"
        fix = f"a cell in place of `{name}`, which nodes write; or one `{name}` on both paths"
        return graph_error("G105", what, place, fix)

    return Unusable(why, where)


def _changes(template: Any, value: Any, where: Loc) -> Unusable:
    match template:
        case Same():
            before = described(template.plane)
        case Carried():
            before = f"a plane {template.dtype} {template.shape}"
        case Known():
            before = described(template.value)
        case _:
            before = "something else"
    after = described(value)

    def why(name: str, place: Loc) -> HawkError:
        what = (
            f"`{name}` is {before} before the loop at line {where.line} and {after} after a pass,"
        )
        what += " and how often it runs is known only at replay"
        fix = f"a cell in place of `{name}`, which a kernel counts up; or `for i in range(...)`"
        return NeedsKnown("G105", what, place, fix)

    return Unusable(why, where)
