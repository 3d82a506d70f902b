"""Arrays and numbers against a kernel's signature: every check and every message."""

import pickle
from typing import Any

import numpy as np
import pytest

import eagle
from hawk.ir.types import DType
from tests.unit.eagle.kernels import double, grow, kinds, measure, oscillator, pair, swinging
from tests.unit.eagle.stand_in import StandIn


def refusal(kernel: StandIn, **planes: Any) -> tuple[str, ...]:
    """What binding says is wrong."""
    with pytest.raises(eagle.BindError) as caught:
        eagle.deploy(kernel).bind(**planes)
    return caught.value.problems


def test_one_problem_is_one_line() -> None:
    planes = swinging() | {"v": np.zeros(1000, np.float32)}

    with pytest.raises(eagle.BindError) as caught:
        eagle.simulate(oscillator, max_steps=10, **planes)

    assert (
        "eagle.simulate: 'v': expected float64 (1000,), got float32 (1000,); "
        "write v.astype(np.float64), or give every plane as float32"
    ) == str(caught.value)


def test_all_problems_are_in_one_message() -> None:
    planes: Any = swinging(4) | {"x": [1.0] * 4, "v": np.zeros(8)[::2], "dt": "0.1", "omgea": 1.0}
    del planes["t_end"]

    with pytest.raises(eagle.BindError) as caught:
        eagle.simulate(oscillator, max_steps=0, **planes)

    assert (
        """\
eagle.simulate: 6 problems with the arguments of oscillator
  'max_steps': expected a whole number from 1 to 2**63-1, got 0; \
write max_steps=1_000_000
  'omgea': oscillator has no such plane; did you mean 'omega'?
  't_end': not given; expected one float64 for the whole launch; write t_end=...
  'dt': expected a number (float64), got '0.1'; write float(dt)
  'x': expected float64 (4,), got a list; write np.asarray(x, dtype=np.float64)
  'v': expected contiguous float64 (4,), got float64 (4,) with a stride of 16 bytes; \
write np.ascontiguousarray(v)"""
    ) == str(caught.value)


def test_the_error_pickles() -> None:
    error = eagle.BindError("eagle.simulate", "step", ("'x': not given", "'y': not given"))

    again = pickle.loads(pickle.dumps(error))

    assert str(error) == str(again)
    assert error.problems == again.problems
    assert isinstance(again, ValueError)


def test_nothing_is_touched_when_something_is_refused() -> None:
    planes = swinging(8)
    before = {name: np.copy(value) for name, value in planes.items()}

    refusal(oscillator, **planes, speed=1.0)

    assert all(np.array_equal(before[name], planes[name]) for name in planes)


@pytest.mark.parametrize(
    ("kernel", "name", "said"),
    [
        (oscillator, "omgea", "oscillator has no such plane; did you mean 'omega'?"),
        (grow, "zzz", "grow has no such plane; it has x, rate, age"),
        (double, "out1", "double has no such plane; it has x"),
        (
            pair,
            "out1",
            "is what pair returns; write out=(out0, out1), the arrays to return them in",
        ),
    ],
)
def test_an_unknown_name_gets_a_suggestion(kernel: StandIn, name: str, said: str) -> None:
    assert f"{name!r}: {said}" in refusal(kernel, **{name: np.zeros(3)})


def test_a_misspelt_plane_is_not_missing_too() -> None:
    planes: Any = swinging(4)
    planes["omgea"] = planes.pop("omega")

    assert 1 == len(refusal(oscillator, **planes))


# -- float width -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("dtype", "real"), [(np.float64, DType.F64), (np.float32, DType.F32)])
def test_the_float_width_is_that_of_the_arrays(dtype: Any, real: DType) -> None:
    kernel = oscillator.again("auto")

    eagle.deploy(kernel).bind(**swinging(4, dtype))

    assert [(real, frozenset())] == kernel.compiled


def test_without_float_arrays_it_is_float64() -> None:
    kernel = grow.again(1)

    eagle.deploy(kernel)([1, 2], np.float32(2.0))

    assert [(DType.F64, frozenset())] == kernel.compiled


def test_the_width_that_most_planes_have_is_expected_of_the_others() -> None:
    planes = swinging(4, np.float32) | {"x": np.zeros(4)}

    assert (
        (
            "'x': expected float32 (4,), got float64 (4,); write x.astype(np.float32), "
            "or give every plane as float64"
        ),
    ) == refusal(oscillator, **planes)


