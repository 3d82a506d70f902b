"""Threads that take the next sample when theirs is done give the bits of the CPU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from hawk.ir.nodes import Function, Role
from hawk.ir.types import DType
from hawk.passes.pipeline import optimise
from hawk.targets.cpu.compile import compile_function
from hawk.targets.ptx.compile import ptx_text
from hawk.targets.ways import Way, Words
from tests.oracle.batch import Batch, differences, launch
from tests.oracle.harness import case_of, forget, load
from tests.oracle.programs import write
from tests.ptx.machine import Machine
from tests.ptx.parse import Module, parse
from tests.ptx.run import arguments
from tests.unit.targets.by_hand import PROGRAMS, REALS
from tests.unit.targets.test_differential import batch_for

USUAL = 200
"""Random programs of an ordinary run, of which some are tried here."""
ENDLESS = 2**40
"""Rounds that nobody comes to the end of."""
WARP = 32


class Watched(Machine):
    """A machine that counts how often threads go on together from a place."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.went: dict[int, int] = {}

    def _stretch(self, start: int, threads: Any) -> int:
        self.went[start] = self.went.get(start, 0) + 1
        return super()._stretch(start, threads)


class Turns:
    """Launches in turns, one after the other, as the GPU decides them."""

    def __init__(self, fn: Function, module: Module, got: Batch, *, blocks: int, threads: int):
        self.fn, self.module, self.got = fn, module, got
        self.blocks, self.threads = blocks, threads
        self.words = np.zeros(len(Words), np.int64)
        self.hands = np.full(2 * blocks * threads, -77, np.int64)
        self.launches = self.finished = 0

    def run(self, steps: int, fuel: int = ENDLESS, seed: int | None = None) -> Iterator[Batch]:
        """All samples take their steps; what there is between two launches, and at the end."""
        words = self.words
        words[Words.STEPS], words[Words.FUEL] = steps, fuel
        words[Words.FOLLOWING] = words[Words.HELD] = words[Words.LONGEST] = 0
        (kernel,) = self.module.kernels.values()
        while True:
            given = [*arguments(self.fn.planes, self.got), np.int64(self.got.n), words, self.hands]
            self.machine = Watched(self.module, kernel, self.blocks, self.threads)
            self.machine.run(given, None if seed is None else seed + self.launches)
            self.launches += 1
            self.finished += int(words[Words.FINISHED])
            words[Words.HELD] = words[Words.HOLDING]
            assert np.count_nonzero(self.hands[: len(self.hands) // 2]) == words[Words.HELD]
            words[Words.FINISHED] = words[Words.HOLDING] = 0
            yield self.got
            if words[Words.FOLLOWING] >= self.got.n and not words[Words.HELD]:
                return

    def all(self, steps: int, fuel: int = ENDLESS, seed: int | None = None) -> None:
        for _ in self.run(steps, fuel, seed):
            pass


def made(fn: Function) -> Module:
    return parse(ptx_text(fn, "sm_75", (Way.TURNS,)))


@pytest.fixture(scope="module")
def counter() -> tuple[Function, Module, Any]:
    """A kernel whose samples stop each at its own step; and for the CPU."""
    fn = optimise(PROGRAMS["counter"](DType.F64))
    return fn, made(fn), compile_function(fn)


def batch(fn: Function, n: int, limits: Any = None) -> Batch:
    found = batch_for(fn.planes, n, seed=1)
    found.arrays["limit"][:] = np.arange(n) % 9 if limits is None else limits
    found.arrays["k"][:] = 0
    return found


@pytest.mark.parametrize(
    ("n", "blocks", "threads", "fuel"),
    [
        *((n, *where, fuel) for n in (0, 1, 7) for where in ((1, 32), (2, 16)) for fuel in (1, 5)),
        (7, 1, 32, ENDLESS),
        (1000, 9, 32, 1),
        (1000, 3, 48, 5),
        (1000, 1, 64, ENDLESS),
        (1000, 40, 32, ENDLESS),
    ],
)
def test_all_samples_have_the_bits_of_the_cpu(
    counter: tuple[Function, Module, Any], n: int, blocks: int, threads: int, fuel: int
) -> None:
    fn, module, compiled = counter
    expected = batch(fn, n)
    expected.arrays["terminated"][1::5] = True
    before = expected.arrays["terminated"].copy()
    turns = Turns(fn, module, expected.copy(), blocks=blocks, threads=threads)
    assert n < 7 or before.any(), "some are done before"
    for steps in (3, 1, 16):
        launch(compiled, expected, steps)
        turns.all(steps, fuel, seed=None if steps == 16 else steps)
        assert [] == differences(expected, turns.got)
    assert turns.finished == np.count_nonzero(expected.arrays["terminated"] & ~before)
    assert (turns.launches > 3) is (fuel < ENDLESS and n > 7 or fuel == 1 < n)


def test_samples_may_differ_a_hundredfold_and_lanes_do_not_wait(
    counter: tuple[Function, Module, Any],
) -> None:
    fn, module, compiled = counter
    n = 640
    expected = batch(fn, n, np.where(np.arange(n) % 32 == 5, 1000, 10))
    expected.arrays["terminated"][:] = False
    turns = Turns(fn, module, expected.copy(), blocks=1, threads=WARP)
    launch(compiled, expected, 2000)
    turns.all(2000)
    assert [] == differences(expected, turns.got)
    # Of the 20 groups of 32 samples each has one of 1,000 steps: in groups it is 20,000 rounds.
    work = int(expected.arrays["k"].sum())
    rounds = max(turns.machine.went.values())
    assert rounds < work / WARP + 1000 + n / WARP + 2
    assert rounds < 20 * 1000 / 5


def test_nobody_has_anything_in_hand_at_first(counter: tuple[Function, Module, Any]) -> None:
    fn, module, compiled = counter
    expected = batch(fn, 50)
    turns = Turns(fn, module, expected.copy(), blocks=1, threads=32)
    turns.hands[:32] = 7
    launch(compiled, expected, 4)
    turns.all(4)
    assert [] == differences(expected, turns.got)


@pytest.mark.parametrize("fuel", [1, 4, 7, 30])
def test_when_it_is_time_samples_hold_whole_steps_and_it_goes_on(
    counter: tuple[Function, Module, Any], fuel: int
) -> None:
    fn, module, compiled = counter
    n, steps = 200, 40
    start = batch(fn, n, np.arange(n) % 60)
    start.arrays["terminated"][::11] = True
    after = [start.copy() for _ in range(steps + 1)]
    for k, each in enumerate(after[1:], 1):
        launch(compiled, each, k)
    turns = Turns(fn, module, start.copy(), blocks=2, threads=16)
    halves = 0
    for got in turns.run(steps, fuel, seed=1):
        # A row for each number of steps: does a sample hold just what it holds after as many?
        found = [
            np.logical_and.reduce([each.arrays[name] == got.arrays[name] for name in got.arrays])
            for each in after
        ]
        assert np.any(found, axis=0).all()
        halves += not np.all(found, axis=1).any()
    assert [] == differences(after[-1], turns.got)
    assert halves > 0


def test_the_longest_is_that_of_all_that_took_steps(
    counter: tuple[Function, Module, Any],
) -> None:
    fn, module, _ = counter
    start = batch(fn, 40, np.where(np.arange(40) == 13, 25, 3))
    start.arrays["terminated"][:] = False
    turns = Turns(fn, module, start, blocks=1, threads=32)
    told = [int(turns.words[Words.LONGEST]) for _ in turns.run(100, 10)]
    assert 10 == told[0]
    assert 25 == told[-1] == max(told)
    turns.all(100)
    assert 0 == turns.words[Words.LONGEST], "all are done"


@pytest.mark.parametrize("real", REALS, ids=lambda real: real.value)
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_have_the_bits_of_the_cpu(name: str, real: DType) -> None:
    fn = optimise(PROGRAMS[name](real))
    expected = batch_for(fn.planes, 50)
    turns = Turns(fn, made(fn), expected.copy(), blocks=1, threads=16)
    launch(compile_function(fn), expected, 6)
    turns.all(6, 4)
    assert [] == differences(expected, turns.got)


def test_random_programs_have_the_bits_of_the_cpu(programs: int) -> None:
    tried = masks = 0
    for seed in range(programs if programs > USUAL else 16):
        case = case_of(write(seed))
        fn = load(case.text).trace(case.real)
        if fn.reductions or fn.scatters:
            continue
        best = optimise(fn)
        columns = {name: (list(column) * 40)[:40] for name, column in case.columns.items()}
        expected = Batch.of(fn.planes, columns, case.numbers, 40, case.tables)
        turns = Turns(best, made(best), expected.copy(), blocks=1, threads=16)
        launch(compile_function(best), expected, 20)
        turns.all(20, 13, seed=seed)
        assert [] == differences(expected, turns.got), f"program {seed}"
        tried += 1
        masks += any(each.role is Role.MASK for each in fn.planes)
    forget()
    assert tried > 5
    assert masks > 2


def test_there_is_one_loop_and_one_addition_for_a_sample(
    counter: tuple[Function, Module, Any],
) -> None:
    fn, module, _ = counter
    (kernel,) = module.kernels.values()
    found = [ins.text for ins in kernel.body if ins.name in ("atom", "red")]
    assert ["add.u64", "add.u64", "add.u64", "max.u64"] == [
        next(part for part in ("add.u64", "max.u64") if part in text) for text in found
    ]
