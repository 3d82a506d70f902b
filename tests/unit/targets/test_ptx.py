"""PTX: every kernel becomes some that the assembler takes, of exact instructions only."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

import hawk
import hawk.math
from hawk import HawkError, Mutable, Param, Scalar, Table, Terminated
from hawk.ir.nodes import Apply, Function, walk
from hawk.ir.types import DType
from hawk.passes.pipeline import optimise
from hawk.targets.ptx.chip import VERSIONS
from hawk.targets.ptx.compile import ptx_text
from hawk.targets.ptx.routines import routines_ptx
from hawk.targets.ways import Way
from tests.oracle.harness import case_of, load
from tests.oracle.programs import write
from tests.unit.math.functions import ONE, TWO
from tests.unit.targets.by_hand import PROGRAMS, REALS
from tests.unit.targets.test_differential import every_operation
from tools.registers import (
    ASSEMBLER,
    BEGIN,
    CHIPS,
    END,
    PAGE,
    assembled,
    benchmarks_on,
    joined,
    kernels,
)

INEXACT = re.compile(
    r"\.(approx|ftz|full)\b|\bmad\.(\w+\.)*f|\b(add|sub|mul|fma|div|rcp|sqrt)\.(?!rn\.)[\w.]*f(32|64)|"
    r"\b(call|\.extern|\.local|\.func)\b"
)
"""Results that are not rounded once, or may be put together by the assembler, since how they are
rounded is not said; and what a kernel of one function has no need of."""
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
each_text = pytest.mark.parametrize("name", CORPUS)


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    return {name: ptx_text(optimise(fn), "sm_75") for name, fn in CORPUS.items()}


@each_text
def test_every_result_is_rounded_once(name: str, texts: dict[str, str]) -> None:
    lines = texts[name].splitlines()
    assert [] == [line for line in lines if INEXACT.search(line)]
    asked = {item.op for item in walk(optimise(CORPUS[name]).statements) if isinstance(item, Apply)}
    for instruction, operation in UNASKED.items():
        found = [line for line in lines if re.search(rf"\b{instruction}\.f", line)]
        assert not found or operation in asked, found


needs_ptxas = pytest.mark.skipif(
    not ASSEMBLER, reason="needs ptxas, of NVIDIA's CUDA toolkit or of the package nvidia-cuda-nvcc"
)
chips = pytest.mark.parametrize("chip", CHIPS)


def only_in_a_long_run(programs: int, chip: str, *usual: str) -> None:
    if programs <= 200 and chip not in usual:
        pytest.skip("only in a long run: make test-long")


@needs_ptxas
@chips
def test_the_assembler_takes_it_and_needs_no_memory_of_a_thread(
    chip: str, texts: dict[str, str], programs: int
) -> None:
    only_in_a_long_run(programs, chip, "sm_75")
    found = assembled(joined({name.replace("-", "_"): text for name, text in texts.items()}), chip)
    assert len(texts) == len(found)
    assert [] == [name for name, use in found.items() if use.spilled]


@needs_ptxas
@chips
def test_the_benchmarks_need_no_memory_of_a_thread(chip: str, programs: int) -> None:
    only_in_a_long_run(programs, chip, "sm_90")
    found = benchmarks_on(chip)
    assert 2 * len(kernels()) == len(found)
    assert [] == [name for name, use in found.items() if use.spilled]
    assert all(16 <= use.registers < 200 for use in found.values())


@needs_ptxas
@chips
def test_the_assembler_takes_kernels_in_turns(chip: str) -> None:
    texts: dict[str, str] = {}
    for name, kernel in kernels().items():
        for real in REALS:
            best = optimise(kernel.program.trace(real, frozenset()).function)
            text = ptx_text(best, chip, (Way.TURNS,))
            assert f".target {chip}" in text
            assert [] == [line for line in text.splitlines() if INEXACT.search(line)]
            assert 1 == text.count("bar.warp.sync")
            texts[f"{name}_{real.value}"] = text
    found = assembled(joined(texts), chip)
    assert 2 * len(kernels()) == len(found)
    assert [] == [name for name, use in found.items() if use.spilled]


@needs_ptxas
def test_memory_for_want_of_registers_would_be_noticed() -> None:
    text = kernels()["kepler"].ptx("sm_90").replace(".minnctapersm 1", ".minnctapersm 8")
    assert assembled(text, "sm_90")["kepler"].spilled


@needs_ptxas
def test_text_that_is_wrong_is_refused() -> None:
    with pytest.raises(ValueError, match="fatal|error"):
        assembled(fall.ptx().replace("fma.rn.f64", "fma.f64"), "sm_75")


@needs_ptxas
@chips
def test_there_is_code_for_every_chip(chip: str) -> None:
    texts = {width: fall.ptx(chip, dtype=width) for width in ("float64", "float32")}
    assert all(f".target {chip}" in text for text in texts.values())
    assert {"float64", "float32"} == set(assembled(joined(texts), chip))


def test_the_text_is_the_same_for_every_chip_but_for_its_head(texts: dict[str, str]) -> None:
    """So what holds for the text that is run by the tests holds for that of every chip."""
    for name in ("every-f64", "every-f32", "every-i64", "fall-f64", "random-4", "random-7"):
        body = texts[name].partition(".address_size")[2]
        for chip in CHIPS:
            text = ptx_text(optimise(CORPUS[name]), chip)
            assert body == text.partition(".address_size")[2], (name, chip)


def test_elementary_functions_call_nothing() -> None:
    text = functions.ptx("sm_90")
    assert [] == [line for line in text.splitlines() if INEXACT.search(line)]


def test_the_page_has_a_row_for_each_kernel_and_a_column_for_each_chip() -> None:
    made = PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    head, _, *rows = made.splitlines()
    assert list(CHIPS) == [cell.strip() for cell in head.strip("|").split("|")][1:]
    assert list(kernels()) == [row.split("|")[1].strip() for row in rows]
    assert "spilled" not in made


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


def test_every_chip_has_a_version_that_knows_it(capfd: pytest.CaptureFixture[str]) -> None:
    # LLVM ends the process where the version is too low, and complains where the chip is new to it.
    for number in VERSIONS:
        text = fall.ptx(f"sm_{number}")
        assert f".target sm_{number}" in text
        assert f".version {VERSIONS[number] // 10}.{VERSIONS[number] % 10}" in text
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    "name", ["sm_74", "sm_82", "sm_99", "sm_122", "90", "gfx90a", "sm_", "sm_9O"]
)
def test_chips_that_are_not_known_are_refused(name: str) -> None:
    with pytest.raises(HawkError, match=r"(?s)one of sm_75, .*sm_121.*write: kernel\.ptx") as no:
        fall.ptx(name)
    assert no.value.code == "H502"


@pytest.mark.parametrize("name", ["größe", "λ", "_", "1st", "<lambda>"])
def test_any_name_of_a_kernel_is_one_of_ptx(name: str) -> None:
    written = ptx_text(replace(PLAIN, name=name), "sm_90")
    assert re.search(r"\.entry [a-zA-Z_][a-zA-Z0-9_]+\(", written)


def test_a_kernel_of_the_whole_batch_has_an_entry_for_each_part_of_its_step() -> None:
    @hawk.kernel
    def share(x: Mutable[Scalar], most: Scalar):
        x = x / hawk.sum(x)
        x = min(x, hawk.max(most * x))

    # The first sum is of an array as it is, so no kernel has to leave it.
    text = share.ptx("sm_80")
    assert ["share_1", "share"] == re.findall(r"\.entry (\w+)", text)
    assert [] == [line for line in text.splitlines() if INEXACT.search(line)]


def test_the_routines_are_rounded_once_too() -> None:
    text = routines_ptx("sm_75")
    assert [] == [line for line in text.splitlines() if INEXACT.search(line)]


@needs_ptxas
@chips
def test_the_assembler_takes_the_routines(chip: str, programs: int) -> None:
    only_in_a_long_run(programs, chip, "sm_75")
    assert all(not use.spilled for use in assembled(routines_ptx(chip), chip).values())


def test_whole_numbers_of_64_bits_are_one_access() -> None:
    text = ptx_text(optimise(PROGRAMS["uniform_loops"](DType.F64)), "sm_75")
    found = re.findall(r"(?:ld|st)\.global\.\w+", text)
    assert found
    assert set() == set(found) & {"ld.global.b32", "st.global.b32", "ld.global.s32"}
