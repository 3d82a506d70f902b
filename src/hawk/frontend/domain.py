"""What the walk of statements needs to know of the values it walks over.

Kernels are one domain: their values are numbers of the program. Another is any in which a truth may
be known only later, and two paths can be joined.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from hawk.errors import Loc
from hawk.frontend.frame import Frame
from hawk.frontend.values import Range


class Fork(Protocol):
    """Two paths that part at a test and join again."""

    def arm(self, *, alone: bool = False) -> AbstractContextManager[object]:
        """Everything recorded inside `with` belongs to the first path, then to the second.

        `alone`: those on the other path have left all that is walked.
        """
        ...

    def flag(self, first: Any, second: Any) -> Any:
        """The flag after the join: a bool, or the domain's."""
        ...

    def pair(self, name: str, first: Any, second: Any) -> Any:
        """The value after the join; Unusable where there is no single one."""
        ...

    def only(self, name: str, value: Any, arm: int) -> Any:
        """The value of one path, seen after the join by those who came that way."""
        ...

    def close(self) -> None: ...


class Cycle(Protocol):
    """A loop at run time, with values carried from pass to pass, by key."""

    def carry(self, key: str, value: Any, template: Any) -> None: ...
    def test(self) -> AbstractContextManager[dict[str, Any]]:
        """The carried values as the test sees them."""
        ...

    def decide(self, test: Any, exits: Sequence[str]) -> None:
        """Go on while `test`, and none of the carried flags `exits`, is True."""
        ...

    def body(self) -> AbstractContextManager[dict[str, Any]]:
        """The carried values as a pass sees them."""
        ...

    def next(self, key: str, value: Any) -> None:
        """What the next pass sees. A key never carried is one only those see who left the loop."""
        ...

    def again(self, *, settled: bool) -> bool:
        """Whether the loop must be tried again.

        It must if it is not `settled`, or if the body changes what the walk took for unchanged.
        """
        ...

    def close(self) -> dict[str, Any]: ...


class Domain(Protocol):
    """What a walk needs to know of the values it walks over."""

    @property
    def region(self) -> object:
        """The innermost arm or pass that is open."""
        ...

    @property
    def watches(self) -> bool:
        """Whether assertions and the like are looked at, so what does not run must not be."""
        ...

    def acts(self, node: ast.expr) -> bool:
        """Whether to evaluate an expression may do something besides giving a value."""
        ...

    def evaluate(self, frame: Frame, node: ast.expr, name: str = "") -> Any: ...
    def augment(self, frame: Frame, node: ast.AugAssign) -> None:
        """Run `target op= value`, the assignment included."""
        ...

    def asserts(self, frame: Frame, node: ast.Assert) -> None: ...
    def store(self, frame: Frame, target: ast.expr, value: Any) -> None: ...
    def unpack(self, frame: Frame, value: Any, node: ast.expr) -> tuple[Any, ...]: ...
    def new(self, container: Any) -> Any: ...
    def is_number(self, value: object) -> bool: ...
    def settle(self, value: Any) -> Any: ...
    def truth(self, frame: Frame, value: Any, node: ast.AST) -> Any: ...
    def bound_where(self, truth: Any) -> dict[str, Any]:
        """The names that are bound where `truth` holds, though not where it does not."""
        ...

    def opposite(self, flag: Any) -> Any: ...
    def either(self, first: Any, second: Any) -> Any: ...
    def choose(self, flag: Any, name: str, first: Any, second: Any, where: Loc) -> Any: ...
    def fork(self, frame: Frame, test: Any, node: ast.AST) -> Fork: ...
    def cycle(self, frame: Frame, node: ast.AST, trips: int | None = None) -> Cycle: ...
    def kept(self) -> Any:
        """What a walk that is given up must not change, for `restore`."""
        ...

    def restore(self, kept: Any) -> None: ...
    def changes_in_place(self, value: Any) -> bool:
        """Whether an assignment to an element of `value` gives its name another value."""
        ...

    def changing(self, node: ast.AST, names: dict[str, Any]) -> frozenset[str]:
        """The keys of objects that a loop is known to change, from an earlier walk of it."""
        ...

    def template(self, value: Any) -> Any: ...
    def widen(
        self, frame: Frame, name: str, entry: Any, template: Any, value: Any, node: ast.AST
    ) -> Any: ...
    def iterate(self, frame: Frame, value: Any, node: ast.AST) -> Range | range | Iterable[Any]: ...
    def below(self, number: Any, bounds: Range) -> Any: ...
    def advance(self, number: Any, bounds: Range) -> Any: ...
    def counter(self, number: int) -> Any: ...
    def unite(
        self,
        paths: Sequence[dict[str, Any]],
        stands: dict[str, Any] | None = None,
        anew: Collection[str] = (),
    ) -> list[dict[str, Any]]:
        """The names of paths that meet, each name with one object where they have several.

        In a loop the first path is what comes in, and `stands` are the keys of what stands there
        for the objects of all passes; more may be added. `anew`: names that get such in any case.
        """
        ...

    def matches(
        self, frame: Frame, value: Any, node: ast.pattern
    ) -> tuple[Any, dict[str, Any]]: ...
