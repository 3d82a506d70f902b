"""Steps as text for other libraries do what the steps themselves do."""

import ast
import math
from typing import Any

import pytest

from benchmarks import steps
from benchmarks.kernels import ROWS
from benchmarks.limit.workloads import make
from benchmarks.peers.flat import flat, indented, module


@pytest.mark.parametrize("name", ROWS)
def test_the_text_of_a_step_computes_what_the_step_computes(name: str) -> None:
    workload, step = make(name, dtype="float64", samples=3), flat(name)
    state = [float(plane[1]) for plane in workload.state]
    inputs = [float(plane[1]) for plane in workload.inputs]
    space: dict[str, Any] = {
        **dict(zip((*step.state, *step.inputs), (*state, *inputs), strict=True)),
        **step.numbers(workload.shared),
        "m": math,
    }

    exec("\n".join(step.lines("m", lambda number: f"float({number!r})")), space)

    due, done = steps.of(math)[name](state, inputs, workload.shared)
    assert list(due) == [space[each] for each in step.state]
    assert done == space["done"]


def test_functions_and_numbers_are_written_as_the_library_writes_them() -> None:
    lines = flat("adaptive").lines("lib.math", lambda number: f"real({number!r})", done="over")

    text = "\n".join(lines)
    called = {
        ast.unparse(node.func) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)
    }
    assert {"lib.math.sqrt", "min", "max", "real"} == called
    assert "real(0.2)" in text, "a number of the module stands there itself"
    assert "over = t >= t_end" in lines


def test_a_text_becomes_a_module_whose_source_can_be_read() -> None:
    made = module("def twice(x):\n" + indented(["y = x", "return y + y"], 1))

    assert 6 == made.twice(3)
    assert made.__file__ is not None
