"""The page about accuracy says what is promised, and what was found of the present functions."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.unit.math.functions import ONE, TWO
from tests.unit.math.reference import exact_error
from tools.accuracy import QUICK_EVERY, WIDTHS, Job, measure

PAGE = Path(__file__).parents[3] / "docs" / "accuracy.md"
ROWS = {**ONE, **TWO}


def table() -> dict[str, list[str]]:
    """The cells of each function's row."""
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return {name: [cell.strip("`") for cell in rest.split(" | ")] for name, rest in rows}


def test_every_function_is_there_with_its_bound_and_keeps_it() -> None:
    assert list(table()) == list(ROWS)
    for name, (bound, wide, _, _, narrow, _, _) in table().items():
        assert float(bound) == ROWS[name].bound
        assert max(float(wide), float(narrow)) <= float(bound), name


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
