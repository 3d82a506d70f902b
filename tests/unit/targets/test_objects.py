"""What is in an object: nothing that must come from elsewhere."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from hawk.ir.nodes import Function
from hawk.ir.types import DType
from hawk.passes.pipeline import optimise
from hawk.targets.cpu.entries import ENTRY, module_text
from hawk.targets.cpu.link import assemble
from hawk.targets.cpu.machine import Machine
from hawk.targets.cpu.width import choose_variant, variant
from tests.unit.targets.by_hand import PROGRAMS, REALS
from tests.unit.targets.machines import ASSEMBLED
from tests.unit.targets.test_differential import every_operation

machines = pytest.mark.parametrize("machine", ASSEMBLED.values(), ids=ASSEMBLED.keys())


def symbols(image: bytes) -> dict[str, bool]:
    """Every named symbol of an object: is it defined there?"""
    table = ELFFile(io.BytesIO(image)).get_section_by_name(".symtab")
    assert isinstance(table, SymbolTableSection)
    return {
        each.name: each["st_shndx"] != "SHN_UNDEF" for each in table.iter_symbols() if each.name
    }


def undefined(fn: Function, machine: Machine, *widths: int) -> dict[str, list[str]]:
    """The undefined symbols of `fn` in every variant that has any."""
    found: dict[str, list[str]] = {}
    for row in {choose_variant(fn, machine), *(variant(fn, machine, each, 1) for each in widths)}:
        names = symbols(assemble(module_text(fn, row, machine), machine))
        assert names[ENTRY]
        missing = [name for name, there in names.items() if not there]
        if missing:
            found[str(row)] = missing
    return found


@machines
@pytest.mark.parametrize("write", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_a_kernel_calls_nothing_outside_itself(
    write: Callable[[DType], Function], machine: Machine
) -> None:
    for real, width in zip(REALS, (2, 1), strict=True):
        assert {} == undefined(optimise(write(real)), machine, width)


@machines
@pytest.mark.parametrize("dtype", DType, ids=lambda dtype: dtype.value)
def test_no_operation_calls_anything_outside(dtype: DType, machine: Machine) -> None:
    assert {} == undefined(optimise(every_operation(dtype)), machine, 1, 2, 16)


def test_a_call_from_outside_would_be_seen() -> None:
    text = """
declare double @cos(double)
define double @hawk_entry(double %x) {
  %y = call double @cos(double %x)
  ret double %y
}"""
    names = symbols(assemble(text, ASSEMBLED["AVX2"]))
    assert {"cos": False, ENTRY: True} == {name: names[name] for name in ("cos", ENTRY)}
