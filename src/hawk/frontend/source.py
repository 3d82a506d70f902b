"""The text of a function: the file it stands in, its own node, and what its names can mean.

The whole file is parsed, not the function alone, so lines and columns are those of the file.
Text comes from `linecache`, which also serves notebooks, doctests and registered strings.
"""

from __future__ import annotations

import ast
import builtins
import functools
import linecache
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any, TypeAlias

from hawk.errors import NOWHERE, HawkError, Loc
from hawk.locks import compiling

FunctionNode: TypeAlias = "ast.FunctionDef | ast.Lambda"


@dataclass(frozen=True, eq=False)
class Source:
    """A function as it is written. `function` is None for one defined inside a walked function."""

    file: str
    lines: tuple[str, ...]
    node: FunctionNode
    function: Any = None

    @classmethod
    def of(cls, function: object, caller: Loc | None = None) -> Source:
        """Find the text of `function`.

        Raises HawkError when `function` is not a plain Python function, when its text cannot be
        found (`exec`, a prompt), or when the file is no longer the one it was made from.
        """
        if not isinstance(function, FunctionType):
            raise HawkError("H303", f"{function!r} is not a Python function", caller or NOWHERE)
        code = function.__code__
        text = _parse(function, caller)
        node = _find(text.functions, code)
        if node is None:
            what = f"the text of `{code.co_name}` is not at line {code.co_firstlineno} any more"
            raise HawkError(
                "H102",
                f"{what}: {code.co_filename} has changed since it was imported",
                caller or NOWHERE,
                fix="start Python again, or import the module again",
            )
        source = cls(code.co_filename, text.lines, node, function)
        if isinstance(node, ast.AsyncFunctionDef):
            what = "an async function only makes promises, and a step computes values"
            raise HawkError("H110", what, source.head(caller), f"def {node.name}(...):")
        return source

    @property
    def name(self) -> str:
        return getattr(self.node, "name", "<lambda>")

    @property
    def body(self) -> list[ast.stmt]:
        """The statements of the function; a lambda is one `return`."""
        if isinstance(self.node, ast.Lambda):
            back = ast.Return(value=self.node.body)
            return [ast.copy_location(back, self.node.body)]
        return self.node.body

    @functools.cached_property
    def locals(self) -> frozenset[str]:
        """The names that Python makes local to the function."""
        args = self.node.args
        every = [*args.posonlyargs, *args.args, *args.kwonlyargs]
        every += [extra for extra in (args.vararg, args.kwarg) if extra is not None]
        declared = {
            name
            for node in own_nodes(self.body)
            if isinstance(node, (ast.Global, ast.Nonlocal))
            for name in node.names
        }
        return frozenset({arg.arg for arg in every} | (bound_names(self.body) - declared))

    @property
    def globals(self) -> Mapping[str, Any]:
        """What names outside the function mean."""
        return {} if self.function is None else self.function.__globals__

    @property
    def cells(self) -> Mapping[str, Any]:
        """The closure's cells by name."""
        if self.function is None or self.function.__closure__ is None:
            return {}
        names = self.function.__code__.co_freevars
        return dict(zip(names, self.function.__closure__, strict=True))

    def namespace(self) -> dict[str, Any]:
        """Builtins, globals and filled closure cells as one dict, for evaluating annotations."""
        names = {**vars(builtins), **self.globals}
        for name, cell in self.cells.items():
            try:
                names[name] = cell.cell_contents
            except ValueError:  # not assigned yet
                names.pop(name, None)
        return names

    def loc(self, node: ast.AST, function: str = "", caller: Loc | None = None) -> Loc:
        """The place of `node`; columns are counted in characters."""
        line = getattr(node, "lineno", 1)
        end_line = getattr(node, "end_lineno", line) or line
        col = self._column(line, getattr(node, "col_offset", 0))
        end_col = self._column(end_line, getattr(node, "end_col_offset", col + 1))
        return Loc(self.file, line, col, end_line, end_col, function or self.name, caller)

    def head(self, caller: Loc | None = None) -> Loc:
        """The place of the function's first line, `def name`."""
        node = self.node
        line = self.lines[node.lineno - 1].rstrip() if node.lineno <= len(self.lines) else ""
        col = self._column(node.lineno, node.col_offset)
        return Loc(self.file, node.lineno, col, node.lineno, len(line), self.name, caller)

    def text(self, node: ast.AST) -> str:
        """What the user wrote for `node`, on one line."""
        where = self.loc(node)
        if where.line != where.end_line:
            return ast.unparse(node)
        return self.lines[where.line - 1][where.col : where.end_col]

    def is_test(self, node: ast.expr) -> bool:
        """Whether only the truth of `node` counts where it stands."""
        for each in own_nodes(self.body):
            match each:
                case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
                    asked = [test]
                case ast.Assert(test=test):
                    asked = [test]
                case ast.UnaryOp(op=ast.Not(), operand=operand):
                    asked = [operand]
                case ast.comprehension(ifs=ifs):
                    asked = ifs
                case ast.match_case(guard=ast.expr() as guard):
                    asked = [guard]
                case _:
                    continue
            while asked:
                test = asked.pop()
                if test is node:
                    return True
                asked += test.values if isinstance(test, ast.BoolOp) else []
        return False

    def is_statement(self, node: ast.expr) -> bool:
        """Whether `node` is all of a statement."""
        own = own_nodes(self.body)
        return any(isinstance(each, ast.Expr) and each.value is node for each in own)

    def called(self, node: ast.expr) -> tuple[ast.expr, list[str]]:
        """The call whose function `node` is, with the texts of its arguments; else `node`."""
        for each in own_nodes(self.body):
            if isinstance(each, ast.Call) and each.func is node:
                return each, [self.text(arg) for arg in (*each.args, *each.keywords)]
        return node, []

    def _column(self, line: int, offset: int) -> int:
        if line > len(self.lines) or self.lines[line - 1].isascii():
            return offset
        return len(self.lines[line - 1].encode()[:offset].decode(errors="replace"))


