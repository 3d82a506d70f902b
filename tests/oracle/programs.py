"""Write random kernels: the text of a module that defines `kernel`, accepted by the language.

Above 400 lines because it is a grammar: a method for each kind of statement.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from tests.oracle.expressions import (
    BOOL,
    CONVERT,
    COUNT,
    FLAG,
    FLOATS,
    INDEX,
    INTEGERS,
    KINDS,
    KNOWN,
    REAL,
    Expressions,
    Helper,
    Scope,
)

HEADER = """\
import math
import numpy as np
import hawk
from hawk import Bool, Index, Int32, Mutable, Param, Scalar, Terminated, UInt32
"""


@dataclass(frozen=True)
class Program:
    """A random kernel: `text` is a module that defines `kernel`."""

    seed: int
    text: str
    wide: bool
    """Is it run with float64? Else float32."""


def write(seed: int) -> Program:
    """The program of `seed`; the same one each time."""
    return Writer(Random(f"program {seed}")).program(seed)


class Writer:
    """Writes one program."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.wide = random.random() < 0.6
        self.express = Expressions(random, wide=self.wide)
        self.chance, self.pick = self.express.chance, self.express.pick
        self.count = 0
        self.parameters: list[tuple[str, str]] = []
        """Name and annotation of each parameter of the kernel."""
        self.room = 0
        """Statements left to write."""

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
            if lines and lines[-1] in ("break", "continue"):
                break
        return lines or self.local(scope)

    def statement(self, scope: Scope) -> list[str]:
        self.room -= 1
        nested: float = 0 if self.room < 2 else 1
        options: list[tuple[float, Callable[[Scope], list[str]]]] = [
            (1 if scope.level > 1 else 5, self.local),
            (6, self.assignment),
            (4, self.augmented),
            (2, self.tuple_assignment),
            (4 * nested, self.choice),
            ((2 * nested) if scope.loops < 2 else 0, self.for_loop),
            ((1.5 * nested) if scope.loops < 2 else 0, self.accumulator),
            (nested if scope.loops < 2 else 0, self.while_loop),
            (0.7, self.known_local),
            (0.5 * nested, self.nested_function),
            (4 if scope.leaves else 0, self.leave),
            (0.4 if scope.returns is not None else 0, self.early_return),
        ]
        weights = [weight for weight, _ in options]
        return self.random.choices(options, weights)[0][1](scope)

    def depth(self) -> int:
        return self.random.choice((1, 2, 2, 3, 3))

    def local(self, scope: Scope) -> list[str]:
        kind = self.pick(*KINDS, REAL)
        text = self.express.value(kind, scope, self.depth())
        name = self.fresh("v")
        scope.names[name] = kind
        return [f"{name} = {text}"]

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
        if not pairs:
            return self.local(scope)
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
            if binds:
                body += [f"{bound} = {self.express.value(kind, inner, 1)}"]
            lines += [f"{word}{test}:", *_indented(body)]
            if binds and body[-2:-1] in (["break"], ["continue"]):
                binds = False  # never reached; the name is not bound on this path
                lines.pop()
        if binds:
            scope.names[bound] = kind
        return lines

    def test(self, scope: Scope) -> str:
        """What an `if` tests; now and then something known."""
        known = scope.of(FLAG)
        if known and self.chance(0.4):
            return self.pick("{}", "not {}").format(self.pick(*known))
        return self.express.value(BOOL, scope, self.depth())

    def bounds(self, scope: Scope) -> str:
        """The arguments of a `range` of a few numbers, known or not."""
        known = scope.of(COUNT)
        if known and self.chance(0.4):
            return self.pick(*known)
        few = self.pick(*INTEGERS)
        value = self.express.value(few, scope, 1)
        return self.pick(
            "2", "3", "4", "1, 4", "0, 6, 2", "5, 0, -2", "0", f"{value} % 5", f"{value} & 3",
            f"abs({value}) & 7", f"1, 1 + ({value} & 3)", f"{value} & 3, -1, -1",
            f"min({value} & 7, 3)",
        )  # fmt: skip

    def for_loop(self, scope: Scope) -> list[str]:
        bounds = self.bounds(scope)
        name = self.fresh("i")
        inner = scope.inner(loops=scope.loops + 1, leaves="for")
        inner.names[name] = INDEX
        inner.fixed.add(name)
        lines = [f"for {name} in range({bounds}):", *_indented(self.block(inner, 3))]
        if self.chance(0.1):
            lines += ["else:", *_indented(self.block(scope.inner(), 2))]
        return lines

    def accumulator(self, scope: Scope) -> list[str]:
        """A sum that starts as a known number and takes its type in a loop."""
        kind = self.pick(REAL, REAL, *INTEGERS)
        name, counter = self.fresh("v"), self.fresh("i")
        # Where the loop may not run at all, CPython cannot know what type the sum would have had.
        start = self.pick("0.0", "1.0") if kind == REAL else CONVERT[kind].format("0")
        if kind == INDEX:
            start = "0"
        bounds = self.bounds(scope)
        inner = scope.inner(loops=scope.loops + 1)
        inner.names[counter] = INDEX
        inner.fixed.add(counter)
        added = self.express.value(kind, inner, 2)
        if kind == REAL and self.chance(0.5):
            added = f"{self.express.value(REAL, inner, 1)} * {self.express.value(REAL, inner, 1)}"
        body = [f"{name} {self.pick('+=', '-=')} {added}"]
        scope.names[name] = kind
        return [f"{name} = {start}", f"for {counter} in range({bounds}):", *_indented(body)]

    def while_loop(self, scope: Scope) -> list[str]:
        """A loop that counts to a few by itself, and may stop before."""
        kind = self.pick(*INTEGERS)
        name = self.fresh("n")
        inner = scope.inner(loops=scope.loops + 1, leaves="while")
        inner.names[name] = kind
        inner.fixed.add(name)
        start = f"{self.express.value(kind, scope, 1)} & {self.pick('1', '3', '5')}"
        test = (
            f"{name} > 0"
            if self.chance(0.6)
            else f"{name} > 0 and {self.express.value(BOOL, inner, 2)}"
        )
        return [
            f"{name} = {start}",
            f"while {test}:",
            *_indented([f"{name} -= 1", *self.block(inner, 2)]),
        ]

    def leave(self, scope: Scope) -> list[str]:
        test = self.express.value(BOOL, scope, 2)
        return [f"if {test}:", *_indented([self.pick("break", "continue")])]

    def nested_function(self, scope: Scope) -> list[str]:
        """A function inside, which sees the names around it."""
        name, kind = self.fresh("g"), self.pick(REAL, REAL, INDEX, BOOL)
        inner = scope.inner(returns=None, leaves="")
        inner.names["q0"] = kind
        text = self.express.value(kind, inner, 2)
        target = self.fresh("v")
        argument = self.express.value(kind, scope, 1)
        scope.names[target] = kind
        if self.chance(0.5):
            return [f"{name} = lambda q0: {text}", f"{target} = {name}({argument})"]
        return [f"def {name}(q0):", f"    return {text}", f"{target} = {name}({argument})"]

    def early_return(self, scope: Scope) -> list[str]:
        assert scope.returns is not None
        test = self.express.value(BOOL, scope, 2)
        return [f"if {test}:", *_indented([self.returned(scope, scope.returns)])]

    def returned(self, scope: Scope, kinds: Sequence[str]) -> str:
        """A `return` of numbers of these kinds; an integer may be returned where a float is due."""
        if not kinds:
            return "return"
        values = [self.express.value(kind, scope, 2) for kind in kinds]
        return f"return {', '.join(values)}"

    # -- functions -------------------------------------------------------------------------------

    def helper(self, scope: Scope) -> list[str]:
        """A function of the module; `scope` holds the constants of the module."""
        takes = tuple(self.pick(REAL, REAL, *KINDS) for _ in range(self.random.randint(1, 3)))
        gives = tuple(self.pick(REAL, REAL, *KINDS) for _ in range(self.random.choice((1, 1, 2))))
        optional = len(takes) > 1 and takes[-1] == REAL and self.chance(0.4)
        # A float argument may be known: then it may not be divided by, nor be all a value is made
        # of, and every helper has something it can stand on.
        inner = scope.inner(returns=gives)
        parameters: list[str] = []
        body: list[str] = []
        for place, kind in enumerate(takes):
            default = (
                f"={self.pick('2.0', '0.5', '-3.0')}"
                if optional and place == len(takes) - 1
                else ""
            )
            parameters.append(f"q{place}{default}")
            inner.names[f"q{place}"] = KNOWN if kind == REAL else kind
            inner.fixed.add(f"q{place}")
        if not any(kind != REAL for kind in takes):
            body.append("r0 = hawk.real(q0)")
            inner.names["r0"] = REAL
        self.room = self.random.randint(1, 4)
        body += self.block(inner, 3)
        body.append(self.returned(inner, gives))
        name = self.fresh("h")
        self.express.helpers.append(Helper(name, takes, gives, optional))
        return [f"def {name}({', '.join(parameters)}):", *_indented(body)]

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
        for _ in range(self.random.randint(0, 2)):
            text += ["", *self.helper(module)]
        scope = module.inner()
        self.planes(scope)
        # Mostly the outputs are what the body computes, so that little of it is in vain.
        outputs: list[str] | None = None
        if self.chance(0.25):
            outputs = [self.pick(REAL, *KINDS) for _ in range(self.random.choice((0, 1, 1, 2)))]
        if not any(name[0] == "s" for name, _ in self.parameters) and not outputs:
            outputs = None
        stops = self.chance(0.75)
        if stops:
            self.parameters.append(("terminated", "Terminated"))
            scope.names["terminated"] = BOOL
        captured: dict[str, str] = {}
        for kind, numbers in ((KNOWN, FLOATS), (COUNT, ("0", "2", "3")), (FLAG, ("True", "False"))):
            if self.chance(0.25):
                name = self.fresh("C")
                captured[name] = self.pick(*numbers)
                scope.names[name] = kind
                scope.fixed.add(name)
        body, outputs = self.body(scope, outputs, stops=stops)
        kernel = self.kernel(body, outputs)
        if captured:
            kernel = [
                f"def make({', '.join(captured)}):",
                *_indented([*kernel, "return kernel"]),
                "",
                f"kernel = make({', '.join(captured.values())})",
            ]
        return Program(seed, _tidy("\n".join([*text, "", *kernel])), self.wide)

    def body(
        self, scope: Scope, outputs: list[str] | None, *, stops: bool
    ) -> tuple[list[str], list[str]]:
        """The statements of the kernel, and what it returns; None: what it has computed."""
        if outputs is not None and self.chance(0.6):
            scope.returns = outputs
        self.room = self.random.randint(3, 12)
        early = stops and self.chance(0.4)
        late = stops and not early and self.chance(0.8)
        body = self.stop(scope) if early else []
        while self.room > 0:
            body += self.statement(scope)
        if late:
            body += self.stop(scope)
        elif stops and not early:
            body.append("terminated |= False")  # a mask that nothing assigns to is refused
        if outputs is None:
            for _ in range(self.random.randint(3, 6)):
                body += self.local(scope)
            names = [name for name in scope.names if name[0] == "v"][-8:]
            if not names:
                names = [name for name, kind in scope.names.items() if kind in KINDS][-1:]
            outputs = [scope.names[name] for name in names]
            body.append(f"return {', '.join(names)}")
        elif outputs:
            body.append(self.returned(scope, outputs))
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
                return [f"if {self.express.value(BOOL, scope, 1)}:", *_indented(inner)]
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
        floats = [row for row in self.parameters if row[1] in ("Scalar", "Mutable[Scalar]")]
        if not self.wide and not floats:
            options.append('dtype="float32"')  # no array says it
        if self.chance(0.1):
            options.append("contract=False")
        decorator = f"@hawk.kernel({', '.join(options)})" if options else "@hawk.kernel"
        gives = ""
        if outputs:
            several = f"tuple[{', '.join(outputs)}]"
            gives = f" -> {outputs[0] if len(outputs) == 1 else several}"
        signature = ", ".join(f"{name}: {annotation}" for name, annotation in self.parameters)
        return [decorator, f"def kernel({signature}){gives}:", *_indented(body or ["pass"])]


def _annotation(prefix: str, kind: str) -> str:
    if prefix == "a":
        return kind
    if prefix == "p":
        return "Param" if kind == REAL else f"Param[{kind}]"
    return f"Mutable[{kind}]"


def _indented(lines: Sequence[str]) -> list[str]:
    return ["    " + line for line in lines]


def _tidy(text: str) -> str:
    """The text without needless brackets, as Python writes it."""
    return ast.unparse(ast.parse(text)) + "\n"
