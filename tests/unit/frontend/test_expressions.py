"""Expressions: operators on every type, contraction, conversions, names of libraries."""

import math

import numpy as np
import pytest

import hawk
from hawk import Bool, HawkError, Index, Int32, Param, Scalar, UInt32
from hawk.frontend.names import RECIPES
from hawk.ir import meaning
from hawk.ir.nodes import Apply, walk
from hawk.ir.types import DType
from tests.unit.frontend.agreement import agree, agree_with_plain_python, same_bits

X = np.array([-2.5, -1.0, -0.0, 0.0, 0.3, 1.0, 7.75, 1e300])
N = np.array([-7, -2, -1, 0, 1, 2, 3, 62])
COEFFICIENTS = (0.5, -1.25, 3.0)


def operations(kernel, real=DType.F64):
    return [each.op for each in walk(kernel.trace(real).step) if isinstance(each, Apply)]


# --- contraction ---


CONTRACTIONS = {
    "a * b + c": ["fma"],
    "c + a * b": ["fma"],
    "a * b - c": ["neg", "fma"],
    "c - a * b": ["neg", "fma"],
    "(a * b) + c": ["fma"],
    "a * b + c * d": ["mul", "fma"],
    "a * b - c * d": ["mul", "neg", "fma"],
    "a * b + c * d + a * d": ["mul", "fma", "fma"],
    "a + b * c + d": ["fma", "add"],
    "-(a * b) + c": ["mul", "neg", "add"],
    "-a * b + c": ["neg", "fma"],
    "a * b * c + d": ["mul", "fma"],
    "a ** 2 + c": ["mul", "add"],
    "2.0 * a + 1.0": ["fma"],
    "2 * a + 1": ["fma"],
    "(p := a * b) + c": ["mul", "add"],
    "abs(a * b) + c": ["mul", "abs", "add"],
    "(a * b if a > b else c) + d": ["gt", "mul", "add"],
    "i * i + a": ["mul", "to_f64", "add"],
    "i * a + b": ["to_f64", "fma"],
    "i * i + i": ["mul", "add", "to_f64"],
    "(a > b) * c + d": ["gt", "to_f64", "fma"],
    "f * f + a": ["to_f32", "mul", "to_f64", "add"],
}


def of_text(text: str, contract: bool = True):
    import linecache

    body = f"""
def step(a: Scalar, b: Scalar, c: Scalar, d: Scalar, i: Index) -> Scalar:
    return {text}
"""
    body = body.replace("f * f", "(f := hawk.float32(a)) * f")
    file = f"<expression {text}>"
    linecache.cache[file] = (len(body), None, body.splitlines(keepends=True), file)
    names = {"Scalar": Scalar, "Index": Index, "hawk": hawk}
    exec(compile(body, file, "exec"), names)
    return hawk.kernel(contract=contract)(names["step"])


@pytest.mark.parametrize("text", CONTRACTIONS)
def test_a_product_directly_in_a_sum_is_one_rounding(text: str) -> None:
    kernel = of_text(text)
    assert CONTRACTIONS[text] == operations(kernel)
    agree(kernel, X, X[::-1] * 1.1, X * 0.7, X + 0.1, N)


def test_contraction_can_be_turned_off() -> None:
    for text in CONTRACTIONS:
        kernel = of_text(text, contract=False)
        assert "fma" not in operations(kernel)
        agree(kernel, X, X[::-1] * 1.1, X * 0.7, X + 0.1, N)


def test_an_assignment_a_call_and_a_return_end_an_expression() -> None:
    def product(x, y):
        return x * y

    @hawk.kernel
    def named(x: Scalar, y: Scalar) -> Scalar:
        p = x * y
        return p + product(x, y)

    assert operations(named) == ["mul", "mul", "add"]
    agree(named, X, X[::-1])


def test_augmented_assignment_contracts_too() -> None:
    @hawk.kernel
    def added(x: Scalar, y: Scalar, z: Scalar) -> Scalar:
        z += x * y
        z -= y * x
        parts = [z, x]
        parts[0] += x * 3
        z = parts[0]
        z *= x * y + 1
        return z

    assert operations(added) == ["fma", "neg", "fma", "fma", "fma", "mul"]
    agree(added, X, X[::-1], X + 0.1)


