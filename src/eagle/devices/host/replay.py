"""Replaying a graph on the CPU: the native walker goes through its table, round after round.

Python is entered for functions of the user's, for kernels that reduce or scatter, and to end a
launch that came back early or to hear of signals every now and then.

An exception that comes from a signal brings the replay under way to its end first. What Python has
to know for that is in the words of the state: it may come before Python hears what the walk said.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from time import perf_counter
from typing import Any

from eagle.devices.base import Captured, Failure, Span, Watch
from eagle.devices.host.device import ALONE_CYCLES, LOADING, SURE, TOGETHER_CYCLES
from eagle.devices.host.launched import Task
from eagle.devices.host.table import Host, Table
from eagle.devices.host.team import team
from eagle.devices.notes import ended_after, ended_within
from eagle.devices.plan import Launch, Plan
from hawk.targets import native
from hawk.targets.cpu.walker import ROW_WORDS, STATE_WORDS, Reason, State

_DONE, _HOST, _HALFWAY = int(Reason.DONE), int(Reason.HOST), int(Reason.HALFWAY)
_LATE, _BETWEEN = int(Reason.LATE), int(Reason.BETWEEN)
_INSIDE = -1
"""What is written over the reason HOST when the row's function is begun."""
_TABLE, _TEAM, _ROW, _ROUNDS, _WINDOW, _STOP, _RUN, _REASON = map(int, State)

GRACE = 0.5
"""Seconds that an interrupt leaves the replay under way, to come to its end."""

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
        self._left_out = 0
        """Replays that are left out, after an interrupt."""
        self._state[_TABLE] = table.address
        routines = native.routines()
        self._state[_RUN] = 0 if routines is None else routines.run_address

    def enqueue(self, n: int) -> None:
        if not n:
            return
        state, pointer = self._state, self._pointer
        if self._table.helpers:
            # Asked each time: a forked child has another team.
            state[_TEAM] = team().address(self._table.helpers)
        state[_ROW] = 0
        state[_ROUNDS] = n
        state[_REASON] = _BETWEEN
        try:
            if self._short:
                state[_WINDOW] = ALONE_CYCLES
                reason = self._brief(pointer)
            else:
                state[_WINDOW] = TOGETHER_CYCLES
                reason = self._walk(pointer)
            while reason != _DONE:
                state[_STOP] = 0  # of a profile
                self._serve(n)
                if reason == _HOST and self._short:
                    reason = self._brief(pointer)
                else:
                    state[_WINDOW] = TOGETHER_CYCLES
                    reason = self._walk(pointer)
        except BaseException as error:
            self._interrupted(error, n)
            raise

    def profile(self, n: int) -> list[Span]:
        state, spans = self._state, list[Span]()
        if not n:
            return spans
        if self._table.helpers:
            state[_TEAM] = team().address(self._table.helpers)
        state[_ROW], state[_ROUNDS], state[_WINDOW], state[_REASON] = 0, n, 0, _BETWEEN
        try:
            while True:
                state[_STOP] = 1  # it comes back after each launch and each copy
                begin = perf_counter()
                reason = self._walk(self._pointer)
                if reason == _DONE:
                    return spans
                if reason == _BETWEEN:
                    continue
                row = state[_ROW] - (reason == _LATE)
                replay = n - state[_ROUNDS] + 1
                if reason == _HOST:
                    begin = perf_counter()
                self._serve(n)
                item = self._table.items[row]
                if item is not None:
                    _add(spans, Span(item, replay, begin, perf_counter()))
        except BaseException as error:
            self._interrupted(error, n)
            raise

    # -- what the walk leaves to Python ------------------------------------------------------------

    def _serve(self, n: int, watch: Watch | None = None) -> None:
        """Do what the walk came back for, or what is left of that, and go on with the next row.

        An exception may come anywhere here, and the state still says what is left.
        """
        state = self._state
        row, reason = state[_ROW], state[_REASON]
        if reason == _HALFWAY:
            loaded, threads = self._table.launched[row]
            loaded.go_on(threads, watch)
        elif reason in (_HOST, _INSIDE):
            self._call(row, n, watch)
        else:
            return
        # Nothing is called in this line, so no signal handler raises between the two.
        state[_ROW], state[_REASON] = row + 1, _LATE

    def _call(self, row: int, n: int, watch: Watch | None) -> None:
        """Call Python, as a row asks for it. A function of the user's is called once."""
        state, host = self._state, self._host(row)
        begun, work = state[_REASON] == _INSIDE, host.work
        if not isinstance(work, Task):
            if begun or self._failure is not None:
                return
            state[_REASON] = _INSIDE
            try:
                work()
            except KeyboardInterrupt:
                raise  # it is meant for who waits here, not for the function
            except BaseException as error:  # noqa: BLE001 - raised by the launch
                self._keep(error, host.name, n)
            return
        if not begun:
            work.begin()
            state[_REASON] = _INSIDE
        try:
            work.go_on(watch)
        except (AssertionError, Warning) as error:  # what a kernel with checks found
            self._keep(error, host.name, n)

    def _host(self, row: int) -> Host:
        return self._table.hosts[self._table.words[ROW_WORDS * row + 1]]

    def _keep(self, error: BaseException, name: str, n: int) -> None:
        if self._failure is None:
            replay = n - self._state[_ROUNDS] - self._left_out + 1
            self._failure = Failure(error, name, replay, n)

    # -- exceptions from outside: signals ----------------------------------------------------------

    def _interrupted(self, error: BaseException, n: int) -> None:
        """Bring the replay under way to its end, if that is soon, and note where it ended."""
        state = self._state
        rounds = state[_ROUNDS]
        replay, begun = n - rounds + 1, ""
        if not rounds or state[_REASON] == _BETWEEN:
            error.add_note(ended_after(replay - 1, n))
            return
        if state[_REASON] == _INSIDE:
            host = self._host(state[_ROW])
            begun = "" if isinstance(host.work, Task) else host.name
        try:
            self._left_out = rounds - 1
            self._end_replay(n)
        except BaseException:  # noqa: BLE001 - it is late, or there was a second interrupt
            item = self._table.items[state[_ROW]]
        else:
            item = None
        finally:
            self._left_out = 0
        over = state[_REASON] == _DONE
        name = "" if item is None else item.name
        error.add_note(ended_after(replay, n, begun) if over else ended_within(replay, n, name))

    def _end_replay(self, n: int) -> None:
        """Run what is left of a replay. Raises TimeoutError when it is late."""
        state, until = self._state, perf_counter() + GRACE

        def watch(_: int) -> None:
            if perf_counter() > until:
                raise TimeoutError

        state[_ROUNDS] = 1
        while state[_REASON] != _DONE:
            watch(0)
            self._serve(n, watch)
            state[_WINDOW], state[_STOP] = TOGETHER_CYCLES, 0
            self._walk(self._pointer)

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
