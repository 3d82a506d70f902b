"""PTX that is wrong, or read wrongly, is noticed: else the other tests would say little."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from unittest import mock

import numpy as np
import pytest

from hawk.ir.nodes import Function
from hawk.ir.types import DType
from hawk.passes.pipeline import optimise
from hawk.targets import thread
from hawk.targets.ptx.compile import ptx_text
from tests.oracle.batch import Batch, differences, interpreted
from tests.oracle.numbers import EDGES
from tests.ptx import conversions, machine, meanings
from tests.ptx.kinds import Array
from tests.ptx.parse import parse
from tests.ptx.run import run
from tests.unit.targets.by_hand import F64, PROGRAMS, REALS, Draft
from tests.unit.targets.test_differential import batch_for, every_operation, operands

SAMPLES = 400
MOST = 3_000_000
"""Instructions after which wrong text is taken for endless; what is right needs half of that."""


def near_zero(real: DType) -> Function:
    """Choices between a number and 0, of which LLVM likes to make a minimum."""
    d = Draft(f"near_zero_{real.value}", real)
    x = d.input("x")
    d.output("below", d("select", d("lt", x, 0.0), x, d.const(0.0)))
    d.output("above", d("select", d("gt", x, -0.0), x, d.const(-0.0)))
    return d.function()


@dataclass
class Known:
    fn: Function
    text: str
    start: Batch
    end: Batch
    steps: int

    def is_right(self, text: str | None = None) -> bool:
        """Does the text give what it should? What cannot be run to its end does not."""
        got = self.start.copy()
        with mock.patch.object(machine, "MOST", MOST):
            try:
                run(
                    parse(text or self.text), self.fn.planes, got, self.steps, blocks=2, threads=200
                )
            except AssertionError:
                return False
        return not differences(self.end, got)


@pytest.fixture(scope="module")
def known() -> Sequence[Known]:
    """All operations and a few programs, with what the interpreter makes of them."""
    found: list[Known] = []

    def add(fn: Function, start: Batch, steps: int) -> None:
        best = optimise(fn)
        end = interpreted(fn, start, steps, range(start.n))
        found.append(Known(best, ptx_text(best, "sm_75"), start, end, steps))

    for dtype in DType:
        fn = every_operation(dtype)
        add(fn, operands(fn, SAMPLES), 1)
    for real in REALS:
        add(near_zero(real), Batch.of(near_zero(real).planes, {"x": EDGES[real]}, {}), 1)
    for name in ("oscillator", "counter", "carried_bools"):
        fn = PROGRAMS[name](F64)
        add(fn, batch_for(fn.planes, 30), 5)
    assert all(each.is_right() for each in found)
    return found


@pytest.mark.parametrize(
    ("wanted", "instead"),
    [
        (r"selp\.(f64|b32) \t(.*), (.*), (.*), (.*);", r"selp.\1 \t\2, \4, \3, \5;"),
        (r"setp\.leu\.(f\d\d)", r"setp.le.\1"),
        (r"setp\.neu\.(f\d\d)", r"setp.ne.\1"),
        (r"setp\.lt\.s64", "setp.le.s64"),
        (r"setp\.lt\.s32", "setp.lt.u32"),
        (r"sub\.rn\.(f\d\d) \t(.*), (.*), (.*);", r"sub.rn.\1 \t\2, \4, \3;"),
        (r"copysign\.(f\d\d) \t(.*), (.*), (.*);", r"copysign.\1 \t\2, \4, \3;"),
        (r"@(%p\d+) bra", r"@!\1 bra"),
        (r"shr\.s(32|64)", r"shr.u\1"),
        (r"cvt\.rni\.(f\d\d)", r"cvt.rzi.\1"),
        (r"cvt\.rmi\.(f\d\d)", r"cvt.rzi.\1"),
        (r"cvt\.rn\.f32\.s64", "cvt.rz.f32.s64"),
        (r"cvt\.rn\.f64\.u32", "cvt.rn.f64.s32"),
        (r"mul\.hi\.u32", "mul.hi.s32"),
        (r"fma\.rn\.(f\d\d) \t(.*), (.*), (.*), (.*);", r"mul.rn.\1 \t\2, \3, \4;"),
        (r"min\.(f\d\d)", r"max.\1"),
        (r"popc\.b32", "clz.b32"),
        (r"div\.s64", "div.u64"),
        (r"st\.global\.b8 \t(.*), %rs\d+;", r"st.global.b8 \t\1, 1;"),
    ],
)  # fmt: skip
def test_wrong_text_is_noticed(known: Sequence[Known], wanted: str, instead: str) -> None:
    changed = [(each, re.sub(wanted, instead, each.text)) for each in known]
    changed = [(each, text) for each, text in changed if text != each.text]
    assert changed
    assert not all(each.is_right(text) for each, text in changed)


def _plain(compute: Callable[..., Array]) -> meanings.Write:
    return lambda ins: meanings.Meaning(ins.modifiers[-1], (ins.modifiers[-1],) * 2, compute)


@pytest.mark.parametrize(
    ("where", "name", "instead"),
    [
        (meanings, "_unordered", lambda a, b: (a != a) & False),
        (conversions, "TO_INTEGRAL", dict.fromkeys(conversions.TO_INTEGRAL, np.trunc)),
        (meanings, "TABLE", {**meanings.TABLE, "min": _plain(np.fmin)}),
        (meanings, "TABLE", {**meanings.TABLE, "shl": meanings.TABLE["shr"]}),
        (meanings, "TABLE", {**meanings.TABLE, "sqrt": meanings.TABLE["rcp"]}),
    ],
    ids=["NaN is ordered", "roundings", "-0 and 0 alike", "shifts", "roots"],
)  # fmt: skip
def test_an_instruction_that_is_read_wrongly_is_noticed(
    known: Sequence[Known], where: object, name: str, instead: object
) -> None:
    with mock.patch.object(where, name, instead):
        assert not all(each.is_right() for each in known)


def test_nobody_asks_what_nan_becomes_as_an_integer(known: Sequence[Known]) -> None:
    with mock.patch.object(conversions, "NAN_TO_INTEGER", ["sign"]):
        assert all(each.is_right() for each in known)


def test_a_minimum_that_nobody_asked_for_is_noticed(known: Sequence[Known]) -> None:
    """Comparisons as they are on the CPU, of which LLVM makes `min` and `max`."""
    (mine,) = [each for each in known if each.fn.name == "near_zero_f64"]
    with mock.patch.object(thread, "_OPPOSITE", {}):
        text = ptx_text(mine.fn, "sm_75")
    assert re.search(r"\b(min|max)\.f64", text)
    assert not mine.is_right(text)


def test_a_step_too_many_is_noticed(known: Sequence[Known]) -> None:
    (mine,) = [each for each in known if each.fn.name == "counter"]
    got = mine.start.copy()
    run(mine.text, mine.fn.planes, got, mine.steps + 1)
    assert differences(mine.end, got)
