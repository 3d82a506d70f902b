"""Run a kernel of one step in every way there is, and see that the bits are the same."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hawk.ir.nodes import Function, Number
from hawk.ir.types import DType
from hawk.kernel import Kernel
from hawk.passes.pipeline import optimise
from hawk.reference import interpret, run_python
from hawk.targets.base import Compiled
from hawk.targets.cpu.compile import compile_function
from hawk.targets.cpu.width import choose_variant, variant
from tests.oracle.batch import Batch, launch, unlike
from tests.unit.targets.machines import runnable

Results = dict[str, np.ndarray[Any, Any]]


def every_way(
    kernel: Kernel[..., Any], real: DType = DType.F64, *, slow: bool = True, **given: Any
) -> Results:
    """What one step of the kernel stores; numbers among the planes are the same for all samples.

    CPython, the interpreter and compiled code of width 1 and of this machine's widths must agree.
    Without `slow`, the first two look at the first samples only.
    """
    planes = {
        each.name: np.asarray(given[each.name], each.element.at(real).numpy)
        for each in kernel.parameters
    }
    shapes = {name: element.shape for name, element in kernel.signature.shaped.items()}
    uniform = frozenset(
        name for name, array in planes.items() if array.ndim == len(shapes.get(name, ()))
    )
    few = planes
    if not slow:
        few = {name: a if name in uniform else a[..., :7] for name, a in planes.items()}
    expected = by_component(kernel, run_python(kernel, **few))
    _compare("the interpreter", expected, by_component(kernel, interpret(kernel, **few)))
    parts = by_component(kernel, planes)
    columns = {name: array for name, array in parts.items() if array.ndim}
    numbers = {name: array.item() for name, array in parts.items() if not array.ndim}
    results: Results = {}
    for way, compiled in compiled_ways(kernel, real, uniform).items():
        batch = Batch.of(compiled.planes, columns, numbers)
        launch(compiled, batch, 1)
        assert not batch.trespassed()
        got = {name: batch.arrays[name] for name in expected}
        if results:
            _compare(way, results, got)
        results = results or got
    first = {name: array[: len(expected[name])] for name, array in results.items()}
    _compare("compiled code", expected, first)
    return results


def by_component(kernel: Kernel[..., Any], planes: Mapping[str, Any]) -> Results:
    """The planes of a program: small arrays are taken apart."""
    shaped, parts = kernel.signature.shaped, dict[str, Any]()
    for name, array in planes.items():
        element = shaped.get(name)
        if element is None:
            parts[name] = array
            continue
        names = element.components(name)
        rows = np.reshape(array, (len(names), *array.shape[len(element.shape) :]))
        parts.update(zip(names, (row[...] for row in rows), strict=True))
    return parts


@functools.cache
def compiled_ways(
    kernel: Kernel[..., Any], real: DType, uniform: frozenset[str]
) -> dict[str, Compiled]:
    """Code of width 1, and of this machine's width for each way to hold masks."""
    fn: Function = optimise(kernel.trace(real, uniform))
    ways: dict[str, Compiled] = {}
    for name, machine in runnable().items():
        if not ways:
            ways["compiled, width 1"] = compile_function(fn, machine, variant(fn, machine, 1, 1))
        ways[f"compiled, {name}"] = compile_function(fn, machine, choose_variant(fn, machine))
    return ways


def _compare(way: str, expected: Mapping[str, Any], got: Mapping[str, Any]) -> None:
    assert list(expected) == list(got)
    for name, wanted in expected.items():
        for sample in unlike(wanted, got[name]):
            raise AssertionError(
                f"{way}: {name}[{sample}] is {got[name][sample]!r}, expected {wanted[sample]!r}"
            )


def expect(results: Results, name: str, wanted: Sequence[Number] | Any, *given: Any) -> None:
    """Check a result against numbers that were computed otherwise; `given` tells what from."""
    got = results[name]
    due = np.array(wanted, dtype=got.dtype)
    for sample in unlike(due, got):
        of = ", ".join(repr(np.asarray(each)[sample]) for each in given)
        raise AssertionError(f"{name} of {of} is {got[sample]!r}, expected {due[sample]!r}")
