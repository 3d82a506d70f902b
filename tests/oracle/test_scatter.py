"""Random programs that give to tables all samples share: the same bits at every width and thread.

A program of the generator gets such tables, and gives to them at its start and its end; some of it
reads them too. CPython gives in the plainest way, one sample after the other.
"""

from __future__ import annotations

import ast
from random import Random

import pytest

from hawk.cache.lookup import Cache
from hawk.ir.scatter import KINDS, kinds_of
from hawk.ir.types import DType
from tests.oracle.programs import Program, write
from tests.oracle.test_collective import (
    ELEMENTS,
    USES,
    compare,
    kernel_in,
    leaves_early,
    put_around,
    states_of,
)

PROGRAMS = 30
TYPES = {
    DType.F64: "Scalar",
    DType.I64: "Index",
    DType.I32: "Int32",
    DType.U32: "UInt32",
    DType.BOOL: "Bool",
}
SIGNS = {"add": ("+=", "-="), "or": ("|=",), "and": ("&=",)}


def scattering(program: Program) -> Program | None:
    """The program with scatters; None where it has no state, or leaves before its end."""
    random = Random(f"scatters {program.seed}")
    states = states_of(program)
    tree = ast.parse(program.text)
    kernel = kernel_in(tree)
    if not states or leaves_early(kernel):
        return None
    tables: dict[str, DType] = {}
    for _ in range(random.randint(1, 3)):
        name, dtype = f"shared{len(tables)}", random.choice(states)[1]
        tables[name] = dtype
        extent = random.choice(["", f", {ELEMENTS}"])
        parameter = ast.arg(
            name, ast.parse(f"hawk.Mutable[hawk.Table[hawk.{TYPES[dtype]}{extent}]]").body[0].value
        )  # type: ignore[attr-defined]
        kernel.args.kwonlyargs.append(parameter)
        kernel.args.kw_defaults.append(None)
    lines: list[str] = []
    for place in range(random.randint(2, 5)):
        table, dtype = random.choice(list(tables.items()))
        value, _ = random.choice([each for each in states if each[1] is dtype])
        index, held = random.choice(states)
        index = f"hawk.index({index})" if held is not DType.BOOL else f"int({index})"
        # Some of the indices are outside of the table.
        index = random.choice([f"{index} % 8 - 1", f"hawk.int32({index}) % 7", index, "1"])
        some, _ = random.choice(states)
        where = random.choice(["", f", where={some} > 0", f", where={value} == {value}"])
        kind = random.choice(kinds_of(dtype))
        element = f"hawk.scatter({table}{where})[{index}]"
        given = random.choice([value, f"({value} * {value})"]) if dtype is not DType.BOOL else value
        if dtype is DType.F64 and random.random() < 0.4:  # numbers that are rounded when added
            given = "0.1 * hawk.sample_index() + 0.3"
        if kind in SIGNS:
            lines.append(f"{element} {random.choice(SIGNS[kind])} {given}")
        else:
            lines.append(f"{element}.{kind}({given})")
        read = f"{table}[{index}]"
        use = USES[dtype].format(plane=value, got=read)
        lines.append(random.choice([use, f"got{place} = {read}"]))
    put_around(kernel, lines, random.randint(0, len(lines)))
    return Program(program.seed, ast.unparse(tree), program.wide)


@pytest.mark.parametrize("first", range(0, PROGRAMS, 5))
def test_every_width_and_any_threads_give_what_cpython_gives(
    first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Cache, "get_or_make", lambda self, wanted, make, load: (load(*make()), ""))
    for seed in range(first, first + 5):
        program = scattering(write(seed))
        if program is not None:
            compare(program, monkeypatch)


def test_enough_programs_can_scatter() -> None:
    programs = [each for seed in range(PROGRAMS) if (each := scattering(write(seed)))]
    assert len(programs) >= PROGRAMS // 3
    text = "\n".join(each.text for each in programs)
    for kind in KINDS:
        assert any(sign in text for sign in SIGNS.get(kind, (f"].{kind}(",))), kind
