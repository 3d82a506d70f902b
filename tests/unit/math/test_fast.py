"""Kernels of `math="fast"`: what their functions may be off by, and what stays as it is."""

from __future__ import annotations

import functools
import itertools
import math
import pickle
from typing import Any

import numpy as np
import pytest

import eagle
import hawk
import hawk.math as own
from hawk import Mutable, Scalar
from hawk.explain import explanation
from hawk.ir.types import DType
from hawk.math.fast import FAST
from hawk.passes.pipeline import optimise
from hawk.targets.cpu.compile import compile_function
from hawk.targets.cpu.machine import host
from hawk.targets.cpu.width import variant
from tests.oracle.batch import Batch, launch
from tests.unit.math.functions import ONE, SPECIAL, TWO, draw, hard
from tests.unit.math.reference import exact_error
from tests.unit.math.test_same_bits import bits

ROWS = {**ONE, **TWO}
NAMES = [name for name in FAST if name in ROWS]
BOUND = 4.0
"""Units in the last place that a function may be off by."""
COUNT = 60
"""Numbers of each range."""

widths = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])


@functools.cache
def kernel_of(name: str) -> Any:
    function = getattr(own, name)

    @hawk.kernel(math="fast")
    def one(x: Scalar) -> Scalar:
        return function(x)

    @hawk.kernel(math="fast")
    def two(x: Scalar, y: Scalar) -> Scalar:
        return function(x, y)

    return one if name in ONE else two


def numbers_of(name: str, dtype: Any) -> list[Any]:
    """Columns of numbers: of every range, and those where the function is hard."""
    row, rng = ROWS[name], np.random.default_rng(11)
    ranges = row.wide if dtype is np.float64 else row.narrow
    if name in ONE:
        drawn = [draw(rng, each, COUNT, positive=row.positive) for each in ranges]
        columns = [np.concatenate([*drawn, hard(name, dtype)])]
    else:
        first = [draw(rng, each, COUNT, positive=row.positive) for each, _ in ranges]
        second = [draw(rng, each, COUNT, positive=False) for _, each in ranges]
        columns = [np.concatenate(first), np.concatenate(second)]
    with np.errstate(all="ignore"):
        return [column.astype(dtype) for column in columns]


@widths
@pytest.mark.parametrize("name", NAMES)
def test_no_function_is_off_by_more_than_four_units(name: str, dtype: Any) -> None:
    columns = numbers_of(name, dtype)
    got = kernel_of(name)(*columns)
    for *numbers, each in zip(*columns, got, strict=True):
        off = exact_error(ROWS[name], numbers, each, dtype)
        assert off <= BOUND, (numbers, each)


def ends(numbers: Any) -> list[Any]:
    """Zeros with their signs, infinities and NaN; None for any other number."""
    return [
        None if math.isfinite(each) and each else str(abs(each) if math.isnan(each) else each)
        for each in numbers.tolist()
    ]


@widths
@pytest.mark.parametrize("name", NAMES)
def test_special_values_are_the_portable_ones(name: str, dtype: Any) -> None:
    with np.errstate(all="ignore"):
        special = np.array(SPECIAL, np.float64).astype(dtype)
        pairs = itertools.product(special[:16], repeat=2)
        columns = (
            [special] if name in ONE else [np.array(c, dtype) for c in zip(*pairs, strict=True)]
        )
        rows = zip(*[c if dtype is np.float32 else c.tolist() for c in columns], strict=True)
        expected = np.array([getattr(own, name)(*row) for row in rows], dtype)
    assert ends(expected) == ends(kernel_of(name)(*columns))


@widths
def test_a_sine_is_at_most_1_and_1_at_the_top(dtype: Any) -> None:
    turns = np.random.default_rng(4).integers(-80, 80, 20_000)
    x = turns * math.pi + math.pi / 2
    sines = kernel_of("sin")(x.astype(dtype))
    assert float(np.abs(sines).max()) == 1.0
    assert float(np.abs(kernel_of("cos")((x - math.pi / 2).astype(dtype))).max()) == 1.0
    assert kernel_of("cos")(np.zeros(1, dtype)).tolist() == [1.0]
    assert kernel_of("sin")(np.array([math.pi / 2], dtype)).tolist() == [1.0]


# -- bits ------------------------------------------------------------------------------------------


