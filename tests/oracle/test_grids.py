"""Random programs on a grid: the same bits at every width, for any threads and in any piece of it.

A program of the generator gets grids, asks for the numbers of other samples at offsets and indices
known or not, and is run on grids of many shapes: of one row, one column, narrower than a vector.
"""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

import eagle
import hawk
from hawk.cache.lookup import Cache
from hawk.ir.hidden import N_SAMPLES, SAMPLE_INDEX, dimension_name, whole_name
from hawk.ir.nodes import ARRAYS, Role
from hawk.ir.types import DType
from hawk.ir.verify import verify
from hawk.kernel import Kernel
from hawk.passes.pipeline import optimise
from hawk.targets.cpu import compile as compiling
from hawk.targets.cpu.machine import Machine
from hawk.targets.cpu.width import Variant, variant
from tests.oracle.batch import steps_of, unlike
from tests.oracle.harness import load
from tests.oracle.numbers import column, draw
from tests.oracle.programs import Program, write
from tests.unit.targets.machines import runnable

PROGRAMS = 10
STEPS = 2
SHAPES = {
    1: [(1,), (2,), (7,), (70,)],
    2: [(1, 1), (1, 9), (9, 1), (3, 5), (2, 37), (5, 16), (11, 3)],
    3: [(1, 1, 1), (2, 3, 4), (1, 5, 7), (2, 1, 33), (3, 4, 8)],
}
WIDTHS = ((1, 1), (1, 3), (2, 3), (4, 1), (4, 4), (8, 1), (8, 2), (16, 1))


def planes_of(kernel: Kernel[..., Any], program: Program, shape: tuple[int, ...]) -> dict[str, Any]:
    random = Random(f"grids {program.seed} {shape}")
    real = DType.F64 if program.wide else DType.F32
    n = int(np.prod(shape))
    planes: dict[str, Any] = {}
    for each in kernel.parameters:
        dtype = each.element.at(real)
        with np.errstate(all="ignore"):
            if each.role is Role.UNIFORM:
                planes[each.name] = np.array(draw(random, dtype, each.name), dtype.numpy)[()]
            elif each.role is Role.MASK:
                planes[each.name] = np.arange(n) % 5 == 3
            else:
                array = np.array(column(random, dtype, n, each.name), dtype.numpy)
                planes[each.name] = array.reshape(shape if each.grid else (n,))
    return planes


def copied(planes: dict[str, Any]) -> dict[str, Any]:
    return {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in planes.items()}


def after_passes(kernel: Kernel[..., Any], real: DType, planes: dict[str, Any]) -> dict[str, Any]:
    """What the program after all passes stores in the first step, by the interpreter."""
    fn = optimise(kernel.trace(real))
    verify(fn)
    form = kernel.signature.grid
    assert form is not None
    given = {name: np.asarray(value) for name, value in planes.items()}
    grids = [each.name for each in kernel.parameters if each.grid is not None]
    shape, n = given[grids[0]].shape, given[grids[0]].size
    shared: dict[str, Any] = {N_SAMPLES: n, **dict(zip(map(dimension_name, form.axes), shape))}
    shared |= {whole_name(name): given[name].ravel().tolist() for name in grids}
    results = {
        name: np.zeros(n, plane.dtype.numpy)
        for name, _ in fn.stores
        if (plane := fn.plane(name)).role in ARRAYS and " " not in name
    }
    for sample in range(n):
        values = {
            name: (value if value.ndim == 0 else value.reshape(-1)[sample]).item()
            for name, value in given.items()
        }
        values |= {SAMPLE_INDEX: sample, "step index": 0, **shared}
        left = {name: values[name] for name in results if name in values}
        left |= steps_of(fn, values, 1)
        for name, array in results.items():
            array[sample] = left.get(name, 0)
    return results


@pytest.mark.parametrize("first", range(0, PROGRAMS, 5))
def test_every_width_and_any_threads_give_what_cpython_gives(
    first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Cache, "get_or_make", lambda self, wanted, make, load: (load(*make()), ""))
    for seed in range(first, first + 5):
        compare(write(seed, grids=True), monkeypatch)


def compare(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, random = load(program.text), Random(program.seed)
    real = DType.F64 if program.wide else DType.F32
    form = kernel.signature.grid
    assert form is not None
    steps = STEPS if any(each.role is Role.STATE for each in kernel.parameters) else 1
    for shape in random.sample(SHAPES[len(form.axes)], 3):
        planes = planes_of(kernel, program, shape)
        with np.errstate(all="ignore"):
            due = hawk.run_python(kernel, steps=steps, **copied(planes))
            agree(program, "interpreter", due, hawk.interpret(kernel, steps=steps, **planes))
            first = hawk.interpret(kernel, **planes)
            passed = after_passes(kernel, real, planes)
        agree(program, "passes", {k: v.reshape(-1) for k, v in first.items()}, passed)
        for width, chains in random.sample(WIDTHS, 2):
            name, machine = random.choice(list(runnable().items()))

            def chosen(
                fn: Any, _: Machine, machine: Machine = machine, shape: Any = (width, chains)
            ) -> Variant:
                return variant(fn, machine, *shape)

            monkeypatch.setattr(compiling, "host", lambda machine=machine: machine)
            monkeypatch.setattr(compiling, "choose_variant", chosen)
            fresh = hawk.steps(load(program.text), steps)
            way = f"{name}, width {width}, {chains} chains, {shape}"
            for threads in (1, 3):
                got = copied(planes)
                keep(fresh, got, fresh(**got, threads=threads))
                agree(program, f"{way}, {threads} threads", due, got)
            for door in ("run_until_done", "simulate"):
                if any(each.role is Role.MASK for each in kernel.parameters):
                    got = copied(planes)
                    run = getattr(eagle, door)
                    outputs = {k: np.zeros_like(v) for k, v in due.items() if k.startswith("out")}
                    out = tuple(outputs.values()) if fresh.nesting == "tuple" else None
                    out = outputs["out"] if fresh.nesting == "one" else out
                    run(fresh, max_steps=steps, out=out, **got)
                    agree(program, f"{way}, {door}", due, {**got, **outputs})


def keep(kernel: Kernel[..., Any], planes: dict[str, Any], outputs: Any) -> None:
    names = [each.name for each in kernel.outputs]
    if names:
        parts = outputs if kernel.nesting == "tuple" else [outputs]
        planes.update(zip(names, parts, strict=True))


def agree(program: Program, way: str, due: dict[str, Any], got: dict[str, Any]) -> None:
    for name, wanted in due.items():
        assert wanted.shape == got[name].shape, f"seed {program.seed}, {way}: {name}"
        flat, other = wanted.reshape(-1), got[name].reshape(-1)
        for sample in unlike(flat, other):
            pytest.fail(
                f"seed {program.seed}, {way}: {name}[{sample}] is {other[sample]!r}, expected "
                f"{flat[sample]!r}\n{program.text}",
                pytrace=False,
            )


def test_the_programs_ask_in_every_way() -> None:
    text = "\n".join(write(seed, grids=True).text for seed in range(40))
    for part in (".neighbor(", ".at(", "edge='wrap'", "hawk.sample_index('", "Mutable[Grid["):
        assert text.count(part) > 10, part
