"""How a kernel computes hawk's own functions: places, interpolation and random numbers.

Recipes like those of `recipes`, written once for the traced program and for CPython.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hawk.frontend import grids
from hawk.frontend.arithmetic import Arithmetic
from hawk.frontend.operators import Misfit, is_bool, is_float
from hawk.frontend.recipes import Recipe
from hawk.frontend.values import TableView
from hawk.ir.hidden import SAMPLE_INDEX, STEP_INDEX
from hawk.ir.types import DType
from hawk.math import distributions as dist
from hawk.math.interpolation import KINDS, interpolate
from hawk.math.philox import Stream
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


def step_index(numbers: Arithmetic) -> Any:
    """In which step the sample is."""
    return numbers.place(STEP_INDEX)


def place(name: str) -> Recipe:
    """Which sample this is, or of how many; also along a dimension of the grid."""
    return lambda numbers, dimension=None, /: grids.place(numbers, name, dimension)


# --- random numbers -------------------------------------------------------------------------------


def _integer(numbers: Arithmetic, name: str, value: Any) -> Term:
    """An integer of up to 64 bits, as an int64."""
    if not numbers.is_number(value):
        if isinstance(value, bool) or not isinstance(value, int):
            what = f"`{name}` is an integer, not {value!r}"
            raise Misfit("H305", what)
        if not -(2**63) <= value < 2**64:
            raise Misfit("H203", f"`{name}` has up to 64 bits, and this has {value.bit_length()}")
        return Term(numbers, numbers.constant(value, DType.I64), DType.I64)
    kind = numbers.kind(value)
    if is_float(kind) or is_bool(kind):
        held = "a Bool" if is_bool(kind) else "a float"
        what = f"`{name}` is an integer, and this is {held}"
        raise Misfit("H305", what, "hawk.index(...) around it")
    return Term(numbers, numbers.to(value, DType.I64), DType.I64)


def _stream(numbers: Arithmetic, seed: Any, draw: Any, sample: Any) -> Stream:
    own = numbers.place(SAMPLE_INDEX) if sample is None else sample
    return Stream(
        _integer(numbers, "seed", seed),
        _integer(numbers, "draw", draw),
        _integer(numbers, "sample", own),
        wide=numbers.real is DType.F64,
    )


def _real(numbers: Arithmetic, value: Any) -> Term:
    """A float of the kernel's width."""
    return Term(numbers, numbers.to(value, numbers.real), numbers.real)


def _drawn(numbers: Arithmetic, write: Callable[[], Term]) -> Any:
    with numbers.aside(), numbers.unwatched():
        return write().value


def drawn(write: Callable[[Stream, DType], Term]) -> Recipe:
    """A number of a distribution that is always the same."""

    def recipe(numbers: Arithmetic, seed: Any, draw: Any, *, sample: Any = None) -> Any:
        stream = _stream(numbers, seed, draw, sample)
        return _drawn(numbers, lambda: write(stream, numbers.real))

    return recipe


def lognormal(
    numbers: Arithmetic,
    seed: Any,
    draw: Any,
    *,
    mean: Any = 0.0,
    sigma: Any = 1.0,
    sample: Any = None,
) -> Any:
    stream = _stream(numbers, seed, draw, sample)
    middle, width = _real(numbers, mean), _real(numbers, sigma)
    return _drawn(numbers, lambda: dist.lognormal(stream, numbers.real, middle, width))


def bernoulli(numbers: Arithmetic, seed: Any, draw: Any, *, p: Any, sample: Any = None) -> Any:
    stream, share = _stream(numbers, seed, draw, sample), _real(numbers, p)
    known = numbers.certain(share.value)
    if known is not None and not 0.0 <= known <= 1.0:
        raise Misfit("H305", f"a probability is from 0 to 1, and `p` is {known!r}")
    return _drawn(numbers, lambda: dist.bernoulli(stream, numbers.real, share))


def integers(
    numbers: Arithmetic, seed: Any, draw: Any, *, low: Any = 0, high: Any, sample: Any = None
) -> Any:
    stream = _stream(numbers, seed, draw, sample)
    first, end = _integer(numbers, "low", low), _integer(numbers, "high", high)
    if None not in (first.number, end.number) and end.number <= first.number:
        what = f"there is no integer from {first.number} to below {end.number}"
        raise Misfit("H305", what, "a `high` that is above `low`: it is left out itself")
    return _drawn(numbers, lambda: dist.integers(stream, first, end))


def poisson(numbers: Arithmetic, seed: Any, draw: Any, *, mean: Any, sample: Any = None) -> Any:
    stream, expected = _stream(numbers, seed, draw, sample), _real(numbers, mean)
    known = numbers.certain(expected.value)
    if known is not None and not 0.0 <= known <= 1e15:
        raise Misfit("H305", f"a mean is from 0 to 1e15, and `mean` is {known!r}")
    return _drawn(numbers, lambda: dist.poisson(stream, expected))
