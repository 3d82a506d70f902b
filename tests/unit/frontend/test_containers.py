"""Lists, dicts and what makes them: as in Python, for a kernel that is traced."""

import numpy as np
import pytest

import hawk
from hawk import Bool, HawkError, Index, Int32, Scalar
from hawk.ir.types import DType
from tests.unit.frontend.agreement import agree_with_plain_python

X = np.array([-2.5, -0.0, 0.3, 1.0, 7.75])
N = np.array([-2, 0, 1, 2, 5])
NUMBERS = [1.0, 2.0]
TABLE = {"a": 1.0, "b": [1.0]}
SEEN = {1}


# --- what changes in place ---


@hawk.kernel(contract=False)
def through_an_alias(x: Scalar) -> tuple[Scalar, Index, Scalar, Scalar]:
    rows = [[x], [2.0]]
    for row in rows:
        row += [1.0]
    numbers = [1.0, x]
    same = numbers
    same *= 2
    table = {"a": x}
    other = table
    other |= {"b": 2.0}
    other |= [("c", x)]
    return sum(rows[0]) + sum(rows[1]), len(table), sum(numbers), table["c"]


@hawk.kernel(contract=False)
def through_a_helper(x: Scalar) -> Scalar:
    def push(numbers):
        numbers += [x]

    numbers = [1.0]
    push(numbers)
    pair = (1.0,)
    longer = pair
    longer += (x,)
    return sum(numbers) + len(pair)


@hawk.kernel
def from_a_product(x: Scalar) -> Scalar:
    places = [0, 1, 2]
    numbers = [x, x, x]
    numbers[places.pop()] += x * 1.5
    joined = [1.0]
    same = joined
    joined += [x] * 2
    joined += (x for _ in range(2))
    return numbers[0] + 2 * numbers[1] + 4 * numbers[2] + len(places) + len(same)


@pytest.mark.parametrize("kernel", [through_an_alias, through_a_helper, from_a_product])
def test_an_augmented_assignment_changes_a_list_or_dict_in_place(kernel) -> None:
    agree_with_plain_python(kernel, X)


def test_an_augmented_assignment_leaves_what_is_outside_alone() -> None:
    @hawk.kernel
    def joins(x: Scalar) -> Scalar:
        numbers = NUMBERS
        numbers += [x]
        return x

    @hawk.kernel
    def unites(x: Scalar) -> Scalar:
        seen = SEEN
        seen |= frozenset((2,))
        return x

    @hawk.kernel
    def inner(x: Scalar) -> Scalar:
        table = dict(TABLE)
        table["b"] += [x]
        return x

    for kernel in (joins, unites, inner):
        with pytest.raises(HawkError, match="from outside the kernel and must not change"):
            kernel.trace(DType.F64)
    assert ([1.0, 2.0], {1}, [1.0]) == (NUMBERS, SEEN, TABLE["b"])


@hawk.kernel(contract=False)
def of_its_own(x: Scalar) -> Scalar:
    made = [
        [0.0] * 3, [1.0] + [2.0], sorted((2.0, 1.0)), list(NUMBERS), NUMBERS + [1.0], NUMBERS[:],
        NUMBERS.copy(), [[0.0] * 2 for _ in range(2)][0], zeros(2),
    ]  # fmt: skip
    for numbers in made:
        numbers[0] = x
    tables = [dict(TABLE), dict(a=1.0), {**TABLE}, TABLE.copy(), {"a": 1.0} | {"b": 2.0}]
    for table in tables:
        table["a"] = x
    words = "a b".split()
    words.append("c")
    total = 0.0
    for numbers in made:
        total += numbers[0]
    for table in tables:
        total += table["a"]
    return total + len(words)


def zeros(n):
    return [0.0] * n


def test_a_container_made_in_the_kernel_may_change_however_it_was_made() -> None:
    agree_with_plain_python(of_its_own, X)
    assert ([1.0, 2.0], 1.0) == (NUMBERS, TABLE["a"])


@hawk.kernel(contract=False)
def after_leaving(x: Scalar) -> Scalar:
    numbers = [x]
    if x > 3:
        return 0.0
    numbers.append(1.0)
    numbers += [2.0]
    return sum(numbers)


def test_a_list_may_change_after_an_early_return() -> None:
    agree_with_plain_python(after_leaving, X)


def test_a_dict_of_an_earlier_pass_is_not_changed_by_a_later_one() -> None:
    @hawk.kernel
    def step(x: Scalar) -> Scalar:
        table = {"a": x}
        for k in (0.0, 1.0, 2.0, 3.0):
            if k > 1.5:
                table["a"] = table["a"] + 10.0
            elif k > 0.5:
                table = {"a": x}
            if x > k:
                break
        return table["a"]

    with pytest.raises(HawkError, match="in one pass of a loop only"):
        step.trace(DType.F64)


# --- methods ---


