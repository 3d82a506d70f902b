"""A kernel asks which sample it is in, of how many, and in which step, at every door."""

from __future__ import annotations

import re
from typing import Any
from unittest import mock

import numpy as np
import pytest

import eagle
import hawk
from eagle.devices.base import Partition
from eagle.devices.host import device as host_device
from eagle.devices.host.device import HOST
from eagle.devices.host.memory import address_of
from hawk import Index, Int32, Mutable, Param, Scalar, Table, Terminated
from hawk.checks import CheckError
from hawk.ir.types import DType
from hawk.passes.pipeline import optimise
from hawk.reference import interpret, run_python
from hawk.targets.base import raw_word
from hawk.targets.cpu.compile import compile_function
from hawk.targets.cpu.width import variant
from tests.oracle.batch import Batch, launch
from tests.unit.targets.machines import runnable


@hawk.kernel
def where(seen: Mutable[Index]) -> tuple[Index, Index]:
    seen += hawk.step_index()
    return hawk.sample_index(), hawk.n_samples()


@hawk.kernel
def digits(trace: Mutable[Index], terminated: Terminated) -> Index:
    """Write the number of each step as a digit; sample i takes i % 5 + 1 steps."""
    trace = trace * 10 + hawk.step_index() + 1
    terminated = hawk.step_index() >= hawk.sample_index() % 5
    return hawk.sample_index()


def of_digits(n: int, most: int = 9) -> list[int]:
    return [int("12345"[: min(i % 5 + 1, most)]) for i in range(n)]


@pytest.mark.parametrize("n", [0, 1, 3, 16, 1003])
def test_a_call_knows_the_index_of_each_sample(n: int) -> None:
    index, count = where(np.zeros(n, np.int64))
    assert list(range(n)) == index.tolist()
    assert [n] * n == count.tolist()


def test_a_lone_sample_is_the_first_of_one() -> None:
    assert (0, 1) == where(7)


@pytest.mark.parametrize("steps", [1, 2, 7, 100])
def test_a_call_of_several_steps_counts_them(steps: int) -> None:
    seen = np.zeros(37, np.int64)
    hawk.steps(where, steps)(seen)
    hawk.steps(where, steps)(seen)  # each call begins at 0
    assert [steps * (steps - 1)] * 37 == seen.tolist()


@pytest.mark.parametrize("width", [1, 2, 4, 8])
@pytest.mark.parametrize("chains", [1, 3])
@pytest.mark.parametrize("machine", runnable())
def test_every_width_gives_each_lane_its_own(machine: str, width: int, chains: int) -> None:
    fn = optimise(digits.trace(DType.F64))
    host = runnable()[machine]
    compiled = compile_function(fn, host, variant(fn, host, width, chains))
    batch = Batch.of(compiled.planes, {"trace": [0] * 45}, {})
    launch(compiled, batch, 2, piece=7)
    launch(compiled, batch, 1)
    launch(compiled, batch, 9, piece=20)
    assert of_digits(45) == batch.arrays["trace"].tolist()
    assert list(range(45)) == batch.arrays["out"].tolist()


@pytest.mark.parametrize("steps", [1, 2, 3, 16, "auto"])
def test_a_run_counts_each_samples_own_steps(steps: Any) -> None:
    trace = np.zeros(203, np.int64)
    eagle.run_until_done(hawk.steps(digits, steps), max_steps=99, trace=trace)
    assert of_digits(203) == trace.tolist()


@pytest.mark.parametrize("options", [{}, {"count_steps": True}, {"every": 2}, {"threads": 2}])
def test_simulate_counts_each_samples_own_steps(options: dict[str, Any]) -> None:
    trace = np.zeros(5003, np.int64)
    result = eagle.simulate(digits, max_steps=99, trace=trace, **options)
    assert of_digits(5003) == trace.tolist()
    assert list(range(5003)) == result.out.tolist()
    if options.get("count_steps"):
        assert [i % 5 + 1 for i in range(5003)] == result.steps_taken.tolist()
    assert ["out"] == list(result.allocated) or not result.allocated


