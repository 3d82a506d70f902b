"""Write functions that programs call: helpers, recursion on what is known, kernels, closures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tests.oracle.expressions import COUNT, KINDS, KNOWN, REAL, Helper, Scope
from tests.oracle.loops import indented

if TYPE_CHECKING:
    from tests.oracle.programs import Writer


class Functions:
    """Writes functions for a writer of programs."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.random, self.express = writer.random, writer.express
        self.chance, self.pick, self.fresh = writer.chance, writer.pick, writer.fresh

    def of_the_module(self, scope: Scope) -> list[str]:
        """A function of the module; `scope` holds the constants of the module."""
        forms = (self.helper, self.helper, self.helper, self.recursive, self.kernel)
        return self.random.choice(forms)(scope)

    def helper(self, scope: Scope) -> list[str]:
        """A function with statements, of any numbers."""
        takes = tuple(self.pick(REAL, REAL, *KINDS) for _ in range(self.random.randint(1, 3)))
        gives = tuple(self.pick(REAL, REAL, *KINDS) for _ in range(self.random.choice((1, 1, 2))))
        optional = len(takes) > 1 and takes[-1] == REAL and self.chance(0.5)
        # A float argument may be known: then it may not be divided by, nor be all a value is made
        # of, and every helper has something it can stand on.
        inner = scope.inner(returns=gives)
        parameters = [f"q{place}" for place in range(len(takes))]
        inner.names |= {
            name: KNOWN if kind == REAL else kind
            for name, kind in zip(parameters, takes, strict=True)
        }
        inner.fixed.update(parameters)
        body: list[str] = []
        last = parameters[-1]
        if optional:
            default = self.pick("2.0", "0.5", "-3.0")
            body.append(f"r1 = hawk.real({last}) * 0.75")
            inner.names["r1"] = REAL
            if self.chance(0.5):
                body[:0] = [f"if {last} is None:", f"    {last} = {default}"]
                default = "None"
            parameters[-1] = f"{last}={default}"
        by_name = optional and self.chance(0.4)
        if by_name:
            parameters.insert(-1, "*")
        if not any(kind != REAL for kind in takes):
            body.append("r0 = hawk.real(q0)")
            inner.names["r0"] = REAL
        self.writer.room = self.random.randint(1, 5)
        body += self.writer.block(inner, 3)
        if optional:
            inner.names["r1"] = inner.names.pop("r1")  # now it is among those read most
        body.append(self.writer.ending(inner, gives, body))
        name = self.fresh("h")
        self.express.helpers.append(Helper(name, takes, gives, optional, by_name))
        return [f"def {name}({', '.join(parameters)}):", *indented(body)]

    def recursive(self, scope: Scope) -> list[str]:
        """A function that calls itself as often as an argument says that is known."""
        kind, name = self.pick(REAL, *KINDS), self.fresh("h")
        inner = scope.inner()
        inner.names["q0"] = kind
        last = self.express.value(kind, inner, 1)
        step = self.express.value(kind, inner, 2)
        again = f"{name}({step}, {self.pick('q1 - 1', 'q1=q1 - 1')})"
        operation = "^" if kind == "Bool" else self.pick("+", "-", "*")
        if self.chance(0.7):
            again = f"{again} {operation} {self.express.value(kind, inner, 1)}"
        self.express.helpers.append(Helper(name, (kind, COUNT), (kind,), typed=True))
        if self.chance(0.5):
            value = f"{last} if q1 == 0 else {again}"
            return [f"def {name}(q0, q1):", f"    return {value}"]
        body = ["if q1 <= 0:", f"    return {last}", f"return {again}"]
        return [f"def {name}(q0, q1):", *indented(body)]

    def kernel(self, scope: Scope) -> list[str]:
        """A kernel that others call: it gives what it returns, or else its Mutables."""
        takes = [self.pick(REAL, *KINDS) for _ in range(self.random.randint(1, 3))]
        states = [self.chance(0.4) for _ in takes]
        gives = [self.pick(REAL, *KINDS) for _ in range(self.random.choice((0, 0, 1, 2)))]
        if not any(states) and not gives:
            gives = [REAL]
        names = [f"q{place}" for place in range(len(takes))]
        inner = scope.inner(returns=tuple(gives))
        inner.names |= dict(zip(names, takes, strict=True))
        parameters = [
            f"{name}: Mutable[{kind}]" if state else f"{name}: {kind}"
            for name, kind, state in zip(names, takes, states, strict=True)
        ]
        self.writer.room = self.random.randint(1, 4)
        body = self.writer.block(inner, 3)
        if self.chance(0.3):
            parameters.append("gone: Terminated")
            body.append(f"gone = {self.express.value('Bool', inner, 1)}")
        if gives:
            body.append(self.writer.ending(inner, gives, body))
        given = gives or [kind for kind, state in zip(takes, states, strict=True) if state]
        name = self.fresh("h")
        self.express.helpers.append(Helper(name, tuple(takes), tuple(given)))
        decorator = self.pick("@hawk.kernel", "@hawk.kernel(contract=False)")
        head = f"def {name}({', '.join(parameters)}){result(gives)}:"
        return [decorator, head, *indented(body)]

    def called(self, scope: Scope) -> list[str]:
        """A call of its own, of whatever there is, and names for what it gives."""
        every = [*self.express.helpers, *scope.functions]
        if not every:
            return self.writer.simple(scope)
        return self.call(self.random.choice(every), scope)

    def call(self, helper: Helper, scope: Scope) -> list[str]:
        text = self.express.call(helper, scope, 2)
        names = [self.writer.target(scope, kind) for kind in helper.gives]
        return [f"{', '.join(names)} = {text}"]

    # -- functions inside ------------------------------------------------------------------------

    def nested(self, scope: Scope) -> list[str]:
        """A function inside, which sees the names around it as they are when it is called."""
        name, kind = self.fresh("g"), self.pick(REAL, REAL, *KINDS)
        seen = self.writer.targets(scope, (kind,))
        shadow = self.pick(*seen) if seen and self.chance(0.5) else "q0"
        lines = self.small(name, shadow, kind, scope)
        if lines is None:
            lines = self.with_statements(name, shadow, kind, scope)
        given = self.express.value(kind, scope, 1)
        lines.append(f"{self.writer.target(scope, kind)} = {name}({given})")
        changed = self.writer.targets(scope)
        written = " ".join(lines)
        read = [name for name in changed if re.search(rf"\b{name}\b", written)]
        if changed and self.chance(0.6):
            other = self.pick(*(read or changed))
            lines.append(f"{other} = {self.express.value(scope.names[other], scope, 1)}")
            given = self.express.value(kind, scope, 1)
            lines.append(f"{self.writer.target(scope, kind)} = {name}({given})")
        scope.functions.append(Helper(name, (kind,), (kind,), typed=True))
        return lines

    def small(self, name: str, shadow: str, kind: str, scope: Scope) -> list[str] | None:
        """A `lambda`, or a `def` of one line; perhaps with a default that is bound now."""
        if self.chance(0.5):
            return None
        inner = scope.inner(returns=None, leaves=False)
        inner.names[shadow] = kind
        default = ""
        if self.chance(0.7):
            inner.names["q9"] = kind
            default = f", q9={self.express.value(kind, scope, 1)}"
        text = self.express.value(kind, inner, 2)
        if self.chance(0.6):
            return [f"{name} = lambda {shadow}{default}: {text}"]
        return [f"def {name}({shadow}{default}):", f"    return {text}"]

    def with_statements(self, name: str, shadow: str, kind: str, scope: Scope) -> list[str]:
        """A `def` with names of its own: rebinding them changes nothing around it."""
        inner = scope.inner(returns=(kind,), leaves=False)
        inner.fixed = set(inner.names) - {shadow}
        inner.names[shadow] = kind
        body: list[str] = []
        if self.chance(0.7):
            body.append(f"{shadow} = {self.express.value(kind, inner, 1)}")
        if self.chance(0.4):
            body += self.writer.early_return(inner)
        body += self.writer.block(inner, 2)
        body.append(self.writer.ending(inner, (kind,), body))
        return [f"def {name}({shadow}):", *indented(body)]


def result(gives: Sequence[str]) -> str:
    """What a kernel gives, as its signature says it."""
    if not gives:
        return ""
    return f" -> {gives[0]}" if len(gives) == 1 else f" -> tuple[{', '.join(gives)}]"
