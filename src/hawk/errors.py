"""What hawk says when something is wrong: a code, the place, carets, and what to write instead."""

from __future__ import annotations

import linecache
import os
from dataclasses import dataclass


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


class HawkError(Exception):
    """A kernel that hawk cannot understand or compile.

    `code` names the rule (`H204`), `what` says what is wrong in one sentence, `fix` is the text to
    write instead (may be empty), `loc` is the place. The message holds the source line and the
    chain of callers as they were when the error was made, so it survives pickling and edits.
    """

    def __init__(self, code: str, what: str, loc: Loc = NOWHERE, fix: str = "") -> None:
        self.code, self.what, self.loc, self.fix = code, what, loc, fix
        self.message = render(code, what, loc, fix)
        super().__init__(self.message)

    @property
    def public(self) -> HawkError:
        """The error as a plain HawkError: how a walk told it from others is nobody's business."""
        return _restore(HawkError, self.code, self.what, self.loc, self.fix, self.message)

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (type(self), self.code, self.what, self.loc, self.fix, self.message)


HawkError.__module__ = "hawk"  # where users find it, and what a traceback should say


def _restore(
    kind: type[HawkError], code: str, what: str, loc: Loc, fix: str, message: str
) -> HawkError:
    error = kind.__new__(kind)
    Exception.__init__(error, message)
    error.code, error.what, error.loc, error.fix, error.message = code, what, loc, fix, message
    return error


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
