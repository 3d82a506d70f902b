"""Every pass keeps every bit, on random programs, alone and in its place among the others."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hawk.ir.interpret import interpret
from hawk.ir.meaning import same
from hawk.ir.nodes import Apply, Function, Number, walk
from hawk.ir.ops import llvm_text
from hawk.ir.printer import to_text
from hawk.ir.verify import verify
from hawk.passes.pipeline import PIPELINE, optimise
from tests.unit.ir.programs import programs, random_inputs

SEEDS = st.integers(0, 2**32)


def assert_same_stores(before: Function, after: Function, several: list[dict[str, Number]]) -> None:
    for held in several:
        due, got = interpret(before, held), interpret(after, held)
        assert list(got) == list(due)
        wrong = {name: (got[name], due[name]) for name in due if not same(got[name], due[name])}
        assert not wrong, f"{wrong} for {held}\n{to_text(before)}\n{to_text(after)}"


@given(programs)
def test_random_programs_are_well_formed(fn: Function) -> None:
    verify(fn)


@pytest.mark.parametrize("run", dict.fromkeys(PIPELINE), ids=lambda run: run.__name__)
@given(fn=programs, seed=SEEDS)
def test_a_pass_alone_keeps_every_bit(run, fn: Function, seed: int) -> None:
    rng = Random(seed)

    after = run(fn)

    verify(after)
    assert_same_stores(fn, after, [random_inputs(rng, fn) for _ in range(4)])


@given(fn=programs, seed=SEEDS)
def test_all_passes_together_keep_every_bit(fn: Function, seed: int) -> None:
    rng = Random(seed)
    several = [random_inputs(rng, fn) for _ in range(4)]

    def watch(name: str, after: Function) -> None:
        verify(after)
        assert_same_stores(fn, after, several)

    after = optimise(fn, watch=watch)

    for statement in walk(after.statements):
        if isinstance(statement, Apply):
            assert llvm_text(statement.op, statement.args[-1].dtype), statement.op
    assert_same_stores(fn, optimise(after), several)
