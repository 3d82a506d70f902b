"""The page about accuracy says what is promised, and what was found of the present functions."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hawk.kernel import Mathematics
from tests.unit.math.functions import ONE, TWO
from tests.unit.math.reference import exact_error
from tools.accuracy import (
    FAST_HEAD,
    FAST_ROWS,
    KINDS,
    QUICK_EVERY,
    WIDTHS,
    Found,
    Job,
    measure,
    page,
)

PAGE = Path(__file__).parents[3] / "docs" / "accuracy.md"
ROWS = {**ONE, **TWO}
kinds = pytest.mark.parametrize("kind", KINDS)


def table(kind: Mathematics = "portable") -> dict[str, list[str]]:
    """The cells of each function's row."""
    portable, fast = PAGE.read_text(encoding="utf-8").split(FAST_HEAD)
    text = fast if kind == "fast" else portable
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", text, re.MULTILINE)
    return {name: [cell.strip("`") for cell in rest.split(" | ")] for name, rest in rows}


@kinds
def test_every_function_is_there_with_its_bound_and_keeps_it(kind: Mathematics) -> None:
    assert list(table(kind)) == list(KINDS[kind])
    for name, (bound, wide, _, _, narrow, _, _) in table(kind).items():
        assert float(bound) == KINDS[kind][name].bound
        assert max(float(wide), float(narrow)) <= float(bound), name


@kinds
def test_a_table_that_is_not_measured_stays_as_it_is(kind: Mathematics) -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == page({}, (), text)
    found = {
        (name, width, kind): Found(name, width, kind, 7, 0.5, [1.0])
        for name in KINDS[kind]
        for width in WIDTHS
    }
    changed = page(found, (kind,), text)
    parts = zip(text.split(FAST_HEAD), changed.split(FAST_HEAD), strict=True)
    assert [kind == "fast", kind == "portable"] == [old == new for old, new in parts]
    assert changed.count("| 4 | 0.500 | `1.0` | 7 | 0.500 | `1.0` | 7 |") >= 3


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ROWS)
def test_the_worst_number_of_the_page_is_as_far_off_as_it_says(name: str, width: str) -> None:
    cells = table()[name]
    stated, at = cells[1:3] if width == "float64" else cells[4:6]
    dtype: Any = WIDTHS[width]
    numbers = tuple(dtype(each) for each in at.split(", "))
    given = numbers if width == "float32" else tuple(map(float, numbers))
    with np.errstate(all="ignore"):
        got = ROWS[name].function(*given)
    assert abs(exact_error(ROWS[name], numbers, got, dtype) - float(stated)) <= 0.00051


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["exp", "sin", "erfc", "lgamma", "atan2"])
def test_a_quick_measurement_finds_nothing_worse(name: str, width: str) -> None:
    cells = table()[name]
    stated = cells[1] if width == "float64" else cells[4]
    found = measure(Job(name, width, 4000, QUICK_EVERY))
    assert found.units <= max(float(stated) + 0.001, 0.5)


@pytest.mark.parametrize("width", WIDTHS)
def test_fast_kernels_are_measured_too(width: str) -> None:
    found = measure(Job("log10", width, 4000, QUICK_EVERY, "fast"))
    assert 1.0 < found.units <= FAST_ROWS["log10"].bound
