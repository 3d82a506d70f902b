"""The routines on the GPU that are not kernels of a user: made once for a chip."""

from __future__ import annotations

import functools

from hawk.targets.ptx import folds, places, scatters
from hawk.targets.ptx.block import DECLARED
from hawk.targets.ptx.chip import Chip, chip
from hawk.targets.ptx.compile import emitted
from hawk.targets.ptx.entry import TRIPLE


def routines_ptx(arch: str) -> str:
    """The PTX of all of them, for a chip such as `sm_90`.

    Raises HawkError (H502) for a chip that is not known.
    """
    return _of(chip(arch))


@functools.cache
def _of(known: Chip) -> str:
    return emitted(routines_text(), known)


def routines_text() -> str:
    """The LLVM module of all of them."""
    made = (*folds.texts(), *places.texts(), *scatters.texts())
    return "\n".join((f'target triple = "{TRIPLE}"', *made, DECLARED))
