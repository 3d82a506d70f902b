"""Statements: assignment, choices, loops, returns, and what they do to names."""

import numpy as np
import pytest

import hawk
from hawk import Bool, HawkError, Index, Int32, Mutable, Param, Scalar, Terminated
from hawk.ir.nodes import If, Loop, walk
from hawk.ir.types import DType
from tests.unit.frontend.agreement import agree, agree_with_plain_python

X = np.array([-2.5, -1.0, -0.0, 0.0, 0.3, 1.0, 7.75])
N = np.array([-2, -1, 0, 1, 2, 3, 5])
PASSES = range(1, 4)
COEFFICIENTS = (0.5, -1.25, 3.0)


def statements(kernel, kind):
    return [each for each in walk(kernel.trace(DType.F64).step) if isinstance(each, kind)]


# --- assignment ---


@hawk.kernel
def swaps(x: Mutable[Scalar], v: Mutable[Scalar]):
    x, v = v, x


def test_a_swap_reads_both_old_values() -> None:
    result = agree(swaps, X, X * 2)
    assert result["x"].tolist() == (X * 2).tolist()
    assert result["v"].tolist() == X.tolist()


@hawk.kernel(contract=False)
def assignments(x: Scalar, y: Scalar) -> Scalar:
    (a, b), *rest = (x, y), x, 2
    c: float = a - b
    c += 1
    c *= 2
    c -= b
    c /= 3
    d = e = c
    if (f := d + e) > 1:
        c = f
    rest[0] += 1
    return c + rest[0] - rest[-1]


def test_every_form_of_assignment() -> None:
    agree_with_plain_python(assignments, X, X[::-1])


@hawk.kernel
def mutable_and_mask(x: Mutable[Scalar], limit: Param, stop: Terminated):
    if stop:
        x = -1000.0  # a step starts with False
    x += 1.0
    stop = x >= limit
    if not stop:
        x = x * 2


def test_the_mask_starts_a_step_as_false_and_its_last_value_counts() -> None:
    result = agree(mutable_and_mask, np.array([0.0, 3.0, 8.0]), 7.0, steps=10)
    assert result["x"].tolist() == [7.0, 9.0, 9.0]
    assert result["stop"].all()


def test_a_sample_done_on_entry_keeps_every_plane() -> None:
    x, stop = np.array([1.0, 2.0]), np.array([True, False])
    result = agree(mutable_and_mask, x, 100.0, stop=stop)
    assert result["x"].tolist() == [1.0, 6.0]
    assert x.tolist() == [1.0, 2.0]


# --- choices ---


@hawk.kernel(contract=False)
def ladder(x: Scalar) -> Scalar:
    if x < -1:
        y = 0
    elif x < 0:
        y = x
    elif x == 0:
        y = 0.5
        if x > 0:
            y = 2
    else:
        y = x - 1 if x > 1 else 3
    return y


def test_if_elif_else_choose_per_sample() -> None:
    agree_with_plain_python(ladder, X)


@hawk.kernel
def literals_meet(k: Int32, x: Scalar) -> tuple[Int32, Scalar]:
    k += 1 if x > 0 else -1
    y = 0
    if x > 1:
        y = x
    return k, y


def test_a_literal_takes_the_type_of_what_it_meets() -> None:
    result = agree(literals_meet, np.arange(7, dtype=np.int32), X)
    assert result["out0"].dtype == np.int32
    assert result["out0"].tolist() == [-1, 0, 1, 2, 5, 6, 7]
    assert result["out1"].tolist() == [0, 0, 0, 0, 0, 0, 7.75]


FAST = True


@hawk.kernel
def known_condition(x: Scalar) -> Scalar:
    if FAST:
        return x
    else:
        return undefined_and_never_looked_at  # noqa: F821


def test_a_known_condition_is_pruned() -> None:
    assert not statements(known_condition, If)
    assert agree(known_condition, X)["out"].tolist() == X.tolist()


@hawk.kernel
def different_objects(x: Scalar, b: Bool) -> Scalar:
    scale, name = 2.0, "two"
    if b:
        x = -x
    if name == "two":
        x = x * scale
    return x


def test_known_objects_that_no_path_changes_stay_known() -> None:
    assert agree(different_objects, X, X > 0)["out"].tolist() == [-5, -2, 0, 0, -0.6, -2, -15.5]


@hawk.kernel(contract=False)
def truths(x: Scalar, m: Index) -> Scalar:
    y = 0.0
    if x:
        y += 1
    if not m:
        y += 2
    if x > 0 and m > 0 or x < -1:
        y += 4
    if not (0 < x < 5) and m != 1:
        y += 8
    if m in (1, 2) or m not in (0, 1, 2, 3):
        y += 16
    if x is None or FAST is not True:
        y += 32
    return y


def test_truth_and_comparisons_are_those_of_python() -> None:
    agree_with_plain_python(truths, X, N)


@hawk.kernel(contract=False)
def matching(m: Index, x: Scalar) -> Scalar:
    match m:
        case 0:
            y = x
        case 1 | 2:
            y = -x
        case 3 if x > 5:
            y = 100.0
        case other if other < 0:
            y = x - other
        case _:
            return 7
    match (x, "mode"):
        case (z, "mode"):
            y = y + z
    return y


