"""Kernels that give to tables that all samples share: against CPython, however they are run."""

from __future__ import annotations

import functools
import multiprocessing
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import eagle
import hawk
from eagle.active import ActiveSet
from eagle.devices.host import collective
from eagle.devices.host.device import HostLoaded
from hawk import Bool, Index, Int32, Mutable, Param, Scalar, Table, Terminated, UInt32, Vector
from tests.oracle.batch import unlike
from tests.unit.eagle.test_collective import WAYS

SIZES = [1, 2, 7, 1030]


Bins, Sums = Table[Int32, "bins"], Table["bins"]


@hawk.kernel
def histogram(x: Scalar, counts: Mutable[Bins], total: Mutable[Sums]):
    b = hawk.index(np.floor(x * 10.0))
    hawk.scatter(counts)[b] += 1
    hawk.scatter(total)[b] += x


@hawk.kernel
def every_kind(
    x: Scalar,
    k: Index,
    u: UInt32,
    t: Mutable[Table[Scalar, 3, 4]],
    least: Mutable[Table[Scalar]],
    most: Mutable[Table[Scalar]],
    bits: Mutable[Table[UInt32]],
    common: Mutable[Table[Index]],
    seen: Mutable[Table[Bool]],
    never: Mutable[Table[Bool]],
    highest: Mutable[Table[Int32, 5]],
):
    i, j = k % 4 - 1, k % 7
    hawk.scatter(t)[i, j] += x
    hawk.scatter(t, where=x > 0.5)[0, u % 4] -= x * 3.0
    hawk.scatter(least)[k].min(x)
    hawk.scatter(most, where=not x > 0.7)[k].max(x)
    hawk.scatter(bits)[k] |= u
    hawk.scatter(bits)[0] += u
    hawk.scatter(common)[0] &= k
    hawk.scatter(common)[1].min(k)
    hawk.scatter(common)[2] += x > 0.5
    hawk.scatter(seen)[k] |= x > 0.9
    hawk.scatter(never)[j] &= x < 0.99
    hawk.scatter(highest)[hawk.int32(j)].max(hawk.int32(k) - 3)


def tables_of_every_kind(dtype: type = np.float64) -> dict[str, np.ndarray]:
    return {
        "t": np.ones((3, 4), dtype),
        "least": np.full(20, np.inf, dtype),
        "most": np.full(20, -0.0, dtype),
        "bits": np.zeros(20, np.uint32),
        "common": np.array([-1, 5, 0]),
        "seen": np.zeros(20, np.bool),
        "never": np.ones(4, np.bool),
        "highest": np.zeros(5, np.int32),
    }


def batch(n: int, dtype: type = np.float64) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(n)
    x = rng.random(n).astype(dtype)
    x[rng.random(n) < 0.05] = np.nan
    k = rng.integers(-3, 25, n)
    return {"x": x, "k": k, "u": rng.integers(0, 2**32, n, dtype=np.uint32)}


def agree(due: dict[str, np.ndarray], got: dict[str, np.ndarray]) -> None:
    for name, wanted in due.items():
        assert list(unlike(wanted.ravel(), got[name].ravel())) == [], name


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", SIZES)
def test_the_bits_of_the_users_own_function_in_cpython(n: int, dtype: type) -> None:
    planes, tables = batch(n, dtype), tables_of_every_kind(dtype)
    due = hawk.run_python(every_kind, steps=3, **planes, **tables)
    if n < 100:  # it takes longest
        agree(due, hawk.interpret(every_kind, steps=3, **planes, **tables))
    three = hawk.steps(every_kind, 3)
    for threads in (1, 2, 3):
        got = {name: table.copy() for name, table in tables.items()}
        given_back = three(**planes, **got, threads=threads)
        agree(due, got)
        assert all(a is b for a, b in zip(given_back, got.values(), strict=True))


