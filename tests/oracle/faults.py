"""Faults of the frontend to make on purpose, each with the constructs that it is about.

Those of the walk are shared with its own tests; these are about what else a program may hold.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, ValuesView
from dataclasses import dataclass
from typing import Any

import pytest

import hawk
from hawk.frontend import names, walk
from hawk.frontend.calls import Calls
from hawk.frontend.conditions import Conditions
from hawk.frontend.containers import Containers
from hawk.frontend.expressions import Expressions
from hawk.frontend.kernel_domain import KernelDomain
from hawk.frontend.kernel_fork import KernelFork
from hawk.frontend.kernel_numbers import KernelNumbers
from hawk.frontend.leave import Leave
from hawk.frontend.methods import Methods
from hawk.frontend.signature import Signature
from hawk.frontend.structural import Structural
from hawk.frontend.sums import Sums
from hawk.frontend.values import Scalar
from hawk.frontend.walk import Walker
from hawk.ir.types import DType
from tests.unit.frontend.faults import FAULTS as OF_THE_WALK

Make = Callable[[Callable[..., Any]], Callable[..., Any]]
"""From what is right to what is wrong."""


@dataclass(frozen=True)
class Fault:
    """What takes the place of `name` in `owner`, a class, a module or a dict."""

    owner: Any
    name: Any
    make: Make
    about: tuple[str, ...]
    """Constructs; in each of them alone the fault is noticed."""

    def apply(self, patch: pytest.MonkeyPatch) -> None:
        if isinstance(self.owner, dict):
            patch.setitem(self.owner, self.name, self.make(self.owner[self.name]))
        else:
            patch.setattr(self.owner, self.name, self.make(getattr(self.owner, self.name)))


# -- operations and functions ----------------------------------------------------------------------


def emits(*pairs: tuple[str, str]) -> Make:
    """Other operations than are meant."""
    other = dict(pairs)

    def make(right: Any) -> Any:
        return lambda self, op, *values, free=False: right(
            self, other.get(op, op), *values, free=free
        )

    return make


def turned(op: str) -> Make:
    """The operands of an operation in the wrong order."""

    def make(right: Any) -> Any:
        def wrong(self: Any, name: str, *values: Any, free: bool = False) -> Any:
            return right(self, name, *(values[::-1] if name == op else values), free=free)

        return wrong

    return make


def left_out(op: str) -> Make:
    """An operation of one number that gives the number itself."""

    def make(right: Any) -> Any:
        def wrong(self: Any, name: str, *values: Any, free: bool = False) -> Any:
            if name == op and values[0].dtype is not DType.BOOL:
                return values[0]
            return right(self, name, *values, free=free)

        return wrong

    return make


def called_with(change: Callable[..., Any]) -> Make:
    """A function of a library that computes something else."""
    return lambda right: lambda numbers, *args, **options: change(numbers, right, *args, **options)


def first(numbers: Any, right: Any, x: Any, *rest: Any) -> Any:
    return right(numbers, x)


def one_more(numbers: Any, right: Any, *args: Any) -> Any:
    return numbers.binary("+", right(numbers, *args), 1)


def backwards(numbers: Any, right: Any, *args: Any) -> Any:
    return right(numbers, *args)[::-1]


def exponent_of_one_less(right: Any) -> Any:
    return lambda self, base, exponent: right(
        self, base, exponent - 1 if isinstance(exponent, int) and exponent > 1 else exponent
    )


def one_more_as_a_float(right: Any) -> Any:
    """An integer that meets a float is one more."""

    def wrong(self: Any, value: Any, target: Any) -> Any:
        number = isinstance(value, Scalar) and value.dtype.is_int
        if number and isinstance(target, DType) and target.is_float:
            value = self.emit("add", value, self.constant(1, value.dtype))
        return right(self, value, target)

    return wrong


# -- expressions -----------------------------------------------------------------------------------


def evaluates(kind: type[ast.expr], change: Callable[[Any, Any], Any]) -> Make:
    """Another node in the place of one of this kind."""

    def make(right: Any) -> Any:
        def wrong(self: Any, frame: Any, node: Any, name: str = "") -> Any:
            other = change(frame, node) if isinstance(node, kind) else node
            return right(self, frame, ast.copy_location(other, node), name)

        return wrong

    return make


def reads_as_one(dtype: DType) -> Make:
    """What a name of the kernel holds is 1, where it is of this type."""

    def make(right: Any) -> Any:
        def wrong(self: Any, frame: Any, node: Any, name: str = "") -> Any:
            value = right(self, frame, node, name)
            plane = isinstance(node, ast.Name) and frame.depth == 0 and isinstance(value, Scalar)
            if plane and value.dtype is dtype:
                return self.numbers.constant(1, dtype)
            return value

        return wrong

    return make


def binds_always(right: Any) -> Any:
    """Both sides of `and` and `or` run."""

    def wrong(self: Any, frame: Any, left: Any, side: Any, node: Any, *, wanted: bool) -> Any:
        other = self._truth_of(frame, side, node)
        return self.numbers.emit("and" if wanted else "or", left, other)

    return wrong


def without_not(frame: Any, node: ast.UnaryOp) -> ast.expr:
    if not isinstance(node.op, ast.Not):
        return node
    truth = ast.copy_location(ast.Name("bool", ast.Load()), node)
    return ast.Call(truth, [node.operand], [])


def other_way_round(right: Any) -> Any:
    return lambda self, name, a, b: right(self, name, b, a)


def is_is_not(right: Any) -> Any:
    def wrong(self: Any, frame: Any, node: Any, op: Any, *rest: Any) -> Any:
        return right(self, frame, node, ast.IsNot() if isinstance(op, ast.Is) else op, *rest)

    return wrong


def pruned_the_wrong_way(right: Any) -> Any:
    def wrong(self: Any, frame: Any, test: Any, then: Any, orelse: Any, node: Any) -> Any:
        known = isinstance(test, bool) and isinstance(node, (ast.If, ast.pattern))
        return right(self, frame, not test if known else test, then, orelse, node)

    return wrong


def not_recognised(right: Any) -> Any:
    return lambda node, *, always: node


# -- patterns --------------------------------------------------------------------------------------


def without_guards(right: Any) -> Any:
    def wrong(self: Any, frame: Any, node: ast.Match) -> Any:
        cases = [ast.match_case(pattern=each.pattern, body=each.body) for each in node.cases]
        return right(self, frame, ast.copy_location(ast.Match(node.subject, cases), node))

    return wrong


def cases_backwards(right: Any) -> Any:
    def wrong(self: Any, frame: Any, node: ast.Match) -> Any:
        cases = node.cases[::-1]
        return right(self, frame, ast.copy_location(ast.Match(node.subject, cases), node))

    return wrong


def captures_one_more(right: Any) -> Any:
    def wrong(self: Any, frame: Any, value: Any, node: Any) -> Any:
        test, bound = right(self, frame, value, node)
        return test, {name: self.numbers.binary("+", each, 1) for name, each in bound.items()}

    return wrong


def captures_what_is_new(right: Any) -> Any:
    """A name that is there already keeps what it holds."""

    def wrong(self: Any, frame: Any, value: Any, node: Any) -> Any:
        test, bound = right(self, frame, value, node)
        return test, {name: frame.names.get(name, each) for name, each in bound.items()}

    return wrong


def last_part_only(right: Any) -> Any:
    def wrong(self: Any, frame: Any, value: Any, node: Any) -> Any:
        if isinstance(node, ast.MatchSequence):
            anything = [ast.copy_location(ast.MatchAs(), node) for _ in node.patterns[1:]]
            other = ast.MatchSequence([*anything, node.patterns[-1]])
            return right(self, frame, value, ast.copy_location(other, node))
        return right(self, frame, value, node)

    return wrong


# -- loops -----------------------------------------------------------------------------------------


def handed_over_from_the_last(right: Any) -> Any:
    """Where a pass ends in several ways, what the first one found holds for all."""
    return lambda self, flag, name, first, second, where: second


def values_backwards(right: Any) -> Any:
    def wrong(self: Any, frame: Any, node: Any, binders: Any, *rest: Any) -> Any:
        if isinstance(node, ast.For):
            binders = iter(list(binders)[::-1])
        return right(self, frame, node, binders, *rest)

    return wrong


def last_value_left_out(right: Any) -> Any:
    def wrong(self: Any, frame: Any, node: Any, binders: Any, *rest: Any) -> Any:
        if isinstance(node, ast.For):
            binders = iter(list(binders)[:-1])
        return right(self, frame, node, binders, *rest)

    return wrong


def ways_out_forgotten(right: Any) -> Any:
    """In a loop that is written out, who left goes on."""

    def wrong(self: Any, frame: Any, node: Any, *rest: Any) -> Any:
        branch = self.branch

        def forgets(at: Any, test: Any, then: Any, orelse: Any, where: Any) -> Any:
            return branch(at, True if where is node else test, then, orelse, where)

        self.branch = forgets
        try:
            return right(self, frame, node, *rest)
        finally:
            del self.branch

    return wrong


# -- functions -------------------------------------------------------------------------------------


def locals_leak(right: Any) -> Any:
    """What a nested function assigns is assigned around it."""

    def wrong(self: Any, frame: Any) -> Any:
        left = right(self, frame)
        if frame.parent is not None:
            around = frame.parent.names
            around.update({name: each for name, each in frame.names.items() if name in around})
        return left

    return wrong


def defaults_are_one(right: Any) -> Any:
    def wrong(self: Any, source: Any, callee: Any, args: Any, keywords: Any, where: Any) -> Any:
        bound = right(self, source, callee, args, keywords, where)
        declared = source.node.args
        every = [arg.arg for arg in (*declared.args, *declared.kwonlyargs)]
        given = {*every[: len(args)], *keywords}
        return {name: each if name in given else 1.0 for name, each in bound.items()}

    return wrong


def keywords_by_place(right: Any) -> Any:
    """Arguments given by name are taken in the order they are written in."""

    def wrong(self: Any, source: Any, callee: Any, args: Any, keywords: Any, where: Any) -> Any:
        declared = source.node.args
        every = [arg.arg for arg in (*declared.args, *declared.kwonlyargs)]
        rest = [name for name in every if name in keywords]
        turned = dict(zip(rest[::-1], keywords.values(), strict=False))
        return right(self, source, callee, args, turned if len(turned) > 1 else {}, where)

    return wrong


def given_back_the_other_way(right: Any) -> Any:
    """Several planes the other way round, one plane as a number that it never was."""

    def wrong(self: Any, planes: Any) -> Any:
        values = right(self, planes)
        return values[::-1] if isinstance(values, tuple) else 1

    return wrong


def always_joins(right: Any) -> Any:
    return lambda self, outer: outer is not None and isinstance(outer.op, (ast.Add, ast.Sub))


def returned_by_the_first(right: Any) -> Any:
    """Of several values that are returned the first two change places."""

    def wrong(self: Any, frame: Any, node: Any) -> Any:
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
            values = [*node.value.elts[1::-1], *node.value.elts[2:]]
            value = ast.copy_location(ast.Tuple(values, ast.Load()), node.value)
            node = ast.copy_location(ast.Return(value), node)
        return right(self, frame, node)

    return wrong


def states_stay(right: Any) -> Any:
    """What a Mutable holds when a step ends is what it held before."""

    def wrong(self: Any, frame: Any, value: Any, node: Any) -> Any:
        left = right(self, frame, value, node)
        for name in left:
            if name[0] == "s":
                left[name] = self.domain.numbers.constant(0, left[name].dtype)
        return left

    return wrong


# -- statements ------------------------------------------------------------------------------------


def without_annotated(right: Any) -> Any:
    def wrong(self: Any, frame: Any, node: Any) -> Any:
        if isinstance(node, ast.AnnAssign):
            number = ast.copy_location(ast.Constant(1), node.value)  # type: ignore[arg-type]
            node = ast.copy_location(ast.AnnAssign(node.target, node.annotation, number, 1), node)
        return right(self, frame, node)

    return wrong


def first_target_only(right: Any) -> Any:
    def wrong(self: Any, frame: Any, node: Any) -> Any:
        result = right(self, frame, node)
        if isinstance(node, ast.Assign) and len(node.targets) > 1:
            last = node.targets[-1]
            frame.names[last.id] = self.domain.numbers.settle(1)
        return result

    return wrong


def one_after_the_other(right: Any) -> Any:
    """A swap assigns the first target before it reads the second value."""

    def wrong(self: Any, frame: Any, node: Any) -> Any:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
            value = node.value
            if isinstance(value, ast.Tuple) and len(value.elts) == len(node.targets[0].elts):
                for target, each in zip(node.targets[0].elts, value.elts, strict=True):
                    right(self, frame, ast.copy_location(ast.Assign([target], each), node))
                return None
        return right(self, frame, node)

    return wrong


# -- containers ------------------------------------------------------------------------------------


def backwards_sequence(right: Any) -> Any:
    return lambda self, frame, node, *values, **options: right(
        self, frame, node, *values, **options
    )[::-1]


def one_longer(right: Any) -> Any:
    return lambda self, frame, node, value: right(self, frame, node, value) + 1


def all_is_any(right: Any) -> Any:
    return lambda self, frame, node, values: self.any_(frame, node, values)


def appends_nothing(right: Any) -> Any:
    def wrong(self: Any, frame: Any, node: Any, owner: Any, method: str, *rest: Any) -> Any:
        return None if method == "append" else right(self, frame, node, owner, method, *rest)

    return wrong


def changes_nothing(right: Any) -> Any:
    return lambda self, frame, *rest: None


def stores_in_the_first(right: Any) -> Any:
    def wrong(self: Any, frame: Any, target: Any, value: Any) -> None:
        zero = ast.copy_location(ast.Constant(0), target)
        known = isinstance(target.slice, ast.Constant) and isinstance(target.slice.value, str)
        place = target.slice if known else zero
        other = ast.copy_location(ast.Subscript(target.value, place, ast.Store()), target)
        right(self, frame, other, value)

    return wrong


def values_of_a_dict_turned(right: Any) -> Any:
    def wrong(self: Any, frame: Any, node: Any) -> Any:
        made = right(self, frame, node)
        for key, value in zip(list(made), list(made.values())[::-1], strict=True):
            made[key] = value
        return made

    return wrong


def first_one_forgotten(right: Any) -> Any:
    return lambda self, frame, generators, parts: right(self, frame, generators, parts)[1:]


def first_pair_forgotten(right: Any) -> Any:
    return lambda self, frame, node, *values, **options: right(
        self, frame, node, *values, **options
    )[1:]


def elements_backwards(right: Any) -> Any:
    return lambda self, frame, nodes: right(self, frame, nodes)[::-1]


def star_forgets(right: Any) -> Any:
    def wrong(frame: Any, target: Any, parts: Any) -> Any:
        if any(isinstance(each, ast.Starred) for each in target.elts):
            parts = (*parts[:1], *parts[1:][::-1])
            return right(frame, target, (*parts[1:], parts[0]))
        return right(frame, target, parts)

    return wrong


def first_value_left_out(right: Any) -> Any:
    def wrong(self: Any, frame: Any, value: Any, node: Any) -> Any:
        found = right(self, frame, value, node)
        return found[1:] if isinstance(value, ValuesView) else found

    return wrong


def doubled(frame: Any, node: ast.Lambda) -> ast.expr:
    two = ast.copy_location(ast.Constant(2), node.body)
    body = ast.copy_location(ast.BinOp(node.body, ast.Mult(), two), node.body)
    return ast.Lambda(node.args, body)


def whole_slice(frame: Any, node: ast.Slice) -> ast.expr:
    return ast.Slice(None, None, None)


OPERATIONS: Mapping[str, tuple[Make, tuple[str, ...]]] = {
    "a sum is a difference": (emits(("add", "sub")), ("+",)),
    "a difference is turned round": (turned("sub"), ("-",)),
    "a product is a sum": (emits(("mul", "add")), ("*",)),
    "a quotient is turned round": (turned("div"), ("/",)),
    "a floored quotient is a remainder": (emits(("floordiv", "mod")), ("//", "divmod()")),
    "a remainder truncates": (emits(("mod", "fmod")), ("%",)),
    "to the left is to the right": (emits(("shl", "shr")), ("<<",)),
    "to the right is to the left": (emits(("shr", "shl")), (">>",)),
    "bits: and is or": (emits(("and", "or")), ("&", "and")),
    "bits: or is xor": (emits(("or", "xor")), ("|", "or")),
    "bits: xor is and": (emits(("xor", "and")), ("^",)),
    "bits are not turned": (left_out("not"), ("~",)),
    "a sign is forgotten": (left_out("neg"), ("- of one",)),
    "min is max": (emits(("min", "max")), ("min()",)),
    "max is min": (emits(("max", "min")), ("max()",)),
    "abs is forgotten": (left_out("abs"), ("abs()",)),
    "a number is rounded up": (emits(("rint", "ceil")), ("round()",)),
    "a root is a floor, a floor a ceil": (
        emits(("sqrt", "floor"), ("floor", "ceil")),
        ("math", "numpy"),
    ),
    "an Int32 is an Index": (emits(("to_i32", "to_i64")), ("hawk.int32()",)),
    "a UInt32 is an Int32": (emits(("to_u32", "to_i32")), ("hawk.uint32()",)),
    "a comparison lets the equal in": (emits(("lt", "le")), ("if",)),
}


def rows() -> dict[str, Fault]:
    """The faults made of what has a table already."""
    found: dict[str, Fault] = {}
    for name, (make, about) in OPERATIONS.items():
        found[name] = Fault(KernelNumbers, "emit", make, about)
    for dtype, kind in (
        (DType.I64, "Index"), (DType.I32, "Int32"), (DType.U32, "UInt32"), (DType.BOOL, "Bool"),
        (DType.F64, "Scalar"),
    ):  # fmt: skip
        param = "Param" if kind == "Scalar" else f"Param[{kind}]"
        about = tuple(f"plane: {each}" for each in (kind, f"Mutable[{kind}]", param))
        found[f"a name of type {kind} reads as 1"] = Fault(
            Expressions, "evaluate", reads_as_one(dtype), about
        )
    for function in (int, float, bool, hawk.index, hawk.float64):
        module = "hawk." if function in (hawk.index, hawk.float64) else ""
        about = (f"{module}{function.__name__}()",)
        found[f"{about[0]} adds one"] = Fault(names._TABLE, function, called_with(one_more), about)
    for name, about in ABOUT.items():
        owner, attribute, make, _ = OF_THE_WALK[name]
        found[name] = Fault(owner, attribute, make, about)
    return found


ABOUT: Mapping[str, tuple[str, ...]] = {
    "the arms of a branch are swapped": ("if", "else"),
    "the else of a branch is forgotten": ("else", "elif"),
    "who left a list of statements goes on": (
        "early return", "early return in the kernel", "helper with an early return",
        "nested def with an early return", "break in for", "continue in for",
        "helper that returns out of a loop",
    ),
    "two paths join as the first": ("if", "conditional expression"),
    "what one path knows comes from the other": ("early return", "return in for"),
    "a flag is that of one arm": ("break in for", "break in while", "early return"),
    "a break does not end the loop": ("break in for", "break three deep"),
    "a return does not end the loop": ("return in for", "return in while", "return three deep"),
    "the counter takes a step too many": ("range, known", "range, at run time", "range, backwards"),
    "the last pass is run twice": ("range, known", "range, at run time", "loops two deep"),
    "the else of a loop always runs": ("else of a loop with break",),
    "the else of a loop never runs": ("for ... else", "while ... else"),
    "a continue is forgotten": ("continue in for", "continue in while", "continue three deep"),
    "a loop that ran out changed nothing": ("range, at run time", "while", "loops three deep",
        "for by a name that is there"),
    "a loop that was left changed nothing": ("break in for", "break in while", "while True"),
    "of two products the right one is fused": ("*",),
    "products are not fused": ("*",),
    "a name is fused": ("*",),
    "a subtracted product is added": ("-",),
    "and is or": ("and", "or"),
    "of a chain of comparisons the last counts": ("chained comparison",),
    "not in is in": ("not in", "not"),
    "a conditional expression is turned round": ("conditional expression",
        "walrus in a conditional expression"),
    "of alternatives in a pattern the first counts": ("match: or",),
    "every pattern fits": ("match: value", "match"),
    "the name of a comprehension leaks": ("list comprehension",),
    "a comprehension keeps all": ("filter of a comprehension",),
    "enumerate begins with one": ("enumerate()",),
    "reversed is not": ("reversed()",),
    "any is all": ("any()",),
    "a sum forgets its first term": ("sum()",),
    "an augmented assignment forgets what was there": ("augmented assignment",
        "element augmented"),
    "parts are assigned in reverse": ("tuple assignment", "divmod()"),
    "every index is 0": ("index",),
    "in looks at the first only": ("in", "not in"),
    "a number is true if it is positive": ("not",),
    "a sample is done when its step starts": ("plane: Terminated",),
    "an inner function sees names as they were": ("closure over a name that changes",),
}  # fmt: skip
"""Faults of the walk that the random programs notice as well."""

FAULTS: Mapping[str, Fault] = rows() | {
    # choices
    "two paths are joined the wrong way round": Fault(
        KernelFork, "_yield", other_way_round, ("if", "else", "conditional expression")
    ),
    "what is known is pruned the wrong way": Fault(
        Walker, "branch", pruned_the_wrong_way,
        ("if on something known", "match on something known", "is None", "captured constant"),
    ),
    "is is is not": Fault(Conditions, "comparison", is_is_not, ("is None",)),
    "what a walrus gives is not bound": Fault(
        Expressions, "evaluate", evaluates(ast.NamedExpr, lambda frame, node: node.value),
        ("walrus", "walrus in the test of an if", "walrus in a conditional expression"),
    ),
    "both sides of and, or bind": Fault(
        Conditions, "_second", binds_always, ("walrus on one side of and, or",)
    ),
    "what the test of a loop binds is lost": Fault(
        walk, "_with_plain_test", not_recognised, ("walrus in the test of a while",)
    ),
    "not is forgotten": Fault(
        Expressions, "evaluate", evaluates(ast.UnaryOp, without_not), ("not",)
    ),
    "guards are forgotten": Fault(Walker, "_match", without_guards, ("match: guard",)),
    "cases are tried from the last": Fault(Walker, "_match", cases_backwards, ("match",)),
    "a capture is one more": Fault(
        KernelDomain, "matches", captures_one_more, ("match: capture",)
    ),
    "a capture leaves what is there": Fault(
        KernelDomain, "matches", captures_what_is_new,
        ("match: capture of a name that is there",),
    ),
    "of a sequence the last part counts": Fault(
        KernelDomain, "matches", last_part_only, ("match: sequence", "match: or in a sequence")
    ),
    # loops
    "where a pass ends in several ways the last counts": Fault(
        KernelDomain, "choose", handed_over_from_the_last,
        ("break in for", "continue in for", "break in while"),
    ),
    "values are run over backwards": Fault(
        Walker, "_passes", values_backwards, ("for over values",)
    ),
    "the last value is left out": Fault(Walker, "_passes", last_value_left_out, ("list",)),
    "who left a loop over values goes on": Fault(
        Walker, "_passes", ways_out_forgotten, ("a way out of a loop over values",)
    ),
    # functions
    "names of a nested function are those around it": Fault(
        Walker, "function", locals_leak, ("local name of a nested function", "nested def")
    ),
    "defaults are 1": Fault(
        Calls, "_bound", defaults_are_one,
        ("default", "argument by name only", "default of a nested function"),
    ),
    "keywords count by place": Fault(Calls, "_bound", keywords_by_place, ("keyword argument",)),
    "an inner kernel gives the wrong planes": Fault(
        Signature, "given_back", given_back_the_other_way,
        ("kernel in a kernel", "kernel in a kernel that gives its Mutables"),
    ),
    "contraction is not turned off": Fault(Sums, "_joins", always_joins, ("contract=False",)),
    "recursion ends too late": Fault(Walker, "branch", pruned_the_wrong_way, ("recursion",)),
    "two returned values change places": Fault(
        Walker, "statement", returned_by_the_first,
        ("early return of several values", "helper"),
    ),
    "a state is stored as 0": Fault(Leave, "__call__", states_stay, ("plane: Mutable[Scalar]",)),
    "a lambda gives twice what it says": Fault(
        Expressions, "evaluate", evaluates(ast.Lambda, doubled), ("lambda",)
    ),
    # containers
    "the first value of a dict is left out": Fault(
        KernelDomain, "iterate", first_value_left_out, (".values()",)
    ),
    "zip forgets its first pair": Fault(Structural, "zip_", first_pair_forgotten, ("zip()",)),
    "len is one more": Fault(Structural, "len_", one_longer, ("len()",)),
    "list turns round": Fault(Structural, "list_", backwards_sequence, ("list()",)),
    "all is any": Fault(Structural, "all_", all_is_any, ("all()",)),
    "append does nothing": Fault(Methods, "call", appends_nothing, (".append()",)),
    "an element is not assigned": Fault(
        Containers, "store", changes_nothing, ("element assigned", "element augmented", "dict")
    ),
    "the first element is assigned": Fault(
        Containers, "store", stores_in_the_first, ("element assigned",)
    ),
    "values of a dict change places": Fault(
        Containers, "from_pairs", values_of_a_dict_turned, ("dict",)
    ),
    "a comprehension forgets its first element": Fault(
        Containers, "comprehension", first_one_forgotten,
        ("list comprehension", "generator", "dict comprehension"),
    ),
    "a list begins with its end": Fault(Expressions, "elements", elements_backwards, ("list",)),
    "a starred target takes other parts": Fault(
        walk, "_matched", star_forgets, ("starred target",)
    ),
    "a slice is all": Fault(
        Expressions, "evaluate", evaluates(ast.Slice, whole_slice), ("slice",)
    ),
    # assignments
    "an annotated assignment is 1": Fault(
        Walker, "statement", without_annotated, ("annotated assignment",)
    ),
    "the last of several targets is 1": Fault(
        Walker, "statement", first_target_only, ("several targets",)
    ),
    "targets are assigned one after the other": Fault(
        Walker, "statement", one_after_the_other, ("swap",)
    ),
    # numbers
    "a power is one less": Fault(KernelNumbers, "power", exponent_of_one_less, ("**", "pow()")),
    "divmod is turned round": Fault(names._TABLE, divmod, called_with(backwards), ("divmod()",)),
    "round forgets its digits": Fault(
        names._TABLE, round, called_with(first), ("round to digits",)
    ),
    "an integer is one more where it meets a float": Fault(
        KernelNumbers, "to", one_more_as_a_float, ("int meets float", "hawk.real()")
    ),
}  # fmt: skip
"""Each fault by what it does."""
