"""Every pass keeps every bit, on random programs, alone and in its place among the others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hawk.ir.interpret import interpret
from hawk.ir.meaning import same
from hawk.ir.nodes import Apply, Function, walk
from hawk.ir.ops import llvm_text
from hawk.ir.printer import to_text
from hawk.ir.verify import verify
from hawk.passes.pipeline import PIPELINE, optimise
from tests.unit.ir.programs import functions, inputs


def assert_same_stores(before: Function, after: Function, values: list[dict]) -> None:
    for held in values:
        due, got = interpret(before, held), interpret(after, held)
        assert list(got) == list(due)
        wrong = {name: (got[name], due[name]) for name in due if not same(got[name], due[name])}
        assert not wrong, f"{wrong} for {held}\n{to_text(before)}\n{to_text(after)}"


@given(st.data())
def test_random_programs_are_well_formed(data: st.DataObject) -> None:
    verify(data.draw(functions()))


@pytest.mark.parametrize("run", dict.fromkeys(PIPELINE), ids=lambda run: run.__name__)
@given(data=st.data())
def test_a_pass_alone_keeps_every_bit(run, data: st.DataObject) -> None:
    fn = data.draw(functions())
    values = data.draw(st.lists(inputs(fn), min_size=2, max_size=2))

    after = run(fn)

    verify(after)
    assert_same_stores(fn, after, values)


@given(data=st.data())
def test_all_passes_together_keep_every_bit(data: st.DataObject) -> None:
    fn = data.draw(functions())
    values = data.draw(st.lists(inputs(fn), min_size=3, max_size=3))

    def watch(name: str, after: Function) -> None:
        verify(after)
        assert_same_stores(fn, after, values)

    after = optimise(fn, watch=watch)

    for statement in walk(after.statements):
        if isinstance(statement, Apply):
            assert llvm_text(statement.op, statement.args[-1].dtype), statement.op
    assert_same_stores(fn, optimise(after), values)
