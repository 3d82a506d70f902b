"""Places in a user's text, and what to write there instead: right as it stands when pasted."""

from __future__ import annotations

import ast
import linecache
import os
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Loc:
    """Where in the user's file something was written.

    Lines count from 1 and columns from 0, as in `ast`; columns are in characters, not bytes.
    `caller` is the place of the call that led into the function `function`, so the chain of
    callers is the chain of helpers, innermost first.
    """

    file: str
    line: int
    col: int
    end_line: int
    end_col: int
    function: str = ""
    caller: Loc | None = None

    def short(self) -> str:
        """The place as `file.py:12`, for lists and printed programs."""
        return f"{self.file.rpartition(os.sep)[2]}:{self.line}"


NOWHERE = Loc("<hawk>", 0, 0, 0, 0)
"""The place of what no user wrote."""


@dataclass(frozen=True, slots=True)
class Edit:
    """`text` to write in place of what stands at `at`, or as lines before it.

    NOWHERE as the place is that of the error; `remark` is said after the text.
    """

    text: str
    remark: str = ""
    at: Loc = NOWHERE
    before: bool = False

    def placed(self, where: Loc) -> Edit:
        """The edit of an error at `where`, in parentheses where the text around asks for them."""
        at = where if self.at is NOWHERE else self.at
        text = self.text if self.before else fitting(self.text, at)
        return replace(self, text=text, at=at)

    def said(self, where: Loc) -> str:
        """The edit in a message about `where`: the text, and its place if that is another."""
        place = ""
        if self.before:
            place = f" before line {self.at.line}"
        elif self.at.file != where.file:
            place = f", in {self.at.short()}"
        elif not where.line <= self.at.line <= max(where.line, where.end_line):
            place = f", in line {self.at.line}"
        return self.text + place + self.remark


def edited(lines: Sequence[str], edit: Edit) -> str:
    """The text of a file after an edit."""
    at, number = edit.at, edit.at.line - 1
    first = lines[number]
    indent = first[: len(first) - len(first.lstrip())]
    text = edit.text.replace("\n", f"\n{indent}")
    if edit.before:
        return "".join([*lines[:number], f"{indent}{text}\n", *lines[number:]])
    end = lines[at.end_line - 1][at.end_col :]
    return "".join([*lines[:number], first[: at.col], text, end, *lines[at.end_line :]])


def fitting(text: str, at: Loc) -> str:
    """`text`, in parentheses where operators around `at` would tear it apart.

    Both are pasted and read by Python: the parentheses are needed where they change the meaning.
    """
    node = expression(text)
    if node is None or isinstance(node, _ATOMS):
        return text
    for lines, first in _around(at):
        moved = replace(at, line=at.line - first, end_line=at.end_line - first)
        safe = _meaning(edited(lines, Edit(f"({text})", at=moved)))
        if safe is not None:
            bare = _meaning(edited(lines, Edit(text, at=moved)))
            return text if bare == safe else f"({text})"
    return text


def filled(template: str, **texts: str) -> str:
    """`template` with the texts in the places of their {names}, in parentheses where needed."""
    parts = re.split(r"\{(\w+)\}", template)
    bare = [texts[part] if place % 2 else part for place, part in enumerate(parts)]
    safe = [f"({part})" if place % 2 else part for place, part in enumerate(bare)]
    wanted = _meaning("".join(safe))
    if wanted is None:  # words, not code
        return "".join(bare)
    for place in range(1, len(parts), 2):
        tried = [*safe[:place], bare[place], *safe[place + 1 :]]
        if _meaning("".join(tried)) == wanted:
            safe = tried
    return "".join(safe)


def expression(text: str) -> ast.expr | None:
    """The expression that a text is, if it is one."""
    try:
        return _parsed(text.strip(), "eval").body  # type: ignore[attr-defined]
    except (SyntaxError, ValueError):
        return None


def is_code(text: str) -> bool:
    """Whether a text is one expression or statement of Python, with nothing left open."""
    if "\n" in text or "#" in text:  # several lines are made, or named, by whoever says them
        return False
    try:
        tree = _parsed(text, "exec")
    except (SyntaxError, ValueError):
        return False
    dots = (isinstance(n, ast.Constant) and n.value is Ellipsis for n in ast.walk(tree))
    return bool(text.strip()) and not any(dots)


_ATOMS = (
    *(ast.Name, ast.Attribute, ast.Call, ast.Subscript),
    *(ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp),
)
"""Expressions that no operator tears apart."""


def _parsed(text: str, mode: str) -> ast.AST:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what the user wrote, Python has warned already
        return ast.parse(text, mode=mode)


def _meaning(text: str) -> str | None:
    """What Python reads in a text; None if it is not Python."""
    try:
        return ast.dump(_parsed(text, "exec"))
    except (SyntaxError, ValueError, RecursionError):
        return None


def _around(at: Loc) -> list[tuple[list[str], int]]:
    """Lines around a place that Python may read alone, fewest first; how many stand before them."""
    lines = linecache.getlines(at.file)
    if not 0 < at.line <= at.end_line <= len(lines):
        return []
    starts = [n for n, line in enumerate(lines) if line[:1].strip() and line[:1] not in "#)]}"]
    first = max((n for n in starts if n < at.line), default=0)
    end = min((n for n in starts if n >= at.end_line), default=len(lines))
    return [(lines[first:end], first), (lines, 0)]
