"""Small arrays for CPython: memory that is shared as that of NumPy's arrays is.

A kernel's own function runs with them one sample at a time. Slices, rows and transposes are the
memory of the array they are taken from. This is written apart from the walk, which has no memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hawk.frontend import shapes
from hawk.frontend.debug import misfit_text
from hawk.frontend.operators import Misfit
from hawk.frontend.shapes import Parts
from hawk.ir.types import DType


def _operator(symbol: str) -> Any:
    def forward(self: Array, other: Any) -> Any:
        return self.binary(symbol, self, other)

    def backward(self: Array, other: Any) -> Any:
        return self.binary(symbol, other, self)

    def in_place(self: Array, other: Any) -> Any:
        return self.become(self.binary(symbol, self, other))

    return forward, backward, in_place


class Array:
    """Numbers of a kernel with a shape. `places` says where in the memory each of them is."""

    __slots__ = ("memory", "numbers", "places")
    __array_ufunc__ = None  # NumPy's scalars leave operators with an Array to it

    def __init__(self, numbers: Any, memory: list[Any], places: NDArray[np.int64]) -> None:
        self.numbers, self.memory, self.places = numbers, memory, places

    @classmethod
    def of(cls, numbers: Any, shape: tuple[int, ...], values: Any) -> Array:
        """An array in memory of its own."""
        memory = list(values)
        return cls(numbers, memory, np.arange(len(memory), dtype=np.int64).reshape(shape))

    # --- what it is ---

    @property
    def shape(self) -> tuple[int, ...]:
        return self.places.shape

    @property
    def ndim(self) -> int:
        return self.places.ndim

    @property
    def size(self) -> int:
        return self.places.size

    @property
    def T(self) -> Array:  # noqa: N802 - NumPy's name
        return Array(self.numbers, self.memory, self.places.T)

    def copy(self) -> Array:
        return Array.of(self.numbers, self.shape, self.values)

    @property
    def values(self) -> list[Any]:
        """The numbers, row by row."""
        return [self.memory[place] for place in self.places.ravel().tolist()]

    @property
    def dtype(self) -> DType:
        return self.memory[self.places.flat[0]].dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        for place in range(len(self)):
            yield self[place]

    def __bool__(self) -> bool:
        raise TypeError("an array is not true or false as a whole: write all(...) or any(...)")

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        rows = np.array([each.number for each in self.values], object).reshape(self.shape)
        return repr(rows.tolist())

    # --- elements ---

    def __getitem__(self, key: Any) -> Any:
        places = self.places[self._key(key)]
        if not np.ndim(places):
            return self.memory[int(places)]
        if not places.size:
            raise TypeError("no element is picked at all")
        return Array(self.numbers, self.memory, places)

    def __setitem__(self, key: Any, value: Any) -> None:
        places = np.asarray(self.places[self._key(key)])
        if isinstance(value, (tuple, list)):
            value = Array.of(self.numbers, (len(value),), value)
        if isinstance(value, Array):
            if value.shape != places.shape:
                raise TypeError(f"elements of shape {places.shape} get an array of {value.shape}")
            values = value.values
        else:
            values = [value] * max(1, places.size)
        stored = [self._stored(each) for each in values]
        for place, each in zip(places.ravel().tolist(), stored, strict=True):
            self.memory[place] = each

    def _stored(self, value: Any) -> Any:
        try:
            return self.numbers.store(value, self.dtype)
        except Misfit as misfit:
            raise TypeError(misfit_text(misfit)) from None

    def _key(self, key: Any) -> tuple[Any, ...]:
        """The key with known integers, the nearest ones where a number of the kernel is outside."""
        parts = key if isinstance(key, tuple) else (key,)
        given = [part for part in parts if part is not Ellipsis]
        if len(given) > self.ndim:
            raise TypeError(f"{len(given)} indices of an array that has {self.ndim}")
        axis, known = 0, []
        for part in parts:
            if part is Ellipsis:
                axis += self.ndim - len(given)
                known.append(part)
                continue
            known.append(self._index(part, self.shape[axis]))
            axis += 1
        return tuple(known)

    def _index(self, part: Any, length: int) -> Any:
        if isinstance(part, slice):
            bounds = (part.start, part.stop, part.step)
            return slice(*[None if each is None else _whole(each) for each in bounds])
        place = _whole(part)
        if isinstance(part, int):
            return place  # a known one, of which NumPy says whether it is there
        place = place + length if place < 0 else place
        if not 0 <= place < length:
            self.numbers.outside(part, length)
        return min(max(place, 0), length - 1)

    # --- operators ---

    __add__, __radd__, __iadd__ = _operator("+")
    __sub__, __rsub__, __isub__ = _operator("-")
    __mul__, __rmul__, __imul__ = _operator("*")
    __truediv__, __rtruediv__, __itruediv__ = _operator("/")
    __floordiv__, __rfloordiv__, __ifloordiv__ = _operator("//")
    __mod__, __rmod__, __imod__ = _operator("%")
    __pow__, __rpow__, __ipow__ = _operator("**")
    __lshift__, __rlshift__, __ilshift__ = _operator("<<")
    __rshift__, __rrshift__, __irshift__ = _operator(">>")
    __and__, __rand__, __iand__ = _operator("&")
    __or__, __ror__, __ior__ = _operator("|")
    __xor__, __rxor__, __ixor__ = _operator("^")
    __matmul__, __rmatmul__, __imatmul__ = _operator("@")
    __lt__, __le__, __gt__, __ge__ = (_operator(s)[0] for s in ("<", "<=", ">", ">="))
    __eq__, __ne__ = (_operator(s)[0] for s in ("==", "!="))  # pyright: ignore[reportAssignmentType]

    def binary(self, symbol: str, left: Any, right: Any) -> Any:
        if left is None or right is None:
            return symbol == "!="
        a, b = parts_of(left), parts_of(right)

        def compute(x: Any, y: Any) -> Any:
            return self.numbers.binary(symbol, x, y)

        try:
            if symbol == "@":
                return self.made(shapes.matmul(self.numbers, a, b))
            return self.made(shapes.elementwise(compute, symbol, a, b))
        except Misfit as misfit:
            raise TypeError(misfit_text(misfit)) from None

    def become(self, value: Any) -> Array:
        """What `+=` does: the numbers change where they are."""
        self[(slice(None),) * self.ndim] = value
        return self

    def made(self, result: Any) -> Any:
        return Array.of(self.numbers, *result) if isinstance(result, Parts) else result

    def __neg__(self) -> Array:
        return self._unary("-")

    def __pos__(self) -> Array:
        return self._unary("+")

    def __invert__(self) -> Array:
        if self.dtype is DType.BOOL:
            return Array.of(self.numbers, self.shape, map(self.numbers.opposite, self.values))
        return self._unary("~")

    def _unary(self, symbol: str) -> Array:
        values = [self.numbers.unary(symbol, each) for each in self.values]
        return Array.of(self.numbers, self.shape, values)


def parts_of(value: Any) -> Any:
    """An array as its shape and numbers; a number as it is. Raises TypeError for anything else."""
    if isinstance(value, Array):
        return Parts(value.shape, tuple(value.values))
    if isinstance(value, (tuple, list, str)) or value is None:
        raise TypeError(f"an operator of an array and a {type(value).__name__}")
    return value


def apply(numbers: Any, compute: Any, *values: Any) -> Any:
    """`compute` of numbers and arrays, number by number."""
    result = shapes.elementwise(compute, "", *[parts_of(value) for value in values])
    return Array.of(numbers, *result)


def vec(numbers: Any, *values: Any) -> Array:
    """`hawk.math.vec` of numbers, or of one tuple of them."""
    if len(values) == 1 and isinstance(values[0], (tuple, list, Array)):
        values = tuple(values[0])
    return Array.of(numbers, (len(values),), shapes.alike(numbers, values))


def mat(numbers: Any, *rows: Any) -> Array:
    """`hawk.math.mat` of rows, or of one tuple of them."""
    if len(rows) == 1 and isinstance(next(iter(rows[0])), (tuple, list, Array)):
        rows = tuple(rows[0])
    opened = [tuple(row) for row in rows]
    if len({len(row) for row in opened}) != 1:
        raise TypeError("the rows of a matrix have one length")
    values = [value for row in opened for value in row]
    return Array.of(numbers, (len(opened), len(opened[0])), shapes.alike(numbers, values))


def _whole(value: Any) -> int:
    if isinstance(value, bool) or isinstance(getattr(value, "number", 0), (bool, float)):
        raise TypeError(f"an index is an integer, not {value!r}")
    return int(value.__index__())
