"""Every operator on every type: run in every way, and by CPython or NumPy where they say how."""

from __future__ import annotations

import itertools
import math
import operator
import re
import struct
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hawk
from hawk import Bool, HawkError, Index, Int32, Param, Scalar, UInt32
from hawk.ir.meaning import RANGE, represent, round_f32
from hawk.ir.types import DType
from hawk.reference import interpret, run_python
from tests.oracle.numbers import EDGES
from tests.unit.frontend.agreement import agree, same_bits
from tests.unit.frontend.every_way import every_way, expect

INF, NAN = math.inf, math.nan
I32, U32, I64, F32, F64 = DType.I32, DType.U32, DType.I64, DType.F32, DType.F64
SEEDS = st.integers(0, 2**32)
widths = pytest.mark.parametrize("real", [F64, F32], ids=lambda real: real.value)


def crossed(real: DType) -> tuple[Any, Any]:
    """Every edge of a type with every other."""
    pairs = list(itertools.product(EDGES[real], repeat=2))
    return tuple(np.array(column, real.numpy) for column in zip(*pairs, strict=True))


# --- floats --------------------------------------------------------------------------------------


@hawk.kernel(contract=False)
def arithmetic(
    x: Scalar, y: Scalar
) -> tuple[Scalar, Scalar, Scalar, Scalar, Scalar, Scalar, Scalar, Scalar, Scalar, Scalar]:
    quotient, rest = divmod(x, y)
    return x + y, x - y, x * y, x / y, x // y, x % y, quotient, rest, -x, abs(x)


ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "out0": operator.add,
    "out1": operator.sub,
    "out2": operator.mul,
    "out3": operator.truediv,
    "out4": operator.floordiv,
    "out5": operator.mod,
    "out6": lambda x, y: divmod(x, y)[0],
    "out7": lambda x, y: divmod(x, y)[1],
    "out8": lambda x, y: -x,
    "out9": lambda x, y: abs(x),
}


def by_python(function: Callable[[Any, Any], Any], x: float, y: float, real: DType) -> float:
    """What CPython computes of two floats, or NumPy of narrow ones and by 0."""
    if real is F64 and y != 0:
        return function(x, y)
    scalar = np.float32 if real is F32 else np.float64
    with np.errstate(all="ignore"):
        return float(function(scalar(x), scalar(y)))


def check_arithmetic(x: Any, y: Any, real: DType) -> None:
    results = every_way(arithmetic, real, x=x, y=y)
    for name, function in ARITHMETIC.items():
        wanted = [by_python(function, *pair, real) for pair in zip(x.tolist(), y.tolist())]
        expect(results, name, wanted, x, y)


@widths
def test_operators_of_floats_are_cpythons_on_all_edges(real: DType) -> None:
    check_arithmetic(*crossed(real), real)


@widths
@given(SEEDS)
def test_operators_of_floats_are_cpythons(real: DType, seed: int) -> None:
    pairs = [awkward(Random(seed + k), real) for k in range(12)]
    x, y = (np.array(column, real.numpy) for column in zip(*pairs, strict=True))
    check_arithmetic(x, y, real)


def awkward(rng: Random, real: DType) -> tuple[float, float]:
    """Two floats; often one is close to a multiple of the other, or half of one, or far off."""
    y = any_float(rng, real)
    if rng.random() < 0.4 or not math.isfinite(y):
        return any_float(rng, real), y
    bits = 53 if real is F64 else 24
    times = rng.choice(
        [
            rng.randint(0, 9) / 2,
            rng.randint(0, 2**bits),
            rng.randint(2 ** (bits - 5), 2 ** (bits - 2)) + 0.5,
            2.0 ** rng.randint(-3, 3 * bits),
        ]
    )
    x = represent(real, y * times)
    for _ in range(rng.randint(0, 3)):
        x = next_float(x, rng.choice([-INF, INF]), real)
    return rng.choice([-1, 1]) * x, y


def any_float(rng: Random, real: DType) -> float:
    kind = rng.random()
    if kind < 0.4:
        return struct.unpack("d" if real is F64 else "f", rng.randbytes(real.itemsize))[0]
    if kind < 0.7:
        return represent(real, math.ldexp(rng.uniform(-2, 2), rng.randint(-60, 60)))
    return rng.choice([*EDGES[real], float(rng.randint(-20, 20))])


