"""What the annotations of a kernel say of a grid: which planes are on it, and its dimensions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, get_args

from hawk import annotations as words
from hawk.annotations import GridForm, Marker
from hawk.errors import HawkError, Loc
from hawk.frontend.parameters import Output, Parameter

USUAL = 'Grid["r", "c"]'


def form_in(annotation: Any) -> GridForm | None:
    """The form of the Grid that an annotation is, or holds."""
    extras = getattr(annotation, "__metadata__", ())
    return next((each for each in extras if isinstance(each, GridForm)), None)


def is_bare(annotation: Any) -> bool:
    """Is it `Grid` without its dimensions, or something of that?"""
    inner = get_args(annotation)[:1] if hasattr(annotation, "__metadata__") else (annotation,)
    return inner == (words.Grid,) and form_in(annotation) is None


def changed_by(annotation: Any, name: str, where: Loc) -> bool:
    """Is the Grid `name` a Mutable? Raises HawkError for what no Grid can be."""
    form = form_in(annotation)
    markers = [each for each in get_args(annotation) if isinstance(each, Marker)]
    if form is None or is_bare(annotation):
        what = f"`{name}` is a Grid, but of which dimensions?"
        raise HawkError("H105", what, where, f"{name}: {USUAL}")
    if len(markers) > 1:
        kinds = [each.value for each in dict.fromkeys(markers)]
        what = f"`{name}` is {' and '.join(kinds)} at once"
        if len(kinds) == 1:
            what = f"`{name}` is {kinds[0]} twice"
        raise HawkError("H105", what, where, f"{name}: Mutable[{form.name}]")
    if Marker.PARAM in markers:
        what = f"`{name}` is a Grid, one number a sample; it cannot be Param, one for all, too"
        raise HawkError("H105", what, where, f"{name}: {form.name}")
    return bool(markers)


def one_grid(planes: Iterable[Parameter | Output], where: Callable[[str], Loc]) -> GridForm | None:
    """The grid of a kernel, from what its planes say of it; None without a Grid.

    The batch has one arrangement, so all of them have the same dimensions. `where` gives the place
    of a parameter, or of "return". Raises HawkError.
    """
    grid: GridForm | None = None
    first = ""
    for plane in planes:
        name, form, returned = plane.text, plane.grid, isinstance(plane, Output)
        if form is None:
            continue
        if grid is None:
            grid, first = form, name
            continue
        shown = f"what is returned is {form.name}" if returned else f"`{name}` is {form.name}"
        place, short = where(plane.root), name.rpartition(".")[2]
        if form.axes != grid.axes:
            what = f"`{first}` is {grid.name} and {shown}: the samples are arranged in one way"
            wanted = replace(form, axes=grid.axes, extents=grid.extents).name
            fix = f"-> {wanted}" if returned else f"{short}: {wanted}"
            if set(form.axes) < set(grid.axes) and not returned:
                fix = f"{short}: {_as_table(form)}, which all samples read"
            raise HawkError("H105", what, place, fix)
        pairs = list(zip(grid.axes, grid.extents, form.extents, strict=True))
        for axis, one, other in pairs:
            if one is not None and other is not None and one != other:
                what = f"`{axis}` is {one} in `{first}` and {other} in "
                what += "what is returned" if returned else f"`{name}`"
                wanted = replace(form, extents=grid.extents).name
                fix = f"-> {wanted}" if returned else f"{short}: {wanted}"
                raise HawkError("H105", what, place, fix)
        known = tuple(one if one is not None else other for _, one, other in pairs)
        grid = replace(grid, extents=known)
    return None if grid is None else replace(grid, element=words.SCALAR)


def _as_table(form: GridForm) -> str:
    return words.TableForm(form.element, form.extents, form.axes).name
