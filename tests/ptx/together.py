"""Runs the PTX of kernels that reduce or scatter, as whoever launches them would."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hawk.ir.hidden import N_SAMPLES, dimension_name, extent_name, grid_of, is_hidden
from hawk.ir.nodes import ARRAYS, TABLES, Function, Reduction, Role
from hawk.ir.reduce import lines_of
from hawk.ir.types import DType
from hawk.kernel import Kernel
from hawk.passes.phases import KEEP, VALUE
from hawk.targets.ptx import rounds
from hawk.targets.ptx.block import THREADS
from hawk.targets.ptx.collective import Part, collective
from hawk.targets.ptx.routines import routines_ptx
from tests.ptx.machine import launch
from tests.ptx.parse import Module, parse
from tests.ptx.run import locked
from tests.unit.frontend.every_way import by_component

Arrays = dict[str, NDArray[Any]]


@functools.cache
def routines() -> Module:
    return parse(routines_ptx("sm_75"))


def call(plan: rounds.Call, given: dict[str, Any], seed: int | None = None) -> None:
    """One launch of a routine; at most 3 blocks, so that they have to share the work."""
    arguments = [
        np.int64(each) if isinstance(each, int) else given[each] for each in plan.arguments
    ]
    blocks = min(3, plan.blocks)
    launch(routines(), arguments, kernel=plan.routine, blocks=blocks, threads=THREADS, seed=seed)


def reduce(
    kind: str,
    dtype: DType,
    values: NDArray[Any],
    *,
    keep: NDArray[Any] | None = None,
    done: NDArray[Any] | None = None,
    order: NDArray[Any] | None = None,
    lines: int = 1,
    seed: int | None = None,
) -> NDArray[Any]:
    """What the routines make of values: a number for each line."""
    plan = rounds.reduction(kind, dtype, lines, values.size // lines)
    result = np.zeros(lines, rounds.result_type(kind, dtype).numpy)
    given: dict[str, Any] = {rounds.NULL: None, rounds.RESULT: result}
    named = {rounds.VALUES: values, rounds.KEEP: keep, rounds.DONE: done, rounds.ORDER: order}
    given |= {name: None if each is None else locked(each) for name, each in named.items()}
    given |= {room.name: np.zeros(room.size, room.dtype.numpy) for room in plan.rooms}
    for each in plan.calls:
        call(each, given, seed)
    return result


class Together:
    """A batch of a kernel whose samples take their steps together."""

    def __init__(self, kernel: Kernel[..., Any], real: DType, planes: dict[str, Any]) -> None:
        """`planes` is what a user passes; arrays are copied."""
        self.fn: Function = kernel.trace(real)
        self.made = collective(self.fn, "sm_75")
        self.module = parse(self.made.ptx)
        parts = by_component(kernel, planes)
        grid = kernel.signature.grid
        shapes = [np.shape(parts[each.name]) for each in kernel.parameters if each.grid is not None]
        self.extents: tuple[int, ...] = shapes[0] if shapes else ()
        found = {
            plane.name: np.asarray(parts[plane.name])
            for plane in self.fn.planes
            if plane.name in parts
        }
        arrays = {p.name for p in self.fn.planes if p.role in ARRAYS - {Role.OUTPUT}}
        sizes = [each.size for name, each in found.items() if name in arrays and each.ndim]
        self.n = sizes[0] if sizes else 1
        self.numbers: dict[str, Any] = {N_SAMPLES: self.n}
        for axis, extent in zip(grid.axes if grid else (), self.extents, strict=False):
            self.numbers[dimension_name(axis)] = extent
        self.arrays: Arrays = {}
        self.tables: Arrays = {}
        for plane in self.fn.planes:
            dtype, given = np.dtype(plane.dtype.numpy), found.get(plane.name)
            if plane.role in ARRAYS:
                self.arrays[plane.name] = np.zeros(self.n, dtype)
                if given is not None:
                    self.arrays[plane.name][:] = given.reshape(-1)
            elif plane.role in TABLES and given is not None:
                self.tables[plane.name] = given.astype(dtype).reshape(-1)
                for axis, extent in enumerate(given.shape):
                    self.numbers[extent_name(plane.name, axis)] = extent
            elif plane.role is Role.UNIFORM and given is not None:
                self.numbers[plane.name] = given.item()
        self.held: Arrays = {}
        """What reductions gave, by plane."""
        self.mask = next((p.name for p in self.fn.planes if p.role is Role.MASK), None)

    def step(self, seed: int | None = None) -> None:
        """One step of all samples."""
        for reduction, part in zip(self.fn.reductions, self.made.given, strict=True):
            self._reduce(reduction, part, seed)
        self._launch(self.made.step, {}, seed)
        for each in self.fn.scatters:
            table, spots = self.tables[each.plane], self.arrays[each.spot]
            given = {rounds.TABLE: table, rounds.SPOTS: locked(spots)}
            given[rounds.VALUES] = locked(self.arrays[each.value])
            dtype = self.fn.plane(each.plane).dtype
            call(rounds.scatter(each.kind, dtype, table.size, self.n), given, seed)
            spots[:] = 0

    def _reduce(self, reduction: Reduction, part: Part | str, seed: int | None) -> None:
        if isinstance(part, str):
            left = {VALUE: self.arrays[part]}
        else:
            left = {
                plane.name: np.zeros(self.n, plane.dtype.numpy)
                for plane in part.fn.planes
                if plane.role is Role.OUTPUT
            }
            self._launch(part, left, seed)
        lines, order = 1, None
        if reduction.lines is not None:
            extents = [
                e if isinstance(e, int) else self.numbers[e] for e in reduction.lines.extents
            ]
            found = lines_of(extents, reduction.lines.over)
            lines, order = len(found), np.array(found, np.int64).reshape(-1)
            assert math.prod(extents) == self.n
        result = reduce(
            reduction.kind,
            reduction.value.dtype,
            left[VALUE],
            keep=left.get(KEEP),
            done=self.arrays[self.mask] if self.mask else None,
            order=order,
            lines=lines,
            seed=seed,
        )
        (self.held if reduction.lines is None else self.tables)[reduction.plane] = result

    def _launch(self, part: Part, left: Arrays, seed: int | None) -> None:
        given: list[Any] = []
        for plane in part.fn.planes:
            if plane.name in part.held:
                given.append(locked(self.held[plane.name]))
            elif plane.role is Role.OUTPUT:
                given.append(left[plane.name] if left else self.arrays[plane.name])
            elif plane.role in ARRAYS:
                array = self.arrays[plane.name]
                given.append(locked(array) if plane.role is Role.INPUT else array)
            elif plane.role in TABLES:
                whole = grid_of(plane.name)
                given.append(locked(self.arrays[whole] if whole else self.tables[plane.name]))
            elif plane.role is Role.UNIFORM:
                given.append(np.array(self.numbers[plane.name], plane.dtype.numpy)[()])
        given += [np.int64(self.n), np.int64(1)]
        launch(self.module, given, kernel=part.name, blocks=2, threads=64, seed=seed)

    def results(self) -> Arrays:
        """What a user would see."""
        given = {each.spot for each in self.fn.scatters} | {s.value for s in self.fn.scatters}
        shown = {name: array for name, array in self.arrays.items() if not is_hidden(name)}
        shown = {name: array for name, array in shown.items() if name not in given}
        shared = {plane.name for plane in self.fn.planes if plane.role is Role.SHARED}
        return shown | {name: self.tables[name] for name in shared}