def next_float(x: float, towards: float, real: DType) -> float:
    with np.errstate(all="ignore"):
        if real is F32:
            return float(np.nextafter(np.float32(x), np.float32(towards)))
        return math.nextafter(x, towards)


# A divisor that is known is divided by in ways of its own.
DIVISORS = [1.0, -1.0, 2.0, 0.5, -0.25, 2 * math.pi, -0.1, 360.0, 3.0, INF, -INF, NAN, 0.0, -0.0]
DIVISORS += [2.0**126, 2.0**-126, 2.0**-149, 1e38]
WIDE_DIVISORS = [2.0**52, 2.0**1022, -(2.0**1023), 2.0**-1022, 5e-324, 1e300, 1e-310]


@pytest.mark.parametrize("y", DIVISORS + WIDE_DIVISORS)
def test_division_by_what_is_known_is_the_same(y: float) -> None:
    @hawk.kernel
    def known(x: Scalar) -> tuple[Scalar, Scalar, Scalar]:
        return x // y, x % y, math.fmod(x, y)

    for real in (F64, F32) if y in DIVISORS or y != y else (F64,):
        divisor = represent(real, y)
        x = np.array([*EDGES[real], *multiples(divisor, real)], real.numpy)
        results = every_way(known, real, x=x)
        for name, function in [("out0", operator.floordiv), ("out1", operator.mod)]:
            wanted = [by_python(function, each, divisor, real) for each in x.tolist()]
            expect(results, name, wanted, x)
        expect(results, "out2", [c_fmod(each, divisor) for each in x.tolist()], x)


def multiples(y: float, real: DType) -> Iterator[float]:
    rng = Random(7)
    for times in (0.5, 1.0, 1.5, 2.0, 7.0, 1e6, 2.0**20 + 1, 2.0**22 + 3, 2.0**50 + 2, 2.0**60):
        x = represent(real, times * y)
        yield from (x, -x, next_float(x, -INF, real), next_float(x, INF, real))
        yield represent(real, x * rng.uniform(-1, 1))


def c_fmod(x: float, y: float) -> float:
    return NAN if y == 0 or math.isinf(x) else math.fmod(x, y)


@hawk.kernel
def by_param(x: Scalar, y: Param) -> tuple[Scalar, Scalar, Scalar]:
    return x // y, x % y, math.fmod(x, y)


@widths
@pytest.mark.parametrize("y", [1.0, -3.0, 0.1, 1e30, 2.0**-140, INF, 0.0, NAN])
def test_a_divisor_may_be_one_for_all_samples(real: DType, y: float) -> None:
    divisor = represent(real, y)
    x = np.array([*EDGES[real], *multiples(divisor, real)], real.numpy)
    results = every_way(by_param, real, x=x, y=y)
    for name, function in [("out0", operator.floordiv), ("out1", operator.mod)]:
        wanted = [by_python(function, each, divisor, real) for each in x.tolist()]
        expect(results, name, wanted, x)
    expect(results, "out2", [c_fmod(each, divisor) for each in x.tolist()], x)


@hawk.kernel
def remainders(x: Scalar, y: Scalar) -> tuple[Scalar, Scalar]:
    return math.fmod(x, y), math.remainder(x, y)


@widths
@given(SEEDS)
def test_fmod_and_remainder_are_exact(real: DType, seed: int) -> None:
    pairs = [awkward(Random(seed + k), real) for k in range(12)]
    x, y = (np.array(column, real.numpy) for column in zip(*pairs, strict=True))
    results = every_way(remainders, real, x=x, y=y)
    expect(results, "out0", [c_fmod(*pair) for pair in pairs], x, y)
    expect(results, "out1", [ieee_remainder(*pair) for pair in pairs], x, y)


def ieee_remainder(x: float, y: float) -> float:
    try:
        return math.remainder(x, y)
    except ValueError:
        return NAN


@hawk.kernel
def comparisons(x: Scalar, y: Scalar) -> tuple[Bool, Bool, Bool, Bool, Bool, Bool]:
    return x < y, x <= y, x > y, x >= y, x == y, x != y


@widths
def test_comparisons_of_floats_are_cpythons(real: DType) -> None:
    x, y = crossed(real)
    results = every_way(comparisons, real, x=x, y=y)
    functions = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)
    for place, function in enumerate(functions):
        expect(results, f"out{place}", [function(*pair) for pair in zip(x.tolist(), y.tolist())])


# --- rounding ------------------------------------------------------------------------------------