def test_the_sign_of_a_contracted_zero_is_that_of_the_formula() -> None:
    @hawk.kernel
    def signs(x: Scalar, y: Scalar) -> tuple[Scalar, Scalar]:
        return y - x * y, x * y - y

    zero, one = np.array([0.0, -0.0]), np.array([1.0, 1.0])
    result = agree(signs, one, zero)
    expected = [meaning.fma(DType.F64, -1.0, y, y) for y in zero.tolist()]
    assert same_bits(result["out0"], np.array(expected))


# --- numbers ---


@hawk.kernel
def integers(i: Index, j: Index) -> tuple[Index, Index, Index, Index, Index, Index, Index]:
    return i + j, i - j, i * j, i // j, i % j, -i, abs(i)


def test_integers_floor_wrap_and_survive_zero() -> None:
    least, most = -(2**63), 2**63 - 1
    i, j = np.array([7, -7, 7, 5, least, most]), np.array([2, 2, -2, 0, -1, 2])
    result = agree(integers, i, j)
    assert result["out3"].tolist() == [3, -4, -4, 0, least, 2**62 - 1]
    assert result["out4"].tolist() == [1, 1, -1, 0, 0, 1]
    assert result["out2"].tolist()[-1] == -2
    assert result["out5"].tolist()[4] == least


@hawk.kernel
def bits(i: Index, k: Int32, u: UInt32) -> tuple[Index, Index, Index, Index, Index, Int32, UInt32]:
    return i & 6, i | 1, i ^ 5, ~i, (i << 3) >> 1, k << 31, u >> 1


def test_bits_and_shifts() -> None:
    i = np.array([5, -3, 0])
    result = agree(bits, i, i.astype(np.int32), np.array([0, 1, 2**32 - 1], np.uint32))
    assert result["out0"].tolist() == [4, 4, 0]
    assert result["out3"].tolist() == [-6, 2, -1]
    assert result["out5"].tolist() == [-(2**31), -(2**31), 0]
    assert result["out6"].tolist() == [0, 0, 2**31 - 1]


@hawk.kernel
def shifts(i: Index, j: Index) -> tuple[Index, Index]:
    return i << j, i >> j


def test_a_shift_outside_the_width_gives_zero() -> None:
    result = agree(shifts, np.array([1, -1, 1, 1]), np.array([63, 63, 64, -1]))
    assert result["out0"].tolist() == [-(2**63), -(2**63), 0, 0]
    assert result["out1"].tolist() == [0, -1, 0, 0]


@hawk.kernel(contract=False)
def mixed(x: Scalar, i: Index) -> tuple[Scalar, Scalar, Scalar, Scalar, Bool]:
    return x / 3, i / 4, i * x + 1, 2 - i, i < x


def test_an_integer_that_meets_a_float_becomes_one() -> None:
    agree_with_plain_python(mixed, X, N)


@hawk.kernel(contract=False)
def bools(x: Scalar, b: Bool) -> tuple[Index, Scalar, Bool, Bool, Bool, Index, Index]:
    return b + 1, b * x, b & (x > 0), b | (x > 0), b ^ (x > 0), -b, b + b + True


def test_a_bool_that_is_computed_with_is_an_index() -> None:
    agree_with_plain_python(bools, X, X > 0.1)


@hawk.kernel
def powers(x: Scalar, i: Index) -> tuple[Scalar, Scalar, Scalar, Scalar, Scalar, Index, Scalar]:
    return x**0, x**1, x**2, x**5, x**-3, i**3, i**-2


def test_powers_are_repeated_squaring_in_the_stated_order() -> None:
    x, i = np.array([1.1, -0.3, 3.0]), np.array([2, -3, 1])
    result = agree(powers, x, i)
    assert result["out0"].tolist() == [1, 1, 1]
    assert result["out3"].tolist() == [v * ((v * v) * (v * v)) for v in x.tolist()]
    assert result["out4"].tolist() == [1 / (v * (v * v)) for v in x.tolist()]
    assert result["out5"].tolist() == [8, -27, 1]
    assert result["out6"].tolist() == [0.25, 1 / 9, 1]


