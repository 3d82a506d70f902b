"""Write random kernels: the text of a module that defines `kernel`, accepted by the language.

The writer knows the type of every expression it writes, so that no program is refused. Known
numbers (literals, captured constants) are kept apart from numbers of the program: what is known
runs as Python while a kernel is traced, where `1 // 0` raises and nothing wraps.

Above 400 lines because it is the grammar: one method for each kind of expression and statement.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

REAL, INDEX, INT32, UINT32, BOOL = "Scalar", "Index", "Int32", "UInt32", "Bool"
KNOWN = "known"
"""A float known while the kernel is traced: a literal, a captured constant."""

COUNT, FLAG = "count", "flag"
"""A small integer and a bool known while the kernel is traced: captured constants."""

INTEGERS = (INDEX, INT32, UINT32)
KINDS = (REAL, *INTEGERS, BOOL)
CONVERT = {
    REAL: "float({})",
    INDEX: "int({})",
    INT32: "hawk.int32({})",
    UINT32: "hawk.uint32({})",
    BOOL: "bool({})",
}

FLOATS = (
    "0.0",
    "0.0",
    "-0.0",
    "-0.0",
    "0.1",
    "0.5",
    "1.0",
    "-1.0",
    "2.0",
    "3.0",
    "1e-3",
    "1e30",
    "5e-324",
    "4.0",
)
WIDE_FLOATS = ("1e300", "2.2250738585072014e-308")
WHOLE = {
    INDEX: (0, 1, 2, 3, 7, -1, -5, 2**53 + 1, 2**63 - 1, -(2**63), 2**31, 4, 8),
    INT32: (0, 1, 2, 3, 7, -1, -5, 2**31 - 1, -(2**31), 65535, 4, 8),
    UINT32: (0, 1, 2, 3, 7, 2**32 - 1, 2**31, 65535, 4, 8),
}
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")

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


@dataclass
class Scope:
    """The names that can be read where the writer stands, and what may be done there."""

    names: dict[str, str] = field(default_factory=dict)
    """Kind by name."""
    fixed: set[str] = field(default_factory=set)
    """Names that are not assigned to."""
    level: int = 0
    """How many blocks it is in."""
    loops: int = 0
    returns: Sequence[str] | None = None
    """What an early `return` here must give; None where there is no `return`."""
    leaves: str = ""
    """`break` and `continue` where they may stand."""

    def inner(self, **changes: object) -> Scope:
        """The scope of a nested block: what is bound there is unknown outside."""
        kept = {
            "level": self.level + 1,
            "loops": self.loops,
            "returns": self.returns,
            "leaves": self.leaves,
        }
        return Scope(dict(self.names), set(self.fixed), **{**kept, **changes})

    def of(self, kind: str) -> list[str]:
        return [name for name, each in self.names.items() if each == kind]


@dataclass(frozen=True)
class Helper:
    """A function that expressions may call."""

    name: str
    takes: tuple[str, ...]
    gives: tuple[str, ...]
    optional: bool
    """Does the last parameter have a default?"""


def write(seed: int) -> Program:
    """The program of `seed`; the same one each time."""
    return Writer(Random(f"program {seed}")).program(seed)


class Writer:
    """Writes one program."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.count = 0
        self.helpers: list[Helper] = []
        self.wide = random.random() < 0.6
        self.parameters: list[tuple[str, str]] = []
        """Name and annotation of each parameter of the kernel."""
        self.room = 0
        """Statements left to write."""

    # -- chance ----------------------------------------------------------------------------------

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def pick(self, *options: str) -> str:
        return self.random.choice(options)

    def weighted(self, *options: tuple[float, Callable[[], str]]) -> str:
        """The text that one of the writers gives, each as likely as its weight says."""
        weights = [weight for weight, _ in options]
        return self.random.choices(options, weights)[0][1]()

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    # -- expressions: numbers of the program -----------------------------------------------------

    def value(self, kind: str, scope: Scope, depth: int) -> str:
        """An expression of `kind` that is not known while tracing."""
        if depth <= 0:
            return self.variable(kind, scope)
        if kind == REAL:
            return self.real(scope, depth - 1)
        return self.truth(scope, depth - 1) if kind == BOOL else self.whole(kind, scope, depth - 1)

    def operand(self, kind: str, scope: Scope, depth: int) -> str:
        """An expression of `kind`, or something known that becomes one: a literal, a constant."""
        if self.chance(0.3):
            if kind == REAL:
                return self.known(scope)
            if kind == BOOL:
                return self.pick("True", "False")
            return str(self.random.choice(WHOLE[kind]))
        return self.value(kind, scope, depth)

    def known(self, scope: Scope) -> str:
        """A known float, or a known integer where a float is due."""
        names = scope.of(KNOWN)
        if names and self.chance(0.5):
            return self.pick(*names)
        if self.chance(0.2):
            return self.pick("0", "1", "2", "3", "-1")
        return self.pick(*FLOATS, *(WIDE_FLOATS if self.wide else ()))

    def variable(self, kind: str, scope: Scope) -> str:
        names = scope.of(kind)
        if names:
            return self.pick(*names)
        for other in self.random.sample(KINDS, len(KINDS)):
            names = scope.of(other)
            if names:
                return CONVERT[kind].format(self.pick(*names))
        raise AssertionError("a scope holds at least one number of the program")

    def two(self, left: str, operation: str, right: str, *, swap: bool = True) -> str:
        if swap and self.chance(0.5):
            left, right = right, left
        return f"({left} {operation} {right})"

    def ternary(self, kind: str, scope: Scope, depth: int) -> str:
        first, second = self.value(kind, scope, depth), self.operand(kind, scope, depth)
        if self.chance(0.5):
            first, second = second, first
        return f"({first} if {self.value(BOOL, scope, depth)} else {second})"

    def extreme(self, kind: str, scope: Scope, depth: int) -> str:
        parts = [self.value(kind, scope, depth), self.operand(kind, scope, depth)]
        if self.chance(0.2):
            parts.append(self.operand(kind, scope, depth))
        self.random.shuffle(parts)
        return f"{self.pick('min', 'max')}({', '.join(parts)})"

    def called(self, kind: str, scope: Scope, depth: int) -> str:
        """A call of a helper that gives one number of `kind`; another expression if none does."""
        fitting = [helper for helper in self.helpers if helper.gives == (kind,)]
        if not fitting:
            return self.variable(kind, scope)
        return self.call(self.random.choice(fitting), scope, depth)

    def call(self, helper: Helper, scope: Scope, depth: int) -> str:
        args = [
            self.operand(kind, scope, depth) if kind == REAL else self.value(kind, scope, depth)
            for kind in helper.takes
        ]
        if helper.optional and self.chance(0.5):
            args.pop()
        named = self.random.randint(0, len(args))
        by_name = [f"q{place}={arg}" for place, arg in enumerate(args)][named:]
        self.random.shuffle(by_name)
        return f"{helper.name}({', '.join([*args[:named], *by_name])})"

    # -- floats ----------------------------------------------------------------------------------

    def real(self, scope: Scope, depth: int) -> str:
        def value() -> str:
            return self.value(REAL, scope, depth)

        def operand() -> str:
            return self.operand(REAL, scope, depth)

        def whole() -> str:
            return self.value(self.pick(*INTEGERS), scope, depth)

        return self.weighted(
            (6, lambda: self.two(value(), self.pick("+", "-", "*"), operand())),
            (2, lambda: self.two(operand(), "/", value(), swap=False)),
            (1, lambda: self.two(value(), "/", self.pick("2.0", "3", "0.1", "-4.0"), swap=False)),
            (6, lambda: self.contraction(scope, depth)),
            (1, lambda: f"(-{value()})"),
            (1, lambda: f"abs({value()})"),
            (2, lambda: self.extreme(REAL, scope, depth)),
            (2, lambda: self.ternary(REAL, scope, depth)),
            (1, lambda: self.two(whole(), self.pick("+", "-", "*", "/"), value())),
            (0.5, lambda: self.division(scope, depth)),
            (0.5, lambda: self.two(value(), "*", self.value(BOOL, scope, depth))),
            (1, lambda: f"{self.pick('float', 'hawk.real')}({whole()})"),
            (0.5, lambda: self.wider(scope, depth)),
            (0.5, lambda: f"({value()} ** {self.pick('2', '3', '-1', '4', '0', '7')})"),
            (3, lambda: self.library(scope, depth)),
            (2, lambda: self.called(REAL, scope, depth)),
            (2, lambda: self.variable(REAL, scope)),
        )

    def library(self, scope: Scope, depth: int) -> str:
        """A function of `math` or NumPy that gives a float."""
        one = self.pick(
            "math.sqrt", "math.fabs", "np.sqrt", "np.floor", "np.ceil", "np.trunc", "np.rint",
            "np.absolute", "np.square",
        )  # fmt: skip
        two = self.pick(
            "np.minimum", "np.maximum", "np.fmin", "np.fmax", "np.copysign", "math.copysign"
        )
        first, second = self.value(REAL, scope, depth), self.operand(REAL, scope, depth)
        return self.pick(
            f"{one}({first})",
            f"{two}({first}, {second})",
            f"{two}({second}, {first})",
            f"np.where({self.value(BOOL, scope, depth)}, {first}, {second})",
            f"np.clip({first}, {self.value(REAL, scope, depth)}, {second})",
        )

    def division(self, scope: Scope, depth: int) -> str:
        """`/` of two integers of one type, which gives a float."""
        kind = self.pick(*INTEGERS)
        return self.two(
            self.operand(kind, scope, depth), "/", self.value(kind, scope, depth), swap=False
        )

    def contraction(self, scope: Scope, depth: int) -> str:
        """Products in sums: what means one fused multiply-add, and what only looks like it."""
        form = self.pick(
            "a * b + c", "c + a * b", "a * b - c", "c - a * b", "a * a + b * b", "a * b - c * d",
            "a * b + c * d + a", "-(a * b) + c", "-a * b - c", "(a + b * c) * d - b", "a * b * c + d",
            "a - b * c - d", "a / b * c + d", "a * (b - c) + b * d", "a * b + (c if t else d)",
            "+(a * b) + c", "(a * b if t else c) + d", "a * b + c * (b * d + c)", "w * a + b",
            "a * b + w", "a * b + k", "a * k - b",
        )  # fmt: skip
        words = {name: self.value(REAL, scope, depth - 1) for name in "abcd"}
        words["t"] = self.value(BOOL, scope, depth - 1)
        words["w"] = self.value(self.pick(*INTEGERS, BOOL), scope, depth - 1)
        words["k"] = self.known(scope)
        return f"({''.join(words.get(letter, letter) for letter in _spaced(form))})"

    def wider(self, scope: Scope, depth: int) -> str:
        """A sum or product in float64, whatever the kernel's width is."""
        left, right = self.value(REAL, scope, depth), self.value(REAL, scope, depth)
        wide = f"hawk.float64({left}) {self.pick('+', '*', '-')} {right}"
        return f"hawk.real({wide})" if self.chance(0.5) else f"hawk.real(hawk.float32({wide}))"

    # -- integers --------------------------------------------------------------------------------

    def whole(self, kind: str, scope: Scope, depth: int) -> str:
        def value() -> str:
            return self.value(kind, scope, depth)

        def operand() -> str:
            return self.operand(kind, scope, depth)

        divisors = [str(number) for number in WHOLE[kind] if number]
        if kind == UINT32:
            amounts = ("1", "5", "31", "32", "40")
        else:
            amounts = ("1", "5", "31", "32", "63", "64", "-1")
        return self.weighted(
            (6, lambda: self.two(value(), self.pick("+", "-", "*"), operand())),
            (2, lambda: self.two(operand(), self.pick("//", "%"), value(), swap=False)),
            (1, lambda: self.two(value(), self.pick("//", "%"), self.pick(*divisors), swap=False)),
            (2, lambda: self.two(value(), self.pick("&", "|", "^"), operand())),
            (1, lambda: self.two(value(), self.pick("<<", ">>"), self.pick(*amounts), swap=False)),
            (1, lambda: self.two(operand(), self.pick("<<", ">>"), value(), swap=False)),
            (1, lambda: f"({value()} {self.pick('<<', '>>')} ({value()} & 31))"),
            (1, lambda: f"({self.pick('-', '~')}{value()})"),
            (1, lambda: f"abs({value()})"),
            (1, lambda: self.extreme(kind, scope, depth)),
            (1, lambda: self.ternary(kind, scope, depth)),
            (2, lambda: self.converted(kind, scope, depth)),
            (0.5, lambda: self.two(value(), self.pick("+", "*"), self.value(BOOL, scope, depth))),
            (2, lambda: self.called(kind, scope, depth)),
            (2, lambda: self.variable(kind, scope)),
        )

    def converted(self, kind: str, scope: Scope, depth: int) -> str:
        convert = CONVERT[kind]
        if kind == INDEX and self.chance(0.5):
            convert = self.pick("hawk.index({})", "np.int64({})")
        if kind == INDEX and self.chance(0.3):
            rounding = self.pick("math.floor", "math.ceil", "math.trunc", "round")
            return f"{rounding}({self.value(REAL, scope, depth)})"
        return convert.format(self.value(self.pick(*KINDS), scope, depth))

    # -- bools -----------------------------------------------------------------------------------

    def truth(self, scope: Scope, depth: int) -> str:
        def value() -> str:
            return self.value(BOOL, scope, depth)

        return self.weighted(
            (8, lambda: self.comparison(scope, depth)),
            (
                2,
                lambda: self.two(value(), self.pick("and", "or"), self.operand(BOOL, scope, depth)),
            ),
            (1, lambda: f"(not {value()})"),
            (1, lambda: self.two(value(), self.pick("==", "!=", "<", ">="), value())),
            (1, lambda: self.two(value(), self.pick("&", "|", "^"), value())),
            (1, lambda: self.ternary(BOOL, scope, depth)),
            (1, lambda: f"bool({self.value(self.pick(*KINDS), scope, depth)})"),
            (1, lambda: self.question(scope, depth)),
            (1, lambda: self.called(BOOL, scope, depth)),
            (1, lambda: self.variable(BOOL, scope)),
        )

    def question(self, scope: Scope, depth: int) -> str:
        """A test that is no comparison."""
        if self.chance(0.3):
            kind = self.pick(*INTEGERS)
            numbers = [str(number) for number in self.random.sample(WHOLE[kind], 2)]
            word = self.pick("in", "not in")
            return f"({self.value(kind, scope, depth)} {word} ({', '.join(numbers)}))"
        test = self.pick("math.isnan", "math.isinf", "math.isfinite", "np.isnan", "np.isfinite")
        return f"{test}({self.value(REAL, scope, depth)})"

    def comparison(self, scope: Scope, depth: int) -> str:
        kind = self.pick(REAL, REAL, *INTEGERS)
        parts = [self.value(kind, scope, depth), self.operand(kind, scope, depth)]
        if self.chance(0.25):
            # In a chain each link needs a number of the program: two known ones are compared now.
            parts.append(self.value(kind, scope, depth))
        elif kind == REAL and self.chance(0.15):
            parts[1] = self.value(self.pick(*INTEGERS), scope, depth)
        if len(parts) == 2:
            self.random.shuffle(parts)
        text = parts[0]
        for part in parts[1:]:
            text += f" {self.pick(*COMPARISONS)} {part}"
        return f"({text})"

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
        text = self.value(kind, scope, self.depth())
        name = self.fresh("v")
        scope.names[name] = kind
        return [f"{name} = {text}"]

    def known_local(self, scope: Scope) -> list[str]:
        text = self.known(scope)
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
        return [f"{name} = {self.value(scope.names[name], scope, self.depth())}"]

    def augmented(self, scope: Scope) -> list[str]:
        names = self.targets(scope)
        if not names:
            return self.local(scope)
        name = self.pick(*names)
        kind = scope.names[name]
        if kind == BOOL:
            return [f"{name} {self.pick('&=', '|=', '^=')} {self.value(BOOL, scope, 2)}"]
        if kind == REAL:
            operation = self.pick("+=", "-=", "+=", "-=", "*=", "/=")
            product = f"{self.value(REAL, scope, 1)} * {self.operand(REAL, scope, 1)}"
            text = product if self.chance(0.6) else self.operand(REAL, scope, self.depth())
            if operation == "/=":
                text = self.value(REAL, scope, 1)
            return [f"{name} {operation} {text}"]
        operation = self.pick("+=", "-=", "*=", "//=", "%=", "&=", "|=", "^=", "<<=", ">>=")
        return [f"{name} {operation} {self.operand(kind, scope, self.depth())}"]

    def tuple_assignment(self, scope: Scope) -> list[str]:
        names = self.targets(scope)
        pairs = [(a, b) for a in names for b in names if scope.names[a] == scope.names[b] and a < b]
        several = [helper for helper in self.helpers if len(helper.gives) == 2]
        if several and self.chance(0.5):
            helper = self.random.choice(several)
            text = self.call(helper, scope, 1)
            fresh = [self.fresh("v") for _ in helper.gives]
            scope.names.update(zip(fresh, helper.gives, strict=True))
            return [f"{', '.join(fresh)} = {text}"]
        if not pairs:
            return self.local(scope)
        a, b = self.random.choice(pairs)
        if self.chance(0.5):
            return [f"{a}, {b} = {b}, {a}"]
        kind = scope.names[a]
        first, second = (self.value(kind, scope, 2) for _ in "ab")
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
                body += [f"{bound} = {self.value(kind, inner, 1)}"]
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
        return self.value(BOOL, scope, self.depth())

    def bounds(self, scope: Scope) -> str:
        """The arguments of a `range` of a few numbers, known or not."""
        known = scope.of(COUNT)
        if known and self.chance(0.4):
            return self.pick(*known)
        few = self.pick(*INTEGERS)
        value = self.value(few, scope, 1)
        return self.pick(
            "2", "3", "4", "1, 4", "0, 6, 2", "5, 0, -2", "0", f"{value} % 5", f"{value} & 3",
            f"abs({value}) & 7", f"1, 1 + ({value} & 3)", f"{value} & 3, -1, -1", f"min({value} & 7, 3)",
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
        added = self.value(kind, inner, 2)
        if kind == REAL and self.chance(0.5):
            added = f"{self.value(REAL, inner, 1)} * {self.value(REAL, inner, 1)}"
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
        start = f"{self.value(kind, scope, 1)} & {self.pick('1', '3', '5')}"
        test = f"{name} > 0" if self.chance(0.6) else f"{name} > 0 and {self.value(BOOL, inner, 2)}"
        return [
            f"{name} = {start}",
            f"while {test}:",
            *_indented([f"{name} -= 1", *self.block(inner, 2)]),
        ]

    def leave(self, scope: Scope) -> list[str]:
        test = self.value(BOOL, scope, 2)
        return [f"if {test}:", *_indented([self.pick("break", "continue")])]

    def nested_function(self, scope: Scope) -> list[str]:
        """A function inside, which sees the names around it."""
        name, kind = self.fresh("g"), self.pick(REAL, REAL, INDEX, BOOL)
        inner = scope.inner(returns=None, leaves="")
        inner.names["q0"] = kind
        text = self.value(kind, inner, 2)
        target = self.fresh("v")
        argument = self.value(kind, scope, 1)
        scope.names[target] = kind
        if self.chance(0.5):
            return [f"{name} = lambda q0: {text}", f"{target} = {name}({argument})"]
        return [f"def {name}(q0):", f"    return {text}", f"{target} = {name}({argument})"]

    def early_return(self, scope: Scope) -> list[str]:
        assert scope.returns is not None
        test = self.value(BOOL, scope, 2)
        return [f"if {test}:", *_indented([self.returned(scope, scope.returns)])]

    def returned(self, scope: Scope, kinds: Sequence[str]) -> str:
        """A `return` of numbers of these kinds; an integer may be returned where a float is due."""
        if not kinds:
            return "return"
        values = [self.value(kind, scope, 2) for kind in kinds]
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
        self.helpers.append(Helper(name, takes, gives, optional))
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
        name, value = self.pick(*names), self.value(INDEX, scope, 1)
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
                return [f"terminated = {self.value(BOOL, scope, 2)}"]
            case "once" | "never":
                del scope.names["terminated"]  # known from here on
                return [f"terminated = {form == 'once'}"]
            case "if":
                inner = [f"terminated = {self.value(BOOL, scope, 1)}"]
                return [f"if {self.value(BOOL, scope, 1)}:", *_indented(inner)]
            case _:
                return [f"terminated |= {self.value(BOOL, scope, 2)}"]

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
            "t += dt", "t += dt", "t = t + dt", "t = dt + t", "t -= dt", "t = t + dt * 0.5", "t += dt * t_end",
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
            "k >= limit", "k == limit", "k > limit", "limit <= k", "(k & 3) == 1", "k % 5 == 0", "not k < limit",
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


def _spaced(form: str) -> list[str]:
    """The letters of a form, words such as `if` kept whole."""
    parts: list[str] = []
    for word in form.replace("(", "( ").replace(")", " )").replace("-a", "- a").split():
        parts += [word, " "]
    return parts


def _tidy(text: str) -> str:
    """The text without needless brackets, as Python writes it."""
    return ast.unparse(ast.parse(text)) + "\n"