@hawk.kernel(contract=False)
def methods_of_dicts(x: Scalar) -> tuple[Scalar, Scalar, Scalar, Index]:
    table = {"a": 1.0, "b": 2.0}
    table.update(a=5.0)
    table.update({"c": x}, d=2.0)
    table.update([("e", x)])
    names = list(table.keys())
    values = table.values()
    table["f"] = 3.0
    total = 0.0
    for name, value in table.items():
        total += value * len(name)
    for k in range(3):
        table.setdefault(k, x)
        total += table.get(k, 7.0) + table.get(k + 10, 9.0)
    last = table.popitem()[1] + table.pop(0) + table.pop("none", 4.0)
    return total, sum(values) + last, max(table.values()), len(names) + len(table)


@hawk.kernel(contract=False)
def methods_of_lists(x: Scalar) -> tuple[Scalar, Scalar, Index]:
    numbers = [3.0, 1.0, 2.0]
    numbers.sort(reverse=True)
    same = numbers.copy()
    same[0] = x
    same.insert(1, x * 2)
    numbers.remove(1.0)
    numbers.extend(x * k for k in range(2))
    for k in range(2):
        same.pop(k)
    numbers.reverse()
    ordered = sorted([("b", 1.0), ("a", x)], key=lambda pair: pair[0])
    return sum(numbers) + numbers[0] * 7, sum(same) + ordered[0][1], NUMBERS.index(2.0)


@hawk.kernel(contract=False)
def makers(x: Scalar) -> Scalar:
    a = dict(a=x, b=2.0)
    b = dict(zip(("p", "q"), (x, 1.0), strict=True))
    c = dict(a, c=x * 2)
    d = {k: x + k for k in range(3)}
    total = 0.0
    for k in range(3):
        total += {k: x}[k] + d[k]
    least = min([x]) + max((3.0,)) + max((), default=2.0) + max((1.0, -3.0), key=abs)
    return a["a"] + b["p"] + c["c"] + total + least


@pytest.mark.parametrize("kernel", [methods_of_dicts, methods_of_lists, makers])
def test_methods_and_makers_are_those_of_cpython(kernel) -> None:
    agree_with_plain_python(kernel, X)


@hawk.kernel(contract=False)
def evaluated_once(x: Scalar) -> Scalar:
    tables = [{"a": x}, {"a": 2.0}, {"a": 3.0}]
    y = tables.pop().get("a", 0.0)
    places = [0, 1, 2]
    numbers = [x, x, x]
    numbers[places.pop()] -= 1.0
    return y + len(tables) + numbers[0] + 2 * numbers[1] + 4 * numbers[2] + len(places)


@hawk.kernel(contract=False)
def run_over_as_they_are(x: Scalar) -> Scalar:
    numbers = [1.0, x]
    total = 0.0
    for each in numbers:
        if len(numbers) < 5:
            numbers.append(each)
        total += each
    pairs = zip((1.0, 2.0), (x, x), strict=True)
    for a, b in pairs:
        total += a * b
    for a, b in pairs:
        total += a * b
    for k, each in enumerate(reversed(numbers)):
        total += k * each
    return total


@pytest.mark.parametrize("kernel", [evaluated_once, run_over_as_they_are])
def test_what_is_taken_out_or_run_over_is_so_once(kernel) -> None:
    agree_with_plain_python(kernel, X)


# --- what leaves a path ---


@hawk.kernel(contract=False)
def leaves_an_arm(x: Scalar) -> Scalar:
    if x > 0:
        table = {"a": x * 2}
        passes = range(int(x) % 5)
    else:
        return 0.0
    total = table["a"]
    for k in passes:
        total += k
    return total


@hawk.kernel(contract=False)
def leaves_a_loop(x: Scalar) -> Scalar:
    def found(y):
        i = 0
        while i < 3:
            table = {"a": y * i}
            if y > i:
                return table
            i += 1
        return {"a": 7.0}

    return found(x)["a"]


@pytest.mark.parametrize("kernel", [leaves_an_arm, leaves_a_loop])
def test_numbers_in_dicts_and_ranges_leave_a_path_with_them(kernel) -> None:
    agree_with_plain_python(kernel, X)


# --- functions made in comprehensions ---


@hawk.kernel(contract=False)
def lambdas(x: Scalar) -> Scalar:
    late = [lambda t: t + k for k in range(3)]
    own = [lambda t, k=k: t + k * x for k in (1.0, 2.0)]
    nested = [[lambda t: t + k * j for k in range(3)] for j in range(2)]
    k = 100.0
    called = sum(applied(lambda t: t * j, x) for j in (1.0, 2.0))
    return late[0](x) + own[0](x) + own[1](k) + nested[0][0](x) + nested[1][1](x) + called


def applied(f, x):
    return f(x)


def test_a_lambda_in_a_comprehension_sees_its_names_as_python_does() -> None:
    agree_with_plain_python(lambdas, X)