def test_it_counts_as_numpy_does() -> None:
    rng = np.random.default_rng(3)
    x = rng.uniform(-0.5, 1.5, 10_000)
    counts, total = np.zeros(10, np.int32), np.zeros(10)
    given_back: Any = histogram(x, counts, total)
    assert given_back[0] is counts
    inside = x[(x >= 0.0) & (x < 1.0)]
    places = np.floor(inside * 10.0).astype(int)
    due = np.zeros(10)
    for place, each in zip(places.tolist(), inside.tolist(), strict=True):
        due[place] += each
    assert counts.tolist() == np.bincount(places, minlength=10).tolist()
    assert total.tobytes() == due.tobytes()
    assert counts.sum() == len(inside) < len(x)


def test_an_index_outside_of_the_table_gives_nothing_to_anybody() -> None:
    @hawk.kernel
    def give(k: Index, m: Int32, t: Mutable[Table[Index, :, 3]]):
        hawk.scatter(t)[k, 1] += 1
        hawk.scatter(t)[0, m] += 10

    k = np.array([-1, 2, 2**32, -(2**63), 2**63 - 1, 1, 2**62 + 1])
    m = np.array([-1, 3, 2**31 - 1, -(2**31), 2, 4, 5], np.int32)
    t = np.zeros((2, 3), np.int64)
    give(k, m, t)
    assert t.tolist() == [[0, 0, 10], [0, 1, 0]]


def test_a_step_reads_the_table_as_it_was_when_it_began() -> None:
    @hawk.kernel
    def grow(k: Index, t: Mutable[Table[Index]]) -> Index:
        before = t[k]
        hawk.scatter(t)[k] += 1
        return before + t[k]

    k, t = np.array([0, 0, 1, 0]), np.array([5, 7])
    assert grow(k, t).tolist() == [10, 10, 14, 10]
    assert t.tolist() == [8, 8]
    assert hawk.steps(grow, 2)(k, t).tolist() == [22, 22, 18, 22]


def test_of_several_scatters_each_is_done_for_all_samples() -> None:
    @hawk.kernel
    def give(x: Scalar, t: Mutable[Table[Scalar]]):
        hawk.scatter(t)[0] += x
        hawk.scatter(t)[0].max(2.0)
        hawk.scatter(t)[0] -= 2.0 * x

    t = np.array([1e16])
    give(np.array([1.0, 1.0]), t)  # each 1.0 is lost in 1e16, a 2.0 would not be
    assert t.tolist() == [1e16 - 4.0]
    t = np.array([-9.0])
    give(np.array([1.0, 3.0]), t)
    assert t.tolist() == [2.0 - 8.0]


def test_reductions_and_scatters_and_a_state_in_one_kernel() -> None:
    @hawk.kernel(steps=4)
    def share(x: Mutable[Scalar], t: Mutable[Table[Scalar]]) -> Scalar:
        mean = hawk.mean(x + t[0])
        hawk.scatter(t)[hawk.sample_index() % 3] += x - mean
        x = x * 0.5 + mean
        return hawk.max(t[1]) + mean

    x, t = batch(50)["x"], np.arange(3.0)
    x[np.isnan(x)] = 0.0
    due = hawk.run_python(share, x, t, steps=4)
    out = share(x, t)
    agree(due, {"x": x, "t": t, "out": out})


@hawk.kernel
def fade(
    x: Mutable[Scalar],
    rate: Param,
    ends: Mutable[Table[Scalar]],
    counts: Mutable[Table[Index]],
    small: Terminated,
):
    x *= rate
    small = x < 0.01
    hawk.scatter(ends)[hawk.sample_index() % 7] += x
    hawk.scatter(counts, where=small)[0] += 1


def fading(n: int = 3000) -> dict[str, Any]:
    x = np.random.default_rng(n).random(n) + 0.01
    return {"x": x, "rate": 0.7, "ends": np.zeros(7), "counts": np.zeros(1, np.int64)}


@functools.cache
def faded() -> dict[str, Any]:
    return hawk.run_python(fade, steps=40, **fading(300))


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_samples_that_are_done_give_nothing_any_way_to_run(
    way: Callable[..., Any], threads: int
) -> None:
    planes, due = fading(300), faded()
    way(fade, max_steps=40, threads=threads, **planes)
    agree(due, {**planes, "small": due["small"]})
    assert planes["counts"].tolist() == [300]


