"""What every device gives: memory, kernels loaded with their planes, and graphs ready to replay."""

from __future__ import annotations

import abc
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eagle.pace import Pace
from eagle.params import shown, whole
from hawk.ir.types import DType
from hawk.targets.base import Compiled

if TYPE_CHECKING:
    from eagle.devices.plan import Item, Launch, Plan, Root, View
    from hawk.ir.nodes import Function
    from hawk.kernel import Program


@dataclass(frozen=True, slots=True)
class Partition:
    """The samples `base` to `base + count` of a batch of `n`.

    Raises ValueError for samples that are not there, TypeError for what is no whole number.
    """

    base: int
    count: int
    n: int

    def __init__(self, base: SupportsIndex, count: SupportsIndex, n: SupportsIndex) -> None:
        object.__setattr__(self, "base", _parse("base", base))
        object.__setattr__(self, "count", _parse("count", count))
        object.__setattr__(self, "n", _parse("n", n))
        if self.base + self.count > self.n:
            raise ValueError(
                f"Partition: samples {self.base} to {self.base + self.count} "
                f"are not all in a batch of {self.n}"
            )

    @classmethod
    def whole(cls, n: SupportsIndex) -> Partition:
        """All samples of a batch of `n`."""
        return cls(0, n, n)


def _parse(name: str, given: SupportsIndex) -> int:
    number = whole(given)
    if number is None:
        raise TypeError(f"Partition: {name} must be a whole number, got {shown(given)}")
    if number < 0:
        raise ValueError(f"Partition: {name} must not be negative, got {number}")
    return number


class Outcome(NamedTuple):
    """What a launch did."""

    finished: int
    """Samples that became done."""
    longest: int
    """Most steps any sample took."""
    pieces: int
    """Pieces the samples were handed out in."""
    threads: int
    """Threads that could work on it."""


Watch: TypeAlias = "Callable[[int], object]"
"""Called now and then while a launch is on its way, with the samples that became done so far."""


_ONE_AT_A_TIME = getattr(sys, "_is_gil_enabled", lambda: True)()
"""Does Python run one thread at a time, and another only where something is called or repeated?"""


class Turn:
    """The right to use something, which one thread has at a time.

        mine = object()
        try:
            if not turn.take(mine):
                raise Busy
            ...  # use it
        finally:
            if turn.holder is mine:
                turn.holder = None

    A signal handler may raise wherever something is called, also between a lock's `acquire` and the
    `try` after it, and what was locked would stay so. Here nothing is called between finding that
    the turn is ours and giving it back.
    """

    __slots__ = ("_lock", "holder")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.holder: object = None

    def take(self, mine: object) -> bool:
        """Take the turn for `mine` if nobody has it; say whether `mine` has it now."""
        if _ONE_AT_A_TIME:  # a lock would take as long as all the rest of a small launch
            if self.holder is None:
                self.holder = mine
        else:
            with self._lock:
                if self.holder is None:
                    self.holder = mine
        return self.holder is mine


class Loaded(abc.ABC):
    """A compiled kernel with its planes, on the device. One launch at a time."""

    @property
    @abc.abstractmethod
    def together(self) -> int:
        """Samples that are advanced together: as long as one of them goes on, all take part."""

    @abc.abstractmethod
    def launch(
        self,
        steps: int,
        threads: int | None = None,
        *,
        to_end: bool = False,
        picked: NDArray[np.int64] | None = None,
        mark: object = None,
        watch: Watch | None = None,
    ) -> None:
        """Advance every live sample by at most `steps`, in tiles that stay in the cache.

        `threads` bounds the threads that work on it. `to_end`: nearly every sample stops on its
        way, so the work is cut to keep all threads busy to the end. `picked`: only these samples,
        each named once, in an array that does not change.

        An exception out of this call (Ctrl-C, a signal handler that raises) leaves a whole number
        of steps in every sample, and nobody works on them. Launches of one `mark` are one launch:
        called again with it, this goes on with what was left, or returns at once if nothing was.
        Without a mark each launch is a new one, and what an earlier one left is forgotten.
        """

    @abc.abstractmethod
    def outcome(self, mark: object = None) -> Outcome | None:
        """What the latest launch did so far; None if that is not the one of this mark."""


