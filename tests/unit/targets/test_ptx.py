"""PTX: every kernel becomes some that the assembler takes, of exact instructions only."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace

import pytest

import hawk
import hawk.math
from hawk import HawkError, Mutable, Param, Scalar, Table, Terminated
from hawk.ir.nodes import Apply, Function, walk
from hawk.ir.types import DType
from hawk.passes.pipeline import optimise
from hawk.targets.ptx.compile import ptx_text
from tests.oracle.harness import case_of, load
from tests.oracle.programs import write
from tests.unit.math.functions import ONE, TWO
from tests.unit.targets.by_hand import PROGRAMS, REALS
from tests.unit.targets.test_differential import every_operation

ASSEMBLER = shutil.which("ptxas")
CHIPS = ("sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120")
INEXACT = re.compile(r"\.(approx|ftz|full)\b|\bmad\.f|\b(call|\.extern|\.local|\.func)\b")
"""Results that are not rounded once, and what a kernel of one function has no need of."""
UNASKED = {"min": "minimum", "max": "maximum", "copysign": "fit_copysign"}
"""Instructions that LLVM makes of other things, and the operations that ask for them."""


@hawk.kernel(steps="auto")
def fall(
    wind: Table[Scalar],
    place: Scalar,
    dt: Param,
    z: Mutable[Scalar],
    v: Mutable[Scalar],
    down: Terminated,
) -> Scalar:
    v -= dt * (9.81 + wind[hawk.index(place)] * v * abs(v))
    z += dt * v
    down = z <= 0.0
    return 0.5 * v * v


@hawk.kernel
def functions(x: Scalar, y: Scalar) -> Scalar:
    total = x
    for name in (*ONE, *TWO):
        args = (total, y) if name in TWO else (total,)
        total = total + getattr(hawk.math, name)(*args)
    return total


@hawk.kernel
def plain(x: Scalar) -> Scalar:
    return x + 1.0


PLAIN = optimise(plain.trace(DType.F64))


def corpus() -> Iterator[tuple[str, Function]]:
    for real in REALS:
        yield f"fall-{real.value}", fall.trace(real)
        for name, program in PROGRAMS.items():
            yield f"{name}-{real.value}", program(real)
    for dtype in DType:
        yield f"every-{dtype.value}", every_operation(dtype)
    for seed in range(12):
        case = case_of(write(seed))
        yield f"random-{seed}", load(case.text).trace(case.real)


CORPUS = dict(corpus())
kernels = pytest.mark.parametrize("name", CORPUS)


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    return {name: ptx_text(optimise(fn), "sm_75") for name, fn in CORPUS.items()}


@kernels
def test_every_result_is_rounded_once(name: str, texts: dict[str, str]) -> None:
    lines = texts[name].splitlines()
    assert [] == [line for line in lines if INEXACT.search(line)]
    asked = {item.op for item in walk(optimise(CORPUS[name]).statements) if isinstance(item, Apply)}
    for instruction, operation in UNASKED.items():
        found = [line for line in lines if re.search(rf"\b{instruction}\.f", line)]
        assert not found or operation in asked, found


def assembled(text: str, chip: str) -> str:
    """What the assembler says of it. Raises CalledProcessError where it is wrong."""
    assert ASSEMBLER is not None
    command = [ASSEMBLER, f"-arch={chip}", "-v", "-o", "/dev/null", "-"]
    done = subprocess.run(command, input=text, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.mark.skipif(not ASSEMBLER, reason="needs ptxas, of NVIDIA's CUDA toolkit")
@kernels
def test_the_assembler_takes_it_and_needs_no_memory_of_a_thread(
    name: str, texts: dict[str, str]
) -> None:
    said = assembled(texts[name], "sm_75")
    assert "0 bytes spill stores, 0 bytes spill loads" in said
    assert re.search(r"Used \d+ registers", said)


@pytest.mark.skipif(not ASSEMBLER, reason="needs ptxas, of NVIDIA's CUDA toolkit")
@pytest.mark.parametrize("chip", CHIPS)
def test_there_is_code_for_every_chip(chip: str) -> None:
    for dtype in ("float64", "float32"):
        text = fall.ptx(chip, dtype=dtype)
        assert f".target {chip}" in text
        assembled(text, chip)


@pytest.mark.skipif(not ASSEMBLER, reason="needs ptxas, of NVIDIA's CUDA toolkit")
def test_elementary_functions_call_nothing() -> None:
    text = functions.ptx("sm_90")
    assert [] == [line for line in text.splitlines() if INEXACT.search(line)]
    assembled(text, "sm_90")


def test_the_sign_of_zero_is_chosen_not_computed() -> None:
    @hawk.kernel
    def below(x: Scalar) -> Scalar:
        return x if x < 0.0 else 0.0

    @hawk.kernel
    def above(x: Scalar) -> Scalar:
        return x if x > -0.0 else -0.0

    for kernel in (below, above):
        text = kernel.ptx()
        assert "selp.f64" in text
        assert not re.search(r"\b(min|max)\.f", text)


def test_the_parameters_are_the_planes_then_samples_and_steps() -> None:
    text = fall.ptx("sm_90")
    kinds = re.findall(r"\.param \.(\w+)( \.ptr)?", text.partition(")")[0])
    array, number, count, extent = ("u64", " .ptr"), ("f64", ""), ("u64", ""), ("u32", "")
    # wind, place, z, v, down, what is returned; dt; n, steps; the extent of wind
    assert sorted([*[array] * 6, number, *[count] * 2, extent]) == sorted(kinds)
    assert kinds[-2:] == [count, count]


@pytest.mark.parametrize("name", ["sm_74", "sm_122", "90", "gfx90a", "sm_", "sm_9O"])
def test_chips_that_are_not_known_are_refused(name: str) -> None:
    with pytest.raises(HawkError, match=r"(?s)expected sm_75 to sm_121.*write: kernel\.ptx") as no:
        fall.ptx(name)
    assert no.value.code == "H502"


@pytest.mark.parametrize("name", ["größe", "λ", "_", "1st", "<lambda>"])
def test_any_name_of_a_kernel_is_one_of_ptx(name: str) -> None:
    written = ptx_text(replace(PLAIN, name=name), "sm_90")
    assert re.search(r"\.entry [a-zA-Z_][a-zA-Z0-9_]+\(", written)


def test_kernels_of_the_whole_batch_are_refused() -> None:
    @hawk.kernel
    def share(x: Mutable[Scalar]):
        x = x / hawk.sum(x)

    with pytest.raises(HawkError, match="share reduces or scatters, which is not made for GPUs"):
        share.ptx()
