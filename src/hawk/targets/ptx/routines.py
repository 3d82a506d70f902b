"""The routines on the GPU that are not kernels of a user: made once for a chip."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator

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


def routine_ptx(name: str, arch: str) -> str:
    """The PTX of one of them, which takes a small part of the time.

    Raises HawkError (H502) for a chip that is not known, KeyError for another name.
    """
    return _one(name, chip(arch))


@functools.cache
def _one(name: str, known: Chip) -> str:
    return emitted(_module(_named()[name]), known)


@functools.cache
def _named() -> dict[str, str]:
    """The text of each, by its name."""
    return {_NAME.findall(text)[0]: text for text in _texts()}


_NAME = re.compile(r"^define ptx_kernel void @(\w+)\(", re.MULTILINE)


def routines_text() -> str:
    """The LLVM module of all of them."""
    return _module(*_texts())


def _texts() -> Iterator[str]:
    return itertools.chain(folds.texts(), places.texts(), scatters.texts())


def _module(*texts: str) -> str:
    return "\n".join((f'target triple = "{TRIPLE}"', *texts, DECLARED))
