"""Native code of several programs that run one after the other for each sample, made once."""

from __future__ import annotations

import functools
from typing import NamedTuple

from hawk.code import native_code
from hawk.locks import compiling
from hawk.passes.fuse import Part, fuse
from hawk.targets.base import Compiled

__all__ = ["FusedCode", "Part", "fused_code"]

KEPT = 256
"""Fused programs that are kept, those that were used last. The cache on disk knows the others."""


class FusedCode(NamedTuple):
    """The code, and which memory each of its planes is."""

    compiled: Compiled
    memory: tuple[int, ...]


def fused_code(parts: tuple[Part, ...], stored: frozenset[int]) -> FusedCode:
    """The code of the programs `parts` in one; see `hawk.passes.fuse`."""
    with compiling():
        return _made(parts, stored)


@functools.lru_cache(KEPT)
def _made(parts: tuple[Part, ...], stored: frozenset[int]) -> FusedCode:
    function, memory = fuse(parts, stored)
    way, file = f"{function.real.hawk}, fused", function.loc.file
    return FusedCode(native_code(function, name=function.name, file=file, way=way), memory)
