"""The chips that PTX is made for, and the version of the language that each needs."""

from __future__ import annotations

import re
from typing import NamedTuple

from hawk.errors import HawkError

OLDEST = 75
"""Turing, 2018: the oldest that CUDA 13 compiles for."""

VERSIONS = ((90, 80), (103, 86), (121, 87))
"""Up to which chip which version of PTX is enough. An old driver loads no newer PTX than it knows,
so it is the lowest: release notes of the PTX ISA, section "Target ISA"."""


class Chip(NamedTuple):
    """A compute capability, as in `sm_90`."""

    number: int

    @property
    def name(self) -> str:
        return f"sm_{self.number}"

    @property
    def features(self) -> str:
        """The version of PTX, as LLVM calls it."""
        return f"+ptx{next(version for most, version in VERSIONS if self.number <= most)}"


def chip(name: str) -> Chip:
    """The chip of that name, such as `sm_90`. Raises HawkError (H502) for any other text."""
    found, newest = re.fullmatch(r"sm_([0-9]+)", str(name)), VERSIONS[-1][0]
    digits = found[1] if found else "0"
    if OLDEST <= int(digits) <= newest:
        return Chip(int(digits))
    raise HawkError(
        "H502",
        f"no GPU that hawk makes code for is called {name!r}: expected sm_{OLDEST} to sm_{newest}",
        fix='kernel.ptx("sm_90")',
    )
