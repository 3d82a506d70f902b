"""Calls and runs of kernels that reduce or scatter on a GPU, by a driver made for tests."""

import gc
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

import eagle
import hawk
from eagle.devices.cuda import device, loop
from eagle.devices.cuda.array import CudaArray
from hawk import Bool, Grid, Index, Mutable, Param, Scalar, Table, Terminated
from hawk.ir.nodes import Role
from tests.oracle.harness import forget, load
from tests.oracle.programs import Program, write
from tests.oracle.test_collective import agree, given_to, reducing
from tests.oracle.test_grids import keep
from tests.oracle.test_scatter import scattering
from tests.unit.cuda.gpus import TestLibrary, gpu_of_tests
from tests.unit.cuda.test_runs import each_call, host
from tests.unit.cuda.test_together import (
    centred,
    counted,
    ending,
    looks_at_the_driver,
    rows,
)
from tests.unit.graph.test_random_graphs import LONG

rng = np.random.default_rng(5)


@hawk.kernel
def gathering(
    x: Mutable[Scalar],
    many: Mutable[Table[Index]],
    by: Param,
    over: Terminated,
    taken: Mutable[Index] = 0,
):
    """Samples become done one after the other; a table counts how often each has given."""
    total = hawk.sum(x, where=x > 0.25)
    hawk.scatter(many)[hawk.sample_index()] += 1
    x += by * (total + 1.0)
    taken += 1
    over = x > 2.0


@hawk.kernel
def settling(u: Mutable[Grid["r", "c"]], over: Terminated):
    u -= 0.25 * hawk.mean(u, over="r")
    over = abs(u) < 0.5


@hawk.kernel
def weighed(x: Scalar, take: Bool) -> Scalar:
    return x / hawk.sum(x, where=take)


def on_a_grid(program: Program) -> Program | None:
    """The same as `reducing`, of a program on a grid."""
    return reducing(program)


@pytest.fixture(scope="module")
def xp() -> Iterator[TestLibrary]:
    with gpu_of_tests() as library:
        yield library


