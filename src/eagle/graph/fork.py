"""An `if` whose test is known only at replay: two arms, and what each leaves behind."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from eagle.devices.plan import Condition, If, Item
from eagle.graph.merging import Pairs, merged
from eagle.graph.planes import Plane
from hawk.errors import Loc
from hawk.frontend.frame import Frame

if TYPE_CHECKING:
    from eagle.graph.domain import BuilderDomain


CHOSEN = "if"
"""The key of a conditional expression's value among the names; a keyword, so no name of a user."""


class GraphFork:
    """The two arms of a branch."""

    def __init__(
        self,
        domain: BuilderDomain,
        test: Condition,
        frame: Frame,
        node: ast.AST,
        said: str,
        title: str,
    ) -> None:
        self._domain, self._recorder = domain, domain.recorder
        self._frame, self._node, self._said = frame, node, said
        self._where = frame.head(node)
        self._bodies: tuple[list[Item], list[Item]] = ([], [])
        self._pairs = Pairs(self._bodies)
        self._arm = 0
        item = If(name=title, test=test, then=self._bodies[0], orelse=self._bodies[1])
        self._recorder.add(item)
        item.loc = self._where

    @contextmanager
    def arm(self, *, alone: bool = False) -> Iterator[None]:
        """The first path, then the second."""
        body = self._bodies[self._arm]
        self._arm += 1
        frame = self._frame
        into = self._recorder.into(body, self._said, frame.names)
        with into, self._domain.unchanged(frame, self._node):
            yield

    def flag(self, first: Any, second: Any) -> Any:
        if isinstance(first, bool) and first is second:
            return first
        cell = self._recorder.cell("taken")
        self._domain.flags.add(cell.root)
        for flag, body in zip((first, second), self._bodies, strict=True):
            if isinstance(flag, Plane):
                value = flag.cell
            else:
                value = self._recorder.constant(int(flag))
            self._recorder.put(cell, value, body)
        return cell

    def pair(self, name: str, first: Any, second: Any) -> Any:
        name = self._said if name == CHOSEN else name
        return merged(self._recorder, name, first, second, self._where, self._pairs)

    def only(self, name: str, value: Any, arm: int) -> Any:
        return value  # its memory is there after the join too

    def close(self) -> None:
        """All is written already."""


def chosen(
    domain: BuilderDomain, flag: Plane, name: str, first: Any, second: Any, where: Loc
) -> Any:
    """The first value where the flag is True, else the second; nothing runs in between."""
    bodies: tuple[list[Item], list[Item]] = ([], [])
    value = merged(domain.recorder, name, first, second, where, Pairs(bodies))
    if any(bodies):
        test = domain.recorder.holds(flag)
        item = If(name=f"{name} = ...", test=test, then=bodies[0], orelse=bodies[1])
        domain.recorder.add(item)
    return value
