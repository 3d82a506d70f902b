"""What hawk says when something is wrong: a code, the place, carets, and what to write instead."""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from typing import TypeAlias

from hawk.edits import NOWHERE, Edit, Loc, is_code

__all__ = ["NOWHERE", "Edit", "Fix", "HawkError", "Loc", "render"]

Fix: TypeAlias = str | Edit | Sequence[str | Edit]
"""What to write instead: code, or words. Of several the user chooses one."""


class HawkError(Exception):
    """A kernel that hawk cannot understand or compile.

    `code` names the rule (`H204`), `what` says what is wrong in one sentence, `fix` is the text to
    write instead (may be empty), `loc` is the place. `edits` are what `fix` says, as far as it is
    code: each can be pasted where it says. The message holds the source line and the chain of
    callers as they were when the error was made, so it survives pickling and edits.
    """

    def __init__(self, code: str, what: str, loc: Loc = NOWHERE, fix: Fix = "") -> None:
        choices = [fix] if isinstance(fix, (str, Edit)) else list(fix)
        placed = [_placed(each, loc) for each in choices]
        self.code, self.what, self.loc = code, what, loc
        self.edits = tuple(each for each in placed if isinstance(each, Edit))
        texts = [each.said(loc) if isinstance(each, Edit) else each for each in placed]
        self.fix = ";\nor ".join(texts)
        self.message = render(code, what, loc, self.fix)
        super().__init__(self.message)

    @property
    def advice(self) -> Fix:
        """What to write, for another error that comes of this one."""
        return self.edits or self.fix

    @property
    def public(self) -> HawkError:
        """The error as a plain HawkError: how a walk told it from others is nobody's business."""
        kept = (self.code, self.what, self.loc, self.fix, self.edits, self.message)
        return _restore(HawkError, *kept)

    def __reduce__(self) -> tuple[object, ...]:
        kept = (self.code, self.what, self.loc, self.fix, self.edits, self.message)
        return _restore, (type(self), *kept)


HawkError.__module__ = "hawk"  # where users find it, and what a traceback should say


def _restore(
    kind: type[HawkError],
    code: str,
    what: str,
    loc: Loc,
    fix: str,
    edits: tuple[Edit, ...],
    message: str,
) -> HawkError:
    error = kind.__new__(kind)
    Exception.__init__(error, message)
    error.code, error.what, error.loc, error.fix = code, what, loc, fix
    error.edits, error.message = edits, message
    return error


def _placed(fix: str | Edit, where: Loc) -> str | Edit:
    """A suggestion at its place; text that is code stands for what the carets mark."""
    if isinstance(fix, str):
        if where is NOWHERE or not is_code(fix):
            return fix
        fix = Edit(fix)
    return fix.placed(where)


def render(code: str, what: str, loc: Loc, fix: str) -> str:
    """The whole message: place, sentence, source line with carets, callers, and the fix."""
    if loc is NOWHERE:
        lines = [f"{what} [{code}]"]
    else:
        lines = [f"{loc.file}:{loc.line}: {what} [{code}]", *_quoted(loc)]
    caller = loc.caller
    callee = loc.function
    while caller is not None:
        lines += [f"  in `{callee}`, called from {caller.file}:{caller.line}", *_quoted(caller)]
        callee, caller = caller.function, caller.caller
    if fix:
        first, *rest = fix.splitlines()
        lines += [f"  write: {first}", *(f"         {line}" for line in rest)]
    return "\n".join(lines)


def _quoted(loc: Loc) -> list[str]:
    """The source line and carets under the expression; nothing where the text is gone."""
    text = linecache.getline(loc.file, loc.line).rstrip("\n")
    if not text.strip():
        return []
    end = loc.end_col if loc.end_line == loc.line else len(text)
    indent = len(text) - len(text.lstrip())
    start = max(0, loc.col - indent)
    return [f"    {text[indent:]}", "    " + " " * start + "^" * max(1, end - loc.col)]
