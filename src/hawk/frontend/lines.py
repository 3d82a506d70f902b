"""Reductions along dimensions of a grid: which samples make one number, and which a sample reads.

Written once for the traced program and for CPython. Samples that are alike in their places along
all other dimensions are a line; each sample reads the number of its own line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hawk.annotations import GridForm
from hawk.frontend.grids import coordinate, extent_along, int32, own_index, quotient
from hawk.frontend.operators import Misfit
from hawk.frontend.source import nearest
from hawk.frontend.tables import described
from hawk.ir.hidden import dimension_name
from hawk.ir.nodes import Lines


def dimensions(numbers: Any, over: Any) -> tuple[int, ...]:
    """The dimensions that `over=` names, rising; none where all samples make one number.

    Raises Misfit, whose fix stands for what is given as `over=`.
    """
    if over is None:
        return ()
    form: GridForm | None = numbers.grid
    if form is None:
        raise Misfit("H305", "`over` names dimensions of a Grid, and this kernel has none")
    names = list(over) if isinstance(over, (tuple, list)) else [over]
    if not names:
        raise Misfit("H305", "`over` names no dimension", _written(form.axes[-1:]))
    axes = [_dimension(numbers, form, names, place) for place in range(len(names))]
    twice = next((axis for axis in axes if axes.count(axis) > 1), None)
    if twice is not None:
        what = f"`over` names the dimension {form.axes[twice]!r} twice"
        raise Misfit("H305", what, _written(list(dict.fromkeys(names))))
    return () if len(axes) == len(form.axes) else tuple(sorted(axes))


def _dimension(numbers: Any, form: GridForm, names: list[Any], place: int) -> int:
    """The number of the dimension that is named there."""
    name, near = names[place], ""
    if isinstance(name, str) and name in form.axes:
        return form.axes.index(name)
    if numbers.is_number(name):
        code, near = "H212", form.axes[-1]
        what = "which dimensions `over` names must be known when the kernel is traced"
    elif isinstance(name, str):
        code, near = "H305", nearest(name, form.axes)
        what = f"the grid has no dimension {name!r}; it has {', '.join(form.axes)}"
    else:
        code, what = "H305", f"`over` takes names of dimensions, not {described(name)}"
        count = len(form.axes)
        if type(name) is int and -count <= name < count:
            near = form.axes[name]  # as NumPy's `axis` counts them
    meant = [*names[:place], near, *names[place + 1 :]]
    right = near and all(isinstance(each, str) for each in meant)
    raise Misfit(code, what, _written(meant) if right else "")


def _written(names: Sequence[str]) -> str:
    texts = [f'"{name}"' for name in names]
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


def lines(numbers: Any, over: tuple[int, ...]) -> Lines:
    """The lines along those dimensions of the grid."""
    extents: list[int | str] = []
    for axis, name in enumerate(numbers.grid.axes):
        known = isinstance(extent_along(numbers, axis), int)  # else its plane is there now
        extents.append(numbers.grid.extents[axis] if known else dimension_name(name))
    return Lines(tuple(extents), over)


def own_line(numbers: Any, over: tuple[int, ...]) -> Any:
    """Which of those lines the sample stands in, an Int32."""
    axes = range(len(numbers.grid.axes))
    kept = [axis for axis in axes if axis not in over]
    with numbers.aside(), numbers.unwatched():
        if kept == list(range(len(kept))):
            line = own_index(numbers)
            for axis in reversed(over):
                line = quotient(numbers, line, extent_along(numbers, axis))
            return line
        line = coordinate(numbers, kept[0])
        for axis in kept[1:]:
            extent = int32(numbers, extent_along(numbers, axis))
            line = numbers.emit("mul", line, extent)
            line = numbers.emit("add", line, coordinate(numbers, axis))
        return line