# --- names bound behind `and` ---


@hawk.kernel(contract=False)
def bound_behind_and(x: Scalar, y: Scalar) -> Scalar:
    if (d := x - y) > 0 and (e := (d * 2, y))[0] > 1 and e[0] < 9:
        return e[0] + e[1]
    r = g if x > 0 and (g := x + 1) > 2 else d
    while r < 10 and (h := r + 3.0) > 1:
        r = h
    return r


def test_a_name_bound_behind_and_is_bound_where_all_of_it_holds() -> None:
    agree_with_plain_python(bound_behind_and, X, X[::-1] * 0.5)


# --- bools ---


@hawk.kernel
def bools(x: Scalar, i: Index) -> Index:
    b, c = x > 0, i > 0
    total = 0
    if b is True:
        total += 1
    if c is not False:
        total += 2
    if b is c:
        total += 4
    match (b, c):
        case (True, True):
            total += 8
        case (False, _):
            total += 16
        case _:
            pass
    match b:
        case False:
            total += 32
        case _:
            pass
    return total


def test_a_bool_is_true_and_matches_true() -> None:
    agree_with_plain_python(bools, X, N)


def test_a_number_is_never_the_object_true() -> None:
    @hawk.kernel
    def step(k: Int32) -> Bool:
        match k:
            case True:
                return True
            case _:
                return False

    with pytest.raises(HawkError, match="never the object True or False"):
        step.trace(DType.F64)


# --- raise ---

METHOD = "midpoint"


@hawk.kernel(contract=False)
def dispatches(x: Scalar) -> Scalar:
    match METHOD:
        case "midpoint":
            y = x * 0.5
        case _:
            raise ValueError(METHOD)
    return chosen(METHOD, x) + y


def chosen(method, x):
    if method == "euler":
        return x
    if method == "midpoint":
        return 2 * x
    raise ValueError(method)


def test_a_raise_that_is_known_not_to_be_reached_is_left_out() -> None:
    agree_with_plain_python(dispatches, X)


# --- text ---


PAIR, SHORT, EXPONENT = "x=%g i=%d", "%5.1f", "{:.2e}"


def test_numbers_are_formatted_in_what_is_printed(capsys) -> None:
    @hawk.kernel(checks=True)
    def step(x: Scalar, i: Index) -> Scalar:
        print(PAIR % (x, i), f"{x:.3f} {i:d}", EXPONENT.format(x), SHORT % x)
        return x

    step(np.array([0.5]), np.array([3]))
    assert "sample 0, step 1: x=0.5 i=3 0.500 3 5.00e-01   0.5\n" == capsys.readouterr().out


@pytest.mark.parametrize(("text", "said"), [("x=%g", "x=0.5"), ("x=%d %d", "x > 5")])
def test_a_failed_assertion_keeps_its_values_whatever_its_text_does(text, said) -> None:
    @hawk.kernel(checks=True)
    def step(x: Scalar) -> Scalar:
        assert x > 5, text % x
        return x

    with pytest.raises(hawk.CheckError) as error:
        step(np.array([0.5]))
    assert f"sample 0 failed at step 1: {said} (x = 0.5) [H601]" in str(error.value)


def test_a_known_number_is_formatted_as_python_does() -> None:
    @hawk.kernel
    def step(x: Scalar) -> Scalar:
        return x + len(f"{2.0:.3f}{'a'!r}")

    agree_with_plain_python(step, X)


# --- annotations and errors ---


def test_a_text_in_a_text_is_an_annotation() -> None:
    step = hawk.kernel(_twice_quoted)
    assert ["Param", "Scalar"] == [
        "Param" if each.role.name == "UNIFORM" else each.element.name for each in step.parameters
    ]


def _twice_quoted(k, x):
    return x * k


_twice_quoted.__annotations__ = {"k": "'hawk.Param'", "x": "Scalar", "return": "Scalar"}


def test_an_error_shows_as_the_class_that_users_know() -> None:
    @hawk.kernel
    def step(x: Scalar) -> Scalar:
        pair = (x, 1.0)
        return pair[int(x)]

    with pytest.raises(HawkError) as error:
        step.trace(DType.F64)
    assert HawkError is type(error.value)
    assert ("hawk", "HawkError") == (HawkError.__module__, HawkError.__qualname__)
    assert "hawk" == hawk.CheckError.__module__ == hawk.CheckWarning.__module__


def test_a_mask_given_by_place_to_a_kernel_in_a_kernel_is_given_once() -> None:
    @hawk.kernel
    def inner(x: hawk.Mutable[Scalar], over: hawk.Terminated):
        x += 1
        over = x > 3

    @hawk.kernel
    def outer(x: hawk.Mutable[Scalar], over: hawk.Terminated):
        x = inner(x, over)
        over = x > 4

    outer.trace(DType.F64)
