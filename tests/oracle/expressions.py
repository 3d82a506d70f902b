"""Write random expressions that the language accepts.

The writer knows the type of every expression it writes. Known numbers (literals, captured
constants) are kept apart from numbers of the program: what is known runs as Python while a kernel
is traced, where `1 // 0` raises and nothing wraps.
"""

from __future__ import annotations

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
ELEMENTARY = (
    "math.exp", "math.exp2", "np.expm1", "math.log", "np.log2", "math.log10", "math.log1p",
    "math.sin", "np.cos", "math.tan", "np.arcsin", "math.acos", "math.atan", "math.sinh",
    "np.cosh", "math.tanh", "np.arcsinh", "math.acosh", "np.arctanh", "np.cbrt", "math.erf",
    "math.erfc", "math.gamma", "math.lgamma", "hawk.math.rsqrt", "hawk.math.round",
    "hawk.math.sign",
)  # fmt: skip
ELEMENTARY_OF_TWO = (
    "math.pow", "math.atan2", "np.hypot", "hawk.math.fdim", "hawk.math.remainder",
    "hawk.math.minimum", "hawk.math.maximum",
)  # fmt: skip
WHOLE = {
    INDEX: (0, 1, 2, 3, 7, -1, -5, 2**53 + 1, 2**63 - 1, -(2**63), 2**31, 4, 8),
    INT32: (0, 1, 2, 3, 7, -1, -5, 2**31 - 1, -(2**31), 65535, 4, 8),
    UINT32: (0, 1, 2, 3, 7, 2**32 - 1, 2**31, 65535, 4, 8),
}
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


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
    leaves: bool = False
    """May `break` and `continue` stand here?"""
    functions: list[Helper] = field(default_factory=list["Helper"])
    """Functions of this scope that may be called."""

    def inner(self, **changes: object) -> Scope:
        """The scope of a nested block: what is bound there is unknown outside."""
        kept = {
            "level": self.level + 1,
            "loops": self.loops,
            "returns": self.returns,
            "leaves": self.leaves,
            "functions": list(self.functions),
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
    optional: bool = False
    """Does the last parameter have a default?"""
    by_name: bool = False
    """Is the last parameter given by name only?"""
    typed: bool = False
    """Must arguments be numbers of the program?"""


class Expressions:
    """Writes expressions for a program of float64 (`wide`) or float32."""

    def __init__(self, random: Random, *, wide: bool, placed: bool = False) -> None:
        self.random, self.wide, self.placed = random, wide, placed
        self.helpers: list[Helper] = []
        """Functions that may be called."""
        self.tables: dict[str, tuple[str, int]] = {}
        """Kind and dimensions of the kernel's tables."""
        self.grids: dict[str, str] = {}
        """Kind of the kernel's grids that are only read."""
        self.axes: tuple[str, ...] = ()
        """The dimensions of the grid."""

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def pick(self, *options: str) -> str:
        return self.random.choice(options)

    def weighted(self, *options: tuple[float, Callable[[], str]]) -> str:
        """The text that one of the writers gives, each as likely as its weight says."""
        weights = [weight for weight, _ in options]
        return self.random.choices(options, weights)[0][1]()

    # -- expressions: numbers of the program -----------------------------------------------------

    def value(self, kind: str, scope: Scope, depth: int) -> str:
        """An expression of `kind` that is not known while tracing."""
        if depth <= 0:
            return self.variable(kind, scope)
        if self.placed and self.chance(0.2):
            return self.place(kind, scope, depth - 1)
        if self.grids and self.chance(0.2):
            return self.of_other(kind, scope, depth - 1)
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
            # What was bound last is read most: then little of a program is in vain.
            return self.pick(*(names[-2:] if self.chance(0.5) else names))
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
        """A conditional expression.

        Neither side is an integer literal: CPython, which sees one side only, could not know the
        type that the other one gives it.
        """
        first, second = self.value(kind, scope, depth), self.value(kind, scope, depth)
        if self.chance(0.3):
            literal = "True" if kind == BOOL else str(self.random.choice(WHOLE.get(kind, (0,))))
            first = self.pick(*FLOATS) if kind == REAL else CONVERT[kind].format(literal)
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
        every = (*self.helpers, *scope.functions, *scope.functions)
        fitting = [helper for helper in every if helper.gives == (kind,)]
        if not fitting:
            return self.variable(kind, scope)
        return self.call(self.random.choice(fitting), scope, depth)

    def call(self, helper: Helper, scope: Scope, depth: int) -> str:
        args = [self.argument(helper, kind, scope, depth) for kind in helper.takes]
        most = len(args)
        if helper.by_name:
            most -= 1
        if helper.optional and self.chance(0.5):
            args.pop()
        named = self.random.randint(0, min(most, len(args)))
        if helper in scope.functions:
            named = len(args)
        by_name = [f"q{place}={arg}" for place, arg in enumerate(args)][named:]
        self.random.shuffle(by_name)
        return f"{helper.name}({', '.join([*args[:named], *by_name])})"

    def argument(self, helper: Helper, kind: str, scope: Scope, depth: int) -> str:
        if kind == COUNT:
            return self.pick("0", "1", "2", "3", *scope.of(COUNT))
        if kind == REAL and not helper.typed:
            return self.operand(kind, scope, depth)
        return self.value(kind, scope, depth)

    # -- where a sample is -----------------------------------------------------------------------

    def place(self, kind: str, scope: Scope, depth: int) -> str:
        """What depends on the sample's index or on its step; random numbers; elements of tables."""
        tables = [name for name, (held, _) in self.tables.items() if held == kind]
        if tables and self.chance(0.6):
            return self.element(self.pick(*tables), scope, depth)
        if kind in (REAL, BOOL, INDEX) and self.chance(0.3):
            return self.random_number(kind, scope, depth)
        index = self.pick("hawk.sample_index()", "hawk.step_index()")
        return index if kind == INDEX else CONVERT[kind].format(index)

    def element(self, name: str, scope: Scope, depth: int) -> str:
        """An element of a table, at any index or at one that is there."""
        indices = [
            self.pick("0", "1", "hawk.sample_index()", self.whole(kind, scope, max(depth, 1)))
            for kind in self.random.choices(INTEGERS, k=self.tables[name][1])
        ]
        if self.tables[name][1] == 2 and self.chance(0.4):
            return f"{name}.at(c={indices[1]}, r={indices[0]})"
        if self.chance(0.1):
            return f"{name}[{', '.join(indices)}]".replace("[0", f"[len({name}) - 1")
        return f"{name}[{', '.join(indices)}]"

    def of_other(self, kind: str, scope: Scope, depth: int) -> str:
        """The number that another sample of a grid has, or where this one is."""
        grids = [name for name, held in self.grids.items() if held == kind]
        if kind == INDEX and self.chance(0.3):
            axis = self.pick(*self.axes)
            return self.pick(f"hawk.sample_index('{axis}')", f"hawk.n_samples('{axis}')")
        if not grids:
            return self.variable(kind, scope)
        name = self.pick(*grids)
        edge = self.pick("", "", ", edge='wrap'", ", edge='clamp'")
        if self.chance(0.6):
            some = self.random.sample(self.axes, self.random.randint(1, len(self.axes)))
            offsets = ", ".join(f"{axis}={self.offset(scope, depth)}" for axis in some)
            return f"{name}.neighbor({offsets}{edge})"
        if self.chance(0.4):
            return f"{name}[{self.placed_index('', scope, depth)}]"
        indices = [self.placed_index(axis, scope, depth) for axis in self.axes]
        if self.chance(0.3):
            return f"{name}[{', '.join(indices)}]"
        pairs = [f"{axis}={index}" for axis, index in zip(self.axes, indices, strict=True)]
        self.random.shuffle(pairs)
        return f"{name}.at({', '.join(pairs)}{edge})"

    def offset(self, scope: Scope, depth: int) -> str:
        known = self.pick("1", "-1", "1", "-1", "+2", "-3", "0", "1000", "-2**40", "2**62")
        return known if self.chance(0.7) else self.whole(self.pick(*INTEGERS), scope, max(depth, 1))

    def placed_index(self, axis: str, scope: Scope, depth: int) -> str:
        """An index along a dimension, or in the order of the samples."""
        of = f"'{axis}'" if axis else ""
        near = self.pick(" + 1", " - 1", "", " - 2", " + 40", f" * 2 - hawk.n_samples({of})")
        if self.chance(0.6):
            return f"hawk.sample_index({of}){near}"
        # One that turns out to be known, and to be none of the places, would be refused.
        whole = self.whole(self.pick(*INTEGERS), scope, max(depth, 1))
        return self.pick("0", f"hawk.index({whole}) + 0 * hawk.sample_index()")

    def random_number(self, kind: str, scope: Scope, depth: int) -> str:
        """A number that is drawn, or interpolated between the knots of tables."""
        seed = self.pick("0", "-7", "2**40", self.value(INDEX, scope, 0))
        draw = self.pick("3", "hawk.step_index()", self.value(INT32, scope, depth))
        if kind == BOOL:
            return f"hawk.math.random.bernoulli({seed}, {draw}, p={self.value(REAL, scope, depth)})"
        if kind == INDEX:
            high = self.pick("10", "2**33", self.value(INDEX, scope, depth))
            return f"hawk.math.random.integers({seed}, {draw}, low=-2, high={high})"
        if self.tables and self.chance(0.5):
            kinds = self.pick("linear", "cubic")
            x = self.value(REAL, scope, depth)
            return f"hawk.math.interp({x}, knots, values, kind='{kinds}')"
        name = self.pick("uniform", "normal", "exponential", "lognormal")
        return f"hawk.math.random.{name}({seed}, {draw})"

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
            (0.5, lambda: f"pow({value()}, {self.pick('2', '3', '-2')})"),
            (0.7, lambda: self.two(value(), self.pick("//", "%"), operand(), swap=False)),
            (0.3, lambda: self.two(operand(), self.pick("//", "%"), value(), swap=False)),
            (0.3, lambda: f"round({value()}, {self.pick('0', '1', '2')})"),
            (0.5, lambda: f"sum(({value()}, {operand()}, {whole()}))"),
            (3, lambda: self.library(scope, depth)),
            (0.4, lambda: self.elementary(scope, depth)),
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

    def elementary(self, scope: Scope, depth: int) -> str:
        """A function of `hawk.math`, by one of its names."""
        first, second = self.value(REAL, scope, depth), self.operand(REAL, scope, depth)
        if self.chance(0.25):
            return f"{self.pick(*ELEMENTARY_OF_TWO)}({first}, {second})"
        if self.chance(0.1):
            return f"({first} ** {self.variable(REAL, scope)})"
        if self.chance(0.1):
            return f"hawk.math.clip({first}, {second}, {self.value(REAL, scope, depth)})"
        if self.chance(0.1):
            return f"hawk.math.sincos({first})[{self.pick('0', '1')}]"
        return f"{self.pick(*ELEMENTARY)}({first})"

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
            "a * b + c * d + a", "-(a * b) + c", "-a * b - c", "(a + b * c) * d - b",
            "a * b * c + d",
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
            (0.7, lambda: f"({value()} ** {self.pick('2', '3', '0', '5')})"),
            (0.3, lambda: f"pow({value()}, {self.pick('2', '3')})"),
            (0.5, lambda: f"sum(({value()}, {operand()}, {value()}))"),
            (0.5, lambda: f"int.bit_count({value()})"),
            (0.5, lambda: f"divmod({value()}, {value()})[{self.pick('0', '1', '-1')}]"),
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
            (1, lambda: f"(not {self.value(self.pick(BOOL, *KINDS), scope, depth)})"),
            (1, lambda: self.two(value(), self.pick("==", "!=", "<", ">="), value())),
            (1, lambda: self.two(value(), self.pick("&", "|", "^"), value())),
            (1, lambda: self.ternary(BOOL, scope, depth)),
            (1, lambda: f"bool({self.value(self.pick(*KINDS), scope, depth)})"),
            (1, lambda: self.question(scope, depth)),
            (0.5, lambda: f"{self.pick('any', 'all')}(({value()}, {value()}))"),
            (1, lambda: self.called(BOOL, scope, depth)),
            (1, lambda: self.variable(BOOL, scope)),
        )

    def question(self, scope: Scope, depth: int) -> str:
        """A test that is no comparison."""
        if self.chance(0.3):
            kind, word = self.pick(*INTEGERS), self.pick("in", "not in")
            value = self.value(kind, scope, depth)
            if self.chance(0.5):
                return f"(({value} & 3) {word} {self.pick('(0, 1)', '(1, 2, 3)', '(3, 0)')})"
            numbers = [str(number) for number in self.random.sample(WHOLE[kind], 2)]
            return f"({value} {word} ({', '.join(numbers)}))"
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


def _spaced(form: str) -> list[str]:
    """The letters of a form, words such as `if` kept whole."""
    parts: list[str] = []
    for word in form.replace("(", "( ").replace(")", " )").replace("-a", "- a").split():
        parts += [word, " "]
    return parts
