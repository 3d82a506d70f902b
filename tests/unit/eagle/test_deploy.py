"""Calling a kernel at once, and binding it to launch often."""

import threading
import warnings
from typing import Any

import numpy as np
import pytest

import eagle
from tests.unit.eagle.kernels import (
    countdown,
    double,
    grow,
    kinds,
    measure,
    oscillator,
    pair,
    swinging,
)
from tests.unit.eagle.stand_in import StandIn

# -- direct calls ----------------------------------------------------------------------------------


def test_a_call_returns_what_the_kernel_returns() -> None:
    x = np.arange(3.0)

    assert [0.0, 2.0, 4.0] == double(x).tolist()
    assert ([0.0, 2.0, 4.0], [1.0, 2.0, 3.0]) == tuple(out.tolist() for out in pair(x))


def test_without_return_it_returns_the_state() -> None:
    x = np.ones(2)

    after, age = grow(x, 3.0)
    last = measure(x)

    assert x is after
    assert [3.0, 3.0] == x.tolist() == last.tolist()
    assert [2.0, 2.0] == age.tolist()


def test_planes_are_given_as_python_would_bind_them() -> None:
    x, omega = np.ones(2), np.ones(2)

    oscillator(omega, 1.0, dt=0.5, x=x, v=np.ones(2), t=np.zeros(2))

    assert [1.5, 1.5] == x.tolist()


def test_keyword_only_planes_are_not_filled_by_position() -> None:
    import hawk
    from hawk import Param, Scalar

    @hawk.kernel
    def scale(x: Scalar, *, by: Param) -> Scalar:
        return x * by

    kernel = StandIn(scale, lambda x, by: {"out": x * by})

    with pytest.raises(eagle.BindError) as caught:
        kernel([1.0], 2.0)

    assert ("expected 1 plane by position (x), got 2; write by=...",) == caught.value.problems


def test_a_plane_may_be_given_once() -> None:
    with pytest.raises(eagle.BindError, match="^double: 'x': given twice, by position and by name"):
        double([1.0], x=[1.0])


def test_lists_and_integers_are_converted() -> None:
    assert [2.0, 4.0] == double([1, 2]).tolist()
    assert [2.0, 4.0] == double(np.array([1, 2])).tolist()
    assert [202, 204] == kinds([0, 1], (1, 1), [False, True], k=200, on=True).tolist()


def test_a_list_takes_the_width_of_the_arrays() -> None:
    kernel = oscillator.again(1)
    planes = swinging(2, np.float32) | {"x": [1, 2]}

    x, *_ = kernel(**planes)

    assert np.float32 == x.dtype


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([[1.0], [2.0, 3.0]], "'x': expected float64 (2,), got a list"),
        (["a", "b"], "'x': expected float64 (2,), got <U1 (2,)"),
        ([True, False], "'x': expected float64 (2,), got bool (2,)"),
    ],
)
def test_what_has_no_meaning_as_a_plane_is_refused(value: Any, said: str) -> None:
    with pytest.raises(eagle.BindError) as caught:
        double(value)

    assert caught.value.problems[0].startswith(said)


def test_state_of_another_type_is_refused_because_it_is_changed_in_place() -> None:
    with pytest.raises(eagle.BindError, match=r"'x': expected float64 \(2,\), got int64 \(2,\)"):
        grow(np.array([1, 2]), 2.0)


def test_mixed_widths_are_refused() -> None:
    with pytest.raises(eagle.BindError, match="or give every plane as float32"):
        pair(np.ones(2), np.ones(2, np.float32))


def test_a_number_for_an_input_holds_for_all_samples() -> None:
    kernel = pair.again(1)

    first, _ = kernel(np.arange(2.0), 10)

    assert [0.0, 10.0] == first.tolist()
    assert [frozenset({"a"})] == [uniform for _, uniform in kernel.compiled]


def test_numbers_alone_are_a_lone_sample() -> None:
    out = double(2)
    x, age = grow(3.0, 2.0, age=0)

    assert 4.0 == out
    assert (6.0, 1.0) == (x, age)
    assert all(np.float64 is type(value) for value in (out, x, age))


def test_n_makes_a_batch_of_numbers() -> None:
    assert [4.0] * 3 == double(2.0, n=3).tolist()


def test_an_array_of_shape_nothing_is_changed_in_place() -> None:
    x = np.array(3.0)

    after, _ = grow(x, 2.0)

    assert x is after
    assert 6.0 == x


def test_a_number_for_the_state_of_a_batch_is_refused() -> None:
    planes = swinging(4) | {"x": 1.0}

    with pytest.raises(
        eagle.BindError, match=r"'x': expected float64 \(4,\), got 1.0; write np.full"
    ):
        oscillator(**planes)