@hawk.kernel
def widths(x: Scalar) -> tuple[Scalar, Scalar]:
    wide = hawk.float64(x) * 0.1
    narrow = hawk.float32(x) * hawk.float32(0.1)
    return hawk.real(wide + 1), hawk.real(narrow * 0.1)


def test_a_wider_intermediate_is_asked_for() -> None:
    x = np.array([0.1, 1 / 3], np.float32)
    result = agree(widths, x)
    assert result["out0"].tolist() == (x.astype(np.float64) * 0.1 + 1).astype(np.float32).tolist()
    agree(widths, x.astype(np.float64))


def test_a_wider_float_does_not_become_narrow_silently() -> None:
    @hawk.kernel
    def silent(x: Scalar) -> Scalar:
        return hawk.float64(x) * 2

    silent.trace(DType.F64)
    with pytest.raises(HawkError, match="H211") as error:
        silent.trace(DType.F32)
    assert "hawk.real(hawk.float64(x) * 2)" in str(error.value)


def test_a_number_of_a_float32_kernel_is_rounded_once() -> None:
    @hawk.kernel
    def tenth(x: Scalar) -> Scalar:
        return x + 0.1 + 16777217

    x = np.array([1.0], np.float32)
    expected = np.float32(np.float32(1.0) + np.float32(0.1)) + np.float32(16777216)
    assert agree(tenth, x)["out"][0] == expected


@hawk.kernel
def conversions(
    x: Scalar, k: Int32, u: UInt32, i: Index
) -> tuple[Index, Int32, UInt32, Scalar, Bool, Index, Int32, UInt32, Index]:
    return (
        int(x), hawk.int32(x), hawk.uint32(x), float(k), bool(x), hawk.index(u), hawk.int32(i),
        hawk.uint32(k), int(x > 0),
    )  # fmt: skip


def test_conversions_truncate_saturate_and_wrap() -> None:
    x = np.array([2.9, -2.9, 1e30, -1e30, math.nan, math.inf])
    k = np.array([1, -1, 2**31 - 1, -(2**31), 0, 5], np.int32)
    result = agree(conversions, x, k, k.astype(np.uint32), np.arange(6) + 2**32)
    assert result["out0"].tolist() == [2, -2, 2**63 - 1, -(2**63), 0, 2**63 - 1]
    assert result["out1"].tolist() == [2, -2, 2**31 - 1, -(2**31), 0, 2**31 - 1]
    assert result["out2"].tolist() == [2, 0, 2**32 - 1, 0, 0, 2**32 - 1]
    assert result["out4"].tolist() == [True] * 6
    assert result["out6"].tolist() == [0, 1, 2, 3, 4, 5]
    assert result["out7"].tolist()[1] == 2**32 - 1


# --- names ---


@hawk.kernel(contract=False)
def of_math(x: Scalar) -> tuple[Scalar, Index, Index, Index, Scalar, Scalar, Bool, Scalar, Index]:
    return (
        math.sqrt(abs(x)), math.floor(x), math.ceil(x), math.trunc(x), math.fabs(x),
        math.copysign(1.5, x), math.isnan(x), math.radians(x) + math.degrees(x) * math.pi, round(x),
    )  # fmt: skip


def test_names_of_math_mean_what_math_means() -> None:
    agree_with_plain_python(of_math, X[:-1])


@hawk.kernel(contract=False)
def of_builtins(
    x: Scalar, y: Scalar, i: Index
) -> tuple[Scalar, Scalar, Scalar, Index, Scalar, Index]:
    return min(x, y), max(x, y, 0.5), min((x, y, 2)), max(i, 3), abs(x), abs(i)


def test_min_and_max_compare_as_cpython_does() -> None:
    special = np.array([math.nan, 1.0, -0.0, 0.0, math.inf])
    x, y = (each.ravel() for each in np.meshgrid(special, special))
    agree_with_plain_python(of_builtins, x, y, np.arange(25) - 12)