def test_a_run_that_goes_on_after_the_cap_counts_on_and_reset_begins_again() -> None:
    trace = np.zeros(23, np.int64)
    run = eagle.simulation(digits, max_steps=2, trace=trace)
    run.run()
    assert of_digits(23, 2) == trace.tolist()
    run.run()
    assert of_digits(23, 4) == trace.tolist()
    run.reset()
    run.run()
    run.run()
    run.run()
    assert of_digits(23) == trace.tolist()


def test_an_interrupted_run_counts_on() -> None:
    @hawk.kernel
    def long(total: Mutable[Index], terminated: Terminated):
        total += hawk.step_index() * (hawk.sample_index() + 1)
        terminated = hawk.step_index() >= 3999

    n, rounds = 3001, 0
    total = np.zeros(n, np.int64)
    run = eagle.simulation(long, max_steps=10_000, every=500, on_progress=_stop, total=total)
    while True:
        try:
            run.run()
            break
        except KeyboardInterrupt:
            rounds += 1
    assert rounds == 8
    assert [3999 * 2000 * (i + 1) for i in range(n)] == total.tolist()


def _stop(_: object) -> None:
    raise KeyboardInterrupt


def test_rows_that_a_launch_left_keep_their_index() -> None:
    """Code that is sent back to Python as often as can be leaves rows, which are taken up again."""
    compiled = digits.compile(DType.F64)
    batch = Batch.of(compiled.planes, {"trace": [0] * 300}, {})
    launch(compiled, batch, 9, piece=100, window=1)
    assert of_digits(300) == batch.arrays["trace"].tolist()
    assert list(range(300)) == batch.arrays["out"].tolist()


def test_a_map_keeps_the_index_and_the_step() -> None:
    trace = np.zeros(300, np.int64)
    bound = eagle.deploy(digits).bind(trace=trace)
    active = eagle.ActiveSet(bound.finished)
    while active.compact():
        bound.launch(active=active)
    assert of_digits(300) == trace.tolist()
    assert list(range(300)) == bound.planes["out"].tolist()


def test_a_partition_counts_from_the_whole_batch() -> None:
    compiled = where.compile(DType.F64)
    seen, out0, out1, steps = (np.zeros(100, np.int64) for _ in range(4))
    planes = {"seen": seen, "out0": out0, "out1": out1, "step index": steps, "sample index": 0}
    given: list[Any] = [
        raw_word(100, DType.I64) if s.name == "n samples" else planes[s.name]
        for s in compiled.planes
    ]
    words = [each if isinstance(each, int) else address_of(each) for each in given]
    HOST.load(compiled, given, words, Partition(base=37, count=20, n=100)).launch(1)
    assert [i if 37 <= i < 57 else 0 for i in range(100)] == out0.tolist()
    assert [100 if 37 <= i < 57 else 0 for i in range(100)] == out1.tolist()