@hawk.kernel
def to_integers(x: Scalar) -> tuple[Index, Index, Index, Index, Index]:
    return round(x), math.floor(x), math.ceil(x), math.trunc(x), int(x)


@widths
@given(SEEDS)
def test_rounding_to_an_integer_is_cpythons_and_saturates(real: DType, seed: int) -> None:
    rng = Random(seed)
    x = [any_float(rng, real) for _ in range(12)] + [rng.randint(-9, 9) / 2 for _ in range(4)]
    results = every_way(to_integers, real, x=np.array(x, real.numpy))
    for place, function in enumerate((round, math.floor, math.ceil, math.trunc, int)):
        expect(results, f"out{place}", [saturated(function, each) for each in x], x)


def saturated(function: Callable[[float], int], x: float) -> int:
    least, greatest = RANGE[I64]
    if not math.isfinite(x):
        return {INF: greatest, -INF: least}.get(x, 0)
    return max(least, min(greatest, function(x)))


DIGITS = range(-22, 23)


def rounding_to(digits: int) -> Any:
    @hawk.kernel
    def rounding(x: Scalar) -> Scalar:
        return round(x, digits)

    return rounding


ROUNDING = {digits: rounding_to(digits) for digits in DIGITS}


@widths
@given(SEEDS)
def test_round_to_digits_is_cpythons(real: DType, seed: int) -> None:
    rng = Random(seed)
    digits = rng.choice(DIGITS)
    x = np.array([decimal(rng, digits, real) for _ in range(20)], real.numpy)
    wanted = [python_round(each, digits) for each in x.tolist()]

    expect(interpret(ROUNDING[digits], x), "out", wanted, x)


@widths
@pytest.mark.parametrize("digits", [-22, -3, -1, 0, 1, 2, 15, 22])
def test_compiled_round_to_digits_is_cpythons(real: DType, digits: int) -> None:
    rng = Random(digits)
    x = np.array([decimal(rng, digits, real) for _ in range(200)], real.numpy)
    results = every_way(ROUNDING[digits], real, x=x)
    expect(results, "out", [python_round(each, digits) for each in x.tolist()], x)


def decimal(rng: Random, digits: int, real: DType) -> float:
    """A float; mostly one next to a tie of this many digits."""
    if rng.random() < 0.2:
        return any_float(rng, real)
    whole = rng.choice([rng.randint(0, 99), rng.randint(0, 2**30), rng.randint(2**50, 2**55)])
    x = represent(real, (whole + rng.choice([0.5, 0.5, rng.random()])) / 10.0**digits)
    for _ in range(rng.randint(0, 2)):
        x = next_float(x, rng.choice([-INF, INF]), real)
    return rng.choice([-1, 1]) * x


def python_round(x: float, digits: int) -> float:
    try:
        return round(x, digits)
    except OverflowError:
        return math.copysign(INF, x)


def test_a_tie_of_the_decimal_is_told_from_what_is_next_to_it() -> None:
    x = np.array([2.675, 1.005, 0.125, 0.375, 5e-3, -0.004, 1.1e16])
    result = agree(ROUNDING[2], x)["out"]
    assert result.tolist() == [2.67, 1.0, 0.12, 0.38, 0.01, -0.0, 1.1e16]
    assert np.signbit(result[5])


@hawk.kernel
def tens(i: Index, k: Int32) -> tuple[Index, Index, Int32, Int32, Int32]:
    return round(i, -1), round(i, 3), round(k, -2), round(k, -9), round(k, -12)


def test_an_integer_is_rounded_to_a_power_of_ten() -> None:
    i = np.array([15, 25, -15, -25, 14, 16, 0, 2**53 + 1])
    k = np.array([50, 150, 250, -150, 1_499_999_999, -500_000_000, 2**31 - 1, 99], np.int32)
    results = every_way(tens, i=i, k=k)
    for name, values, digits in [("out0", i, -1), ("out1", i, 3), ("out2", k, -2), ("out3", k, -9)]:
        expect(results, name, [round(each, digits) for each in values.tolist()], values)
    assert not results["out4"].any()


@pytest.mark.parametrize(
    ("text", "code", "fix"),
    [
        ("round(x, 23)", "H203", "round(x, 22)"),
        ("np.round(x, -30)", "H203", "np.round(x, -22)"),
        ("round(x, i)", "H212", "a number"),
        ("round(x, 2.5)", "H201", ""),
        ("np.round(i, -1)", "H201", "round(i, -1)"),
        ("round(i, -19)", "H203", "float(i)"),
    ],
)
def test_digits_that_cannot_be_rounded_to_are_refused(text: str, code: str, fix: str) -> None:
    with pytest.raises(HawkError, match=code) as error:
        of_text(text).trace(F64)
    assert fix == error.value.fix