def test_the_kernel_may_fix_the_width() -> None:
    from hawk.kernel import Kernel

    kernel = StandIn(Kernel(double.program, steps=1, dtype="float32"), double.numpy_step)

    assert (
        (
            "'x': expected float32 (2,), got float64 (2,); write x.astype(np.float32), "
            "or take dtype='float32' off the kernel"
        ),
    ) == refusal(kernel, x=np.zeros(2))


def test_a_parameter_of_shape_nothing_says_nothing_about_the_width() -> None:
    kernel = oscillator.again("auto")
    planes = swinging(4, np.float32) | {"dt": np.array(1e-3), "t_end": np.float64(1.0)}

    eagle.deploy(kernel).bind(**planes)

    assert [(DType.F32, frozenset())] == kernel.compiled


# -- number of samples -----------------------------------------------------------------------------


def test_planes_of_different_length_are_held_against_most() -> None:
    planes = swinging(4) | {"v": np.zeros(5)}

    assert ("'v': expected float64 (4,) like 'omega', got float64 (5,); write v[:4]",) == refusal(
        oscillator, **planes
    )


def test_an_array_of_one_element_tells_no_number_of_samples_where_there_are_others() -> None:
    planes = swinging(1) | {"x": np.zeros(4)}

    assert ("omega", "v", "t") == tuple(
        problem.split("'")[1] for problem in refusal(oscillator, **planes)
    )


def test_n_counts_where_no_array_tells() -> None:
    kernel = StandIn(grow, grow.numpy_step, unread=("x",))

    bound = eagle.deploy(kernel).bind(n=3, rate=2.0)

    assert (3,) == bound.planes["x"].shape
    assert ("'n': not known, because no plane is given as an array; write n=...",) == refusal(
        kernel, rate=2.0
    )


def test_n_is_held_against_the_arrays() -> None:
    assert ("'n': expected 2 like 'x', got 3; leave n= out",) == refusal(double, n=3, x=np.ones(2))


@pytest.mark.parametrize("n", [-1, 2.5, True, "3"])
def test_n_must_be_a_whole_number(n: Any) -> None:
    assert any(
        problem.startswith("'n': expected a whole number of at least 0, got ")
        for problem in refusal(double, n=n, x=np.ones(2))
    )


def test_a_batch_may_be_empty() -> None:
    result = eagle.simulate(oscillator, max_steps=10, **swinging(0))

    assert result.done
    assert 0 == result.report.launches == result.steps


def test_values_of_the_shape_of_one_sample_are_a_batch_of_one() -> None:
    x, rate = np.array(3.0), 2.0

    bound = eagle.deploy(grow).bind(x=x, rate=rate)
    bound.launch()

    assert 1 == bound.n
    assert 6.0 == x
    assert () == bound.planes["age"].shape


def test_one_sample_among_a_batch_is_refused() -> None:
    planes = swinging(4) | {"x": np.array(1.0)}

    assert (
        "'x': expected float64 (4,) like 'omega', got float64 (); write np.full(4, x)",
    ) == refusal(oscillator, **planes)


# -- parameters and defaults -----------------------------------------------------------------------


def test_numbers_reach_the_kernel_in_their_own_type() -> None:
    i, j, flag = np.arange(3), np.ones(3, np.int32), np.array([False, True, False])

    out = eagle.deploy(kinds)(i, j, flag, k=np.uint8(200), on=True)

    assert [202, 204, 204] == out.tolist()


def test_an_input_at_its_default_is_a_uniform() -> None:
    kernel = pair.again(1)

    bound = eagle.deploy(kernel).bind(x=np.ones(3))
    bound.launch()

    assert [(DType.F64, frozenset({"a"}))] == kernel.compiled
    assert [2.0] * 3 == bound.planes["out0"].tolist() == bound.planes["out1"].tolist()


def test_a_number_for_an_input_is_refused_where_nothing_is_converted() -> None:
    assert ("'a': expected float64 (3,), got 2.0; write np.full(3, a)",) == refusal(
        pair, x=np.ones(3), a=2.0
    )


def test_state_with_a_default_starts_there_and_is_allocated() -> None:
    bound = eagle.deploy(grow).bind(x=np.ones(2), rate=2.0)

    assert [1.0, 1.0] == bound.planes["age"].tolist()
    assert ("age",) == bound.allocated


def test_state_that_is_never_read_may_be_left_out() -> None:
    result = eagle.simulate(measure, max_steps=1, x=np.arange(3.0))

    assert [0.0, 1.0, 2.0] == result.last.tolist()
    assert ("last",) == result.allocated