def test_match_takes_the_first_case_that_fits() -> None:
    agree_with_plain_python(matching, N, X)


# --- loops ---


@hawk.kernel
def known_loop(x: Scalar) -> Scalar:
    s = 0
    for i in range(10):
        s += x * i
    return s


@hawk.kernel
def unrolled_loop(x: Scalar) -> Scalar:
    s = 0
    for i in range(10):
        s += x * i
        COEFFICIENTS[i % 3]
    return s


def test_a_loop_has_the_same_bits_whether_it_is_unrolled_or_not() -> None:
    assert statements(known_loop, Loop)
    assert not statements(unrolled_loop, Loop)
    a, b = agree(known_loop, X), agree(unrolled_loop, X)
    assert a["out"].tobytes() == b["out"].tobytes()
    x = X.astype(np.float32)
    assert agree(known_loop, x)["out"].tobytes() == agree(unrolled_loop, x)["out"].tobytes()


@hawk.kernel
def indexed(x: Scalar) -> Scalar:
    s = 0.0
    for i in range(3):
        s = s * x + COEFFICIENTS[i]
        if i == 1:
            s = s + COEFFICIENTS[i + 1]
    return s


def test_a_loop_is_unrolled_when_the_body_needs_its_variable() -> None:
    assert not statements(indexed, If)
    expected = [((0.5 * x - 1.25) + 3.0) * x + 3.0 for x in X]
    assert agree(indexed, X)["out"].tolist() == pytest.approx(expected)


