"""The two slow ways to run a kernel, in plain Python: for tests, and for looking closely.

`interpret` runs the program that the kernel was traced to. `run_python` runs the user's own
function under CPython, so prints and breakpoints in it work. Both give the same bits.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hawk.frontend.bundles import opened
from hawk.frontend.cpython import Shim
from hawk.frontend.reductions import Asked, Result
from hawk.frontend.scatters import Given
from hawk.frontend.signature import NO_DEFAULT
from hawk.ir.hidden import (
    N_SAMPLES,
    SAMPLE_INDEX,
    STEP_INDEX,
    dimension_name,
    extent_name,
    whole_name,
)
from hawk.ir.interpret import interpret as run_program
from hawk.ir.meaning import represent
from hawk.ir.nodes import TABLES, WRITTEN, Role
from hawk.ir.nodes import Number as PlainNumber
from hawk.ir.reduce import lines_of, reduce
from hawk.ir.scatter import scatter
from hawk.ir.types import DType
from hawk.kernel import WIDTHS, Kernel
from hawk.passes.phases import KEEP, VALUE, given_to, step_of

Values: TypeAlias = "dict[str, Any]"
Left: TypeAlias = "tuple[Mapping[str, PlainNumber], Sequence[Given]]"
"""What a step of a sample leaves: what it stores, and what it gives to shared tables, in order."""
Step: TypeAlias = "Callable[[Values, Sequence[Result]], Left]"
"""One step of one sample: what its planes hold, and the results of the step's first reductions, to
what it leaves. Raises Asked for a reduction whose result is not among them."""
Arrays: TypeAlias = "dict[str, NDArray[Any]]"


def interpret(kernel: Kernel[..., Any], *args: Any, steps: int = 1, **planes: Any) -> Arrays:
    """Run the kernel's program on each sample, at most `steps` steps.

    Takes arrays of n samples, or numbers; of a small array `(w, n)` or `(r, c, n)`, or one for all
    samples. Changes none of them. Gives an array for every Mutable, Terminated and output. Raises
    TypeError for arguments that do not fit the signature.
    """

    def prepare(real: DType, uniform: frozenset[str]) -> Step:
        function = kernel.trace(real, uniform)
        given = [given_to(function, each) for each in function.reductions]
        types = {plane.name: plane.dtype for plane in function.planes}

        def step(values: Values, reduced: Sequence[Result]) -> Left:
            made = zip([each.plane for each in function.reductions], reduced, strict=False)
            values = {**values, **dict(made)}
            if len(reduced) == len(given):
                stored = run_program(step_of(function), values)
                return stored, [
                    Given(
                        each.kind,
                        each.plane,
                        types[each.plane],
                        int(stored[each.spot]),
                        stored[each.value],
                    )
                    for each in function.scatters
                ]
            asked, reduction = given[len(reduced)], function.reductions[len(reduced)]
            left = run_program(asked, values)
            keep = bool(left.get(KEEP, True))
            over = reduction.lines.over if reduction.lines else ()
            raise Asked(reduction.kind, reduction.value.dtype, left[VALUE], keep, over)

        return step

    return _run(kernel, args, planes, steps, prepare)


def run_python(kernel: Kernel[..., Any], *args: Any, steps: int = 1, **planes: Any) -> Arrays:
    """Run the user's own function on each sample under CPython, at most `steps` steps.

    As `interpret`, with the same bits. The function is recompiled with its file name and line
    numbers, so a breakpoint in it stops there.
    """

    def prepare(real: DType, uniform: frozenset[str]) -> Step:
        shim = Shim(real, contract=kernel.contract, fast=kernel.math == "fast")

        def step(values: Values, reduced: Sequence[Result]) -> Left:
            given = shim.given(kernel, values)
            shim.batch.begin(reduced)
            stored = {name: each.number for name, each in shim.step(kernel, given).items()}
            return {**stored, STEP_INDEX: values[STEP_INDEX] + 1}, shim.batch.given

        return step

    return _run(kernel, args, planes, steps, prepare)


def _run(
    kernel: Kernel[..., Any],
    args: tuple[Any, ...],
    planes: dict[str, Any],
    steps: int,
    prepare: Callable[[DType, frozenset[str]], Step],
) -> Arrays:
    """Step every sample until it is done or has taken `steps` steps."""
    given = _bind(kernel, args, planes)
    real = _width(kernel, given)
    tables = _tables(kernel, given, real)
    shared = {each.name: given[each.name].shape for each in kernel.parameters if each.table}
    given = {name: each for name, each in given.items() if name not in tables}
    arranged = _arranged(kernel, given)
    shapes = {name: element.shape for name, element in kernel.signature.shaped.items()}
    sizes = {
        each.shape[-1] for name, each in given.items() if each.ndim > len(shapes.get(name, ()))
    }
    if len(sizes) > 1:
        raise TypeError(f"arrays of different lengths: {sorted(sizes)}")
    n = sizes.pop() if sizes else 1
    uniform = frozenset(
        each.name
        for each in kernel.parameters
        if each.role is Role.INPUT and given[each.name].ndim == len(each.element.shape)
    )
    tables |= _of_grid(kernel, given, arranged, real)
    step = prepare(real, uniform)
    results = _allocate(kernel, given, real, n)
    stored = {
        part: row for name, array in results.items() for part, row in _rows(kernel, name, array)
    }
    read = {part: row for name, array in given.items() for part, row in _rows(kernel, name, array)}
    parameters, _ = kernel.signature.scalars
    mask = next((each.name for each in kernel.parameters if each.role is Role.MASK), None)
    batch = [
        {
            each.name: _number(read[each.name], sample, each.element.at(real))
            for each in parameters
            if each.role not in TABLES | {Role.MASK}
        }
        | tables
        | {SAMPLE_INDEX: sample, N_SAMPLES: n, STEP_INDEX: 0}
        for sample in range(n)
    ]
    for _ in range(steps):
        live = [i for i in range(n) if mask is None or not results[mask][i]]
        left_by_all = _step_of_all(step, batch, live, arranged)
        for sample, (left, _) in zip(live, left_by_all, strict=True):
            for name, number in left.items():
                if name in stored:
                    stored[name][sample] = number
                if name in batch[sample]:
                    batch[sample][name] = number
        _give(tables, [given for _, given in left_by_all])
    for each in kernel.parameters:
        if each.role is Role.SHARED:
            array = np.array(tables[each.name], each.element.at(real).numpy)
            results[each.name] = array.reshape(shared[each.name])
    for each in (*kernel.parameters, *kernel.outputs):
        if each.grid is not None and each.name in results:
            results[each.name] = results[each.name].reshape(arranged)
    return results


def _give(tables: dict[str, Any], by_all: Sequence[Sequence[Given]]) -> None:
    """Give to tables what the samples have for them: one scatter after the other."""
    for each in zip(*by_all, strict=True):
        spots, values = [given.spot for given in each], [given.value for given in each]
        first = each[0]
        scatter(first.kind, first.dtype, tables[first.table], spots, values)


def _step_of_all(
    step: Step, batch: Sequence[Values], live: Sequence[int], arranged: tuple[int, ...]
) -> list[Left]:
    """What the live samples of a batch leave after a step, one reduction of them at a time."""
    reduced: list[Result] = []
    while True:
        stored: list[Left] = []
        asked: dict[int, Asked] = {}
        for sample in live:
            try:
                stored.append(step(batch[sample], reduced))
            except Asked as each:
                asked[sample] = each
        if not asked:
            return stored
        first = next(iter(asked.values()))
        numbers = [asked[i].number if i in asked else 0 for i in range(len(batch))]
        kept = [i in asked and asked[i].keep for i in range(len(batch))]
        if not first.over:
            reduced.append(reduce(first.kind, first.dtype, numbers, kept))
            continue
        lines = lines_of(arranged, first.over)
        parts = [([numbers[i] for i in line], [kept[i] for i in line]) for line in lines]
        reduced.append([reduce(first.kind, first.dtype, *part) for part in parts])


def _rows(kernel: Kernel[..., Any], name: str, array: NDArray[Any]) -> list[tuple[str, Any]]:
    """The array of a plane, or each of its components with its own numbers."""
    element = kernel.signature.shaped.get(name)
    if element is None:
        return [(name, array)]
    names = element.components(name)
    tail = array.shape[len(element.shape) :]
    if array.shape[: len(element.shape)] != element.shape:
        what = f"{name} is a {element.name}, got an array of shape {array.shape}"
        if array.shape[1:] in (element.shape, (len(names),)):
            text = f"{name}.T" if array.ndim == 2 else f"np.moveaxis({name}, 0, -1)"
            what += f", whose samples are first; here they are last: write {text}"
        raise TypeError(what)
    rows = array.reshape(len(names), *tail)
    return [(part, rows[place]) for place, part in enumerate(names)]


def _tables(
    kernel: Kernel[..., Any], given: dict[str, NDArray[Any]], real: DType
) -> dict[str, Any]:
    """The numbers of each table in one row, and its extents."""
    values: dict[str, Any] = {}
    for each in kernel.parameters:
        if each.table is None:
            continue
        array, dtype = given[each.name], each.element.at(real)
        known = each.table.extents
        if array.ndim != len(known) or any(
            k not in (None, extent) for k, extent in zip(known, array.shape, strict=True)
        ):
            raise TypeError(f"{kernel.name} needs {each.table.name} for {each.name!r}")
        values[each.name] = [represent(dtype, number) for number in array.ravel().tolist()]
        values |= {extent_name(each.name, axis): e for axis, e in enumerate(array.shape)}
    return values


def _arranged(kernel: Kernel[..., Any], given: dict[str, NDArray[Any]]) -> tuple[int, ...]:
    """The shape of the grid; in `given` its planes become rows of samples."""
    grid = kernel.signature.grid
    if grid is None:
        return ()
    names = [each.name for each in kernel.parameters if each.grid is not None]
    shapes = {given[name].shape for name in names}
    known = tuple(extent for extent in grid.extents if extent is not None)
    if not shapes and len(known) == len(grid.extents):
        return known
    shape = shapes.pop() if len(shapes) == 1 else ()
    pairs = zip(grid.extents, shape, strict=False)
    if len(shape) != len(grid.extents) or any(k not in (None, extent) for k, extent in pairs):
        raise TypeError(f"{kernel.name} needs arrays of one shape, {grid.name}, for its grids")
    given.update({name: given[name].reshape(-1) for name in names})
    return shape


def _of_grid(
    kernel: Kernel[..., Any], given: dict[str, NDArray[Any]], shape: tuple[int, ...], real: DType
) -> dict[str, Any]:
    """The extents of the grid, and the numbers of all samples in each plane that is one."""
    grid = kernel.signature.grid
    if grid is None:
        return {}
    values: dict[str, Any] = {
        dimension_name(axis): extent for axis, extent in zip(grid.axes, shape, strict=True)
    }
    for each in kernel.parameters:
        if each.grid is not None and each.role is Role.INPUT:
            dtype, numbers = each.element.at(real), given[each.name].tolist()
            values[whole_name(each.name)] = [represent(dtype, number) for number in numbers]
    return values


_T = "write v.T for a plane v of shape (n, w), np.moveaxis(v, 0, -1) for (n, r, c)"


def _bind(
    kernel: Kernel[..., Any], args: tuple[Any, ...], planes: dict[str, Any]
) -> dict[str, NDArray[Any]]:
    """What each parameter gets, as an array."""
    parameters = {each.name: each for each in kernel.parameters}
    declared = {each.name: each for each in kernel.signature.declared}
    given: dict[str, Any] = dict(zip(declared, args, strict=False))
    if len(args) > len(declared):
        raise TypeError(f"{kernel.name} takes {len(declared)} planes, got {len(args)}")
    for name, value in planes.items():
        if name == "layout" and name not in declared:
            raise TypeError(f"{kernel.name} takes the samples last here, without layout=: {_T}")
        if name not in parameters and name not in declared:
            near = difflib.get_close_matches(name, parameters, n=1)
            raise TypeError(
                f"{kernel.name} has no plane {name!r}" + "".join(f"; {n}?" for n in near)
            )
        if name in given:
            raise TypeError(f"{kernel.name} gets {name!r} twice")
        given[name] = value
    for each in kernel.signature.bundles:
        if each.name in given:
            values, missing = opened(each, given.pop(each.name))
            for _, path, _ in missing:
                raise TypeError(f"{kernel.name}: {each.name} has no {'.'.join(path)}")
            twice = values.keys() & given.keys()
            if twice:
                raise TypeError(f"{kernel.name} gets {min(twice)!r} twice")
            given.update(values)
    for name, each in parameters.items():
        if name not in given and each.default is not NO_DEFAULT:
            given[name] = each.default
        if name not in given and each.role is not Role.MASK:
            raise TypeError(f"{kernel.name} needs {name!r}")
    for name, value in given.items():
        if hasattr(value, "array") and hasattr(value, "axis"):
            what = f"{kernel.name} takes {name!r} here as an array with the samples last, not as "
            raise TypeError(f"{what}{value!r}: {_T}")
    return {name: np.asarray(value) for name, value in given.items()}


def _width(kernel: Kernel[..., Any], given: dict[str, NDArray[Any]]) -> DType:
    if kernel.dtype is not None:
        return WIDTHS[kernel.dtype]
    found = {
        given[each.name].dtype.name
        for each in kernel.parameters
        if each.element.dtype is None
        and each.name in given
        and given[each.name].ndim > len(each.element.shape)
        and given[each.name].dtype.kind == "f"
    }
    if len(found) > 1:
        raise TypeError(f"{kernel.name} gets float arrays of different widths: {sorted(found)}")
    return WIDTHS[found.pop()] if found else DType.F64


def _number(array: NDArray[Any], sample: int, dtype: DType) -> PlainNumber:
    return represent(dtype, (array[sample] if array.ndim else array).item())


def _allocate(
    kernel: Kernel[..., Any], given: dict[str, NDArray[Any]], real: DType, n: int
) -> Arrays:
    """An array of its own for every plane that is stored, holding what it starts with."""
    results: Arrays = {}
    for each in (*kernel.parameters, *kernel.outputs):
        if each.role in WRITTEN:
            shape = each.element.shape
            start = given.get(each.name, np.zeros((*shape, n)))
            start = start if start.ndim > len(shape) else start[..., None]
            dtype = each.element.at(real).numpy
            results[each.name] = np.broadcast_to(start, (*shape, n)).astype(dtype)
    return results
