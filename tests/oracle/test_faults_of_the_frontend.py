"""Whatever goes wrong in the frontend, the random programs notice: each fault is made on purpose.

What a program should give is found before, by CPython. Under a fault it is traced and interpreted,
until the first program that differs.
"""

from __future__ import annotations

import functools
from typing import Any

import pytest

from hawk import reference
from hawk.ir import interpret
from hawk.ir.verify import verify
from hawk.reference import Arrays
from tests.oracle.batch import unlike
from tests.oracle.constructs import CONSTRUCTS, held
from tests.oracle.faults import FAULTS
from tests.oracle.harness import Case, case_of, given, load
from tests.oracle.programs import Program, write

SEEDS = range(400)
"""The programs of a run without options."""
MOST = 120
"""How many of them are tried on a fault."""
STEPS = 2
BLOCKS = 20_000
"""Blocks that a program may run; with a fault it may not end."""

ABOUT = [(fault, construct) for fault, row in FAULTS.items() for construct in row.about]


class NeverEndsError(Exception):
    """A program has run for too long."""


@functools.cache
def every() -> list[tuple[Program, frozenset[str]]]:
    """The programs, the shortest first, with what they hold."""
    found = sorted(map(write, SEEDS), key=lambda program: len(program.text))
    return [(program, held(program)) for program in found]


def programs(construct: str) -> list[Program]:
    return [program for program, constructs in every() if construct in constructs][:MOST]


@functools.cache
def right(program: Program) -> tuple[Case, Arrays]:
    """What the program is run on, and what CPython makes of it."""
    case = case_of(program)
    kernel = load(case.text)
    return case, reference.run_python(kernel, steps=STEPS, **given(kernel, case))


def differs(case: Case, expected: Arrays) -> bool:
    """Is the program refused, wrong, or without an end?"""
    try:
        kernel = load(case.text)
        verify(kernel.trace(case.real))
        got = reference.interpret(kernel, steps=STEPS, **given(kernel, case))
    except Exception:  # noqa: BLE001 - a fault may end in anything
        return True
    return any(len(unlike(wanted, got[name])) for name, wanted in expected.items())


@pytest.fixture
def ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs that run for too long are ended."""
    run, count = interpret._run_block, 0

    def counted(*args: Any) -> Any:
        nonlocal count
        count += 1
        if count > BLOCKS:
            raise NeverEndsError
        return run(*args)

    monkeypatch.setattr(interpret, "_run_block", counted)


@pytest.mark.usefixtures("ends")
@pytest.mark.parametrize(("fault", "construct"), ABOUT)
def test_it_is_noticed_that(fault: str, construct: str) -> None:
    for program in programs(construct):
        case, expected = right(program)
        with pytest.MonkeyPatch.context() as patch:
            FAULTS[fault].apply(patch)
            if differs(case, expected):
                return
    count = len(programs(construct))
    pytest.fail(f"{count} programs with {construct!r} give the right bits although {fault}")


def test_each_construct_has_a_fault() -> None:
    assert set(CONSTRUCTS) == {construct for row in FAULTS.values() for construct in row.about}


def test_without_a_fault_no_program_differs() -> None:
    for seed in SEEDS[:20]:
        assert not differs(*right(write(seed)))
