"""Elements of a table: which one is meant by an index of each dimension.

Written once for the traced program and for CPython. An index known now has to be right; any other
is brought to the nearest place there is, and told with `checks`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hawk.frontend.operators import Kind, Literal, Misfit, conversion
from hawk.frontend.values import TableView
from hawk.ir.meaning import RANGE
from hawk.ir.types import DType


class Misplaced(Misfit):
    """An index that cannot be one along its `axis`."""

    axis = 0

    @classmethod
    def along(cls, axis: int, code: str, what: str, *fixes: str, side: str = "left") -> Misplaced:
        """One along `axis`, whose fixes stand for the index alone."""
        misplaced = cls(code, what, *fixes, side=side)
        misplaced.axis = axis
        return misplaced


def element(table: TableView, indices: Sequence[Any]) -> Any:
    """The element at an index of each dimension. Raises Misfit."""
    numbers = table.numbers
    _check_rank(table, indices)
    with numbers.aside():
        places = [_along(_clamped, table, axis, index) for axis, index in enumerate(indices)]
        place = _in_one_row(table, places)
    return numbers.emit("lookup", table.handle, place)


def spot(table: TableView, indices: Sequence[Any], keep: Any) -> Any:
    """The element that is given to, an Int32: 1 is the first of all, 0 is none.

    None is meant where `keep` does not hold, and by an index outside of the table. Raises Misfit.
    """
    numbers = table.numbers
    _check_rank(table, indices)
    with numbers.aside():
        found = [_along(_inside, table, axis, index, keep) for axis, index in enumerate(indices)]
        one = numbers.constant(1, DType.I32)
        place = numbers.emit("add", _in_one_row(table, [place for _, place in found]), one)
        for test in (keep, *(inside for inside, _ in found)):
            if test is not True:
                test = numbers.to(test, DType.BOOL)  # noqa: PLW2901 - it may be False
                place = numbers.emit("select", test, place, numbers.constant(0, DType.I32))
    return place


def _check_rank(table: TableView, indices: Sequence[Any]) -> None:
    rank = len(table.form.extents)
    if len(indices) != rank:
        counted = f"{rank} dimension{'s' * (rank != 1)}"
        what = f"`{table.name}` has {counted}, and here {_are(len(indices))} given"
        raise Misfit("H215", what, _example(table))


def _in_one_row(table: TableView, places: Sequence[Any]) -> Any:
    """The place in memory of what has these places along each axis."""
    numbers, place = table.numbers, places[0]
    for axis in range(1, len(places)):
        extent = _int32(numbers, table.extent(axis))
        place = numbers.emit("add", numbers.emit("mul", place, extent), places[axis])
    return place


def ordered(table: TableView, given: Sequence[Any], named_: Mapping[str, Any]) -> list[Any]:
    """The indices that `t.at(...)` is given, in the order of the dimensions. Raises Misfit."""
    axes = table.form.axes
    if not axes:
        what = f"the dimensions of `{table.name}` have no names"
        raise Misfit("H215", what, _example(table))
    right = f"{table.name}.at({', '.join(f'{axis}=...' for axis in axes)})"
    if given:
        raise Misfit("H215", f"`{table.name}.at` takes an index by the name of each axis", right)
    for name in named_:
        if name not in axes:
            what = f"`{table.name}` has no axis `{name}`; it has {', '.join(axes)}"
            raise Misfit("H215", what, right)
    missing = [axis for axis in axes if axis not in named_]
    if missing:
        raise Misfit("H215", f"`{table.name}.at` needs an index for `{missing[0]}`", right)
    return [named_[axis] for axis in axes]


def length(table: TableView, axis: int = 0) -> Any:
    """The extent along an axis: a Python number where it is known, else an Index."""
    extent = table.extent(axis)
    return extent if isinstance(extent, int) else table.numbers.to(extent, DType.I64)


def shape(table: TableView) -> tuple[Any, ...]:
    return tuple(length(table, axis) for axis in range(len(table.form.extents)))


def _along(place: Any, table: TableView, axis: int, index: Any, *rest: Any) -> Any:
    """What `place` makes of the index along an axis. Raises Misplaced, with the axis."""
    try:
        return place(table, axis, index, *rest)
    except Misplaced as misplaced:
        misplaced.axis = axis
        raise


def _clamped(table: TableView, axis: int, index: Any) -> Any:
    """An index as an Int32 that is one of the places along its axis. Raises Misplaced."""
    numbers, extent = table.numbers, table.extent(axis)
    known, index, dtype = _typed(table, axis, index)
    if known is not None and (isinstance(extent, int) or known == 0):
        return numbers.constant(known, DType.I32)
    last, zero = _last(numbers, extent, dtype), numbers.constant(0, dtype)
    _watch(table, axis, index, last, zero, keep=True)
    inside = index if dtype is DType.U32 else numbers.emit("max", index, zero)
    return _int32(numbers, numbers.emit("min", inside, last))


def _inside(table: TableView, axis: int, index: Any, keep: Any) -> tuple[Any, Any]:
    """Whether an index is one of the places along its axis, and it as an Int32.

    Only where `keep` holds it matters.
    """
    numbers, extent = table.numbers, table.extent(axis)
    known, index, dtype = _typed(table, axis, index)
    if known is not None and (isinstance(extent, int) or known == 0):
        return True, numbers.constant(known, DType.I32)
    last, zero = _last(numbers, extent, dtype), numbers.constant(0, dtype)
    _watch(table, axis, index, last, zero, keep=keep)
    low, high = numbers.emit("ge", index, zero), numbers.emit("le", index, last)
    return numbers.emit("and", low, high), _int32(numbers, index)


def _watch(table: TableView, axis: int, index: Any, last: Any, zero: Any, *, keep: Any) -> None:
    """Tell who looks out for it of an index that is none of the places."""
    numbers = table.numbers

    def beyond() -> Any:
        above = numbers.emit("gt", index, last)
        outside = numbers.emit("or", numbers.emit("lt", index, zero), above)
        if keep is True:
            return outside
        return numbers.emit("and", numbers.to(keep, DType.BOOL), outside)

    numbers.beyond_table(table.name, axis, index, beyond)


def _typed(table: TableView, axis: int, index: Any) -> tuple[Any, Any, DType]:
    """The Python number that an index is known to be, else None; the index, and its type."""
    numbers = table.numbers
    if not numbers.is_number(index) and not isinstance(index, (bool, int, float)):
        what = f"an index of `{table.name}` is an integer, not {described(index)}"
        raise Misplaced("H215", what, f"one element at a time, as in {_example(table)}")
    kind = _checked(table, numbers.kind(index))
    known: Any = numbers.certain(index) if numbers.is_number(index) else index
    if known is not None:
        _check_known(table, axis, known, table.extent(axis))
    dtype = kind if isinstance(kind, DType) else DType.I64
    return known, numbers.to(index, dtype), dtype


def _checked(table: TableView, kind: Kind) -> Kind:
    if kind is Literal.INT or (isinstance(kind, DType) and kind.is_int):
        return kind
    if kind in (Literal.BOOL, DType.BOOL):
        what = f"an index of `{table.name}` is an integer, and `{{left}}` is a Bool"
        raise Misplaced("H215", what, "int({left})", side="left")
    what = f"an index of `{table.name}` is an integer, and `{{left}}` is a float"
    into = conversion(DType.I32, table.numbers.real)
    raise Misplaced("H215", what, f"{into}({{left}})", side="left")


def _check_known(table: TableView, axis: int, index: int, extent: Any) -> None:
    """Raise Misfit for a known index that is none of the places, whatever the extent is."""
    along = f" along `{table.form.axes[axis]}`" if table.form.axes else ""
    if not along and len(table.form.extents) > 1:
        along = f" along axis {axis}"
    if isinstance(extent, int) and not 0 <= index < extent:
        what = f"`{table.name}` has {extent} element{'s' * (extent != 1)}{along}, from 0 to "
        what += f"{extent - 1}, and the index is {index}"
        raise Misplaced("H215", what, str(extent - 1 if index >= 0 else 0), side="left")
    if index < 0:
        what = f"an index of `{table.name}`{along} counts from 0, and this is {index}"
        size = f"len({table.name})" if axis == 0 else f"{table.name}.shape[{axis}]"
        raise Misplaced("H215", what, f"{size} - {-index}", side="left")
    if index > RANGE[DType.I32][1]:
        what = f"no table has an element {index}{along}"
        raise Misplaced("H215", what, side="left")


def _last(numbers: Any, extent: Any, dtype: DType) -> Any:
    """The last place along an axis, in the type of the index."""
    if isinstance(extent, int):
        return numbers.constant(extent - 1, dtype)
    last = numbers.emit("sub", extent, numbers.constant(1, DType.I32))
    return last if dtype is DType.I32 else numbers.emit(f"to_{dtype.value}", last)


def _int32(numbers: Any, value: Any) -> Any:
    if isinstance(value, int):
        return numbers.constant(value, DType.I32)
    return value if value.dtype is DType.I32 else numbers.emit("to_i32", value)


def _are(count: int) -> str:
    return "one index is" if count == 1 else f"{count} indices are"


def _example(table: TableView) -> str:
    if table.form.axes:
        return f"{table.name}.at({', '.join(f'{axis}=...' for axis in table.form.axes)})"
    return f"{table.name}[{', '.join('ijklm'[: len(table.form.extents)])}]"


def described(index: Any) -> str:
    """What is no integer, with its article."""
    if isinstance(index, slice):
        return "a slice"
    kind = type(index).__name__
    return "None" if index is None else f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"
