"""What a program holds: each construct of the language, as a question to its syntax tree."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterator, Mapping

from tests.oracle.expressions import ELEMENTARY, ELEMENTARY_OF_TWO
from tests.oracle.loops import NESTED
from tests.oracle.programs import Program

Holds = Callable[[ast.Module], bool]
Loop = ast.For | ast.While


@functools.cache
def tree_of(text: str) -> ast.Module:
    return ast.parse(text)


@functools.cache
def nodes_of(tree: ast.Module) -> Mapping[type[ast.AST], list[ast.AST]]:
    """The nodes of a program by their kind."""
    found: dict[type[ast.AST], list[ast.AST]] = {}
    for node in ast.walk(tree):
        found.setdefault(type(node), []).append(node)
    return found


def held(program: Program) -> frozenset[str]:
    """The constructs that a program holds."""
    tree = tree_of(program.text)
    found = {name for name, holds in CONSTRUCTS.items() if holds(tree)}
    return frozenset(found | {f"width: {'float64' if program.wide else 'float32'}"})


# -- questions -------------------------------------------------------------------------------------


def any_of(kind: type[ast.AST] | tuple[type[ast.AST], ...], *tests: Callable[..., bool]) -> Holds:
    """Is there a node of this kind that passes the tests?"""

    def holds(tree: ast.Module) -> bool:
        kinds = kind if isinstance(kind, tuple) else (kind,)
        found = (node for each in kinds for node in nodes_of(tree).get(each, ()))
        return any(all(test(node) for test in tests) for node in found)

    return holds


def calls(*names: str) -> Holds:
    """Is one of these functions called?"""
    return any_of(ast.Call, lambda call: path(call.func) in names)


def path(node: ast.AST) -> str:
    """`math.sqrt` of an attribute, or a name."""
    if isinstance(node, ast.Attribute):
        return f"{path(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def operator(*kinds: type[ast.AST]) -> Holds:
    return any_of((ast.BinOp, ast.AugAssign, ast.UnaryOp), lambda node: type(node.op) in kinds)


def own(statements: list[ast.stmt]) -> Iterator[ast.AST]:
    """What stands in statements, without the functions in them."""
    for statement in statements:
        yield statement
        if not isinstance(statement, ast.FunctionDef):
            for child in ast.iter_child_nodes(statement):
                yield from own([child])  # type: ignore[list-item]


def within(node: ast.AST, kind: type[ast.AST]) -> bool:
    return any(isinstance(each, kind) for each in ast.walk(node))


def binds(node: ast.AST) -> bool:
    return within(node, ast.NamedExpr)


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def of_module(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """Helpers, and kernels that others call."""
    found = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    return (node for node in found if node.name not in ("kernel", "make"))


def nested(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.Lambda]:
    """Functions inside kernels and helpers."""
    for function in functions(tree):
        for node in ast.walk(function):
            inside = isinstance(node, (ast.FunctionDef, ast.Lambda)) and node is not function
            if function.name != "make" and inside:
                yield node


def early(function: ast.FunctionDef) -> list[ast.Return]:
    """Returns that are not the last statement."""
    found = [node for node in own(function.body) if isinstance(node, ast.Return)]
    return [node for node in found if node is not function.body[-1]]


def is_kernel(function: ast.FunctionDef) -> bool:
    return bool(function.decorator_list)


def returns_early(*tests: Callable[[ast.Return], bool]) -> Holds:
    def holds(tree: ast.Module) -> bool:
        found = (each for function in functions(tree) for each in early(function))
        return any(all(test(each) for test in tests) for each in found)

    return holds


def several(node: ast.Return) -> bool:
    return isinstance(node.value, ast.Tuple)


def innermost(tree: ast.Module, depth: int) -> Iterator[Loop]:
    """Loops that stand in others, `depth` deep with themselves."""

    def walk(node: ast.AST, deep: int) -> Iterator[Loop]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.Lambda)):
                yield from walk(child, 0)
            elif isinstance(child, (ast.For, ast.While)):
                if deep + 1 == depth:
                    yield child
                yield from walk(child, deep + 1)
            else:
                yield from walk(child, deep)

    yield from walk(tree, 0)


def deep(kind: type[ast.AST]) -> Holds:
    """Does a loop inside two others hold this?"""

    def holds(tree: ast.Module) -> bool:
        loops = innermost(tree, NESTED)
        return any(isinstance(node, kind) for loop in loops for node in own(loop.body))

    return holds


def left_in(kind: type[ast.AST], *words: type[ast.AST]) -> Holds:
    """Is there a loop of this kind whose own body holds one of these?"""

    def holds(tree: ast.Module) -> bool:
        loops = (node for node in ast.walk(tree) if isinstance(node, kind))
        return any(isinstance(node, words) for loop in loops for node in own(loop.body))  # type: ignore[attr-defined]

    return holds


def is_known(node: ast.AST) -> bool:
    """Is this known while the kernel is read? Names of captured constants begin with C, of counts
    in written-out loops with x."""
    names = [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]
    return not within(node, ast.Call) and all(name[0] == "C" for name in names)


def ranges(known: bool) -> Callable[[ast.For], bool]:  # noqa: FBT001 - a question
    def test(node: ast.For) -> bool:
        call = node.iter
        if not (isinstance(call, ast.Call) and path(call.func) == "range"):
            return False
        return all(is_known(each) for each in call.args) is known

    return test


def over_values(node: ast.For) -> bool:
    return not ast.unparse(node.iter).startswith("range(")


def closes_over(tree: ast.Module) -> bool:
    """A nested function that reads a name which is bound anew after it was written."""
    for function in functions(tree):
        for place, statement in enumerate(function.body):
            if isinstance(statement, ast.FunctionDef):
                read = {each.id for each in ast.walk(statement) if isinstance(each, ast.Name)}
                after = [node for later in function.body[place + 1 :] for node in ast.walk(later)]
                if read & {each.id for each in after if is_store(each)}:  # type: ignore[attr-defined]
                    return True
    return False


def is_store(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def recursive(tree: ast.Module) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id == function.name
        for function in of_module(tree)
        for node in ast.walk(function)
    )


def loops_and_returns(tree: ast.Module) -> bool:
    """A helper that returns out of a loop."""
    for function in of_module(tree):
        loops = [node for node in own(function.body) if isinstance(node, (ast.For, ast.While))]
        if any(isinstance(node, ast.Return) for loop in loops for node in own(loop.body)):
            return True
    return False


def shadows(tree: ast.Module) -> bool:
    """A nested function whose parameter has the name of something around it, and is assigned."""
    for function in nested(tree):
        if isinstance(function, ast.FunctionDef):
            name = function.args.args[0].arg
            stored = any(is_store(node) and node.id == name for node in ast.walk(function))  # type: ignore[attr-defined]
            if stored and name != "q0":
                return True
    return False


def swaps(node: ast.Assign) -> bool:
    target, value = node.targets[0], node.value
    if not (isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)):
        return False
    left = [ast.unparse(each) for each in target.elts]
    return left == [ast.unparse(each) for each in value.elts][::-1]


def in_test_of(kind: type[ast.AST]) -> Holds:
    return any_of(kind, lambda node: within(node.test, ast.NamedExpr))


def parameter(annotation: str) -> Holds:
    return any_of(
        ast.arg, lambda arg: bool(arg.annotation) and ast.unparse(arg.annotation) == annotation
    )


def sequence_of(node: ast.MatchSequence) -> bool:
    return len(node.patterns) > 1


def assigns_element(node: ast.Assign) -> bool:
    return isinstance(node.targets[0], ast.Subscript)


def parts(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple) else [node]


def captures(node: ast.MatchAs) -> bool:
    return node.name is not None


def captured_again(tree: ast.Module) -> bool:
    """A capture that binds a name which was there already."""
    names = {node.name for node in ast.walk(tree) if isinstance(node, ast.MatchAs) and node.name}
    return any(name[0] in "asv" for name in names)


def ends_with(method: str) -> Holds:
    return any_of(ast.Call, lambda call: path(call.func).endswith(method))


ELEMENTARY_NAMES = frozenset((*ELEMENTARY, *ELEMENTARY_OF_TWO))
INTEGERS = ("int(", "int.", "hawk.index(", "hawk.int32(", "hawk.uint32(", "round(", "math.floor(")
FLOATS = ("float(", "hawk.real(", "np.sqrt(", "np.minimum(", "np.floor(", "math.sqrt(", "np.where(")


def mixes(node: ast.BinOp) -> bool:
    """An integer and a float, as what is called on either side says."""
    sides = [ast.unparse(each) for each in (node.left, node.right)]
    return any(map(str.startswith, sides, [INTEGERS] * 2)) and any(
        map(str.startswith, sides, [FLOATS] * 2)
    )


# -- the table -------------------------------------------------------------------------------------

CONSTRUCTS: Mapping[str, Holds] = {
    # choices
    "if": any_of(ast.If),
    "elif": any_of(ast.If, lambda node: [ast.If] == [type(each) for each in node.orelse]),
    "else": any_of(ast.If, lambda node: bool(node.orelse)),
    "if on something known": any_of(ast.If, lambda node: is_known(node.test)),
    "conditional expression": any_of(ast.IfExp),
    "and": any_of(ast.And),
    "or": any_of(ast.Or),
    "not": any_of(ast.Not),
    "chained comparison": any_of(ast.Compare, lambda node: len(node.ops) > 1),
    "in": any_of(ast.In),
    "not in": any_of(ast.NotIn),
    "is None": any_of(ast.Is),
    "walrus": any_of(ast.NamedExpr),
    "walrus in the test of an if": in_test_of(ast.If),
    "walrus in the test of a while": in_test_of(ast.While),
    "walrus on one side of and, or": any_of(ast.BoolOp, binds),
    "walrus in a conditional expression": any_of(ast.IfExp, binds),
    "match": any_of(ast.Match),
    "match on something known": any_of(
        ast.Match, lambda node: any(map(is_known, parts(node.subject)))
    ),
    "match: value": any_of(ast.MatchValue),
    "match: or": any_of(ast.MatchOr),
    "match: guard": any_of(ast.match_case, lambda case: case.guard is not None),
    "match: capture": any_of(ast.MatchAs, captures),
    "match: capture of a name that is there": captured_again,
    "match: sequence": any_of(ast.MatchSequence, sequence_of),
    "match: or in a sequence": any_of(ast.MatchSequence, lambda node: within(node, ast.MatchOr)),
    # loops
    "while": any_of(ast.While),
    "while True": any_of(ast.While, lambda node: isinstance(node.test, ast.Constant)),
    "while ... else": any_of(ast.While, lambda node: bool(node.orelse)),
    "for ... else": any_of(ast.For, lambda node: bool(node.orelse)),
    "else of a loop with break": any_of(
        (ast.For, ast.While), lambda node: bool(node.orelse) and within(node, ast.Break)
    ),
    "range, known": any_of(ast.For, ranges(known=True)),
    "range, at run time": any_of(ast.For, ranges(known=False)),
    "range, backwards": any_of(
        ast.Call, lambda call: path(call.func) == "range" and len(call.args) == 3
    ),
    "for by a name that is there": any_of(
        ast.For, lambda node: ast.unparse(node.target)[0] in "asv"
    ),
    "for over values": any_of(ast.For, over_values),
    "break in for": left_in(ast.For, ast.Break),
    "continue in for": left_in(ast.For, ast.Continue),
    "return in for": left_in(ast.For, ast.Return),
    "break in while": left_in(ast.While, ast.Break),
    "continue in while": left_in(ast.While, ast.Continue),
    "return in while": left_in(ast.While, ast.Return),
    "a way out of a loop over values": any_of(
        ast.For, over_values, lambda node: within(node, ast.Break) or within(node, ast.Continue)
    ),
    "loops two deep": lambda tree: any(innermost(tree, 2)),
    "loops three deep": lambda tree: any(innermost(tree, 3)),
    "break three deep": deep(ast.Break),
    "continue three deep": deep(ast.Continue),
    "return three deep": deep(ast.Return),
    # returns and functions
    "early return": returns_early(),
    "early return of several values": returns_early(several),
    "early return in the kernel": lambda tree: any(
        early(each) for each in functions(tree) if each.name == "kernel"
    ),
    "helper": lambda tree: any(not is_kernel(each) for each in of_module(tree)),
    "helper with an early return": lambda tree: any(map(early, of_module(tree))),
    "helper that returns out of a loop": loops_and_returns,
    "recursion": recursive,
    "kernel in a kernel": lambda tree: any(map(is_kernel, of_module(tree))),
    "kernel in a kernel that gives its Mutables": lambda tree: any(
        is_kernel(each) and each.returns is None for each in of_module(tree)
    ),
    "default": lambda tree: any(each.args.defaults for each in functions(tree)),
    "argument by name only": any_of(ast.arguments, lambda node: bool(node.kwonlyargs)),
    "keyword argument": any_of(ast.keyword, lambda node: str(node.arg)[0] == "q"),
    "nested def": lambda tree: any(isinstance(each, ast.FunctionDef) for each in nested(tree)),
    "nested def with an early return": lambda tree: any(
        isinstance(each, ast.FunctionDef) and early(each) for each in nested(tree)
    ),
    "lambda": any_of(ast.Lambda),
    "default of a nested function": lambda tree: any(each.args.defaults for each in nested(tree)),
    "closure over a name that changes": closes_over,
    "local name of a nested function": shadows,
    "captured constant": any_of(ast.FunctionDef, lambda node: node.name == "make"),
    # containers
    "list": any_of(ast.List),
    "list comprehension": any_of(ast.ListComp),
    "filter of a comprehension": any_of(ast.comprehension, lambda node: bool(node.ifs)),
    "generator": any_of(ast.GeneratorExp),
    "dict": any_of(ast.Dict),
    "dict comprehension": any_of(ast.DictComp),
    "index": any_of(ast.Subscript, lambda node: isinstance(node.ctx, ast.Load)),
    "slice": any_of(ast.Slice),
    "element assigned": any_of(ast.Assign, assigns_element),
    "element augmented": any_of(ast.AugAssign, lambda node: isinstance(node.target, ast.Subscript)),
    ".append()": ends_with(".append"),
    "starred target": any_of(ast.Starred, lambda node: isinstance(node.ctx, ast.Store)),
    **{
        f"{name}()": calls(name)
        for name in ("len", "zip", "enumerate", "reversed", "any", "all", "list")
    },
    ".values()": ends_with(".values"),
    # assignments
    "annotated assignment": any_of(ast.AnnAssign),
    "augmented assignment": any_of(ast.AugAssign),
    "several targets": any_of(ast.Assign, lambda node: len(node.targets) > 1),
    "tuple assignment": any_of(ast.Assign, lambda node: isinstance(node.targets[0], ast.Tuple)),
    "swap": any_of(ast.Assign, swaps),
    # numbers
    "int meets float": any_of(ast.BinOp, mixes),
    **{
        name: operator(kind)
        for name, kind in {
            "+": ast.Add, "-": ast.Sub, "*": ast.Mult, "/": ast.Div, "//": ast.FloorDiv,
            "%": ast.Mod, "**": ast.Pow, "<<": ast.LShift, ">>": ast.RShift, "&": ast.BitAnd,
            "|": ast.BitOr, "^": ast.BitXor, "~": ast.Invert, "- of one": ast.USub,
        }.items()
    },
    **{
        f"{name}()": calls(name)
        for name in ("min", "max", "abs", "round", "sum", "pow", "int", "float", "bool", "divmod")
    },
    **{
        f"hawk.{name}()": calls(f"hawk.{name}")
        for name in ("int32", "uint32", "index", "real", "float64")
    },
    "round to digits": any_of(
        ast.Call, lambda call: path(call.func) == "round" and len(call.args) == 2
    ),
    "math": any_of(
        ast.Attribute,
        lambda node: path(node).startswith("math.") and path(node) not in ELEMENTARY_NAMES,
    ),
    "numpy": any_of(
        ast.Attribute,
        lambda node: path(node).startswith("np.") and path(node) not in ELEMENTARY_NAMES,
    ),
    # planes
    **{
        f"plane: {kind}": parameter(kind)
        for element in ("Scalar", "Index", "Int32", "UInt32", "Bool")
        for kind in (element, f"Mutable[{element}]", f"Param[{element}]".replace("[Scalar]", ""))
    },
    "plane: Terminated": parameter("Terminated"),
    "contract=False": any_of(ast.keyword, lambda node: node.arg == "contract"),
}  # fmt: skip
"""Each construct of the language, and how to tell that a program holds it."""
