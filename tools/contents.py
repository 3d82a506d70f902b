"""Writes the table of contents of src into CONTRIBUTING.md, from each file's first line.

`python tools/contents.py` writes it (`make format` does so); a test says when it is out of date.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "CONTRIBUTING.md"
BEGIN, END = "<!-- made by tools/contents.py -->\n", "<!-- until here -->\n"


def first_line(path: Path) -> str:
    """Return the first line of a module's docstring, or nothing."""
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    return docstring.splitlines()[0] if docstring else ""


def rows(folder: Path, depth: int) -> Iterator[tuple[str, str]]:
    """Give a name and its sentence for a folder (that of its `__init__`) and all in it."""
    init = folder / "__init__.py"
    yield "  " * depth + folder.name + "/", first_line(init) if init.exists() else ""
    for path in sorted(folder.glob("*.py")):
        if path != init:
            yield "  " * (depth + 1) + path.name, first_line(path)
    for path in sorted(folder.iterdir()):
        if path.is_dir() and any(path.glob("**/*.py")):
            yield from rows(path, depth + 1)


def contents() -> str:
    """Return the table of both packages."""
    table = [row for name in ("hawk", "eagle") for row in rows(ROOT / "src" / name, 0)]
    width = max(len(name) for name, _ in table)
    lines = [f"{name:{width}}  {sentence}".rstrip() for name, sentence in table]
    return "```text\n" + "\n".join(lines) + "\n```\n"


def with_contents(page: str) -> str:
    """Return the page with the table as it should be now."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return before + BEGIN + contents() + END + after


if __name__ == "__main__":
    PAGE.write_text(with_contents(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
