"""Kernels whose samples are passed once: which they are; nothing is missed or done twice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eagle
import hawk
from hawk import Bool, Grid, Index, Int32, Mutable, Param, Scalar, Terminated
from hawk.ir.types import DType
from hawk.passes.pipeline import optimise
from hawk.targets.cpu import straight
from hawk.targets.cpu.machine import host
from hawk.targets.cpu.straight import repeats_itself


@hawk.kernel
def curve(x: Scalar, a: Param) -> Scalar:
    return a * x * x + x


@hawk.kernel
def places() -> Index:
    return hawk.sample_index() * 3


@hawk.kernel
def overwrite(x: Scalar, y: Mutable[Scalar]):
    y = 2.0 * x


@hawk.kernel
def drift(rate: Scalar, x: Mutable[Scalar]) -> Scalar:
    x = x + rate
    return x * x


@hawk.kernel
def swap(x: Mutable[Scalar], y: Mutable[Scalar]):
    x, y = y, x


@hawk.kernel
def stopping(x: Scalar, y: Mutable[Scalar], over: Terminated):
    y = 2.0 * x
    over = True


@hawk.kernel
def count(x: Mutable[Index]):
    x = hawk.step_index()


Plate = Grid["r", "c"]
ONCE = {curve: True, places: True, overwrite: True}
AGAIN = {drift: False, swap: False, stopping: False, count: False}
SIZES = [0, 1, 7, 31, 32, 33, 64, 1000]


@pytest.mark.parametrize(("kernel", "once"), (ONCE | AGAIN).items(), ids=lambda it: str(it))
def test_only_steps_that_carry_nothing_on_are_taken_once(kernel: Any, once: bool) -> None:
    assert repeats_itself(optimise(kernel.trace(DType.F64))) is once


@pytest.mark.parametrize("n", SIZES)
def test_every_sample_is_passed(n: int) -> None:
    x = np.linspace(-1.0, 1.0, n)
    due = hawk.run_python(curve, x=x, a=2.0)["out"]
    assert np.array_equal(curve(x, a=2.0), due)
    assert places(n=n).tolist() == [3 * k for k in range(n)]


@pytest.mark.parametrize("steps", [1, 2, 7])
@pytest.mark.parametrize("n", SIZES)
def test_every_step_is_taken(n: int, steps: int) -> None:
    x, rate, y = np.linspace(-1.0, 1.0, n), np.linspace(0.5, 2.0, n), np.full(n, np.nan)
    hawk.steps(overwrite, steps)(x=x, y=y)
    assert np.array_equal(y, 2.0 * x)
    due = x.copy()
    for _ in range(steps):
        due += rate
    assert np.array_equal(hawk.steps(drift, steps)(rate, x), due * due)
    a, b = np.zeros(n), np.ones(n)
    hawk.steps(swap, steps)(a, b)
    assert np.all(a == steps % 2)
    assert np.all(b == 1 - steps % 2)


@pytest.mark.parametrize("n", SIZES)
def test_samples_that_are_not_picked_keep_what_they_held(n: int) -> None:
    rate, x = np.ones(n), np.zeros(n)
    out = np.full(n, -1.0)
    live = np.arange(n) % 3 == 0
    picked = eagle.ActiveSet(~live)
    eagle.deploy(drift).bind(rate=rate, x=x, out=out).launch(active=picked)
    assert np.array_equal(x, np.where(live, 1.0, 0.0))
    assert np.array_equal(out, np.where(live, 1.0, -1.0))


def test_threads_share_the_samples() -> None:
    x = np.linspace(-1.0, 1.0, 300_000)
    state = [x.copy() for _ in range(3)]
    outs = [drift(x, each, threads=threads) for threads, each in enumerate(state, 1)]
    assert all(np.array_equal(each, 2.0 * x) for each in state)
    assert all(np.array_equal(each, 4.0 * x * x) for each in outs)


# -- outputs that are written past the caches ------------------------------------------------------


@pytest.fixture
def far(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every launch is said to move more than caches hold, in code that is kept nowhere."""
    monkeypatch.setattr(straight, "FAR_BYTES", 0)
    monkeypatch.setattr(
        "hawk.cache.lookup.Cache.get_or_make", lambda _, w, make, load: (load(*make()), "")
    )


def several(real: str) -> Any:
    @hawk.kernel(dtype=real)
    def kernel(x: Scalar, k: Int32) -> tuple[Scalar, Int32, Bool]:
        return 2.0 * x + 1.0, 3 * k, x > 0.0

    return kernel


@pytest.mark.usefixtures("far")
@pytest.mark.parametrize("real", ["float64", "float32"])
def test_wherever_an_output_begins_its_own_numbers_are_written(real: str) -> None:
    kernel = several(real)
    for n in SIZES:
        x, k = np.linspace(-1.0, 1.0, n, dtype=real), np.arange(n, dtype=np.int32)
        for skipped in range(5):
            rooms = [np.full(n + 9, 7, dtype) for dtype in (real, np.int32, np.bool_)]
            outs = [
                room[first : first + n] for room, first in zip(rooms, (skipped, 0, 1), strict=True)
            ]
            kernel(x, k, out=tuple(outs))
            for room, each, due in zip(rooms, outs, (2 * x + 1, 3 * k, x > 0), strict=True):
                assert np.array_equal(each, due)
                each[:] = 7
                assert np.all(room == np.asarray(7, room.dtype))


@pytest.mark.usefixtures("far")
def test_threads_that_write_past_the_caches_share_the_samples() -> None:
    @hawk.kernel
    def doubled(x: Scalar) -> Scalar:
        return 2.0 * x

    x = np.linspace(-1.0, 1.0, 300_001)
    for first in range(9):
        out = np.full(x.size + 10, 7.0)
        for threads in (1, 2, 3):
            doubled(x, threads=threads, out=out[first : first + x.size])
            assert np.array_equal(out[first : first + x.size], 2.0 * x)
            assert np.all(out[:first] == 7.0)
            assert np.all(out[first + x.size :] == 7.0)


@pytest.mark.skipif(not host().is_x86, reason="the name of the instruction is that of x86-64")
def test_only_what_no_sample_reads_is_written_past_the_caches() -> None:
    @hawk.kernel
    def long(x: Scalar) -> Scalar:
        for _ in range(64):
            x = x * x + 1.0
        return x

    for kernel in (curve, drift):
        stores = [line for line in kernel.asm().splitlines() if "vmovnt" in line]
        assert stores
        assert not [line for line in stores if "xmm" in line]  # else a vector is stored in parts
    assert "vmovnt" not in swap.asm()
    assert "vmovnt" not in long.asm()


@pytest.mark.usefixtures("far")
def test_neighbours_at_a_border_are_read_in_both_loops() -> None:
    @hawk.kernel
    def mean(u: Plate) -> Scalar:
        return 0.25 * (u.neighbor(r=-1) + u.neighbor(r=1) + u.neighbor(c=-1) + u.neighbor(c=1))

    u = np.random.default_rng(3).random((37, 21))
    wide = np.pad(u, 1, mode="edge")
    due = wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:]
    assert np.array_equal(mean(u).reshape(u.shape), 0.25 * due)
