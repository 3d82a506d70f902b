"""The page about performance says what was measured, and nothing else."""

import json

from tools.performance import DOCS, MEASURED, PAGE, Line, page

MEASUREMENT = json.loads((DOCS / MEASURED).read_text(encoding="utf-8"))


def test_the_page_is_made_of_what_was_measured() -> None:
    assert page(MEASUREMENT) == (DOCS / PAGE).read_text(encoding="utf-8")


def test_what_is_slower_than_the_goal_is_named() -> None:
    text = (DOCS / PAGE).read_text(encoding="utf-8")
    lost = text[text.index("## Where we lose") : text.index("## What it rests on")]
    for line in map(Line, MEASUREMENT["races"]):
        assert line.ratio is not None
        slow = line.ratio > 1.25
        assert slow == (f"* {line.label}, {line.dtype}: {line.ratio:.2f} of the limit" in lost)
