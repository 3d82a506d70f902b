"""Arithmetic of small arrays, number by number, for a program and for CPython alike.

An array is given as its shape and its numbers, row by row; anything else is one number, which goes
with every shape. Nothing else is stretched: shapes are equal, or it is a Misfit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hawk.edits import Edit
from hawk.frontend.arithmetic import Arithmetic
from hawk.frontend.operators import Misfit, is_float

Shape: TypeAlias = "tuple[int, ...]"
Places: TypeAlias = "NDArray[np.int64]"

NDIM_MAX = 2
"""Small arrays are vectors and matrices."""


class Parts(NamedTuple):
    """The numbers of an array."""

    shape: Shape
    numbers: tuple[Any, ...]


def shown(shape: Shape) -> str:
    """A shape as messages name it."""
    sizes = ", ".join(map(str, shape))
    return f"a Vector[{sizes}]" if len(shape) == 1 else f"a Matrix[{sizes}]"


# --- operators -----------------------------------------------------------------------------------


def elementwise(compute: Callable[..., Any], symbol: str, *operands: Any) -> Parts:
    """`compute` of the operands, number by number. Raises Misfit where shapes differ."""
    shape = common(symbol, *operands)
    size = int(np.prod(shape))
    columns = [each.numbers if isinstance(each, Parts) else (each,) * size for each in operands]
    return Parts(shape, tuple([compute(*row) for row in zip(*columns, strict=True)]))


def common(symbol: str, *operands: Any) -> Shape:
    """The shape that the arrays among the operands have in common. Raises Misfit."""
    shapes = [each.shape for each in operands if isinstance(each, Parts)]
    first = shapes[0]
    for other in shapes[1:]:
        if other != first:
            what = f"`{symbol}` of {shown(first)} and {shown(other)}: it goes number by number"
            fixes: tuple[str | Edit, ...] = ("arrays of one shape, or one of them a number",)
            if symbol == "*" and _multiply(first, other):
                fixes = (Edit("{left} @ {right}", ", the product of matrices"),)
            raise Misfit("H214", what, *fixes)
    return first


def _multiply(first: Shape, second: Shape) -> bool:
    return first[-1] == second[0]


def matmul(numbers: Arithmetic, left: Any, right: Any) -> Any:
    """`left @ right`: each number is a sum in order, `a0*b0`, then `fma(a1, b1, ...)` and so on.

    Of two vectors it is a number. Raises Misfit for shapes that do not fit.
    """
    for each, side in ((left, "left"), (right, "right")):
        if not isinstance(each, Parts):
            what = f"`@` multiplies vectors and matrices, and `{{{side}}}` is a number"
            raise Misfit("H201", what, "{left} * {right}")
    if not _multiply(left.shape, right.shape):
        what = f"`@` of {shown(left.shape)} and {shown(right.shape)}: a row on the left has "
        what += f"{left.shape[-1]} numbers, a column on the right {right.shape[0]}"
        fixes: list[str | Edit] = []
        if len(left.shape) == 2 and left.shape[0] == right.shape[0]:
            fixes.append("{left}.T @ {right}")
        if len(right.shape) == 2 and left.shape[-1] == right.shape[-1]:
            fixes.append("{left} @ {right}.T")
        raise Misfit("H214", what, *fixes)
    rows = _rows(left) if len(left.shape) == 2 else [left.numbers]
    columns = _columns(right) if len(right.shape) == 2 else [right.numbers]
    shape = left.shape[:-1] + right.shape[1:]
    results = tuple([dot(numbers, row, column) for row in rows for column in columns])
    return Parts(shape, results) if shape else results[0]


def dot(numbers: Arithmetic, first: Sequence[Any], second: Sequence[Any]) -> Any:
    """The sum of products in order; of floats each is added by an fma."""
    total = numbers.binary("*", first[0], second[0])
    for a, b in zip(first[1:], second[1:], strict=True):
        dtype = numbers.contracts(a, b, total)
        if dtype is not None:
            total = numbers.fma(dtype, a, b, total)
        else:
            total = numbers.binary("+", total, numbers.binary("*", a, b))
    return total


def _rows(array: Parts) -> list[tuple[Any, ...]]:
    rows, width = array.shape
    return [array.numbers[i * width : (i + 1) * width] for i in range(rows)]


def _columns(array: Parts) -> list[tuple[Any, ...]]:
    return [array.numbers[j :: array.shape[1]] for j in range(array.shape[1])]


def alike(numbers: Arithmetic, values: Sequence[Any]) -> tuple[Any, ...]:
    """Numbers as floats of one type: what `hawk.math.vec` makes of its arguments. Raises Misfit."""
    floats = [
        each if numbers.is_number(each) and is_float(numbers.kind(each)) else None
        for each in values
    ]
    made = tuple(
        [
            numbers.to(value, numbers.real) if each is None else each
            for each, value in zip(floats, values, strict=True)
        ]
    )
    return numbers.together(made)


# --- elements ------------------------------------------------------------------------------------


def places(shape: Shape, key: tuple[Any, ...]) -> Places:
    """The places of the elements that a known key picks, in the shape that they then have."""
    everything = np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape)
    return np.asarray(everything[key])


def axes(shape: Shape, key: Any) -> tuple[Any, ...]:
    """A key with an entry for each axis. Raises Misfit for one that does not fit the shape."""
    parts = key if isinstance(key, tuple) else (key,)
    if any(part is None for part in parts):
        raise Misfit("H210", "`None` would add an axis, and a small array has at most two", "")
    if sum(part is Ellipsis for part in parts) > 1:
        raise Misfit("H210", "`...` stands in the brackets twice", "it once")
    given = [part for part in parts if part is not Ellipsis]
    if len(given) > len(shape):
        what = f"`{{left}}` is {shown(shape)}, which has {_counted(len(shape))}, and here are "
        raise Misfit("H210", what + str(len(given)), "")
    missing = [slice(None)] * (len(shape) - len(given))
    place = next((n for n, part in enumerate(parts) if part is Ellipsis), len(given))
    return (*given[:place], *missing, *given[place:])


def _counted(count: int) -> str:
    return "one index" if count == 1 else f"{count} indices"


def outside(shape: Shape, key: tuple[Any, ...]) -> tuple[int, int] | None:
    """The first known index that is out of range, and the length there."""
    for part, length in zip(key, shape, strict=True):
        if isinstance(part, int) and not -length <= part < length:
            return part, length
    return None
