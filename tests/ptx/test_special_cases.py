"""Instructions give what the table of special cases says."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.ptx import conversions
from tests.ptx.kinds import CANONICAL_NAN, GARBAGE, dtype_of, is_float
from tests.ptx.meanings import TABLE as INSTRUCTIONS
from tests.ptx.meanings import meaning_of
from tests.ptx.parse import Instruction, Unknown, instruction
from tests.ptx.snippets import column, one
from tests.ptx.special_cases import TABLE, Case

CASES = [case for section in TABLE for case in section.cases]


def bits(kind: str, number: float) -> int:
    """The bits of a result as a kind; of any NaN the canonical ones."""
    if is_float(kind) and math.isnan(number):
        return CANONICAL_NAN[kind]
    (word,) = column("u32" if kind == "pred" else kind, [number])
    return int.from_bytes(word.tobytes(), "little")


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.instruction}{case.operands}")
def test_a_case_of_the_table(case: Case) -> None:
    meaning = meaning_of(instruction(1, case.instruction))
    operands = [column(k, [x]) for k, x in zip(meaning.operands, case.operands, strict=True)]
    (result,) = one(case.instruction, operands)
    (number,) = column(meaning.result, [result]) if is_float(meaning.result) else (result,)
    assert bits(meaning.result, case.result) == bits(meaning.result, number)


def test_every_instruction_with_a_special_case_is_in_the_table() -> None:
    held = {case.instruction.split(".")[0] for case in CASES}
    plain = {"and", "or", "xor", "not", "mov"}
    assert set(INSTRUCTIONS) == held | plain


def test_nan_of_float32_is_the_canonical_one() -> None:
    for name in ("add.rn.f32", "min.f32", "abs.f32", "neg.f32"):
        count = len(meaning_of(instruction(1, name)).operands)
        found = one(name, [column("f32", [-math.nan])] * count)
        assert CANONICAL_NAN["f32"] == found.view(np.uint32)[0]


def test_what_nan_becomes_as_an_integer_can_be_something_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nan = column("f64", [math.nan])
    assert 0 == one("cvt.rzi.s32.f64", [nan])[0]
    monkeypatch.setattr(conversions, "NAN_TO_INTEGER", ["sign"])
    assert -(2**31) == one("cvt.rzi.s32.f64", [nan])[0]
    assert 2**63 == one("cvt.rzi.u64.f64", [nan])[0]
    assert 0 == one("cvt.rzi.s32.f32", [column("f32", [math.nan])])[0]


@pytest.mark.parametrize("kind", ["s32", "u32", "s64", "u64"])
def test_a_quotient_by_0_is_nothing_to_rely_on(kind: str) -> None:
    for name in ("div", "rem"):
        (found,) = one(f"{name}.{kind}", [column(kind, [7]), column(kind, [0])])
        wanted = np.array([GARBAGE], np.uint64).astype(f"u{found.itemsize}").view(dtype_of(kind))
        assert wanted[0] == found


@pytest.mark.parametrize(
    "text",
    [
        "add.f64",  # may be contracted
        "mul.f32",
        "add.ftz.f32",
        "add.rn.ftz.f32",
        "add.rz.f64",
        "div.approx.f32",
        "div.full.f32",
        "sqrt.approx.f32",
        "rcp.approx.ftz.f64",
        "fma.rn.ftz.f32",
        "mad.rn.f32",
        "min.ftz.f32",
        "min.xorsign.abs.f32",
        "neg.ftz.f32",
        "cvt.f32.f64",  # how is it rounded?
        "cvt.ftz.f64.f32",
        "cvt.s32.f64",
        "cvt.rn.f16.f32",
        "setp.lt.ftz.f32",
        "setp.lo.s32",
        "setp.lt.b32",
        "ex2.approx.f32",
        "sin.approx.f32",
        "add.cc.u32",
        "prmt.f4e.b32",
        "mul24.lo.s32",
    ],
)
def test_what_is_not_laid_down_here_is_refused(text: str) -> None:
    with pytest.raises(Unknown, match="line 7"):
        meaning_of(Instruction(7, text, *parts(text), ()))


def parts(text: str) -> tuple[str, tuple[str, ...]]:
    name, *modifiers = text.split(".")
    return name, tuple(modifiers)
