"""The native routines that are not kernels: the team of threads, and the walker of graphs."""

from __future__ import annotations

import ctypes
import functools
import platform
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hawk.cache import LOADED
from hawk.cache.lookup import Wanted, shared
from hawk.targets.cpu.link import assemble, link_symbols
from hawk.targets.cpu.machine import Machine, host, versions
from hawk.targets.cpu.team import team_text
from hawk.targets.cpu.walker import walker_text

_FUTEX = {"x86_64": 202, "aarch64": 98}


@dataclass(frozen=True, slots=True)
class Runtime:
    """The routines. Addresses are plain ints; calls let other Python threads run."""

    work: Callable[[int], None]
    """`work(team)`: take part in what `run` hands out, until QUIT."""
    run: Callable[[int, int, int, int], int]
    """`run(team, function, argument, helpers)`: call `function(argument)` here and on up to
    `helpers` threads of the team; returns how many tickets they took. On a team that is busy with
    another caller only this thread works."""
    quit: Callable[[int], None]
    """`quit(team)`: let the threads leave."""
    walk: Callable[[int], int]
    """`walk(state)`: go through a table, see `walker`; returns a `walker.Reason`."""
    library: Any


@functools.cache
def runtime() -> Runtime | None:
    """The routines for this machine, compiled at the first use; None where there is no futex."""
    number = _FUTEX.get(platform.machine())
    if platform.system() != "Linux" or number is None:
        return None
    machine = host()
    text = module_text(machine, number)
    wanted = Wanted(
        kernel="the team of threads and the walker",
        file=__file__,
        program=text,
        variant="native",
        machine=machine.identity,
        versions=versions(),
    )
    library, _ = shared(LOADED).get_or_make(
        wanted,
        lambda: (assemble(text, machine), {}),
        lambda code, _: link_symbols(code, "team_work", "team_run", "team_quit", "walk"),
    )
    pointer = ctypes.c_void_p
    return Runtime(
        ctypes.CFUNCTYPE(None, pointer)(library["team_work"]),
        ctypes.CFUNCTYPE(ctypes.c_int64, pointer, pointer, pointer, ctypes.c_int64)(
            library["team_run"]
        ),
        ctypes.CFUNCTYPE(None, pointer)(library["team_quit"]),
        ctypes.CFUNCTYPE(ctypes.c_int64, pointer)(library["walk"]),
        library,
    )


def module_text(machine: Machine, futex: int) -> str:
    """The LLVM module of the routines. `futex` is the number of the system call."""
    parts = (f'target triple = "{machine.triple}"', team_text(futex), walker_text(machine))
    return "\n\n".join(parts)
