"""The native routines that are not kernels: the team, the walker, reductions, scatters."""

from __future__ import annotations

import ctypes
import functools
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hawk.cache import LOADED
from hawk.cache.lookup import Wanted, shared
from hawk.ir.types import DType
from hawk.targets.cpu.fold import FOLDED, folds_text, mean_symbol, symbol
from hawk.targets.cpu.link import assemble, link_symbols
from hawk.targets.cpu.machine import Machine, host, versions
from hawk.targets.cpu.places import KINDS, ORDERED, places_text
from hawk.targets.cpu.places import symbol as place_symbol
from hawk.targets.cpu.recorded import recorded_text
from hawk.targets.cpu.scatter import ROUTINES, scatters_text
from hawk.targets.cpu.scatter import symbol as scatter_symbol
from hawk.targets.cpu.team import team_text
from hawk.targets.cpu.walker import walker_text

_FUTEX = {"x86_64": 202, "aarch64": 98}


@dataclass(frozen=True, slots=True)
class Runtime:
    """The team's routines. Addresses are plain ints; calls let other Python threads run."""

    work: Callable[[int], None]
    """`work(team)`: take part in what `run` hands out, until QUIT."""
    run: Callable[[int, int, int, int], int]
    """`run(team, function, argument, helpers)`: call `function(argument)` here and on up to
    `helpers` threads of the team; returns how many tickets they took. On a team that is busy with
    another caller only this thread works."""
    quit: Callable[[int], None]
    """`quit(team)`: let the threads leave."""
    run_address: int
    """Where `run` is, for native code."""
    library: Any


@functools.cache
def runtime() -> Runtime | None:
    """The team for this machine, compiled at the first use; None where there is no futex."""
    number = _FUTEX.get(platform.machine())
    if platform.system() != "Linux" or number is None:
        return None
    names = ("team_work", "team_run", "team_quit")
    library = _linked("the team of threads", team_text(number), names)
    pointer = ctypes.c_void_p
    signature = (ctypes.c_int64, pointer, pointer, pointer, ctypes.c_int64)
    return Runtime(
        ctypes.CFUNCTYPE(None, pointer)(library["team_work"]),
        ctypes.CFUNCTYPE(*signature)(library["team_run"]),
        ctypes.CFUNCTYPE(None, pointer)(library["team_quit"]),
        library["team_run"],
        library,
    )


@dataclass(frozen=True, slots=True)
class Walker:
    """The walker's routine."""

    walk: Callable[[int], int]
    """`walk(state)`: go through a table, see `walker`; returns a `walker.Reason`."""
    address: int
    """Where it is."""
    library: Any


@functools.cache
def walker() -> Walker:
    """The walker for this machine, compiled at the first use."""
    library = _linked("the walker of graphs", walker_text(host()), ("walk",))
    address = library["walk"]
    walk = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(address)
    return Walker(walk, address, library)


@functools.cache
def recorded() -> int:
    """The address of `recorded(record)`, compiled at the first use."""
    library = _linked("launches by a record", recorded_text(), ("recorded",))
    _kept.append(library)
    return library["recorded"]


@dataclass(frozen=True, slots=True)
class Folds:
    """The routines of `fold`, by type."""

    fold: Mapping[DType, Callable[[int, int, int, int, int], None]]
    mean: Mapping[DType, Callable[[int, int, int], None]]


@functools.cache
def folds() -> Folds:
    """The routines that add up, compiled at the first use."""
    names = {dtype: symbol(dtype) for dtype in FOLDED}
    means = {dtype: mean_symbol(dtype) for dtype in FOLDED if dtype.is_float}
    symbols = (*names.values(), *means.values())
    library = _linked("sums over a batch", folds_text(host()), symbols)
    pointer, number = ctypes.c_void_p, ctypes.c_int64
    fold = ctypes.CFUNCTYPE(None, pointer, pointer, number, number, pointer)
    mean = ctypes.CFUNCTYPE(None, pointer, pointer, number)
    made = {dtype: fold(library[name]) for dtype, name in names.items()}
    made[DType.U32] = made[DType.I32]
    _kept.append(library)
    return Folds(made, {dtype: mean(library[name]) for dtype, name in means.items()})


@functools.cache
def places() -> dict[tuple[str, DType], Callable[[int, int, int, int, int], None]]:
    """The routines of `places`, by kind and type, compiled at the first use."""
    names = {(kind, dtype): place_symbol(kind, dtype) for kind in KINDS for dtype in ORDERED}
    library = _linked("the least of a batch", places_text(), tuple(names.values()))
    pointer, number = ctypes.c_void_p, ctypes.c_int64
    signature = (None, pointer, pointer, number, number, pointer)
    _kept.append(library)
    return {each: ctypes.CFUNCTYPE(*signature)(library[name]) for each, name in names.items()}


@functools.cache
def scatters() -> dict[tuple[str, DType], Callable[[int, int, int, int, int], None]]:
    """The routines of `scatter`, by kind and type, compiled at the first use."""
    names = {each: scatter_symbol(*each) for each in ROUTINES}
    library = _linked("scatters", scatters_text(host()), tuple(names.values()))
    pointer, number = ctypes.c_void_p, ctypes.c_int64
    signature = (None, pointer, number, pointer, pointer, number)
    _kept.append(library)
    return {each: ctypes.CFUNCTYPE(*signature)(library[name]) for each, name in names.items()}


_kept: list[Any] = []
"""Libraries whose routines are used for as long as the process lives."""


def _linked(name: str, text: str, symbols: tuple[str, ...]) -> Any:
    """Routines of this machine, from the cache where they are there."""
    machine = host()
    text = module_text(machine, text)
    wanted = Wanted(
        kernel=name,
        file=__file__,
        program=text,
        variant="native",
        machine=machine.identity,
        versions=versions(),
    )
    library, _ = shared(LOADED).get_or_make(
        wanted,
        lambda: (assemble(text, machine), {}),
        lambda code, _: link_symbols(code, *symbols),
    )
    return library


def module_text(machine: Machine, text: str) -> str:
    """The LLVM module of some routines."""
    return f'target triple = "{machine.triple}"\n\n{text}'
