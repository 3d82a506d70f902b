"""The page about performance says what was measured, and nothing else."""

import json
from typing import Any

from tools.performance import (
    DOCS,
    GOAL,
    MEASURED,
    PAGE,
    lines_of,
    lost,
    orders,
    others,
    page,
    table,
)

MEASUREMENT = json.loads((DOCS / MEASURED).read_text(encoding="utf-8"))


def test_the_page_is_made_of_what_was_measured() -> None:
    assert page(MEASUREMENT) == (DOCS / PAGE).read_text(encoding="utf-8")


def test_what_is_slower_than_the_goal_is_named() -> None:
    text = (DOCS / PAGE).read_text(encoding="utf-8")
    named = text[text.index("## Where we lose") : text.index("## What it rests on")]
    for line in lines_of(MEASUREMENT):
        if line.ratio is not None:
            slow = line.ratio > GOAL
            assert slow == (f"* {line.told}: {line.ratio:.2f} of the limit" in named)


def row(name: str, seconds: float, *, apart: float = 0.0, missing: str = "") -> dict[str, Any]:
    return {
        "name": name,
        "is_limit": name.startswith("limit"),
        "seconds": [] if missing else [seconds],
        "apart": apart,
        "missing": missing,
    }


def measured(workload: str, *rows: dict[str, Any], **about: Any) -> dict[str, Any]:
    usual = {"workload": workload, "dtype": "float64", "samples": 100, "fast": False}
    return {"about": usual | about, "rows": list(rows)}


FOUR = {
    "races": [
        measured(
            "orbit",
            row("limit vec2", 0.5),
            row("limit vec3", 0.4),
            row("accipiter", 0.2),
            row("numba while, fastmath", 1.0),
            row("Taichi", 1.1),
            row("Warp", 0.0, missing="no wheel"),
            row("heyoka.py, 1 thread", 0.1, apart=1e-7),
        ),
        measured("spread100", row("limit vec2", 0.1), row("accipiter", 0.2), row("Taichi", 0.15)),
        measured("spread100", row("limit vec1", 0.2), row("accipiter", 0.2), order="sorted"),
        measured("oscillator", row("accipiter", 0.001), row("NumPy", 0.002), samples=1000),
    ]
}


def test_tables_have_a_row_for_each_race() -> None:
    lines = lines_of(FOUR)

    assert table(lines[:1]).endswith(
        "| two bodies, Runge-Kutta, 500 steps | float64 | 200 | 0.50 | `vec3` | 5.0 |"
    )
    assert table(lines[3:]).endswith(
        "| oscillator, 1,000 steps, 1,000 samples | float64 | 1 |  | none |  |"
    )
    assert (
        "| oscillator, stop times spread 100-fold | random | 200 | 2.00 | `vec2` |  |\n"
        "| oscillator, stop times spread 100-fold | sorted | 200 | 1.00 | `vec1` |  |"
    ) in orders(lines)
    assert "Not measured." == orders(lines[:1])


def test_other_libraries_stand_in_our_times() -> None:
    text = others(lines_of(FOUR))

    assert "| workload |  | Taichi |" in text
    assert "| two bodies, Runge-Kutta, 500 steps | float64 | 5.5 |" in text
    assert "* heyoka.py, 1 thread, which solves the equations by a method of its own" in text
    assert "500 steps, float64: 0.50 of our time, 1e-07 apart" in text
    assert text.endswith("\n* Warp is missing: no wheel")
    assert others(lines_of(FOUR)[2:]).startswith("Not measured: `make bench-env`")


def test_whoever_is_quicker_is_named() -> None:
    assert (
        "* oscillator, stop times spread 100-fold, float64: 2.00 of the limit\n"
        "* two bodies, Runge-Kutta, 500 steps, float64: "
        "heyoka.py, 1 thread takes 0.50 of our time\n"
        "* oscillator, stop times spread 100-fold, float64: Taichi takes 0.75 of our time"
    ) == lost(lines_of(FOUR))
