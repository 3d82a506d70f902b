"""What the code of the oscillator is made of: whole vectors, in registers."""

from __future__ import annotations

import re

import pytest

from hawk.ir.types import DType
from hawk.passes.pipeline import optimise
from hawk.targets.cpu.entries import ONE_STEP, module_text
from hawk.targets.cpu.link import assembly_text
from hawk.targets.cpu.width import choose_variant
from tests.unit.targets.by_hand import REALS, oscillator
from tests.unit.targets.machines import ASSEMBLED

LABEL = re.compile(r"^([.\w$]+):")
JUMP = re.compile(r"^\s+j\w+\s+([.\w$]+)")
ARITHMETIC = re.compile(
    r"^\s+v?(add|sub|mul|div|sqrt|min|max|cmp\w*|u?comi|cvt\w+2|fn?m(add|sub)\d+|round|blendv|and|or|xor)(s[sd])\b"
)
FUSED = {
    DType.F64: re.compile(r"^\s+vfn?m(add|sub)\d+pd\b"),
    DType.F32: re.compile(r"^\s+vfn?m(add|sub)\d+ps\b"),
}

x86 = pytest.mark.parametrize("name", ["AVX2", "AVX-512"])
reals = pytest.mark.parametrize("real", REALS, ids=lambda real: real.value)
ends = pytest.mark.parametrize("own_end", [False, True], ids=["same end", "own ends"])


def assembly(name: str, real: DType, *, own_end: bool) -> list[str]:
    machine = ASSEMBLED[name]
    fn = optimise(oscillator(real, own_end=own_end))
    variant = choose_variant(fn, machine)
    text = assembly_text(module_text(fn, variant, machine), machine, sparing=variant.sparing)
    return text.splitlines()


def loops(lines: list[str]) -> list[tuple[int, int]]:
    """First and last line of each loop: from a label to a jump back to it."""
    at = {found[1]: place for place, line in enumerate(lines) if (found := LABEL.match(line))}
    jumps = [
        (at.get(found[1]), place) for place, line in enumerate(lines) if (found := JUMP.match(line))
    ]
    return sorted({(start, end) for start, end in jumps if start is not None and start < end})


def innermost(lines: list[str]) -> list[list[str]]:
    """The lines of the loops that hold no other."""
    every = loops(lines)
    return [
        lines[start : end + 1]
        for start, end in every
        if not any((a, b) != (start, end) and start <= a and b <= end for a, b in every)
    ]


def step_loops(name: str, real: DType, *, own_end: bool) -> list[list[str]]:
    """The loops over steps: those that compute."""
    lines = assembly(name, real, own_end=own_end)
    return [loop for loop in innermost(lines) if any(FUSED[real].match(line) for line in loop)]


@x86
@reals
@ends
def test_no_inner_loop_computes_with_single_floats(name: str, real: DType, own_end: bool) -> None:
    inner = innermost(assembly(name, real, own_end=own_end))
    assert inner
    assert [] == [line for loop in inner for line in loop if ARITHMETIC.match(line)]


@x86
@reals
@ends
def test_the_steps_are_fused_multiply_adds_of_whole_vectors(
    name: str, real: DType, own_end: bool
) -> None:
    steps = step_loops(name, real, own_end=own_end)
    assert steps
    width = "zmm" if name == "AVX-512" else "ymm"
    for loop in steps:
        fused = [line for line in loop if FUSED[real].match(line)]
        assert [] == [line for line in fused if width not in line]


def test_single_floats_would_be_seen() -> None:
    lines = [
        "f:",
        ".LBB0_1:",
        "\tvaddsd\t%xmm0, %xmm1, %xmm0",
        "\tjne\t.LBB0_1",
        "\tvmulss\t%xmm0, %xmm1, %xmm0",
    ]
    assert [(1, 3)] == loops(lines)
    assert [True, False] == [
        bool(ARITHMETIC.match(line)) for line in (lines[2], "\tvaddpd\t%ymm0, %ymm1, %ymm0")
    ]
    assert ARITHMETIC.match("\tvfmadd213sd\t%xmm0, %xmm1, %xmm2")
    assert ARITHMETIC.match("\tvcvtsi2sd\t%rax, %xmm1, %xmm2")
    assert not ARITHMETIC.match("\tvmovsd\t(%rax), %xmm1")


@x86
@reals
def test_in_a_launch_of_one_step_a_group_takes_its_step_once_and_masked(
    name: str, real: DType
) -> None:
    lines = assembly(name, real, own_end=False)
    start = lines.index(f"{ONE_STEP[1:]}:")
    # The groups of a piece are the loop with most arithmetic; each vector is stored once.
    groups = max(
        (lines[a : b + 1] for a, b in loops(lines) if a > start),
        key=lambda loop: sum(bool(FUSED[real].match(line)) for line in loop),
    )
    fused = [line for line in groups if FUSED[real].match(line)]
    assert len(fused) == 2 * 4  # two in a step, of four chains
