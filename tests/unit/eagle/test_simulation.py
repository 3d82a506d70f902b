"""Running a batch until each sample is done."""

import pickle
import threading
from typing import Any

import numpy as np
import pytest

import eagle
from tests.unit.eagle.kernels import countdown, double, measure, oscillator, swinging
from tests.unit.eagle.stand_in import StandIn


def counting(left: Any) -> dict[str, Any]:
    """The planes of `countdown`."""
    left = np.array(left)
    return {"left": left, "taken": np.zeros_like(left)}


@pytest.mark.parametrize(
    ("steps", "launches", "total", "exact"),
    [(1, 1000, 1000, True), (16, 63, 1008, False), ("auto", 16, 1024, False)],
)
def test_a_run_until_done_counts_its_launches(
    steps: Any, launches: int, total: int, exact: bool
) -> None:
    deployed = eagle.deploy(oscillator.again(steps))

    report = eagle.run_until_done(deployed, max_steps=10_000, **swinging(10))

    assert (launches, total, exact) == (report.launches, report.steps, report.exact_steps)
    assert report.done
    assert 10 == report.finished == report.n


def test_auto_asks_for_the_largest_launch_each_time() -> None:
    report = eagle.run_until_done(oscillator, max_steps=10_000, **swinging(2))

    assert {64: 16} == report.launches_by_k
    assert 'steps="auto"' == report.mode


@pytest.mark.parametrize(("steps", "launches"), [(1, 500), (16, 32), ("auto", 8)])
def test_no_sample_passes_the_cap(steps: Any, launches: int) -> None:
    planes = counting([100, 499, 500, 501, 1000])

    report = eagle.run_until_done(countdown.again(steps), max_steps=500, **planes)

    assert [100, 499, 500, 500, 500] == planes["taken"].tolist()
    assert (launches, 500, True, False) == (
        report.launches,
        report.steps,
        report.exact_steps,
        report.done,
    )
    assert 3 == report.worst


def test_simulate_runs_each_sample_to_its_end_in_one_launch() -> None:
    planes = counting([1, 70, 300])

    with eagle.devices.host.watch_entries() as entries:
        result = eagle.simulate(countdown, max_steps=1000, **planes)

    assert [1, 70, 300] == result.taken.tolist()
    assert 1 == len(entries) == result.report.launches
    assert {320: 1} == result.report.launches_by_k
    assert (320, False, "one pass") == (
        result.steps,
        result.report.exact_steps,
        result.report.mode,
    )


def test_simulate_at_the_cap_is_a_status() -> None:
    result = eagle.simulate(countdown, max_steps=100, **counting([50, 1000]))

    assert "max_steps" == result.status
    assert not result.done
    assert [True, False] == result.finished.tolist()
    assert (100, True) == (result.steps, result.report.exact_steps)


def test_the_result_has_the_planes_by_name_and_by_item() -> None:
    planes = counting([3, 4])

    result = eagle.simulate(countdown, max_steps=100, **planes)

    assert planes["left"] is result.left
    assert planes["taken"] is result["taken"]
    assert ["left", "taken"] == list(result.planes)
    assert {"left", "taken", "finished"} <= set(dir(result))
    assert (2, "done", ()) == (result.n, result.status, result.allocated)
    with pytest.raises(
        AttributeError,
        match="no plane 'lft'; there are left, taken; which samples are done is `finished`",
    ):
        result.lft  # noqa: B018


def test_the_result_pickles() -> None:
    result = eagle.simulate(countdown, max_steps=100, **counting([3, 4]))

    again = pickle.loads(pickle.dumps(result))

    assert [3, 4] == again.taken.tolist()
    assert result.report == again.report


def test_a_mask_that_is_passed_is_read_and_written() -> None:
    mask = np.array([False, True])

    result = eagle.simulate(countdown, max_steps=100, **counting([3, 4]), over=mask)

    assert [3, 0] == result.taken.tolist()
    assert mask is result.finished
    assert [True, True] == mask.tolist()
    assert result.done


def test_a_batch_that_is_done_is_not_launched() -> None:
    mask = np.ones(2, bool)

    with eagle.devices.host.watch_entries() as entries:
        result = eagle.simulate(countdown, max_steps=100, **counting([3, 4]), over=mask)

    assert [] == entries
    assert (0, 0, {}, True) == (
        result.report.launches,
        result.steps,
        result.report.launches_by_k,
        result.report.exact_steps,
    )


def test_state_that_is_made_is_named() -> None:
    result = eagle.simulate(measure, max_steps=9, x=np.ones(2))

    assert ("last",) == result.allocated


