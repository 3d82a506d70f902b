"""Helpers, closures, kernels inside kernels, and what a kernel reads from outside."""

import dataclasses
import functools
import math
import sys
import timeit

import numpy as np
import pytest

import hawk
from hawk import HawkError, Index, Mutable, Param, Scalar, Terminated
from hawk.frontend.trace import trace
from hawk.ir.nodes import Apply, If, walk
from hawk.ir.types import DType
from tests.unit.frontend.agreement import agree, agree_with_plain_python

X = np.array([-2.5, -1.0, -0.0, 0.0, 0.3, 1.0, 7.75])
N = np.array([-2, -1, 0, 1, 2, 3, 5])


def scaled(value, /, by=2.0, *, plus=0.0):
    value = value * by  # its own local
    return value + plus


def limited(value, low=-1.0, high=1.0):
    if value < low:
        return low
    if value > high:
        return high
    return value


def steps_until(value, limit):
    count = 0
    while value < limit:
        value = value * 2 + 1
        count += 1
        if count > 5:
            return -1
    return count


def power(x, n):
    if n == 0:
        return 1.0
    return x * power(x, n - 1)


@hawk.kernel(contract=False)
def calls(x: Scalar) -> tuple[Scalar, Index]:
    y = scaled(x) + scaled(x, 3.0) + scaled(x, plus=x, by=0.5)
    z = limited(y, high=4.0)
    return y + z * power(x, 3), steps_until(limited(x), 2.0)


def test_helpers_are_walked_and_keep_their_locals() -> None:
    agree_with_plain_python(calls, X)


def test_a_helper_that_rebinds_its_parameter_does_not_change_the_kernel() -> None:
    def advance(x):
        x = x + 1
        return x

    @hawk.kernel
    def step(x: Mutable[Scalar], y: Mutable[Scalar]):
        y = advance(x)

    result = agree(step, X, X)
    assert result["x"].tolist() == X.tolist()
    assert result["y"].tolist() == (X + 1).tolist()


def test_closures_lambdas_and_inner_functions() -> None:
    factor = 3.0

    def outer(x, f):
        return f(x) + factor

    @hawk.kernel(contract=False)
    def step(x: Scalar) -> Scalar:
        offset = x * 2

        def inner(y, times=factor):
            def innermost(z):
                return z + offset + times

            return innermost(y) if y > 0 else innermost(-y)

        offset = x + 1
        double = lambda y: y * 2 + offset  # noqa: E731
        pick = [f(x) for f in (inner, double, lambda y: y)]
        return outer(x, inner) + outer(x, double) + sum(pick)

    agree_with_plain_python(step, X)


@dataclasses.dataclass(frozen=True)
class Spring:
    stiffness: float
    rest: float = 0.5

    def force(self, x):
        return -self.stiffness * (x - self.rest)

    def __call__(self, x):
        return self.energy * x if x in {1, 7.75} else x

    @property
    def energy(self):
        return self.stiffness / 2


SPRING = Spring(3.0)


def test_objects_with_numbers_and_methods_are_known() -> None:
    half = functools.partial(scaled, by=0.5)

    @hawk.kernel(contract=False)
    def step(x: Scalar) -> Scalar:
        return SPRING.force(x) + SPRING.rest + half(x) + SPRING(x)

    agree_with_plain_python(step, X)
    assert trace(step.source, step.signature, real=DType.F64).is_current()


@hawk.kernel
def drift(x: Mutable[Scalar], v: Scalar, dt: Param = 0.5, *, stop: Terminated):
    x += v * dt
    stop = x > 100


@hawk.kernel(contract=False)
def force(x: Scalar, i: Index) -> tuple[Scalar, Index]:
    if x > 0:
        return -x * x + 1, i
    return x, 0


def test_a_kernel_inside_a_kernel_is_one_step_of_it() -> None:
    @hawk.kernel
    def both(x: Mutable[Scalar], v: Mutable[Scalar], i: Index) -> Scalar:
        a, count = force(x, i)
        v += a
        x = drift(x, v)
        return drift(x, v=1, dt=0.25) + count

    result = agree(both, X, X * 0.5, N, steps=3)
    x, v = X.copy(), X * 0.5
    for _ in range(3):
        count = np.where(x > 0, N, 0)
        v = v + np.where(x > 0, -x * x + 1, x)
        x = x + v * 0.5
    assert result["x"].tolist() == x.tolist()
    assert result["out"].tolist() == (x + 0.25 + count).tolist()


