"""Random programs that reduce over their batch: the same bits at every width and for any threads.

A program of the generator gets reductions at its start and its end, and goes on with what they
give; one on a grid reduces along some of its dimensions too. CPython reduces in the plainest way,
one sample after the other.
"""

from __future__ import annotations

import ast
from random import Random
from typing import Any

import numpy as np
import pytest

import hawk
from hawk.cache.lookup import Cache
from hawk.ir.hidden import is_hidden
from hawk.ir.nodes import Role
from hawk.ir.types import DType
from hawk.kernel import Kernel
from hawk.targets.cpu import compile as compiling
from hawk.targets.cpu.machine import Machine
from hawk.targets.cpu.width import Variant, variant
from tests.oracle.batch import unlike
from tests.oracle.harness import Case, case_of, load
from tests.oracle.numbers import column
from tests.oracle.programs import Program, write
from tests.oracle.test_grids import SHAPES, copied, keep
from tests.oracle.test_grids import planes_of as planes_on
from tests.unit.targets.machines import runnable

PROGRAMS, ON_GRIDS = 30, 8
SAMPLES, STEPS, ELEMENTS = 11, 2, 5
WIDTHS = ((1, 1), (2, 3), (4, 4), (8, 1))

KINDS = ("sum", "mean", "min", "max", "argmin", "argmax", "any", "all")
USES = {
    DType.F64: "{plane} = 0.5 * {plane} + hawk.real({got})",
    DType.I64: "{plane} = {plane} ^ hawk.index({got})",
    DType.I32: "{plane} = {plane} ^ hawk.int32({got})",
    DType.U32: "{plane} = {plane} ^ hawk.uint32({got})",
    DType.BOOL: "{plane} = {plane} != bool({got})",
}


def reducing(program: Program) -> Program | None:
    """The program with reductions; None where it has no state, or leaves before its end."""
    random = Random(f"reductions {program.seed}")
    states = states_of(program)
    tree = ast.parse(program.text)
    kernel = kernel_in(tree)
    grid = load(program.text).signature.grid
    if not states or leaves_early(kernel):
        return None
    lines: list[str] = []
    for place in range(random.randint(2, 4)):
        name, dtype = random.choice(states)
        other, _ = random.choice(states)
        value = random.choice([name, f"{name} + {name}"]) if dtype is not DType.BOOL else name
        where = random.choice(["", f", where={other} > 0", f", where={name} == {name}"])
        over = "" if grid is None else along(random, grid.axes)
        lines.append(f"red{place} = hawk.{random.choice(KINDS)}({value}{where}{over})")
        lines.append(USES[dtype].format(plane=name, got=f"red{place}"))
    put_around(kernel, lines, 2 * random.randint(0, len(lines) // 2))
    return Program(program.seed, ast.unparse(tree), program.wide)


def along(random: Random, axes: tuple[str, ...]) -> str:
    """Which dimensions of a grid to reduce along; now and then all of them."""
    names = random.sample(axes, random.randint(1, len(axes)))
    return f", over={names[0]!r}" if len(names) == 1 else f", over={tuple(names)!r}"


def states_of(program: Program) -> list[tuple[str, DType]]:
    """The Mutables of a program, and their types where floats are wide."""
    return [
        (each.name, each.element.at(DType.F64))
        for each in load(program.text).parameters
        if each.role is Role.STATE
    ]


def kernel_in(tree: ast.Module) -> ast.FunctionDef:
    functions = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)]
    return next(each for each in functions if each.name == "kernel")


def leaves_early(kernel: ast.FunctionDef) -> bool:
    """Is there a `return` before the end?"""
    nested = [node for each in kernel.body[:-1] for node in ast.walk(each)]
    last = kernel.body[-1]
    nested += [] if isinstance(last, ast.Return) else list(ast.walk(last))
    return any(isinstance(node, ast.Return) for node in nested)


def put_around(kernel: ast.FunctionDef, lines: list[str], cut: int) -> None:
    """Put the first lines before the body, and the others at its end."""
    written = ast.parse("\n".join(lines)).body
    end = [each for each in kernel.body[-1:] if isinstance(each, ast.Return)]
    inside = kernel.body[: len(kernel.body) - len(end)]
    kernel.body = [*written[:cut], *inside, *written[cut:], *end]


