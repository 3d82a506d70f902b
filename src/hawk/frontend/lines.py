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
    names = [over] if isinstance(over, str) or not isinstance(over, (tuple, list)) else list(over)
    if not names:
        raise Misfit("H305", "`over` names no dimension", f'"{form.axes[-1]}"')
    axes = [_dimension(numbers, form, name) for name in names]
    twice = next((axis for axis in axes if axes.count(axis) > 1), None)
    if twice is not None:
        what = f"`over` names the dimension {form.axes[twice]!r} twice"
        raise Misfit("H305", what, _written(form, sorted(set(axes))))
    return () if len(axes) == len(form.axes) else tuple(sorted(axes))


def _dimension(numbers: Any, form: GridForm, name: Any) -> int:
    """The number of the dimension `name`."""
    if numbers.is_number(name):
        what = "which dimensions `over` names must be known when the kernel is traced"
        raise Misfit("H212", what, f'"{form.axes[-1]}"')
    if not isinstance(name, str):
        count = len(form.axes)
        is_axis = isinstance(name, int) and -count <= name < count and not isinstance(name, bool)
        fix = f'"{form.axes[name]}"' if is_axis else ""  # as NumPy's `axis` counts them
        raise Misfit("H305", f"`over` takes names of dimensions, not {described(name)}", fix)
    if name not in form.axes:
        near = nearest(name, form.axes)
        what = f"the grid has no dimension {name!r}; it has {', '.join(form.axes)}"
        raise Misfit("H305", what, f'"{near}"' if near else "")
    return form.axes.index(name)


def _written(form: GridForm, axes: Sequence[int]) -> str:
    names = [f'"{form.axes[axis]}"' for axis in axes]
    return names[0] if len(names) == 1 else f"({', '.join(names)})"


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