def test_a_loop_that_needs_its_number_is_unrolled() -> None:
    @hawk.kernel
    def series(x: Scalar) -> Scalar:
        total = 0.0
        for n in range(4):
            total += round(x, n) * x**n
        return total

    x = np.array([0.12345, -2.5, 3.0])
    assert len(agree(series, x)["out"]) == 3


# --- integers ------------------------------------------------------------------------------------

TYPES: dict[str, tuple[Any, DType]] = {
    "Index": (Index, I64), "Int32": (Int32, I32), "UInt32": (UInt32, U32),
}  # fmt: skip


def wrapping(function: Callable[[int, int], int]) -> Callable[[DType, int, int], int]:
    return lambda dtype, a, b: represent(dtype, function(a, b))


def shifted(function: Callable[[int, int], int]) -> Callable[[DType, int, int], int]:
    return lambda dtype, a, n: represent(dtype, function(a, n)) if 0 <= n < dtype.bits else 0


INTEGER: dict[str, Callable[[DType, int, int], int]] = {
    "i + j": wrapping(operator.add),
    "i - j": wrapping(operator.sub),
    "i * j": wrapping(operator.mul),
    "i // j": wrapping(lambda a, b: a // b if b else 0),
    "i % j": wrapping(lambda a, b: a % b if b else 0),
    "divmod(i, j)[0]": wrapping(lambda a, b: a // b if b else 0),
    "divmod(i, j)[1]": wrapping(lambda a, b: a % b if b else 0),
    "np.fmod(i, j)": wrapping(
        lambda a, b: int(math.copysign(1, a)) * (abs(a) % abs(b)) if b else 0
    ),
    "i & j": wrapping(operator.and_),
    "i | j": wrapping(operator.or_),
    "i ^ j": wrapping(operator.xor),
    "i << j": shifted(operator.lshift),
    "i >> j": shifted(operator.rshift),
    "-i": wrapping(lambda a, b: -a),
    "~i": wrapping(lambda a, b: ~a),
    "abs(i)": wrapping(lambda a, b: abs(a)),
    "i ** 3": wrapping(lambda a, b: a**3),
    "i ** 64": wrapping(lambda a, b: a**64),
    "i ** 0": wrapping(lambda a, b: 1),
    "min(i, j)": wrapping(min),
    "max(i, j)": wrapping(max),
    "int.bit_count(i)": wrapping(lambda a, b: a.bit_count()),
    "round(i, -2)": wrapping(lambda a, b: round(a, -2)),
    "np.sign(i)": wrapping(lambda a, b: (a > 0) - (a < 0)),
}


@pytest.mark.parametrize("name", TYPES)
def test_operators_of_integers_are_pythons_wrapped(name: str) -> None:
    _, dtype = TYPES[name]
    i, j = crossed(dtype)
    texts = list(INTEGER)
    for few in (texts[:12], texts[12:]):
        results = every_way(
            of_text(f"({', '.join(few)})", (name,) * len(few), name), i=i, j=j, x=1.0
        )
        for place, text in enumerate(few):
            pairs = zip(i.tolist(), j.tolist(), strict=True)
            wanted = [INTEGER[text](dtype, *pair) for pair in pairs]
            expect(results, f"out{place}", wanted, i, j)


@pytest.mark.parametrize("name", TYPES)
def test_division_of_integers_is_real(name: str) -> None:
    _, dtype = TYPES[name]
    i, j = crossed(dtype)
    results = every_way(of_text("(i / j, i ** -1)", ("Scalar", "Scalar"), name), i=i, j=j, x=1.0)
    with np.errstate(all="ignore"):
        a, b = i.astype(float), j.astype(float)
        expect(results, "out0", a / b, i, j)
        expect(results, "out1", 1 / a, i)


@pytest.mark.parametrize("name", TYPES)
def test_comparisons_of_integers_are_pythons(name: str) -> None:
    i, j = crossed(TYPES[name][1])
    text = "(i < j, i <= j, i > j, i >= j, i == j, i != j)"
    results = every_way(of_text(text, ("Bool",) * 6, name), i=i, j=j, x=1.0)
    functions = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)
    for place, function in enumerate(functions):
        expect(results, f"out{place}", [function(*pair) for pair in zip(i.tolist(), j.tolist())])


SYMBOLS = ["+", "-", "*", "/", "//", "%", "&", "|", "^", "<<", ">>"]
SYMBOLS += ["<", "<=", ">", ">=", "==", "!="]


@pytest.mark.parametrize("pair", list(itertools.permutations(TYPES, 2)), ids=" and ".join)
def test_integers_of_two_types_are_refused_with_what_to_write(pair: tuple[str, str]) -> None:
    for symbol in SYMBOLS:
        with pytest.raises(HawkError, match="H204") as error:
            of_text(f"i {symbol} j", ("Index",), *pair).trace(F64)
        fix = error.value.fix
        assert re.fullmatch(rf"(hawk\.\w+\([ij]\)|[ij]) {re.escape(symbol)} .*", fix)
        of_text(f"float({fix})", ("Scalar",), *pair).trace(F64)


def test_a_literal_takes_the_type_it_meets_or_says_that_it_does_not_fit() -> None:
    for text in ("i + 7", "7 - i", "i // 3", "i & 1", "i < 5", "i << 40", "min(i, 3)"):
        of_text(f"float({text})", ("Scalar",), "Int32").trace(F64)
    for text in ("i + 2**31", "i == 2**40", "i % 10**10"):
        with pytest.raises(HawkError, match="H203"):
            of_text(f"float({text})", ("Scalar",), "Int32").trace(F64)


# --- powers --------------------------------------------------------------------------------------


def squared_repeatedly(x: float, n: int, fit: Callable[[float], float]) -> float:
    """The order that the language states: from the lowest bit of n."""
    result, left = None, abs(n)
    while left:
        if left & 1:
            result = x if result is None else fit(result * x)
        x, left = fit(x * x), left >> 1
    result = 1.0 if result is None else result
    if n >= 0:
        return result
    return fit(1 / result) if result else math.copysign(INF, result)


@widths
@pytest.mark.parametrize("n", [*range(-4, 8), 15, 16, 33, 63, 64, -64])
def test_a_power_is_repeated_squaring(real: DType, n: int) -> None:
    @hawk.kernel
    def power(x: Scalar) -> tuple[Scalar, Scalar]:
        return x**n, pow(x, n)

    fit = round_f32 if real is F32 else float
    x = np.array([1.5, -1.5, 0.1, -3.0, 0.0, -0.0, INF, NAN], real.numpy)
    wanted = [squared_repeatedly(each, n, fit) for each in x.tolist()]
    results = every_way(power, real, x=x)
    expect(results, "out0", wanted, x)
    expect(results, "out1", wanted, x)


@pytest.mark.parametrize("real", [F64, F32])
def test_other_powers_are_those_of_hawk_math(real: DType) -> None:
    @hawk.kernel
    def power(x: Scalar, i: Index) -> tuple[Scalar, Scalar, Scalar, Scalar, Scalar, Scalar]:
        return x**0.5, x**x, 2.0**x, x**i, x**65, i**2.0

    x = np.array([1.5, -1.5, 0.1, 3.0, 0.0, -0.0, INF, NAN], real.numpy)
    i = np.arange(-3, 5)
    results = every_way(power, real, x=x, i=i)
    given = list(x) if real is F32 else x.tolist()
    two, half, many = (np.float32(c) if real is F32 else c for c in (2.0, 0.5, 65.0))
    whole = [np.float32(k) if real is F32 else float(k) for k in i]
    pow_ = hawk.math.pow
    expect(results, "out0", [pow_(each, half) for each in given], x)
    expect(results, "out1", [pow_(each, each) for each in given], x)
    expect(results, "out2", [pow_(two, each) for each in given], x)
    expect(results, "out3", [pow_(each, k) for each, k in zip(given, whole, strict=True)], x)
    expect(results, "out4", [pow_(each, many) for each in given], x)
    expect(results, "out5", [float(k * k) for k in i], i)


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("2 ** i", "1 << i, where i is from 0 to 62"),
        ("i ** i", "float(i) ** i"),
        ("i ** 65", "float(i) ** 65"),
    ],
)
def test_a_power_of_integers_that_is_not_known_has_no_type(text: str, fix: str) -> None:
    with pytest.raises(HawkError, match="H203") as error:
        of_text(text).trace(F64)
    assert fix == error.value.fix


