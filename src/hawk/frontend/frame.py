"""Where a walk stands in one call of one function: its names, and the place it was called from."""

from __future__ import annotations

import ast
import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from hawk.errors import Loc
from hawk.frontend.instances import objects_in
from hawk.frontend.source import Source
from hawk.ir.types import DType

RESULT = "return"
"""The key of the returned value among the names of a way out; a keyword, so no name of a user."""


class Exit(enum.Enum):
    """How control leaves a list of statements."""

    NEXT = "falls through"
    BREAK = "break"
    CONTINUE = "continue"
    RETURN = "return"
    RAN_OUT = "runs out"
    """A loop whose test, written in its body, does not hold: its `else` follows."""


@dataclass(slots=True)
class Way:
    """One way out of a list of statements: whether it is taken, and the names on it.

    `flag` is True, or what the domain uses for a truth known only at run time. Of all ways out of
    a list exactly one is taken.
    """

    flag: Any
    names: dict[str, Any]


def always(names: dict[str, Any]) -> Way:
    """A way that is taken for sure."""
    return Way(flag=True, names=names)


Ways: TypeAlias = "dict[Exit, Way]"


def _give(frame: Frame, value: Any, node: ast.AST) -> dict[str, Any]:
    """The names that a `return` of a helper leaves: its value, what objects hold, no locals."""
    if value is None and getattr(node, "value", None) is None:
        frame.ends = node
    return {RESULT: value, **objects_in(frame.names)}


@dataclass(slots=True, eq=False)
class Frame:
    """One call of one function. `names` is replaced, not changed, where paths part."""

    source: Source
    names: dict[str, Any] = field(default_factory=dict)
    caller: Loc | None = None
    parent: Frame | None = None
    """The frame of the function this one is written in, if that is being walked too."""
    depth: int = 0
    planes: Mapping[str, DType] = field(default_factory=dict)
    """The types that names of a kernel must have when the step ends."""
    region: object = None
    """The arm or pass of the caller that the call stands in; None for a kernel."""
    scope: Frame | None = None
    """The comprehension that is being written, as functions made in it see it."""
    ends: ast.AST | None = None
    """Where a helper returns nothing: a `return` without a value, or its last statement."""
    leave: Callable[[Frame, Any, ast.AST], dict[str, Any]] = _give
    """What a `return` of a value at a node leaves: the names of its way."""

    @property
    def is_kernel(self) -> bool:
        """Whether it is a call of a kernel, which leaves numbers only, and not of a helper."""
        return self.leave is not _give

    def loc(self, node: ast.AST) -> Loc:
        """The place of `node` in this call."""
        return self.source.loc(node, caller=self.caller)

    def head(self, node: ast.AST) -> Loc:
        """The place of the first line of a statement."""
        where = self.loc(node)
        if where.line == where.end_line:
            return where
        end = len(self.source.lines[where.line - 1].rstrip())
        return Loc(where.file, where.line, where.col, where.line, end, where.function, where.caller)