@pytest.mark.parametrize("make", [eagle.simulation, eagle.until_done])
def test_a_simulation_runs_again_after_a_reset(make: Any) -> None:
    planes = counting([3, 400])
    simulation = make(countdown, max_steps=200, **planes)
    assert ("ready", None, 2) == (simulation.status, simulation.report, simulation.n)

    first = simulation.run()
    taken = first.taken.tolist()
    simulation.reset()

    assert "ready" == simulation.status
    assert [3, 400] == planes["left"].tolist()
    assert [False, False] == first.finished.tolist()
    assert taken == simulation.run().taken.tolist() == [3, 200]
    assert "max_steps" == simulation.status


def test_a_run_after_the_cap_goes_on() -> None:
    simulation = eagle.simulation(countdown, max_steps=200, **counting([3, 400]))

    statuses = [simulation.run().status, simulation.run().status]

    assert ["max_steps", "done"] == statuses
    assert 1 == simulation.report.launches


def test_a_run_of_what_is_done_does_nothing() -> None:
    simulation = eagle.simulation(countdown, max_steps=200, **counting([3]))
    simulation.run()

    assert 0 == simulation.run().report.launches


def test_two_threads_may_not_run_one_simulation() -> None:
    inside, go_on = threading.Event(), threading.Event()

    def slow(x: Any, last: Any, stop: Any) -> dict[str, Any]:
        inside.set()
        go_on.wait()
        return {"last": x, "stop": True}

    kernel = StandIn(measure, slow, unread=("last",))
    simulation = eagle.simulation(kernel, max_steps=1, x=np.ones(1))
    first = threading.Thread(target=simulation.run)
    first.start()
    assert inside.wait(timeout=60)

    with pytest.raises(eagle.Busy, match="this Simulation of measure is being used by another"):
        simulation.reset()

    go_on.set()
    first.join()
    simulation.reset()


@pytest.mark.parametrize("max_steps", [1, 2**63 - 1, np.int8(5), np.uint64(2**63 - 1)])
def test_max_steps_may_be_any_integer(max_steps: Any) -> None:
    assert eagle.simulate(countdown, max_steps=max_steps, **counting([1])).done


@pytest.mark.parametrize("max_steps", [0, -1, 2.5, True, 2**63, "many", None, np.float64(3)])
def test_max_steps_must_be_in_range(max_steps: Any) -> None:
    with pytest.raises(eagle.BindError) as caught:
        eagle.simulate(countdown, max_steps=max_steps, **counting([1]))

    (problem,) = caught.value.problems
    assert problem.startswith("'max_steps': expected a whole number from 1 to 2**63-1, got ")


def test_a_run_is_told_about_after_every_so_many_steps() -> None:
    reports: list[eagle.RunReport] = []
    planes = counting([100, 499, 1000])

    result = eagle.simulate(
        countdown, max_steps=500, every=200, on_progress=reports.append, **planes
    )

    assert [(200, 1), (400, 1), (500, 2)] == [(each.steps, each.finished) for each in reports]
    assert ["running", "running", "max_steps"] == [each.status for each in reports]
    assert {True} == {each.exact_steps for each in reports}
    assert "1 of 3 samples done so far: 200 steps in 1 launch (one pass)" in str(reports[0])
    assert {200: 2, 100: 1} == result.report.launches_by_k
    assert reports[-1] == result.report
    assert [100, 499, 500] == result.taken.tolist()


def test_launches_end_where_the_run_is_told_about() -> None:
    steps: list[int] = []

    report = eagle.run_until_done(
        countdown.again(16),
        max_steps=1000,
        every=100,
        on_progress=lambda report: steps.append(report.steps),
        **counting([10, 250]),
    )

    assert [100, 200, 264] == steps
    assert {16: 16, 4: 2} == report.launches_by_k


def test_a_simulation_cannot_be_used_while_it_tells_about_its_run() -> None:
    simulation: eagle.Simulation

    def again(_: eagle.RunReport) -> None:
        simulation.run()

    simulation = eagle.simulation(
        countdown, max_steps=9, every=1, on_progress=again, **counting([3])
    )

    with pytest.raises(eagle.Busy):
        simulation.run()


@pytest.mark.parametrize("door", [eagle.simulation, eagle.until_done])
def test_steps_can_be_counted_sample_by_sample(door: Any) -> None:
    planes = counting([1, 70, 300, 9])
    simulation = door(countdown, max_steps=100, count_steps=True, **planes)

    first = simulation.run()

    assert [1, 70, 100, 9] == first.steps_taken.tolist()
    assert np.int64 == first.steps_taken.dtype
    assert (100, True) == (first.steps, first.report.exact_steps)
    assert ["left", "taken"] == list(first.planes)
    assert () == first.allocated

    second = simulation.run()

    assert [0, 0, 100, 0] == second.steps_taken.tolist()
    assert [1, 70, 100, 9] == first.steps_taken.tolist()
    assert [1, 70, 200, 9] == second.taken.tolist()

    simulation.reset()
    assert [1, 70, 100, 9] == simulation.run().steps_taken.tolist()


