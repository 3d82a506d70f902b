"""Write kernels in which objects have several names: some are refused, none may differ.

Names are given to other objects, objects to fields of others, on paths, in loops and in helpers.
Every loop ends: what it counts by is a name of its own.
"""

from __future__ import annotations

from random import Random

HEADER = """\
import copy
from dataclasses import dataclass, replace
import hawk
from hawk import Bool, Index, Mutable, Scalar, Vector
from hawk.math import vec

@dataclass
class Inner:
    p: Scalar
    r: Vector[2]

    def twice(self):
        return self.p + self.p

@dataclass
class Body:
    x: Scalar
    v: Vector[2]
    k: Index
    inner: Inner

    def bump(self, by):
        self.x += by
        if self.x > 1.0:
            self.v[0] -= by
            self.inner.p += 1
        return self.x

    @property
    def size(self):
        return self.x * self.x + self.v @ self.v

    @property
    def moved(self):
        self.x += 0.25
        return self

def swap(a, b):
    a.x, b.x = b.x, a.x

def pick(c, a, b):
    return a if c else b

def early(a, b, c):
    if c:
        return a
    b.x += 1.0
    return b

def loopy(a, n):
    for i in range(n):
        a.v += 0.25
        if a.x > i:
            return a.inner
        a.x += 0.5
    return Inner(a.x, a.v * 2.0)

"""
SIGNATURE = (
    "def kernel(one: Mutable[Body], two: Mutable[Body], s: Scalar, flag: Bool, m: Index)"
    " -> tuple[Body, Scalar]:"
)


def write(seed: int) -> str:
    """The text of a module that defines `kernel`; the same one each time."""
    return _Writer(Random(f"aliases {seed}")).program()


class _Writer:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.room = random.randint(3, 10)
        self.loops = 0

    def pick(self, *texts: str) -> str:
        return self.random.choice(texts)

    def name(self) -> str:
        return self.pick("a", "a", "b", "b", "c", "d")

    # -- values ----------------------------------------------------------------------------------

    def number(self, depth: int = 1) -> str:
        if depth and self.random.random() < 0.4:
            return f"({self.number(0)} {self.pick('+', '-', '*')} {self.number(0)})"
        name = self.name()
        fields = ("x", "x", "inner.p", "v[0]", "v[-1]", "size", "inner.twice()", "inner.r[1]")
        if self.random.random() < 0.1:
            fields = ("moved.x", "moved.inner.p", "moved.v[1]")
        return self.pick(
            *(f"{name}.{field}" for field in fields),
            *("s", "s", "0.5", "2", "hawk.math.tanh(s)", f"float({name}.k)"),
        )

    def test(self) -> str:
        a, b = self.name(), self.name()
        return self.pick(
            "flag", f"{self.number(0)} < {self.number(0)}", f"{a}.k > 2", "s > 0.5",
            f"{a}.x > {b}.x",
        )  # fmt: skip

    def array(self) -> str:
        a, b, x = self.name(), self.name(), self.number(0)
        return self.pick(
            f"{a}.v", f"{a}.inner.r", f"{a}.v * {x}", f"vec({x}, {self.number(0)})",
            f"{a}.v + {b}.inner.r", f"{a}.v.copy()",
        )  # fmt: skip

    def inner(self) -> str:
        name, x = self.name(), self.number()
        return self.pick(
            f"{name}.inner", f"{name}.inner", f"Inner({x}, {self.array()})",
            f"replace({name}.inner, p={x})", f"loopy({name}, {self.pick('2', 'm % 3')})",
        )  # fmt: skip

    def body(self) -> str:
        a, b = self.name(), self.name()
        return self.pick(
            a, a, f"replace({a}, x={self.number()})", f"replace({a}, inner={self.inner()})",
            f"replace({a}, v={a}.v.copy())", f"pick({self.test()}, {a}, {b})",
            f"Body({self.number()}, {self.array()}, {self.pick('1', f'{a}.k')}, {self.inner()})",
            f"({a} if {self.test()} else {b})", f"early({a}, {b}, {self.test()})",
            f"copy.copy({a})",
        )  # fmt: skip

    # -- statements ------------------------------------------------------------------------------

    def simple(self) -> str:
        a, b, x = self.name(), self.name(), self.number()
        index, change = self.pick("0", "1", "m % 2"), self.pick("=", "+=")
        return self.pick(
            f"{a} = {self.body()}", f"{a} = {self.body()}", f"{a}, {b} = {b}, {a}",
            f"{a}.x = {x}", f"{a}.x {self.pick('+=', '-=', '*=')} {x}",
            f"{a}.x += {self.number(0)} * {self.number(0)}", f"{a}.v = {self.array()}",
            f"{a}.v += {self.array()}", f"{a}.v[{index}] {change} {x}",
            f"{a}.k += {self.pick('1', f'{b}.k')}", f"{a}.k = {self.pick('3', 'm')}",
            f"{a}.inner = {self.inner()}", f"{a}.inner.p = {x}", f"{a}.inner.r[1] += {x}",
            f"{a}.bump({x})", f"swap({a}, {b})", f"s = {x}", f"s, {a}.x = {a}.x, s",
            f"i{a} = {self.inner()}; i{a}.p += {x}", f"t = ({a}, {b}); t[0].x += 0.25",
            f"l = [{a}, {b}]; l[1].inner.p -= {x}", f"s = float({a} is {b})",
            f"{a}.x = 0.7; s = {a}.x * {a}.x",
            f"s = float({self.test()} {self.pick('and', 'or')} {a}.bump({x}) > 0.5)",
            f"s = sum([each.bump({x}) for each in ({a}, {b})])",
            f"g = (each.x for each in ({a}, {b})); {a}.x = {x}; s = sum(g)",
        )  # fmt: skip

    def block(self, depth: int) -> list[str]:
        count = self.random.randint(1, 3)
        return ["    " + line for _ in range(count) for line in self.statement(depth)]

    def statement(self, depth: int) -> list[str]:
        self.room -= 1
        if depth > 2 or self.room <= 0 or self.random.random() < 0.6:
            return [self.simple()]
        if self.random.random() < 0.5:
            lines = [f"if {self.test()}:", *self.block(depth + 1)]
            return lines + (["else:", *self.block(depth + 1)] if self.random.random() < 0.5 else [])
        self.loops += 1
        i, leave = f"i{self.loops}", f"    if {self.test()}: {self.pick('break', 'continue')}"
        counted = self.random.random() < 0.7
        body = self.block(depth + 1)
        if self.random.random() < 0.4:
            body.insert(0 if self.random.random() < 0.5 else len(body), leave)
        if counted:
            return [f"for {i} in range({self.pick('2', '3', 'm % 4', 'm % 3')}):", *body]
        more = f" and {self.name()}.bump(0.5) < 4.0" if self.random.random() < 0.3 else ""
        head = f"while {i} < {self.pick('2.0', '3.0')}{more}:"
        return [f"{i} = 0.0", head, f"    {i} += 1.0", *body]

    def program(self) -> str:
        body = ["a = one", "b = two", "c = replace(one, x=3)", "d = two"]
        while self.room > 0:
            body += self.statement(0)
        if self.random.random() < 0.3:
            body.append(f"one = {self.body()}")
        body.append(f"return {self.body()}, {self.number()}")
        options = self.pick("", "(contract=False)", '(dtype="float32")')
        lines = [f"@hawk.kernel{options}", SIGNATURE, *("    " + line for line in body)]
        return HEADER + "\n".join(lines) + "\n"
