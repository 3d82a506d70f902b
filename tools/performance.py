"""Write docs/performance.md, its table and its picture, from what `benchmarks.rows` measured.

python -m benchmarks.rows --json=docs/performance.json
python -m tools.performance
"""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1] / "docs"
MEASURED, PAGE, PICTURE = "performance.json", "performance.md", "images/performance.png"

NAMES = {
    "oscillator": "oscillator, 1,000 steps",
    "spread100": "oscillator, stop times spread 100-fold",
    "spread1000": "oscillator, stop times spread 1000-fold",
    "outliers": "oscillator, one of 100 samples takes 100 times as many steps",
    "orbit": "two bodies, Runge-Kutta, 500 steps",
    "lorenz": "Lorenz, Runge-Kutta, 1,000 steps",
    "pendulum": "pendulum with `sin`, `exp`, `pow`, 500 steps",
    "card_spread": "damped oscillator, Runge-Kutta, stop times spread 100-fold",
    "card_uniform": "damped oscillator, Runge-Kutta, 1,000 steps",
}

TEXT = """# Performance

How long a batch takes, next to C++ written by hand for the vectors of this machine (the *limit*:
registers, several vectors at once, lanes refilled, the best of several kinds), and to a parallel
loop of Numba. All arms run in turn, in one process; what they compute is compared first. Ratios are
of medians, and below 1 we are quicker.

{table}

![Time divided by the limit's](images/performance.png)

Measured on {date}: {machine}. {samples} samples and all cores; small batches with one thread, and
bound. `math="fast"` is raced against C++ that is as free. Nothing here was typed by hand:
`make bench` measures this machine and writes the page anew.

## Where we lose

{lost}

## What it rests on

* State stays in registers for all steps of a launch, and several vectors are advanced side by side,
  so that none waits for its own results (decisions 4 and 31).
* No step has a mask until a sample may stop (3).
* Samples that stop give their lane to the next (24), and are taken in the order of the steps they
  are expected to take (30).
* Elementary functions are part of the code, as vectors (14).
"""


def main() -> None:
    measured = json.loads((DOCS / MEASURED).read_text(encoding="utf-8"))
    (DOCS / PAGE).write_text(page(measured), encoding="utf-8")
    draw(measured, DOCS / PICTURE)


class Line:
    """One race as the page tells it: seconds are medians."""

    def __init__(self, race: dict[str, Any]) -> None:
        about = race["about"]
        self.name, self.dtype, self.samples = about["workload"], about["dtype"], about["samples"]
        self.fast = about["fast"]
        times = {row["name"]: row["seconds"] for row in race["rows"] if row["seconds"]}
        medians = {name: statistics.median(seconds) for name, seconds in times.items()}
        limits = [row["name"] for row in race["rows"] if row["is_limit"] and row["seconds"]]
        self.ours = next(m for name, m in medians.items() if name.startswith("accipiter"))
        self.limit = min((medians[name] for name in limits), default=None)
        self.kind = next((n.removeprefix("limit ") for n in limits if medians[n] == self.limit), "")
        self.numba = next((m for name, m in medians.items() if name.startswith("numba")), None)

    @property
    def label(self) -> str:
        small = f", {self.samples:,} samples" if self.samples <= 1000 else ""
        return NAMES[self.name] + (', `math="fast"`' if self.fast else "") + small

    @property
    def ratio(self) -> float | None:
        return None if self.limit is None else self.ours / self.limit


def page(measured: dict[str, Any]) -> str:
    """The text of the page."""
    lines = [Line(race) for race in measured["races"]]
    told = measured["machine"]
    packages = [f"{name} {told[name]}" for name in ("numpy", "llvmlite", "numba") if name in told]
    machine = (
        f"{told['cpu']}, {told['cores']} cores, Python {told['python']}, {', '.join(packages)}"
    )
    most = max(line.samples for line in lines)
    return TEXT.format(
        table=table(lines),
        date=told["date"],
        machine=machine,
        samples=f"{most:,}",
        lost=lost(lines),
    )


def table(lines: list[Line]) -> str:
    rows = [
        "| workload | | ours, ms | the limit's | limit | Numba / ours |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for line in lines:
        ratio = "" if line.ratio is None else f"{line.ratio:.2f}"
        numba = "" if line.numba is None else f"{line.numba / line.ours:.1f}"
        kind = f"`{line.kind}`" if line.kind else ""
        cells = [line.label, line.dtype, f"{line.ours * 1e3:.3g}", ratio, kind, numba]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def lost(lines: list[Line]) -> str:
    """Who was quicker, and by how much."""
    slower = [line for line in lines if line.ratio is not None and line.ratio > 1.25]
    said = [f"* {each.label}, {each.dtype}: {each.ratio:.2f} of the limit" for each in slower]
    said += [
        f"* {each.label}, {each.dtype}: Numba takes {each.numba / each.ours:.2f} of our time"
        for each in lines
        if each.numba is not None and each.numba < each.ours
    ]
    return "\n".join(said) or "Nowhere by more than a quarter, this time."


def draw(measured: dict[str, Any], path: Path) -> None:
    """Bars of the ratios to the limit."""
    from matplotlib.figure import Figure

    lines = [line for race in measured["races"] if (line := Line(race)).ratio is not None]
    names = list(dict.fromkeys(line.label.replace("`", "") for line in lines))
    figure = Figure(figsize=(8.0, 0.42 * len(names) + 1.0), layout="constrained")
    axes = figure.subplots()
    for shift, dtype, colour in ((-0.2, "float64", "#2f5d8a"), (0.2, "float32", "#d98841")):
        mine = {line.label.replace("`", ""): line.ratio for line in lines if line.dtype == dtype}
        places = [names.index(name) + shift for name in mine]
        axes.barh(places, list(mine.values()), height=0.36, color=colour, label=dtype)
    axes.axvline(1.0, color="black", linewidth=1.0)
    axes.axvline(1.25, color="black", linewidth=0.8, linestyle=":")
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlabel("time divided by that of C++ written by hand (dotted: our goal)")
    axes.legend(frameon=False, loc="lower right")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
