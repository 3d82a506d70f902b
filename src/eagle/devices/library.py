"""The array library of a device: what makes arrays there, with NumPy's names.

It makes arrays and computes nothing: that is what kernels are for.
"""

from __future__ import annotations

from typing import Any, Generic, NoReturn, TypeVar

import numpy as np

from eagle.devices.arrays import DeviceArray, Home, home_of, memory_of
from eagle.devices.base import allocations
from eagle.params import shown

A = TypeVar("A", bound=DeviceArray)


class Library(Generic[A]):
    """Functions that make arrays on one device, and bring their numbers back."""

    bool_, int32, int64, uint32, uint64 = np.bool_, np.int32, np.int64, np.uint32, np.uint64
    float32, float64 = np.float32, np.float64
    inf, nan, pi, newaxis = np.inf, np.nan, np.pi, None

    def __init__(self, home: Home, ndarray: type[A]) -> None:
        self._home = home
        self.ndarray = ndarray
        """The type of its arrays."""

    def _new(self, numbers: Any) -> A:
        home = self._home
        allocations.check(f"an array on {home.name}")
        home.enter(f"making an array on {home.name}")
        return self._made(numbers)

    def _made(self, numbers: Any) -> A:
        memory = self._home.new(numbers.shape, numbers.dtype)
        self._home.write(memory, numbers)
        return self._home.array(memory)

    def zeros(self, shape: Any, dtype: Any = np.float64) -> A:
        """An array of zeros."""
        return self._new(np.zeros(shape, dtype))

    def ones(self, shape: Any, dtype: Any = np.float64) -> A:
        """An array of ones."""
        return self._new(np.ones(shape, dtype))

    def full(self, shape: Any, value: Any, dtype: Any = None) -> A:
        """An array of one number."""
        return self._new(np.full(shape, value, dtype))

    def empty(self, shape: Any, dtype: Any = np.float64) -> A:
        """An array in which nothing was written."""
        home, like = self._home, np.empty(shape, dtype)
        allocations.check(f"an array on {home.name}")
        home.enter(f"making an array on {home.name}")
        return home.array(home.new(like.shape, like.dtype))

    def zeros_like(self, array: Any, dtype: Any = None) -> A:
        """An array of zeros, of the shape and type of another one."""
        return self.zeros(array.shape, array.dtype if dtype is None else dtype)

    def ones_like(self, array: Any, dtype: Any = None) -> A:
        """An array of ones, of the shape and type of another one."""
        return self.ones(array.shape, array.dtype if dtype is None else dtype)

    def full_like(self, array: Any, value: Any, dtype: Any = None) -> A:
        """An array of one number, of the shape and type of another one."""
        return self.full(array.shape, value, array.dtype if dtype is None else dtype)

    def empty_like(self, array: Any, dtype: Any = None) -> A:
        """An array in which nothing was written, of the shape and type of another one."""
        return self.empty(array.shape, array.dtype if dtype is None else dtype)

    def arange(self, *bounds: Any, dtype: Any = None) -> A:
        """Numbers from the first bound to the second in steps of the third, as NumPy counts."""
        return self._new(np.arange(*bounds, dtype=dtype))

    def linspace(self, start: Any, stop: Any, num: int = 50, dtype: Any = None) -> A:
        """`num` numbers at equal distances, both ends included."""
        return self._new(np.linspace(start, stop, num, dtype=dtype))

    def array(self, value: Any, dtype: Any = None) -> A:
        """A new array with the numbers of another one, of the host or a device, or of a list."""
        home = self._home
        allocations.check(f"an array on {home.name}")
        home.enter(f"copying to {home.name}")
        if isinstance(value, DeviceArray):
            value = home_of(value).read(memory_of(value))
        numbers = np.array(value, dtype)
        if numbers.dtype.kind not in "fiubc":
            raise TypeError(f"array: expected numbers, got {shown(value)}")
        return self._made(numbers)

    def asarray(self, value: Any, dtype: Any = None) -> A:
        """The array itself where it is on the device and of the type, else a new one."""
        if isinstance(value, self.ndarray) and dtype in (None, value.dtype):
            return value
        return self.array(value, dtype)

    def asnumpy(self, value: Any) -> Any:
        """A new NumPy array with the numbers of an array of the device, as CuPy gives it."""
        if not isinstance(value, self.ndarray):
            return np.asarray(value)
        self._home.enter(f"copying from {self._home.name}")
        return self._home.read(memory_of(value))

    def __getattr__(self, name: str) -> NoReturn:
        known = ", ".join(each for each in _FUNCTIONS if each != "ndarray")
        raise AttributeError(
            f"{self._home.name} has no {name!r}: it makes arrays ({known}) and computes nothing\n"
            "  write: a @hawk.kernel that computes it, or NumPy before xp.asarray(...)"
        )


_FUNCTIONS = tuple(
    sorted(
        name
        for name, value in vars(Library).items()
        if callable(value) and not name.startswith("_") and not isinstance(value, type)
    )
)
