"""How a kernel computes hawk's own functions: where its sample is, and between knots of tables.

Recipes like those of `recipes`, written once for the traced program and for CPython.
"""

from __future__ import annotations

from typing import Any

from hawk.frontend.arithmetic import Arithmetic
from hawk.frontend.operators import Misfit
from hawk.frontend.recipes import Recipe
from hawk.frontend.values import TableView
from hawk.math.interpolation import KINDS, interpolate
from hawk.math.terms import Row, Term


def interpolation(numbers: Arithmetic, x: Any, xs: Any, ys: Any, *, kind: Any = "linear") -> Any:
    """Between the knots of two tables."""
    if kind not in KINDS:
        raise Misfit("H305", f'`kind` is "linear" or "cubic", not {kind!r}')
    for name, table in (("xs", xs), ("ys", ys)):
        if not isinstance(table, TableView) or len(table.form.extents) != 1:
            held = "has more" if isinstance(table, TableView) else "is no table"
            what = f"`{name}` is a Table of one dimension, and this {held}"
            raise Misfit("H305", what, f"a parameter for it, {name}: Table[Scalar]")
        if not table.dtype.is_float:
            raise Misfit("H305", f"`{name}` is a Table of floats, and this is one of integers")
    if xs.dtype is not ys.dtype:
        raise Misfit("H211", "the two tables are of different widths")
    known = [table.form.extents[0] for table in (xs, ys)]
    if None not in known and known[0] != known[1]:
        raise Misfit("H305", f"`xs` has {known[0]} knots, and `ys` {known[1]} values")
    numbers.alike(xs.name, ys.name)
    x = numbers.to(x, xs.dtype)
    with numbers.aside(), numbers.unwatched():
        knots, values = (Row(numbers, t.handle, t.dtype, t.extent(0)) for t in (xs, ys))
        return interpolate(Term(numbers, x, xs.dtype), knots, values, kind).value


def numpy_interpolation(numbers: Arithmetic, x: Any, xp: Any, fp: Any) -> Any:
    """`np.interp`, with tables for the points."""
    return interpolation(numbers, x, xp, fp)


def place(name: str) -> Recipe:
    """Which sample this is, of how many, or in which step."""
    return lambda numbers: numbers.place(name)
