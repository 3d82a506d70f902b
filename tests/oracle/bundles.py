"""Write objects of dataclasses: how they are made, changed, chosen, carried, and what reads them.

Each name has an object of its own, with arrays of its own, or the program might be refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.oracle.expressions import BOOL, INDEX, REAL, Scope
from tests.oracle.loops import indented

if TYPE_CHECKING:
    from tests.oracle.programs import Writer

BODY = "Body"
"""The kind of a name that holds one."""

CLASSES = """\
from dataclasses import dataclass, replace
from hawk import Matrix, Vector

@dataclass
class Spin:
    rate: Scalar
    axis: Vector[2]

    def twice(self):
        return self.rate + self.rate

@dataclass
class Body:
    x: Scalar
    v: Vector[2]
    k: Index
    hot: Bool
    spin: Spin
    g: Param = 0.5

    def bump(self, by):
        self.x += by * self.g
        if self.x > 1.0:
            self.v[0] -= by
            self.hot = True
        return self.x

    @property
    def energy(self):
        return self.x * self.x + self.v @ self.v * 0.5
"""

REALS = ("x", "v[0]", "v[-1]", "spin.rate", "spin.axis[1]", "energy", "spin.twice()", "g")
STORED = ("x", "x", "v[0]", "v[1]", "spin.rate", "spin.axis[0]")


class Bundles:
    """Writes objects for a writer of programs."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.random, self.express = writer.random, writer.express
        self.chance, self.pick, self.fresh = writer.chance, writer.pick, writer.fresh

    def planes(self, scope: Scope) -> None:
        """One to three parameters that are objects."""
        for _ in range(self.random.randint(1, 3)):
            name = self.fresh("b")
            form = self.pick("{}", "Mutable[{}]", "Mutable[{}]")
            self.writer.parameters.append((name, form.format(BODY)))
            scope.names[name] = BODY

    def statement(self, scope: Scope) -> list[str]:
        forms = (
            (2, self.made), (5, self.field), (1.5, self.whole), (4, self.read), (1.5, self.method),
            (1, self.swapped), (1, self.other_name), (1.5, self.chosen), (1.5, self.carried),
            (1, self.called), (1, self.copied),
        )  # fmt: skip
        return self.random.choices([f for _, f in forms], [w for w, _ in forms])[0](scope)

    # -- values ----------------------------------------------------------------------------------

    def names(self, scope: Scope) -> list[str]:
        return [name for name, kind in scope.names.items() if kind == BODY]

    def name(self, scope: Scope) -> str:
        return self.pick(*self.names(scope))

    def number(self, scope: Scope) -> str:
        if self.chance(0.4):
            return f"{self.name(scope)}.{self.pick(*REALS)}"
        return self.express.value(REAL, scope, 1)

    def vector(self, scope: Scope) -> str:
        other = self.name(scope)
        x, y = self.number(scope), self.number(scope)
        made = f"hawk.math.vec({x}, {y})"
        return self.pick(made, f"{other}.v * ({x})", f"{other}.spin.axis + {other}.v", made)

    def new(self, scope: Scope) -> str:
        """An object that shares nothing."""
        a, x = self.name(scope), self.number(scope)
        spin = f"Spin({self.number(scope)}, {self.vector(scope)})"
        shared = f"replace({a}.spin, axis={a}.spin.axis.copy(), rate={x})"
        spin = self.pick(spin, shared)
        k, hot = self.express.value(INDEX, scope, 1), self.express.value(BOOL, scope, 1)
        return self.pick(
            f"Body({self.number(scope)}, {self.vector(scope)}, {k}, {hot}, {spin})",
            f"Body(x={x}, k={k}, v={self.vector(scope)}, spin={spin}, hot={hot}, g={x})",
            f"replace({a}, x={x}, v={self.vector(scope)}, spin={spin})",
        )

    # -- statements ------------------------------------------------------------------------------

    def made(self, scope: Scope) -> list[str]:
        text, name = self.new(scope), self.fresh("b")
        scope.names[name] = BODY
        return [f"{name} = {text}"]

    def field(self, scope: Scope) -> list[str]:
        name = self.name(scope)
        if self.chance(0.2):
            return [f"{name}.k {self.pick('=', '+=', '-=')} {self.express.value(INDEX, scope, 1)}"]
        if self.chance(0.1):
            return [f"{name}.hot {self.pick('=', '&=')} {self.express.value(BOOL, scope, 1)}"]
        if self.chance(0.3):
            operation = self.pick("=", "+=", "-=", "*=")
            return [f"{name}.{self.pick('v', 'spin.axis')} {operation} {self.vector(scope)}"]
        operation, value = self.pick("=", "+=", "-=", "*="), self.number(scope)
        if operation in ("+=", "-=") and self.chance(0.6):
            value = f"{value} * {self.express.operand(REAL, scope, 1)}"
        return [f"{name}.{self.pick(*STORED)} {operation} {value}"]

    def whole(self, scope: Scope) -> list[str]:
        names = [name for name in self.names(scope) if name not in scope.fixed]
        return [f"{self.pick(*names)} = {self.new(scope)}"] if names else self.field(scope)

    def read(self, scope: Scope) -> list[str]:
        name = self.name(scope)
        if self.chance(0.2):
            return [f"{self.writer.target(scope, INDEX)} = {name}.k"]
        if self.chance(0.1):
            return [f"{self.writer.target(scope, BOOL)} = {name}.hot"]
        return [f"{self.writer.target(scope, REAL)} = {name}.{self.pick(*REALS)}"]

    def method(self, scope: Scope) -> list[str]:
        name, value = self.name(scope), self.number(scope)
        call = f"{name}.bump({value})"
        return [call if self.chance(0.5) else f"{self.writer.target(scope, REAL)} = {call}"]

    def swapped(self, scope: Scope) -> list[str]:
        a, b = self.name(scope), self.name(scope)
        if self.chance(0.5):
            return [f"{a}.x, {b}.spin.rate = {b}.spin.rate, {a}.x"]
        return [f"{a}.x, {self.writer.target(scope, REAL)} = 1, {b}.x"]

    def other_name(self, scope: Scope) -> list[str]:
        """Another name of the same object: what is assigned under one is read under the other."""
        name, other = self.name(scope), self.fresh("_")
        change = f"{other}.x {self.pick('+=', '=')} {self.number(scope)}"
        target = self.writer.target(scope, REAL)
        return [f"{other} = {name}", change, f"{target} = {self.pick(name, other)}.energy"]

    def chosen(self, scope: Scope) -> list[str]:
        """An object that is changed on one path, or on both."""
        forms = (self.field, self.field, self.whole, self.method)
        lines = [f"if {self.express.value(BOOL, scope, 1)}:"]
        lines += indented(self.random.choice(forms)(scope.inner()))
        if self.chance(0.5):
            lines += ["else:", *indented(self.random.choice(forms)(scope.inner()))]
        return lines

    def carried(self, scope: Scope) -> list[str]:
        """Objects that change from pass to pass, or are others in each."""
        counter, inner = self.fresh("i"), scope.inner(loops=scope.loops + 1)
        inner.names[counter] = INDEX
        inner.fixed.add(counter)
        forms = (self.field, self.field, self.whole, self.method, self.chosen)
        body = [line for _ in range(2) for line in self.random.choice(forms)(inner)]
        if self.chance(0.3):
            body += [f"if {self.express.value(BOOL, inner, 1)}:", f"    {self.pick('break')}"]
        return [f"for {counter} in range({self.writer.loops.bounds(scope)}):", *indented(body)]

    def called(self, scope: Scope) -> list[str]:
        """A function that changes the object it is given, and returns another."""
        name, function, other = self.name(scope), self.fresh("f"), self.fresh("b")
        x = self.number(scope)
        lines = [
            f"def {function}(p, y):", "    p.x += y", "    if p.x > y:",
            "        return Body(y, p.v * 2.0, p.k, p.hot, replace(p.spin, axis=p.v + 1.0))",
            "    p.spin.rate -= 0.5",
            "    return replace(p, v=p.v.copy(), spin=Spin(y, p.spin.axis * y))",
        ]  # fmt: skip
        scope.names[other] = BODY
        return [*lines, f"{other} = {function}({name}, {x})"]

    def copied(self, scope: Scope) -> list[str]:
        """Objects in a tuple, and a loop over them."""
        a, b, each = self.name(scope), self.name(scope), self.fresh("_")
        return [f"for {each} in ({a}, {b}):", f"    {each}.x += {self.number(scope)}"]
