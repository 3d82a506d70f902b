"""Kernels that reduce over their batch: against CPython, and the same bits however they are run."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import eagle
import hawk
from eagle.active import ActiveSet
from eagle.devices.host.device import HostLoaded
from hawk import Bool, HawkError, Index, Int32, Mutable, Param, Scalar, Table, Terminated, Vector

SIZES = [1, 2, 7, 1030]


@hawk.kernel
def centred(x: Mutable[Scalar], w: Scalar) -> Scalar:
    far = hawk.max(abs(x - hawk.mean(x, where=w > 0.5)))
    heaviest = hawk.argmax(w)
    x = (x - hawk.mean(x)) / (far + 1.0)
    return x + heaviest


@hawk.kernel
def shrink(x: Mutable[Scalar], rate: Param, small: Terminated):
    x = x * rate + hawk.sum(x) * 1e-6
    small = abs(x) < 0.5 * hawk.mean(abs(x))


@hawk.kernel
def until_all(x: Mutable[Scalar], k: Mutable[Index], over: Terminated):
    x = x * 0.5
    k = k + 1
    over = hawk.all(x < 1e-3)


@hawk.kernel
def kinds(x: Scalar, k: Index) -> tuple[Scalar, Scalar, Index, Index, Index, Index, Scalar]:
    odd = k % 2 == 1
    total = hawk.sum(x, where=odd)
    least = hawk.min(x)
    greatest = hawk.max(k)
    first = hawk.argmin(x, where=not odd)
    count = hawk.sum(odd)
    mixed = hawk.sum(k)
    share = hawk.mean(k)
    if hawk.any(x > 2.0):
        total = -total
    return total, least, greatest, first, count, mixed, share


@hawk.kernel
def least_and_all(x: Scalar) -> tuple[Scalar, Scalar]:
    least, total = hawk.min(x, where=x > 0.0), hawk.sum(x)
    return least, total


@hawk.kernel
def named(value: Mutable[Scalar], keep: Int32) -> Scalar:
    return hawk.sum(value * 2.0, where=keep > 0) + hawk.max(value + keep)


def batch(n: int, dtype: type = np.float64) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    return rng.normal(size=n).astype(dtype), rng.random(n).astype(dtype)


def test_planes_may_be_called_as_what_is_reduced() -> None:
    value, keep = np.linspace(0.0, 1.0, 9), np.arange(9, dtype=np.int32) % 2
    due = hawk.run_python(named, value, keep)["out"]
    assert due.tobytes() == named(value, keep).tobytes()
    assert due.tobytes() == hawk.interpret(named, value, keep)["out"].tobytes()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", SIZES)
def test_the_bits_of_the_users_own_function_in_cpython(n: int, dtype: type) -> None:
    x, w = batch(n, dtype)
    due = hawk.run_python(centred, x, w, steps=3)
    # The interpreter takes longest.
    program = [hawk.interpret(centred, x, w, steps=3)] if n < 100 else []
    out = hawk.steps(centred, 3)(x, w)
    for left in (due, *program):
        assert left["x"].tobytes() == x.tobytes()
        assert left["out"].tobytes() == out.tobytes()


@pytest.mark.parametrize("n", SIZES)
def test_every_kind_of_reduction(n: int) -> None:
    x, k = batch(n)[0], np.arange(n) - 3
    due = hawk.run_python(kinds, x, k)
    for name, out in zip(due, kinds(x, k), strict=True):
        assert due[name].tobytes() == out.tobytes(), name
    assert kinds(x, k)[4].tolist() == [int((k % 2 == 1).sum())] * n
    assert kinds(x, k)[2].tolist() == [k.max()] * n


@hawk.kernel
def sames(
    p: Param, k: Param[Int32], x: Scalar, flag: Mutable[Bool]
) -> tuple[Scalar, Int32, Scalar, Bool, Index, Scalar]:
    count, most, mean = hawk.sum(1.0), hawk.max(k), hawk.mean(p)
    some, how_many, none = hawk.any(flag), hawk.sum(flag), hawk.sum(x, where=False)
    return count, most, mean, some, how_many, none


@pytest.mark.parametrize("n", [1, 7, 33])
def test_what_is_the_same_for_all_samples_is_reduced_too(n: int) -> None:
    x, flag = np.arange(float(n)), np.arange(n) % 3 == 0
    x.flags.writeable = False
    due = hawk.run_python(sames, p=2.5, k=7, x=x, flag=flag)
    out = sames(2.5, 7, x, flag)
    assert [each.tobytes() for each in out] == [due[f"out{i}"].tobytes() for i in range(6)]
    assert [each[0] for each in out[:2]] == [float(n), 7]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_reduces_as_its_parent_does() -> None:
    x, child = batch(5000)[0], mmap.mmap(-1, 40_000)
    start = x.copy()
    shrink(x, 0.9)
    pid = os.fork()
    if pid == 0:
        shrink(start, 0.9)
        child[:] = start.tobytes()
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    assert child[:] == x.tobytes()


def test_samples_that_are_done_are_left_out() -> None:
    x, _ = batch(200)
    due = hawk.run_python(shrink, x, 0.9, steps=40)
    assert due["small"].any()
    result = eagle.simulate(shrink, max_steps=40, x=x, rate=0.9)
    assert x.tobytes() == due["x"].tobytes()
    assert result.finished.tolist() == due["small"].tolist()


WAYS: dict[str, Callable[..., Any]] = {
    "simulate": eagle.simulate,
    "launches of one step": eagle.run_until_done,
    "launches of 8 steps": lambda kernel, **given: eagle.run_until_done(
        hawk.steps(kernel, 8), **given
    ),
    "launches of auto steps": lambda kernel, **given: eagle.run_until_done(
        hawk.steps(kernel, "auto"), **given
    ),
    "told of every 7 steps": lambda kernel, **given: eagle.simulate(
        kernel, every=7, on_progress=lambda _: None, **given
    ),
    "counting steps": lambda kernel, **given: eagle.simulate(kernel, count_steps=True, **given),
}


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_the_same_bits_for_any_threads_and_any_way_to_run(
    way: Callable[..., Any], threads: int
) -> None:
    start, _ = batch(30_000)
    due = start.copy()
    mask = np.zeros(30_000, np.bool)
    for _ in range(25):
        eagle.deploy(shrink)(due, 0.9, small=mask, threads=1)
    x = start.copy()
    way(shrink, max_steps=25, x=x, rate=0.9, threads=threads)
    assert x.tobytes() == due.tobytes()


def test_all_samples_end_together() -> None:
    x = np.linspace(1.0, 2.0, 100)
    result = eagle.simulate(until_all, max_steps=100, x=x, k=np.zeros(100, int), count_steps=True)
    assert result.done
    assert result["k"].tolist() == [11] * 100
    assert result.steps_taken is not None
    assert result.steps_taken.tolist() == [11] * 100
    assert result.steps == 11


def test_no_samples_and_one_sample() -> None:
    empty = np.zeros(0)
    assert centred(empty, empty).tolist() == []
    assert eagle.simulate(until_all, max_steps=3, x=empty, k=np.zeros(0, int)).done
    x = np.float64(3.0)
    due = hawk.run_python(centred, x, 1.0)
    assert centred(3.0, 1.0) == due["out"][0]


def test_a_run_that_is_interrupted_goes_on_to_the_same_bits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x, start = batch(2000)[0], batch(2000)[0]
    eagle.simulate(shrink, max_steps=30, x=x, rate=0.9)
    launch, calls = HostLoaded.launch, 0

    def launch_or_stop(self: HostLoaded, *args: Any, **options: Any) -> None:
        nonlocal calls
        calls += 1
        if calls % 7 == 3:
            raise KeyboardInterrupt
        launch(self, *args, **options)
        if calls % 7 == 5:
            raise KeyboardInterrupt

    simulation = eagle.simulation(shrink, max_steps=30, x=start, rate=0.9)
    monkeypatch.setattr(HostLoaded, "launch", launch_or_stop)
    interrupts = 0
    while True:
        try:
            simulation.run()
            break
        except KeyboardInterrupt:
            interrupts += 1
    assert interrupts > 20
    assert start.tobytes() == x.tobytes()


def test_an_active_set_says_who_is_reduced() -> None:
    x = np.arange(10.0)
    mask = x < 5
    bound = eagle.deploy(shrink).bind(x=x, rate=1.0, small=np.zeros(10, np.bool))
    bound.launch(active=ActiveSet(mask))
    assert x[:5].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert x[5] == 5.0 + (5 + 6 + 7 + 8 + 9) * 1e-6


def test_samples_that_are_asked_for_by_their_place_are_not_moved() -> None:
    @hawk.kernel
    def chase(x: Mutable[Scalar], over: Terminated):
        x = x * 0.5
        over = hawk.argmax(x) > 3

    x, mask = np.arange(8.0), np.zeros(8, np.bool)
    bound = eagle.deploy(chase).bind(x=x, over=mask)
    moving = ActiveSet(mask, reorder=0.5, planes=(x,))
    with pytest.raises(ValueError, match="moves samples, and chase asks for hawk.argmax"):
        bound.launch(active=moving)
    assert x.tolist() == list(range(8))


def test_an_output_may_stand_where_an_input_was() -> None:
    x, w = batch(100)

    @hawk.kernel
    def share(v: Scalar) -> Scalar:
        return v / hawk.sum(v)

    due = hawk.run_python(share, w)["out"]
    share(w, out=w)
    assert w.tobytes() == due.tobytes()
    assert x.shape == w.shape


def test_a_helper_and_a_kernel_in_a_kernel_may_reduce() -> None:
    def spread(value: float) -> float:
        return hawk.max(value) - hawk.min(value)

    @hawk.kernel
    def scaled(v: Scalar) -> Scalar:
        return v / spread(v)

    @hawk.kernel
    def twice(v: Scalar) -> Scalar:
        return scaled(v) + scaled(v * 2.0)

    v = batch(40)[0]
    assert twice(v).tobytes() == hawk.run_python(twice, v)["out"].tobytes()


def test_arrays_are_reduced_element_by_element() -> None:
    @hawk.kernel
    def about_the_middle(r: Mutable[Vector[3]], mass: Scalar) -> Scalar:
        middle = hawk.sum(mass * r) / hawk.sum(mass)
        r = r - middle
        return hawk.max(hawk.max(r)[2])

    rng = np.random.default_rng(5)
    r, mass = rng.normal(size=(3, 60)), rng.random(60)
    due = hawk.run_python(about_the_middle, r, mass)
    out = about_the_middle(r, mass)
    assert r.tobytes() == due["r"].tobytes()
    assert out.tobytes() == due["out"].tobytes()
    assert abs((mass * r).sum(axis=1)).max() < 1e-13


def test_a_loop_of_known_length_is_written_out() -> None:
    @hawk.kernel
    def sharpen(w: Mutable[Scalar]):
        for _ in range(3):
            w = w * w
            w = w / hawk.sum(w)

    w = batch(50)[1]
    due = hawk.run_python(sharpen, w)["w"]
    sharpen(w)
    assert w.tobytes() == due.tobytes()
    assert w.sum() == pytest.approx(1.0)


def test_outside_a_kernel_they_say_what_to_write() -> None:
    with pytest.raises(TypeError, match=r"only in a kernel; for an array write np.mean\(\.\.\.\)"):
        hawk.mean(1.0)


def test_in_a_branch_a_reduction_is_refused_with_what_to_write() -> None:
    @hawk.kernel
    def wrong(x: Mutable[Scalar]):
        if x > 0:
            x = x - hawk.mean(x)

    with pytest.raises(HawkError, match="needs every sample, and here only some come by") as told:
        wrong(np.zeros(3))
    assert "where=..." in str(told.value)
    assert told.value.code == "H405"


def test_checks_and_reductions_do_not_go_together() -> None:
    @hawk.kernel(checks=True)
    def wrong(x: Mutable[Scalar]):
        x = x - hawk.mean(x)

    with pytest.raises(HawkError, match="checks look at one sample at a time"):
        wrong(np.zeros(3))


def test_a_kernel_that_reduces_tells_so(capsys: pytest.CaptureFixture[str]) -> None:
    centred.explain()
    told = capsys.readouterr().out
    assert "mean 0    = hawk.mean(x, where=w > 0.5)" in told
    assert "all samples take their steps together" in told


def test_where_none_is_no_condition() -> None:
    def over_all(value, where=None):
        return hawk.sum(value, where=where) + hawk.mean(value, where=where)

    @hawk.kernel
    def step(x: Scalar, total: Mutable[Table[Scalar]]) -> Scalar:
        hawk.scatter(total, where=None)[0] += x
        return over_all(x)

    x, total = np.array([1.0, 2.0, 6.0]), np.zeros(1)
    assert [12.0] * 3 == step(x, total).tolist()
    assert [9.0] == total.tolist()
    for way in (hawk.run_python, hawk.interpret):
        results = way(step, x, np.zeros(1))
        assert [12.0] * 3 == results["out"].tolist()
        assert [9.0] == results["total"].tolist()
