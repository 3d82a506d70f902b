"""Replaying a graph on the simulated device, in an order that is as bad as the rules allow.

Nodes are taken apart: a copy reads half of its numbers, then the other half; a branch or a loop is
as many parts as it has inside. One part runs at a time, and of all that may run next one is drawn
from the seed. So nodes that need not wait for each other come in any order, also in the middle of
each other, and yet the same seed gives the same order again.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import Any

from numpy.typing import NDArray

from eagle.devices.base import Captured, Failure, Span
from eagle.devices.host.device import HOST
from eagle.devices.host.launched import Launched
from eagle.devices.host.pinned import is_pinned
from eagle.devices.host.reduce import reduced
from eagle.devices.host.stretches import same_memory
from eagle.devices.notes import ended_after, ended_within
from eagle.devices.plan import Call, Copy, If, Item, Launch, Loop, Plan, Put, Reduce
from eagle.devices.rules import pieces
from eagle.devices.simulated.array import poison
from eagle.devices.simulated.conditions import holds, number_in, put, write
from eagle.devices.simulated.order import chance
from eagle.devices.simulated.stream import STREAM


class SimulatedCaptured(Captured):
    """A graph in pieces between which the device is waited for."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._pieces = pieces(plan)
        self._eager = any(isinstance(piece, Call) for piece in self._pieces)
        self._runner = _Runner(plan, chance())

    def enqueue(self, n: int) -> None:
        STREAM.check(f"replaying the graph {self._plan.name}")
        runner = self._runner
        runner.stopped = ""
        try:
            self._enqueue(n)
        except BaseException as error:
            if n and self._eager:  # else it runs, and is ended where it is waited for
                error.add_note(runner.where(over=False))
                runner.stopped = ""
            raise

    def _enqueue(self, n: int) -> None:
        runner, plan_pieces = self._runner, self._pieces
        if not self._eager:
            STREAM.submit(lambda: runner.replays(plan_pieces, n))
            return
        for replay in range(1, n + 1):
            STREAM.submit(functools.partial(runner.begin, replay, n))
            for piece in plan_pieces:
                if isinstance(piece, Call):
                    STREAM.wait()
                    runner.eager(piece)
                else:
                    STREAM.submit(functools.partial(runner.piece, piece))

    def synchronize(self) -> None:
        try:
            STREAM.enter(f"waiting for the graph {self._plan.name}")
        except BaseException as error:
            stopped, self._runner.stopped = self._runner.stopped, ""
            if stopped:
                error.add_note(stopped)
            raise

    def profile(self, n: int) -> list[Span]:
        spans = self._runner.spans = []
        try:
            self.enqueue(n)
            self.synchronize()
        finally:
            self._runner.spans = None
        return sorted(spans, key=lambda span: span.begin)

    def take_failure(self) -> Failure | None:
        failure, self._runner.failure = self._runner.failure, None
        return failure

    def moved(self) -> None:
        """Addresses are looked up at each node."""

    def renumbered(self, launch: Launch) -> None:
        """So are numbers."""


