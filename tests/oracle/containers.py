"""Write lists, tuples and dicts, whose length is known, comprehensions, and what reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.oracle.expressions import BOOL, COUNT, INDEX, INTEGERS, KINDS, REAL, Scope
from tests.oracle.loops import indented

if TYPE_CHECKING:
    from tests.oracle.programs import Writer


class Containers:
    """Writes containers for a writer of programs."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.random, self.express = writer.random, writer.express
        self.chance, self.pick, self.fresh = writer.chance, writer.pick, writer.fresh

    def container(self, scope: Scope) -> list[str]:
        forms = (self.sequence, self.sequence, self.sequence, self.dict, self.carried)
        return self.random.choice(forms)(scope)

    # -- lists and tuples ------------------------------------------------------------------------

    def sequence(self, scope: Scope) -> list[str]:
        """A list that is made, perhaps changed, and read."""
        kind, name, length = self.pick(REAL, REAL, *INTEGERS), self.fresh("l"), self.pick(*"23")
        lines, size = self.made(name, kind, int(length), scope)
        for _ in range(self.random.choice((0, 1, 1, 2))):
            more, size = self.changed(name, kind, size, scope)
            lines += more
        for _ in range(self.random.choice((1, 2))):
            lines += self.read(name, kind, size, scope)
        return lines

    def made(self, name: str, kind: str, size: int, scope: Scope) -> tuple[list[str], int]:
        def value(inner: Scope = scope) -> str:
            return self.express.value(kind, inner, 1)

        some = [value() for _ in range(size)]
        inner, counted = scope.inner(), scope.inner()
        x = self.element(kind, scope)
        inner.names[x], counted.names["k"] = kind, INDEX
        match self.random.randrange(7):
            case 0 | 6:
                return [f"{name} = [{value(inner)} for {x} in ({', '.join(some)})]"], size
            case 1:
                return [f"{name} = [{value(counted)} for k in range({size})]"], size
            case 2:
                test = self.pick(f"k != {self.random.randrange(size)}", "k > 0", "k != 0")
                text = f"[{value(inner)} for k, {x} in enumerate(({', '.join(some)})) if {test}]"
                return [f"{name} = {text}"], size - 1
            case 3:
                many = self.pick(f"[{value()}] * {size}", f"list(({', '.join(some)}))")
                return [f"{name} = {many}"], size
            case 4:
                others = ", ".join(value() for _ in range(size))
                lines = [f"if {self.express.value(BOOL, scope, 1)}:", f"    {name} = [{others}]"]
                return [f"{name} = [{', '.join(some)}]", *lines, f"{name} = list({name})"], size
            case _:
                return [f"{name} = [{', '.join(some)}]"], size

    def element(self, kind: str, scope: Scope) -> str:
        """The name of an element in a comprehension; it may hide one that is there."""
        there = self.writer.targets(scope, (kind,))
        return self.pick(*there[-2:]) if there and self.chance(0.5) else "x"

    def changed(self, name: str, kind: str, size: int, scope: Scope) -> tuple[list[str], int]:
        value, place = self.express.value(kind, scope, 1), self.place(size)
        inner = scope.inner()
        inner.names |= {"x": kind}
        match self.random.randrange(5):
            case 0:
                return [f"{name}[{place}] = {value}"], size
            case 1:
                return [f"{name}[{place}] {self.pick('+=', '-=', '*=')} {value}"], size
            case 2:
                target = self.writer.target(scope, kind)
                return [f"{name}.append({value})", f"{target} = {name}[-1] - {name}[0]"], size + 1
            case 3:
                other = self.place(size)
                swap = f"{name}[{place}], {name}[{other}] = {name}[{other}], {name}[{place}]"
                return [swap], size
            case _:
                index = self.fresh("i")
                more = f"{name}[{index}] {self.pick('+', '-')} {value}"
                head = f"for {index} in range(len({name})):"
                return [head, f"    {name}[{index}] = {more}"], size

    def read(self, name: str, kind: str, size: int, scope: Scope) -> list[str]:
        """New names for what a list holds."""
        inner = scope.inner()
        inner.names["x"] = kind
        if self.chance(0.2):
            test = self.express.value(BOOL, inner, 1)
            text = f"{self.pick('any', 'all')}({test} for x in {name})"
            if self.chance(0.4):
                text = f"{self.express.value(kind, scope, 1)} in {name}"
            return [f"{self.writer.target(scope, BOOL)} = {text}"]
        target = self.writer.target(scope, kind)
        if size > 1 and self.chance(0.2):
            rest = self.fresh("l")
            other = self.pick(f"sum({rest})", f"{rest}[-1]", f"{target} * len({rest})")
            stars = self.pick(f"{target}, *{rest}", f"*{rest}, {target}")
            return [f"{stars} = {name}", f"{self.writer.target(scope, kind)} = {other}"]
        if self.chance(0.25):
            return self.summed(target, name, kind, scope)
        x = self.element(kind, scope)
        # The sum of nothing is a literal, which takes its type from a path CPython does not take.
        some = self.pick("[1:]", "[:-1]") if size > 1 else ""
        text = self.pick(
            f"min({name})", f"max({name})", f"sum({name}{some})", f"sum({name}{some})",
            f"{name}[{self.place(size)}]", f"{name}[0] - {name}[{self.place(size)}] * {name}[-1]",
            f"sum([{x} * {x} for {x} in {name}])", f"sum(x * {size} for x in {name}) - {name}[0]",
            f"sum([{x} * i for i, {x} in enumerate({name}, 1)])", f"{name}[::-1][0]",
            f"sum([x * k for k, x in enumerate(reversed({name}), 1)])",
            *[f"sum(a * b for a, b in zip({name}, ({', '.join('2357'[:size])},)))"] * 2,
        )  # fmt: skip
        return [f"{target} = {text}"]

    def summed(self, target: str, name: str, kind: str, scope: Scope) -> list[str]:
        """A loop over a list, written out."""
        inner, element = scope.inner(loops=scope.loops + 1), self.fresh("x")
        head = f"for {element} in {name}:"
        if self.chance(0.4):
            count = self.fresh("x")
            head = f"for {count}, {element} in enumerate({name}):"
            inner.names[count] = COUNT
            inner.fixed.add(count)
        inner.names |= {element: kind, target: kind}
        body = [f"{target} = {self.express.value(kind, inner, 1)} - {element}"]
        return [f"{target} = {name}[0]", head, *indented(body)]

    def place(self, size: int) -> str:
        return str(self.random.randrange(-size, size))

    # -- dicts, and tuples that loops carry ------------------------------------------------------

    def dict(self, scope: Scope) -> list[str]:
        kind, name = self.pick(REAL, *INTEGERS), self.fresh("d")
        first, second, third = (self.express.value(kind, scope, 1) for _ in range(3))
        lines = [f"{name} = {{'a': {first}, 'b': {second}}}"]
        if self.chance(0.45):
            lines = [f"{name} = {{key: {first} for key in ('a', 'b')}}"]
        if self.chance(0.85):
            lines.append(f"{name}['{self.pick('a', 'b')}'] {self.pick('=', '+=', '*=')} {third}")
        target = self.writer.target(scope, kind)
        text = self.pick(
            f"{name}['a'] - {name}['b']", f"sum({name}.values())", f"max({name}.values())",
            f"{name}['b'] * {third}",
            f"sum([{name}[x] for x in {name}])",
        )  # fmt: skip
        return [*lines, f"{target} = {text}"]

    def carried(self, scope: Scope) -> list[str]:
        """A tuple that takes part in a choice or is carried by a loop."""
        first, second = self.pick(REAL, *KINDS), self.pick(REAL, *KINDS)
        name, a, b = self.fresh("l"), self.fresh("v"), self.fresh("v")

        def pair(inner: Scope) -> str:
            return (
                f"({self.express.value(first, inner, 1)}, {self.express.value(second, inner, 1)})"
            )

        lines = [f"{name} = {pair(scope)}"]
        inner = scope.inner()
        inner.names |= {a: first, b: second}
        body = [f"{a}, {b} = {name}", f"{name} = {pair(inner)}"]
        if self.chance(0.5):
            test = self.express.value(BOOL, scope, 1)
            lines += [f"{a}, {b} = {name}", f"if {test}:", *indented(body)]
        else:
            counter = self.fresh("i")
            head = f"for {counter} in range({self.writer.loops.bounds(scope)}):"
            lines += [f"{a}, {b} = {name}", head, *indented(body)]
        scope.names |= {a: first, b: second}
        return [*lines, f"{a}, {b} = {name}"]