Functions: TypeAlias = "Mapping[tuple[str, int], Sequence[ast.AST]]"
"""The functions of a file, by name and the line that Python calls the first."""


def _functions(text: str, file: str) -> Functions:
    """Every function of a file."""
    found: dict[tuple[str, int], list[ast.AST]] = {}
    for node in ast.walk(ast.parse(text, file)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            found.setdefault((node.name, first), []).append(node)
        elif isinstance(node, ast.Lambda):
            found.setdefault(("<lambda>", node.lineno), []).append(node)
    return found


@dataclass(frozen=True, slots=True)
class _Text:
    """A file as it was read last; its functions share the lines."""

    given: list[str]
    lines: tuple[str, ...]
    functions: Functions


_TEXTS: dict[str, _Text] = {}
"""The files read last, the latest at the end."""
_TEXTS_MAX = 64


def _text(file: str, lines: list[str]) -> _Text:
    """The file with these lines, which are parsed once: a module may hold hundreds of kernels."""
    with compiling():  # CPython 3.11 can fail to parse in several threads at once
        known = _TEXTS.pop(file, None)
        if known is None or known.given != lines:
            known = _Text(list(lines), tuple(lines), _functions("".join(lines), file))
            while len(_TEXTS) >= _TEXTS_MAX:  # a notebook makes a file of every cell
                del _TEXTS[next(iter(_TEXTS))]
        _TEXTS[file] = known
    return known


def _parse(function: FunctionType, caller: Loc | None) -> _Text:
    """The text of the function's file."""
    file = function.__code__.co_filename
    linecache.checkcache(file)
    lines = linecache.getlines(file, function.__globals__)
    if not lines:
        raise HawkError(
            "H101",
            f"the source text of `{function.__name__}` cannot be found: it was made from a string "
            f"or at a prompt ({file}), and a kernel is read from its text",
            caller or NOWHERE,
            fix="the function in a file or a notebook, or register the text that you exec:\n"
            'linecache.cache["<mine>"] = (len(text), None, text.splitlines(True), "<mine>")\n'
            'exec(compile(text, "<mine>", "exec"), namespace)',
        )
    try:
        return _text(file, lines)
    except SyntaxError as error:
        what = f"{file} has changed since it was imported and is no longer Python: {error.msg}"
        raise HawkError("H102", what, caller or NOWHERE, "start Python again") from None


def _find(functions: Functions, code: CodeType) -> Any:
    """The node `code` was compiled from, or None."""
    named = functions.get((code.co_name, code.co_firstlineno), ())
    found = [node for node in named if _matches(node, code)]
    if len(found) > 1:  # several lambdas on one line
        found = [each for each in found if isinstance(each, ast.Lambda) and _spans(each, code)]
    return found[0] if found else None


def _matches(node: Any, code: CodeType) -> bool:
    """Whether the function has the parameters that `code` has."""
    args = node.args
    names = [arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
    return tuple(names) == code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _spans(node: ast.Lambda, code: CodeType) -> bool:
    """Whether every instruction of `code` stands inside `node`."""
    start = (node.lineno, node.col_offset)
    end = (node.end_lineno or node.lineno, node.end_col_offset or 0)
    for line, end_line, col, end_col in code.co_positions():
        # The first instruction has a place of its own, before the body.
        if line is None or end_line is None or col is None or end_col is None or end_col == 0:
            continue
        if (line, col) < start or (end_line, end_col) > end:
            return False
    return True


def nearest(name: str, names: Iterable[str]) -> str:
    """The name the user may have meant, or nothing."""
    import difflib  # slow to load, and nobody needs it who writes the names right

    close = difflib.get_close_matches(name, [each for each in names if each != name], n=1)
    return close[0] if close else ""


SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


_BINDERS = frozenset(
    (
        *(*COMPREHENSIONS, *SCOPES),
        *(ast.MatchAs, ast.MatchStar, ast.MatchMapping, ast.Import, ast.ImportFrom),
    )
)


def own_nodes(statements: list[ast.stmt] | list[ast.expr]) -> Iterator[ast.AST]:
    """The nodes of the statements that belong to this scope, not to a function inside it.

    Whether a name is loaded or stored is not listed as a node of its own.
    """
    stack: list[ast.AST] = list(reversed(statements))
    while stack:
        node = stack.pop()
        yield node
        kind = type(node)
        if kind is ast.Name or kind is ast.Constant or kind in SCOPES:
            continue
        for field in reversed(node._fields):  # ast.iter_child_nodes takes three times as long
            value = getattr(node, field, None)
            if isinstance(value, list):
                stack += [each for each in reversed(value) if isinstance(each, ast.AST)]
            elif isinstance(value, ast.AST) and field != "ctx":
                stack.append(value)


def bound_names(statements: list[ast.stmt] | list[ast.expr]) -> set[str]:
    """The names these statements bind in their own scope."""
    names: set[str] = set()
    inner: set[ast.AST] = set()  # targets of comprehensions live in scopes of their own
    for node in own_nodes(statements):
        if isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load) and node not in inner:
                names.add(node.id)
            continue
        if type(node) not in _BINDERS:
            continue
        match node:
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                for each in node.generators:
                    inner.update(ast.walk(each.target))
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                names.add(node.name)
            case (
                ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
                | ast.MatchMapping(rest=str(name))
            ):
                names.add(name)
            case ast.Import() | ast.ImportFrom():
                names.update((each.asname or each.name).split(".")[0] for each in node.names)
            case _:
                pass
    return names


def read_names(node: ast.AST) -> Iterator[ast.Name]:
    """Every reading of a name in `node`, inner functions included."""
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load):
            yield each
        elif isinstance(each, ast.AugAssign) and isinstance(each.target, ast.Name):
            yield each.target  # read, and then assigned to
