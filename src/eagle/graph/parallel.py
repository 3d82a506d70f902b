"""Branches that run at once: `with g.parallel() as p: with p.branch() as w: ... w.wait(plane)`.

Two nodes of different branches may not touch the same byte, one of them writing, unless one comes
after the other: by the order inside each branch and by waits. What is not so is refused, when the
fork is left. What is allowed, the memory of the nodes already orders, so a device has nothing more
to know of branches than their nodes.
"""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, Self

from eagle.devices.plan import Copy, Item, Region
from eagle.graph.codes import graph_error
from eagle.graph.edges import Touch
from eagle.graph.touches import meet, touch
from eagle.params import shown
from hawk.errors import Loc

if TYPE_CHECKING:
    from eagle.graph.recorder import GraphRecorder


class Wait(NamedTuple):
    """Nodes of a branch from `place` on wait for those above that touch `region`."""

    place: int
    region: Region
    loc: Loc


class Branch:
    """One branch of a fork. Made by `Parallel.branch`."""

    def __init__(self, fork: Parallel, number: int) -> None:
        self._fork, self._recorder = fork, fork.recorder
        self.number = number
        self.items: list[Item] = []
        self.waits: list[Wait] = []
        self._begin = 0
        self._open = False
        self._lane = ""

    def __enter__(self) -> Self:
        recorder, fork = self._recorder, self._fork
        if not fork.is_open or fork.branch_open:
            where = "inside another branch" if fork.branch_open else "outside of its fork"
            raise recorder.error(
                "G303", f"a branch is begun {where}", "with p.branch(): under `with p`"
            )
        self._lane, recorder.lane = recorder.lane, _inner(recorder.lane, self.number)
        fork.branch_open, self._open = True, True
        recorder.refuse_node = ""
        self._begin = len(recorder.inside)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        recorder, fork = self._recorder, self._fork
        self.items = recorder.inside[self._begin :]
        recorder.lane, fork.branch_open, self._open = self._lane, False, False
        recorder.refuse_node = fork.refusal

    def wait(self, plane: object) -> None:
        """Let what comes later in this branch wait for the branches above.

        It waits for each node of them that reads or writes a byte of `plane`.
        """
        recorder = self._recorder
        known = recorder.plane(plane, "plane")
        if not self._open:
            raise recorder.error("G303", "a wait stands outside of its branch", "w.wait(...) in it")
        if known is None:
            raise recorder.error("G302", f"a branch waits for a plane, not for {shown(plane)}")
        self.waits.append(Wait(len(recorder.inside) - self._begin, known.region, recorder.loc))


class Parallel:
    """A fork: branches that may run at once. Made by `Graph.parallel`."""

    def __init__(self, recorder: GraphRecorder) -> None:
        self.recorder = recorder
        self.is_open = self.branch_open = False
        self.refusal = "a node stands in a fork, but in none of its branches"
        self._branches: list[Branch] = []
        self._refusal_before = ""

    def branch(self) -> Branch:
        """A new branch, for `with`."""
        self._branches.append(Branch(self, len(self._branches) + 1))
        return self._branches[-1]

    def __enter__(self) -> Self:
        self._refusal_before = self.recorder.refuse_node
        if self._refusal_before:
            raise self.recorder.error("G303", self._refusal_before, "with p.branch(): around it")
        self.recorder.refuse_node = self.refusal
        self.is_open = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.is_open = False
        self.recorder.refuse_node = self._refusal_before
        if kind is None:
            check(self._branches)


def _inner(lane: str, number: int) -> str:
    return f"{lane}.{number}" if lane else str(number)


class _Node(NamedTuple):
    """A node of a branch."""

    branch: int
    place: int
    item: Item
    touch: Touch[Region]


def check(branches: list[Branch]) -> None:
    """Raise GraphError for two nodes that touch the same memory in no order, or a vain wait."""
    nodes = [
        [_Node(branch.number, place, item, touch(item)) for place, item in enumerate(branch.items)]
        for branch in branches
    ]
    begins = _waits(branches, nodes)
    for upper, above in enumerate(nodes):
        for lower in nodes[upper + 1 :]:
            for first in above:
                for second in lower:
                    clash = conflict(first.touch, second.touch)
                    if clash is not None and not _reaches(first, second, nodes, begins):
                        raise _unordered(first, second, *clash)


def _waits(
    branches: list[Branch], nodes: list[list[_Node]]
) -> dict[tuple[int, int], list[tuple[int, int]]]:
    """For each node, those nodes that wait for it: the first of a branch after a wait."""
    later: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for branch in branches:
        for wait in branch.waits:
            above = [node for each in nodes[: branch.number - 1] for node in each]
            awaited = [
                node
                for node in above
                if any(
                    meet(wait.region, region) for region in (*node.touch.reads, *node.touch.writes)
                )
            ]
            if not awaited:
                what = f"no branch above touches `{wait.region.name}`, so there is nothing to wait "
                what += "for"
                fix = "the plane that a branch above reads or writes; or that branch above this one"
                raise graph_error("G302", what, wait.loc, fix)
            for node in awaited:
                key = node.branch, node.place
                later.setdefault(key, []).append((branch.number, wait.place))
    return later


def _reaches(
    first: _Node,
    second: _Node,
    nodes: list[list[_Node]],
    later: dict[tuple[int, int], list[tuple[int, int]]],
) -> bool:
    """Does a way lead from one node to another, by the order in branches and by waits?"""
    goal, seen, open_ = (second.branch, second.place), set[tuple[int, int]](), []
    open_.append((first.branch, first.place))
    while open_:
        at = open_.pop()
        if at == goal:
            return True
        if at in seen or at[1] >= len(nodes[at[0] - 1]):
            continue
        seen.add(at)
        open_ += [(at[0], at[1] + 1), *later.get(at, ())]
    return False


def conflict(first: Touch[Region], second: Touch[Region]) -> tuple[Region, bool, bool] | None:
    """Memory that both touch and one writes: as the second calls it, and who writes it."""
    for region in second.writes:
        for other in first.writes:
            if meet(region, other):
                return region, True, True
        for other in first.reads:
            if meet(region, other):
                return region, False, True
    for region in second.reads:
        for other in first.writes:
            if meet(region, other):
                return region, True, False
    return None


def _unordered(
    first: _Node,
    second: _Node,
    region: Region,
    first_writes: bool,  # noqa: FBT001 - who writes it
    second_writes: bool,  # noqa: FBT001 - who writes it
) -> Exception:
    does = {True: "writes", False: "reads"}
    one, two = first.item.name, second.item.name
    what = (
        f"`{two}` in branch {second.branch} {does[second_writes]} `{region.name}`, which `{one}` "
    )
    what += f"in branch {first.branch} {does[first_writes]}, and nothing says which comes first"
    # Who films what another branch overwrites thinks of the film.
    copied = isinstance(first.item, Copy) and not first_writes
    plane = first.item.writes[0] if copied else region
    fix = f"w.wait({plane.name}) before `{two}`, in `with p.branch() as w:`"
    return graph_error("G301", what, second.item.loc, fix)
