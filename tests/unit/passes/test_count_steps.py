"""Samples that count their steps compute what they would compute without."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from hawk.ir.interpret import interpret
from hawk.ir.meaning import same
from hawk.ir.nodes import Function
from hawk.ir.types import DType
from hawk.ir.verify import verify
from hawk.passes.count_steps import STEPS_TAKEN, count_steps
from tests.unit.ir.programs import programs, random_inputs


@given(fn=programs, seed=st.integers(0, 2**32), taken=st.integers(0, 2**63 - 2))
def test_a_step_adds_one_and_changes_nothing_else(fn: Function, seed: int, taken: int) -> None:
    held = random_inputs(Random(seed), fn)

    counting = count_steps(fn)

    verify(counting)
    assert DType.I64 is counting.plane(STEPS_TAKEN).dtype
    due, got = interpret(fn, held), interpret(counting, {**held, STEPS_TAKEN: taken})
    assert taken + 1 == got.pop(STEPS_TAKEN)
    assert list(due) == list(got)
    assert all(same(got[name], due[name]) for name in due)
