"""How many vectors a group has: as many as its steps have use for, and code allows."""

import pytest

from hawk import Mutable, Scalar, kernel
from hawk.ir.types import DType
from hawk.passes.pipeline import optimise
from hawk.targets.cpu.machine import avx2
from hawk.targets.cpu.width import choose_variant

MACHINE = avx2("x86_64-unknown-linux-gnu")


@pytest.mark.parametrize(("terms", "chains"), [(3, 3), (40, 3), (200, 2), (1020, 1)])
def test_long_steps_have_fewer_chains(terms: int, chains: int) -> None:
    @kernel
    def step(x: Mutable[Scalar]):
        for number in [k / 7 for k in range(terms)]:
            x = x * x + number / (x + 2.0)

    fn = optimise(step.trace(DType.F64))

    assert chains == choose_variant(fn, MACHINE).shape.chains


@pytest.mark.parametrize(("terms", "chains"), [(3, 8), (240, 5), (450, 2), (1020, 1)])
def test_what_is_computed_once_a_sample_counts_as_code(terms: int, chains: int) -> None:
    @kernel
    def step(a: Scalar) -> Scalar:
        for number in [k / 7 for k in range(terms)]:
            a = a * a + number / (a + 2.0)
        return a

    fn = optimise(step.trace(DType.F64))

    assert not fn.step
    assert chains == choose_variant(fn, MACHINE).shape.chains
