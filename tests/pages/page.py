"""Reads a page of the documentation and runs it as a reader would, from top to bottom.

A page is MyST Markdown. A block that begins with ```{code-cell} is run, all cells of a page in one
namespace. What a cell prints stands in the block right below it that begins with ```text output;
a cell without such a block prints nothing.
"""

import contextlib
import io
import linecache
import sys
import types
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt

OUTPUT = ["text", "output"]


class PageError(Exception):
    """A page that is not written as a page should be."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One piece of code and what the page says it prints."""

    name: str  # what a traceback shows as the file: docs/page.md[3]
    line: int  # of the page, where the code begins; lines count from 1
    code: str
    printed: str

    @property
    def source(self) -> str:
        """The code below empty lines, so that a line of it has the number it has on the page."""
        return "\n" * (self.line - 1) + self.code


def read_page(path: Path, *, root: Path) -> tuple[Cell, ...]:
    """Read the cells of a page; `root` is the folder that their names are relative to."""
    name = path.relative_to(root).as_posix()
    cells: list[Cell] = []
    before_was_cell = False
    for block in MarkdownIt().parse(path.read_text(encoding="utf-8")):
        if block.level > 0 and block.type != "fence":
            continue  # inside a list or a quotation: its opening token was seen already
        words = block.info.split() if block.type == "fence" else []
        if words[:1] == ["{code-cell}"]:
            cells.append(_cell(f"{name}[{len(cells) + 1}]", block.map, block.content))
        elif words == OUTPUT:
            if not before_was_cell:
                raise PageError(f"{name}:{_line(block.map)}: output that belongs to no cell")
            cells[-1] = Cell(cells[-1].name, cells[-1].line, cells[-1].code, block.content)
        before_was_cell = words[:1] == ["{code-cell}"]
    return tuple(cells)


def _line(place: list[int] | None) -> int:
    return place[0] + 1 if place else 1


def _cell(name: str, place: list[int] | None, content: str) -> Cell:
    """Make a cell, its options (lines such as `:tags: [hide-input]` at the top) left out."""
    lines = content.splitlines(keepends=True)
    options = 0
    while options < len(lines) and lines[options].startswith(":"):
        options += 1
    code = "".join(lines[options:])
    return Cell(name, _line(place) + 1 + options, code, printed="")


def run_page(cells: tuple[Cell, ...]) -> Iterator[tuple[Cell, str]]:
    """Run the cells in order; give each with what it printed.

    The source of a cell can be found from then on: kernels are read from their source, and what a
    cell raises, raised here, shows the line of the page in its traceback.
    """
    module = types.ModuleType("page")
    sys.modules[module.__name__] = module
    try:
        for cell in cells:
            lines = cell.source.splitlines(keepends=True)
            linecache.cache[cell.name] = (len(cell.source), None, lines, cell.name)
            yield cell, _run(cell, module)
    finally:
        del sys.modules[module.__name__]
        if "matplotlib.pyplot" in sys.modules:
            sys.modules["matplotlib.pyplot"].close("all")


def _run(cell: Cell, module: types.ModuleType) -> str:
    code = compile(cell.source, cell.name, "exec", dont_inherit=True)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        # plt.show() says so where there is a screen, and a page is right to call it.
        warnings.filterwarnings("ignore", message=".*non-interactive")
        exec(code, module.__dict__)
    return printed.getvalue()
