"""What to write instead, made of the texts that the user wrote. Pure, but for reading a source."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from hawk.edits import Edit, expression, filled
from hawk.frontend.source import Source, own_nodes
from hawk.frontend.symbols import SYMBOLS

Assignment = ast.Assign | ast.AugAssign | ast.AnnAssign


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
    template = "{0}" + "".join(f" {op} {{{n}}}" for n, op in enumerate(symbols, start=1))
    return filled(template, **{str(n): each for n, each in enumerate(texts)})


def comparison(op: ast.cmpop) -> str:
    """A comparison as it is written."""
    words = {ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not"}
    return words.get(type(op)) or SYMBOLS[type(op)]


def fresh(*texts: str) -> tuple[str, str]:
    """Two names that these texts do not use."""
    used = set(re.findall(r"\w+", " ".join(texts)))
    free = [name for name in ("a", "b", "each", "other", "item", "second") if name not in used]
    return (*free, "each_", "other_")[0], (*free, "each_", "other_")[1]


def elements(source: Source, node: ast.AST | None) -> list[ast.expr]:
    """The elements of a tuple, list or set as it is written; none where it is not."""
    if not isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return []
    return [] if any(isinstance(each, ast.Starred) for each in node.elts) else list(node.elts)


def assignments(source: Source, name: str, within: ast.AST | None = None) -> list[Assignment]:
    """The statements that assign to `name` alone, in the order of the text."""
    nodes = own_nodes(source.body if within is None else [within])  # type: ignore[list-item]
    found = [each for each in nodes if isinstance(each, Assignment) and _assigns(each, name)]
    return sorted(found, key=lambda each: each.lineno)


def _assigns(node: Assignment, name: str) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [getattr(each, "id", None) for each in targets] == [name] and node.value is not None


def assigned(source: Source, node: Assignment, template: str, *, integer: bool = False) -> str:
    """An assignment whose value is put into `template`, for {left}.

    Of `k += x` that is the sum. Where an `integer` is wanted, a quotient becomes a whole one.
    """
    assert node.value is not None
    target = node.target if not isinstance(node, ast.Assign) else node.targets[0]
    name, text = source.text(target), source.text(node.value)
    value: ast.expr = node.value
    if isinstance(node, ast.AugAssign):
        symbol = SYMBOLS[type(node.op)]
        if integer and isinstance(node.op, ast.Div):
            return f"{name} //= {text}"
        text = filled(f"{{left}} {symbol} {{right}}", left=name, right=text)
        return f"{name} = {filled(template, left=text)}"
    return f"{name} = {fitted(source, value, template, integer=integer)}"


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
