"""Which stop tests count as staying true, and that the bits are right when they do not."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan

import pytest

from hawk.ir.nodes import Function, Value
from hawk.ir.types import DType
from hawk.passes.pipeline import optimise
from hawk.targets.cpu.compile import compile_function
from hawk.targets.cpu.machine import host
from hawk.targets.cpu.stopping import monotone_stop
from hawk.targets.cpu.width import variant
from tests.oracle.batch import Batch, differences, interpreted, launch
from tests.unit.targets.by_hand import BOOL, F32, F64, I64, REALS, Draft
from tests.unit.targets.machines import runnable

Step = Callable[[Draft, Value, Value, Value], Value]
"""The next time from the draft, the time, its step and its end."""


def timed(
    step: Step, test: str, real: DType = F64, *, flipped: bool = False, uniform: bool = False
) -> Function:
    """A time that moves by `step` until it compares by `test` with its end."""
    d = Draft("timed", real)
    make = d.uniform if uniform else d.input
    dt, t_end = make("dt"), make("t_end")
    t, x = d.state("t"), d.state("x")
    t_next = step(d, t, dt, t_end)
    d.store(t=t_next, x=d("fma", x, d.const(0.5), t_next))
    d.stop(d(test, t_end, t_next) if flipped else d(test, t_next, t_end))
    return d.function()


def plus(d: Draft, t: Value, dt: Value, _: Value) -> Value:
    return d("add", t, dt)


def plus_reversed(d: Draft, t: Value, dt: Value, _: Value) -> Value:
    return d("add", dt, t)


def minus(d: Draft, t: Value, dt: Value, _: Value) -> Value:
    return d("sub", t, dt)


def product(d: Draft, t: Value, dt: Value, t_end: Value) -> Value:
    return d("fma", dt, t_end, t)


def constant(d: Draft, t: Value, _: Value, __: Value) -> Value:
    return d("add", t, 0.25)


STEPS: dict[str, Step] = {
    "t + dt": plus, "dt + t": plus_reversed, "t - dt": minus, "fma(dt, t_end, t)": product,
    "t + 0.25": constant,
}  # fmt: skip
TESTS = ("ge", "gt", "le", "lt")


def recognised(fn: Function) -> bool:
    return monotone_stop(optimise(fn)) is not None


@pytest.mark.parametrize("step", ["t + dt", "dt + t", "t - dt", "t + 0.25"])
@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("flipped", [False, True])
def test_a_time_that_moves_by_a_fixed_number_is_recognised(
    step: str, test: str, flipped: bool
) -> None:
    assert recognised(timed(STEPS[step], test, flipped=flipped))


@pytest.mark.parametrize(
    ("test", "rises"), [("ge", True), ("gt", True), ("le", False), ("lt", False)]
)
def test_a_product_is_recognised_where_it_can_only_rise(test: str, rises: bool) -> None:
    assert rises == recognised(timed(product, test))


def test_the_state_stands_left_and_the_increments_are_as_added() -> None:
    fn = optimise(timed(plus, "le", flipped=True))
    stop = monotone_stop(fn)
    assert stop is not None
    assert ("t", "ge") == (stop.state.name, stop.operation)
    assert (fn.plane("dt").read,) == stop.increments
    assert fn.plane("t_end").read is stop.limit


@pytest.mark.parametrize("test", ["eq", "ne"])
def test_equality_may_turn_false_again_and_is_refused(test: str) -> None:
    assert not recognised(timed(plus, test))


REFUSED: dict[str, Callable[[Draft, Value, Value, Value], tuple[Value, Value]]] = {
    "dt - t turns around": lambda d, t, dt, end: (d("sub", dt, t), end),
    "t + t is no fixed step": lambda d, t, dt, end: (d("add", t, t), end),
    "t * dt is no sum": lambda d, t, dt, end: (d("mul", t, dt), end),
    "a step that the state changes": lambda d, t, dt, end: (d("add", t, d("mul", t, dt)), end),
    "a step chosen by the state": lambda d, t, dt, end: (
        d("add", t, d("select", d("lt", t, 1.0), dt, d("neg", dt))), end
    ),
    "an end that the state changes": lambda d, t, dt, end: (d("add", t, dt), d("sub", end, t)),
    "fma of the state": lambda d, t, dt, end: (d("fma", t, dt, end), end),
    "two sums": lambda d, t, dt, end: (d("add", d("add", t, dt), dt), end),
}  # fmt: skip


@pytest.mark.parametrize("write", REFUSED.values(), ids=REFUSED.keys())
def test_what_could_turn_back_is_refused(
    write: Callable[[Draft, Value, Value, Value], tuple[Value, Value]],
) -> None:
    d = Draft("refused")
    dt, t_end, t = d.input("dt"), d.input("t_end"), d.state("t")
    t_next, end = write(d, t, dt, t_end)
    d.store(t=t_next)
    d.stop(d("ge", t_next, end))
    assert not recognised(d.function())


def test_what_is_tested_must_be_what_is_stored() -> None:
    d = Draft("unstored")
    dt, t_end, t = d.input("dt"), d.input("t_end"), d.state("t")
    d.stop(d("ge", d("add", t, dt), t_end))
    assert not recognised(d.function())


def test_integers_wrap_and_are_refused() -> None:
    d = Draft("integers")
    limit, k = d.input("limit", I64), d.state("k", I64)
    k_next = d("add", k, 1)
    d.store(k=k_next)
    d.stop(d("ge", k_next, limit))
    assert not recognised(d.function())


def test_a_test_that_something_else_reads_is_refused() -> None:
    d = Draft("read twice")
    dt, t_end, t, over = d.input("dt"), d.input("t_end"), d.state("t"), d.state("over", BOOL)
    t_next = d("add", t, dt)
    done = d("ge", t_next, t_end)
    d.store(t=t_next, over=done)
    d.stop(done)
    assert not recognised(d.function())


@pytest.mark.parametrize("stop", [True, False])
def test_a_constant_is_no_test(stop: bool) -> None:
    d = Draft("constant")
    dt, t = d.input("dt"), d.state("t")
    d.store(t=d("add", t, dt))
    d.stop(stop)
    assert not recognised(d.function())


def test_a_kernel_without_a_mask_has_no_test() -> None:
    d = Draft("no mask")
    dt, t = d.input("dt"), d.state("t")
    d.store(t=d("add", t, dt))
    assert not recognised(d.function())


HUGE = {F64: (1.7e308, 2.0**501, 2.0**500), F32: (3.4e38, 2.0**61, 2.0**60)}


def awkward(real: DType) -> list[tuple[float, float, float]]:
    """Starts, steps and ends that no block may be trusted on, between ones that it may."""
    tiny = 5e-324 if real is F64 else 1.401298464324817e-45
    steps = (
        0.25,
        -0.25,
        0.0,
        -0.0,
        nan,
        inf,
        -inf,
        tiny,
        *HUGE[real],
        *(-huge for huge in HUGE[real]),
    )
    starts = (0.0, -0.0, -3.0, 1e30, -1e30, inf, -inf, nan, HUGE[real][0], -HUGE[real][0])
    ends = (1.0, -1.0, 0.0, inf, -inf, nan, 1e30)
    return [(start, step, end) for start in starts for step in steps for end in ends]


@pytest.mark.parametrize("real", REALS, ids=lambda real: real.value)
@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("step", STEPS)
def test_any_increment_gives_the_bits_of_the_interpreter(step: str, test: str, real: DType) -> None:
    fn = optimise(timed(STEPS[step], test, real))
    rows = awkward(real)[len(test + step) % 3 :: 3]
    columns = {
        "t": [start for start, _, _ in rows],
        "dt": [step for _, step, _ in rows],
        "t_end": [end for _, _, end in rows],
        "x": [0.0] * len(rows),
    }
    batch = Batch.of(fn.planes, columns, {})
    expected = interpreted(fn, batch, 37, range(batch.n))
    for machine, shape in zip(
        runnable().values(), [(4, 3, 8), (1, 1, 16), (8, 1, 8)], strict=False
    ):
        got = batch.copy()
        launch(compile_function(fn, machine, variant(fn, machine, *shape)), got, 37)
        assert [] == differences(expected, got)


@pytest.mark.parametrize("real", REALS, ids=lambda real: real.value)
@pytest.mark.parametrize("test", TESTS)
def test_a_step_that_is_one_for_all_samples_may_be_as_awkward(test: str, real: DType) -> None:
    fn = optimise(timed(plus, test, real, uniform=True))
    compiled = compile_function(fn, host())
    starts = [0.0, 0.9, -3.0, 0.0, 1e30, inf, -inf, nan, -0.0, 0.25, 2.0]
    columns = {"t": starts, "x": [0.0] * len(starts)}
    for _, dt, t_end in awkward(real)[:: 7 if real is F64 else 13]:
        batch = Batch.of(fn.planes, columns, {"dt": dt, "t_end": t_end})
        expected = interpreted(fn, batch, 20, range(batch.n))
        launch(compiled, batch, 20)
        assert [] == differences(expected, batch), (dt, t_end)


@pytest.mark.parametrize("test", TESTS)
def test_samples_that_stop_in_every_step_of_a_block_stop_there(test: str) -> None:
    fn = optimise(timed(plus, test))
    n = 75
    sign = 1.0 if test in ("ge", "gt") else -1.0
    columns = {
        "t": [0.0] * n,
        "dt": [sign * 0.25] * n,
        "t_end": [sign * 0.25 * (sample * 7 % 71) for sample in range(n)],
        "x": [1.0] * n,
    }
    batch = Batch.of(fn.planes, columns, {})
    expected = interpreted(fn, batch, 64, range(n))
    for machine in runnable().values():
        for width, chains in ((1, 1), (4, 2), (8, 1), (4, 4)):
            got = batch.copy()
            launch(compile_function(fn, machine, variant(fn, machine, width, chains)), got, 64)
            assert [] == differences(expected, got)
