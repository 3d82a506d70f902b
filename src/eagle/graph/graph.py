"""`eagle.Graph`: nodes that were recorded once, replayed as often as you like."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn, SupportsIndex

from eagle.devices.base import Captured, Pass, Turn
from eagle.devices.plan import Item, Launch, Plan, walk
from eagle.errors import Busy
from eagle.graph.parallel import Parallel
from eagle.graph.planes import arrays_of
from eagle.graph.recorder import GraphRecorder
from eagle.graph.touches import Dependency, dependencies, ordered
from eagle.params import shown, whole
from eagle.recording import recorder

if TYPE_CHECKING:
    from eagle.graph.profile import Profile

MOST_REPLAYS = 2**63 - 1


class Graph:
    """Kernel launches, copies, Python functions, branches and loops, built once and replayed.

    Made by a function under `@eagle.Graph.builder`; in it, `g = eagle.Graph()` is the graph that is
    being built. Raises `Busy` when two threads use it at once.

    Neighbouring kernels over the same samples run in one pass on the host, where that changes no
    bit: see `passes`. `fuse=False` runs them one by one.
    """

    def __init__(self, *, fuse: bool = True) -> None:
        writer = recorder()
        if isinstance(writer, GraphRecorder):
            writer.claim()
            self.recorder = writer
        else:
            self.recorder = GraphRecorder("graph")
            self.recorder.claim()
        if not isinstance(fuse, bool):
            raise TypeError(f"eagle.Graph: fuse must be True or False, got {shown(fuse)}")
        self.recorder.fuse = fuse
        self.recorded: Any = None
        """The result, as planes."""
        self._captured: Captured | None = None
        self._plan: Plan | None = None
        self._version = self._captured_version = -1
        self._seed: int | None = None
        self._turn = Turn()
        self._profile: Profile | None = None
        """The latest one."""

    @staticmethod
    def builder(function: Callable[..., Any]) -> Callable[..., Any]:
        """Make a builder of a function: calling it records a graph and returns that.

        Calls of kernels, `eagle.copy`, `eagle.opaque` and `eagle.reduce` become nodes; `if`,
        `while` and `for` over cells become branches and loops that are decided at each replay; all
        else is Python and runs once. A function with a parameter annotated `eagle.Graph` is a
        block, which adds its nodes to the graph it is given. The text is read at the first call.
        Raises GraphError for what cannot be recorded, BindError for planes that do not fit.
        """
        from eagle.graph.builder import Builder  # loads the walk of statements, half of hawk

        return Builder(function)

    # -- building ----------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name of its builder."""
        return self.recorder.name

    @property
    def result(self) -> Any:
        """What the builder assigned to it: arrays, or a nesting of them."""
        return self.recorded if self.recorder.open else arrays_of(self.recorded)

    @result.setter
    def result(self, value: object) -> None:
        self.recorded = value

    def parallel(self) -> Parallel:
        """A fork, for `with`: its branches may run at once."""
        return Parallel(self.recorder)

    def add(self, simulation: Any) -> None:
        """Add a `Simulation` as a node: at each replay it runs until its samples are done."""
        from eagle.graph.simulations import add_simulation

        add_simulation(self.recorder, simulation)

    @property
    def plan(self) -> Plan:
        """What was recorded, as devices get to see it."""
        if self._plan is None or self._version != self.recorder.version:
            self._plan = self.recorder.plan()
            if self._seed is not None:
                self._plan.order = functools.partial(ordered, seed=self._seed)
            self._version = self.recorder.version
        return self._plan

    # -- replaying ---------------------------------------------------------------------------------

    def launch(self, n: SupportsIndex = 1) -> None:
        """Replay it `n` times and wait: afterwards every host array that a node wrote is final.

        An exception of a Python function in it is raised here, after all replays; Python functions
        that would have come after it were left out.
        """
        self._replay(n, wait=True)

    def enqueue(self, n: SupportsIndex = 1) -> None:
        """Replay it `n` times without waiting: host arrays are safe to read after `synchronize`.

        With host arrays alone it has run when this returns. Exceptions wait for what is asked next.
        """
        self._replay(n, wait=False)

    def synchronize(self) -> None:
        """Wait for all that was enqueued. Raises what a Python function raised there."""
        mine, turn = object(), self._turn
        try:
            if not turn.take(mine):
                self._busy()
            captured = self._captured
            if captured is not None:
                captured.synchronize()
                self._raise_kept(captured)
        finally:
            if turn.holder is mine:
                turn.holder = None

    def __call__(self, n: SupportsIndex = 1) -> Any:
        """Replay it `n` times, wait, and return the result."""
        self._replay(n, wait=True)
        return self.result

    def _replay(self, n: SupportsIndex, *, wait: bool) -> None:
        if type(n) is not int or not 0 <= n <= MOST_REPLAYS:
            n = _parse(n)
        mine, turn = object(), self._turn
        try:
            if not turn.take(mine):
                self._busy()
            captured = self._ready()
            captured.enqueue(n)
            if wait:
                captured.synchronize()
                self._raise_kept(captured)
        finally:
            if turn.holder is mine:
                turn.holder = None

    def _ready(self) -> Captured:
        """The graph on its device. Raises an exception that was kept from before."""
        captured = self._captured
        if captured is None or self._captured_version != self.recorder.version:
            return self._capture()
        self._raise_kept(captured)
        return captured

    def _capture(self) -> Captured:
        if self.recorder.open:
            raise RuntimeError(f"the graph {self.name} is being built; launch it afterwards")
        if self._captured is not None:  # a block was added since
            self._captured.synchronize()
            self._raise_kept(self._captured)
        captured = self._captured = self.plan.device.capture(self.plan)
        self._captured_version = self.recorder.version
        return captured

    def _busy(self) -> NoReturn:
        holder, frame = self._turn.holder, sys._getframe(1).f_back  # noqa: SLF001 - its name
        while frame is not None:
            if holder is not None and frame.f_locals.get("mine") is holder:
                raise Busy(
                    f"this graph {self.name} is being replayed, by who called this function of its "
                    "own: it cannot use itself\n  write: another graph of the same builder, made "
                    "before"
                )
            frame = frame.f_back
        raise Busy(f"this graph {self.name} is being used by another thread")

    def _raise_kept(self, captured: Captured) -> None:
        """Raise the exception of a Python function in it, if one was kept."""
        failure = captured.take_failure()
        if failure is None:
            return
        failure.error.add_note(
            f"in the node {failure.node} of the graph {self.name}, replay {failure.replay} of "
            f"{failure.replays}"
        )
        raise failure.error

    # -- exchanging --------------------------------------------------------------------------------

    def bind(self, **planes: object) -> None:
        """Exchange arrays that the builder was given, by the names of its parameters.

        They have the shape, type, layout and place of those before, and share memory with others as
        those did. Everything in the graph follows, `result` too. Raises ValueError for all that
        does not fit, before anything is exchanged.
        """
        from eagle.graph.exchange import bind

        with self._alone():
            bind(self, self.recorder, planes)

    def params(self, **numbers: object) -> None:
        """Exchange numbers that the builder was given and that went into kernels as they were.

        Raises ValueError for one with which Python computed something while the graph was built.
        """
        from eagle.graph.exchange import renumber

        with self._alone():
            renumber(self, self.recorder, numbers)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        mine, turn = object(), self._turn
        try:
            if not turn.take(mine):
                self._busy()
            yield
        finally:
            if turn.holder is mine:
                turn.holder = None

    def settle(self) -> None:
        """Wait until nothing is on its way, before something is exchanged."""
        if self._captured is not None:
            self._captured.synchronize()

    def moved(self) -> None:
        """Tell the device that arrays were exchanged."""
        if self._captured is not None:
            self._captured.moved()

    def renumbered(self, launch: Launch) -> None:
        """Tell the device that numbers of a launch were exchanged."""
        if self._captured is not None:
            self._captured.renumbered(launch)

    # -- looking at it -----------------------------------------------------------------------------

    @property
    def nodes(self) -> list[Item]:
        """All nodes, in the order of the program, those in branches and loops after these."""
        return list(walk(self.recorder.body))

    @property
    def edges(self) -> tuple[Dependency, ...]:
        """Which `node` waits `on` which, `why`, and whether the two are `fused` in one pass."""
        return tuple(dependencies(self.plan))

    @property
    def passes(self) -> tuple[Pass, ...]:
        """The kernels that run in one pass over the samples, and why others do not.

        Each has its `nodes`, the names of arrays that are `unstored` because only these nodes read
        them, and `why` the first of them is not in the pass before.
        """
        return tuple(self.plan.device.passes(self.plan))

    def __str__(self) -> str:
        """The graph as boxes: what waits for what, and why."""
        from eagle.graph.draw import boxes

        return boxes(self.plan)

    def __repr__(self) -> str:
        return f"<eagle.Graph {self.name}: {len(self.nodes)} nodes>"

    def show(self) -> None:
        """Print it."""
        print(self)

    def to_mermaid(self) -> str:
        """The graph as a Mermaid flowchart."""
        from eagle.graph.draw import mermaid

        return mermaid(self.plan)

    def to_dot(self) -> str:
        """The graph in the language of Graphviz."""
        from eagle.graph.draw import dot

        return dot(self.plan)

    def _repr_svg_(self) -> str:
        """The picture that a notebook shows."""
        from eagle.graph.svg import svg

        return svg(self.plan)

    def plot(self, ax: Any = None) -> Any:
        """Draw it, or when its nodes ran if it was profiled; return the axes.

        Needs matplotlib: pip install 'accipiter[plot]'.
        """
        from eagle.graph.plot import plot

        return plot(self.plan, ax) if self._profile is None else self._profile.plot(ax)

    def profile(self, n: SupportsIndex = 1) -> Profile:
        """Replay it `n` times, and say when each node began and ended.

        These are replays like others. On the host each node costs about a microsecond more.
        """
        from eagle.graph.profile import Profile

        number = _parse(n)
        with self._alone():
            captured = self._ready()
            spans = captured.profile(number)
            self._raise_kept(captured)
        self._profile = Profile(self.name, tuple(spans))
        return self._profile

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Graph belongs to arrays of this process and cannot be pickled; build it")


def _parse(n: SupportsIndex) -> int:
    number = whole(n)
    if number is None or not 0 <= number <= MOST_REPLAYS:
        times = "a whole number of times, from 0 to 2**63 - 1"
        raise ValueError(f"a graph is replayed {times}, got {shown(n)}")
    return number


Graph.__module__ = "eagle"
