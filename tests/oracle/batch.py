"""A batch of samples in plain memory: launched as compiled code, or interpreted, and compared."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hawk.ir.hidden import N_SAMPLES, SAMPLE_INDEX
from hawk.ir.interpret import interpret
from hawk.ir.nodes import ARRAYS, Function, Number, Role
from hawk.ir.types import DType
from hawk.targets.base import HEADER, Compiled, Word, new_block, raw_word

Columns = Mapping[str, Sequence[Number]]
"""For each array, what each sample holds."""

FENCE = 64
"""Elements before and after each array that nobody may touch."""
FENCE_BYTE = 0xA5


class PlaneLike(Protocol):
    """What `hawk.ir.nodes.Plane` and `hawk.targets.base.Slot` have in common."""

    @property
    def name(self) -> str: ...
    @property
    def role(self) -> Role: ...
    @property
    def dtype(self) -> DType: ...


@dataclass(frozen=True)
class Batch:
    """The planes of `n` samples, each array between two fences."""

    n: int
    arrays: dict[str, NDArray[Any]]
    numbers: Mapping[str, Number]
    fenced: dict[str, NDArray[Any]]
    tables: Mapping[str, NDArray[Any]] = field(default_factory=dict[str, "NDArray[Any]"])
    """Arrays that all samples share."""

    @classmethod
    def of(
        cls,
        planes: Sequence[PlaneLike],
        columns: Columns,
        numbers: Mapping[str, Number],
        n: int | None = None,
        tables: Mapping[str, NDArray[Any]] | None = None,
    ) -> Batch:
        """The first `n` samples of `columns`; arrays without a column are zero."""
        if n is None:
            n = max([len(column) for column in columns.values()], default=1)
        arrays: dict[str, NDArray[Any]] = {}
        fenced: dict[str, NDArray[Any]] = {}
        for plane in planes:
            if plane.role not in ARRAYS:
                continue
            dtype = np.dtype(plane.dtype.numpy)
            raw = np.full((n + 2 * FENCE) * dtype.itemsize, FENCE_BYTE, np.uint8)
            fenced[plane.name] = raw
            array = raw[FENCE * dtype.itemsize : (FENCE + n) * dtype.itemsize].view(dtype)
            column = columns.get(plane.name)
            array[:] = as_array(column[:n], plane.dtype) if column is not None else 0
            arrays[plane.name] = array
        return cls(n, arrays, {N_SAMPLES: n, **numbers}, fenced, tables or {})

    def copy(self, n: int | None = None) -> Batch:
        """The first `n` samples once more, in memory of their own."""
        n = self.n if n is None else n
        columns = {name: array[:n] for name, array in self.arrays.items()}
        slots = [_Named(name, _dtype_of(array)) for name, array in self.arrays.items()]
        return Batch.of(slots, columns, self.numbers, n, self.tables)

    def trespassed(self) -> list[str]:
        """The arrays whose fences were written to."""
        found: list[str] = []
        for name, raw in self.fenced.items():
            edge = FENCE * self.arrays[name].itemsize
            if (raw[:edge] != FENCE_BYTE).any() or (raw[-edge:] != FENCE_BYTE).any():
                found.append(name)
        return found


@dataclass(frozen=True)
class _Named:
    name: str
    dtype: DType
    role: Role = Role.INPUT


def _dtype_of(array: NDArray[Any]) -> DType:
    return next(dtype for dtype in DType if np.dtype(dtype.numpy) == array.dtype)


def as_array(numbers: Sequence[Number] | NDArray[Any], dtype: DType) -> NDArray[Any]:
    """The numbers as an array of the type's own."""
    with np.errstate(all="ignore"):
        return np.array(numbers, dtype=dtype.numpy)


