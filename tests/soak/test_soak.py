"""The soak itself: some cases pass, and a wrong bit or memory that grows would be told."""

from __future__ import annotations

import os
from random import Random
from typing import Any

import numpy as np
import pytest

import eagle
from tests.soak import __main__ as module
from tests.soak.case import Difference, Told, soak
from tests.soak.drawn import FAMILIES, program_of


def test_some_cases_pass() -> None:
    told = Told()
    for seed in range(8):
        soak(seed, told, largest=1_000)
    soak(8, told, largest=7, brief=True)

    assert 9 == told.cases
    assert 8 <= sum(told.ways.values())


def test_it_has_kernels_of_all_families() -> None:
    families = {program_of(seed, Random(f"soak {seed}"))[0] for seed in range(24)}
    assert set(FAMILIES) == families


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let runs that can be interrupted lose a bit of the last sample."""
    run = eagle.Simulation.run

    def wrong(self: eagle.Simulation) -> eagle.SimResult:
        result = run(self)
        for name in result.planes:
            plane = np.asarray(result[name])
            if plane.size and plane.flags.writeable:
                plane[-1:].view(np.uint8)[0] ^= 1
        return result

    monkeypatch.setattr(eagle.Simulation, "run", wrong)
    # `simulate`, which the undisturbed runs use, makes a Simulation too.
    simulate = eagle.simulate

    def right(*args: Any, **options: Any) -> eagle.SimResult:
        monkeypatch.setattr(eagle.Simulation, "run", run)
        try:
            return simulate(*args, **options)
        finally:
            monkeypatch.setattr(eagle.Simulation, "run", wrong)

    monkeypatch.setattr(eagle, "simulate", right)


@pytest.mark.usefixtures("faulty")
def test_a_wrong_bit_is_told() -> None:
    told = 0
    for seed in range(12):
        try:
            soak(seed, Told(), largest=20)
        except Difference:
            told += 1

    assert told


def test_a_failure_tells_its_seed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing(seed: int, told: Told, **options: Any) -> None:
        told.cases += 1
        if seed == 9:
            raise Difference("x[0] is 1, expected 2")

    monkeypatch.setattr(module, "soak", failing)

    assert 1 == module.main(module.parsed(["--seed=7", "--cases=5"]))
    assert "--cases 1 --seed 9 --largest 100000" in capsys.readouterr().out
    assert 0 == module.main(module.parsed(["--seed=10", "--cases=5"]))


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # from Python 3.12 on
def test_a_process_that_ends_tells_its_seed(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "soak", lambda *_, **__: os.kill(os.getpid(), 9))

    assert -9 == module.watched(["--seed=7", "--largest=5"])
    assert "ended by signal 9; again: python -m tests.soak --cases 1 --seed 7 --largest 5\n" == (
        capfd.readouterr().out
    )


@pytest.mark.parametrize(("growth", "expected"), [(99, 0), (101, 1)])
def test_memory_that_grows_is_told(
    growth: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Told] = []

    def passing(seed: int, counts: Told, **options: Any) -> None:
        counts.cases += 1
        told.append(counts)

    monkeypatch.setattr(module, "soak", passing)
    monkeypatch.setattr(module, "megabytes", lambda: growth * (told[-1].cases >= module.LATE))

    assert expected == module.main(module.parsed(["--seed=1", f"--cases={module.LATE}"]))
