"""Write loops: counted ones, ones that may stop before, loops without end but a way out, nests.

Every loop ends: what it counts by is changed where no `continue` can skip it, and nothing else
assigns to it. A loop inside another runs three times at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.oracle.expressions import (
    BOOL,
    CONVERT,
    COUNT,
    INDEX,
    INT32,
    INTEGERS,
    KINDS,
    REAL,
    Scope,
)

if TYPE_CHECKING:
    from tests.oracle.programs import Writer

NESTED = 3
"""How deep a nest of loops is."""


@dataclass(frozen=True)
class Head:
    """How a loop begins: its lines, those that its body begins with, and the scope of the body."""

    lines: list[str]
    step: list[str]
    inner: Scope

    def over(self, body: Sequence[str]) -> list[str]:
        return [*self.lines, *indented([*self.step, *body])]


class Loops:
    """Writes loops for a writer of programs."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.random, self.express = writer.random, writer.express
        self.chance, self.pick, self.fresh = writer.chance, writer.pick, writer.fresh

    def bounds(self, scope: Scope) -> str:
        """The arguments of a `range` of a few numbers, known or not."""
        known = scope.of(COUNT)
        if known and self.chance(0.4):
            return self.pick(*known)
        value = self.express.value(self.pick(*INTEGERS), scope, 1)
        if scope.loops:
            return self.pick(
                "2", "3", "1, 3", f"{value} & 3", f"{value} % 3", f"2, {value} & 1, -1"
            )
        return self.pick(
            "2", "3", "4", "1, 4", "0, 6, 2", "5, 0, -2", "0", f"{value} % 5", f"{value} & 3",
            f"abs({value}) & 7", f"1, 1 + ({value} & 3)", f"{value} & 3, -1, -1",
            f"min({value} & 7, 3)",
        )  # fmt: skip

    def inside(self, scope: Scope) -> Scope:
        """The scope of a body."""
        return scope.inner(loops=scope.loops + 1, leaves=True)

    def ran_out(self, scope: Scope, probability: float = 0.25) -> list[str]:
        """Perhaps an `else`."""
        if not self.chance(probability):
            return []
        return ["else:", *indented(self.writer.block(scope.inner(), 2))]

    # -- one loop --------------------------------------------------------------------------------

    def for_loop(self, scope: Scope) -> list[str]:
        head = self.for_head(scope)
        return [*head.over(self.writer.block(head.inner, 3)), *self.ran_out(scope)]

    def for_head(self, scope: Scope) -> Head:
        """`for` over a range, by a new name or by one that is there already."""
        bounds, inner = self.bounds(scope), self.inside(scope)
        there = self.writer.targets(scope, (INDEX,))
        if there and self.chance(0.4):
            name = self.pick(*there)
        else:
            name = self.fresh("i")
            inner.names[name] = INDEX
            inner.fixed.add(name)
        return Head([f"for {name} in range({bounds}):"], [], inner)

    def accumulator(self, scope: Scope) -> list[str]:
        """A sum that starts as a known number and takes its type in a loop."""
        kind = self.pick(REAL, REAL, *INTEGERS)
        name, counter = self.fresh("v"), self.fresh("i")
        # Where the loop may not run at all, CPython cannot know what type the sum would have had.
        start = self.pick("0.0", "1.0") if kind == REAL else CONVERT[kind].format("0")
        if kind == INDEX:
            start = "0"
        bounds, inner = self.bounds(scope), scope.inner(loops=scope.loops + 1)
        inner.names[counter] = INDEX
        inner.fixed.add(counter)
        added = self.express.value(kind, inner, 2)
        if kind == REAL and self.chance(0.5):
            added = f"{self.express.value(REAL, inner, 1)} * {self.express.value(REAL, inner, 1)}"
        body = [f"{name} {self.pick('+=', '-=')} {added}"]
        scope.names[name] = kind
        return [f"{name} = {start}", f"for {counter} in range({bounds}):", *indented(body)]

    def while_loop(self, scope: Scope) -> list[str]:
        head = self.while_head(scope)
        return [*head.over(self.writer.block(head.inner, 2)), *self.ran_out(scope)]

    def while_head(self, scope: Scope) -> Head:
        """A loop that counts to a few by itself, and may stop before."""
        inner, name = self.inside(scope), self.fresh("n")
        walrus = self.chance(0.4)
        kind = self.pick(INDEX, INT32) if walrus else self.pick(*INTEGERS)
        most = self.pick("1", "3") if scope.loops else self.pick("1", "3", "5")
        start = f"{name} = {self.express.value(kind, scope, 1)} & {most}"
        inner.names[name] = kind
        inner.fixed.add(name)
        test = f"(({name} := {name} - 1) >= 0)" if walrus else f"{name} > 0"
        step = [] if walrus else [f"{name} -= 1"]
        if self.chance(0.4):
            test += f" and {self.express.value(BOOL, inner, 2)}"
        return Head([start, f"while {test}:"], step, inner)

    def forever(self, scope: Scope) -> list[str]:
        """`while True`, left by a `break` or a `return`; perhaps a name that it binds."""
        head = self.forever_head(scope)
        return head.over(self.writer.block(head.inner, 2))

    def forever_head(self, scope: Scope) -> Head:
        inner, name = self.inside(scope), self.fresh("n")
        kind = self.pick(*INTEGERS)
        start = f"{name} = {self.express.value(kind, scope, 1)} & 3"
        inner.names[name] = kind
        inner.fixed.add(name)
        step: list[str] = []
        bound = ""
        if self.chance(0.5):
            bound, what = self.fresh("v"), self.pick(*KINDS)
            step.append(f"{bound} = {self.express.value(what, inner, 1)}")
            inner.names[bound] = what
        test = f"{name} == 0"
        if self.chance(0.4):
            test += f" or {self.express.value(BOOL, inner, 1)}"
        gives = scope.returns
        returns = gives is not None and self.chance(0.2)
        word = self.writer.returned(inner, gives) if returns and gives is not None else "break"
        if bound and not returns:
            scope.names[bound] = inner.names[bound]  # every way out has passed it
        step += [f"if {test}:", f"    {word}", f"{name} -= 1"]
        return Head([start, "while True:"], step, inner)

    # -- loops over values -----------------------------------------------------------------------

    def over_values(self, scope: Scope) -> list[str]:
        """A loop over values that are there while the kernel is read: it is written out."""
        kind, inner, count = self.pick(REAL, *KINDS), self.inside(scope), self.random.choice((2, 3))
        name, other = self.fresh("x"), self.fresh("x")
        values = self.values(kind, scope, count)
        inner.names[name] = kind
        match self.random.randrange(7):
            case 0:
                head = f"{name}, {other} in zip({values}, {self.values(REAL, scope, count)})"
                inner.names[other] = REAL
            case 1:
                head = f"{other}, {name} in enumerate({values}{self.pick('', ', 1')})"
                inner.names[other] = COUNT
                inner.fixed.add(other)
            case 2 | 6:
                head = f"{name} in reversed({values})"
            case 3:
                head = f"{other} in range({count})"
                inner.names[other] = INDEX
                inner.fixed.add(other)
                body = [f"{name} = {values}[{other}]", *self.writer.block(inner, 2)]
                return [f"for {head}:", *indented(body), *self.ran_out(scope)]
            case _:
                head = f"{name} in {values}"
        body = self.writer.block(inner, 2)
        if self.chance(0.5):
            body += self.writer.leave(inner)
        return [f"for {head}:", *indented(body), *self.ran_out(scope)]

    def values(self, kind: str, scope: Scope, count: int) -> str:
        return f"({', '.join(self.express.value(kind, scope, 1) for _ in range(count))})"

    # -- nests -----------------------------------------------------------------------------------

    def nest(self, scope: Scope) -> list[str]:
        """Loops three deep, with ways out of each."""
        return self.level(scope, NESTED)

    def level(self, scope: Scope, depth: int) -> list[str]:
        heads = (self.for_head, self.for_head, self.while_head, self.forever_head)
        head = self.random.choice(heads)(scope)
        body: list[str] = []
        if depth == 1 or self.chance(0.3):
            body += self.writer.simple(head.inner)
        if depth > 1:
            body += self.level(head.inner, depth - 1)
        if depth == 1 or self.chance(0.5):
            body += self.writer.leave(head.inner)
        if depth == 1:
            body += self.writer.simple(head.inner)
        ends = [] if head.lines[-1] == "while True:" else self.ran_out(scope)
        return [*head.over(body), *ends]


def indented(lines: Sequence[str]) -> list[str]:
    return ["    " + line for line in lines]
