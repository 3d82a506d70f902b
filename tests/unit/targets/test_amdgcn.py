"""Kernels become objects for AMD's GPUs; nothing of ours can run them."""

from __future__ import annotations

import io

import pytest
from elftools.elf.elffile import ELFFile

from hawk.passes.pipeline import optimise
from hawk.targets.amdgcn.compile import object_code
from hawk.targets.ways import Way
from tests.unit.targets.by_hand import PROGRAMS, REALS

EM_AMDGPU = "EM_AMDGPU"


@pytest.mark.parametrize("chip", ["gfx90a", "gfx942", "gfx1100"])
def test_kernels_become_objects_that_need_nothing_else(chip: str) -> None:
    for real in REALS:
        code = object_code(optimise(PROGRAMS["oscillator"](real)), chip, ways=tuple(Way))
        elf = ELFFile(io.BytesIO(code))
        assert EM_AMDGPU == elf["e_machine"]
        symbols = list(elf.get_section_by_name(".symtab").iter_symbols())
        undefined = [s.name for s in symbols if s["st_shndx"] == "SHN_UNDEF" and s.name]
        assert [] == undefined
        assert {"kernel.kd", "kernel_auto.kd", "kernel_mapped.kd"} <= {s.name for s in symbols}
