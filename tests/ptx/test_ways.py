"""The other ways to launch a kernel: steps from memory, by a map, counting what became done."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hawk.ir.nodes import Function
from hawk.passes.pipeline import optimise
from hawk.targets.cpu.compile import compile_function
from hawk.targets.ptx.compile import entry_name, ptx_text
from hawk.targets.ways import Way, Words
from tests.oracle.batch import Batch, differences, launch
from tests.ptx import machine
from tests.ptx.parse import Module, parse
from tests.ptx.run import arguments, locked
from tests.unit.targets.by_hand import F64, PROGRAMS
from tests.unit.targets.test_differential import batch_for

grids = pytest.mark.parametrize(("blocks", "threads"), [(1, 32), (2, 16), (9, 32)])
SAMPLES = 70


@pytest.fixture(scope="module")
def counter() -> tuple[Function, Module, Any]:
    """A kernel whose samples stop each at its own step, with all its entries; and for the CPU."""
    fn = optimise(PROGRAMS["counter"](F64))
    return fn, parse(ptx_text(fn, "sm_75", tuple(Way))), compile_function(fn)


def batch(fn: Function, n: int = SAMPLES) -> Batch:
    found = batch_for(fn.planes, n, seed=1)
    found.arrays["limit"][:] = np.arange(n) % 9
    return found


def words(steps: int, live: int = -1, finished: int = 0) -> Any:
    found = np.zeros(len(Words), np.int64)
    found[Words.STEPS], found[Words.FINISHED], found[Words.LIVE] = steps, finished, live
    return found


def test_an_entry_is_called_like_its_way(counter: tuple[Function, Module, Any]) -> None:
    fn, module, _ = counter
    assert ["counter", "counter_auto", "counter_mapped", "counter_turns"] == list(module.kernels)
    assert list(module.kernels) == [entry_name(fn, way) for way in Way]


@grids
@pytest.mark.parametrize("n", [0, 1, SAMPLES])
def test_steps_come_from_memory(
    counter: tuple[Function, Module, Any], n: int, blocks: int, threads: int
) -> None:
    fn, module, compiled = counter
    expected = batch(fn, n)
    got, before = expected.copy(), np.count_nonzero(expected.arrays["terminated"])
    told = words(3, finished=100)
    name = entry_name(fn, Way.AUTO)
    for steps in (3, 1, 16):
        launch(compiled, expected, steps)
        told[Words.STEPS] = steps
        given = [*arguments(fn.planes, got), np.int64(n), told]
        machine.launch(module, given, kernel=name, blocks=blocks, threads=threads, seed=steps)
        now = np.count_nonzero(expected.arrays["terminated"])
        assert [steps, 100 + now - before, -1] == told.tolist()[:3]
    assert [] == differences(expected, got)


@grids
def test_a_map_says_which_samples_go_on(
    counter: tuple[Function, Module, Any], blocks: int, threads: int
) -> None:
    fn, module, compiled = counter
    expected = batch(fn)
    got = expected.copy()
    chosen = np.random.default_rng(2).permutation(SAMPLES)[:40]
    picked = chosen[~expected.arrays["terminated"][chosen]]
    launch(compiled, expected, 5, end=len(picked), picked=picked)
    told, places = words(5, live=len(picked)), np.append(picked, [-7, 10**9])  # never looked at
    given = [*arguments(fn.planes, got), told, locked(places)]
    name = entry_name(fn, Way.MAPPED)
    machine.launch(module, given, kernel=name, blocks=blocks, threads=threads)
    assert [] == differences(expected, got)
    assert np.count_nonzero(expected.arrays["terminated"][picked]) == told[Words.FINISHED]


def test_a_kernel_that_finishes_nobody_counts_nobody() -> None:
    fn = optimise(PROGRAMS["endless"](F64))
    module, got = parse(ptx_text(fn, "sm_75", (Way.AUTO,))), batch_for(fn.planes, 5)
    expected = got.copy()
    launch(compile_function(fn), expected, 4)
    machine.launch(module, [*arguments(fn.planes, got), np.int64(5), locked(words(4))])
    assert [] == differences(expected, got)


@grids
def test_the_longest_is_that_of_what_became_done(
    counter: tuple[Function, Module, Any], blocks: int, threads: int
) -> None:
    fn, module, _ = counter
    expected = batch(fn)
    due = 0
    for before in (0, 5, 100):
        got = expected.copy()
        open_before = ~expected.arrays["terminated"]
        told = words(6)
        told[Words.LONGEST] = before
        given = [*arguments(fn.planes, got), np.int64(SAMPLES), told]
        name = entry_name(fn, Way.AUTO)
        machine.launch(module, given, kernel=name, blocks=blocks, threads=threads)
        # Taken one step at a time: the last step in which some sample became done.
        taken, one = 0, expected.copy()
        for step in range(1, 7):
            left = np.count_nonzero(one.arrays["terminated"])
            launch(compile_function(fn), one, 1)
            if np.count_nonzero(one.arrays["terminated"]) > left:
                taken = step
        assert open_before.any()
        assert max(before, taken) == told[Words.LONGEST]
        due = max(due, taken)
    assert due > 1


def test_what_became_done_is_two_atomic_operations_a_thread(
    counter: tuple[Function, Module, Any],
) -> None:
    _, module, _ = counter
    found = [
        [ins.text for ins in kernel.body if ins.name in ("atom", "red")]
        for kernel in module.kernels.values()
    ]
    assert [0, 2, 2, 4] == [len(each) for each in found]
    assert all("add.u64" in one and "max.u64" in two for one, two in found[1:3])
