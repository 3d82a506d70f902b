"""Replaying a graph on the CPU: the native walker goes through its table, round after round.

Python is entered for functions of the user's, for kernels that reduce or scatter, and to end a
launch that came back early or to hear of signals every now and then.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from time import perf_counter
from typing import Any

from eagle.devices.base import Captured, Failure, Span
from eagle.devices.host.device import ALONE_CYCLES, LOADING, SURE, TOGETHER_CYCLES
from eagle.devices.host.table import Table
from eagle.devices.host.team import team
from eagle.devices.plan import Launch, Plan
from hawk.targets import native
from hawk.targets.cpu.walker import ROW_WORDS, STATE_WORDS, Reason, State

_DONE, _HOST, _HALFWAY = int(Reason.DONE), int(Reason.HOST), int(Reason.HALFWAY)
_LATE = int(Reason.LATE)
_TABLE, _TEAM, _ROW, _ROUNDS = State.TABLE, State.TEAM, State.ROW, State.ROUNDS
_WINDOW, _STOP, _RUN = State.WINDOW, State.STOP, State.RUN

_brief_walk = functools.lru_cache(ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_void_p))
"""The walker as a function that does not let other Python threads run: for some 30 us."""


class HostCaptured(Captured):
    """A table and where the walk through it is."""

    def __init__(self, plan: Plan) -> None:
        self._table = Table(plan)
        self._state = (ctypes.c_int64 * STATE_WORDS)()
        self._pointer = ctypes.c_void_p(ctypes.addressof(self._state))
        walker = native.walker()
        self._walk: Callable[[Any], int] = walker.walk
        self._brief: Callable[[Any], int] = _brief_walk(walker.address)
        # A graph whose launches are short is walked at once; else other threads run meanwhile.
        table = self._table
        self._short = not table.helpers and table.work * LOADING < SURE
        self._failure: Failure | None = None
        self._state[_TABLE] = table.address
        routines = native.routines()
        self._state[_RUN] = 0 if routines is None else routines.run_address

    def enqueue(self, n: int) -> None:
        if not n:
            return
        state, pointer = self._state, self._pointer
        state[_ROW], state[_ROUNDS], state[_STOP] = 0, n, 0
        if self._table.helpers:
            # Asked each time: a forked child has another team.
            state[_TEAM] = team().address(self._table.helpers)
        if self._short:
            state[_WINDOW] = ALONE_CYCLES
            reason = self._brief(pointer)
        else:
            state[_WINDOW] = TOGETHER_CYCLES
            reason = self._walk(pointer)
        while reason != _DONE:
            row = state[_ROW]
            if reason == _HOST:
                self._call(row, n)
                state[_ROW] = row + 1
            elif reason == _HALFWAY:
                loaded, threads = self._table.launched[row]
                loaded.go_on(threads)
                state[_ROW] = row + 1
            if reason == _HOST and self._short:
                reason = self._brief(pointer)
            else:
                state[_WINDOW] = TOGETHER_CYCLES
                reason = self._walk(pointer)

    def profile(self, n: int) -> list[Span]:
        state, spans = self._state, list[Span]()
        state[_ROW], state[_ROUNDS], state[_WINDOW] = 0, n, 0
        if self._table.helpers:
            state[_TEAM] = team().address(self._table.helpers)
        reason = _LATE if n else _DONE
        while reason != _DONE:
            state[_STOP] = 1  # it comes back after each launch and each copy
            begin = perf_counter()
            reason = self._walk(self._pointer)
            row = state[_ROW] - (reason == _LATE)
            if reason == _DONE:
                break
            replay = n - state[_ROUNDS] + 1
            if reason == _HOST:
                begin = perf_counter()
                self._call(row, n)
            elif reason == _HALFWAY:
                loaded, threads = self._table.launched[row]
                loaded.go_on(threads)
            state[_ROW] = row + 1
            item = self._table.items[row]
            if item is not None:
                _add(spans, Span(item, replay, begin, perf_counter()))
        return spans

    def _call(self, row: int, n: int) -> None:
        """Call Python, as a row asks for it."""
        host = self._table.hosts[self._table.words[ROW_WORDS * row + 1]]
        if host.users and self._failure is not None:
            return
        try:
            host.function()
        except KeyboardInterrupt:
            raise  # it is meant for who waits here, not for the function
        except BaseException as error:  # noqa: BLE001 - raised by the launch
            if self._failure is None:
                replay = n - self._state[_ROUNDS] + 1
                self._failure = Failure(error, host.name, replay, n)

    def synchronize(self) -> None:
        """Nothing is on its way here when `enqueue` has returned."""

    def take_failure(self) -> Failure | None:
        failure, self._failure = self._failure, None
        return failure

    def moved(self) -> None:
        self._table.write()

    def renumbered(self, launch: Launch) -> None:
        self._table.write()


def _add(spans: list[Span], span: Span) -> None:
    """Add a span, to that of the row before where both are rows of one node."""
    last = spans[-1] if spans else None
    if last is not None and last.item is span.item and last.replay == span.replay:
        spans[-1] = last._replace(end=span.end)
    else:
        spans.append(span)
