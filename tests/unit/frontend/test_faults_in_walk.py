"""Faults made on purpose in the walk, one at a time, are noticed.

A few small kernels hold every construct; each is compared, bit for bit, with CPython running the
user's own function. `recompile` and `cpython` are written apart from the walker, so a fault in one
of the two shows.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import hawk
from hawk import Bool, HawkError, Index, Mutable, Scalar, Terminated
from hawk.frontend import trace
from hawk.frontend.arithmetic import Arithmetic
from hawk.frontend.conditions import Conditions
from hawk.frontend.containers import Containers
from hawk.frontend.events import Watch, with_planes
from hawk.frontend.frame import Exit, always
from hawk.frontend.kernel_cycle import KernelCycle
from hawk.frontend.kernel_domain import KernelDomain
from hawk.frontend.kernel_fork import KernelFork
from hawk.frontend.kernel_numbers import KernelNumbers
from hawk.frontend.leave import Leave
from hawk.frontend.loops import Attempt
from hawk.frontend.structural import Structural
from hawk.frontend.sums import Sums, _Product
from hawk.frontend.values import Range
from hawk.frontend.values import Scalar as Traced
from hawk.frontend.walk import Walker
from hawk.ir.interpret import interpret as run_program
from hawk.ir.nodes import Const
from hawk.ir.types import DType
from hawk.ir.verify import InvalidProgram, verify
from hawk.reference import interpret, run_python
from tests.unit.frontend.agreement import same_bits

X = np.array([-3.2571, -1.0, -0.0, 0.3, 0.7123, 1.0, 2.5917, 6.5331])
Y = X[::-1] * 0.37 + 0.1
I = np.array([-2, -1, 0, 1, 2, 3, 5, 9])  # noqa: E741


def helper(a, b=2.0):
    if a > b:
        return a - b
    a = a * 2
    return a


@hawk.kernel
def branches(x: Scalar, y: Mutable[Scalar], i: Index) -> Scalar:
    if x > 0.5:
        y = y + x
        z = 1.0
    elif i > 2:
        z = y * 3
    else:
        y, z = -y, y
    w = y if z > x else z
    match i:
        case 1 | 3:
            w = w + 10
        case 5:
            w = w * 2
        case _:
            w = w - 1
    return w + z


@hawk.kernel
def loops(x: Scalar, y: Mutable[Scalar], i: Index) -> tuple[Scalar, Index]:
    total, count = 0.0, 0
    for k in range(i):
        if k == 3:
            continue
        total = total + x * k
        if total > 20:
            break
        count += 1
    else:
        total = total + 0.5
    while y < 4 and count < 60:
        y = y * 2 + 1
        count = count + 2
        if y < -50:
            break
    else:
        count = count - 100
    for k in range(2, 9, 3):
        total = total - k
    for k in range(4):
        for m in range(k):
            if m * x > 1:
                break
            total = total + m
        else:
            continue
        count += 7
    return total, count


@hawk.kernel
def returns(x: Scalar, y: Mutable[Scalar], i: Index) -> Scalar:
    if x < 0:
        return y
    y = y + 1
    for k in range(i):
        y = y + x
        if y > 9:
            return y * k
    if i > 4:
        return helper(x, y)
    y = -y
    return helper(y) + helper(x, b=1.0)


@hawk.kernel
def stops(x: Mutable[Scalar], y: Mutable[Scalar], i: Index, stop: Terminated):
    x = x + y
    if x > 3:
        stop = True
    y = y * 0.5
    if stop:
        y = y + 100
    while i > 0 and not stop:
        i = i - 1
        x = x + i
        stop = x > 8


@hawk.kernel
def sums(x: Scalar, y: Scalar, i: Index) -> tuple[Scalar, Scalar, Scalar, Scalar]:
    a = x * x + y * y
    b = x - y * x
    c = x * y - a
    c -= x * 1.1
    d = (x * 0.1) + y * 0.3 - x * 0.7 + i
    return a, b, c, d


@hawk.kernel
def conditions(x: Scalar, y: Scalar, i: Index) -> tuple[Bool, Bool, Bool, Scalar]:
    a = -1 < x < y
    b = x > 1 or (y > 1 and i != 2)
    c = i in (1, 2, 9) or i not in (3, -1)
    d = 1.0 if not a else x if b else y
    return a, b and not c, c, d


@hawk.kernel
def lists(x: Scalar, y: Scalar, i: Index) -> Scalar:
    v = [x, y, x * y]
    v[0], v[-1] = v[-1], v[0]
    v.append(x - y)
    (first, *rest), w = v, {"a": x, "b": y}
    total = sum([a * b for a, b in zip(rest, (2, 3, 4), strict=True) if b != 3])
    for k, value in enumerate(reversed(v)):
        total = total * 1.5 + value * k
    return total + first + w["b"] + (any([x > 1, y > 1]) and all(v)) * 5


@hawk.kernel
def scopes(x: Scalar, y: Mutable[Scalar], i: Index) -> Scalar:
    offset = x

    def inner(z, times=offset):
        return z * times + offset

    offset = y
    if (n := i * 2) > 3:
        y = inner(x) + n
    squares = [offset * offset for offset in (1.0, 2.0)]
    less = lambda z: z - offset  # noqa: E731
    return inner(y, 3.0) + sum(squares) + less(n)


KERNELS = {
    kernel.name: kernel
    for kernel in (branches, loops, returns, stops, sums, conditions, lists, scopes)
}


def noticed(names: tuple[str, ...]) -> bool:
    """Whether a kernel is refused, is no program, or computes other bits than CPython."""
    return any(not agrees(KERNELS[name]) for name in names)


def agrees(kernel: Any) -> bool:
    kernel = hawk.kernel(kernel.__wrapped__)  # traced afresh
    planes = {"x": X, "y": Y, "i": I}
    try:
        verify(kernel.trace(DType.F64))
        ours = interpret(kernel, **planes, steps=2)
    except Exception:  # noqa: BLE001 - a fault may end in anything
        return False
    theirs = run_python(kernel, **planes, steps=2)
    return all(same_bits(ours[name], theirs[name]) for name in theirs)


# --- faults ---------------------------------------------------------------------------------------


def swapped_arms(right):
    def wrong(self, frame, test, then, orelse, node):
        return right(self, frame, test, orelse, then, node)

    return wrong


def forgotten_arm(right):
    def wrong(self, frame, test, then, orelse, node):
        return right(self, frame, test, then, lambda: {Exit.NEXT: always(frame.names)}, node)

    return wrong


def ignored_flag(right):
    def wrong(self, frame, following, rest, ways, node):
        return self.block(frame, rest)

    return wrong


def no_merge(right):
    def wrong(self, name, first, second):
        return first

    return wrong


def loses_what_only_one_path_knows(right):
    def wrong(self, name, value, arm):
        return right(self, name, value, 1 - arm)

    return wrong


def flag_of_one_arm(right):
    def wrong(self, first, second):
        return first

    return wrong


def break_is_forgotten(right):
    def wrong(self, test, exits):
        right(self, test, [key for key in exits if "break" not in key])

    return wrong


def return_is_forgotten(right):
    def wrong(self, test, exits):
        right(self, test, [key for key in exits if "return" not in key])

    return wrong


def one_value_is_not_handed_over(right):
    def wrong(self, key, value):
        if key != "total":
            right(self, key, value)

    return wrong


def counter_stands_still_once(right):
    def wrong(self, number, bounds):
        return right(self, number, Range(bounds.start, bounds.stop, bounds.step + 1))

    return wrong


def one_pass_more(right):
    def wrong(self, number, bounds):
        stop = bounds.stop + 1 if isinstance(bounds.stop, int) else bounds.stop
        return right(self, number, Range(bounds.start, stop, bounds.step))

    return wrong


def le_for_lt(right):
    def wrong(self, number, bounds):
        stop = self.numbers.to(bounds.stop, DType.I64)
        return self.numbers.binary("<=", number, stop)

    return wrong


def else_always(right):
    def wrong(self, frame, node, following, exits):
        return right(self, frame, node, always((following or exits[Exit.BREAK]).names), {})

    return wrong


def else_never(right):
    def wrong(self, frame, node, following, exits):
        if following is None:
            return right(self, frame, node, following, exits)
        node = type(node)(**{**vars(node), "orelse": []})
        return right(self, frame, node, following, exits)

    return wrong


def continue_falls_through(right):
    def wrong(self, frame, ways, node):
        again = ways.pop(Exit.CONTINUE, None)
        if Exit.NEXT not in ways and again is not None:
            ways[Exit.NEXT] = again
        return ways

    return wrong


def carried_values_as_they_came_in(right):
    def wrong(self, ways, held, results):
        return dict(self.entry)

    return wrong


def last_pass_for_break(right):
    def wrong(self, names, held, results):
        return {**names, **dict(self.entry)}

    return wrong


def right_product_first(right):
    """Of two products the right one is fused."""

    def wrong(self, frame, node, left, other, name=""):
        if isinstance(left, _Product) and isinstance(other, _Product):
            left = self._written(frame, left)
        return right(self, frame, node, left, other, name)

    return wrong


def never_fused(right):
    return lambda self, first, second, added: None


def fused_across_names(right):
    """A sum of names is a sum of products."""

    def wrong(self, frame, node, left, other, name=""):
        if isinstance(left, Traced) and left.dtype.is_float and not isinstance(other, _Product):
            left = _Product(left, 1.0 + 2**-52, node)
        return right(self, frame, node, left, other, name)

    return wrong


def signs_lost(right):
    def wrong(self, dtype, first, second, added, signs="++"):
        return right(self, dtype, first, second, added, "++")

    return wrong


def signs_swapped(right):
    def wrong(self, dtype, first, second, added, signs="++"):
        return right(self, dtype, first, second, added, signs[::-1])

    return wrong


def and_is_or(right):
    def wrong(self, frame, left, side, node, *, wanted):
        return right(self, frame, left, side, node, wanted=not wanted)

    return wrong


def chain_forgets_all_but_the_last(right):
    def wrong(self, frame, node, name):
        if len(node.ops) == 1:
            return right(self, frame, node, name)
        last = type(node)(
            left=node.comparators[-2], ops=node.ops[-1:], comparators=node.comparators[-1:]
        )
        return right(self, frame, _placed(last, node), name)

    return wrong


def _placed(node: Any, like: Any) -> Any:
    for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
        setattr(node, name, getattr(like, name))
    return node


def not_in_is_in(right):
    return lambda self, flag: flag


def choice_turned_round(right):
    def wrong(self, frame, truth, body, orelse, node):
        return right(self, frame, truth, orelse, body, node)

    return wrong


def first_pattern_only(right):
    def wrong(self, frame, value, node):
        return right(self, frame, value, getattr(node, "patterns", [node])[0])

    return wrong


def pattern_always_fits(right):
    def wrong(self, frame, value, node):
        _, names = right(self, frame, value, node)
        return True, names

    return wrong


def comprehension_leaks(right):
    def wrong(self, frame, generators, parts):
        values = right(self, frame, generators, parts)
        for generator in generators:
            name = getattr(generator.target, "id", "")
            if name in frame.names:
                frame.names[name] = 2.0
        return values

    return wrong


def filter_ignored(right):
    return lambda self, frame, test: True


def enumerates_from_one(right):
    def wrong(self, frame, node, values, start=0):
        return right(self, frame, node, values, start + 1)

    return wrong


def not_reversed(right):
    def wrong(self, frame, node, values):
        return self.sequence(frame, node, values)

    return wrong


def only_the_right(right):
    return lambda self, frame, node: self.expressions.evaluate(frame, node.value)


def reversed_parts(right):
    return lambda self, frame, value, node: right(self, frame, value, node)[::-1]


def index_is_zero(right):
    def wrong(self, frame, node):
        key = right(self, frame, node)
        return 0 if isinstance(key, int) else key

    return wrong


def first_only(right):
    return lambda self, frame, node, value, container: right(
        self, frame, node, value, container[:1]
    )


def true_if_positive(right):
    return lambda self, value: self.binary(">", value, 0)


def mask_is_forgotten(right):
    def wrong(self, frame, value, node):
        left = right(self, frame, value, node)
        return {**left, "stop": self.domain.numbers.settle(False)} if "stop" in left else left

    return wrong


def early_binding(right):
    def wrong(self, frame, node):
        made = right(self, frame, node)
        then = replace(frame, names=dict(frame.names))
        return type(made)(made.source, then, made.defaults, made.keyword_defaults)

    return wrong


def any_is_all(right):
    def wrong(self, frame, node, values):
        return self.all_(frame, node, values)

    return wrong


def sum_forgets_the_first(right):
    def wrong(self, frame, node, values, start=0):
        return right(self, frame, node, self.sequence(frame, node, values)[1:], start)

    return wrong


FAULTS: dict[str, tuple[Any, str, Callable[..., Any], tuple[str, ...]]] = {
    "the arms of a branch are swapped": (Walker, "branch", swapped_arms, ("branches",)),
    "the else of a branch is forgotten": (Walker, "branch", forgotten_arm, ("branches",)),
    "who left a list of statements goes on": (Walker, "_guarded_rest", ignored_flag, ("returns",)),
    "two paths join as the first": (KernelFork, "pair", no_merge, ("branches",)),
    "what one path knows comes from the other": (
        KernelFork,
        "only",
        loses_what_only_one_path_knows,
        ("returns",),
    ),
    "a flag is that of one arm": (KernelFork, "flag", flag_of_one_arm, ("loops", "returns")),
    "a break does not end the loop": (KernelCycle, "decide", break_is_forgotten, ("loops",)),
    "a return does not end the loop": (KernelCycle, "decide", return_is_forgotten, ("returns",)),
    "a value is not carried to the next pass": (
        KernelCycle,
        "next",
        one_value_is_not_handed_over,
        ("loops",),
    ),
    "the counter takes a step too many": (
        KernelDomain,
        "advance",
        counter_stands_still_once,
        ("loops",),
    ),
    "the last pass is run twice": (KernelDomain, "below", le_for_lt, ("loops",)),
    "a known bound is one too large": (KernelDomain, "below", one_pass_more, ("loops",)),
    "the else of a loop always runs": (Walker, "after", else_always, ("loops",)),
    "the else of a loop never runs": (Walker, "after", else_never, ("loops",)),
    "a continue is forgotten": (Walker, "continued", continue_falls_through, ("loops",)),
    "a loop that ran out changed nothing": (
        Attempt,
        "_ran_out",
        carried_values_as_they_came_in,
        ("loops",),
    ),
    "a loop that was left changed nothing": (Attempt, "_left", last_pass_for_break, ("loops",)),
    "of two products the right one is fused": (Sums, "_combine", right_product_first, ("sums",)),
    "products are not fused": (Arithmetic, "contracts", never_fused, ("sums",)),
    "a name is fused": (Sums, "_combine", fused_across_names, ("sums",)),
    "a subtracted product is added": (KernelNumbers, "fma", signs_lost, ("sums",)),
    "the signs of product and sum are swapped": (KernelNumbers, "fma", signs_swapped, ("sums",)),
    "and is or": (Conditions, "_second", and_is_or, ("conditions",)),
    "of a chain of comparisons the last counts": (
        Conditions,
        "compare",
        chain_forgets_all_but_the_last,
        ("conditions",),
    ),
    "not in is in": (KernelDomain, "opposite", not_in_is_in, ("conditions",)),
    "a conditional expression is turned round": (
        Conditions,
        "_chosen",
        choice_turned_round,
        ("conditions",),
    ),
    "of alternatives in a pattern the first counts": (
        KernelDomain,
        "matches",
        first_pattern_only,
        ("branches",),
    ),
    "every pattern fits": (KernelDomain, "matches", pattern_always_fits, ("branches",)),
    "the name of a comprehension leaks": (
        Containers,
        "comprehension",
        comprehension_leaks,
        ("scopes",),
    ),
    "a comprehension keeps all": (Containers, "_keeps", filter_ignored, ("lists",)),
    "enumerate begins with one": (Structural, "enumerate_", enumerates_from_one, ("lists",)),
    "reversed is not": (Structural, "reversed_", not_reversed, ("lists",)),
    "any is all": (Structural, "any_", any_is_all, ("lists",)),
    "a sum forgets its first term": (Structural, "sum_", sum_forgets_the_first, ("lists",)),
    "an augmented assignment forgets what was there": (Sums, "augment", only_the_right, ("loops",)),
    "parts are assigned in reverse": (KernelDomain, "unpack", reversed_parts, ("lists",)),
    "every index is 0": (Containers, "index", index_is_zero, ("lists",)),
    "in looks at the first only": (Conditions, "_contains", first_only, ("conditions",)),
    "a number is true if it is positive": (Arithmetic, "truth", true_if_positive, ("lists",)),
    "a sample is done when its step starts": (trace, "NOT_DONE", lambda _: True, ("stops",)),
    "the mask is forgotten": (Leave, "__call__", mask_is_forgotten, ("stops",)),
    "an inner function sees names as they were": (Walker, "closure", early_binding, ("scopes",)),
}


@pytest.mark.parametrize("name", KERNELS)
def test_without_a_fault_the_ways_agree(name: str) -> None:
    assert agrees(KERNELS[name])


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_noticed(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, make, kernels = FAULTS[fault]
    monkeypatch.setattr(owner, name, make(getattr(owner, name)))
    assert noticed(kernels)


# --- faults in what is looked out for ------------------------------------------------------------


@hawk.kernel(checks=True)
def checked(x: Mutable[Scalar], i: Index):
    if x > 0 and guarded(x) > 1:
        for k in range(i):
            assert k + x < 6
            if k > 4:
                break
    elif x < -1:
        x = x - 1
        assert x > -4, "arm"
    while x < 2 and guarded(x + 5) > 0:
        x = x + 2
    assert i != 3


def guarded(x):
    assert x > 0
    return x


def fails(kernel: Any, x: float, i: int) -> bool:
    try:
        run_python(kernel, x, i)
    except AssertionError:
        return True
    return False


def finds(kernel: Any) -> list[bool]:
    """For which samples the program notes a failure."""
    traced = kernel.program.trace(DType.F64, frozenset())
    fn = with_planes(traced.function, traced.events)
    verify(fn)
    planes = {plane.name: 0 for plane in fn.planes if plane.name.startswith("check")}
    rows = zip(X.tolist(), I.tolist(), strict=True)
    return [run_program(fn, {"x": x, "i": i, **planes})["check failed"] != 0 for x, i in rows]


def arms_leak(right):
    @contextmanager
    def wrong(self, ends):
        yield
        ends.append(self.first)

    return wrong


def joins_as_the_first(right):
    return lambda self, ends, pair: right(self, [ends[0], ends[0]], pair)


def joins_as_the_second(right):
    return lambda self, ends, pair: right(self, [ends[1], ends[1]], pair)


def loops_forget(right):
    @contextmanager
    def wrong(self, part, of):
        with right(self, part, of):
            yield
        for slot in self.events.values():
            slot.following = slot.in_body

    return wrong


def the_last_counts(right):
    def wrong(self, kind, happened, loc, text):
        before, self.first = self.first, dict.fromkeys(self.first, Traced(Const(DType.I64)))
        right(self, kind, happened, loc, text)
        del before

    return wrong


def asserts_the_opposite(right):
    def wrong(self, frame, node):
        opposite = ast.copy_location(ast.UnaryOp(ast.Not(), node.test), node.test)
        right(self, frame, ast.copy_location(ast.Assert(opposite, None), node))

    return wrong


CHECK_FAULTS: dict[str, tuple[Any, str, Callable[..., Any]]] = {
    "what happens in an arm happens always": (Watch, "arm", arms_leak),
    "what happens in the second arm is forgotten": (Watch, "join", joins_as_the_first),
    "what happens in the first arm is forgotten": (Watch, "join", joins_as_the_second),
    "what happens in a loop is forgotten": (KernelCycle, "_watching", loops_forget),
    "the last assertion counts": (Watch, "note", the_last_counts),
    "an assertion is turned round": (KernelDomain, "asserts", asserts_the_opposite),
    "both sides of `and` are looked at": (KernelDomain, "watches", lambda _: False),
}


def test_without_a_fault_failures_are_found() -> None:
    rows = zip(X.tolist(), I.tolist(), strict=True)
    due = [fails(checked, x, i) for x, i in rows]
    assert finds(checked) == due
    assert {True, False} == set(due)


@pytest.mark.parametrize("fault", CHECK_FAULTS)
def test_a_fault_in_the_watch_is_noticed(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right = finds(checked)
    owner, name, make = CHECK_FAULTS[fault]
    monkeypatch.setattr(owner, name, make(getattr(owner, name)))
    try:
        assert finds(hawk.kernel(checks=True)(checked.__wrapped__)) != right
    except (HawkError, InvalidProgram):
        pass
