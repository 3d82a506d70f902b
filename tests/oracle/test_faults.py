"""The random programs find faults: each is made on purpose, one at a time, and must be noticed.

These are faults behind the frontend; `test_faults_of_the_frontend` has the others.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import re
from collections.abc import Callable
from typing import Any

import pytest

from eagle.devices.host.device import HostLoaded
from hawk.cache.lookup import Cache
from hawk.ir import meaning
from hawk.ir.ops import OPS
from hawk.ir.verify import InvalidProgram
from hawk.passes import common_subexpressions, unroll
from hawk.targets.cpu.memory import Memory
from hawk.targets.cpu.pool import Pool
from hawk.targets.cpu.rush import Rush
from hawk.targets.cpu.steps import Steps
from hawk.targets.llvm import Emitter, zero
from tests.oracle.harness import Mismatch, case_of, check
from tests.oracle.programs import Program, write

SEEDS = range(400)
"""The programs of a run without options."""
MOST = 120
"""How many of them are tried on a fault: the shortest that hold what it is about."""

PASSES, CODE = ("passes",), ("width 1",)
WIDE, DOORS = ("width 1", "variants"), ("width 1", "doors")
"""Where a fault shows. The rest is not looked at: it takes longer, and is right."""

Fault = Callable[[pytest.MonkeyPatch], None]


def spelled(kind: str, **texts: str) -> Fault:
    """Operations that the code generator gets other instructions for."""

    def fault(patch: pytest.MonkeyPatch) -> None:
        for name, text in texts.items():
            row = OPS[name]
            wrong = dataclasses.replace(row, llvm={**row.llvm, kind: text})
            patch.setitem(OPS, row.name, wrong)  # type: ignore[arg-type]

    return fault


def meant(name: str, meaning: Callable[..., Any]) -> Fault:
    """An operation that the interpreter computes otherwise."""

    def fault(patch: pytest.MonkeyPatch) -> None:
        patch.setitem(OPS, name, dataclasses.replace(OPS[name], meaning=meaning))  # type: ignore[arg-type]

    return fault


def replaced(owner: Any, name: str, wrong: Callable[..., Any]) -> Fault:
    return lambda patch: patch.setattr(owner, name, wrong)


def stops_overlooked(patch: pytest.MonkeyPatch) -> None:
    """Steps that ran plainly count, even if a sample stopped on the way."""
    right = Rush._rush

    def wrong(self: Rush, *args: Any) -> Any:
        state, stopped = right(self, *args)
        return state, (zero(self.emitter.bits),) * len(stopped)

    patch.setattr(Rush, "_rush", wrong)


def never_given_back(patch: pytest.MonkeyPatch) -> None:
    """A sample comes into a refilled lane, and what it was is stored, not what it became."""
    right = Pool._copy

    def wrong(self: Pool, plane: Any, source: Any, target: Any) -> None:
        if target[0] == self.memory.scratch[plane]:
            right(self, plane, source, target)

    patch.setattr(Pool, "_copy", wrong)


def one_pass_more(patch: pytest.MonkeyPatch) -> None:
    """A loop that is written out runs once more than it should."""
    right = unroll._trips

    def wrong(loop: Any, most: int) -> int | None:
        trips = right(loop, most)
        return trips and trips + 1

    patch.setattr(unroll, "_trips", wrong)


def last_sample_forgotten(patch: pytest.MonkeyPatch) -> None:
    """A launch that ends one sample early."""
    right = HostLoaded.__init__

    def wrong(self: HostLoaded, compiled: Any, planes: Any, words: Any, partition: Any) -> None:
        count = max(0, partition.count - 1)
        right(self, compiled, planes, words, type(partition)(partition.base, count, partition.n))

    patch.setattr(HostLoaded, "__init__", wrong)


FAULTS: dict[str, tuple[Fault, str, tuple[str, ...]]] = {
    "code subtracts where it should add": (spelled("f", add="fsub {A} {0}, {1}"), r"\+", CODE),
    "code compares with <= where < is due": (spelled("f", lt="fcmp ole {A} {0}, {1}"), " < ", CODE),
    "code takes a NaN for equal": (
        spelled("f", eq="fcmp ueq {A} {0}, {1}", ne="fcmp one {A} {0}, {1}"), "==|!=", CODE,
    ),
    "code minds the NaN in fmin": (
        spelled("f", minimum="call {A} @llvm.minimum.{M}({A} {0}, {A} {1})"), "np.fmin", CODE,
    ),
    "code compares unsigned numbers as signed": (
        spelled("u", lt="icmp slt {A} {0}, {1}", gt="icmp sgt {A} {0}, {1}"),
        r"[:\[] ?UInt32", CODE,
    ),
    "code drops a factor of a fused product": (spelled("f", fma="fadd {A} {0}, {2}"), r"\*", CODE),
    "the table says that max is min": (meant("max", meaning.lesser), r"max\(", CODE),
    "the table says that an integer division truncates": (
        meant("floordiv", meaning.quot), "//", PASSES,
    ),
    "a finished sample goes on": (
        replaced(Steps, "keep", lambda self, live, after, before: after), "terminated", WIDE,
    ),
    "a stop within a block is overlooked": (stops_overlooked, "terminated", WIDE),
    "a branch that varies takes one side": (
        replaced(Emitter, "choose", lambda self, test, then, orelse, kind: then), "if", WIDE,
    ),
    "a sample in a refilled lane has the steps of its lane": (
        replaced(Pool, "_least_left", lambda self: self.steps), "terminated", WIDE,
    ),
    "what a refilled lane held is not stored": (
        never_given_back, "terminated", WIDE,
    ),
    "the last samples are not copied back": (
        replaced(Memory, "copy_back", lambda *_: None), "", WIDE,
    ),
    "operations are the same if they begin alike": (
        replaced(
            common_subexpressions,
            "_key",
            lambda statement: (statement.op, statement.result.dtype, statement.args[0]),
        ),
        "", PASSES,
    ),
    "a loop runs once more": (one_pass_more, r"in range\(\d", PASSES),
    "the last sample is forgotten": (last_sample_forgotten, "", DOORS),
}  # fmt: skip
"""Each fault by what it does, with a word of the programs that it is about, and where it shows."""


@functools.cache
def programs() -> list[Program]:
    """The shortest first: they take least."""
    return sorted(map(write, SEEDS), key=lambda program: len(program.text))


@pytest.mark.parametrize(("fault", "word", "stages"), FAULTS.values(), ids=FAULTS.keys())
def test_it_is_noticed_that(
    fault: Fault, word: str, stages: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    # What the cache holds has no fault, and what has one must not get there.
    monkeypatch.setattr(Cache, "get_or_make", lambda self, wanted, make, load: (load(*make()), ""))
    fault(monkeypatch)
    found = (program for program in programs() if re.search(word, program.text))
    for program in itertools.islice(found, MOST):
        try:
            check(case_of(program), stages)
        except (Mismatch, InvalidProgram):
            return
    pytest.fail(f"the programs about {word!r} give the right bits in spite of the fault")


def test_without_a_fault_the_first_programs_pass() -> None:
    """What is noticed above is the fault, not something else."""
    for seed in SEEDS[:3]:
        check(case_of(write(seed)))