@hawk.kernel(contract=False)
def loops(x: Scalar, m: Index) -> tuple[Scalar, Index]:
    s = 0.0
    last = -1
    for i in range(m):
        if i == 3:
            break
        if s > 10:
            continue
        s += x + i
        last = i
    else:
        s += 100
    for i in range(m, 0, -2):
        s += i
    k = 0
    while k < m:
        k += 1
        if k * x > 5:
            break
    else:
        k = -k
    while (half := k // 2) > 0:
        k = half
    return s, last * 1000 + k


def test_break_continue_and_else_are_those_of_python() -> None:
    agree_with_plain_python(loops, X, N)


@hawk.kernel(contract=False)
def after_loops(x: Scalar, m: Index) -> tuple[Scalar, Index]:
    for i in range(4):
        y = x * i
        if y > 3:
            break
    total = i
    for j in (5, 6, 7):
        total += j
    for q in range(2, 9, 3):
        pass
    i = 100
    for i in range(m):
        i = i * 2
    return y, total + j + q + i


def test_names_bound_in_a_loop_hold_their_last_values_after_it() -> None:
    agree_with_plain_python(after_loops, X, N)


@hawk.kernel(contract=False)
def found_or_not(m: Index) -> Index:
    for i in range(6):
        if i * i == m:
            found = i
            break
    else:
        found = -1
    return found


def test_a_name_bound_before_break_and_in_else_is_bound() -> None:
    agree_with_plain_python(found_or_not, np.array([0, 1, 2, 4, 16, 25, 36]))


@hawk.kernel(contract=False)
def counted_in_the_test(m: Index) -> tuple[Index, Index]:
    n, total = 4, m
    while (n := n - 1) > 0:
        if total == 5:
            break
        total += n
    else:
        total = -total
    for _ in range(2):
        while (n := n + 1) < m:
            total += 1
        else:
            if total > 8:
                break
            continue
        total += 100
    return total, n


def test_a_name_bound_in_the_test_of_a_loop_with_else_is_carried() -> None:
    agree_with_plain_python(counted_in_the_test, np.array([-7, -1, 0, 2, 5, 6, 9]))


@hawk.kernel(contract=False)
def read_in_else(x: Scalar) -> Scalar:
    total = 0.0
    for i in range(3):
        last = x * i
        if last > 4:
            break
    else:
        total = last
    return total


def test_the_else_of_a_loop_reads_what_the_last_pass_bound() -> None:
    agree_with_plain_python(read_in_else, X)


def first_pass(x, m):
    for i in range(m):
        x = x * 2 + i
        while True:
            if x > 0:
                return x
            x += 1.5
    else:
        x = x - 1
    return x


@hawk.kernel(contract=False)
def returns_from_the_first_pass(x: Scalar, m: Index) -> Scalar:
    return first_pass(x, m)


def test_a_loop_whose_passes_all_return_leaves_names_as_they_were() -> None:
    agree_with_plain_python(returns_from_the_first_pass, X, N)


@hawk.kernel(contract=False)
def augmented_after(x: Scalar) -> Scalar:
    while True:
        step = x
        if x > 0:
            break
        x += 1.5
    step += 1.0
    return x


def test_what_is_only_augmented_after_a_loop_is_bound_by_it() -> None:
    agree_with_plain_python(augmented_after, X)


@hawk.kernel(contract=False)
def nested_loops(x: Scalar, m: Index) -> Scalar:
    s = 0.0
    for i in range(m):
        for j in range(i + 1):
            if j == 2:
                break
            if s > 50:
                return -s
            s += x * j + i
        else:
            s += 0.25
        k = 0
        while True:
            k += 1
            if k > i:
                break
        s += k
    return s


def test_loops_nest_and_return_leaves_all_of_them() -> None:
    agree_with_plain_python(nested_loops, X, N)
    agree_with_plain_python(nested_loops, X * 10, N)


@hawk.kernel(contract=False)
def over_known_things(x: Scalar) -> Scalar:
    s = 0.0
    for a, (b, c) in zip((1.0, 2.0), enumerate((x, x * 2))):
        s += a * b - c
    for i, c in enumerate(COEFFICIENTS):
        s += i * c
    for c in reversed(COEFFICIENTS):
        if s > 3:
            break
        s += c
    s += sum([i * x for i in PASSES]) + sum(i + j for i, j in zip(PASSES, range(5)))
    weights = [w * 2 for w in COEFFICIENTS if w > 0]
    weights.append(x)
    names = {"a": x, "b": 3.0}
    return s + sum(weights) + names["a"] + len(weights) + max(*weights, names["b"])


def test_loops_over_known_things_are_written_out() -> None:
    agree_with_plain_python(over_known_things, X)


@hawk.kernel
def carried_objects(x: Scalar) -> Scalar:
    before = None
    total = 0.0
    for _ in range(4):
        if before is not None:
            total += before
        before = x * total + 1
    return total + before


def test_a_loop_that_carries_what_is_no_number_is_unrolled() -> None:
    assert not statements(carried_objects, Loop)
    agree(carried_objects, X)


@hawk.kernel
def carried_tuples(x: Scalar, m: Index) -> Scalar:
    a = (0, x)
    for i in range(m):
        a = (a[1], a[0] + a[1])
    return a[0]


def test_tuples_are_carried_and_joined_part_by_part() -> None:
    agree(carried_tuples, X, N)


@hawk.kernel
def never_read_again(x: Scalar, m: Index) -> Scalar:
    t = x * 2
    y = t
    for i in range(m):
        t = i * 2  # another type, but it is never read before it is written
        y += t
    if y > 0:
        t = 3.5
    else:
        t = m
    return y


def test_a_name_may_change_its_type_where_nobody_reads_it() -> None:
    agree(never_read_again, X, N)


@hawk.kernel
def zero_passes(x: Scalar) -> Scalar:
    for i in range(0):
        x = "never"
    else:
        x = x + 1
    while False:
        x = 2
    return x


def test_a_loop_that_never_runs_leaves_nothing() -> None:
    assert not statements(zero_passes, Loop)
    assert agree(zero_passes, X)["out"].tolist() == (X + 1).tolist()


@hawk.kernel
def widening(x: Scalar, k: Int32, m: Index) -> tuple[Scalar, Int32, Index]:
    s, n32, n64 = 0, 0, 0
    for _ in range(m):
        s += x
        n32 += k
        n64 += 1
    return s, n32, n64


def test_a_carried_literal_takes_the_type_of_what_the_body_makes() -> None:
    result = agree(widening, X, np.arange(7, dtype=np.int32), N)
    assert [result[name].dtype.name for name in result] == ["float64", "int32", "int64"]


# --- returns ---


@hawk.kernel(contract=False)
def returns_early(x: Scalar, m: Index) -> tuple[Scalar, Index]:
    if x < -2:
        return 1, 2
    y = x * 2
    if m > 2:
        if y > 1:
            return y, m
        y = 5
    elif m == 0:
        return m, m
    return y, -1


def test_return_may_stand_anywhere() -> None:
    agree_with_plain_python(returns_early, X, N)


@hawk.kernel
def returns_state(x: Mutable[Scalar], count: Mutable[Index], stop: Terminated):
    count += 1
    if x < 0:
        stop = True
        return
    x -= 1
    if x < 0:
        return
    count += 10


def test_an_early_return_keeps_the_state_as_it_is_there() -> None:
    result = agree(returns_state, np.array([-1.0, 0.5, 2.0]), 0, steps=3)
    assert result["count"].tolist() == [1, 2, 23]
    assert result["stop"].tolist() == [True, True, False]


def test_asserts_and_prints_are_free() -> None:
    @hawk.kernel
    def checked(x: Scalar) -> Scalar:
        """Say nothing."""
        assert x > 100, f"{x} is small"
        print("x is", x)
        return x

    assert not checked.trace(DType.F64).step


@pytest.mark.parametrize("width", [np.float32, np.float64])
def test_everything_works_in_both_widths(width) -> None:
    x = X.astype(width)
    for kernel in (ladder, known_loop, unrolled_loop, indexed, over_known_things):
        assert agree(kernel, x)["out"].dtype == width


def test_a_float_that_changes_to_an_int_in_a_loop_is_told_with_both_places() -> None:
    @hawk.kernel
    def mixed(x: Scalar, m: Index) -> Scalar:
        s = x
        for i in range(m):
            s = i
        return s

    with pytest.raises(HawkError, match=r"float64 .* when the loop at line .* an Index"):
        mixed.trace(DType.F64)
