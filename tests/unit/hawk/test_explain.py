"""What `kernel.explain()` prints, kept as text for machines that are named.

Run this file to write `tests/golden/explain` anew, and read the difference.
"""

import math
import re
from pathlib import Path

import pytest

import hawk
from hawk import HawkError, Index, Mutable, Param, Scalar, Terminated
from hawk.explain import WIDE, explanation
from hawk.ir.types import DType
from hawk.passes.pipeline import optimise
from hawk.targets.cpu.estimate import estimate
from hawk.targets.cpu.machine import avx2, avx512
from hawk.targets.shape import Shape

GOLDEN = Path(__file__).parents[2] / "golden" / "explain"
TRIPLE = "x86_64-unknown-linux-gnu"


@hawk.kernel(steps="auto")
def oscillator(
    k: Param, dt: Param, t_end: Scalar, t: Mutable[Scalar], x: Mutable[Scalar], v: Mutable[Scalar],
    terminated: Terminated,
):  # fmt: skip
    v -= dt * k * x
    x += dt * v
    t += dt
    terminated = t >= t_end


@hawk.kernel
def series(
    x: Mutable[Scalar],
    n_terms: Index,
    hits: Mutable[Index],
    speed: Mutable[Scalar],
    far: Terminated,
):
    a = -math.sqrt(x * x + 1.0) / (2.0 + x)
    s = 0.0
    for i in range(n_terms):
        s += a / (i + 1)
    if x < 0:
        hits += 1
    x += s
    speed = abs(s)
    far = x > 3 or hits > 5


@hawk.kernel(steps=8)
def count(i: Mutable[Index], by: Index, step_width: Mutable[Scalar]):
    i += by


@hawk.kernel(contract=False)
def stopped_by_two(x: Mutable[Scalar], y: Mutable[Scalar], a: Param, stop: Terminated) -> Scalar:
    x += a * y
    y -= a * x
    stop = x > 3 or y > 3
    return x / y


@hawk.kernel
def curve(x: Scalar, a: Param) -> Scalar:
    return math.sqrt(a * x * x + 1.0)


CASES = {
    "curve-avx2": (curve, avx2(TRIPLE), None),
    "oscillator-avx2": (oscillator, avx2(TRIPLE), None),
    "oscillator-avx512-float32": (oscillator, avx512(TRIPLE), "float32"),
    "series-avx2": (series, avx2(TRIPLE), None),
    "count-avx2": (count, avx2(TRIPLE), None),
    "stopped-by-two-avx2": (stopped_by_two, avx2(TRIPLE), None),
}


def told(name: str) -> str:
    kernel, machine, dtype = CASES[name]
    return re.sub(
        r"test_explain\.py:\d+", "kernel.py:1", explanation(kernel, dtype=dtype, machine=machine)
    )


@pytest.mark.parametrize("name", CASES)
def test_the_text_is_the_one_on_file(name: str) -> None:
    assert (GOLDEN / f"{name}.txt").read_text() == told(name)


@pytest.mark.parametrize("name", CASES)
def test_it_fits_the_page(name: str) -> None:
    assert max(map(len, told(name).splitlines())) <= 100


def test_what_is_compiled_here_says_so(capsys) -> None:
    oscillator.explain()
    text = capsys.readouterr().out
    assert text.startswith("oscillator: one step of one sample, in float64  (test_explain.py:")
    assert re.search(r"\nMaking it\n  (Compiled|Its code) .* \d+ ms", text)


def test_it_can_be_told_for_the_other_width(capsys) -> None:
    oscillator.explain(dtype="float32")
    assert "in float32" in capsys.readouterr().out
    with pytest.raises(ValueError, match="float16"):
        oscillator.explain(dtype="float16")
    narrow = hawk.kernel(dtype="float32")(oscillator.__wrapped__)
    narrow.explain()
    assert "in float32" in capsys.readouterr().out
    with pytest.raises(ValueError, match="made for dtype='float32'"):
        narrow.explain(dtype="float64")


def test_checks_are_mentioned_and_left_out() -> None:
    checked = hawk.kernel(steps="auto", checks=True)(oscillator.__wrapped__)
    plain, more = (explanation(each, machine=avx2(TRIPLE)) for each in (oscillator, checked))
    assert "With checks=True" in more
    assert plain.splitlines()[1:] == more.splitlines()[3:]


def test_a_wrong_kernel_is_an_error_as_ever() -> None:
    @hawk.kernel
    def wrong(x: Mutable[Scalar]):
        x = y

    with pytest.raises(HawkError, match="H301"):
        wrong.explain()


def test_a_long_program_is_cut_and_its_lines_are_folded() -> None:
    @hawk.kernel
    def long(x: Mutable[Scalar], n_terms: Index):
        a, b, c, d, e, f, g, h = (x * k for k in range(8))
        for _ in range(n_terms):
            a, b, c, d, e, f, g, h = b, c, d, e, f, g, h, a + x
        for k in range(200):
            x = x * a + k if k != 7 else x * b
            a = a + x / (c + d + e + f + g + h)
            [x][k - k]

    text = explanation(long, machine=avx2(TRIPLE))
    assert "lines more: print(kernel.ir)" in text
    assert max(map(len, text.splitlines())) <= WIDE


# --- the estimate ---------------------------------------------------------------------------------


def guessed(kernel, shape=Shape(4, 4), real=DType.F64):
    return estimate(optimise(kernel.trace(real)), shape)


def test_the_longest_chain_goes_from_state_to_state() -> None:
    @hawk.kernel
    def step(x: Mutable[Scalar], y: Mutable[Scalar], a: Scalar):
        b = math.sqrt(a) / a  # not part of it: the same in every step
        y = y + b  # 4
        x = (x + 1.0) / (x + 2.0)  # 4 + 14

    assert 18 == guessed(step).waiting


def test_operations_and_bytes_are_counted() -> None:
    @hawk.kernel
    def step(x: Mutable[Scalar], y: Mutable[Scalar], a: Param, i: Index) -> Scalar:
        x = a * x + y
        return x / y

    guess = guessed(step)
    assert (3, 1, 1) == (guess.operations, guess.fused, guess.divisions)
    assert (8 + 8 + 8, 8 + 8) == (guess.read, guess.written)


def test_more_chains_wait_together() -> None:
    few, many = guessed(oscillator, Shape(4, 1)), guessed(oscillator, Shape(4, 4))
    assert few.waiting == many.waiting
    assert few.cycles > many.cycles


if __name__ == "__main__":
    for case in CASES:
        (GOLDEN / f"{case}.txt").write_text(told(case))


def test_what_few_samples_need_is_counted_apart(capsys: pytest.CaptureFixture[str]) -> None:
    @hawk.kernel
    def swing(angle: Mutable[Scalar], speed: Mutable[Scalar], dt: Param):
        speed -= dt * hawk.math.sin(angle)
        angle += dt * speed

    swing.explain()
    told = " ".join(capsys.readouterr().out.split())
    found = re.search(r"A step is (\d+) floating-point operations .* (\d+) more are for", told)
    assert found is not None
    usual, rare = map(int, found.groups())
    assert usual < 100 < rare
