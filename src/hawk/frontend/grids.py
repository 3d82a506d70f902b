"""Numbers of other samples of a grid: which one is meant by an offset, or by an index.

Written once for the traced program and for CPython. What is read is the sample's neighbour where
the grid has it, and else the one that `edge` says. Samples at a border are few, and for all others
it is the number some places on in memory: a `near` holds both ways to say it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from hawk.annotations import GridForm
from hawk.frontend.operators import Kind, Literal, Misfit, conversion
from hawk.frontend.source import nearest
from hawk.frontend.tables import Misplaced, described
from hawk.ir.hidden import N_SAMPLES, SAMPLE_INDEX
from hawk.ir.meaning import RANGE
from hawk.ir.types import DType

EDGES = ("clamp", "wrap")
METHODS = ("neighbor", "at", "shape")
"""What a grid has."""
_I32, _I64, _F64 = DType.I32, DType.I64, DType.F64


class _Place(NamedTuple):
    """A place along a dimension: `border`, which is `inside` where `outside` does not hold."""

    outside: Any
    """None where it is known not to be."""
    inside: Any
    border: Callable[[], Any]


def neighbor(grid: Any, given: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """The number some places on along the dimensions that are named. Raises Misfit."""
    example = f"{grid.name}.neighbor({grid.form.axes[0]}=+1)"
    _check_read(grid)
    if given:
        what = f"`{grid.name}.neighbor` takes an offset by the name of each dimension"
        raise Misfit("H215", what, example)
    edge, offsets = _edge(grid, named)
    if not offsets:
        raise Misfit("H215", f"`{grid.name}.neighbor` needs an offset", example)
    _check_axes(grid, "neighbor", offsets)
    numbers = grid.numbers
    with numbers.aside(), numbers.unwatched():
        moves = {
            axis: _offset(grid, axis, offsets[axis])
            for axis in range(len(grid.form.axes))
            if axis in offsets
        }
        moves = {axis: by for axis, by in moves.items() if numbers.is_number(by) or by != 0}
        if not moves:
            return numbers.emit(f"to_{grid.dtype.value}", grid)
        places = {axis: _moved(numbers, axis, by, edge) for axis, by in moves.items()}
        own = own_index(numbers)

        def away(steps: Mapping[int, Any]) -> Any:
            parts = [_times(numbers, step, axis) for axis, step in steps.items()]
            return numbers.emit("add", own, _sum(numbers, parts))

        def on_border(axis: int) -> Any:
            return numbers.emit("sub", places[axis].border(), coordinate(numbers, axis))

        read = _reader(
            grid,
            places.values(),
            lambda: away({axis: place.inside for axis, place in places.items()}),
            lambda: away({axis: on_border(axis) for axis in places}),
        )
    return read()


def at(grid: Any, given: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """The number at an index of each dimension. Raises Misfit."""
    axes = grid.form.axes
    right = f"{grid.name}.at({', '.join(f'{axis}=...' for axis in axes)})"
    _check_read(grid)
    if given:
        raise Misfit("H215", f"`{grid.name}.at` takes an index by the name of each axis", right)
    edge, indices = _edge(grid, named)
    _check_axes(grid, "at", indices)
    missing = [name for axis, name in enumerate(axes) if axis not in indices]
    if missing:
        raise Misfit("H215", f"`{grid.name}.at` needs an index for `{missing[0]}`", right)
    return _at(grid, [indices[axis] for axis in range(len(axes))], edge)


def element(grid: Any, indices: Sequence[Any]) -> Any:
    """`u[i, j]`, or `u[i]` with an index in the order of the samples. Raises Misfit."""
    rank = len(grid.form.axes)
    _check_read(grid)
    if len(indices) == rank:
        return _at(grid, list(indices), "clamp")
    if len(indices) == 1:
        return _at(grid, list(indices), "clamp", flat=True)
    what = f"`{grid.name}` has {rank} dimension{'s' * (rank != 1)}, and here {len(indices)} "
    fix = f"{grid.name}[{', '.join('ijklm'[:rank])}], or {grid.name}[k] in the order of the samples"
    raise Misfit("H215", what + "indices are given", fix)


def shape(grid: Any) -> tuple[Any, ...]:
    """The extents: Python numbers where they are known, else each an Index."""
    numbers = grid.numbers
    extents = [extent_along(numbers, axis) for axis in range(len(grid.form.axes))]
    return tuple(each if isinstance(each, int) else numbers.to(each, _I64) for each in extents)


# --- where a sample is ----------------------------------------------------------------------------


def place(numbers: Any, name: str, dimension: Any = None) -> Any:
    """`hawk.sample_index()` and its like, also along a dimension of the grid. Raises Misfit."""
    if dimension is None:
        return numbers.place(name)
    call = {SAMPLE_INDEX: "hawk.sample_index", N_SAMPLES: "hawk.n_samples"}[name]
    form: GridForm | None = numbers.grid
    if form is None:
        what = f"`{call}` takes the name of a dimension in a kernel with a Grid, and there is none"
        raise Misfit("H305", what, f"{call}()")
    if not isinstance(dimension, str):
        what = f"`{call}` takes the name of a dimension, not {described(dimension)}"
        raise Misfit("H305", what, f'{call}("{form.axes[0]}")')
    if dimension not in form.axes:
        near = nearest(dimension, form.axes)
        what = f"the grid has no dimension {dimension!r}; it has {', '.join(form.axes)}"
        raise Misfit("H305", what, f'{call}("{near}")' if near else "")
    axis = form.axes.index(dimension)
    with numbers.aside(), numbers.unwatched():
        if name == SAMPLE_INDEX:
            return numbers.convert(coordinate(numbers, axis), _I64)
        extent = extent_along(numbers, axis)
        return numbers.to(extent, _I64)


def own_index(numbers: Any) -> Any:
    """The sample's index as an Int32."""
    return numbers.convert(numbers.place(SAMPLE_INDEX), _I32)


