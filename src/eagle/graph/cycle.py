"""A loop of which nobody knows how often it runs before a replay does it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from eagle.devices.plan import CellKind, Condition, Counter, Item, Loop
from eagle.graph.merging import Carried, Known, Parts, Same
from eagle.graph.planes import Plane
from eagle.graph.touches import meet
from hawk.frontend.frame import Frame
from hawk.frontend.values import Range

if TYPE_CHECKING:
    from eagle.graph.domain import BuilderDomain

COUNTS = "for"
"""The key of the loop's own counter among what is carried."""


class Counting:
    """The number of a pass, before it is known which: what the walk counts a `for` with."""

    def __init__(self, number: Any) -> None:
        self.number = number


class GraphCycle:
    """A loop being written. What passes exchange for other planes has memory of its own."""

    def __init__(self, domain: BuilderDomain, frame: Frame, node: ast.AST, said: str) -> None:
        self._domain, self._recorder = domain, domain.recorder
        self._frame, self._node, self._said = frame, node, said
        self._outer = self._recorder.inside
        self._before: list[Item] = []
        self._body: list[Item] = []
        self._carried: dict[str, Any] = {}
        self._nexts: dict[str, Any] = {}
        self._counter: Counter | None = None
        self._number: Plane | None = None
        self._test: Condition | None = None
        self._exits: tuple[Condition, ...] = ()

    # -- what is carried ---------------------------------------------------------------------------

    def carry(self, key: str, value: Any, template: Any) -> None:
        if key == COUNTS:
            self._count(value)
            return
        self._carried[key] = self._held(key, value, template)

    def _held(self, key: str, value: Any, template: Any) -> Any:
        match template:
            case Carried():
                plane = self._recorder.make(key, value.shape, value.dtype, value.root.device)
                plane.root.sources.append(value.region)
                self._recorder.join(value, plane, self._outer)
                return plane
            case Parts():
                parts = zip(value, template.parts, strict=True)
                return template.form([self._held(key, each, part) for each, part in parts])
            case Same() | Known() | _:
                return value

    def _count(self, start: Any) -> None:
        """Count by cells: where the next pass is, where this one is, where it ends."""
        assert isinstance(self._node, ast.For)
        recorder, bounds = self._recorder, self._domain.counted[self._node.iter]
        counted = ast.unparse(self._node.target)
        count, number, limit = (
            recorder.cell(name, CellKind.I64) for name in ("next", counted, "limit")
        )
        for cell, value in ((count, start), (limit, bounds.stop)):
            known = value.cell if isinstance(value, Plane) else recorder.constant(int(value))
            recorder.put(cell, known, self._outer)
        self._number = number
        self._counter = Counter(count.cell, number.cell, limit.cell, bounds.step)

    # -- the parts ---------------------------------------------------------------------------------

    @contextmanager
    def test(self) -> Iterator[dict[str, Any]]:
        with self._recorder.into(self._before, self._said, self._frame.names):
            yield self._names()

    @contextmanager
    def body(self) -> Iterator[dict[str, Any]]:
        with self._recorder.into(self._body, self._said, self._frame.names):
            with self._domain.unchanged(self._frame, self._node):
                yield self._names()
            self._hand_on()

    def _names(self) -> dict[str, Any]:
        if self._number is None:
            return dict(self._carried)
        return {**self._carried, COUNTS: self._number}

    def decide(self, test: Any, exits: Sequence[str]) -> None:
        holds = self._recorder.holds
        self._exits = tuple(holds(self._carried[key]) for key in exits)
        self._test = None if isinstance(test, (bool, Counting)) else test

    def next(self, key: str, value: Any) -> None:
        if key == COUNTS:
            return
        if key.startswith("if "):  # no name of a user: a flag of the walk
            self._leave(key, value)
            return
        self._nexts[key] = value

    def _leave(self, key: str, flag: Any) -> None:
        """A flag of the loop's own: False before it, and written by each pass."""
        recorder = self._recorder
        cell = self._carried.get(key)
        if cell is None:
            cell = self._carried[key] = recorder.cell(key.removeprefix("if "))
            recorder.put(cell, recorder.constant(0), self._outer)
        value = flag.cell if isinstance(flag, Plane) else recorder.constant(int(flag))
        recorder.put(cell, value)

    def _hand_on(self) -> None:
        """Give the next pass its planes, all at once: `a, b = b, a` exchanges them."""
        moves: list[tuple[Plane, Plane]] = []
        for key, value in self._nexts.items():
            if key in self._carried:
                _moves(self._carried[key], value, moves)
        recorder, ends = self._recorder, [into for _, into in moves]
        ready: list[tuple[Plane, Plane]] = []
        for source, into in moves:
            into.root.sources.append(source.region)
            others = [end for end in ends if end is not into]
            if any(meet(source.region, end.region) for end in others):
                aside = recorder.make(f"{into.name}'", into.shape, into.dtype, into.root.device)
                recorder.join(source, aside, self._body)
                ready.append((aside, into))
            else:
                ready.append((source, into))
        for source, into in ready:
            recorder.join(source, into, self._body)

    def again(self, *, settled: bool) -> bool:
        return not settled

    def close(self) -> dict[str, Any]:
        recorder = self._recorder
        item = Loop(
            name=self._said,
            exits=self._exits,
            before=self._before,
            test=self._test,
            counter=self._counter,
            body=self._body,
        )
        recorder.loc = self._frame.head(self._node)
        recorder.add(item)
        return {**self._nexts, **self._carried}


def _moves(carried: Any, value: Any, moves: list[tuple[Plane, Plane]]) -> None:
    """What is copied at the end of a pass."""
    if isinstance(carried, Plane):
        if not carried.same_as(value):
            moves.append((value, carried))
    elif isinstance(carried, (tuple, list)):
        for part, each in zip(carried, value, strict=True):
            _moves(part, each, moves)


def bounds_of(recorder: Any, given: tuple[Any, ...]) -> Range:
    """A `range` of which a bound is a cell. Refused where a graph cannot count so."""
    start, stop, step = (0, *given, 1) if len(given) == 1 else (*given, 1)[:3]
    if isinstance(step, Plane) or not isinstance(step, int) or not 1 <= step <= MOST_STEP:
        what = (
            f"a range whose bound is a cell counts up by 1 to {MOST_STEP}, known when it is built"
        )
        raise recorder.error(
            "G107", what, "for i in range(cell): and a kernel that computes with i"
        )
    return Range(start, stop, step)


MOST_STEP = 16
"""The largest step of a range of cells: each is a row of the walker's table."""