@hawk.kernel(math="fast")
def all_of_them(x: Scalar, y: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    angles = own.sin(x) + own.cos(y) + own.tan(x) + own.atan(x) + own.atan2(y, x)
    s, c = own.sincos(x * y)
    arcs = own.asin(x / 3.0) + own.acos(y / 3.0) + own.hypot(x, y) + own.rsqrt(abs(y)) + s * c
    powers = own.exp(x) + own.exp2(y) + own.expm1(x) + own.sinh(x) + own.cosh(y) + own.tanh(x)
    size = abs(x)
    logs = own.log(size) + own.log2(size) + own.log10(size) + size**y + size**1.5 + size**-0.5
    return angles + own.log1p(size), arcs + own.cbrt(x), powers + logs


@widths
def test_bits_are_those_of_the_interpreter_and_of_python_at_every_width(dtype: Any) -> None:
    rng = np.random.default_rng(8)
    x, y = rng.normal(0, 2, (2, 32)).astype(dtype)
    x[:6], y[2:8] = [0, -0.0, np.inf, np.nan, 1e6, -1e5], [np.nan, 0, -np.inf, 1e30, -700, 1e-30]
    expected = hawk.run_python(all_of_them, x=x, y=y)
    names = ("out0", "out1", "out2")
    assert all(
        bits(expected[name]) == bits(hawk.interpret(all_of_them, x=x, y=y)[name]) for name in names
    )
    fn = optimise(all_of_them.trace(DType.F64 if dtype is np.float64 else DType.F32))
    for width, chains in ((1, 1), (4, 2)):
        compiled = compile_function(fn, host(), variant(fn, host(), width, chains))
        arrays = {"x": x, "y": y} | {name: np.zeros(len(x), dtype) for name in names}
        launch(compiled, Batch(len(x), arrays, {}, {}), 1)
        assert all(bits(expected[name]) == bits(arrays[name]) for name in names), (width, chains)


def test_other_operations_are_as_exact_as_ever() -> None:
    def of(x: Scalar, y: Scalar) -> tuple[Scalar, Scalar, Scalar]:
        return x / (y * math.sqrt(y)), math.sqrt(x) / y + x * y, own.cbrt(x) + own.erf(y)

    x, y = np.random.default_rng(2).uniform(0.1, 9.0, (2, 100))
    portable, fast = hawk.kernel(of)(x, y), hawk.kernel(math="fast")(of)(x, y)
    assert [bits(each) for each in portable] == [bits(each) for each in fast]


HALVES = (-2.5, -1.5, -0.5, 0.5, 1.5, 2.5)


@hawk.kernel(math="fast")
def halves(x: Scalar) -> tuple[Scalar, Scalar, Scalar, Scalar, Scalar, Scalar]:
    return x**-2.5, x**-1.5, x**-0.5, x**0.5, x**1.5, x**2.5


@widths
def test_powers_of_halves_are_roots(dtype: Any) -> None:
    rng, (low, high) = np.random.default_rng(6), (-320, 308) if dtype is np.float64 else (-44, 38)
    with np.errstate(all="ignore"):
        special = np.array(SPECIAL, np.float64).astype(dtype)
        x = np.concatenate([special, 10 ** rng.uniform(low, high, 20), rng.uniform(0.5, 4, 40)])
        x = x.astype(dtype)
        for exponent, got in zip(HALVES, halves(x), strict=True):
            for number, each in zip(x if dtype is np.float32 else x.tolist(), got, strict=True):
                off = exact_error(ROWS["pow"], (number, exponent), each, dtype)
                true = own.pow(number, dtype(exponent) if dtype is np.float32 else exponent)
                assert off <= BOUND or (each == true and not math.isfinite(true)), (number, each)
            expected = np.array([own.pow(float(number), exponent) for number in special.tolist()])
            if dtype is np.float64:
                assert ends(expected) == ends(got[: len(special)])
    assert "sqrt" in halves.ir


# -- the option ------------------------------------------------------------------------------------


def drift(x: Mutable[Scalar]) -> None:
    x += math.sin(x)  # noqa: F841 - what is assigned is stored


fast = hawk.kernel(math="fast")(drift)
portable = hawk.kernel(drift)


def test_an_option_that_is_not_there_is_refused() -> None:
    wrong: Any = "quick"
    with pytest.raises(ValueError, match='math must be "portable" or "fast", got \'quick\''):
        hawk.kernel(math=wrong)


def test_a_call_does_not_have_the_option() -> None:
    call: Any = fast
    with pytest.raises(eagle.BindError, match='write @hawk.kernel\\(math="fast"\\)'):
        call(np.ones(3), math="fast")


def test_it_is_pickled_and_kept_by_other_numbers_of_steps() -> None:
    again = pickle.loads(pickle.dumps(fast))
    assert ("fast", "fast", "portable") == (again.math, hawk.steps(again, 4).math, portable.math)
    assert again.ir == fast.ir != portable.ir


def test_it_is_said_where_a_kernel_is_explained_and_shown() -> None:
    said = 'With math="fast" elementary functions may be off by 4 units in the last place'
    assert said in explanation(fast, machine=host())
    assert said not in explanation(portable, machine=host())
    assert 'math="fast"' in repr(fast)
    assert "math" not in repr(portable)


def test_the_report_of_a_run_says_which_promise_does_not_hold() -> None:
    def wait(x: Mutable[Scalar], over: hawk.Terminated) -> None:
        x += math.exp(-x)
        over = x > 3.0  # noqa: F841

    for kind in ("portable", "fast"):
        for counted in (False, True):
            kernel: Any = hawk.kernel(math=kind)(wait)
            report = eagle.simulate(kernel, x=np.zeros(5), max_steps=99, count_steps=counted).report
            assert kind == report.math
            said = '; math="fast": functions to 4 units in the last place, not 1'
            assert str(report).endswith(said) is (kind == "fast")


def test_it_holds_for_a_kernel_that_is_called_and_the_outermost_decides() -> None:
    @hawk.kernel(math="fast")
    def calls_portable(x: Mutable[Scalar]):
        x = portable(x)

    @hawk.kernel
    def calls_fast(x: Mutable[Scalar]):
        x = fast(x)

    start = np.random.default_rng(3).uniform(-9, 9, 200)
    for kernel, same in ((calls_portable, fast), (calls_fast, portable)):
        x, y = start.copy(), start.copy()
        kernel(x)
        same(y)
        slow = hawk.run_python(kernel, x=start[:40], steps=1)["x"]
        assert bits(y) == bits(x)
        assert bits(slow) == bits(x[:40])


def test_the_two_are_not_taken_for_each_other() -> None:
    x, y = np.linspace(1, 9, 300), np.linspace(1, 9, 300)
    fast(x)
    portable(y)
    assert bits(x) != bits(y)
    assert float(np.abs(x - y).max()) < 1e-14
