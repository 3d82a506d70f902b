"""Kernels for GPUs as one LLVM module, with an entry for each way to launch them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hawk.ir.nodes import Function
from hawk.targets.llvm import RARE
from hawk.targets.thread import Entry
from hawk.targets.turns import Turns
from hawk.targets.ways import Dialect, Way


class Kernel(NamedTuple):
    """One kernel of a module, with an entry for each way to launch it."""

    name: str
    fn: Function
    """It has been through the passes."""
    ways: Sequence[Way] = (Way.PLAIN,)
    held: frozenset[str] = frozenset()
    """The UNIFORM planes of which a launch is given the address."""


def module_of(kernels: Sequence[Kernel], dialect: Dialect) -> str:
    """The LLVM module of kernels; an entry's name has the way's end. It calls nothing outside."""
    entries = [
        _writer(way)(each.fn, way, dialect, each.held).text(each.name + way.value)
        for each in kernels
        for way in each.ways
    ]
    return "\n".join(
        (
            f'target triple = "{dialect.triple}"',
            *entries,
            *dialect.declared,
            f'{RARE} = !{{!"branch_weights", i32 1, i32 1000}}',
        )
    )


def _writer(way: Way) -> type[Entry]:
    return Turns if way is Way.TURNS else Entry
