"""The chips that PTX is made for, and the version of the language that each needs."""

from __future__ import annotations

import re
from typing import NamedTuple

from hawk.errors import HawkError

VERSIONS = {
    **dict.fromkeys((75, 80, 86, 87, 89, 90), 80),
    **dict.fromkeys((100, 101), 86),
    120: 87,
    **dict.fromkeys((103, 121), 88),
    **dict.fromkeys((88, 110), 90),
}
"""The version of PTX for each chip, the oldest of 2018 (Turing): an old driver loads no newer PTX
than it knows, so it is the lowest that names the chip (PTX ISA, release notes), or 8.0. LLVM ends
the process where it is asked for a chip with less than that, or writes text for one that it does
not know; so these are all."""


class Chip(NamedTuple):
    """A compute capability, as in `sm_90`."""

    number: int

    @property
    def name(self) -> str:
        return f"sm_{self.number}"

    @property
    def features(self) -> str:
        """The version of PTX, as LLVM calls it."""
        return f"+ptx{VERSIONS[self.number]}"


def chip(name: str) -> Chip:
    """The chip of that name, such as `sm_90`. Raises HawkError (H502) for any other text."""
    found = re.fullmatch(r"sm_([0-9]+)", str(name))
    if found and int(found[1]) in VERSIONS:
        return Chip(int(found[1]))
    names = [f"sm_{number}" for number in sorted(VERSIONS)]
    raise HawkError(
        "H502",
        f"no GPU that hawk makes code for is called {name!r}: expected one of {', '.join(names)}",
        fix='kernel.ptx("sm_90")',
    )