def test_the_same_for_many_samples_and_any_threads() -> None:
    due = fading(40_000)
    mask = np.zeros(40_000, np.bool)
    for _ in range(10):
        eagle.deploy(fade)(**due, small=mask, threads=1)
    got = fading(40_000)
    result = eagle.simulate(fade, max_steps=10, threads=3, **got)
    agree({n: each for n, each in due.items() if n != "rate"}, got)
    assert result.ends is got["ends"]


# -- interrupts ------------------------------------------------------------------------------------


def disturbed(monkeypatch: pytest.MonkeyPatch, when: Callable[[int], str]) -> None:
    """Raise KeyboardInterrupt before or after some launches, and between two scatters."""
    launch, give, calls = HostLoaded.launch, collective._Given.give, 0

    def launch_or_stop(self: HostLoaded, *args: Any, **options: Any) -> None:
        nonlocal calls
        calls += 1
        way = when(calls)
        if way == "before":
            raise KeyboardInterrupt
        launch(self, *args, **options)
        if way == "after":
            raise KeyboardInterrupt

    def give_or_stop(self: Any) -> None:
        nonlocal calls
        calls += 1
        give(self)
        if when(calls):
            raise KeyboardInterrupt

    monkeypatch.setattr(HostLoaded, "launch", launch_or_stop)
    monkeypatch.setattr(collective._Given, "give", give_or_stop)