def test_state_that_is_read_may_not() -> None:
    assert ("'x': not given; expected float64 (2,); write x=...",) == refusal(grow, rate=1.0, n=2)


# -- the mask --------------------------------------------------------------------------------------


def test_the_mask_is_made_unless_it_is_passed() -> None:
    made = eagle.deploy(oscillator).bind(**swinging(3))
    mask = np.array([False, True, False])
    passed = eagle.deploy(oscillator).bind(**swinging(3), terminated=mask)

    assert [False] * 3 == made.finished.tolist()
    assert mask is passed.finished


def test_a_mask_is_bool() -> None:
    assert (
        (
            "'terminated': expected bool (3,), got float64 (3,); write terminated.astype(np.bool), "
            "or leave it out: eagle makes it"
        ),
    ) == refusal(oscillator, **swinging(3), terminated=np.zeros(3))


# -- outputs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["out", "buffer"])
def test_the_callers_arrays_are_filled(option: str) -> None:
    first, second = np.zeros(2), np.zeros(2)
    out = np.zeros(2)

    eagle.deploy(pair).bind(x=np.ones(2), **{option: (first, second)}).launch()
    eagle.deploy(double).bind(x=np.ones(2), **{option: out}).launch()

    assert [2.0, 2.0] == first.tolist() == second.tolist() == out.tolist()


def test_one_array_of_several_may_be_left_to_eagle() -> None:
    second = np.zeros(2)

    bound = eagle.deploy(pair).bind(x=np.ones(2), out=(None, second))
    bound.launch()

    assert second is bound.planes["out1"]
    assert [2.0, 2.0] == bound.planes["out0"].tolist()


@pytest.mark.parametrize(
    ("kernel", "options", "said"),
    [
        (grow, {"out": np.zeros(2)}, "'out': grow returns nothing"),
        (pair, {"out": np.zeros(2)}, "'out': expected a tuple of 2 arrays, got an array of "),
        (pair, {"out": (np.zeros(2),)}, "'out': expected a tuple of 2 arrays, got a tuple of 1"),
        (double, {"out": np.zeros(3)}, "'out': expected float64 (2,) like 'x', got float64 (3,)"),
        (double, {"out": [0.0, 0.0]}, "'out': expected float64 (2,), got a list; write"),
        (
            double,
            {"out": np.zeros(2), "buffer": np.zeros(2)},
            "'buffer': is another name of out=; give one of them",
        ),
    ],
)
def test_arrays_for_outputs_must_fit(kernel: StandIn, options: Any, said: str) -> None:
    rate = {"rate": 1.0} if kernel is grow else {}

    (problem,) = refusal(kernel, x=np.ones(2), **rate, **options)

    assert problem.startswith(said)


# -- overlap ---------------------------------------------------------------------------------------


def test_two_state_planes_may_not_share_memory() -> None:
    memory = np.zeros(6)
    planes = swinging(4) | {"x": memory[:4], "v": memory[2:]}

    assert ("'v': shares memory with 'x', and both are written; write v.copy()",) == refusal(
        oscillator, **planes
    )


def test_an_input_may_not_share_memory_with_state() -> None:
    planes = swinging(4)
    planes["omega"] = planes["x"]

    assert ("'omega': shares memory with 'x', which is written; write omega.copy()",) == refusal(
        oscillator, **planes
    )


def test_inputs_may_share_memory() -> None:
    x = np.ones(3)

    bound = eagle.deploy(pair).bind(x=x, a=x)
    bound.launch()

    assert [1.0] * 3 == bound.planes["out0"].tolist()


def test_an_output_may_be_exactly_an_input_of_a_launch_of_one_step() -> None:
    x = np.arange(3.0)

    eagle.deploy(double).bind(x=x, out=x).launch()

    assert [0.0, 2.0, 4.0] == x.tolist()


def test_an_output_may_not_be_part_of_an_input() -> None:
    memory = np.zeros(4)

    assert ("'x': shares memory with 'out', which is written; write x.copy()",) == refusal(
        double, x=memory[1:], out=memory[:3]
    )


def test_a_kernel_that_takes_more_steps_may_not_write_into_its_input() -> None:
    import hawk
    from hawk import Mutable, Scalar

    @hawk.kernel(steps=2)
    def add(x: Scalar, total: Mutable[Scalar]) -> Scalar:
        total += x
        return total

    x = np.ones(2)

    assert ("'x': shares memory with 'out', which is written; write x.copy()",) == refusal(
        StandIn(add, lambda x, total: {"total": total + x, "out": total + x}),
        x=x,
        total=np.zeros(2),
        out=x,
    )