class SoFar(NamedTuple):
    """How far a loop is."""

    going: int
    """Samples that are not done."""
    taken: int
    """Steps that all launches asked for together: what each sample that goes on has taken."""
    furthest: int
    """Steps of the sample that took most."""
    launches_by_k: dict[int, int]
    """How many launches asked for how many steps, up to 64."""
    picks: int
    """Times that the samples that were left were picked into a map."""
    halfway: bool = False
    """Did some samples take steps of those that come next already, each as many as it came to?"""


class Loop(abc.ABC):
    """A kernel that a device launches until all samples are done. One thread at a time uses it."""

    @property
    @abc.abstractmethod
    def threads(self) -> int:
        """Threads of the device that work on it."""

    @abc.abstractmethod
    def begin(self) -> None:
        """Forget what was done, and count the samples that go on."""

    @abc.abstractmethod
    def advance(self, steps: int) -> None:
        """Launch until `steps` more were asked for, or no sample goes on; or for a little while.

        An exception out of this call leaves a whole number of steps in every sample, and nobody
        works on them.
        """

    @abc.abstractmethod
    def so_far(self) -> SoFar:
        """How far it is, since it began."""

    @abc.abstractmethod
    def going(self) -> int:
        """Samples that are not done, counted anew."""

    @abc.abstractmethod
    def first_going(self) -> int:
        """The first sample that is not done; there is one."""

    @abc.abstractmethod
    def greatest(self, view: View) -> int:
        """The greatest of whole numbers, one for each sample, that are not negative."""


class Failure(NamedTuple):
    """An exception that a Python function of a graph raised."""

    error: BaseException
    node: str
    replay: int
    """The first is 1."""
    replays: int


class Span(NamedTuple):
    """When a node ran in a replay, in seconds of one clock."""

    item: Item
    replay: int
    """The first is 1."""
    begin: float
    end: float


class Captured(abc.ABC):
    """A graph as a device replays it. One thread at a time uses it."""

    @abc.abstractmethod
    def enqueue(self, n: int) -> None:
        """Replay it `n` times, after all that was enqueued before; need not wait for the end.

        The first exception of a Python function is kept. Until it is taken, Python functions that
        come later are left out, and all else runs.
        """

    @abc.abstractmethod
    def synchronize(self) -> None:
        """Wait until nothing is on its way any more. Host arrays are final then."""

    @abc.abstractmethod
    def profile(self, n: int) -> list[Span]:
        """Replay it `n` times and wait, and say when each node began and ended."""

    @abc.abstractmethod
    def take_failure(self) -> Failure | None:
        """The exception that was kept, if there is one, which is forgotten here."""

    @abc.abstractmethod
    def moved(self) -> None:
        """Look all addresses up again: a root of the plan was exchanged. Nothing is on its way."""

    @abc.abstractmethod
    def renumbered(self, launch: Launch) -> None:
        """Look the numbers of a launch up again. Nothing is on its way."""


class Objection(NamedTuple):
    """What a device says of a node that it cannot have in a graph."""

    item: Item
    what: str
    fix: str


class Cut(NamedTuple):
    """A graph is cut before this node; before and after it where the node is eager."""

    item: Item
    why: str


class Pass(NamedTuple):
    """Kernels of a graph that run in one pass over the samples."""

    nodes: tuple[Launch, ...]
    unstored: tuple[str, ...] = ()
    """Arrays of the graph's own that only these read: they are handed on, and never stored."""
    why: str = ""
    """Why the first of them is not in the pass before; empty where there is nothing to tell."""


