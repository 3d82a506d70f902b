"""Code for AArch64 gives the bits that every other machine gives: run in an emulator."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hawk.math
from hawk import Scalar
from hawk.ir.nodes import Function
from hawk.ir.types import DType
from hawk.passes.pipeline import optimise
from hawk.targets.base import Word
from hawk.targets.cpu.width import variant
from tests.oracle.batch import Batch, differences, interpreted
from tests.oracle.harness import case_of, load
from tests.oracle.programs import write
from tests.unit.math.functions import ONE, SPECIAL, TWO
from tests.unit.math.test_bits_on_file import NUMBERS, on_file
from tests.unit.targets.by_hand import PROGRAMS, REALS
from tests.unit.targets.emulated import EMULATOR, LINKER, MACHINE, Emulated
from tests.unit.targets.test_differential import batch_for, every_operation, operands

pytestmark = pytest.mark.skipif(
    not (EMULATOR and LINKER),
    reason="needs qemu-aarch64 and aarch64-linux-gnu-ld (Debian: qemu-user, "
    "binutils-aarch64-linux-gnu)",
)
reals = pytest.mark.parametrize("real", REALS, ids=lambda real: real.value)


@reals
@pytest.mark.parametrize("write", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_programs_compute_what_the_interpreter_computes(
    write: Callable[[DType], Function], real: DType, tmp_path: Path
) -> None:
    fn = optimise(write(real))
    for row in (None, variant(fn, MACHINE, 2, 3, 4)):
        kernel = Emulated(fn, tmp_path, row)
        batch = batch_for(fn.planes, 23)
        expected, got = interpreted(fn, batch, 18, range(23)), batch.copy()
        header = kernel.launch(got, 18, piece=9)
        assert [] == differences(expected, got)
        assert header[Word.TAKEN] == 3


@pytest.mark.parametrize("dtype", DType, ids=lambda dtype: dtype.value)
def test_every_operation_has_its_meaning(dtype: DType, tmp_path: Path) -> None:
    fn = every_operation(dtype)
    batch = operands(fn, 400)
    expected, got = interpreted(fn, batch, 1, range(400)), batch.copy()
    Emulated(optimise(fn), tmp_path).launch(got, 1)
    assert [] == differences(expected, got)[:5]


@reals
@pytest.mark.parametrize("name", [*ONE, *TWO])
def test_elementary_functions_give_the_bits_on_file(name: str, real: DType, tmp_path: Path) -> None:
    function = getattr(hawk.math, name)

    @hawk.kernel
    def one(x: Scalar) -> Scalar:
        return function(x)

    @hawk.kernel
    def two(x: Scalar, y: Scalar) -> Scalar:
        return function(x, y)

    first, second = [*NUMBERS, *SPECIAL], [*NUMBERS[::-1], *SPECIAL[::-1]]
    traced = (one if name in ONE else two).trace(real)
    with np.errstate(all="ignore"):
        columns: dict[str, Any] = {
            key: np.array(numbers, real.numpy) for key, numbers in (("x", first), ("y", second))
        }
    batch = Batch.of(traced.planes, columns, {}, len(first))
    Emulated(optimise(traced), tmp_path).launch(batch, 1)
    results = batch.arrays["out"].copy()
    results[np.isnan(results)] = np.nan
    assert on_file()[name][real is DType.F32] == f"{zlib.crc32(results.tobytes()):08x}"


@pytest.mark.parametrize("seed", range(12))
def test_random_programs_compute_what_the_interpreter_computes(seed: int, tmp_path: Path) -> None:
    case = case_of(write(seed))
    fn = load(case.text).trace(case.real)
    n = max([len(each) for each in case.columns.values()], default=1)
    batch = Batch.of(fn.planes, case.columns, case.numbers, n, case.tables)
    fn, steps = optimise(fn), min(case.steps, 12)
    expected, got = interpreted(fn, batch, steps, range(n)), batch.copy()
    Emulated(fn, tmp_path).launch(got, steps)
    assert [] == differences(expected, got)
