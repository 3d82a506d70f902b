"""What code relies on: the features of a machine, and nothing that its name would add."""

from __future__ import annotations

import re

import pytest

from hawk.targets.cpu.link import assembly_text
from hawk.targets.cpu.machine import Machine, avx2, avx512, host, target_machine
from tests.unit.targets.machines import LINUX

COUNT = """
declare <8 x i64> @llvm.ctpop.v8i64(<8 x i64>)
define <8 x i64> @f(<8 x i64> %x) "tune-cpu"="{cpu}" {{
  %count = call <8 x i64> @llvm.ctpop.v8i64(<8 x i64> %x)
  ret <8 x i64> %count
}}
"""
"""A core with the feature avx512vpopcntdq, which hawk does not ask for, has one instruction."""


@pytest.mark.parametrize("cpu", ["icelake-server", "sapphirerapids", "znver4", "x86-64-v4"])
def test_the_name_of_a_core_adds_no_instructions(cpu: str) -> None:
    machine = avx512(LINUX, cpu)

    assert not re.search("vpopcntq", assembly_text(COUNT.format(cpu=cpu), machine))


def test_such_an_instruction_would_be_seen() -> None:
    machine = avx512(LINUX)
    richer = Machine(LINUX, machine.cpu, (*machine.features, "+avx512vpopcntdq"), 512, True, 32)

    assert re.search("vpopcntq", assembly_text(COUNT.format(cpu=machine.cpu), richer))


def test_the_identity_is_what_code_relies_on() -> None:
    assert avx2(LINUX, "znver3").identity == avx2(LINUX, "haswell").identity
    assert avx2(LINUX).identity != avx512(LINUX).identity
    assert f"{LINUX}, +avx, +avx2, " in avx2(LINUX).identity


def test_this_machine_has_a_code_generator() -> None:
    assert host().triple == target_machine(host()).triple