# --- sums, the least and the greatest ------------------------------------------------------------


@hawk.kernel
def sums(x: Scalar, y: Scalar) -> tuple[Scalar, Scalar, Scalar, Scalar, Index]:
    return (
        sum((x, y, 0.1)), sum([x, y], 0.5), sum((0.1,) * 10) + 0.0 * x,
        sum(x * k for k in range(3)), sum(range(4)) + sum((1, 2)),
    )  # fmt: skip


def test_a_sum_is_one_addition_after_the_other_on_every_python() -> None:
    x, y = np.array([0.1, 1e100, -0.3]), np.array([0.2, 1.0, 0.1])
    results = every_way(sums, x=x, y=y)
    expect(results, "out0", ((0 + x) + y) + 0.1)
    expect(results, "out1", (0.5 + x) + y)
    expect(results, "out2", [0.9999999999999999] * 3)
    expect(results, "out3", (0 + x * 0) + x + x * 2)
    expect(results, "out4", [9] * 3)


@hawk.kernel
def extremes(
    x: Scalar, y: Scalar, i: Index, j: Index
) -> tuple[Scalar, Scalar, Scalar, Scalar, Index, Index]:
    return (
        min(x, y), max(x, y), min(x, 1, y, -0.0), max((y, x, 0.0)), min([i, j, 3]), max(j, i, -1),
    )  # fmt: skip


