"""Write small arrays: how they are made, changed, chosen and carried, and what reads them.

Each name has memory of its own, or the language would refuse the program: views are read where they
are made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.oracle.expressions import BOOL, INDEX, REAL, Scope
from tests.oracle.loops import indented

if TYPE_CHECKING:
    from tests.oracle.programs import Writer

SHAPES = ((2,), (3,), (2, 2), (2, 3))


def kind_of(shape: tuple[int, ...]) -> str:
    """The kind of an array of floats, as its annotation is written."""
    return f"{'Vector' if len(shape) == 1 else 'Matrix'}[{', '.join(map(str, shape))}]"


KINDS = {kind_of(shape): shape for shape in SHAPES}


class Arrays:
    """Writes small arrays for a writer of programs."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.random, self.express = writer.random, writer.express
        self.chance, self.pick, self.fresh = writer.chance, writer.pick, writer.fresh

    def planes(self, scope: Scope) -> None:
        """One to three planes of small arrays, and mostly one to index them with."""
        if self.chance(0.7):
            index = self.fresh("a")
            self.writer.parameters.append((index, INDEX))
            scope.names[index] = INDEX
            scope.fixed.add(index)
        for _ in range(self.random.randint(1, 3)):
            kind, name = self.pick(*KINDS), self.fresh("z")
            form = self.pick("{}", "Mutable[{}]", "Mutable[{}]", "Param[{}]")
            self.writer.parameters.append((name, form.format(kind)))
            scope.names[name] = kind

    def statement(self, scope: Scope) -> list[str]:
        forms = (
            (3, self.made), (4, self.element), (3, self.whole), (4, self.read), (1.5, self.slice),
            (1, self.chosen), (1, self.carried), (1, self.run_over), (1, self.called),
        )  # fmt: skip
        if not [name for name in self.names(scope) if name not in scope.fixed]:
            return self.made(scope)
        return self.random.choices([f for _, f in forms], [w for w, _ in forms])[0](scope)

    # -- values ----------------------------------------------------------------------------------

    def names(self, scope: Scope, *kinds: str) -> list[str]:
        return [name for name, kind in scope.names.items() if kind in (kinds or KINDS)]

    def number(self, scope: Scope) -> str:
        return self.express.value(REAL, scope, 1)

    def new(self, kind: str, scope: Scope) -> str:
        """An array written out."""
        shape = KINDS[kind]
        if len(shape) == 1:
            return f"hawk.math.vec({', '.join(self.number(scope) for _ in range(shape[0]))})"
        rows = [
            f"({', '.join(self.number(scope) for _ in range(shape[1]))})" for _ in range(shape[0])
        ]
        return f"hawk.math.mat({', '.join(rows)})"

    def value(self, kind: str, scope: Scope, depth: int = 2) -> str:
        """An array of this kind in memory of its own."""
        there = self.names(scope, kind)
        if not there or (depth and self.chance(0.15)):
            return self.new(kind, scope)
        if depth == 0:
            return f"{self.pick(*there)}.copy()"
        a = self.pick(*there)
        b = self.pick(*there) if self.chance(0.6) else self.value(kind, scope, depth - 1)
        x, shape = self.number(scope), KINDS[kind]
        texts = [
            f"{a} + {b} * {x}", f"{a} * {x} - {b}", f"{a} - {b} * {b}", f"{a} / ({x})",
            f"-{a} + {b}", f"({x}) * {a} + {b}", f"{a} * {b} + {x}", f"{a}.copy()",
            *[f"({a} if {self.express.value(BOOL, scope, 1)} else {b}).copy()"] * 2,
            f"np.minimum({a}, {b}) + {x}", f"np.where({a} < {b}, {a}, {x})", f"abs({a})",
        ]  # fmt: skip
        if shape == (2, 2):
            texts += [f"{a} @ {b}", f"{a}.T @ {b}", f"{a}.T * {x}", f"{a} @ {b} @ {a}"]
        if shape == (2,):
            matrices = self.names(scope, "Matrix[2, 2]")
            texts += [f"{matrix} @ {a}" for matrix in matrices]
            wide = self.names(scope, "Matrix[2, 3]")
            texts += [f"{matrix}[:, 1] * {x}" for matrix in wide]
        if shape == (3,):
            texts += [f"hawk.math.cross({a}, {b})", f"{a}[::-1] + {b}"]
        return self.pick(*texts)

    def index(self, length: int, scope: Scope) -> str:
        """An index: known, sure to be inside, or any that is not known."""
        if self.chance(0.55):
            return str(self.random.randrange(-length, length))
        inputs = [name for name in scope.of(INDEX) if name[0] == "a"]
        if inputs and self.chance(0.6):
            return self.pick(*inputs)
        return f"({self.express.value(INDEX, scope, 1)}) % {length}"

    def place(self, name: str, kind: str, scope: Scope) -> str:
        """One element."""
        indices = [self.index(length, scope) for length in KINDS[kind]]
        if len(indices) == 2 and self.chance(0.15) and indices[0].lstrip("-").isdigit():
            return f"{name}[{indices[0]}][{indices[1]}]"
        return f"{name}[{', '.join(indices)}]"

    # -- statements ------------------------------------------------------------------------------

    def made(self, scope: Scope) -> list[str]:
        kind, name = self.pick(*KINDS), self.fresh("z")
        text = self.value(kind, scope)
        scope.names[name] = kind
        return [f"{name} = {text}"]

    def target(self, scope: Scope) -> tuple[str, str]:
        name = self.pick(*[name for name in self.names(scope) if name not in scope.fixed])
        return name, scope.names[name]

    def element(self, scope: Scope) -> list[str]:
        name, kind = self.target(scope)
        operation = self.pick("=", "=", "+=", "-=", "*=")
        text = self.express.value(REAL, scope, 2)
        if operation in ("+=", "-=") and self.chance(0.5):
            text = f"{self.number(scope)} * {self.express.operand(REAL, scope, 1)}"
        return [f"{self.place(name, kind, scope)} {operation} {text}"]

    def whole(self, scope: Scope) -> list[str]:
        name, kind = self.target(scope)
        operation = self.pick("=", "+=", "-=", "*=", "/=")
        if operation == "=" or self.chance(0.4):
            return [f"{name} {operation} {self.value(kind, scope)}"]
        if operation in ("+=", "-=") and self.chance(0.6):
            other = self.pick(*self.names(scope, kind))
            return [f"{name} {operation} {other} * {self.express.operand(REAL, scope, 1)}"]
        return [f"{name} {operation} {self.number(scope)}"]

    def slice(self, scope: Scope) -> list[str]:
        name, kind = self.target(scope)
        x, shape = self.number(scope), KINDS[kind]
        if len(shape) == 1:
            texts = [
                f"{name}[1:] = {name}[:-1]", f"{name}[:2] += {name}[-2:] * {x}",
                f"{name}[::-1] = {name}", f"{name}[:] = {x}", f"{name}[-2:] -= {x}",
                f"{name}[:1] = ({x},)",
            ]  # fmt: skip
        else:
            texts = [
                f"{name}[0] = {name}[1]", f"{name}[:, 0] = {name}[:, 1] - {x}",
                f"{name}[1] += {name}[0] * {x}", f"{name}[:, -1] *= {x}", f"{name}[...] = {x}",
                f"{name}[{self.index(2, scope)}] = {name}[0] + {x}",
                f"{name}[:, {self.index(shape[1], scope)}] += {x}",
            ]  # fmt: skip
        return [self.pick(*texts)]

    def read(self, scope: Scope) -> list[str]:
        name, kind = self.target(scope)
        shape = KINDS[kind]
        if self.chance(0.2):
            other = self.pick(*self.names(scope, kind), self.number(scope))
            row = "" if len(shape) == 1 else "[0]"
            other += row if other in scope.names and scope.names[other] == kind else ""
            text = f"{self.pick('any', 'all')}({name}{row} {self.pick('<', '>=', '!=')} {other})"
            return [f"{self.writer.target(scope, BOOL)} = {text}"]
        texts = [self.place(name, kind, scope)] * 4
        if len(shape) == 1:
            if self.chance(0.15):
                parts = [
                    self.writer.target(scope, REAL),
                    *(self.fresh("_") for _ in range(1, shape[0])),
                ]
                return [f"{', '.join(parts)} = {name}"]
            texts += [
                f"{name} @ {name}", f"sum({name})", f"max({name}) - min({name})",
                f"hawk.math.norm({name})", f"hawk.math.norm({name})",
                f"{name}[{self.index(shape[0], scope)}] * len({name})",
            ]  # fmt: skip
        else:
            row = f"{name}[{self.index(shape[0], scope)}]"
            texts += [f"sum({row})", f"{row} @ {name}[0]", f"sum({name}[:, 0])"]
            if shape == (2, 2):
                texts += [f"hawk.math.det({name})"] * 3 + [f"hawk.math.trace({name})"]
        text = self.pick(*texts)
        return [f"{self.writer.target(scope, REAL)} = {text}"]

    def chosen(self, scope: Scope) -> list[str]:
        """An array that is changed on one path, or on both."""
        name, kind = self.target(scope)
        lines = [f"if {self.express.value(BOOL, scope, 1)}:"]
        lines += indented(self.pick(self.element, self.whole, self.slice)(scope.inner()))
        if self.chance(0.5):
            lines += ["else:", f"    {name} = {self.value(kind, scope)}"]
        return lines

    def carried(self, scope: Scope) -> list[str]:
        """An array that changes from pass to pass."""
        name, kind = self.target(scope)
        counter, inner = self.fresh("i"), scope.inner(loops=scope.loops + 1)
        inner.names[counter] = INDEX
        inner.fixed.add(counter)
        shape = KINDS[kind]
        places = [f"{counter} % {shape[0]}", *(self.index(n, inner) for n in shape[1:])]
        body = [f"{name}[{', '.join(places)}] {self.pick('=', '+=', '*=')} {self.number(inner)}"]
        if self.chance(0.5):
            body += [f"{name} = {self.value(kind, inner, 1)}"]
        bounds = self.writer.loops.bounds(scope) if self.chance(0.6) else str(shape[0])
        return [f"for {counter} in range({bounds}):", *indented(body)]

    def run_over(self, scope: Scope) -> list[str]:
        name, kind = self.target(scope)
        start, factor, element = self.number(scope), self.number(scope), self.fresh("_")
        target = self.writer.target(scope, REAL)
        part = element if len(KINDS[kind]) == 1 else f"{element}[-1]"
        head = self.pick(f"for {element} in {name}:", f"for _k, {element} in enumerate({name}):")
        more = f"{target} = {target} {self.pick('+', '-')} {part} * {factor}"
        return [f"{target} = {start}", head, *indented([more])]

    def called(self, scope: Scope) -> list[str]:
        """A function that takes an array and gives one of its own."""
        name, kind = self.target(scope)
        function, other = self.fresh("f"), self.fresh("z")
        changed = self.place("p", kind, scope.inner())
        lines = [
            f"def {function}(p, x=0.5):", "    p = p.copy()", f"    {changed} += x",
            "    return p * x",
        ]  # fmt: skip
        scope.names[other] = kind
        return [*lines, f"{other} = {function}({name}, {self.number(scope)})"]