class Device(abc.ABC):
    """A place where arrays live and kernels run."""

    name: str
    """As messages say it: `the host`."""
    calls = False
    """May kernels be called with its arrays outside of graphs? Then it has the methods below."""

    def array(self, view: View, like: Any = None) -> Any:
        """Memory of this device as an array, of the library that `like` is of if that may be."""
        raise NotImplementedError

    def fill(self, view: View, number: Any) -> None:
        """Write one number everywhere in memory without gaps, in the order of launches."""
        raise NotImplementedError

    def duplicate(self, view: View, into: View | None = None) -> View:
        """The same numbers in other memory, by default in new one."""
        raise NotImplementedError

    def fetch(self, view: View) -> NDArray[Any]:
        """The numbers in memory, when all that was asked for before is over."""
        raise NotImplementedError

    def picked(self, view: View, places: NDArray[np.int64]) -> View:
        """The samples that stand at these places of the last dimension, in new memory.

        Samples stand side by side in it.
        """
        raise NotImplementedError

    @property
    def crowd(self) -> int:
        """Samples that it runs at once anyhow: of so few none are picked out."""
        raise NotImplementedError

    def loop(
        self,
        function: Function,
        compiled: Compiled,
        planes: Sequence[np.ndarray | int],
        words: Sequence[int],
        n: int,
        pace: Pace,
    ) -> Loop:
        """A kernel and its planes put together, to be launched until all samples are done."""
        raise NotImplementedError

    @abc.abstractmethod
    def empty(self, shape: tuple[int, ...], dtype: DType) -> Any:
        """A new array of this device. A graph writes every number of it before it is read."""

    @abc.abstractmethod
    def locate(self, value: object) -> View | None:
        """Where `value` is in this device's memory; None for what is no array that lives here."""

    @abc.abstractmethod
    def pinned(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
        """A new host array of zeros that this device copies to and from by itself."""

    @abc.abstractmethod
    def objections(self, plan: Plan) -> list[Objection]:
        """What is wrong with a graph on this device, though not on every one."""

    def cuts(self, plan: Plan) -> list[Cut]:
        """Where the device cuts a graph into parts, and waits for one before the next begins."""
        return []

    def passes(self, plan: Plan) -> list[Pass]:
        """Which kernels run in one pass over the samples; those that run alone, too."""
        from eagle.devices.plan import Launch, walk  # it imports this file for its types

        return [Pass((item,)) for item in walk(plan.body) if isinstance(item, Launch)]

    def compiled(self, program: Program, compiled: Compiled) -> Compiled:
        """The code of a kernel on this device, given that which it was bound with on the host."""
        return compiled

    @abc.abstractmethod
    def capture(self, plan: Plan) -> Captured:
        """Make a graph ready to be replayed. It has no objections."""

    @abc.abstractmethod
    def copy(self, source: Root, into: Root) -> None:
        """Copy now, and wait for it. One of the two lives here, the other here or on the host."""

    @abc.abstractmethod
    def load(
        self,
        compiled: Compiled,
        planes: Sequence[np.ndarray | int],
        words: Sequence[int],
        partition: Partition,
        function: Function | None = None,
    ) -> Loaded:
        """Put a kernel and its planes together.

        `planes` follows `compiled.planes`: an array, or the word of a uniform number. The arrays
        are kept alive by what is returned. `words` is the same with the addresses of the arrays.
        `function` is the program as it was traced, for devices that make code of their own of it.
        """


class Allocations(threading.local):
    """Whether arrays may be made now, on this thread. While a graph is built, not everywhere."""

    refuse: Callable[[str], None] | None = None
    """Raises for what would be made."""

    def check(self, made: str) -> None:
        """Ask before an array is made that a program may take for a new one at each replay."""
        if self.refuse is not None:
            self.refuse(made)


allocations = Allocations()

_devices: list[Device] = []


def register(device: Device) -> None:
    """Let arrays that live on `device` be planes. The host comes first, and is always there."""
    _devices.append(device)


def home_of(value: object) -> tuple[Device, View] | None:
    """The device that an array lives on, and where there; None for what is no array.

    Raises DeviceError for an array on a GPU that cannot be used.
    """
    for device in _devices:
        view = device.locate(value)
        if view is not None:
            return device, view
    from eagle.interop.cuda_array import located  # most arrays are found before

    found = located(value)
    if found is None:
        return None
    return import_module("eagle.devices.cuda.device").home_of(value, found)
