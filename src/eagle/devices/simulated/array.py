"""Arrays on the simulated device: their memory is the host's, but nobody on the host may read it.

What needs their numbers is refused with the copy to write. Cutting views reads nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from eagle.devices.host.pinned import pinned_like
from eagle.devices.simulated.stream import STREAM


class SimulatedArray:
    """An array on the simulated device, or a view of one. Made by `eagle.xp_for("simulated")`."""

    __slots__ = ("_memory",)

    def __init__(self, memory: NDArray[Any]) -> None:
        self._memory = memory

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
        return "simulated"

    def __len__(self) -> int:
        return len(self._memory)

    def __repr__(self) -> str:
        return f"<array on the simulated device: {self.dtype} {self.shape}>"

    # -- views -------------------------------------------------------------------------------------

    @property
    def T(self) -> SimulatedArray:  # noqa: N802 - as arrays call it
        return SimulatedArray(self._memory.T)

    def __getitem__(self, key: Any) -> SimulatedArray:
        """A view. One number is a view without axes, which stays on the device."""
        return SimulatedArray(self._memory[self._place(key)])

    def reshape(self, *shape: Any) -> SimulatedArray:
        """The same memory in another shape. Raises ValueError where that would be a copy."""
        sides = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
        view = self._memory.view()
        view.shape = sides if len(sides) != 1 or sides[0] != -1 else (self.size,)
        return SimulatedArray(view)

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
        STREAM.enter("writing an array of the simulated device")
        place = self._place(key)
        if isinstance(value, SimulatedArray):
            self._memory[place] = memory_of(value)
        elif isinstance(value, (bool, int, float, np.generic)):
            self._memory[place] = value
        else:
            raise self._refusal(
                f"writing a {type(value).__name__} of the host into it",
                "eagle.copy(h, into=x), h being a host array of the shape and type of x",
            )

    def copy(self) -> SimulatedArray:
        """A new array with its numbers."""
        STREAM.enter("copying an array of the simulated device")
        return SimulatedArray(self._memory.copy())

    def fill(self, value: Any) -> None:
        """Write one number everywhere."""
        self[...] = value

    # -- what would need its numbers on the host ---------------------------------------------------

    def _refusal(self, how: str, fix: str = "") -> TypeError:
        fix = fix or f"h = {pinned_like(self._memory)}; eagle.copy(x, into=h), and h here"
        return TypeError(
            f"{how}: this array, {self.dtype} {self.shape}, is on the simulated device, which the "
            f"host cannot read\n  write: {fix}"
        )

    def _seen(self, how: str) -> NoReturn:
        """Refuse it, in a host function of a graph by the name of that."""
        STREAM.enter(how)
        raise self._refusal(how)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:  # noqa: FBT001 - NumPy's
        self._seen("as an array of NumPy")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> NoReturn:
        self._seen(f"np.{ufunc.__name__}")

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> NoReturn:
        self._seen(f"np.{function.__name__}")

    def __buffer__(self, flags: int) -> NoReturn:
        self._seen("as a buffer")

    def __iter__(self) -> Iterator[SimulatedArray]:
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
    def asked(self: SimulatedArray, *_: Any) -> NoReturn:
        self._seen(said)

    asked.__name__ = asked.__qualname__ = name
    setattr(SimulatedArray, name, asked)


for _name in ("bool", "int", "float", "complex", "index"):
    _asks(f"__{_name}__", "as one number")


def _computes(name: str, symbol: str) -> None:
    def compute(self: SimulatedArray, *_: Any) -> NoReturn:
        how = f"computing with `{symbol}`"
        STREAM.enter(how)
        raise self._refusal(how, "a @hawk.kernel that computes it; or the copy of it on the host")

    compute.__name__ = compute.__qualname__ = name
    setattr(SimulatedArray, name, compute)


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


def memory_of(array: SimulatedArray) -> NDArray[Any]:
    """Its memory, for the device itself."""
    return array._memory  # noqa: SLF001 - the one place that may


_POISON_INT = -57005  # 0xDEAD


def poison(memory: NDArray[Any]) -> None:
    """Write into memory what nobody has written: NaN where there is one, else a strange number."""
    match memory.dtype.kind:
        case "f" | "c":
            memory[...] = np.nan
        case "b":
            memory[...] = True
        case "i":
            memory[...] = max(_POISON_INT, int(np.iinfo(memory.dtype).min))
        case "u":
            memory[...] = min(-_POISON_INT, int(np.iinfo(memory.dtype).max))
        case _:
            memory[...] = np.zeros((), memory.dtype)
