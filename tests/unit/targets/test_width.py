"""How many vectors a group has: as many as its steps have use for, and code allows."""

import re

import pytest

import hawk
from hawk import Mutable, Scalar, kernel
from hawk.ir.types import DType
from hawk.passes.pipeline import optimise
from hawk.targets.cpu.entries import module_text
from hawk.targets.cpu.link import assembly_text
from hawk.targets.cpu.machine import avx2
from hawk.targets.cpu.width import choose_variant
from tests.unit.targets.by_hand import oscillator
from tests.unit.targets.test_assembly import innermost

MACHINE = avx2("x86_64-unknown-linux-gnu")


@pytest.mark.parametrize(("terms", "chains"), [(3, 4), (40, 3), (200, 2), (1020, 1)])
def test_long_steps_have_fewer_chains(terms: int, chains: int) -> None:
    @kernel
    def step(x: Mutable[Scalar]):
        for number in [k / 7 for k in range(terms)]:
            x = x * x + number / (x + 2.0)

    fn = optimise(step.trace(DType.F64))

    assert chains == choose_variant(fn, MACHINE).shape.chains


@pytest.mark.parametrize(("terms", "chains"), [(3, 4), (240, 4), (450, 2), (1020, 1)])
def test_what_is_computed_once_a_sample_counts_as_code(terms: int, chains: int) -> None:
    @kernel
    def step(a: Scalar) -> Scalar:
        for number in [k / 7 for k in range(terms)]:
            a = a * a + number / (a + 2.0)
        return a

    fn = optimise(step.trace(DType.F64))

    assert not fn.step
    assert chains == choose_variant(fn, MACHINE).shape.chains


@pytest.mark.parametrize(
    ("states", "chains", "sparing"), [(1, 4, True), (3, 4, True), (4, 3, True), (5, 3, False)]
)
def test_four_chains_whose_states_fit_the_registers_are_compiled_to_stay_there(
    states: int, chains: int, sparing: bool
) -> None:
    @kernel
    def step(x: Mutable[hawk.Vector[states]]):
        for k in range(states):
            x[k] = x[k] * x[k] + 0.25

    chosen = choose_variant(optimise(step.trace(DType.F64)), MACHINE)

    assert (chains, sparing) == (chosen.shape.chains, chosen.sparing)


@pytest.mark.parametrize("real", [DType.F64, DType.F32])
def test_no_state_of_the_oscillator_is_stored_from_step_to_step(real: DType) -> None:
    fn = optimise(oscillator(real, own_end=False))
    chosen = choose_variant(fn, MACHINE)

    assert chosen.sparing
    plain = assembly_text(module_text(fn, chosen, MACHINE), MACHINE, sparing=True)
    usual = assembly_text(module_text(fn, chosen, MACHINE), MACHINE)
    assert 0 == spills(plain) < spills(usual)


def spills(text: str) -> int:
    """Stores of vectors in the loop over plain steps: the one with the most multiply-adds."""
    loops = innermost(text.splitlines())
    plain = max(loops, key=lambda loop: sum("vfmadd" in line for line in loop))
    return sum(bool(re.search(r"vmov\w+\s+%ymm\d+, .*\(%r", line)) for line in plain)
