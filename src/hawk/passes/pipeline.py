"""The passes, in the order they run."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from hawk.ir.nodes import Function
from hawk.passes.common_subexpressions import common_subexpressions
from hawk.passes.dead_code import dead_code
from hawk.passes.flatten import flatten
from hawk.passes.fold_constants import fold_constants
from hawk.passes.lower import lower
from hawk.passes.rates import rates
from hawk.passes.unchanging import unchanging
from hawk.passes.unroll import unroll

Pass: TypeAlias = Callable[[Function], Function]
"""Gives a function that stores the same bits; `verify` holds for it."""
Watcher: TypeAlias = Callable[[str, Function], None]
"""Called after each pass with its name and what it gave."""

PIPELINE: tuple[Pass, ...] = (
    fold_constants,
    unchanging,
    unroll,
    fold_constants,
    unroll,  # loops whose bounds are counters of the loops unrolled just now
    lower,
    flatten,
    fold_constants,
    rates,  # before the next, which also finds what stood in two blocks and is side by side now
    common_subexpressions,
    dead_code,
)


def optimise(fn: Function, *, watch: Watcher | None = None) -> Function:
    """`fn` after all passes: the form that targets accept."""
    for run in PIPELINE:
        fn = run(fn)
        if watch is not None:
            watch(run.__name__, fn)
    return fn
