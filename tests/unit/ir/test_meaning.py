"""The meaning of each operation: exact, and NumPy's where NumPy defines it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hawk.ir.meaning import RANGE, represent, same
from hawk.ir.nodes import Number
from hawk.ir.ops import OPS, result_type
from hawk.ir.types import DType
from tests.unit.ir.programs import FLOATS, OF_TABLES, accepted, number

INF, NAN = math.inf, math.nan
F32, F64 = DType.F32, DType.F64
SEEDS = st.integers(0, 2**32)


def apply(op: str, dtype: DType, *numbers: Number) -> Number:
    return OPS[op].meaning(dtype, *numbers)


# --- fma -----------------------------------------------------------------------------------------


def rounded(exact: Fraction, dtype: DType) -> float:
    """The float of a type next to a fraction that is not 0, ties to even, by the definition."""
    digits, least, greatest = (24, -149, 128) if dtype is F32 else (53, -1074, 1024)
    size = abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2) ** exponent  # 2**exponent <= size < 2 * 2**exponent
    unit = Fraction(2) ** max(exponent - digits + 1, least)
    result = round(size / unit) * unit  # Python rounds a fraction to even
    size_float = INF if result >= Fraction(2) ** greatest else float(result)
    return size_float if exact > 0 else -size_float


def fma_by_definition(dtype: DType, a: float, b: float, c: float) -> float:
    if not all(map(math.isfinite, (a, b, c))):
        if math.isfinite(a) and math.isfinite(b):
            return c
        return a * b + c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact:
        return rounded(exact, dtype)
    product_is_negative = math.copysign(1, a) * math.copysign(1, b) < 0
    if product_is_negative and math.copysign(1, c) < 0 and 0 in (a, b):
        return -0.0
    return 0.0


@pytest.mark.parametrize("dtype", [F32, F64])
@given(SEEDS)
def test_fma_is_the_exact_sum_rounded_once(dtype: DType, seed: int) -> None:
    rng = Random(seed)
    a, b, c = (number(rng, dtype) for _ in range(3))

    assert same(fma_by_definition(dtype, a, b, c), apply("fma", dtype, a, b, c)), (a, b, c)


@pytest.mark.parametrize("dtype", [F32, F64])
@given(SEEDS)
def test_fma_is_exact_where_product_and_addend_nearly_cancel_or_nearly_tie(
    dtype: DType, seed: int
) -> None:
    rng = Random(seed)
    a, b = (represent(dtype, math.ldexp(rng.uniform(-2, 2), rng.randint(-80, 60))) for _ in "ab")
    away = rng.choice([0, 1, 24, 25, 48, 53, 54, 106])
    c = represent(dtype, -a * b * rng.choice([1, 1 + 2.0**-52, 0.5, 2.0**away, 2.0**-away]))

    assert same(fma_by_definition(dtype, a, b, c), apply("fma", dtype, a, b, c)), (a, b, c)


@pytest.mark.parametrize("dtype", [F32, F64])
def test_fma_of_all_special_numbers(dtype: DType) -> None:
    ends = (1.401298464324817e-45, 3.4028234663852886e38)
    if dtype is F64:
        ends = (5e-324, 1.7976931348623157e308)
    special = [sign * x for x in (0.0, 1.0, 0.5, INF, NAN, *ends) for sign in (1, -1)]
    for a, b, c in itertools.product(special, repeat=3):
        due = fma_by_definition(dtype, a, b, c)
        assert same(due, apply("fma", dtype, a, b, c)), (a, b, c)


# --- against NumPy -------------------------------------------------------------------------------

NUMPY: dict[str, Callable] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "neg": np.negative,
    "abs": np.abs,
    "div": np.divide,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "fmod": np.fmod,
    "sqrt": np.sqrt,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "rint": np.rint,
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "not": np.invert,
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
"""NumPy's functions that agree with us on every number of every type that we accept."""


@pytest.mark.parametrize("op", NUMPY)
@given(SEEDS)
def test_an_operation_is_numpys(op: str, seed: int) -> None:
    rng = Random(seed)
    for types in accepted(OPS[op]):
        numbers = [number(rng, dtype) for dtype in types]
        scalars = [np.array(n, dtype=t.numpy) for n, t in zip(numbers, types, strict=True)]
        with np.errstate(all="ignore"):
            due = NUMPY[op](*scalars).item()

        assert same(due, apply(op, types[-1], *numbers)), (op, types, numbers)


@given(SEEDS)
def test_a_conversion_that_fits_is_numpys(seed: int) -> None:
    rng = Random(seed)
    for source in DType:
        for target in DType:
            n = number(rng, source)
            if source.is_float and target.is_int:
                continue  # NumPy leaves these undefined: see below
            with np.errstate(all="ignore"):
                due = np.array(n, dtype=source.numpy).astype(target.numpy).item()

            assert same(due, apply(f"to_{target.value}", source, n)), (source, target, n)


# --- our own rules -------------------------------------------------------------------------------


