"""Write random kernels: the text of a module that defines `kernel`, accepted by the language.

A program is small and has a theme, of which it holds more than of the rest. Loops, choices,
functions and containers have files of their own.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from tests.oracle.arrays import Arrays
from tests.oracle.bundles import CLASSES, Bundles
from tests.oracle.choices import Choices
from tests.oracle.containers import Containers
from tests.oracle.expressions import (
    BOOL,
    CONVERT,
    COUNT,
    FLAG,
    FLOATS,
    INDEX,
    INT32,
    INTEGERS,
    KINDS,
    KNOWN,
    REAL,
    UINT32,
    Expressions,
    Scope,
)
from tests.oracle.functions import Functions, result
from tests.oracle.loops import Loops, indented

HEADER = """\
import math
import numpy as np
import hawk
from hawk import Bool, Index, Int32, Mutable, Param, Scalar, Terminated, UInt32
"""
WITH_ARRAYS = "from hawk import Matrix, Vector\n"
TABLES = {
    "knots": ("Table[Scalar]", REAL, 1),
    "values": ("Table[Scalar]", REAL, 1),
    "places": ("Table[Int32]", INT32, 1),
    "flags": ("Table[Bool, 3]", BOOL, 1),
    "grid": ('Table["r":3, "c"]', REAL, 2),
    "whole": ("Table[Index, :, :, :]", INDEX, 3),
}
"""Tables of the kernels that have some: annotation, kind, dimensions."""


THEMES = ("", "loops", "nests", "choices", "functions", "containers")

NOTES = {REAL: "float", INDEX: "int", INT32: "Int32", UINT32: "UInt32", BOOL: "bool"}
"""What a local name may be annotated with."""

Write = Callable[[Scope], list[str]]
"""Writes a statement, as lines."""


@dataclass(frozen=True)
class Program:
    """A random kernel: `text` is a module that defines `kernel`."""

    seed: int
    text: str
    wide: bool
    """Is it run with float64? Else float32."""


def write(
    seed: int,
    *,
    arrays: bool = False,
    placed: bool = False,
    grids: bool = False,
    bundles: bool = False,
) -> Program:
    """The program of `seed`, with small arrays or without; the same one each time.

    `placed`: one that asks which sample it is in, and in which step; `grids`: on a grid; `bundles`:
    with objects.
    """
    random = Random(f"program {seed}")
    writer = Writer(random, arrays=arrays, placed=placed, bundles=bundles)
    writer.on_grid = grids
    return writer.program(seed)


class Writer:
    """Writes one program."""

    def __init__(
        self,
        random: Random,
        *,
        arrays: bool = False,
        placed: bool = False,
        bundles: bool = False,
    ) -> None:
        self.random = random
        self.wide = random.random() < 0.6
        self.express = Expressions(random, wide=self.wide, placed=placed)
        self.chance, self.pick = self.express.chance, self.express.pick
        self.count = 0
        self.parameters: list[tuple[str, str]] = []
        """Name and annotation of each parameter of the kernel."""
        self.room = 0
        """Statements left to write."""
        self.theme = self.pick(*THEMES)
        self.loops, self.choices = Loops(self), Choices(self)
        self.functions, self.containers = Functions(self), Containers(self)
        self.arrays = Arrays(self) if arrays else None
        self.bundles = Bundles(self) if bundles else None
        self.nests = 1
        """Nests of loops left to write."""
        self.on_grid = False
        """Are the samples arranged on a grid?"""

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    # -- statements ------------------------------------------------------------------------------

    def block(self, scope: Scope, most: int) -> list[str]:
        """One to `most` statements, as lines."""
        lines: list[str] = []
        for _ in range(self.random.randint(1, most)):
            if self.room > 0:
                lines += self.statement(scope)
        return lines or self.simple(scope)

    def statement(self, scope: Scope) -> list[str]:
        self.room -= 1
        nested: float = 0 if self.room < 2 else 1
        loop = nested if scope.loops < 2 else 0
        leave = 0.0 if not scope.leaves else 4.0 if scope.loops < 2 else 2.0
        returns = 0.0 if scope.returns is None else 2.0 if scope.leaves else 0.7
        nest = loop if scope.loops == 0 and scope.level < 3 and self.nests else 0
        options: list[tuple[float, str, Write]] = [
            (1 if scope.level > 1 else 5, "", self.local),
            (6, "", self.assignment),
            (4, "", self.augmented),
            (2, "", self.tuple_assignment),
            (0.7, "", self.known_local),
            (4 * nested, "choices", self.choice),
            (1.6 * nested, "choices", self.choices.match),
            (1.2 * nested, "choices", self.choices.walrus),
            (2 * loop, "loops", self.loops.for_loop),
            (1.5 * loop, "loops", self.loops.accumulator),
            (loop, "loops", self.loops.while_loop),
            (0.7 * loop, "loops", self.loops.forever),
            (loop, "loops", self.loops.over_values),
            (2 * nest if self.theme == "nests" else 0, "nests", self.nest),
            (nested, "functions", self.functions.nested),
            (0.8, "functions", self.functions.called),
            (1.1, "containers", self.containers.container),
            (leave, "", self.leave),
            (returns, "", self.early_return),
        ]
        if self.arrays is not None:
            options.append((40, "", self.arrays.statement))
        if self.bundles is not None and self.bundles.names(scope):
            options.append((40, "", self.bundles.statement))
        weights = [weight * (4 if theme == self.theme else 1) for weight, theme, _ in options]
        return self.random.choices(options, weights)[0][2](scope)

    def nest(self, scope: Scope) -> list[str]:
        self.nests -= 1
        return self.loops.nest(scope)

    def simple(self, scope: Scope) -> list[str]:
        """A statement without others in it."""
        return self.random.choice((self.assignment, self.augmented, self.local))(scope)

    def depth(self) -> int:
        return self.random.choice((1, 2, 2, 3, 3))

    def local(self, scope: Scope) -> list[str]:
        kind = self.pick(*KINDS, REAL)
        text = self.express.value(kind, scope, self.depth())
        name = self.fresh("v")
        if self.chance(0.05):
            other = self.fresh("v")
            scope.names |= {name: kind, other: kind}
            return [f"{name} = {other} = {text}"]
        scope.names[name] = kind
        note = f": {NOTES[kind]}" if self.chance(0.1) else ""
        return [f"{name}{note} = {text}"]

    def known_local(self, scope: Scope) -> list[str]:
        text = self.express.known(scope)
        name = self.fresh("w")
        scope.names[name] = KNOWN
        scope.fixed.add(name)
        return [f"{name} = {text}"]

    def targets(self, scope: Scope, kinds: Sequence[str] = KINDS) -> list[str]:
        """Names that may be assigned to, the parameters first among equals."""
        return [
            name for name, kind in scope.names.items() if kind in kinds and name not in scope.fixed
        ]

    def target(self, scope: Scope, kind: str) -> str:
        """A name to assign to: in a block mostly one that is there, or it would be in vain."""
        there = self.targets(scope, (kind,))
        if there and self.chance(0.7 if scope.level > 1 else 0.3):
            return self.pick(*there)
        name = self.fresh("v")
        scope.names[name] = kind
        return name

    def assignment(self, scope: Scope) -> list[str]:
        names = self.targets(scope)
        if not names:
            return self.local(scope)
        name = self.pick(*names)
        return [f"{name} = {self.express.value(scope.names[name], scope, self.depth())}"]

    def augmented(self, scope: Scope) -> list[str]:
        names = self.targets(scope)
        if not names:
            return self.local(scope)
        name = self.pick(*names)
        kind = scope.names[name]
        if kind == BOOL:
            return [f"{name} {self.pick('&=', '|=', '^=')} {self.express.value(BOOL, scope, 2)}"]
        if kind == REAL:
            operation = self.pick("+=", "-=", "+=", "-=", "*=", "/=")
            product = (
                f"{self.express.value(REAL, scope, 1)} * {self.express.operand(REAL, scope, 1)}"
            )
            text = product if self.chance(0.6) else self.express.operand(REAL, scope, self.depth())
            if operation == "/=":
                text = self.express.value(REAL, scope, 1)
            return [f"{name} {operation} {text}"]
        operation = self.pick("+=", "-=", "*=", "//=", "%=", "&=", "|=", "^=", "<<=", ">>=")
        return [f"{name} {operation} {self.express.operand(kind, scope, self.depth())}"]

    def tuple_assignment(self, scope: Scope) -> list[str]:
        names = self.targets(scope)
        pairs = [(a, b) for a in names for b in names if scope.names[a] == scope.names[b] and a < b]
        several = [helper for helper in self.express.helpers if len(helper.gives) == 2]
        if several and self.chance(0.5):
            helper = self.random.choice(several)
            text = self.express.call(helper, scope, 1)
            fresh = [self.fresh("v") for _ in helper.gives]
            scope.names.update(zip(fresh, helper.gives, strict=True))
            return [f"{', '.join(fresh)} = {text}"]
        if not pairs or self.chance(0.2):
            kind = self.pick(REAL, *INTEGERS)
            text = f"{self.express.value(kind, scope, 1)}, {self.express.value(kind, scope, 1)}"
            names = [self.fresh("v"), self.fresh("v")]
            scope.names.update(dict.fromkeys(names, kind))
            return [f"{', '.join(names)} = {self.pick('divmod({})', '({})').format(text)}"]
        a, b = self.random.choice(pairs)
        if self.chance(0.5):
            return [f"{a}, {b} = {b}, {a}"]
        kind = scope.names[a]
        first, second = (self.express.value(kind, scope, 2) for _ in "ab")
        return [f"{a}, {b} = {first}, {second}"]

    def choice(self, scope: Scope) -> list[str]:
        """`if`, perhaps with `elif` and `else`; perhaps a name bound on all paths."""
        lines: list[str] = []
        paths = self.random.choice((1, 2, 2, 3))
        bound, kind = self.fresh("v"), self.pick(*KINDS)
        binds = paths > 1 and self.chance(0.3)
        for place in range(paths):
            last = paths > 1 and place == paths - 1
            word = "else" if last else "elif" if place else "if"
            test = "" if last else f" {self.test(scope)}"
            inner = scope.inner()
            body = self.block(inner, 3)
            leaves = inner.leaves or inner.returns is not None
            if place and leaves and self.chance(0.15):
                body += self.ways_out(inner)  # so the name need not be bound here
            elif binds:
                body += [f"{bound} = {self.express.value(kind, inner, 1)}"]
            lines += [f"{word}{test}:", *indented(body)]
        if binds:
            scope.names[bound] = kind
        return lines

    def test(self, scope: Scope) -> str:
        """What an `if` tests; now and then something known."""
        known = scope.of(FLAG)
        if known and self.chance(0.4):
            return self.pick("{}", "not {}").format(self.pick(*known))
        if self.chance(0.1):
            return self.express.value(self.pick(REAL, *INTEGERS), scope, 1)  # is it 0?
        return self.express.value(BOOL, scope, self.depth())

    def leave(self, scope: Scope) -> list[str]:
        """`break`, `continue` or `return`, perhaps after something else."""
        inner = scope.inner()
        body = self.simple(inner) if self.chance(0.3) else []
        test = self.express.value(BOOL, scope, 2)
        lines = [f"if {test}:", *indented([*body, *self.ways_out(inner)])]
        if self.chance(0.15):
            lines += ["else:", *indented(self.simple(scope.inner()))]
        if self.chance(0.6):
            lines += self.simple(scope)  # what a `continue` skips
        return lines

    def early_return(self, scope: Scope) -> list[str]:
        test = self.express.value(BOOL, scope, 2)
        return [f"if {test}:", *indented([self.ways_out(scope.inner(leaves=False))[-1]])]

    def ways_out(self, scope: Scope) -> list[str]:
        """`break`, `continue` or `return`, where there is one."""
        words = ["break", "continue"] if scope.leaves else []
        if scope.returns is None or (words and self.chance(0.4 if scope.loops > 2 else 0.55)):
            return [self.pick(*words)] if words else self.simple(scope)
        return [self.returned(scope, scope.returns, known=0.1)]

    def returned(self, scope: Scope, kinds: Sequence[str], known: float = 0) -> str:
        """A `return` of numbers of these kinds; with a probability of `known` of a literal."""
        if not kinds:
            return "return"
        values = [
            self.pick(*FLOATS)
            if kind == REAL and self.chance(known)
            else self.express.value(kind, scope, 2)
            for kind in kinds
        ]
        return f"return {', '.join(values)}"

    def ending(self, scope: Scope, kinds: Sequence[str], body: Sequence[str]) -> str:
        """The last `return` of a body, of what nothing else has read so far among the rest."""
        text = "\n".join(body)
        bound = [name for name, kind in scope.names.items() if kind in KINDS and name[0] in "vm"]
        unread = [name for name in bound if len(re.findall(rf"\b{name}\b", text)) == 1]
        values: list[str] = []
        for kind in kinds:
            value = self.express.value(kind, scope, 1)
            while unread and self.chance(0.7):
                other = unread.pop()
                if scope.names[other] != kind:
                    other = CONVERT[kind].format(other)
                value = f"({value}) {'-' if kind == REAL else '^'} {other}"
            values.append(value)
        return f"return {', '.join(values)}" if values else "return"

    # -- the program -----------------------------------------------------------------------------

    def planes(self, scope: Scope) -> None:
        """The parameters of the kernel."""
        for prefix, most, least in (("a", 3, 0), ("p", 3, 0), ("s", 3, 1)):
            for _ in range(self.random.randint(least, most)):
                kind = self.pick(REAL, REAL, *KINDS)
                name = self.fresh(prefix)
                self.parameters.append((name, _annotation(prefix, kind)))
                scope.names[name] = kind
                # An input or Param is a local name like any other; now and then one is assigned.
                if prefix != "s" and self.chance(0.9):
                    scope.fixed.add(name)
        if self.chance(0.05):  # without any state
            kept = [row for row in self.parameters if row[0][0] != "s"]
            if kept:
                for name in [name for name in scope.names if name[0] == "s"]:
                    del scope.names[name]
                self.parameters = kept

    def grids(self, scope: Scope) -> None:
        """Parameters that are grids, of each kind one that is read; perhaps state, too."""
        axes = self.random.choice((("r",), ("r", "c"), ("r", "c"), ("q", "r", "c")))
        self.express.axes = axes
        form = ", ".join(f"'{axis}'" for axis in axes)
        for kind in (REAL, REAL, *KINDS):
            name = self.fresh("g")
            self.parameters.append((name, f"Grid[{kind}, {form}]"))
            self.express.grids[name] = scope.names[name] = kind
            scope.fixed.add(name)
        for place, (name, annotation) in enumerate(self.parameters):
            if annotation.startswith("Mutable[") and self.chance(0.3):
                inner = annotation.removeprefix("Mutable[").removesuffix("]")
                self.parameters[place] = name, f"Mutable[Grid[{inner}, {form}]]"

    def program(self, seed: int) -> Program:
        module = Scope()
        text: list[str] = [HEADER]
        for _ in range(self.random.randint(0, 2)):
            name = self.fresh("K")
            module.names[name] = KNOWN
            module.fixed.add(name)
            text.append(
                f"{name} = {self.pick(*FLOATS, '7', 'float(chr(105) + chr(110) + chr(102))')}"
            )
        for _ in range(self.random.randint(self.theme == "functions", 2)):
            text += ["", *self.functions.of_the_module(module)]
        scope = module.inner()
        self.planes(scope)
        if self.arrays is not None:
            text.insert(1, WITH_ARRAYS)
            self.arrays.planes(scope)
        if self.bundles is not None:
            text.insert(1, CLASSES)
            self.bundles.planes(scope)
        if self.express.placed:
            text.insert(1, "from hawk import Table")
            for name, (annotation, kind, rank) in TABLES.items():
                self.parameters.append((name, annotation))
                self.express.tables[name] = kind, rank
        if self.on_grid:
            text.insert(1, "from hawk import Grid")
            self.grids(scope)
        # Mostly the outputs are what the body computes, so that little of it is in vain.
        outputs: list[str] | None = None
        if self.chance(0.8 if self.theme == "nests" else 0.4):
            outputs = [self.pick(REAL, *KINDS) for _ in range(self.random.choice((0, 1, 1, 2)))]
        if not any(name[0] == "s" for name, _ in self.parameters) and not outputs:
            outputs = None
        stops = self.chance(0.75)
        if stops:
            self.parameters.append(("terminated", "Terminated"))
            scope.names["terminated"] = BOOL
        captured: dict[str, str] = {}
        for kind, numbers in ((KNOWN, FLOATS), (COUNT, ("0", "2", "3")), (FLAG, ("True", "False"))):
            if self.chance(0.4):
                name = self.fresh("C")
                captured[name] = self.pick(*numbers)
                scope.names[name] = kind
                scope.fixed.add(name)
        body, outputs = self.body(scope, outputs, stops=stops)
        kernel = self.kernel(body, outputs)
        if captured:
            kernel = [
                f"def make({', '.join(captured)}):",
                *indented([*kernel, "return kernel"]),
                "",
                f"kernel = make({', '.join(captured.values())})",
            ]
        return Program(seed, _tidy("\n".join([*text, "", *kernel])), self.wide)

    def body(
        self, scope: Scope, outputs: list[str] | None, *, stops: bool
    ) -> tuple[list[str], list[str]]:
        """The statements of the kernel, and what it returns; None: what it has computed."""
        if outputs is not None and self.chance(0.75):
            scope.returns = outputs
        self.room = self.random.randint(3, 12)
        early = stops and self.chance(0.4)
        late = stops and not early and self.chance(0.8)
        body = self.stop(scope) if early else []
        for helper in self.express.helpers:
            if self.chance(0.5):
                body += self.functions.call(helper, scope)
        while self.room > 0:
            body += self.statement(scope)
        if late:
            body += self.stop(scope)
        elif stops and not early:
            body.append("terminated |= False")  # a mask that nothing assigns to is refused
        if outputs is None:
            for _ in range(self.random.randint(3, 6)):
                body += self.local(scope)
            names = [name for name in scope.names if name[0] in "vm"][-10:]
            if not names:
                names = [name for name, kind in scope.names.items() if kind in KINDS][-1:]
            outputs = [scope.names[name] for name in names]
            body.append(f"return {', '.join(names)}")
        elif outputs:
            body.append(self.ending(scope, outputs, body))
        elif self.chance(0.3):
            body += self.store_integer(scope)
        return body, outputs

    def store_integer(self, scope: Scope) -> list[str]:
        """An integer assigned to float state, which becomes a float when it is stored."""
        names = [name for name in scope.of(REAL) if name[0] == "s"]
        if not names:
            return []
        name, value = self.pick(*names), self.express.value(INDEX, scope, 1)
        scope.names[name] = INDEX
        return [f"{name} = {value}"]

    def stop(self, scope: Scope) -> list[str]:
        """When is a sample done? After some time or count, at once, never, now and then."""
        form = self.pick(
            "time",
            "time",
            "time",
            "time",
            "time",
            "count",
            "count",
            "any",
            "any",
            "once",
            "never",
            "if",
            "last",
        )
        match form:
            case "time":
                return self.time(scope)
            case "count":
                return self.counter(scope)
            case "any":
                return [f"terminated = {self.express.value(BOOL, scope, 2)}"]
            case "once" | "never":
                del scope.names["terminated"]  # known from here on
                return [f"terminated = {form == 'once'}"]
            case "if":
                inner = [f"terminated = {self.express.value(BOOL, scope, 1)}"]
                return [f"if {self.express.value(BOOL, scope, 1)}:", *indented(inner)]
            case _:
                return [f"terminated |= {self.express.value(BOOL, scope, 2)}"]

    def time(self, scope: Scope) -> list[str]:
        """A state that moves by a number it does not change, and a limit."""
        where = self.random.choice(("p", "a"))
        kind = "Param" if where == "p" else "Scalar"
        self.parameters += [
            ("t", "Mutable[Scalar]"),
            ("dt", kind),
            ("t_end", self.pick("Param", "Scalar")),
        ]
        scope.names.update(t=REAL, dt=REAL, t_end=REAL)
        scope.fixed.update(("t", "dt", "t_end"))
        step = self.pick(
            "t += dt", "t += dt", "t = t + dt", "t = dt + t", "t -= dt", "t = t + dt * 0.5",
            "t += dt * t_end",
            "t = t - dt", "t += 0.25", "t = dt - t", "t = t + (dt if t < t_end else -dt)",
        )  # fmt: skip
        test = self.pick(
            "t >= t_end", "t > t_end", "t_end <= t", "t <= t_end", "t < t_end", "not t < t_end",
            "t == t_end", "t + dt > t_end", "t >= 1.0",
        )  # fmt: skip
        lines = [step]
        if self.chance(0.2):
            lines += [f"over = {test}", "terminated = over"]
            scope.names["over"] = BOOL
        else:
            lines += [f"terminated = {test}"]
        return lines

    def counter(self, scope: Scope) -> list[str]:
        kind = self.pick(*INTEGERS)
        self.parameters += [("k", f"Mutable[{kind}]"), ("limit", self.pick(f"Param[{kind}]", kind))]
        scope.names.update(k=kind, limit=kind)
        scope.fixed.update(("k", "limit"))
        step = self.pick("k += 1", "k = k + 1", "k -= 1", "k += limit & 1")
        test = self.pick(
            "k >= limit", "k == limit", "k > limit", "limit <= k", "(k & 3) == 1", "k % 5 == 0",
            "not k < limit",
        )  # fmt: skip
        return [step, f"terminated = {test}"]

    def kernel(self, body: Sequence[str], outputs: Sequence[str]) -> list[str]:
        self.random.shuffle(self.parameters)
        options: list[str] = []
        kinds = ("Scalar", "Mutable[Scalar]", "Table[Scalar]")
        floats = [row for row in self.parameters if row[1] in kinds]
        if not self.wide and not floats:
            options.append('dtype="float32"')  # no array says it
        if self.chance(0.2):
            options.append("contract=False")
        decorator = f"@hawk.kernel({', '.join(options)})" if options else "@hawk.kernel"
        signature = ", ".join(f"{name}: {annotation}" for name, annotation in self.parameters)
        return [
            decorator,
            f"def kernel({signature}){result(outputs)}:",
            *indented(body or ["pass"]),
        ]


def _annotation(prefix: str, kind: str) -> str:
    if prefix == "a":
        return kind
    if prefix == "p":
        return "Param" if kind == REAL else f"Param[{kind}]"
    return f"Mutable[{kind}]"


def _tidy(text: str) -> str:
    """The text without needless brackets, as Python writes it."""
    return ast.unparse(ast.parse(text)) + "\n"
