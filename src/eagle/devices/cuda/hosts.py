"""Nodes of a graph that run on the host: native code by its address, and Python functions.

The driver calls a Python function on a thread of its own, with one pointer. All of them go through
one function that C can call, which is made once and lives as long as the process; the pointer is a
number, by which the function is found. A graph owns its functions; the table here does not.
"""

from __future__ import annotations

import ctypes
import itertools
import weakref
from array import array
from collections.abc import Callable

from eagle.devices.base import Failure, Partition
from eagle.devices.cuda.driver import Host
from eagle.devices.guard import Guard
from eagle.devices.host.device import HOST, HostLoaded
from eagle.devices.plan import Launch
from hawk.targets import native
from hawk.targets.base import Word


class Rounds:
    """Which replay of how many a node runs in, counted in launches of its part of the graph."""

    def __init__(self) -> None:
        self._launched = 0
        self._asked: list[tuple[int, int, int]] = []
        """Where replays that were asked for at once begin; another thread reads it."""

    def launch(self, replay: int, n: int) -> None:
        """It is launched now, as this replay of `n`."""
        if replay == 1 or not self._asked or self._asked[-1][2] != n:
            if len(self._asked) > 2 * _MOST_ASKED:
                self._asked = self._asked[-_MOST_ASKED:]
            self._asked.append((self._launched, replay, n))
        self._launched += 1

    def of(self, launch: int) -> tuple[int, int]:
        """Which replay of how many a launch was; the first is 0."""
        for first, replay, n in reversed(self._asked):
            if first <= launch:
                return replay + launch - first, n
        return 1, 1


_MOST_ASKED = 4096
"""More calls of `launch` than a driver has room for before it makes the next one wait."""


class Kept:
    """The first exception of a graph's functions, until it is taken."""

    def __init__(self) -> None:
        self.failure: Failure | None = None

    def keep(self, error: BaseException, node: str, replay: int, n: int) -> None:
        if self.failure is None:
            self.failure = Failure(error, node, replay, n)


class PythonCall:
    """A Python function as the driver calls it."""

    __slots__ = (
        "__weakref__",
        "_count",
        "_function",
        "_guard",
        "_kept",
        "_name",
        "_rounds",
        "_users",
        "number",
    )

    def __init__(
        self,
        function: Callable[[], object],
        name: str,
        *,
        users: bool,
        kept: Kept,
        rounds: Rounds,
        guard: Guard,
    ) -> None:
        self._function, self._name, self._users = function, name, users
        self._kept, self._rounds, self._guard = kept, rounds, guard
        self._count = 0
        self.number = next(_numbers)
        _calls[self.number] = self

    @property
    def node(self) -> Host:
        """What the driver is given."""
        return Host(_ADDRESS, self.number)

    def run(self) -> None:
        """Call it. The user's own are left out after an exception."""
        launch = self._count
        self._count += 1
        if self._users and self._kept.failure is not None:
            return
        try:
            with self._guard.calling(self._name):
                self._function()
        except BaseException as error:  # noqa: BLE001 - raised by the launch
            self._kept.keep(error, self._name, *self._rounds.of(launch))


_numbers = itertools.count(1)
_calls: weakref.WeakValueDictionary[int, PythonCall] = weakref.WeakValueDictionary()


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _trampoline(number: int) -> None:
    call = _calls.get(number)
    if call is not None:
        call.run()


_ADDRESS: int = ctypes.cast(_trampoline, ctypes.c_void_p).value or 0


class NativeCall:
    """A kernel on host arrays, on one thread. Python's lock is not needed to run it."""

    def __init__(self, item: Launch, loaded: HostLoaded, function: int) -> None:
        self._item, self._loaded = item, loaded
        ask = loaded.ask(item.steps, 1)
        assert ask is not None
        self._header = ask.header
        self._header[Word.WINDOW] = 0  # it comes back when it is done
        where = self._header.buffer_info()[0]
        self._record = array("q", [function, ask.block, where])
        self.node = Host(native.recorded(), self._record.buffer_info()[0])

    def look_again(self) -> None:
        """Take the words of the launch as they are now."""
        for place, word in enumerate(self._item.words_now):
            self._loaded.move(place, word)


def native_call(item: Launch) -> NativeCall | None:
    """A launch as native code; None for one that Python has to make."""
    if item.careful is not None:
        return None
    whole = Partition.whole(item.n)
    loaded = HOST.load(item.compiled, item.planes, item.words_now, whole)
    function = native.address_of(item.compiled.entry)
    if function is None or not isinstance(loaded, HostLoaded):
        return None
    return NativeCall(item, loaded, function)
