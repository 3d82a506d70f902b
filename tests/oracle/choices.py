"""Write choices that are more than an `if`: `match`, and tests that bind a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.oracle.expressions import BOOL, COMPARISONS, COUNT, INTEGERS, KINDS, REAL, UINT32, Scope
from tests.oracle.loops import indented

if TYPE_CHECKING:
    from tests.oracle.programs import Writer


class Choices:
    """Writes choices for a writer of programs."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.random, self.express = writer.random, writer.express
        self.chance, self.pick, self.fresh = writer.chance, writer.pick, writer.fresh

    # -- match -----------------------------------------------------------------------------------

    def match(self, scope: Scope) -> list[str]:
        """`match` on one number or on several, known or not; perhaps a name bound on all paths."""
        several = self.chance(0.4)
        kinds = [self.subject_kind(scope) for _ in range(self.random.choice((2, 2, 3)))]
        kinds = kinds if several else kinds[:1]
        texts = [self.subject(kind, scope) for kind in kinds]
        subject = f"({', '.join(texts)})" if several else texts[0]
        bound_kind = self.pick(*KINDS)
        bound = self.fresh("v")
        there = self.writer.targets(scope, (bound_kind,))
        if there and self.chance(0.5):
            bound = self.pick(*there)
        last = self.chance(0.6)
        binds = bool(there) and bound in there or (last and self.chance(0.5))
        lines = [f"match {subject}:"]
        for place in range(self.random.choice((1, 2, 2, 3)) + last):
            inner = scope.inner()
            if last and place == 0:
                continue
            pattern = self.sequence(kinds, inner) if several else self.pattern(kinds[0], inner)
            guard = ""
            if pattern.isidentifier() or self.chance(0.25):
                guard = f" if {self.express.value(BOOL, inner, 1)}"
            lines += self.case(pattern + guard, inner, bound if binds else "", bound_kind)
        if last:
            inner = scope.inner()
            pattern = "_"
            if not several and kinds[0] != COUNT and self.chance(0.3):
                pattern = self.capture(kinds[0], inner)
            lines += self.case(pattern, inner, bound if binds else "", bound_kind)
        if binds:
            scope.names[bound] = bound_kind
        return lines

    def case(self, head: str, inner: Scope, bound: str, kind: str) -> list[str]:
        body = self.writer.block(inner, 2)
        if bound:
            body.append(f"{bound} = {self.express.value(kind, inner, 1)}")
        return indented([f"case {head}:", *indented(body)])

    def subject_kind(self, scope: Scope) -> str:
        if scope.of(COUNT) and self.chance(0.6):
            return COUNT
        return self.pick(REAL, BOOL, *INTEGERS, *INTEGERS)

    def subject(self, kind: str, scope: Scope) -> str:
        if kind == COUNT:
            return self.pick(*scope.of(COUNT))
        value = self.express.value(kind, scope, 1)
        if kind in (BOOL, REAL):
            return value if kind == BOOL or self.chance(0.5) else f"np.rint({value})"
        return self.pick(f"({value} & 3)", f"({value} % 3)", value)

    def pattern(self, kind: str, scope: Scope) -> str:
        """A pattern for one number; the scope learns what it captures."""
        few = {REAL: ("0.0", "1.0", "-1.0", "2", "0.5"), BOOL: ("0", "1")}.get(
            kind, ("0", "1", "2", "3") if kind in (UINT32, COUNT) else ("0", "1", "2", "3", "-1")
        )
        form = self.random.random()
        if form < 0.3:
            return self.pick(*few)
        if form < 0.6 or kind == COUNT:
            return " | ".join(self.random.sample(few, 2))
        if form < 0.75:
            return f"({' | '.join(self.random.sample(few, 2))}) as {self.capture(kind, scope)}"
        return self.capture(kind, scope)

    def capture(self, kind: str, scope: Scope) -> str:
        """A new name, or one that is there and is bound anew."""
        there = self.writer.targets(scope, (kind,))
        name = self.pick(*there) if there and self.chance(0.8) else self.fresh("m")
        scope.names[name] = kind
        return name

    def sequence(self, kinds: list[str], scope: Scope) -> str:
        """A pattern for several numbers; a name is bound once in it."""
        before = dict(scope.names)
        parts = ["_" if self.chance(0.3) else self.pattern(kind, scope) for kind in kinds]
        ends = [part.split(" as ")[-1] for part in parts]
        names = [name for name in ends if name.isidentifier() and name != "_"]
        if len(set(names)) < len(names):
            scope.names = before
            parts = ["_" for _ in kinds]
        return f"({', '.join(parts)})"

    # -- names bound in expressions --------------------------------------------------------------

    def walrus(self, scope: Scope) -> list[str]:
        """`:=` in a test or in a sum; where it may not run, the name is there before."""
        kind = self.pick(REAL, REAL, *INTEGERS)
        there = self.writer.targets(scope, (kind,))
        value, other = self.express.value(kind, scope, 2), self.express.value(kind, scope, 1)
        name, target = self.fresh("v"), self.fresh("v")
        symbol = self.pick(*COMPARISONS)
        if there and self.chance(0.75):
            name = self.pick(*there)
            test = self.express.value(BOOL, scope, 1)
            match self.random.randrange(6):
                case 0:
                    word = self.pick("and", "or")
                    return self.tested(f"{test} {word} ({name} := {value}) {symbol} {other}", scope)
                case 1 | 2 | 3:
                    line = f"{target} = ({name} := {value}) if {test} else {name}"
                case 4:
                    line = f"{target} = {name} - ({name} := {value}) * {name}"
                case _:
                    scope.names[target] = BOOL
                    test += self.pick(" and ", " or ")
                    return [f"{target} = {test}(({name} := {value}) {symbol} {other})"]
            scope.names[target] = kind
            return [line]
        if self.chance(0.5):
            lines = [f"{target} = ({name} := {value}) + {name} * {other}"]
            scope.names[name] = scope.names[target] = kind
            return lines
        scope.names[name] = kind
        return self.tested(f"({name} := {value}) {symbol} {other}", scope)

    def tested(self, test: str, scope: Scope) -> list[str]:
        lines = [f"if {test}:", *indented(self.writer.block(scope.inner(), 2))]
        if self.chance(0.4):
            lines += ["else:", *indented(self.writer.block(scope.inner(), 1))]
        return lines
