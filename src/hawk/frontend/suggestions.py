"""What to write instead, made of the texts that the user wrote. Pure, but for reading a source."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hawk.edits import Edit, Loc, expression, filled
from hawk.frontend.frame import Frame
from hawk.frontend.source import Source, own_nodes
from hawk.frontend.symbols import SYMBOLS


def with_texts(fix: str | Edit, texts: Mapping[str, str]) -> str | Edit:
    """A suggestion with the texts of operands in the places of {left} and {right}.

    Nothing, where a text is missing.
    """
    template = fix.text if isinstance(fix, Edit) else fix
    if not set(re.findall(r"\{(left|right)\}", template)) <= set(texts):
        return ""
    text = filled(template, **texts) if _slots(template) else template
    if not isinstance(fix, Edit):
        return text
    remark = fix.remark
    for slot, each in texts.items():
        remark = remark.replace(f"{{{slot}}}", each)
    return replace(fix, text=text, remark=remark)


def _slots(template: str) -> bool:
    return "{left}" in template or "{right}" in template


def augmented(source: Source, node: ast.AugAssign, text: str) -> str:
    """The statement that gives the target of `+=` and its like the value `text`."""
    target, value = source.text(node.target), expression(text)
    if value is None:
        return text
    same = isinstance(value, ast.BinOp) and type(value.op) is type(node.op)
    if same and _dump(value.left) == _dump(expression(target)):  # type: ignore[union-attr]
        right = ast.get_source_segment(text, value.right)  # type: ignore[union-attr]
        return f"{target} {SYMBOLS[type(node.op)]}= {right}"
    return f"{target} = {text}"


def chained(source: Source, node: ast.Compare, sides: Sequence[ast.AST], text: str) -> str:
    """The chain of comparisons in which `text` is written for the comparison of `sides`."""
    operands = [node.left, *node.comparators]
    place = next((n for n, each in enumerate(operands) if each is sides[0]), None)
    pair = expression(text)
    if place is None or len(node.ops) == 1 or not isinstance(pair, ast.Compare):
        return text
    texts = [source.text(each) for each in operands]
    texts[place] = ast.get_source_segment(text, pair.left) or texts[place]
    texts[place + 1] = ast.get_source_segment(text, pair.comparators[0]) or texts[place + 1]
    symbols = [comparison(op) for op in node.ops]
    symbols[place] = comparison(pair.ops[0])
    template = "{0}" + "".join(f" {op} {{{n}}}" for n, op in enumerate(symbols, start=1))
    return filled(template, **{str(n): each for n, each in enumerate(texts)})


def comparison(op: ast.cmpop) -> str:
    """A comparison as it is written."""
    match op:
        case ast.In():
            return "in"
        case ast.NotIn():
            return "not in"
        case ast.Is():
            return "is"
        case ast.IsNot():
            return "is not"
        case _:
            return SYMBOLS[type(op)]


def fresh(*texts: str) -> tuple[str, str]:
    """Two names that these texts do not use."""
    used = set(re.findall(r"\w+", " ".join(texts)))
    free = [name for name in ("a", "b", "each", "other", "item", "second") if name not in used]
    return (*free, "each_", "other_")[0], (*free, "each_", "other_")[1]


def indices_of(node: ast.Subscript) -> list[ast.expr]:
    """The expressions in brackets, one for each dimension."""
    return list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]


def elements(source: Source, node: ast.AST | None) -> list[ast.expr]:
    """The elements of a tuple, list or set as it is written; none where it is not."""
    if not isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return []
    return [] if any(isinstance(each, ast.Starred) for each in node.elts) else list(node.elts)


@dataclass(frozen=True, slots=True)
class Site:
    """Where a name is bound: the statement, and the value where it is written for this name."""

    statement: ast.AST
    value: ast.expr | None
    name: str

    @property
    def node(self) -> ast.AST:
        """What computes the value."""
        return self.value or self.statement

    @property
    def alone(self) -> bool:
        """Whether the statement binds this name to that value, and does nothing else."""
        node = self.statement
        targets = node.targets if isinstance(node, ast.Assign) else []
        single = len(targets) == 1 and isinstance(targets[0], (ast.Name, ast.Attribute))
        return single or (isinstance(node, ast.AnnAssign) and self.value is not None)

    def edit(
        self,
        frame: Frame,
        template: str,
        where: Loc,
        *,
        integer: bool = False,
    ) -> Edit | None:
        """The value put into `template`, for {left}, in a message about `where`.

        Where an `integer` is wanted, a quotient becomes a whole one.
        """
        node, source = self.statement, frame.source
        if isinstance(node, ast.AugAssign):
            at = frame.loc(node)
            return Edit(_augmented_by(source, node, template, integer=integer), at=at)
        if self.value is None:
            return None
        text = fitted(source, self.value, template, integer=integer)
        if self.alone and not where.line <= node.lineno <= where.end_line:  # type: ignore[attr-defined]
            return Edit(f"{self.name} = {text}", at=frame.loc(node))
        return Edit(text, at=frame.loc(self.value))


def _augmented_by(source: Source, node: ast.AugAssign, template: str, *, integer: bool) -> str:
    """The assignment that puts what `+=` and its like make into `template`."""
    name, right, symbol = source.text(node.target), source.text(node.value), SYMBOLS[type(node.op)]
    if integer and isinstance(node.op, ast.Div):
        return f"{name} //= {right}"
    value = filled(f"{{left}} {symbol} {{right}}", left=name, right=right)
    return f"{name} = {filled(template, left=value)}"


def sites(nodes: Sequence[ast.AST], name: str) -> list[Site]:
    """Where the statements bind `name`, in the order of the text."""
    found: list[Site] = []
    for node in own_nodes(list(nodes)):  # type: ignore[arg-type]
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    found += _bound(node, target, value if len(targets) == 1 else None, name)
            case ast.AugAssign(target=target) | ast.For(target=target):
                found += _bound(node, target, None, name)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                found += _bound(node, target, value, name)
            case ast.NamedExpr(target=target, value=value):
                found += _bound(node, target, value, name)
            case _:
                pass
    return sorted(found, key=lambda each: (each.statement.lineno, each.statement.col_offset))  # type: ignore[attr-defined]


def _bound(node: ast.AST, target: ast.expr, value: ast.expr | None, name: str) -> Iterator[Site]:
    """The places of `name` in a target, each with its part of the value."""
    if isinstance(target, (ast.Name, ast.Attribute)):
        if name == (target.id if isinstance(target, ast.Name) else ast.unparse(target)):
            yield Site(node, value, name)
        return
    if not isinstance(target, (ast.Tuple, ast.List)):
        return
    parts: list[Any] = list(value.elts) if isinstance(value, (ast.Tuple, ast.List)) else []
    starred = any(isinstance(each, ast.Starred) for each in [*target.elts, *parts])
    if starred or len(parts) != len(target.elts):
        parts = [None] * len(target.elts)
    for each, part in zip(target.elts, parts, strict=True):
        inner = each.value if isinstance(each, ast.Starred) else each
        yield from _bound(node, inner, part, name)


def site_of(
    frame: Frame, name: str, made: Loc | None, within: ast.AST | None = None
) -> Site | None:
    """Where `name` got a value that was made at a place: there, or in the choice or loop there."""
    found = sites(frame.source.body if within is None else [within], name)
    if made is None or not found:
        return found[-1] if found else None

    def at(node: ast.AST | None) -> bool:
        return node is not None and _start(frame.loc(node)) == _start(made)

    exact = [each for each in found if at(each.value) or at(each.statement)]
    if exact:
        return exact[-1]
    for node in own_nodes(frame.source.body):
        if isinstance(node, (ast.If, ast.For, ast.While, ast.Match)) and at(node):
            found = sites([node], name) or found
    computed = [each for each in found if not isinstance(each.value, ast.Constant)]
    return (computed or found)[-1]


def _start(where: Loc) -> tuple[str, int, int]:
    return where.file, where.line, where.col


def fitted(source: Source, node: ast.expr, template: str, *, integer: bool = False) -> str:
    """An expression put into `template`; where an `integer` is wanted, `k / 2` becomes `k // 2`."""
    if integer and isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        return filled(
            "{left} // {right}", left=source.text(node.left), right=source.text(node.right)
        )
    return filled(template, left=source.text(node))


def _dump(node: ast.AST | None) -> str:
    return "" if node is None else ast.dump(node)


def subject(source: Source, pattern: ast.AST) -> ast.expr | None:
    """What the pattern of a `match` is compared with, where that is written."""

    def facing(value: ast.expr, whole: ast.pattern) -> ast.expr | None:
        if whole is pattern:
            return value
        parts: list[tuple[ast.expr, ast.pattern]] = []
        match whole:
            case ast.MatchOr():
                parts = [(value, each) for each in whole.patterns]
            case ast.MatchAs(pattern=ast.pattern() as inner):
                parts = [(value, inner)]
            case ast.MatchSequence():
                written = elements(source, value)
                if len(written) == len(whole.patterns):
                    parts = list(zip(written, whole.patterns, strict=True))
            case _:
                pass
        return next((found for part in parts if (found := facing(*part)) is not None), None)

    for node in own_nodes(source.body):
        if isinstance(node, ast.Match):
            for case in node.cases:
                found = facing(node.subject, case.pattern)
                if found is not None:
                    return found
    return None