@widths
def test_the_least_and_the_greatest_compare_as_cpython_does(real: DType) -> None:
    x, y = crossed(real)
    i, j = np.arange(len(x)) % 7 - 3, np.arange(len(x)) % 5
    results = every_way(extremes, real, x=x, y=y, i=i, j=j)
    for place, function in enumerate(
        (
            lambda x, y, i, j: min(x, y),
            lambda x, y, i, j: max(x, y),
            lambda x, y, i, j: min(x, 1, y, -0.0),
            lambda x, y, i, j: max((y, x, 0.0)),
            lambda x, y, i, j: min([i, j, 3]),
            lambda x, y, i, j: max(j, i, -1),
        )
    ):
        rows = zip(x.tolist(), y.tolist(), i.tolist(), j.tolist(), strict=True)
        expect(results, f"out{place}", [function(*row) for row in rows], x, y)


# --- kernels from a text -------------------------------------------------------------------------


def of_text(
    text: str, returns: tuple[str, ...] = ("Scalar",), i: str = "Index", j: str = ""
) -> Any:
    """A kernel that returns the expression; `i` and `j` are integers of these types."""
    import linecache

    gives = returns[0] if len(returns) == 1 else f"tuple[{', '.join(returns)}]"
    body = f"""
def step(x: Scalar, i: {i}, j: {j or i}) -> {gives}:
    return {text}
"""
    file = f"<numbers {text} {returns} {i} {j}>"
    linecache.cache[file] = (len(body), None, body.splitlines(keepends=True), file)
    names = {
        "Bool": Bool, "Index": Index, "Int32": Int32, "Scalar": Scalar, "UInt32": UInt32,
        "hawk": hawk, "math": math, "np": np,
    }  # fmt: skip
    exec(compile(body, file, "exec"), names)
    return hawk.kernel(contract=False)(names["step"])


def test_run_python_and_interpret_agree_on_known_and_unknown_operands() -> None:
    for text in ("7 % x", "7.5 // x", "x % 7", "i % 2.5", "2 ** 3 % x", "divmod(i, x)[1]"):
        kernel = of_text(text)
        x, i = np.array([0.7, -3.0, INF]), np.array([5, -5, 0])
        planes = {"x": x, "i": i, "j": i}
        assert same_bits(interpret(kernel, **planes)["out"], run_python(kernel, **planes)["out"])


@hawk.kernel
def powers(x: Scalar, y: Scalar, k: Index) -> tuple[Scalar, Scalar, Scalar, Scalar]:
    total = 0.0
    for j in range(4):
        total += x**j
    return x**y, x**k, total, x**3


def test_a_power_that_is_computed_is_one_whatever_it_turns_out_to_be() -> None:
    x = np.random.default_rng(1).uniform(0.1, 5.0, 40)
    ends = every_way(powers, x=x, y=np.full(40, 3.0), k=np.full(40, 3))
    assert same_bits(ends["out0"], ends["out1"])
    assert not same_bits(ends["out0"], ends["out3"])  # which is a product, rounded twice
