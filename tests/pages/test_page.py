"""The runner of pages, on small pages made here."""

import inspect
import linecache
import sys
import traceback
from pathlib import Path

import pytest

from tests.pages.page import Cell, PageError, read_page, run_page


def page(folder: Path, text: str) -> tuple[Cell, ...]:
    path = folder / "docs" / "page.md"
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    return read_page(path, root=folder)


TWO_CELLS = """\
# A page

```{code-cell} ipython3
:tags: [hide-input]
:name: first
import sys
n = 3
```

Text, and code that is shown only:

```python
raise SystemExit
```

```{code-cell}
print("n is", n)
print(n + 1)
```

```text output
n is 3
4
```

```text
not output
```
"""


def test_cells_share_one_namespace_and_run_in_order(tmp_path: Path) -> None:
    cells = page(tmp_path, TWO_CELLS)

    printed = [text for _, text in run_page(cells)]

    assert ["", "n is 3\n4\n"] == printed
    assert ["", "n is 3\n4\n"] == [cell.printed for cell in cells]
    assert ["docs/page.md[1]", "docs/page.md[2]"] == [cell.name for cell in cells]


def test_the_source_of_a_cell_is_found_with_the_lines_of_the_page(tmp_path: Path) -> None:
    text = "Words.\n\n```{code-cell}\ndef f():\n    return 1\n```\n"
    cells = page(tmp_path, text)

    for cell, _ in run_page(cells):
        f = sys.modules["page"].f
        assert "def f():\n    return 1\n" == inspect.getsource(f)
        assert text.splitlines()[3] == linecache.getline(cell.name, 4).rstrip()
        assert 4 == f.__code__.co_firstlineno

    assert "page" not in sys.modules


def test_an_error_shows_the_line_of_the_page(tmp_path: Path) -> None:
    cells = page(tmp_path, "```{code-cell}\nx = 1\nx / 0\n```\n")

    with pytest.raises(ZeroDivisionError) as caught:
        list(run_page(cells))

    last = traceback.extract_tb(caught.tb)[-1]
    assert ("docs/page.md[1]", 3, "x / 0") == (last.filename, last.lineno, last.line)


def test_output_without_a_cell_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PageError, match=r"docs/page.md:7: output that belongs to no cell"):
        page(tmp_path, "```{code-cell}\n1\n```\n\nText.\n\n```text output\n1\n```\n")


def test_a_page_may_define_dataclasses_and_draw(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    code = """\
from __future__ import annotations
from dataclasses import dataclass
import matplotlib.pyplot as plt

@dataclass
class Point:
    x: float

plt.plot([Point(1.0).x])
plt.show()
print(len(plt.get_fignums()), plt.get_backend())
"""
    cells = page(tmp_path, f"```{{code-cell}}\n{code}```\n")

    assert ["1 agg\n"] == [printed for _, printed in run_page(cells)]
    assert [] == sys.modules["matplotlib.pyplot"].get_fignums()