def planes_of(kernel: Kernel[..., Any], case: Case) -> dict[str, Any]:
    random = Random(f"batch {case.seed}")
    numbers = {name: each for name, each in case.numbers.items() if not is_hidden(name)}
    planes: dict[str, Any] = dict(numbers)
    for each in kernel.parameters:
        if each.role in (Role.UNIFORM, Role.MASK):
            continue
        dtype = each.element.at(case.real)
        count = SAMPLES if each.table is None else ELEMENTS
        with np.errstate(all="ignore"):
            planes[each.name] = np.array(column(random, dtype, count, each.name), dtype.numpy)
    return planes


def with_mask(kernel: Kernel[..., Any], planes: dict[str, Any]) -> dict[str, Any]:
    """Copies of the planes, and a mask in which some samples are done."""
    copies = {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in planes.items()}
    for each in kernel.parameters:
        if each.role is Role.MASK:
            copies[each.name] = np.arange(SAMPLES) % 4 == 1
    return copies


@pytest.mark.parametrize("first", range(0, PROGRAMS, 5))
def test_every_width_and_any_threads_give_what_cpython_gives(
    first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Cache, "get_or_make", lambda self, wanted, make, load: (load(*make()), ""))
    for seed in range(first, first + 5):
        program = reducing(write(seed))
        if program is not None:
            compare(program, monkeypatch)


@pytest.mark.parametrize("first", range(0, ON_GRIDS, 4))
def test_on_grids_of_any_shape(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Cache, "get_or_make", lambda self, wanted, make, load: (load(*make()), ""))
    for seed in range(first, first + 4):
        program = reducing(write(seed, grids=True))
        if program is not None:
            compare(program, monkeypatch)


def given_to(kernel: Kernel[..., Any], program: Program) -> dict[str, Any]:
    """Planes with some samples that are done; of a grid in any shape."""
    grid = kernel.signature.grid
    if grid is None:
        return with_mask(kernel, planes_of(kernel, case_of(program)))
    return planes_on(kernel, program, Random(program.seed).choice(SHAPES[len(grid.axes)]))


def compare(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = load(program.text)
    planes = given_to(kernel, program)
    given = copied(planes)
    with np.errstate(all="ignore"):
        due = hawk.run_python(kernel, steps=STEPS, **given)
        agree(program, "interpreter", due, hawk.interpret(kernel, steps=STEPS, **given))
    for (name, machine), (width, chains) in zip(
        list(runnable().items())[:2] * 2, Random(program.seed).sample(WIDTHS, 2), strict=False
    ):

        def chosen(
            fn: Any, _: Machine, machine: Machine = machine, shape: Any = (width, chains)
        ) -> Variant:
            return variant(fn, machine, *shape)

        monkeypatch.setattr(compiling, "host", lambda machine=machine: machine)
        monkeypatch.setattr(compiling, "choose_variant", chosen)
        fresh = hawk.steps(load(program.text), STEPS)
        for threads in (1, 2, 3):
            got = copied(planes)
            keep(fresh, got, fresh(**got, threads=threads))
            way = f"{name}, width {width}, {chains} chains, {threads} threads"
            agree(program, way, due, got)


def agree(program: Program, way: str, due: dict[str, Any], got: dict[str, Any]) -> None:
    for name, wanted in due.items():
        flat, other = wanted.reshape(-1), got[name].reshape(-1)
        for sample in unlike(flat, other):
            pytest.fail(
                f"seed {program.seed}, {way}: {name}[{sample}] is {other[sample]!r}, CPython "
                f"has {flat[sample]!r}\n{program.text}",
                pytrace=False,
            )


def test_enough_programs_can_reduce() -> None:
    programs = [each for seed in range(PROGRAMS) if (each := reducing(write(seed)))]
    assert len(programs) >= PROGRAMS // 3
    text = "\n".join(each.text for each in programs)
    assert all(f"hawk.{kind}(" in text for kind in KINDS)
    grids = [each for seed in range(ON_GRIDS) if (each := reducing(write(seed, grids=True)))]
    assert len(grids) >= ON_GRIDS // 2
    assert sum(each.text.count(", over=") for each in grids) >= 2 * len(grids)
