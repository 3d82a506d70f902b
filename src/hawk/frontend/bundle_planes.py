"""The planes of a parameter or an output that is an object, and what can be wrong with them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin

import numpy as np

from hawk.annotations import Marker
from hawk.errors import HawkError, Loc
from hawk.frontend.bundles import Bundle, Field, fields_of, is_bundle
from hawk.frontend.grid_annotations import USUAL, is_bare
from hawk.frontend.parameters import NO_DEFAULT, Output, Parameter
from hawk.frontend.source import Source
from hawk.ir.nodes import Role

_ONE_A_SAMPLE = "is a Grid, one number a sample; it cannot be Param, one for all, too"
_ROLES = {Marker.PARAM: Role.UNIFORM, Marker.MUTABLE: Role.STATE}


def is_declared(each: Any, *roles: Role) -> bool:
    """Has a parameter one of these roles, or a field of it if it is a bundle?"""
    if isinstance(each, Bundle):
        return any(plane.role in roles for _, plane in each.planes())
    return each.role in roles


def bundle_text(bundle: Bundle) -> str:
    """How an object of the class is made."""
    return f"{bundle.cls.__name__}({', '.join(f'{name}=...' for name, _ in bundle.parts)})"


def bundle_of(
    source: Source, name: str, annotation: Any, where: Loc, default: object = NO_DEFAULT
) -> Bundle | None:
    """What `name: Body` declares, or `Mutable[Body]`, or `-> Body`; None for another annotation.

    Raises HawkError where a field of the class is none of a kernel.
    """
    cls, markers = annotation, list[Any]()
    if get_origin(annotation) is Annotated:
        cls, *extras = get_args(annotation)
        markers = [each for each in extras if isinstance(each, Marker)]
    if not is_bundle(cls):
        return None
    role = Role.INPUT
    returned = name not in {arg.arg for arg in _arguments(source)}
    if returned:
        role = Role.OUTPUT
    if markers:
        marker = markers[0]
        if len(markers) > 1 or marker not in _ROLES or returned:
            kinds = " and ".join(each.value for each in markers)
            what = f"`{name}` is a {cls.__name__}, an object, and cannot be {kinds}"
            fix = f"-> {cls.__name__}" if returned else f"{name}: Mutable[{cls.__name__}]"
            raise HawkError("H105", what, where, fix)
        role = _ROLES[marker]
    if default is not NO_DEFAULT and not isinstance(default, cls):
        what = f"`{name}` is a {cls.__name__}, and its default is {default!r}"
        raise HawkError("H107", what, where, f"{name}: {cls.__name__}")
    reader = _Reader(source, where, returned=returned)
    return reader.bundle(cls, (name,), role, default, ())


def _arguments(source: Source) -> Iterator[Any]:
    args = source.node.args
    yield from (*args.posonlyargs, *args.args, *args.kwonlyargs)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the fields of one parameter or output."""

    source: Source
    where: Loc
    returned: bool

    def bundle(
        self, cls: Any, path: tuple[str, ...], role: Role, default: object, around: tuple[Any, ...]
    ) -> Bundle:
        if cls in around:
            what = f"a {cls.__name__} holds a {cls.__name__}, so its planes have no end"
            raise self._error(path, what)
        fields = fields_of(cls, self.source.namespace())
        if not fields:
            raise self._error(path, f"{cls.__name__} has no fields, so it stands for no plane")
        parts: list[tuple[str, Any]] = []
        for each in fields:
            held: Any = each.default
            if default is not NO_DEFAULT:
                held = getattr(default, each.name, NO_DEFAULT)
            inner = (*path, each.name)
            own = self._role(inner, each, role)
            if each.inner is not None:
                part: Any = self.bundle(each.inner, inner, own, held, (*around, cls))
            else:
                part = self._plane(inner, each, own, held)
            parts.append((each.name, part))
        return Bundle("_".join(path), cls, tuple(parts), role, default)

    def _role(self, path: tuple[str, ...], field: Field, role: Role) -> Role:
        """The role of a field: what its annotation says, else that of the whole."""
        if field.table is not None:
            if self.returned:
                raise self._error(path, "a Table is read by all samples, and is never returned")
            return Role.TABLE
        if field.grid is not None and role is Role.UNIFORM:
            raise self._error(path, f"its field `{field.name}` {_ONE_A_SAMPLE}")
        if field.marker is None:
            return role
        if self.returned:
            return role  # what is returned is an output, whatever it is where it is given
        if field.marker not in _ROLES:
            what = f"`{field.name}` is {field.marker.value}; a mask is a parameter of its own"
            raise self._error(path, what, "a parameter besides it, terminated: Terminated")
        own = _ROLES[field.marker]
        if role is Role.UNIFORM and own is Role.STATE:
            what = f"`{field.name}` is Mutable, and all of `{path[0]}` is Param"
            raise self._error(path, what)
        return own

    def _no_plane(self, path: tuple[str, ...], field: Field) -> HawkError:
        """The error of a field whose annotation is no plane."""
        name, annotation = field.name, field.annotation
        what = f"its field `{name}` is `{_shown(annotation)}`, which is no kernel type"
        usual = {int: "Index", bool: "Bool", "int": "Index", "bool": "Bool"}
        fix = f"{name}: {usual.get(annotation, 'Scalar')} in the class, or leave it out"
        if field.grid is not None:
            what, fix = f"its field `{name}` {_ONE_A_SAMPLE}", f"{name}: {field.grid.name}"
        elif is_bare(annotation):
            what, fix = (
                f"its field `{name}` is a Grid, but of which dimensions?",
                f"{name}: {USUAL}",
            )
        elif isinstance(annotation, type) and annotation.__module__ != "builtins":
            fix = f"@dataclass above the class {annotation.__name__}"
        elif Marker.MUTABLE in getattr(annotation, "__metadata__", ()):
            what = f"`{name}` is a table that is given to, which is a parameter of its own"
            fix = f"{name}: Table[Scalar], or a parameter {name}: Mutable[Table]"
        return self._error(path, what, fix)

    def _plane(self, path: tuple[str, ...], field: Field, role: Role, default: Any) -> Any:
        name, element = "_".join(path), field.element
        if element is None:
            raise self._no_plane(path, field)
        if self.returned:
            return Output(name, element, field.grid, path)
        if element.shape and default is not NO_DEFAULT:
            size = int(np.prod(element.shape))
            given = np.shape(default)
            if given not in (element.shape, (size,)):
                what = f"its field `{field.name}` is a {element.name}, and its default has the "
                raise self._error(path, f"{what}shape {given}", code="H207")
        if default is not NO_DEFAULT and (field.table or (field.grid and role is Role.INPUT)):
            kind = "Table" if field.table else "Grid"
            raise self._error(path, f"its field `{field.name}` is a {kind}, which has no default")
        return Parameter(name, role, element, default, field.table, field.grid, path)

    def _error(
        self, path: tuple[str, ...], what: str, fix: str = "", code: str = "H105"
    ) -> HawkError:
        owner = ".".join(path[:-1] or path)
        if self.returned:
            owner = "what is returned"
            return HawkError(code, f"of {owner}: {what}", self.where, fix)
        return HawkError(code, f"`{owner}` is an object, and {what}", self.where, fix)


def _shown(annotation: Any) -> str:
    return (
        annotation
        if isinstance(annotation, str)
        else getattr(annotation, "__name__", repr(annotation))
    )
