"""Every page of docs/ that has code runs, and prints what it says it prints."""

from pathlib import Path

import pytest

from tests.pages.page import read_page, run_page

ROOT = Path(__file__).parents[2]
PAGES = [
    path
    for path in sorted((ROOT / "docs").glob("**/*.md"))
    if "_build" not in path.parts and "{code-cell}" in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_page_prints_what_it_says(path: Path) -> None:
    for cell, printed in run_page(read_page(path, root=ROOT)):
        assert cell.printed == printed, f"{cell.name}, line {cell.line} of the page"
