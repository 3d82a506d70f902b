"""`hawk.debug(x, where=...)`, and what is said of a function that CPython runs: with the place."""

from __future__ import annotations

import ast
import linecache
import sys
from types import FrameType

from hawk.errors import Loc
from hawk.frontend.operators import Misfit

HAWK = __file__.rpartition("frontend")[0]
"""The folder of hawk itself."""


def debug(*values: object, where: object = True) -> None:
    """Print numbers with their names, where `where` is True.

    In a kernel it does nothing unless `@hawk.kernel(checks=True)` asks for it; then what the first
    samples show is printed after the run.
    """
    if where:
        caller = outside(sys._getframe(1))  # noqa: SLF001 - the public way is in Python 3.12
        print(debug_text(values, place(caller)))


def debug_text(values: tuple[object, ...], at: Loc | None) -> str:
    """What `debug` prints, with the place and the texts of the values where they are known."""
    shown = [str(value) for value in values]
    if at is None:
        return ", ".join(shown)
    try:
        call = ast.parse(quoted(at), mode="eval").body
        args = call.args if isinstance(call, ast.Call) else []
    except SyntaxError:
        args = []
    texts = [ast.unparse(each) for each in args]
    if len(texts) == len(shown):
        shown = [a if a == b else f"{a} = {b}" for a, b in zip(texts, shown, strict=True)]
    return f"{at.short()}: {', '.join(shown)}"


def misfit_text(misfit: Misfit, left: object = "", right: object = "") -> str:
    """What a TypeError in a function under CPython says: the place, what does not fit, the fix."""
    at = place(outside(sys._getframe(1)))  # noqa: SLF001 - as above
    what = misfit.what.replace("{left}", str(left)).replace("{right}", str(right))
    text = f"{what} [{misfit.code}]" if at is None else f"{at.short()}: {what} [{misfit.code}]"
    fixes = [str(fix) for fix in misfit.fixes if str(fix) and "{" not in str(fix)]
    return "\n".join([text, *(f"  write: {fix}" for fix in fixes[:1])])


def quoted(where: Loc) -> str:
    """What the user wrote at a place; nothing where it takes several lines."""
    if where.line != where.end_line:
        return ""
    return linecache.getline(where.file, where.line)[where.col : where.end_col]


def outside(frame: FrameType | None) -> FrameType | None:
    """The first frame, from the inside, of a function that is not hawk's."""
    while frame is not None and frame.f_code.co_filename.startswith(HAWK):
        frame = frame.f_back
    return frame


def place(frame: FrameType | None) -> Loc | None:
    """What a function is doing; None where that is not known."""
    if frame is None or frame.f_lasti < 0:
        return None
    code = frame.f_code
    line, end_line, col, end_col = list(code.co_positions())[frame.f_lasti // 2]
    if line is None or end_line is None or col is None or end_col is None:
        return None
    start, end = (
        len(linecache.getline(code.co_filename, number).encode()[:offset].decode(errors="replace"))
        for number, offset in ((line, col), (end_line, end_col))
    )
    return Loc(code.co_filename, line, start, end_line, end, code.co_name)