def coordinate(numbers: Any, axis: int) -> Any:
    """Where the sample is along a dimension, an Int32."""
    rest = own_index(numbers)
    for later in range(len(numbers.grid.axes) - 1, axis, -1):
        rest = quotient(numbers, rest, extent_along(numbers, later))
    if axis:
        extent = extent_along(numbers, axis)
        before = numbers.emit("mul", quotient(numbers, rest, extent), int32(numbers, extent))
        rest = numbers.emit("sub", rest, before)
    return rest


def quotient(numbers: Any, value: Any, extent: Any) -> Any:
    """`value // extent`, exact for all int32 that are not negative, without a division a sample.

    `(value + 1/2) / extent` is at least `1 / (2 * extent)` away from every integer, and what is
    computed of it in float64 less than `value * 2**-51 / extent` away from it.
    """
    if extent == 1 and isinstance(extent, int):
        return value
    once = numbers.emit("to_f64", int32(numbers, extent))
    once = numbers.emit("div", numbers.constant(1.0, _F64), once)
    half = numbers.emit("add", numbers.emit("to_f64", value), numbers.constant(0.5, _F64))
    return numbers.emit("fit_i32", numbers.emit("mul", half, once))


def extent_along(numbers: Any, axis: int) -> Any:
    """A Python number where it is known, else an Int32."""
    known = numbers.grid.extents[axis]
    return numbers.dimension(numbers.grid.axes[axis]) if known is None else known


def int32(numbers: Any, value: Any) -> Any:
    return numbers.constant(value, _I32) if isinstance(value, int) else value


def _stride(numbers: Any, axis: int) -> Any:
    """Samples from one place along a dimension to the next: a Python number, or an Int32."""
    known, factors = 1, list[Any]()
    for later in range(axis + 1, len(numbers.grid.axes)):
        extent = extent_along(numbers, later)
        if isinstance(extent, int):
            known *= extent
        else:
            factors.append(extent)
    if not factors:
        return known
    stride = factors[0]
    for factor in factors[1:]:
        stride = numbers.emit("mul", stride, factor)
    return stride if known == 1 else numbers.emit("mul", stride, numbers.constant(known, _I32))


def _times(numbers: Any, value: Any, axis: int) -> Any:
    stride = _stride(numbers, axis)
    if stride == 1 and isinstance(stride, int):
        return value
    return numbers.emit("mul", value, int32(numbers, stride))


def _sum(numbers: Any, values: Sequence[Any]) -> Any:
    total = values[0]
    for value in values[1:]:
        total = numbers.emit("add", total, value)
    return total


# --- an offset ------------------------------------------------------------------------------------


def _offset(grid: Any, axis: int, given: Any) -> Any:
    """An offset: a Python number where it is known, else an Index."""
    kind = _integer(grid, axis, given, "an offset")
    known = grid.numbers.certain(given) if grid.numbers.is_number(given) else given
    if known is not None:
        least, greatest = RANGE[_I64]
        if not least <= known <= greatest:
            raise Misplaced.along(axis, "H215", f"an offset has up to 64 bits, and this is {known}")
        return int(known)
    return given if kind is _I64 else grid.numbers.convert(given, _I64)


