"""Arrays on a device: what is known of them without their numbers, which the host may not read.

What needs their numbers is refused with the copy to write. Cutting views reads nothing.
"""

from __future__ import annotations

import abc
from collections.abc import Iterator
from typing import Any, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from eagle.devices.host.pinned import pinned_like


class Home(abc.ABC):
    """A device, as its arrays need it."""

    name: str
    """As messages say it."""
    device: str
    """As an array says it: `x.device`."""
    calls = False
    """May kernels be called with its arrays outside of graphs?"""

    @abc.abstractmethod
    def enter(self, what: str) -> None:
        """Begin to use the device, when all before is done. Raises where that may not be."""

    @abc.abstractmethod
    def read(self, memory: NDArray[Any]) -> NDArray[Any]:
        """A new host array with the numbers of memory of the device."""

    @abc.abstractmethod
    def write(self, memory: NDArray[Any], numbers: NDArray[Any]) -> None:
        """Write numbers of the host into memory of the device, of the same shape and type."""

    @abc.abstractmethod
    def new(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
        """New memory of the device, in which nobody has written."""

    @abc.abstractmethod
    def array(self, memory: NDArray[Any]) -> Any:
        """Memory of the device as an array."""


class DeviceArray(abc.ABC):
    """An array on a device, or a view of one.

    Its memory is described by a NumPy array that says address, shape, strides and type, and that
    keeps it alive. Nobody looks inside but the device.
    """

    __slots__ = ("_memory",)

    def __init__(self, memory: NDArray[Any]) -> None:
        self._memory = memory

    @property
    @abc.abstractmethod
    def _home(self) -> Home:
        """Where it lives."""

    def _like(self, memory: NDArray[Any]) -> Self:
        """Another array of the same device."""
        return type(self)(memory)

    # -- what is known without its numbers ---------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        return self._memory.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._memory.dtype

    @property
    def ndim(self) -> int:
        return self._memory.ndim

    @property
    def size(self) -> int:
        return self._memory.size

    @property
    def nbytes(self) -> int:
        return self._memory.nbytes

    @property
    def itemsize(self) -> int:
        return self._memory.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        return self._memory.strides

    @property
    def device(self) -> str:
        return self._home.device

    def __len__(self) -> int:
        return len(self._memory)

    def __repr__(self) -> str:
        return f"<array on {self._home.name}: {self.dtype} {self.shape}>"

    # -- views -------------------------------------------------------------------------------------

    @property
    def T(self) -> Self:  # noqa: N802 - as arrays call it
        return self._like(self._memory.T)

    def __getitem__(self, key: Any) -> Self:
        """A view. One number is a view without axes, which stays on the device."""
        return self._like(self._memory[self._place(key)])

    def reshape(self, *shape: Any) -> Self:
        """The same memory in another shape. Raises ValueError where that would be a copy."""
        sides = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
        return self._like(_reshaped(self._memory, sides))

    def _place(self, key: Any) -> tuple[Any, ...]:
        parts = key if isinstance(key, tuple) else (key,)
        for part in parts:
            if not (part is None or part is Ellipsis or isinstance(part, (int, slice, np.integer))):
                raise self._refusal(
                    f"picking by a {type(part).__name__}", "a kernel that picks; or cut it"
                )
        return parts if any(part is Ellipsis for part in parts) else (*parts, Ellipsis)

    # -- what the device does ----------------------------------------------------------------------

    def __setitem__(self, key: Any, value: Any) -> None:
        """Write a number, or another array of the device, into part of it."""
        home = self._home
        home.enter(f"writing an array of {home.name}")
        part = self._memory[self._place(key)]
        if isinstance(value, DeviceArray):
            value = home_of(value).read(memory_of(value))
        elif not isinstance(value, (bool, int, float, np.generic)):
            raise self._refusal(
                f"writing a {type(value).__name__} of the host into it",
                "eagle.copy(h, into=x), h being a host array of the shape and type of x",
            )
        numbers = np.empty(part.shape, part.dtype)
        numbers[...] = value
        home.write(part, numbers)

    def copy(self) -> Self:
        """A new array with its numbers."""
        self._home.enter(f"copying an array of {self._home.name}")
        home, memory = self._home, self._memory
        made = home.new(memory.shape, memory.dtype)
        home.write(made, home.read(memory))
        return self._like(made)

    def fill(self, value: Any) -> None:
        """Write one number everywhere."""
        self[...] = value

    # -- what would need its numbers on the host ---------------------------------------------------

    def _refusal(self, how: str, fix: str = "") -> TypeError:
        fix = fix or f"h = {pinned_like(self._memory)}; eagle.copy(x, into=h), and h here"
        return TypeError(
            f"{how}: this array, {self.dtype} {self.shape}, is on {self._home.name}, which the "
            f"host cannot read\n  write: {fix}"
        )

    def _seen(self, how: str) -> NoReturn:
        """Refuse it, in a host function of a graph by the name of that."""
        self._home.enter(how)
        raise self._refusal(how)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:  # noqa: FBT001 - NumPy's
        self._seen("as an array of NumPy")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> NoReturn:
        self._seen(f"np.{ufunc.__name__}")

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> NoReturn:
        self._seen(f"np.{function.__name__}")

    def __buffer__(self, flags: int) -> NoReturn:
        self._seen("as a buffer")

    def __iter__(self) -> Iterator[Self]:
        if self.ndim < 2:
            self._seen("number by number")
        return (self[place] for place in range(len(self)))

    def __contains__(self, value: object) -> NoReturn:
        self._seen("in")

    def item(self, *place: Any) -> NoReturn:
        """Refused: it would read a number."""
        self._seen(".item()")

    def tolist(self) -> NoReturn:
        """Refused: it would read all numbers."""
        self._seen(".tolist()")

    __hash__ = object.__hash__


def _asks(name: str, said: str) -> None:
    def asked(self: DeviceArray, *_: Any) -> NoReturn:
        self._seen(said)

    asked.__name__ = asked.__qualname__ = name
    setattr(DeviceArray, name, asked)


for _name in ("bool", "int", "float", "complex", "index"):
    _asks(f"__{_name}__", "as one number")


def _computes(name: str, symbol: str) -> None:
    def compute(self: DeviceArray, *_: Any) -> NoReturn:
        how = f"computing with `{symbol}`"
        self._home.enter(how)
        raise self._refusal(how, "a @hawk.kernel that computes it; or the copy of it on the host")

    compute.__name__ = compute.__qualname__ = name
    setattr(DeviceArray, name, compute)


_ARITHMETIC = "add + sub - mul * truediv / floordiv // mod % pow ** matmul @ and & or | xor ^"
_WORDS = f"{_ARITHMETIC} lshift << rshift >>".split()
for _name, _symbol in zip(_WORDS[::2], _WORDS[1::2], strict=True):
    for _side in ("", "r", "i"):
        _computes(f"__{_side}{_name}__", _symbol)
for _name, _symbol in {
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "eq": "==",
    "ne": "!=",
}.items():
    _computes(f"__{_name}__", _symbol)
for _name, _symbol in {"neg": "-", "pos": "+", "invert": "~", "abs": "abs"}.items():
    _computes(f"__{_name}__", _symbol)


def _reshaped(memory: NDArray[Any], sides: tuple[int, ...]) -> NDArray[Any]:
    """The same memory in another shape. NumPy must not even begin to copy it: it cannot be read."""
    try:
        return np.reshape(memory, sides, copy=False)
    except TypeError:  # NumPy 2.0 does not know `copy`
        if not memory.flags.c_contiguous:
            raise ValueError("a reshape of what is not contiguous would be a copy") from None
        return memory.reshape(sides)


def home_of(array: DeviceArray) -> Home:
    """Where it lives."""
    return array._home  # noqa: SLF001 - as below


def memory_of(array: DeviceArray) -> NDArray[Any]:
    """Its memory, for the device itself."""
    return array._memory  # noqa: SLF001 - the one place that may