@hawk.kernel
def of_numpy(
    x: Scalar, y: Scalar, b: Bool
) -> tuple[Scalar, Scalar, Scalar, Scalar, Scalar, Scalar, Scalar, Scalar, Bool, Scalar]:
    return (
        np.floor(x), np.ceil(x), np.trunc(x), np.rint(x), np.minimum(x, y), np.maximum(x, y),
        np.where(b, x, 0), np.clip(x, -1, 1), np.logical_and(b, x > y), np.square(x),
    )  # fmt: skip


def test_names_of_numpy_mean_what_numpy_means() -> None:
    special = np.array([math.nan, 1.5, -0.5, 2.5, math.inf])
    x, y = (each.ravel() for each in np.meshgrid(special, special))
    b = y > 0
    result = agree(of_numpy, x, y, b)
    expected = [
        np.floor(x), np.ceil(x), np.trunc(x), np.rint(x), np.minimum(x, y), np.maximum(x, y),
        np.where(b, x, 0), np.clip(x, -1, 1), np.logical_and(b, x > y), np.square(x),
    ]  # fmt: skip
    for name, wanted in zip(result, expected, strict=True):
        assert same_bits(result[name], wanted), name


def test_fmin_and_fmax_ignore_nan() -> None:
    @hawk.kernel
    def both(x: Scalar, y: Scalar) -> tuple[Scalar, Scalar]:
        return np.fmin(x, y), np.fmax(x, y)

    result = agree(both, np.array([math.nan, 1.0]), np.array([2.0, math.nan]))
    assert result["out0"].tolist() == result["out1"].tolist() == [2.0, 1.0]


def test_what_is_known_runs_as_python() -> None:
    @hawk.kernel
    def known(x: Scalar) -> Scalar:
        angle = math.radians(90)
        size = len(COEFFICIENTS) + sum(range(4)) + max(COEFFICIENTS) + int("7")
        return x * (math.sin(angle) + size)

    assert operations(known) == ["mul"]
    assert agree(known, X)["out"].tolist() == (X * (1 + 3 + 6 + 3.0 + 7)).tolist()


def test_every_recipe_names_a_function_that_exists() -> None:
    assert all(callable(each) for each in RECIPES)


def test_a_sum_of_a_thousand_terms_is_traced() -> None:
    terms = " + ".join(["a", "b * c"] * 500)
    kernel = of_text(terms)
    assert operations(kernel).count("fma") == 500
    agree(kernel, X, X[::-1], X * 0.5, X, N)


def test_nesting_too_deep_for_python_is_said_clearly() -> None:
    text = "-(" * 150 + "a" + ")" * 150
    of_text(text).trace(DType.F64)
    text = "a + (b * " * 90 + "a" + ")" * 90
    of_text(text).trace(DType.F64)


def test_values_keep_the_place_and_the_name_of_the_user() -> None:
    @hawk.kernel
    def placed(x: Scalar) -> Scalar:
        é, speed = x, x * x + 1  # noqa: PLC2401
        grüße = é + speed  # noqa: PLC2401
        return grüße

    add = placed.trace(DType.F64).step[-1].result
    line = placed.source.lines[add.loc.line - 1]
    assert line[add.loc.col : add.loc.end_col] == "é + speed"
    assert (add.name, add.loc.function) == ("grüße", "placed")


def test_a_param_is_a_scalar_of_the_launch() -> None:
    @hawk.kernel
    def scaled(x: Scalar, a: Param, k: Param[Int32] = 3) -> Scalar:
        return x * a + k

    assert agree(scaled, X, 2.0)["out"].tolist() == agree(scaled, X, 2.0, k=3)["out"].tolist()


@hawk.kernel(contract=False)
def views_of_a_dict(x: Scalar, y: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    weights = {"a": x, "b": y}
    weights["a"] = x - 1.0
    total = 0.0
    for key, value in weights.items():
        total += value * (2.0 if key == "a" else 3.0)
    first, second = weights.values()
    return total, first - second, sum(weights.values()) + len([key for key in weights.keys()])


def test_a_loop_runs_over_the_items_and_values_of_a_dict() -> None:
    agree_with_plain_python(views_of_a_dict, np.array([0.5, -2.0]), np.array([1.25, 7.0]))