@pytest.mark.parametrize("often", [5, 3, 2])
def test_a_run_that_is_interrupted_goes_on_to_the_same_bits(
    often: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    due, got = fading(), fading()
    eagle.simulate(fade, max_steps=12, **due)
    simulation = eagle.simulation(fade, max_steps=12, **got)
    random = np.random.default_rng(often)
    ways = random.choice(["before", "after"], 10_000).tolist()
    stops = (random.random(10_000) < 1 / often).tolist()
    disturbed(monkeypatch, lambda call: ways[call] if stops[call] else "")
    interrupts = 0
    while True:
        try:
            simulation.run()
            break
        except KeyboardInterrupt:
            interrupts += 1
    assert interrupts > 5
    agree({n: each for n, each in due.items() if n != "rate"}, got)


@hawk.kernel
def tally(k: Mutable[Index], counts: Mutable[Table[Index]], taken: Mutable[Table[Index]]):
    hawk.scatter(counts)[k % 5] += 1
    hawk.scatter(taken)[0] += 1
    k += 1


@pytest.mark.parametrize("often", [4, 2, 1.2])
def test_launches_that_are_interrupted_give_once_what_each_step_gives(
    often: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    k, counts, taken = np.zeros(500, int), np.zeros(5, int), np.zeros(1, int)
    bound = eagle.deploy(hawk.steps(tally, 3)).bind(k=k, counts=counts, taken=taken)
    with monkeypatch.context() as patch:
        stops = (np.random.default_rng(0).random(10_000) < 1 / often).tolist()
        disturbed(patch, lambda call: "after" if stops[call] else "")
        for _ in range(40):
            try:
                bound.launch()
            except KeyboardInterrupt:
                pass
    bound.launch(1)
    assert taken.tolist() == [k.sum()]
    due = np.zeros(5, int)
    for each in k.tolist():
        due += np.bincount(np.arange(each) % 5, minlength=5)
    assert counts.tolist() == due.tolist()


def test_an_exception_in_the_middle_of_a_step_waits_for_its_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    k, counts, taken = np.zeros(500, int), np.zeros(5, int), np.zeros(1, int)
    bound = eagle.deploy(tally).bind(k=k, counts=counts, taken=taken)
    disturbed(monkeypatch, lambda call: "after" if call == 1 else "")
    with pytest.raises(KeyboardInterrupt):
        bound.launch()
    assert set(k.tolist()) == {1}
    assert taken.tolist() == [500]


def test_a_reset_forgets_what_was_left_to_give(monkeypatch: pytest.MonkeyPatch) -> None:
    due, got = fading(), fading()
    eagle.simulate(fade, max_steps=4, **due)
    simulation = eagle.simulation(fade, max_steps=4, **got)
    with monkeypatch.context() as patch:
        disturbed(patch, lambda call: "after" if call in (4, 5) else "")
        with pytest.raises(KeyboardInterrupt):
            simulation.run()
    simulation.reset()
    assert got["ends"].tolist() == [0.0] * 7
    simulation.run()
    agree({n: each for n, each in due.items() if n != "rate"}, got)


def test_many_samples_give_in_several_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collective, "AT_ONCE", 64)
    x = batch(1000)["x"]
    counts, total = np.zeros(10, np.int32), np.zeros(10)
    due = hawk.run_python(histogram, x, counts, total)
    histogram(x, counts, total)
    agree(due, {"counts": counts, "total": total})


# -- doors -----------------------------------------------------------------------------------------


def test_an_active_set_says_who_gives() -> None:
    k, counts, taken = np.zeros(10, int), np.zeros(5, int), np.zeros(1, int)
    bound = eagle.deploy(tally).bind(k=k, counts=counts, taken=taken)
    bound.launch(active=ActiveSet(np.arange(10) < 7))
    assert taken.tolist() == [3]
    mask = np.zeros(10, np.bool)
    moving = ActiveSet(mask, reorder=0.5, planes=(k,))
    bound.launch(active=moving)
    assert taken.tolist() == [13]


def test_a_direct_call_takes_lists_and_strided_tables() -> None:
    given_back: Any = histogram([0.05, 0.11, 0.12], [0, 0], [0.0, 0.0])
    assert [each.tolist() for each in given_back] == [[1, 2], [0.05, 0.11 + 0.12]]
    wide = np.zeros((2, 2))
    with pytest.warns(eagle.PerformanceWarning, match="copied what is strided: 'total'"):
        histogram(np.array([0.15]), np.zeros(2, np.int32), wide[:, 0])
    assert wide.tolist() == [[0.0, 0.0], [0.15, 0.0]]


def test_a_lone_sample_and_none_at_all() -> None:
    counts, total = np.zeros(3, np.int32), np.zeros(3)
    histogram(0.25, counts, total)
    histogram(np.zeros(0), counts, total)
    assert counts.tolist() == [0, 0, 1]


def test_n_says_how_many_where_no_array_tells() -> None:
    @hawk.kernel
    def count(t: Mutable[Table[Index]]):
        hawk.scatter(t)[hawk.sample_index() % 2] += 1

    t = np.zeros(2, int)
    assert count(t, n=7) is t
    assert t.tolist() == [4, 3]
    eagle.deploy(count).bind(t=t, n=1).launch()
    assert t.tolist() == [5, 3]


def test_an_output_goes_where_it_is_asked_for() -> None:
    @hawk.kernel
    def give(x: Scalar, t: Mutable[Table[Scalar]]) -> Scalar:
        hawk.scatter(t)[0] += x
        return 2.0 * x

    x, t = np.arange(4.0), np.zeros(1)
    assert give(x, t, out=x) is x
    assert (x.tolist(), t.tolist()) == ([0.0, 2.0, 4.0, 6.0], [6.0])


def test_small_arrays_give_number_by_number() -> None:
    @hawk.kernel
    def deposit(r: Vector[2], mass: Scalar, grid: Mutable[Table[Scalar, :, :]]):
        corner = np.floor(r)
        inside = r - corner
        i, j = hawk.index(corner[0]), hawk.index(corner[1])
        for a in range(2):
            for b in range(2):
                share = (inside[0] if a else 1.0 - inside[0]) * (
                    inside[1] if b else 1.0 - inside[1]
                )
                hawk.scatter(grid)[i + a, j + b] += mass * share

    rng = np.random.default_rng(1)
    r, mass, grid = rng.uniform(0, 7, (2, 200)), rng.random(200), np.zeros((8, 8))
    due = hawk.run_python(deposit, r, mass, grid)
    deposit(r, mass, grid)
    agree(due, {"grid": grid})
    assert grid.sum() == pytest.approx(mass.sum())


def test_helpers_and_kernels_inside_give_too() -> None:
    def count(table: Any, i: int) -> None:
        hawk.scatter(table)[i] += 1

    @hawk.kernel
    def halve(x: Scalar, t: Mutable[Table[Index]]) -> Scalar:
        count(t, hawk.index(x))
        return x / 2.0

    @hawk.kernel
    def both(x: Mutable[Scalar], t: Mutable[Table[Index]]):
        x = halve(x, t)
        spots = hawk.scatter(t, where=x > 1.0)
        spots[0] += 100
        tally(hawk.index(x), t, t)

    x, t = np.array([1.0, 3.0, 2.5]), np.zeros(5, int)
    due = hawk.run_python(both, x, t)
    both(x, t)
    agree(due, {"x": x, "t": t})
    assert t.sum() == 3 + 200 + 6


def _called(pickled: bytes, x: np.ndarray) -> list[Any]:
    counts, total = np.zeros(10, np.int32), np.zeros(10)
    pickle.loads(pickled)(x, counts, total)
    return [counts, total]


def test_a_pickled_kernel_gives_the_same_elsewhere() -> None:
    x = batch(100)["x"]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        counts, total = pool.apply(_called, (pickle.dumps(histogram), x))
    due = hawk.run_python(histogram, x, np.zeros(10, np.int32), np.zeros(10))
    agree(due, {"counts": counts, "total": total})


def test_the_representation_names_it() -> None:
    assert 'counts: Mutable[Table[Int32, "bins"]]' in repr(histogram)


def test_it_tells_what_it_gives(capsys: pytest.CaptureFixture[str]) -> None:
    fade.explain()
    told = capsys.readouterr().out
    assert "ends" in told
    assert "hawk.scatter(counts, where=small)[0] += 1" in told
    assert "spot 0" not in told.partition("The program")[0]


@hawk.kernel(checks=True)
def checked(
    x: Mutable[Scalar],
    counts: Mutable[Table[Int32]],
    grid: Mutable[Table[Scalar, 1, :]],
    over: Terminated,
):
    b = hawk.index(np.floor(x * 10.0))
    hawk.scatter(counts)[b] += 1
    hawk.scatter(grid, where=x > 0.0)[0, b] += x
    x = x + 0.25
    over = x > 2.0


def test_checks_tell_of_an_index_outside_of_the_table() -> None:
    x, counts, grid = np.array([0.1, -0.2, 1.9, 0.55]), np.zeros(10, np.int32), np.zeros((1, 8))
    due = hawk.run_python(checked, x, counts, grid, steps=5)
    with pytest.warns(hawk.CheckWarning) as told:
        eagle.simulate(checked, max_steps=5, x=x, counts=counts, grid=grid)
    agree(
        {n: each for n, each in due.items() if n != "over"},
        {"x": x, "counts": counts, "grid": grid},
    )
    text = "\n".join(str(each.message) for each in told)
    assert "sample 1 went outside of a table at step 1: index -2 of `counts`, which has 10" in text
    assert "also sample 2 at step 1" in text
    assert "sample 3 went outside of a table at step 2: index 8 of `grid`, which has 8" in text
    assert "sample 1 went outside of a table at step 1: index -2 of `grid`" not in text


def test_checks_do_not_go_together_with_reading_what_all_gave() -> None:
    @hawk.kernel(checks=True)
    def wrong(x: Scalar, knots: Mutable[Table[Scalar]], values: Table[Scalar]) -> Scalar:
        hawk.scatter(knots)[0] += x
        return hawk.math.interp(x, knots, values)

    with pytest.raises(hawk.HawkError, match="depends on what all samples gave before") as told:
        wrong(np.zeros(3), np.arange(3.0), np.zeros(3))
    assert told.value.code == "H209"


def test_what_all_gave_may_be_interpolated() -> None:
    @hawk.kernel(steps=3)
    def drift(x: Mutable[Scalar], knots: Table[Scalar], values: Mutable[Table[Scalar]]):
        hawk.scatter(values)[hawk.index(x)] += 0.1 * x
        x += hawk.math.interp(x, knots, values)

    x, knots, values = np.array([0.3, 1.5, 0.9]), np.arange(4.0), np.zeros(4)
    due = hawk.run_python(drift, x, knots, values, steps=3)
    drift(x, knots, values)
    agree(due, {"x": x, "values": values})
    assert x.tolist() != [0.3, 1.5, 0.9]


def test_outside_of_a_kernel_it_says_what_to_write() -> None:
    with pytest.raises(TypeError, match=r"only in a kernel; for arrays write np.add.at\(\.\.\.\)"):
        hawk.scatter(np.zeros(3))
