"""The code of every function of hawk.math: whole vectors, and nothing from outside."""

from __future__ import annotations

import functools
import inspect
from typing import Any

import pytest

import hawk
import hawk.math as own
from hawk import Scalar
from hawk.ir.nodes import Function
from hawk.ir.types import DType
from hawk.kernel import MATHEMATICS, Mathematics
from hawk.passes.pipeline import optimise
from hawk.targets.cpu.entries import ENTRY, module_text
from hawk.targets.cpu.link import assemble, assembly_text
from hawk.targets.cpu.width import choose_variant
from tests.unit.targets.machines import ASSEMBLED
from tests.unit.targets.test_assembly import ARITHMETIC, loops
from tests.unit.targets.test_objects import symbols

machines = pytest.mark.parametrize("machine", ASSEMBLED.values(), ids=ASSEMBLED.keys())
x86 = pytest.mark.parametrize("name", ["AVX2", "AVX-512"])
reals = pytest.mark.parametrize("real", [DType.F64, DType.F32], ids=lambda real: real.value)


kinds = pytest.mark.parametrize("kind", MATHEMATICS)


@functools.cache
def of_all(real: DType, kind: Mathematics) -> Function:
    """A kernel that adds up all functions of one, two and three numbers."""
    by_count: dict[int, list[Any]] = {1: [], 2: [], 3: []}
    for name in own.__all__:
        function = getattr(own, name)
        if function not in (*own.ARRAYS, own.interp):
            by_count[len(inspect.signature(function).parameters)].append(function)

    @hawk.kernel(math=kind)
    def everything(x: Scalar, y: Scalar, z: Scalar) -> Scalar:
        total = 0.0
        for function in by_count[1]:
            result = function(x)
            total += result[0] + result[1] if function is own.sincos else hawk.real(result)
        for function in by_count[2]:
            total += function(x, y)
        for function in by_count[3]:
            total += function(x > y, y, z) if function is own.where else function(x, y, z)
        return total

    return optimise(everything.trace(real))


@machines
@reals
@kinds
def test_nothing_comes_from_outside(real: DType, machine: Any, kind: Mathematics) -> None:
    fn = of_all(real, kind)
    names = symbols(assemble(module_text(fn, choose_variant(fn, machine), machine), machine))
    assert names[ENTRY]
    assert [] == [name for name, there in names.items() if not there]


@x86
@reals
@kinds
def test_no_loop_computes_with_single_floats(name: str, real: DType, kind: Mathematics) -> None:
    machine, fn = ASSEMBLED[name], of_all(real, kind)
    text = assembly_text(module_text(fn, choose_variant(fn, machine), machine), machine)
    lines = text.splitlines()
    scalar = [line for first, last in loops(lines) for line in lines[first : last + 1]]
    assert any("vfmadd" in line for line in scalar)
    assert [] == [line for line in scalar if ARITHMETIC.match(line)]
