"""The PTX of random programs, run as text, gives the bits of the CPU."""

from __future__ import annotations

from random import Random
from unittest import mock

import pytest

from hawk.ir.nodes import Role
from hawk.passes.pipeline import optimise
from hawk.targets.cpu.compile import compile_function
from hawk.targets.cpu.machine import host
from hawk.targets.cpu.width import variant
from hawk.targets.ptx.compile import ptx_text
from tests.oracle.batch import differences, launch
from tests.oracle.conftest import first_seed
from tests.oracle.harness import _Run, case_of, forget, load
from tests.oracle.programs import write
from tests.ptx import conversions
from tests.ptx.parse import parse
from tests.ptx.run import run

FEW, USUAL = 12, 200
"""Programs of an ordinary run; with `--programs=` more than usual, all of them."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "program" in metafunc.fixturenames:
        count: int = metafunc.config.getoption("--programs")
        first = first_seed(metafunc.config)
        metafunc.parametrize("program", range(first, first + (count if count > USUAL else FEW)))


def test_the_bits_are_those_of_the_cpu(program: int) -> None:
    case = case_of(write(program, placed=program % 8 == 7))
    kernel, random = load(case.text), Random(f"ptx {program}")
    fn = optimise(kernel.trace(case.real))
    expected = _Run(case, kernel, fn).start.copy(random.choice((1, 7, 150, 150)))
    got = expected.copy()
    compiled = compile_function(fn, host(), variant(fn, host(), 1, 1))
    module = parse(ptx_text(fn, "sm_75"))
    launches = random.choice(((1, 16), (3, 1, 3), (16,), (1, 1)))
    if not any(plane.role is Role.STATE for plane in fn.planes):
        launches = (1,)
    # No program may ask what NaN becomes as an integer.
    nan = random.choice(("zero", "sign"))
    with mock.patch.object(conversions, "NAN_TO_INTEGER", [nan]):
        for steps in launches:
            blocks, threads = random.choice(((1, 32), (2, 64), (9, 32), (1, 256)))
            seed = random.choice((None, program))
            launch(compiled, expected, steps)
            run(module, fn.planes, got, steps, blocks=blocks, threads=threads, seed=seed)
    assert [] == differences(expected, got)[:3]
    forget()