class _Runner:
    """Runs the nodes of a graph."""

    def __init__(self, plan: Plan, draw: random.Random) -> None:
        self._plan, self._draw = plan, draw
        self._waits: dict[tuple[int, ...], list[tuple[int, int]]] = {}
        self._launched: dict[int, Launched] = {}
        self._made = [root for root in plan.roots if root.made and root.device is not HOST]
        self._staged: dict[int, NDArray[Any]] = {}
        self.failure: Failure | None = None
        self.spans: list[Span] | None = None
        self._replay, self._n, self._at = 0, 0, ""
        self.stopped = ""
        """What is said of replays that ended before they were over; empty where none did."""

    def where(self, *, over: bool) -> str:
        """What an exception says of the replays; `over`: is the one under way at its end?"""
        replay, n = self._replay, self._n
        return ended_after(replay, n) if over else ended_within(replay, n, self._at)

    def replays(self, parts: Sequence[list[Item] | Call], n: int) -> None:
        """All replays of a graph that has no eager function."""
        for replay in range(1, n + 1):
            if STREAM.stopping:
                self._replay, self._n = replay - 1, n
                self.stopped = self.stopped or self.where(over=True)
                return
            self.begin(replay, n)
            for part in parts:
                assert isinstance(part, list)
                if not self.piece(part):
                    return

    def begin(self, replay: int, n: int) -> None:
        """Begin a replay: nothing was written yet in what the graph made."""
        self._replay, self._n, self._at = replay, n, ""
        for root in self._made:
            poison(root.view)

    def piece(self, items: list[Item]) -> bool:
        """Nodes between two cuts; False if it was stopped in the middle."""
        self._stage(items)
        for _ in self._body(items):
            if STREAM.stopping:
                self.stopped = self.stopped or self.where(over=False)
                return False
        return True

    def eager(self, item: Call) -> None:
        """An eager function, on the thread that launches."""
        self._at = item.name
        for _ in self._call(item):
            pass

    def _fail(self, error: BaseException, node: str) -> None:
        if self.failure is None:
            self.failure = Failure(error, node, self._replay, self._n)

    def _stage(self, items: list[Item]) -> None:
        """Pageable arrays are read when a graph is launched, which is before its nodes run."""
        self._staged = {
            id(item): item.reads[0].memory.copy()
            for item in items
            if isinstance(item, Copy)
            and item.reads[0].root.device is HOST
            and item.writes[0].root.device is not HOST
            and not is_pinned(item.reads[0].memory)
        }

    # -- order -------------------------------------------------------------------------------------

    def _body(self, items: list[Item]) -> Iterator[None]:
        """Nodes part by part; whatever comes out comes after a part."""
        left, later = self._order(items)
        ready = [place for place, count in enumerate(left) if not count]
        begun: dict[int, Iterator[None]] = {}
        # Either anything comes next, or what is first by ranks: those keep a node waiting for long.
        ranks = self._draw.sample(range(len(items)), len(items))
        by_rank = self._draw.random() < 0.5
        while ready:
            place = min(ready, key=ranks.__getitem__) if by_rank else self._draw.choice(ready)
            if place not in begun:
                begun[place] = self._node(items[place])
            self._at = items[place].name
            if next(begun[place], _OVER) is not _OVER:
                yield
                continue
            ready.remove(place)
            for each in later[place]:
                left[each] -= 1
                if not left[each]:
                    ready.append(each)

    def _order(self, items: list[Item]) -> tuple[list[int], list[list[int]]]:
        """For each node how many it waits for, and which wait for it."""
        key = tuple(map(id, items))
        waits = self._waits.get(key)
        if waits is None:
            waits = self._waits[key] = self._plan.waits(items)
        left = [0] * len(items)
        later: list[list[int]] = [[] for _ in items]
        for before, after in waits:
            left[after] += 1
            later[before].append(after)
        return left, later

    # -- nodes -------------------------------------------------------------------------------------

    def _node(self, item: Item) -> Iterator[None]:
        begin = perf_counter()
        match item:
            case Launch():
                self._launch(item)
            case Copy():
                yield from self._copy(item)
            case Reduce():
                number = reduced(item.kind, item.dtype, item.reads[0].memory)
                item.writes[0].memory[...] = number
            case Call():
                yield from self._call(item)
                return
            case Put():
                put(item)
            case If():
                yield from self._body(item.then if holds(item.test) else item.orelse)
                return
            case Loop():
                yield from self._loop(item)
                return
            case _:
                raise AssertionError(item)
        self._seen(item, begin)
        yield

    def _launch(self, item: Launch) -> None:
        for region, kept in item.fresh:
            region.memory[...] = kept
        if item.n:
            launched = self._launched.get(id(item))
            if launched is None:
                launched = self._launched[id(item)] = Launched(item)
            try:
                launched()
            except BaseException as error:  # noqa: BLE001 - raised by the launch
                self._fail(error, item.name)

    def _copy(self, item: Copy) -> Iterator[None]:
        source, into = item.reads[0].memory, item.writes[0].memory
        if same_memory(source, into):
            return
        source = self._staged.get(id(item), source)
        if not into.ndim:
            into[...] = source
            return
        half = len(into) // 2
        into[:half] = source[:half]
        yield
        into[half:] = source[half:]

    def _call(self, item: Call) -> Iterator[None]:
        if self.failure is not None:
            return
        begin = perf_counter()
        try:
            if item.eager:
                item.function()
            else:
                with STREAM.guard.calling(item.name):
                    item.function()
        except BaseException as error:
            if item.eager and isinstance(error, KeyboardInterrupt):
                raise  # it is meant for who waits here, not for the function
            self._fail(error, item.name)
        self._seen(item, begin)
        yield

    def _loop(self, loop: Loop) -> Iterator[None]:
        while not any(map(holds, loop.exits)):
            yield from self._body(loop.before)
            if loop.test is not None and not holds(loop.test):
                return
            counter = loop.counter
            if counter is not None:
                count, limit = number_in(counter.count), number_in(counter.limit)
                if count >= limit:
                    return
                write(counter.number, count)
                write(counter.count, min(limit, count + counter.step))
            yield from self._body(loop.body)
            yield

    def _seen(self, item: Item, begin: float) -> None:
        if self.spans is not None:
            self.spans.append(Span(item, self._replay, begin, perf_counter()))


_OVER: Any = object()
