"""Writes what is said of wrong kernels and graphs into tests/golden, and docs/errors.md from there.

A file of tests/golden/errors or tests/golden/graphs is a list of cases: a heading, the program, the
message. `python tools/errors.py` runs every program and writes the messages and the page anew; read
the difference. A test says when either is out of date.
"""

import dataclasses
import functools
import linecache
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import eagle
import hawk
from eagle.graph.codes import GRAPH_CODES, GRAPH_FAMILIES
from hawk import HawkError
from hawk.frontend.codes import CODES, FAMILIES
from hawk.ir.types import DType
from hawk.kernel import Kernel

ROOT = Path(__file__).parents[1]
CASES = ROOT / "tests" / "golden" / "errors"
GRAPHS = ROOT / "tests" / "golden" / "graphs"
PAGE = ROOT / "docs" / "errors.md"
FILE, GRAPH_FILE = "kernel.py", "graph.py"
"""What the messages call the file of a program."""

NOTES = {"H6": "What a kernel with `checks=True` reports after a run: see [Checks](checks.md)."}
"""What else is to be said of codes that begin so."""

_CASE = re.compile(
    r"^## (.*?)\n\n```python\n(.*?)```\n\n```text\n(.*?)```\n", re.DOTALL | re.MULTILINE
)
_CODE = re.compile(r"\[([HG]\d\d\d)\]$", re.MULTILINE)


@dataclass(frozen=True)
class Case:
    """One wrong kernel or graph."""

    title: str
    program: str
    message: str
    file: str

    @property
    def code(self) -> str:
        """The code in the message; empty for an error of Python's own kinds."""
        found = _CODE.search(self.message)
        return found[1] if found else ""


def cases(folder: Path = CASES) -> list[Case]:
    """Read all cases, file by file in the order of their names."""
    return [
        Case(*match.groups(), path.name)
        for path in sorted(folder.glob("*.md"))
        for match in _CASE.finditer(path.read_text(encoding="utf-8"))
    ]


def names() -> dict[str, Any]:
    """Return what a program may use without importing it."""
    known = {name: getattr(hawk, name) for name in hawk.__all__}
    modules = {"math": math, "functools": functools, "dataclasses": dataclasses}
    return {**known, **modules, "hawk": hawk, "eagle": eagle, "np": np, "dataclass": dataclass}


def error_of(program: str) -> Exception | None:
    """Run a program and trace its last kernel; return the error it ends in."""
    linecache.cache[FILE] = (len(program), None, program.splitlines(keepends=True), FILE)
    namespace = names()
    try:
        exec(compile(program, FILE, "exec", dont_inherit=True), namespace)
        *_, kernel = (each for each in namespace.values() if isinstance(each, Kernel))
        kernel.trace(DType.F32 if kernel.dtype == "float32" else DType.F64)
    except (HawkError, TypeError, ValueError) as error:
        return error
    finally:
        del linecache.cache[FILE]
    return None


def graph_error_of(program: str) -> Exception | None:
    """Run a program that builds or launches a graph; return the error it ends in."""
    text = program.splitlines(keepends=True)
    linecache.cache[GRAPH_FILE] = (len(program), None, text, GRAPH_FILE)
    try:
        exec(compile(program, GRAPH_FILE, "exec", dont_inherit=True), names())
    except (HawkError, TypeError, ValueError) as error:
        return error
    finally:
        del linecache.cache[GRAPH_FILE]
    return None


def said_of(program: str, error_in: Callable[[str], Exception | None] = error_of) -> str:
    """Return the message of the error that a program ends in."""
    error = error_in(program)
    if error is None:
        return ""
    kind = "" if isinstance(error, HawkError) else f"{type(error).__name__}: "
    return f"{kind}{error}\n"


def renewed(text: str, error_in: Callable[[str], Exception | None]) -> str:
    """Return a file of cases with the messages as they are now."""

    def case(m: re.Match[str]) -> str:
        said = said_of(m[2], error_in)
        return f"## {m[1]}\n\n```python\n{m[2]}```\n\n```text\n{said}```\n"

    return _CASE.sub(case, text)


def page(known: list[Case]) -> str:
    """Return the page: each code with its meaning and the first case that has it.

    One that needs no class of its own is shorter, and is taken where there is one.
    """
    return "\n".join(_lines(sorted(known, key=lambda case: "\nclass " in case.program)))


def _lines(known: list[Case]) -> Iterator[str]:
    yield "<!-- made by tools/errors.py -->"
    yield "# Errors"
    yield ""
    yield "What is said of a kernel or graph that cannot be as it is written. A message has a code,"
    yield "the place with carets under the expression, the calls that led there, and what to write"
    yield "instead. Codes stay what they are from one version to the next."
    for letter, title in {**FAMILIES, **GRAPH_FAMILIES}.items():
        yield ""
        yield f"## {title}"
        if letter in NOTES:
            yield ""
            yield NOTES[letter]
        for code, meaning in {**CODES, **GRAPH_CODES}.items():
            if code.startswith(letter):
                yield from _section(code, meaning, next((c for c in known if c.code == code), None))
    yield ""


def _section(code: str, meaning: str, example: Case | None) -> Iterator[str]:
    yield ""
    yield f"({code})="
    yield f"### {code}"
    yield ""
    yield meaning
    if example is not None:
        yield ""
        yield f"```python\n{example.program}```"
        yield ""
        yield f"```text\n{example.message}```"


def main() -> None:
    """Write the messages, then the page."""
    for folder, error_in in ((CASES, error_of), (GRAPHS, graph_error_of)):
        for path in folder.glob("*.md"):
            text = renewed(path.read_text(encoding="utf-8"), error_in)
            path.write_text(text, encoding="utf-8")
    PAGE.write_text(page([*cases(), *cases(GRAPHS)]), encoding="utf-8")


if __name__ == "__main__":
    main()