def launch(
    compiled: Compiled,
    batch: Batch,
    steps: int,
    *,
    begin: int = 0,
    end: int | None = None,
    piece: int | None = None,
    window: int = 0,
    picked: NDArray[np.int64] | None = None,
) -> list[int]:
    """Run compiled code on the batch, in this thread; gives the header of the block after it.

    With a `window` of cycles the code is called again and again until nothing is left to do.
    `picked` maps positions to samples.
    """
    end = batch.n if end is None else end
    block = new_block(len(compiled.planes))
    block[Word.BEGIN], block[Word.END], block[Word.STEPS] = begin, end, steps
    block[Word.PIECE] = max(1, end - begin) if piece is None else piece
    block[Word.WINDOW] = window
    block[Word.MAP] = 0 if picked is None else picked.ctypes.data
    for place, slot in enumerate(compiled.planes, HEADER):
        if slot.role is Role.UNIFORM:
            block[place] = raw_word(batch.numbers[slot.name], slot.dtype)
        elif slot.role is Role.TABLE:
            block[place] = batch.tables[slot.name].ctypes.data
        elif slot.role in ARRAYS:
            block[place] = batch.arrays[slot.name].ctypes.data
    rows = _entered(compiled, block, [])
    while window and (rows or block[Word.NEXT] < end - begin):
        rows = _entered(compiled, block, rows)
    return list(block[:HEADER])


def _entered(compiled: Compiled, block: ctypes.Array[ctypes.c_int64], rows: list[int]) -> list[int]:
    """Enter the code once, with rows to do first; the rows that are left to do."""
    before, left = (ctypes.c_int64 * max(1, len(rows)))(*rows), left_room(compiled)
    block[Word.ROWS], block[Word.ROW_COUNT] = ctypes.addressof(before), len(rows) // 3
    block[Word.LEFT], block[Word.LEFT_COUNT] = ctypes.addressof(left), 0
    block[Word.NEXT_ROW] = 0
    compiled.entry(ctypes.addressof(block))
    done = min(len(rows) // 3, block[Word.NEXT_ROW])
    return [*left[: 3 * block[Word.LEFT_COUNT]], *rows[3 * done :]]


def left_room(compiled: Compiled) -> ctypes.Array[ctypes.c_int64]:
    """Room for the rows that one thread may leave."""
    return (ctypes.c_int64 * (3 * compiled.rows))()


def interpreted(fn: Function, batch: Batch, steps: int, samples: Sequence[int]) -> Batch:
    """A copy of the batch in which `samples` were advanced by the interpreter."""
    after = batch.copy()
    for sample in samples:
        values: dict[str, Any] = {**batch.numbers, SAMPLE_INDEX: sample}
        values.update({name: table.ravel().tolist() for name, table in batch.tables.items()})
        values.update({name: array[sample].item() for name, array in batch.arrays.items()})
        for name, number in steps_of(fn, values, steps).items():
            after.arrays[name][sample] = number
    return after


def steps_of(fn: Function, values: Mapping[str, Any], steps: int) -> dict[str, Number]:
    """What the planes of one sample hold after up to `steps` interpreted steps."""
    values = dict(values)
    mask = next((plane.name for plane in fn.planes if plane.role is Role.MASK), None)
    for _ in range(steps):
        if mask is not None and values[mask]:
            break
        values.update(interpret(fn, values))
    return {name: values[name] for name, _ in fn.stores if name in values}


def unlike(expected: NDArray[Any], got: NDArray[Any]) -> NDArray[Any]:
    """Where two arrays differ in a bit; a NaN is like any NaN."""
    assert (expected.dtype, expected.shape) == (got.dtype, got.shape)
    if expected.dtype.kind != "f":
        return np.flatnonzero(expected != got)
    bits = f"u{expected.itemsize}"
    differ = expected.view(bits) != got.view(bits)
    return np.flatnonzero(differ & ~(np.isnan(expected) & np.isnan(got)))


def differences(
    expected: Batch, got: Batch, samples: Sequence[int] | None = None
) -> list[tuple[str, int, Number, Number]]:
    """Plane, sample, expected and got number of each difference; fences count as sample -1."""
    found: list[tuple[str, int, Number, Number]] = []
    for name in got.trespassed():
        found.append((name, -1, FENCE_BYTE, 0))
    for name, wanted in expected.arrays.items():
        for sample in unlike(wanted, got.arrays[name]):
            if samples is None or sample in samples:
                found.append(
                    (name, int(sample), wanted[sample].item(), got.arrays[name][sample].item())
                )
    return found
