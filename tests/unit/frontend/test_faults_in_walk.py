"""Faults made on purpose in the walk, one at a time, are noticed.

A few small kernels hold every construct; each is compared, bit for bit, with CPython running the
user's own function. `recompile` and `cpython` are written apart from the walker, so a fault in one
of the two shows.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import hawk
from hawk import Bool, HawkError, Index, Mutable, Scalar, Terminated
from hawk.frontend.events import Watch, with_planes
from hawk.frontend.kernel_cycle import KernelCycle
from hawk.frontend.kernel_domain import KernelDomain
from hawk.frontend.values import Scalar as Traced
from hawk.ir.interpret import interpret as run_program
from hawk.ir.nodes import Const
from hawk.ir.types import DType
from hawk.ir.verify import InvalidProgram, verify
from hawk.reference import interpret, run_python
from tests.unit.frontend.agreement import same_bits
from tests.unit.frontend.faults import FAULTS

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
