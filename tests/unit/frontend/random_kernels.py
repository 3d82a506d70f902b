"""Random kernels as text: every statement and operator of the language, nested at random."""

from __future__ import annotations

import linecache
import random
from typing import Any

HEAD = """
def step(x: Scalar, i: Index, b: Bool, p: Param, y: Mutable[Scalar], j: Mutable[Index],
         c: Mutable[Int32], stop: Terminated) -> tuple[Scalar, Index]:
"""
HELPERS = """
def root(a, b=2.0):
    if a > b:
        return a - b * b
    c = a * b
    return c + 1

def count(m):
    total = 0
    for q in range(3):
        if q == m:
            return total
        total += q
    return total - 1

def nested(a, f=root):
    inner = lambda z: z * a + G
    return inner(f(a, 0.5))

G = 0.75
T = (0.5, -1.25, 3.0)
"""
FLOATS = ["x", "y", "p", "u", "w", "c"]
INTS = ["i", "j", "m", "k"]


class Maker:
    """Writes one random kernel."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.loops = 0

    def pick(self, *options: Any) -> Any:
        return self.random.choice(options)

    def number(self, depth: int) -> str:
        """A float expression."""
        if depth <= 0:
            return self.pick(
                *FLOATS, *FLOATS, *FLOATS, "0.5", "2", "1.5", "-3.25", "1e-3", "i", "G"
            )
        e, d = self.number, depth - 1
        match self.random.randrange(18):
            case 0 | 1 | 2 | 3:
                return f"{e(d)} {self.pick('+', '-', '*')} {e(d)}"
            case 4 | 5:
                return f"{e(d)} * {e(d)} {self.pick('+', '-')} {e(d)}"
            case 6:
                return f"({e(d)}) {self.pick('+', '-')} ({e(d)}) * ({e(d)})"
            case 7:
                return f"({e(d)}) / ({e(d)})"
            case 8:
                return f"({e(d)} if {self.truth(d)} else {e(d)})"
            case 9:
                name = self.pick("min", "max", "np.minimum", "np.maximum", "np.fmin")
                return f"{name}({e(d)}, {e(d)})"
            case 10:
                name = self.pick("abs", "math.sqrt", "np.floor", "float", "-", "np.square")
                return f"{name}({e(d)})"
            case 11:
                return f"({e(d)}) ** {self.pick(2, 3, -1, 0, 5)}"
            case 12:
                return f"{self.pick('root', 'nested')}({e(d)})"
            case 13:
                return f"T[{self.pick(0, 1, -1)}]"
            case 14:
                return f"np.where({self.truth(d)}, {e(d)}, {e(d)})"
            case 15:
                return f"sum([{e(d)}, {e(d)}, q_ * {e(0)} + 1])".replace("q_", "x")
            case 16:
                return f"(({e(d)}) * ({self.whole(d)}))"
            case _:
                return f"({e(d)})"

    def whole(self, depth: int) -> str:
        """An integer expression."""
        if depth <= 0:
            return self.pick(*INTS, *INTS, "0", "1", "3", "-2", "7")
        e, d = self.whole, depth - 1
        match self.random.randrange(12):
            case 0 | 1 | 2:
                return f"({e(d)} {self.pick('+', '-', '*')} {e(d)})"
            case 3:
                return f"({e(d)} {self.pick('//', '%', '&', '|', '^')} {e(d)})"
            case 4:
                return f"({e(d)} {self.pick('<<', '>>')} {self.pick(0, 1, 2, 3)})"
            case 5:
                return f"({e(d)} if {self.truth(d)} else {e(d)})"
            case 6:
                return f"{self.pick('abs', '-', '~', 'int')}({e(d)})"
            case 7:
                return f"{self.pick('int', 'math.floor', 'round', 'hawk.index')}({self.number(d)})"
            case 8:
                return f"{self.pick('min', 'max')}({e(d)}, {e(d)})"
            case 9:
                return f"count({e(d)})"
            case 10:
                return f"({self.truth(d)}) + {e(d)}"
            case _:
                return f"hawk.index({self.short(d)})"

    def short(self, depth: int) -> str:
        """An expression of the type of `c`, or of none."""
        if depth <= 0:
            return self.pick("c", "c", "1", "-3", "100003")
        e, d = self.short, depth - 1
        match self.random.randrange(9):
            case 0 | 1 | 2:
                return f"({e(d)} {self.pick('+', '-', '*', '&', '^')} {e(d)})"
            case 3:
                return f"(c {self.pick('//', '%')} {self.pick(3, -2, 'c')})"
            case 4:
                return f"({e(d)} if {self.truth(d)} else {e(d)})"
            case 5:
                return f"{self.pick('min', 'max')}({e(d)}, {e(d)})"
            case 6:
                return f"hawk.int32({self.pick(self.whole(d), self.number(d))})"
            case 7:
                return f"{self.pick('abs', '-', '~')}({e(d)})"
            case _:
                return f"({self.truth(d)}) + {e(d)}"

    def truth(self, depth: int) -> str:
        """A bool expression."""
        d = depth - 1
        match self.random.randrange(9 if depth > 0 else 4):
            case 0 | 1:
                symbol = self.pick("<", "<=", ">", ">=", "==", "!=")
                return f"{self.number(d)} {symbol} {self.number(d)}"
            case 2:
                return f"{self.whole(d)} {self.pick('<', '<=', '>', '==', '!=')} {self.whole(d)}"
            case 3:
                return self.pick("b", "stop", "b")
            case 4:
                return f"({self.truth(d)} {self.pick('and', 'or')} {self.truth(d)})"
            case 5:
                return f"not ({self.truth(d)})"
            case 6:
                return f"{self.number(d)} < {self.number(d)} <= {self.number(d)}"
            case 7:
                return f"{self.whole(d)} in (1, 2, {self.whole(d)})"
            case _:
                return f"bool({self.whole(d)})"

    def line(self, indent: int, text: str) -> None:
        self.lines.append("    " * indent + text)

    def block(self, indent: int, depth: int, *, loop: bool) -> None:
        for _ in range(self.random.randint(1, 3)):
            self.statement(indent, depth, loop=loop)

    def statement(self, indent: int, depth: int, *, loop: bool) -> None:
        kind = self.random.randrange(20 if depth > 0 else 9)
        d = depth - 1
        match kind:
            case 0 | 1 | 2:
                self.line(indent, f"{self.pick('x', 'y', 'u', 'w')} = {self.number(2)}")
            case 3:
                target = self.pick("y", "u", "w")
                self.line(indent, f"{target} {self.pick('+=', '-=', '*=')} {self.number(2)}")
            case 4 | 5:
                self.line(indent, f"{self.pick('j', 'm', 'k')} = {self.whole(2)}")
            case 6:
                self.line(indent, f"stop = {self.truth(2)}")
            case 7:
                self.line(indent, f"u, w = {self.number(1)}, {self.number(1)}")
            case 8:
                swap = self.pick("y, u = u, y", "m, k = k, m", "u: float = (w := u) * x")
                count = f"c {self.pick('=', '+=', '-=', '*=')} {self.short(2)}"
                self.line(indent, self.pick(swap, count))
            case 9 | 10 | 11 | 12:
                self.line(indent, f"if {self.truth(2)}:")
                self.block(indent + 1, d, loop=loop)
                if self.random.random() < 0.3:
                    self.line(indent, f"elif {self.truth(1)}:")
                    self.block(indent + 1, d, loop=loop)
                if self.random.random() < 0.5:
                    self.line(indent, "else:")
                    self.block(indent + 1, d, loop=loop)
            case 13 | 14:
                self.loops += 1
                name = f"q{self.loops}"
                bounds = self.pick("3", "1, 4", "4, 0, -2", "i % 4", "abs(j) % 3, 4", "0", "1")
                self.line(indent, f"for {name} in range({bounds}):")
                use = self.pick(
                    f"u += {name} * x",
                    f"k += {name}",
                    f"w = w * T[{name} % 3]",
                    f"m = {name}",
                    f"if {name} == 1: u = 0.5",
                    f"if {name} < 2: k = 7",
                    f"y = T[{name} - 1] * y + u",
                )
                self.line(indent + 1, use)
                self.block(indent + 1, d, loop=True)
                self.after_loop(indent, d, loop=loop)
            case 15:
                self.loops += 1
                name = f"n{self.loops}"
                self.line(indent, f"{name} = 0")
                self.line(
                    indent, f"while {name} < {self.pick('3', 'i % 5', '2')} and {self.truth(1)}:"
                )
                self.line(indent + 1, f"{name} += 1")
                self.block(indent + 1, d, loop=True)
                self.after_loop(indent, d, loop=loop)
            case 16:
                self.line(indent, f"for z in ({self.number(1)}, 0.5, x):")
                self.line(indent + 1, "u = u * z + w")
                self.block(indent + 1, d, loop=True)
            case 17:
                text = f"return {self.number(2)}, {self.whole(2)}"
                if loop:
                    text = self.pick("break", "continue", text)
                self.line(indent, f"if {self.truth(1)}:")
                self.line(indent + 1, text)
            case 18:
                self.line(indent, f"match {self.whole(1)}:")
                self.line(indent + 1, "case 0:")
                self.block(indent + 2, d, loop=loop)
                self.line(indent + 1, "case 1 | 3:")
                self.block(indent + 2, d, loop=loop)
                self.line(indent + 1, f"case other if other > {self.whole(0)}:")
                self.line(indent + 2, "k = other")
                if self.random.random() < 0.5:
                    self.line(indent + 1, "case _:")
                    self.block(indent + 2, d, loop=loop)
            case _:
                self.line(indent, f"v = [{self.number(1)}, {self.number(1)}]")
                self.line(indent, f"v[0] += v[1] * {self.number(0)}")
                self.line(indent, "w = v[0] - v[-1]")

    def after_loop(self, indent: int, depth: int, *, loop: bool) -> None:
        if self.random.random() < 0.3:
            self.line(indent, "else:")
            self.block(indent + 1, depth, loop=loop)

    def text(self) -> str:
        self.line(1, self.pick("u = 0.5", "u = x", "u = x * 2"))
        self.line(1, self.pick("w = 2.5", "w = p", "w = -y"))
        self.line(1, self.pick("m = 2", "m = i", "m = 0"))
        self.line(1, self.pick("k = 1", "k = j", "k = i + 1"))
        for _ in range(self.random.randint(2, 6)):
            self.statement(1, 3, loop=False)
        if not any("stop = " in line for line in self.lines):
            self.line(1, "stop |= False")  # a mask that nothing assigns to is refused
        self.line(1, f"return {self.number(2)}, {self.whole(2)}")
        return HELPERS + HEAD + "\n".join(self.lines) + "\n"


def compiled(text: str, seed: int, names: dict[str, Any]) -> Any:
    """The function `step` of a text, which hawk can read again."""
    file = f"<random kernel {seed}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace = dict(names)
    exec(compile(text, file, "exec"), namespace)
    return namespace["step"]
