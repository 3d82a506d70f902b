"""What is asked of the CUDA driver: some thirty calls, in plain numbers, each of which is checked.

Handles are ints. `eagle.devices.cuda.bindings` makes these calls with the package `cuda-bindings`;
tests make a driver of their own, which writes down what it is asked for and refuses what CUDA does.
"""

from __future__ import annotations

import abc
import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

OLDEST = 12040
"""The oldest driver that has all we use: graphs with `while` nodes came with CUDA 12.4."""


class DriverError(Exception):
    """The driver did not do what it was asked for."""

    def __init__(self, call: str, name: str, text: str = "", at: int = 0) -> None:
        super().__init__(call, name, text, at)
        self.call, self.name, self.text = call, name, text
        self.at = at
        """The node of a graph that it says is to blame; 0 for none."""

    def __str__(self) -> str:
        return f"{self.call}: {self.name}" + (f", {self.text}" if self.text else "")


class Gpu(NamedTuple):
    """What there is to know of a GPU."""

    name: str
    capability: int
    """Compute capability: 90 for 9.0."""
    multiprocessors: int


class Side(enum.Enum):
    """Where the memory at one end of a copy is."""

    HOST = "host"
    DEVICE = "device"


class Where(NamedTuple):
    """Memory that the driver knows."""

    gpu: int
    """The number of the GPU that it belongs to."""
    managed: bool
    pinned: bool
    """Is it the host's, and page-locked?"""


class Argument(NamedTuple):
    """A parameter of a kernel: its bytes as a word, lowest first, and how many there are."""

    word: int
    size: int


@dataclass(frozen=True, slots=True)
class Kernel:
    """A launch of a kernel."""

    function: int
    blocks: int
    threads: int
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of `rows` rows of `size` bytes; the steps are from one row to the next."""

    source: int
    source_side: Side
    into: int
    into_side: Side
    size: int
    rows: int = 1
    source_step: int = 0
    into_step: int = 0


@dataclass(frozen=True, slots=True)
class Host:
    """A call of native code on a thread of the driver's: `function(data)`."""

    function: int
    data: int


@dataclass(frozen=True, slots=True)
class Empty:
    """Nothing. The body of a branch must not be without any node."""


Work: TypeAlias = "Kernel | Copy | Host | Empty"


class Kind(enum.Enum):
    """What a conditional node is."""

    IF = "if"
    WHILE = "while"


class Driver(abc.ABC):
    """The driver. Calls that fail raise `DriverError`; each lets other Python threads run."""

    # -- GPUs --------------------------------------------------------------------------------------

    @abc.abstractmethod
    def version(self) -> int:
        """The newest CUDA that it knows: 12040 for 12.4."""

    @abc.abstractmethod
    def count(self) -> int:
        """How many GPUs there are."""

    @abc.abstractmethod
    def gpu(self, number: int) -> Gpu:
        """The GPU of that number."""

    @abc.abstractmethod
    def context(self, number: int) -> int:
        """The primary context of a GPU, which all libraries share. It is kept from then on."""

    @abc.abstractmethod
    def push(self, context: int) -> None:
        """Make a context that of this thread."""

    @abc.abstractmethod
    def pop(self) -> None:
        """Give this thread the context it had before."""

    # -- memory ------------------------------------------------------------------------------------

    @abc.abstractmethod
    def allocate(self, size: int) -> int:
        """Memory of `size` bytes, at least 1."""

    @abc.abstractmethod
    def free(self, address: int) -> None:
        """Give it back."""

    @abc.abstractmethod
    def lock(self, address: int, size: int) -> None:
        """Page-lock memory of the host, for all contexts."""

    @abc.abstractmethod
    def unlock(self, address: int) -> None:
        """Undo that."""

    @abc.abstractmethod
    def where(self, address: int) -> Where | None:
        """Whose memory it is; None for what the driver does not know, as memory of the host."""

    @abc.abstractmethod
    def copy(self, work: Copy) -> None:
        """Copy now, after all that is on its way, and wait. One row."""

    # -- code --------------------------------------------------------------------------------------

    @abc.abstractmethod
    def load(self, ptx: str) -> int:
        """Make a module of PTX."""

    @abc.abstractmethod
    def function(self, module: int, name: str) -> int:
        """The kernel of that name."""

    # -- streams -----------------------------------------------------------------------------------

    @abc.abstractmethod
    def stream(self) -> int:
        """A stream. What it does comes after what was asked of the default stream before."""

    @abc.abstractmethod
    def idle(self, stream: int) -> bool:
        """Is nothing on its way?"""

    @abc.abstractmethod
    def synchronize(self, stream: int) -> None:
        """Wait until nothing is."""

    @abc.abstractmethod
    def settle(self) -> None:
        """Wait until nothing is on its way in the context, on any stream."""

    @abc.abstractmethod
    def run(self, work: Kernel, stream: int) -> None:
        """Launch a kernel on a stream; do not wait."""

    @abc.abstractmethod
    def clear(self, address: int, size: int, stream: int) -> None:
        """Write zeros to `size` bytes of a GPU's memory, at least 1, on a stream; do not wait."""

    @abc.abstractmethod
    def follow(self, stream: int, other: int) -> None:
        """What is asked of `stream` from now on comes after what was asked of `other` by now."""

    @abc.abstractmethod
    def begin_capture(self, stream: int, graph: int, after: Sequence[int]) -> None:
        """Let what is asked of `stream` become nodes of a graph after these, and not run."""

    @abc.abstractmethod
    def end_capture(self, stream: int) -> list[int]:
        """End that, also where it fails; the nodes that the next one would have come after."""

    # -- graphs ------------------------------------------------------------------------------------

    @abc.abstractmethod
    def graph(self) -> int:
        """A graph without nodes."""

    @abc.abstractmethod
    def add(self, graph: int, after: Sequence[int], work: Work) -> int:
        """Add a node that comes after others, which are named once each."""

    @abc.abstractmethod
    def handle(self, graph: int, default: int) -> int:
        """The number that one conditional node of `graph` looks at; `default` at each launch."""

    @abc.abstractmethod
    def condition(
        self, graph: int, after: Sequence[int], handle: int, kind: Kind
    ) -> tuple[int, int]:
        """Add a conditional node; it, and its body, which is a graph without nodes."""

    @abc.abstractmethod
    def instantiate(self, graph: int) -> int:
        """What can be launched."""

    @abc.abstractmethod
    def update(self, ready: int, node: int, work: Work) -> None:
        """Change what a node does in the launches to come. The graph is still there."""

    @abc.abstractmethod
    def launch(self, ready: int, stream: int) -> None:
        """Replay it once on a stream; do not wait."""

    @abc.abstractmethod
    def destroy(self, graph: int, ready: int) -> None:
        """Take a graph and what was made of it away; 0 for what there is not."""