def _moved(numbers: Any, axis: int, by: Any, edge: str) -> _Place:
    """The place `by` places on. Its `inside` is by how much the index grows there."""
    extent = int32(numbers, extent_along(numbers, axis))
    last = numbers.emit("sub", extent, numbers.constant(1, _I32))
    here = coordinate(numbers, axis)
    zero = numbers.constant(0, _I32)
    least = numbers.emit("neg", extent)
    forward = backward = True
    if isinstance(by, int):
        forward, backward = by > 0, by < 0
        limit = RANGE[_I32][1]
        step = numbers.constant(max(-limit, min(limit, by)), _I32)
        # Further than all the way is as far as all the way: no sum below can overflow.
        step = numbers.emit("min", step, extent) if forward else numbers.emit("max", step, least)
    else:
        wide = numbers.emit("max", by, numbers.convert(least, _I64))
        step = numbers.convert(numbers.emit("min", wide, numbers.convert(extent, _I64)), _I32)
    ahead = step if not backward else numbers.emit("max", step, zero)
    behind = step if not forward else numbers.emit("min", step, zero)
    above = below = None
    if forward:
        above = numbers.emit("gt", here, numbers.emit("sub", last, ahead))
    if backward:
        below = numbers.emit("lt", here, numbers.emit("neg", behind))
    outside = above if below is None else below
    if above is not None and below is not None:
        outside = numbers.emit("or", above, below)

    def clamped() -> Any:
        if below is None:
            on = numbers.emit("add", here, step)
        else:
            on = numbers.emit("select", below, zero, numbers.emit("add", here, step))
        return on if above is None else numbers.emit("select", above, last, on)

    def wrapped() -> Any:
        forth = _modulo(numbers, by, extent)
        gap = numbers.emit("sub", extent, forth)
        short = numbers.emit("lt", here, gap)
        over = numbers.emit("sub", here, gap)
        return numbers.emit("select", short, numbers.emit("add", here, forth), over)

    return _Place(outside, step, wrapped if edge == "wrap" else clamped)


def _modulo(numbers: Any, value: Any, extent: Any) -> Any:
    """`value % extent` as an Int32, of a Python number or of any integer."""
    if isinstance(value, int):
        least, greatest = RANGE[_I32]
        value = numbers.constant(value, _I32 if least <= value <= greatest else _I64)
    if value.dtype is _I32:
        return numbers.emit("mod", value, extent)
    rest = numbers.emit("mod", value, numbers.convert(extent, value.dtype))
    return numbers.convert(rest, _I32)


# --- an index -------------------------------------------------------------------------------------


def _at(grid: Any, indices: Sequence[Any], edge: str, *, flat: bool = False) -> Any:
    numbers = grid.numbers
    with numbers.aside():
        axes: list[int | None] = [None] if flat else list(range(len(indices)))
        places = [_placed(grid, a, i, edge) for a, i in zip(axes, indices, strict=True)]
        with numbers.unwatched():

            def together(parts: Sequence[Any]) -> Any:
                rows = zip(axes, parts, strict=True)
                return _sum(numbers, [p if a is None else _times(numbers, p, a) for a, p in rows])

            read = _reader(
                grid,
                places,
                lambda: together([each.inside for each in places]),
                lambda: together([each.border() for each in places]),
            )
    return read()


def _placed(grid: Any, axis: int | None, given: Any, edge: str) -> _Place:
    """An index along a dimension, or of all samples in their order."""
    numbers, number = grid.numbers, axis or 0
    kind = _integer(grid, number, given, "an index")
    known: Any = numbers.certain(given) if numbers.is_number(given) else given
    extent = _samples(numbers) if axis is None else extent_along(numbers, axis)
    if known is not None and edge == "clamp":
        _check_known(grid, axis, known, extent)
        if known == 0 or isinstance(extent, int):
            place = numbers.constant(known, _I32)
            return _Place(None, place, lambda: place)
    dtype = kind if isinstance(kind, DType) else _I64
    index = numbers.to(given, dtype)
    limit = numbers.convert(int32(numbers, extent), dtype)
    last = numbers.emit("sub", limit, numbers.constant(1, dtype))
    zero = numbers.constant(0, dtype)

    def beyond() -> Any:
        above = numbers.emit("gt", index, last)
        if dtype is DType.U32:
            return above
        return numbers.emit("or", numbers.emit("lt", index, zero), above)

    def clamped() -> Any:
        inside = index if dtype is DType.U32 else numbers.emit("max", index, zero)
        return numbers.convert(numbers.emit("min", inside, last), _I32)

    def wrapped() -> Any:
        return numbers.convert(numbers.emit("mod", index, limit), _I32)

    if edge == "clamp":
        numbers.beyond_grid(grid.name, axis, index, beyond)
    with numbers.unwatched():
        inside = numbers.convert(index, _I32)
        return _Place(beyond(), inside, wrapped if edge == "wrap" else clamped)


