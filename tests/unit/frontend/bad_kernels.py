"""Kernels that hawk refuses, one for each message; `tests/golden/errors.txt` holds the messages."""

# ruff: noqa: F401, PTH123
# pyright: reportUnusedImport=false, reportGeneralTypeIssues=false, reportUnboundVariable=false
# pyright: reportOptionalOperand=false

import math

import numpy as np

from hawk import Bool, Index, Int32, Mutable, Scalar, Terminated, UInt32

TABLE = np.array([1.0, 2.0, 3.0])
BIG = tuple(float(i) for i in range(2000))
NAMES = {"a": 1.0}


# --- text and structure ---


def try_statement(x: Scalar) -> Scalar:
    try:
        return 1 / x
    except ZeroDivisionError:
        return 0.0


def with_statement(x: Scalar) -> Scalar:
    with open("f") as f:
        return x


def yields(x: Scalar) -> Scalar:
    yield x


def deletes(x: Scalar) -> Scalar:
    y = x
    del y
    return x


def global_write(x: Scalar) -> Scalar:
    global TABLE
    TABLE = x
    return x


def imports(x: Scalar) -> Scalar:
    import cmath

    return x


def has_no_annotation(x, y: Scalar) -> Scalar:
    return x + y


def plain_float(x: float) -> Scalar:
    return x


def bare_mutable(x: Mutable):
    x = x + 1.0


def strange_annotation(x: str) -> Scalar:
    return 1.0


def unknown_annotation(x: "Scaler") -> Scalar:
    return 1.0


def any_number_of_arguments(*xs: Scalar) -> Scalar:
    return xs[0]


def takes_a_name_of_ours(out: Scalar) -> Scalar:
    return out


def two_masks(first: Terminated, second: Terminated, x: Mutable[Scalar]):
    first = x > 1


def returns_without_saying(x: Scalar):
    return x


def says_without_returning(x: Scalar) -> Scalar:
    y = x


def returns_too_few(x: Scalar) -> tuple[Scalar, Scalar]:
    return (x,)


def returns_too_many(x: Scalar) -> Scalar:
    return x, x


def falls_off_the_end(x: Scalar) -> Scalar:
    if x > 0:
        return x


# --- types and values ---


def int32_and_index(k: Int32) -> Index:
    s = 0
    for i in range(3):
        s = k + i
    return s


def int32_and_uint32(k: Int32, u: UInt32) -> Int32:
    return k * u


def float_into_index(x: Scalar) -> Index:
    return x


def float_into_mutable(x: Scalar, k: Mutable[Int32]):
    k = x * 2


def number_into_mask(x: Mutable[Scalar], stop: Terminated):
    stop = x - 1.0


def too_big_for_int32(k: Int32) -> Int32:
    return k + 3_000_000_000


def negative_for_uint32(u: UInt32) -> UInt32:
    return u - (-1)


def two_types(x: Scalar, i: Index) -> Scalar:
    if x > 0:
        y = i
    else:
        y = x
    return y * 2


def function_or_number(x: Scalar) -> Scalar:
    if x > 0:
        y = math.sqrt
    else:
        y = x
    return y


def changes_type_in_loop(x: Scalar, i: Index) -> Scalar:
    s = i
    for _ in range(3):
        s = s * x
    return s


def float_bits(x: Scalar) -> Scalar:
    return x & 1


def not_a_bool(x: Scalar) -> Bool:
    return not ~(x > 0)


def float_floor_division(x: Scalar) -> Scalar:
    return x // 2.0


def float_remainder(x: Scalar) -> Scalar:
    return x % 2.0


def root_by_power(x: Scalar) -> Scalar:
    return x**0.5


def float_power(x: Scalar) -> Scalar:
    return x**3.0


def power_of_traced(x: Scalar, i: Index) -> Scalar:
    return x**i


def and_of_numbers(x: Scalar, i: Index) -> Bool:
    return x > 0 and i


def text_and_number(x: Scalar) -> Scalar:
    return x + "1"


def none_and_number(x: Scalar) -> Scalar:
    y = None
    return x + y


def division_by_known_zero(x: Scalar) -> Scalar:
    return x + 1 / 0


def range_of_floats(x: Scalar) -> Scalar:
    s = 0.0
    for i in range(x):
        s += x
    return s


def unpacks_wrong(x: Scalar) -> Scalar:
    a, b = x, x, x
    return a


def unpacks_number(x: Scalar) -> Scalar:
    a, b = x
    return a


# --- names and calls ---


def unknown_name(omega: Scalar) -> Scalar:
    return omga * 2


def unknown_attribute(x: Scalar) -> Scalar:
    return math.sqr(x)


def bound_on_one_path(x: Scalar) -> Scalar:
    if x > 0:
        y = x
    return y


def read_before_bound(x: Scalar) -> Scalar:
    z = y + x
    y = z
    return y


def bound_in_a_loop(x: Scalar, m: Index) -> Scalar:
    for i in range(m):
        y = x * i
    return y


def not_there_yet(x: Scalar) -> Scalar:
    return math.exp(x)


def without_meaning(x: Scalar) -> Scalar:
    return math.comb(x, 2)


def near_miss(x: Scalar) -> Scalar:
    return np.sort(x)


def calls_a_number(x: Scalar) -> Scalar:
    return x(1)


def helper(x, scale=1.0):
    return x * scale


def too_many_arguments(x: Scalar) -> Scalar:
    return helper(x, 1.0, 2.0)


def wrong_keyword(x: Scalar) -> Scalar:
    return helper(x, scle=2.0)


def missing_argument(x: Scalar) -> Scalar:
    return helper(scale=2.0)


def outer_helper(x, k):
    return inner_helper(x, k)


def inner_helper(x, k):
    return x + k % x


def deep_in_helpers(x: Scalar, k: Index) -> Scalar:
    y = x * 2
    return outer_helper(y, k)


def one_path_helper(x):
    if x > 0:
        return x


def helper_returns_on_one_path(x: Scalar) -> Scalar:
    return one_path_helper(x) + 1


def captured_array(x: Scalar) -> Scalar:
    return x * TABLE[0]


def attribute_of_number(x: Scalar) -> Scalar:
    return x.real


def assigns_attribute(x: Scalar) -> Scalar:
    math.value = x
    return x


def open_call(x: Scalar) -> Scalar:
    return open(x)


# --- limits ---


def countdown(x):
    return countdown(x - 1)


def endless_recursion(x: Scalar) -> Scalar:
    return countdown(x)


def endless_loop(x: Scalar) -> Scalar:
    while True:
        x = x + 1
    return x


def unrolls_too_far(x: Scalar) -> Scalar:
    s = x
    for i in range(2000):
        s = s * BIG[i]
    return s


def run_time_index(x: Scalar, i: Index) -> Scalar:
    return x * BIG[i]


def loops_over_number(x: Scalar) -> Scalar:
    for y in x:
        x = y
    return x


def comprehension_filter(x: Scalar) -> Scalar:
    return sum([y for y in (x, 2 * x) if y > 0])
