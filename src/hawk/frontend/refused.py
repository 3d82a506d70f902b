"""Statements and expressions that are not part of the language: why, and what to write instead."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from hawk.errors import HawkError, Loc
from hawk.frontend.source import Source

_PURE = "a step only computes values"
_ONCE = "it would run once, while the kernel is traced"
_OUTSIDE = "this before the run or after it, outside the kernel"
_STOP = (
    'assert ..., "text", which is looked at with @hawk.kernel(checks=True);\n'
    "or terminated = True, to stop the sample here"
)

REFUSED: Mapping[type[ast.AST], tuple[str, str, str]] = {
    ast.Try: ("H103", f"`try`: {_PURE}, nothing in it raises", "if bad(x): ... else: ..."),
    ast.TryStar: ("H103", f"`try`: {_PURE}, nothing in it raises", "if bad(x): ... else: ..."),
    ast.Raise: ("H103", f"`raise`: {_PURE}, nothing in it raises", _STOP),
    ast.With: ("H103", f"`with`: {_PURE}, there is nothing to open and close", _OUTSIDE),
    ast.AsyncWith: ("H110", f"`async with`: {_PURE}", _OUTSIDE),
    ast.AsyncFor: ("H110", f"`async for`: {_PURE}", "for ..."),
    ast.AsyncFunctionDef: ("H110", f"`async def`: {_PURE}", "def ...(...):"),
    ast.Await: ("H110", f"`await`: {_PURE}, there is nothing to wait for", _OUTSIDE),
    ast.Yield: ("H110", "`yield`: a step gives its values once, by `return`", "return ..."),
    ast.YieldFrom: (
        "H110",
        "`yield from`: a step gives its values once, by `return`",
        "return ...",
    ),
    ast.Delete: ("H103", "`del`: a local name ends with the step", "nothing: leave the line out"),
    ast.Global: ("H308", f"`global`: {_PURE}", "{}: Mutable[Scalar], a parameter"),
    ast.Nonlocal: ("H308", f"`nonlocal`: {_PURE}", "{} = f({}), where f returns what it becomes"),
    ast.Import: ("H103", f"`import`: {_ONCE}", "the import at the top of the file"),
    ast.ImportFrom: ("H103", f"`import`: {_ONCE}", "the import at the top of the file"),
    ast.ClassDef: ("H103", f"`class`: {_PURE} and makes no objects", "the class outside"),
    ast.Set: ("H103", "a set has no order; it may stand behind `in` only", "(x, y), a tuple"),
    ast.SetComp: ("H103", "a set has no order", "[... for ...], a list"),
}


def check(source: Source, caller: Loc | None = None) -> None:
    """Raise HawkError for the first thing in the text that no kernel may hold."""
    for statement in source.body:
        for node in ast.walk(statement):
            # A set may stand behind `in`, and a `raise` where nothing comes by; the walk refuses
            # them elsewhere.
            if type(node) in REFUSED and not isinstance(node, (ast.Set, ast.Raise)):
                raise refusal(source, node, caller)


def refusal(source: Source, node: ast.AST, caller: Loc | None = None) -> HawkError:
    """The error for a node of a refused kind, or of a kind nobody thought of."""
    kind = type(node).__name__
    code, what, fix = REFUSED.get(type(node), ("H103", f"`{kind}` is not part of the language", ""))
    where = source.loc(node, caller=caller)
    if isinstance(node, ast.stmt):  # the first line says it
        line = source.lines[where.line - 1].rstrip()
        where = Loc(
            where.file, where.line, where.col, where.line, len(line), where.function, caller
        )
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        fix = fix.replace("{}", node.names[0])
    return HawkError(code, what, where, _written(source, node) or fix)


def _written(source: Source, node: ast.AST) -> str:
    """What means the same as `node`, where it can be made of its own text."""
    match node:
        case ast.Set(elts=elts):
            texts = [source.text(each) for each in elts]
            return f"({', '.join(texts)}{',' * (len(texts) == 1)})"
        case ast.SetComp():
            return f"[{source.text(node)[1:-1].strip()}]"
        case ast.Delete(targets=[ast.Subscript(value=value, slice=ast.Slice() as part)]):
            if part.step is not None:
                return ""
            owner = source.text(value)
            before = f"{owner}[:{source.text(part.lower)}]" if part.lower else ""
            after = f"{owner}[{source.text(part.upper)}:]" if part.upper else ""
            kept = " + ".join(each for each in (before, after) if each)
            return f"{owner} = {kept or '[]'}"
        case ast.Delete(targets=[ast.Subscript(value=value, slice=key)]):
            return f"{source.text(value)}.pop({source.text(key)})"
        case _:
            return ""