def of_both(xp: TestLibrary, arrays: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The same arrays on the host, and on the GPU."""
    for each in (np, xp):
        yield {
            name: each.array(value) if isinstance(value, np.ndarray) else value
            for name, value in arrays.items()
        }


def same(xp: TestLibrary, due: Any, got: Any) -> None:
    """The bits of two arrays or numbers of them, the second ones on the GPU. A NaN is a NaN."""
    if isinstance(due, (tuple, list)):
        assert len(due) == len(got)
        for one, two in zip(due, got, strict=True):
            same(xp, one, two)
        return
    assert isinstance(got, CudaArray)
    numbers = xp.asnumpy(got)
    assert (due.shape, due.dtype) == (numbers.shape, numbers.dtype)
    np.testing.assert_array_equal(due, numbers)
    assert due[due == due].tobytes() == numbers[numbers == numbers].tobytes()


def gathered(n: int) -> dict[str, Any]:
    x = np.random.default_rng(n).uniform(-0.5, 0.5, n)
    return {"x": x, "many": np.zeros(n, np.int64), "by": 0.0625}


# -- calls -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [0, 1, 7, 2500])
def test_a_call_gives_the_bits_of_the_host(xp: TestLibrary, n: int, dtype: Any) -> None:
    x = rng.normal(size=n).astype(dtype)
    y = xp.array(x)
    assert centred(y, 0.5) is y
    centred(x, 0.5)
    same(xp, x, y)


def test_steps_of_samples_that_end_with_all_that_a_step_may_hold(xp: TestLibrary) -> None:
    arrays = {
        "value": rng.uniform(size=40),
        "keep": np.arange(40, dtype=np.int32),
        "t": np.ones(4),
        "end": np.arange(40) % 7 == 0,
    }
    due, got = of_both(xp, arrays)
    given_back: Any = ending(**got)
    assert given_back[0] is got["value"]
    ending(**due)
    same(xp, [*due.values()], [*got.values()])


def test_grids_tables_and_what_is_made(xp: TestLibrary) -> None:
    due, got = of_both(xp, {"u": rng.normal(size=(5, 7))})
    rows(**due)
    rows(**got)
    same(xp, due["u"], got["u"])
    tables = {"counts": np.zeros(3, np.int64), "any_": np.zeros(3, bool)}
    due, got = of_both(xp, {"x": rng.uniform(size=50), **tables})
    same(xp, counted(**due), counted(**got))
    due, got = of_both(xp, {"x": rng.uniform(size=9), "take": np.arange(9) % 2 == 0})
    out = xp.zeros(9)
    assert weighed(**got, out=out) is out
    same(xp, weighed(**due), out)
    same(xp, weighed(**due), weighed(**got))


@looks_at_the_driver
def test_a_bound_kernel_is_launched_again_and_again(xp: TestLibrary) -> None:
    results: list[Any] = []
    for planes in of_both(xp, gathered(20)):
        bound = eagle.deploy(hawk.steps(gathering, 3)).bind(**planes)
        assert ("taken",) == bound.allocated
        made = xp.driver.calls.count("instantiate")
        for steps in (1, None, 2):
            bound.launch(steps)
        assert made == xp.driver.calls.count("instantiate"), "one graph for all launches"
        results.append((*bound.planes.values(), bound.finished))
    same(xp, *results)


@looks_at_the_driver
def test_a_call_does_not_wait(xp: TestLibrary) -> None:
    x, calls = xp.array(rng.normal(size=3)), xp.driver.calls
    bound = eagle.deploy(centred).bind(x=x, by=1.0)
    bound.launch()
    xp.asnumpy(x)
    calls.clear()
    bound.launch()
    bound.launch()
    assert not {"copy", "synchronize", "settle"} & set(calls), calls
    assert 2 == calls.count("launch")
    xp.asnumpy(x)


@looks_at_the_driver
def test_an_exception_leaves_whole_steps(xp: TestLibrary, monkeypatch: pytest.MonkeyPatch) -> None:
    planes = gathered(5)
    _, there = of_both(xp, planes)
    bound = eagle.deploy(hawk.steps(gathering, 4)).bind(**there)
    launch, launches = xp.driver.launch, [0]

    def struck(ready: int, stream: int) -> None:
        launches[0] += 1
        if launches[0] == 3:
            raise KeyboardInterrupt
        launch(ready, stream)

    with monkeypatch.context() as patch:
        patch.setattr(xp.driver, "launch", struck)
        with pytest.raises(KeyboardInterrupt):
            bound.launch()
    assert [2] * 5 == xp.asnumpy(bound.planes["taken"]).tolist()
    assert [2] * 5 == xp.asnumpy(there["many"]).tolist()
    bound.launch(1)
    eagle.deploy(hawk.steps(gathering, 4)).bind(**planes).launch(3)
    same(xp, planes["x"], there["x"])


@looks_at_the_driver
def test_what_calls_and_runs_need_is_given_back(xp: TestLibrary) -> None:
    def use() -> None:
        planes = next(iter([*of_both(xp, gathered(3))][1:]))
        gathering(**planes)
        eagle.simulate(gathering, max_steps=2, **planes)
        eagle.reduce(planes["x"], "mean", into=xp.zeros(1))

    def there() -> tuple[int, int, int]:
        gc.collect()
        xp.zeros(1)
        device.gpu(0).home.enter("looking")
        driver = xp.driver
        return len(driver.memory), len(driver.graphs), len(driver.ready)

    use()
    before = there()
    for _ in range(3):
        use()
    assert before >= there()


# -- runs ------------------------------------------------------------------------------------------


def told(found: eagle.RunReport) -> dict[str, Any]:
    """What a report says, but for what may be another number on a GPU."""
    leave = {"wall_s", "build_s", "threads", "compactions", "mapped"}
    return {
        each.name: getattr(found, each.name) for each in fields(found) if each.name not in leave
    }


@pytest.mark.parametrize("max_steps", [6, 100])
@pytest.mark.parametrize("steps", [1, 4, "auto", "one pass"])
def test_a_run_gives_the_bits_and_the_report_of_the_host(
    xp: TestLibrary, steps: Any, max_steps: int
) -> None:
    results: list[Any] = []
    for planes in of_both(xp, gathered(11)):
        if steps == "one pass":
            results.append(eagle.simulate(gathering, max_steps=max_steps, **planes))
        else:
            kernel = hawk.steps(gathering, steps)
            results.append(eagle.until_done(kernel, max_steps=max_steps, **planes).run())
    due, got = results
    same(xp, [*due.planes.values(), due.finished], [*got.planes.values(), got.finished])
    assert told(due.report) == told(got.report)
    assert max_steps == 6 or due.done
    assert (0, False) == (got.report.compactions, got.report.mapped)


@pytest.mark.parametrize("every", [1, 3, 5])
@pytest.mark.parametrize("steps", [4, "one pass"])
def test_a_run_is_told_about_as_on_the_host(xp: TestLibrary, steps: Any, every: int) -> None:
    reports: list[list[eagle.RunReport]] = []
    for planes in of_both(xp, gathered(7)):
        reports.append([])
        door = eagle.simulate if steps == "one pass" else eagle.run_until_done
        kernel = gathering if steps == "one pass" else hawk.steps(gathering, steps)
        door(kernel, max_steps=8, every=every, on_progress=reports[-1].append, **planes)
    due, got = ([told(each) for each in found] for found in reports)
    assert due == got


def test_a_grid_and_steps_that_are_counted(xp: TestLibrary) -> None:
    results: list[Any] = []
    for planes in of_both(xp, {"u": rng.normal(size=(3, 4)) * 2 + 1}):
        results.append(eagle.simulate(settling, max_steps=9, count_steps=True, **planes))
    due, got = results
    same(xp, [due.u, due.finished, due.steps_taken], [got.u, got.finished, got.steps_taken])
    assert told(due.report) == told(got.report)


def test_a_mask_that_is_passed_and_a_run_put_back(xp: TestLibrary) -> None:
    over = np.array([True, False, True, False, False])
    results: list[Any] = []
    for planes in of_both(xp, {**gathered(5), "over": over}):
        simulation = eagle.simulation(gathering, max_steps=3, **planes)
        first = simulation.run()
        kept = [host(xp, each) + 0 for each in first.planes.values()]
        second = simulation.run()
        assert "max_steps" == first.status == second.status
        assert second.finished is planes["over"]
        results.append([kept, *(host(xp, each) + 0 for each in second.planes.values())])
        simulation.reset()
        assert not host(xp, planes["many"]).any()
        again = simulation.run()
        for one, two in zip(kept, again.planes.values(), strict=True):
            assert one.tobytes() == host(xp, two).tobytes()
    for one, two in zip(results[0][1:], results[1][1:], strict=True):
        assert one.tobytes() == two.tobytes()


@looks_at_the_driver
@pytest.mark.parametrize("window", [0, 2_000_000])
def test_it_does_not_matter_when_the_host_is_asked(
    xp: TestLibrary, monkeypatch: pytest.MonkeyPatch, window: int
) -> None:
    found: list[Any] = []
    for each in (10**12, window):
        monkeypatch.setattr(loop, "WINDOW", each)
        planes, before = [*of_both(xp, gathered(6))][1], xp.driver.launches
        report = eagle.run_until_done(hawk.steps(gathering, 4), max_steps=10, **planes)
        found.append((report, xp.asnumpy(planes["x"]).tobytes(), xp.driver.launches - before))
    assert found[0][:2] == found[1][:2]
    assert found[0][2] < found[1][2], "each graph took one step"


@looks_at_the_driver
@pytest.mark.parametrize("door", [eagle.simulation, eagle.until_done])
def test_an_interrupt_at_any_call_leaves_whole_steps_and_the_run_goes_on(
    xp: TestLibrary, monkeypatch: pytest.MonkeyPatch, door: Any
) -> None:
    monkeypatch.setattr(loop, "WINDOW", 0)
    start = gathered(4)
    due, _ = of_both(xp, start)
    expected = door(hawk.steps(gathering, 4), max_steps=7, **due).run()
    planes: dict[str, Any] = {}

    def begin() -> eagle.Simulation:
        planes.update([*of_both(xp, start)][1])
        return door(hawk.steps(gathering, 4), max_steps=7, **planes)

    several, halfway = 0, 0
    for simulation, stopped in each_call(xp, begin):
        several += 1
        with xp.driver.work._lock:
            assert not xp.driver.work._due, "somebody works on them"
        result = stopped.result
        taken, over = xp.asnumpy(result.taken), xp.asnumpy(result.finished)
        assert taken.tolist() == xp.asnumpy(planes["many"]).tolist(), "whole steps"
        assert len(set(taken[~over].tolist())) <= 1, "all that go on took as many"
        assert "interrupted" == result.status
        if door is eagle.until_done:
            halfway += result.steps > taken.max()
            assert result.steps == min(7, -(-int(taken.max()) // 4) * 4)
        result = simulation.run()
        same(xp, [*expected.planes.values()], [*result.planes.values()])
        assert told(expected.report) == told(result.report)
    assert several > 5
    assert halfway or door is eagle.simulation


def test_a_run_between_other_nodes_of_a_graph(xp: TestLibrary) -> None:
    results: list[Any] = []
    for planes in of_both(xp, gathered(4)):
        simulation = eagle.simulation(gathering, max_steps=2, **planes)

        @eagle.Graph.builder
        def build(x, simulation=simulation):
            g = eagle.Graph()
            centred(x)
            g.add(simulation)
            return g

        build(planes["x"]).launch(2)
        results.append([planes["x"], planes["many"]])
    same(xp, *results)


# -- random programs -------------------------------------------------------------------------------

DRAWN = ((reducing, range(8)), (scattering, range(8)), (on_a_grid, range(4)))


@pytest.mark.parametrize(("made_of", "seeds"), DRAWN)
def test_random_programs_have_the_bits_of_the_host(
    xp: TestLibrary, programs: int, made_of: Any, seeds: Any
) -> None:
    ran: list[str] = []
    for seed in seeds if programs < LONG else range(programs // 20):
        program = made_of(write(seed, grids=made_of is on_a_grid))
        if program is None:
            continue
        kernel = load(program.text)
        mask = next((each.name for each in kernel.parameters if each.role is Role.MASK), None)
        planes = given_to(kernel, program)
        for way in ("call", "run") if mask else ("call",):
            due, got = (dict(each) for each in of_both(xp, planes))
            for found in (due, got):
                if way == "run":
                    result = eagle.until_done(hawk.steps(kernel, 2), max_steps=3, **found).run()
                    found |= dict(result.planes)
                else:
                    keep(kernel, found, hawk.steps(kernel, 2)(**found))
            arrays = {name: each for name, each in due.items() if isinstance(each, np.ndarray)}
            agree(program, way, arrays, {name: host(xp, got[name]) for name in arrays})
            ran.append(way)
    forget()
    assert ran.count("call") >= 2
    assert made_of is not reducing or "run" in ran


# -- one reduction ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["sum", "mean", "min", "max"])
def test_a_reduction_at_once(xp: TestLibrary, kind: str) -> None:
    x = rng.normal(size=(3, 400)) * 1e5
    due, got = np.zeros(1), xp.zeros(1)
    for view in (lambda a: a, lambda a: a[:, ::2], lambda a: a.T[::-1]):
        eagle.reduce(view(x), kind, into=due)
        assert eagle.reduce(view(xp.array(x)), kind, into=got) is got
        gc.collect()  # what it is made of is there until it is over
        same(xp, due, got)


def test_a_reduction_at_once_on_the_simulated_device() -> None:
    simulated, found = eagle.xp_for("simulated"), np.zeros(1)
    cell = simulated.zeros(1)
    eagle.reduce(simulated.asarray(np.arange(5.0)), "sum", into=cell)
    eagle.copy(cell, into=found)
    assert [10.0] == found.tolist()


@looks_at_the_driver
def test_a_reduction_at_once_says_what_is_wrong(xp: TestLibrary) -> None:
    with pytest.raises(eagle.GraphError, match=r"`x` is on GPU 0, `into` on the host"):
        eagle.reduce(xp.zeros(3), "sum", into=np.zeros(1))
    there = xp.over(np.zeros(3, [("x", "f8"), ("k", "i4")])["x"])
    with pytest.raises(eagle.GraphError, match="not a whole number of times 8 bytes apart"):
        eagle.reduce(there, "sum", into=xp.zeros(1))