def test_a_kernel_that_calls_itself_is_an_endless_recursion() -> None:
    @hawk.kernel
    def again(x: Scalar) -> Scalar:
        return again(x)

    with pytest.raises(HawkError, match="H401"):
        again.trace(DType.F64)


def test_a_helper_with_known_conditions_leaves_no_branch() -> None:
    def pick(x, mode):
        if mode == "double":
            return x * 2
        return x

    @hawk.kernel
    def step(x: Scalar) -> Scalar:
        return pick(x, "double") + pick(x, mode="same")

    assert not [s for s in walk(step.trace(DType.F64).step) if isinstance(s, If)]


def test_values_made_in_helpers_know_the_chain_of_calls() -> None:
    @hawk.kernel
    def step(x: Scalar) -> Scalar:
        return scaled(limited(x))

    places = [s.result.loc for s in step.trace(DType.F64).step if isinstance(s, Apply)]
    loc = places[-1]
    assert loc.function == "scaled"
    assert loc.caller is not None
    assert loc.caller.function == "step"


# --- what is read from outside ---


RATE = 2.0
RATES = [1.0, 2.0]


def rate():
    return RATE


def test_a_kernel_is_traced_again_when_a_global_it_read_has_changed(monkeypatch) -> None:
    @hawk.kernel
    def step(x: Scalar) -> Scalar:
        return x * rate() + RATES[1] + SPRING.rest

    traced = trace(step.source, step.signature, real=DType.F64)
    assert {name for _, name, _ in traced.reads.items if isinstance(name, str)} == {
        "rate", "RATE", "RATES", "SPRING", "rest",
    }  # fmt: skip
    assert traced.is_current()
    assert agree(step, X)["out"].tolist() == (X * 2.0 + 2.0 + 0.5).tolist()
    monkeypatch.setattr(sys.modules[__name__], "RATE", 3.0)
    assert not traced.is_current()
    assert agree(step, X)["out"].tolist() == (X * 3.0 + 2.0 + 0.5).tolist()
    monkeypatch.undo()
    assert traced.is_current()
    monkeypatch.setattr(sys.modules[__name__], "RATES", [1.0, 5.0])
    assert not traced.is_current()
    monkeypatch.undo()
    RATES.append(3.0)
    assert not traced.is_current()
    RATES.pop()
    assert traced.is_current()


def test_a_closure_cell_that_changed_is_seen() -> None:
    gain = 1.0

    @hawk.kernel
    def step(x: Scalar) -> Scalar:
        return x * gain

    assert agree(step, X)["out"].tolist() == X.tolist()
    gain = 4.0
    assert agree(step, X)["out"].tolist() == (X * 4).tolist()


def test_asking_whether_a_trace_is_current_is_cheap() -> None:
    traced = trace(calls.source, calls.signature, real=DType.F64)
    seconds = min(timeit.repeat(traced.is_current, number=1000, repeat=5)) / 1000
    assert traced.is_current()
    assert seconds < 1e-4  # about 1 us; the bound leaves room for a busy machine


def test_numpy_scalars_are_plain_numbers() -> None:
    half, count = np.float64(0.5), np.int64(3)

    @hawk.kernel
    def step(x: Scalar) -> Scalar:
        for _ in range(count):
            x = x * half
        return x

    assert agree(step, X)["out"].tolist() == (X * 0.125).tolist()


def test_attributes_of_modules_are_constants() -> None:
    @hawk.kernel
    def step(x: Scalar) -> Scalar:
        return x * math.pi + np.e * math.tau

    assert agree(step, X)["out"].tolist()[3] == math.e * math.tau


def test_recursion_that_only_run_time_could_end_is_refused() -> None:
    def collatz(m):
        if m <= 1:
            return 0
        elif m % 2 == 0:
            return 1 + (1 + (collatz(m // 2) + 0))
        else:
            return 1 + (1 + (collatz(3 * m + 1) + 0))

    @hawk.kernel
    def step(i: Index) -> Index:
        return collatz(i)

    with pytest.raises(HawkError, match=r"calls of `collatz` nest more than 64 deep.*H401"):
        step.trace(DType.F64)