def _samples(numbers: Any) -> Any:
    """How many samples there are: a Python number, or an Int32."""
    extent, stride = extent_along(numbers, 0), _stride(numbers, 0)
    if isinstance(extent, int) and isinstance(stride, int):
        return extent * stride
    return numbers.emit("mul", int32(numbers, extent), int32(numbers, stride))


def _check_known(grid: Any, axis: int | None, index: int, extent: Any) -> None:
    """Raise Misfit for a known index that is none of the places."""
    along = "" if axis is None else f" along `{grid.form.axes[axis]}`"
    number = axis or 0
    if isinstance(extent, int) and not 0 <= index < extent:
        what = f"`{grid.name}` has {extent} places{along}, from 0 to {extent - 1}, and the index "
        fix = str(extent - 1 if index >= 0 else 0)
        raise Misplaced.along(number, "H215", what + f"is {index}", fix)
    if index < 0:
        what = f"an index of `{grid.name}`{along} counts from 0, and this is {index}"
        size = "hawk.n_samples()" if axis is None else f'hawk.n_samples("{grid.form.axes[axis]}")'
        raise Misplaced.along(number, "H215", what, f"{size} - {-index}")
    if index > RANGE[_I32][1]:
        raise Misplaced.along(number, "H215", f"no grid has a place {index}{along}")


# --- what is read ---------------------------------------------------------------------------------


def _reader(
    grid: Any, places: Iterable[_Place], inside: Callable[[], Any], border: Callable[[], Any]
) -> Callable[[], Any]:
    """What reads the number at the places `inside`, or at those of the `border`."""
    numbers = grid.numbers
    whole = numbers.whole(grid.name, grid.dtype)
    outside = None
    for each in places:
        if each.outside is not None:
            outside = each.outside if outside is None else numbers.emit("or", outside, each.outside)
    simple = inside()
    if outside is None:
        return lambda: numbers.emit("lookup", whole, simple)
    place = border()
    return lambda: numbers.emit("near", whole, outside, simple, place)


def _check_read(grid: Any) -> None:
    if not grid.changed:
        return
    name, before = grid.name, grid.name.replace(".", "_") + "_before"
    what = f"`{name}` changes in each step, so what a neighbour holds depends on who comes first"
    fix = f"a Grid that is only read, {before}: {grid.form.name}, next to {name}; swap the "
    raise Misfit("H217", what, fix + "two arrays between launches")


def _edge(grid: Any, named: Mapping[str, Any]) -> tuple[str, dict[Any, Any]]:
    """The `edge` of a call, and what is given by the number of a dimension, or by a wrong name."""
    axes = grid.form.axes
    rest = {name: value for name, value in named.items() if name != "edge"}
    edge = named.get("edge", "clamp")
    if not isinstance(edge, str) or edge not in EDGES:
        got = repr(edge) if isinstance(edge, str) else described(edge)
        fix = 'edge="clamp", for the nearest there is, or edge="wrap", for those of the other side'
        raise Misfit("H215", f'`edge` is "clamp" or "wrap", not {got}', fix)
    return edge, {axes.index(name) if name in axes else name: v for name, v in rest.items()}


def _check_axes(grid: Any, method: str, given: Mapping[Any, Any]) -> None:
    axes = grid.form.axes
    for name in given:
        if isinstance(name, str):
            near = nearest(name, (*axes, "edge"))
            what = f"`{grid.name}` has no dimension `{name}`; it has {', '.join(axes)}"
            raise Misfit("H215", what, f"{grid.name}.{method}({near}=...)" if near else "")


def _integer(grid: Any, axis: int, given: Any, what: str) -> Kind:
    """The kind of an index or an offset. Raises Misplaced where it is no integer."""
    numbers = grid.numbers
    if not numbers.is_number(given) and not isinstance(given, (bool, int, float)):
        said = f"{what} of `{grid.name}` is an integer, not {described(given)}"
        fix = f"{grid.name}.neighbor({grid.form.axes[axis]}=+1)"
        raise Misplaced.along(axis, "H215", said, fix, side="")
    kind = numbers.kind(given)
    if kind is Literal.INT or (isinstance(kind, DType) and kind.is_int):
        return kind
    if kind in (Literal.BOOL, DType.BOOL):
        said = f"{what} of `{grid.name}` is an integer, and `{{left}}` is a Bool"
        raise Misplaced.along(axis, "H215", said, "int({left})")
    said = f"{what} of `{grid.name}` is an integer, and `{{left}}` is a float"
    raise Misplaced.along(axis, "H215", said, f"{conversion(_I32, numbers.real)}({{left}})")
