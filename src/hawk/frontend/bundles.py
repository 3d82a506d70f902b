"""Dataclasses annotated with kernel types: which planes they stand for, and objects made of them.

A parameter `body: Body` stands for a plane for each field of `Body`, called `body_mass` and written
`body.mass`; a field that is a dataclass itself stands for several. Nothing here walks a kernel.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, TypeAlias, get_args, get_origin

from hawk.annotations import SCALAR, Element, GridForm, Marker, TableForm
from hawk.annotations import Mutable as MutableWord
from hawk.annotations import Param as ParamWord
from hawk.frontend.parameters import NO_DEFAULT
from hawk.ir.nodes import Role


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a dataclass, and what its annotation says of it."""

    name: str
    annotation: Any
    element: Element | None = None
    """What it holds, if that is a kernel type."""
    marker: Marker | None = None
    table: TableForm | None = None
    grid: GridForm | None = None
    inner: type | None = None
    """The dataclass that it holds an object of."""
    default: Any = NO_DEFAULT


@dataclass(frozen=True, slots=True)
class Bundle:
    """A parameter or an output that is an object: what each of its fields is, in their order."""

    name: str
    cls: type
    parts: tuple[tuple[str, Any], ...]
    """Each field's name, with its plane (a Parameter or an Output) or the Bundle it holds."""
    role: Role
    """What its fields are that do not say otherwise."""
    default: Any = NO_DEFAULT
    """The object that a parameter is by default."""

    @property
    def type_name(self) -> str:
        """The class, as a user writes it."""
        return self.cls.__name__

    def planes(self) -> Iterator[tuple[tuple[str, ...], Any]]:
        """Each plane, with the names of the fields that lead to it."""
        for name, part in self.parts:
            if isinstance(part, Bundle):
                yield from (((name, *path), plane) for path, plane in part.planes())
            else:
                yield (name,), part

    def build(self, value: Callable[[Any], Any], make: Make) -> Any:
        """An object of the class, and of those in it: `value` gives what a plane holds."""
        held = {
            name: part.build(value, make) if isinstance(part, Bundle) else value(part)
            for name, part in self.parts
        }
        return make(self.cls, held)


Make: TypeAlias = Callable[[type, dict[str, Any]], Any]


def instance(cls: Any, held: Mapping[str, Any]) -> Any:
    """An object of `cls` that holds this; nothing of the class is run."""
    made = cls.__new__(cls)
    for name, value in held.items():
        object.__setattr__(made, name, value)
    return made


def is_bundle(annotation: Any) -> bool:
    """Is it a dataclass?"""
    return isinstance(annotation, type) and dataclasses.is_dataclass(annotation)


def is_missing(default: Any) -> bool:
    """Does a field of a dataclass have no such default? Pickles by value make another `MISSING`."""
    return isinstance(default, type(dataclasses.MISSING))


KEPT = "__hawk_kept__"


class _Kept:
    """What was found of a class, kept in the class itself under `KEPT`.

    It leads back to the class, so in a table of ours neither would ever be thrown away. What
    pickles the class gets an empty one.
    """

    def __init__(self) -> None:
        self.fields: tuple[Field, ...] | None = None
        self.properties: frozenset[str] | None = None

    @classmethod
    def of(cls, owner: type) -> _Kept:
        kept = vars(owner).get(KEPT)
        if kept is None:
            kept = cls()
            setattr(owner, KEPT, kept)
        return kept

    def __reduce__(self) -> tuple[type[_Kept], tuple[()]]:
        return _Kept, ()


def fields_of(cls: type, namespace: Mapping[str, Any] | None = None) -> tuple[Field, ...]:
    """The fields of a dataclass. What is annotated by a text is looked up in its module.

    `namespace`: and then here, for classes made in a function.
    """
    kept = _Kept.of(cls)
    known = kept.fields
    if known is not None and not (namespace and any(isinstance(f.annotation, str) for f in known)):
        return known
    annotations = _annotations(cls, namespace or {})
    found = tuple([_field(each, annotations[each.name]) for each in dataclasses.fields(cls)])
    kept.fields = found
    return found


def properties_of(cls: type) -> frozenset[str]:
    """The names of the properties of a dataclass."""
    kept = _Kept.of(cls)
    if kept.properties is None:
        members = inspect.getmembers_static(cls, lambda member: isinstance(member, property))
        kept.properties = frozenset([name for name, _ in members])
    return kept.properties


def _annotations(cls: type, namespace: Mapping[str, Any]) -> dict[str, Any]:
    """The annotations of all fields as objects; a text where that is not to be had."""
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        module = getattr(sys.modules.get(base.__module__), "__dict__", {})
        for name, each in inspect.get_annotations(base).items():
            found[name] = each
            if isinstance(each, str):
                try:
                    found[name] = eval(each, {**namespace, **module}, dict(vars(base)))  # noqa: S307
                except Exception:  # noqa: BLE001  it is told of where the field is a plane
                    found[name] = each
    return found


def _field(field: dataclasses.Field[Any], annotation: Any) -> Field:
    default: Any = NO_DEFAULT if is_missing(field.default) else field.default
    factory: Any = field.default_factory
    if not is_missing(factory):
        default = factory()
    return replace(_read(field.name, annotation), default=default)


def _read(name: str, annotation: Any) -> Field:
    """What the annotation of a field says."""
    unknown = Field(name, annotation)
    if annotation == ParamWord:
        return replace(unknown, element=SCALAR, marker=Marker.PARAM)
    if is_bundle(annotation):
        return replace(unknown, inner=annotation)
    if get_origin(annotation) is not Annotated:
        return unknown
    base, *extras = get_args(annotation)
    markers = [each for each in extras if isinstance(each, Marker)]
    tables = [each for each in extras if isinstance(each, TableForm)]
    grids = [each for each in extras if isinstance(each, GridForm)]
    elements = [each for each in extras if isinstance(each, Element)]
    marker = markers[0] if len(markers) == 1 else None
    if len(markers) > 1 or len(elements) > 1 or annotation == MutableWord:
        return unknown
    if grids:
        held = None if marker is Marker.PARAM else grids[0].element
        return replace(unknown, element=held, marker=marker, grid=grids[0])
    if tables:
        return unknown if markers else replace(unknown, element=tables[0].element, table=tables[0])
    if elements:
        return replace(unknown, element=elements[0], marker=marker)
    return replace(unknown, marker=marker, inner=base if is_bundle(base) else None)


_COMPUTED = (property, functools.cached_property)


def opened(
    bundle: Bundle, given: object
) -> tuple[dict[str, Any], list[tuple[str, tuple[str, ...], object]]]:
    """What an object has for each plane of a bundle, by the plane's name; None is left out.

    And what it lacks: the name of the plane, the fields that lead to it, and what has no such
    attribute.
    """
    values: dict[str, Any] = {}
    missing: list[tuple[str, tuple[str, ...], object]] = []
    for path, plane in bundle.planes():
        owner: Any = given
        for place, name in enumerate(path):
            try:
                owner = getattr(owner, name)
            except AttributeError:
                if isinstance(inspect.getattr_static(owner, name, None), _COMPUTED):
                    raise  # it is there, and what computes it failed
                missing.append((plane.name, path[: place + 1], owner))
                break
            if owner is None:
                break
        else:
            values[plane.name] = owner
    return values, missing