@pytest.mark.parametrize(("kernel", "asks"), [(where, "sample_index"), (digits, "sample_index")])
def test_a_set_that_moves_samples_is_refused(kernel: Any, asks: str) -> None:
    plane = kernel.parameters[0].name
    arrays = {plane: np.zeros(64, np.int64)}
    bound = eagle.deploy(kernel).bind(**arrays)
    mask = np.zeros(64, bool) if bound.finished is None else bound.finished
    active = eagle.ActiveSet(mask, reorder=0.5, planes=tuple(arrays.values()))
    message = (
        f"launch: 'active': moves samples, and {kernel.name} asks for hawk.{asks}() or for random "
        "numbers, which belongs to a place in the arrays; write eagle.ActiveSet(bound.finished)"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        bound.launch(active=active)


def test_a_set_that_moves_samples_is_refused_where_steps_are_counted() -> None:
    @hawk.kernel
    def counts(x: Mutable[Scalar]):
        x += hawk.step_index()

    x = np.zeros(64)
    bound = eagle.deploy(counts).bind(x=x)
    active = eagle.ActiveSet(np.zeros(64, bool), reorder=0.5, planes=(x,))
    with pytest.raises(ValueError, match=re.escape("counts asks for hawk.step_index(), which")):
        bound.launch(active=active)


def test_nobody_sees_the_planes_that_nobody_passes() -> None:
    bound = eagle.deploy(where).bind(seen=np.zeros(3, np.int64))
    assert ["seen", "out0", "out1"] == list(bound.planes)
    assert () == bound.allocated


@pytest.mark.parametrize("real", [np.float64, np.float32])
def test_both_oracles_agree(real: Any) -> None:
    @hawk.kernel
    def inner(x: Scalar) -> Scalar:
        return x + hawk.sample_index()

    @hawk.kernel
    def outer(a: Param, x: Mutable[Scalar], i: Mutable[Int32]) -> Scalar:
        x = inner(x) * a + hawk.step_index()
        for k in range(hawk.n_samples()):
            i += hawk.int32(hawk.sample_index() + k)
        return x / (hawk.sample_index() - 1)

    x, i = np.linspace(0, 1, 11, dtype=real), np.arange(11, dtype=np.int32)
    first = run_python(outer, 0.5, x, i, steps=5)
    second = interpret(outer, 0.5, x, i, steps=5)
    x, i = x.copy(), i.copy()
    out = hawk.steps(outer, 5)(0.5, x, i)
    for name, got in (("x", x), ("i", i), ("out", out)):
        assert first[name].tobytes() == second[name].tobytes() == got.tobytes()


def test_checks_replay_the_sample_that_it_was() -> None:
    @hawk.kernel(checks=True)
    def checked(x: Mutable[Scalar]):
        x += 1.0
        assert hawk.sample_index() * 100 + hawk.step_index() != 703, "this one"

    with pytest.raises(CheckError, match="sample 7 failed at step 4: this one"):
        hawk.steps(checked, 9)(np.zeros(20))


def test_prints_show_where_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    @hawk.kernel(checks=True)
    def shows(x: Mutable[Scalar]):
        if hawk.sample_index() == 5:
            print(hawk.sample_index(), hawk.n_samples(), hawk.step_index())
        x += 1.0

    hawk.steps(shows, 2)(np.zeros(9))
    assert [
        "sample 5, step 1: 5 9 0",
        "sample 5, step 2: 5 9 1",
    ] == capsys.readouterr().out.splitlines()


def test_it_is_known_in_a_kernel_only() -> None:
    for function in (hawk.sample_index, hawk.n_samples, hawk.step_index):
        with pytest.raises(TypeError, match=f"{function.__name__}.. is known in a kernel only"):
            function()


def test_several_launches_of_a_bound_kernel_count_on() -> None:
    seen = np.zeros(5, np.int64)
    bound = eagle.deploy(hawk.steps(where, 10)).bind(seen=seen)
    bound.launch(3)
    bound.launch(4)
    assert [21] * 5 == seen.tolist()


def test_all_stages_of_a_launch_agree() -> None:
    for stage in (0, 1, 2):
        trace = np.zeros(2003, np.int64)
        with mock.patch.object(host_device, "ALONE", stage):
            eagle.simulate(digits, max_steps=99, trace=trace)
        assert of_digits(2003) == trace.tolist()


def test_reductions_know_where_a_sample_is() -> None:
    @hawk.kernel
    def weighted(t: Table[Scalar], x: Mutable[Scalar]) -> Index:
        total = hawk.sum(t[hawk.sample_index()] * hawk.step_index())
        x += total
        return hawk.sample_index()

    t, x = np.arange(40.0), np.zeros(40)
    first = run_python(weighted, t, x, steps=3)
    second = interpret(weighted, t, x, steps=3)
    out = hawk.steps(weighted, 3)(t, x)
    assert [780.0 * 3] * 40 == x.tolist() == first["x"].tolist() == second["x"].tolist()
    assert list(range(40)) == out.tolist()