@pytest.mark.parametrize("target", RANGE)
@pytest.mark.parametrize("source", [F32, F64])
def test_float_to_int_truncates_and_saturates_and_nan_gives_0(source: DType, target: DType) -> None:
    least, greatest = RANGE[target]
    cases = {2.75: 2, -0.75: 0, NAN: 0, INF: greatest, -INF: least, 1e30: greatest, -1e30: least}
    cases |= {float(greatest + 1): greatest, float(least): least, -2.5: max(-2, least)}
    for x, due in cases.items():
        assert due == apply(f"to_{target.value}", source, represent(source, x)), x


@pytest.mark.parametrize(
    "n", [2**24 + 1, 2**53 + 2**29 + 1, 2**62 + 2**38 + 1, 2**63 - 1, 2**54 + 2**30 + 1]
)
def test_int_to_f32_rounds_once(n: int) -> None:
    for sign in (1, -1):
        due = rounded(Fraction(sign * n), F32)
        assert due == apply("to_f32", DType.I64, sign * n)
        assert due == represent(F32, sign * n)


def test_a_number_too_large_for_a_float_is_infinite() -> None:
    assert [INF, -INF] == [represent(F64, 10**400), represent(F32, -(10**400))]
    assert INF == represent(F32, 1e39)


def test_an_integer_is_not_made_of_a_fraction() -> None:
    with pytest.raises(TypeError):
        represent(DType.I32, 2.5)


@pytest.mark.parametrize("dtype", RANGE)
def test_division_of_integers_never_fails(dtype: DType) -> None:
    least, _ = RANGE[dtype]
    assert [0, 0] == [apply(op, dtype, 7, 0) for op in ("floordiv", "mod")]
    if least:
        assert [least, 0] == [apply(op, dtype, least, -1) for op in ("floordiv", "mod")]
        assert [-4, 1] == [apply(op, dtype, -7, 2) for op in ("floordiv", "mod")]
        assert [-3, -1] == [apply("quot", dtype, -7, 2), apply("mod", dtype, 7, -2)]


@given(SEEDS)
def test_division_of_floats_is_cpythons(seed: int) -> None:
    rng = Random(seed)
    for _ in range(10):
        a, b = number(rng, F64), number(rng, F64)
        if b != 0:
            assert same(a // b, apply("floordiv", F64, a, b)), (a, b)
            assert same(a % b, apply("mod", F64, a, b)), (a, b)


def test_popcount_counts_the_bits_of_a_negative_number_as_it_is_held() -> None:
    cases = {
        (DType.I32, -1): 32,
        (DType.I64, -1): 64,
        (DType.U32, 2**32 - 1): 32,
        (DType.I64, 5): 2,
    }
    for (dtype, n), due in cases.items():
        assert due == apply("popcount", dtype, n)
    assert apply("popcount", DType.I64, -(2**63)) == 1


@pytest.mark.parametrize("dtype", RANGE)
def test_a_shift_outside_the_width_gives_0(dtype: DType) -> None:
    least, greatest = RANGE[dtype]
    for n in {dtype.bits, greatest, least} - {0}:
        assert [0, 0] == [apply(op, dtype, greatest, n) for op in ("shl", "shr")]
        assert [0, 0] == [apply(op, dtype, least, n) for op in ("shl", "shr")]
    assert apply("shl", dtype, 3, dtype.bits - 1) == (least or 2**31)
    assert apply("shr", dtype, greatest, 1) == greatest // 2


def test_min_and_max_are_cpythons() -> None:
    for a in FLOATS:
        for b in FLOATS:
            assert same(min(a, b), apply("min", F64, a, b)), (a, b)
            assert same(max(a, b), apply("max", F64, a, b)), (a, b)


def test_minimum_and_maximum_ignore_nan_and_order_the_zeros() -> None:
    for a, b in [(0.0, -0.0), (-0.0, 0.0)]:
        assert same(-0.0, apply("minimum", F64, a, b))
        assert same(0.0, apply("maximum", F64, a, b))
    for op in ("minimum", "maximum"):
        assert [1.0, 1.0] == [apply(op, F64, 1.0, NAN), apply(op, F64, NAN, 1.0)]
        assert math.isnan(apply(op, F64, NAN, NAN))


def test_the_sign_of_a_nan_counts_as_plus() -> None:
    assert [2.0, 2.0] == [apply("copysign", F64, -2.0, math.copysign(NAN, s)) for s in (1, -1)]
    assert same(-0.0, apply("copysign", F64, 0.0, -0.0))


@given(SEEDS)
def test_a_meaning_gives_a_number_of_the_results_type_and_never_raises(seed: int) -> None:
    rng = Random(seed)
    for row in OPS.values():
        if row.name in OF_TABLES:
            continue
        for types in accepted(row):
            numbers = [number(rng, dtype) for dtype in types]
            result = row.meaning(types[-1], *numbers)
            gives = result_type(row.name, types)
            assert type(result) is type(represent(gives, 0)), (row.name, numbers)
            assert same(result, represent(gives, result)), (row.name, numbers)
