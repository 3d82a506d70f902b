"""What runs kernels on this machine besides the kernels, for whoever must not load LLVM too early.

LLVM takes 30 ms to load, so the routines are looked for when they are first needed: by then a
kernel was compiled, or read from the cache, and LLVM is there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ctypes

    from hawk.ir.types import DType
    from hawk.targets.cpu.runtime import Folds, Runtime, Walker


def routines() -> Runtime | None:
    """The routines of a team of threads; None where the system has no futex."""
    from hawk.targets.cpu.runtime import runtime

    return runtime()


def walker() -> Walker:
    """The routine that goes through a table of launches; see `hawk.targets.cpu.walker`."""
    from hawk.targets.cpu.runtime import walker

    return walker()


def recorded() -> int:
    """The address of what launches a kernel by a record; see `hawk.targets.cpu.recorded`."""
    from hawk.targets.cpu.runtime import recorded

    return recorded()


def folds() -> Folds:
    """The routines that add numbers up, by type; see `hawk.targets.cpu.fold`."""
    from hawk.targets.cpu.runtime import folds

    return folds()


def places() -> Mapping[tuple[str, DType], Callable[[int, int, int, int, int], None]]:
    """The routines that look for the least, by kind and type; see `hawk.targets.cpu.places`."""
    from hawk.targets.cpu.runtime import places

    return places()


def scatters() -> Mapping[tuple[str, DType], Callable[[int, int, int, int, int], None]]:
    """The routines that give to a table, by kind and type; see `hawk.targets.cpu.scatter`."""
    from hawk.targets.cpu.runtime import scatters

    return scatters()


def new_team() -> ctypes.Array[ctypes.c_int32]:
    """The words of a team without threads."""
    from hawk.targets.cpu import team

    return team.new_team()


def address_of(entry: Callable[..., object]) -> int | None:
    """The address of a compiled kernel's entry; None for one that is written in Python."""
    return getattr(entry, "address", None)