def test_an_exception_before_the_first_launch_has_a_result_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    planes = counting([1, 70])
    simulation = eagle.simulation(countdown, max_steps=100, count_steps=True, **planes)
    course = simulation._new_course

    def struck() -> Any:
        monkeypatch.undo()
        course()
        simulation._course = None
        raise KeyboardInterrupt

    monkeypatch.setattr(simulation, "_new_course", struck)
    with pytest.raises(KeyboardInterrupt) as stopped:
        simulation.run()

    result = stopped.value.result  # pyright: ignore[reportAttributeAccessIssue]
    assert ("interrupted", 0, 0) == (result.status, result.report.finished, result.report.launches)
    assert [0, 0] == result.steps_taken.tolist()
    assert [1, 70] == simulation.run().steps_taken.tolist()


def test_who_does_not_count_steps_pays_nothing_for_it() -> None:
    result = eagle.simulate(countdown, max_steps=100, **counting([3]))

    assert result.steps_taken is None
    with pytest.raises(AttributeError, match="no plane 'steps_take'"):
        result.steps_take  # noqa: B018


def test_an_exact_count_makes_the_report_exact() -> None:
    report = eagle.run_until_done(countdown, max_steps=1000, count_steps=True, **counting([70]))

    assert (70, True, {64: 2}) == (report.steps, report.exact_steps, report.launches_by_k)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"every": 0},
            "'every': expected a whole number from 1 to 2**63-1, got 0; write every=1_000",
        ),
        (
            {"every": 2.5},
            "'every': expected a whole number from 1 to 2**63-1, got 2.5; write every=1_000",
        ),
        ({"every": 9, "on_progress": 7}, "'on_progress': expected a function, got 7"),
        (
            {"on_progress": print},
            "'on_progress': say how often; write every=1000, steps between two calls",
        ),
        ({"progress": 5}, "'progress': expected True or False, got 5"),
        ({"count_steps": "yes"}, "'count_steps': expected True or False, got 'yes'"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(eagle.BindError) as caught:
        eagle.simulate(countdown, max_steps=9, **options, **counting([1]))

    assert (said,) == caught.value.problems


def test_results_and_simulations_show_what_happened_at_a_prompt() -> None:
    simulation = eagle.simulation(countdown, max_steps=5, **counting([3, 9]))
    assert "<Simulation of countdown, n=2: ready>" == repr(simulation)

    result = simulation.run()

    assert f"<SimResult left, taken: {result.report}>" == repr(result)
    assert "<Simulation of countdown, n=2: max_steps>" == repr(simulation)
    assert str(result).startswith(
        "1 of 2 samples done, 1 stopped at max_steps=5 (worst: sample 1): 5 steps in 1 launch"
    )


@pytest.mark.parametrize("threads", [0, -1, 1.5, True])
def test_threads_must_be_in_range(threads: Any) -> None:
    with pytest.raises(eagle.BindError, match="^eagle.simulate: 'threads': expected a whole"):
        eagle.simulate(countdown, max_steps=1, threads=threads, **counting([1]))


@pytest.mark.parametrize("door", [eagle.simulate, eagle.run_until_done])
def test_a_kernel_that_never_finishes_is_told_how(door: Any) -> None:
    with pytest.raises(eagle.BindError) as caught:
        door(double, max_steps=10, x=np.ones(2))

    (problem,) = caught.value.problems
    assert "double never finishes a sample; write `terminated: Terminated` in its" in problem
    assert "hawk.steps(double, 1000)" in problem


@pytest.mark.parametrize("door", [eagle.simulation, eagle.until_done])
def test_only_kernels_are_run(door: Any) -> None:
    with pytest.raises(TypeError, match="expected a kernel, got len; write @hawk.kernel"):
        door(len, max_steps=1)


def test_outputs_are_in_the_result() -> None:
    import hawk
    from hawk import Mutable, Scalar, Terminated

    @hawk.kernel
    def fall(z: Mutable[Scalar], landed: Terminated) -> Scalar:
        z -= 1.0
        landed = z <= 0.0
        return z * 2

    kernel = StandIn(fall, lambda z, landed: {"z": z - 1, "landed": z <= 1, "out": 2 * z - 2})
    out = np.zeros(2)

    result = eagle.simulate(kernel, max_steps=9, z=np.array([1.0, 2.5]), out=out)

    assert out is result.out
    assert [0.0, -1.0] == out.tolist()


def test_an_output_may_not_be_an_input_of_a_run() -> None:
    import hawk
    from hawk import Scalar, Terminated

    @hawk.kernel
    def once(x: Scalar, stop: Terminated) -> Scalar:
        stop = True
        return x

    x = np.ones(2)

    with pytest.raises(eagle.BindError, match="'x': shares memory with 'out'"):
        eagle.simulate(StandIn(once, lambda x, stop: {}), max_steps=1, x=x, out=x)