def test_strided_arrays_are_copied_in_and_out_with_one_warning() -> None:
    memory, rate = np.ones(6), 2.0

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        x, age = grow(memory[::2], rate, np.zeros(9)[::3])

    assert [2.0, 1.0, 2.0, 1.0, 2.0, 1.0] == memory.tolist()
    assert np.shares_memory(memory, x)
    assert [1.0] * 3 == age.tolist()
    (warning,) = caught
    assert eagle.PerformanceWarning is warning.category
    assert __file__ == warning.filename
    assert (
        "grow: copied what is strided: 'x', 'age'; "
        "give contiguous arrays (np.ascontiguousarray) to avoid it"
    ) == str(warning.message)


def test_the_callers_strided_output_is_filled() -> None:
    memory = np.zeros(4)

    with pytest.warns(eagle.PerformanceWarning, match="'out'"):
        out = double(np.ones(2), out=memory[::2])

    assert [2.0, 0.0, 2.0, 0.0] == memory.tolist()
    assert np.shares_memory(memory, out)


@pytest.mark.parametrize(("steps", "taken"), [(1, 1), (5, 5), ("auto", 1)])
def test_a_call_takes_the_steps_of_one_launch_and_one_for_auto(steps: Any, taken: int) -> None:
    left = np.full(3, 100)

    countdown.again(steps)(left, np.zeros(3, int))

    assert [100 - taken] * 3 == left.tolist()


def test_a_sample_that_is_done_keeps_everything() -> None:
    left, mask = np.array([5, 5]), np.array([True, False])

    countdown(left, [0, 0], mask)

    assert [5, 4] == left.tolist()


def test_a_kernel_can_be_called_as_a_kernel_and_deployed() -> None:
    assert [2.0] == eagle.deploy(double)([1.0]).tolist() == double([1.0]).tolist()


@pytest.mark.parametrize(
    ("thing", "said"),
    [
        (len, "eagle.deploy: expected a kernel, got len; write @hawk.kernel above its def"),
        (3, "eagle.deploy: expected a kernel, got 3"),
    ],
)
def test_only_kernels_are_deployed(thing: Any, said: str) -> None:
    with pytest.raises(TypeError) as caught:
        eagle.deploy(thing)

    assert said == str(caught.value)


# -- bind once, launch often -----------------------------------------------------------------------


def launched(kernel: StandIn, *steps: int | None) -> list[int]:
    """Steps taken after each launch."""
    taken = np.zeros(1, int)
    bound = eagle.deploy(kernel).bind(left=np.full(1, 1000), taken=taken)
    counts: list[int] = []
    for number in steps:
        bound.launch(number)
        counts.append(int(taken[0]))
    return counts


@pytest.mark.parametrize(("steps", "taken"), [(1, 1), (5, 5), ("auto", 64)])
def test_a_launch_takes_what_the_kernel_says(steps: Any, taken: int) -> None:
    assert [taken, 2 * taken] == launched(countdown.again(steps), None, None)


def test_a_launch_may_take_fewer_steps() -> None:
    assert [3, 6, 7] == launched(countdown, 3, np.int32(3), 1)


@pytest.mark.parametrize(
    ("steps", "asked", "said"),
    [
        (1, 2, "from 1 to 1, got 2; for longer launches bind hawk.steps(countdown, 2)"),
        ("auto", 65, "from 1 to 64, got 65; for longer launches bind hawk.steps(countdown, 65)"),
        (5, 0, "from 1 to 5, got 0"),
        (5, 2.5, "from 1 to 5, got 2.5"),
        (5, True, "from 1 to 5, got True"),
    ],
)
def test_a_launch_takes_no_more_than_the_kernel_says(steps: Any, asked: Any, said: str) -> None:
    with pytest.raises(ValueError, match="launch") as caught:
        launched(countdown.again(steps), asked)

    assert f"launch: expected steps {said}" == str(caught.value)


def test_a_bound_kernel_shows_its_planes() -> None:
    left = np.array([1, 2])
    bound = eagle.deploy(countdown).bind(left=left, taken=np.zeros(2, int))

    bound.launch(1)

    assert left is bound.planes["left"]
    assert ["left", "taken"] == list(bound.planes)
    assert [True, False] == bound.finished.tolist()
    assert 2 == bound.n
    assert countdown is bound.kernel
    assert eagle.deploy(double).bind(x=np.ones(1)).finished is None


def test_two_threads_may_not_launch_one_bound_kernel() -> None:
    inside, go_on = threading.Event(), threading.Event()

    def slow(x: Any) -> dict[str, Any]:
        inside.set()
        go_on.wait()
        return {"out": x}

    bound = eagle.deploy(StandIn(double, slow)).bind(x=np.ones(1))
    first = threading.Thread(target=bound.launch)
    first.start()
    assert inside.wait(timeout=60)

    with pytest.raises(eagle.Busy, match="this Bound of double is being launched by another"):
        bound.launch()

    go_on.set()
    first.join()
    bound.launch()
