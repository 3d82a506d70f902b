"""Write docs/performance.md, its tables and pictures, from what `benchmarks.rows` measured.

python -m benchmarks.rows --json=docs/performance.json
python -m tools.performance
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.peers.table import PEERS

DOCS = Path(__file__).parents[1] / "docs"
MEASURED, PAGE = "performance.json", "performance.md"

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
    "regimes": "fall through three layers of air, branches, 300 steps",
    "kepler": "Kepler's equation by Newton's method, 100 steps",
    "adaptive": "van der Pol, Dormand-Prince, adaptive steps",
    "montecarlo": "Asian option, 250 normal numbers a sample",
    "stream": "`y = a x + b`, one step: memory alone",
}
OURS, LIMIT, NUMBA = "accipiter", "limit ", "numba"
OTHER_METHOD = {peer.name for peer in PEERS if peer.tolerance}
GOAL = 1.25
"""Of the limit's time."""

TEXT = """# Performance

How long a batch takes, next to C++ written by hand for the vectors of this machine (the *limit*:
registers, several vectors at once, lanes refilled, the best of several kinds), and to a parallel
loop of Numba. All arms run in turn; what they compute is compared first. Ratios are of medians, and
below 1 we are quicker than the limit.

{table}

![Time divided by the limit's](images/performance.png)

Measured on {date}: {machine}. {samples} samples and all cores, where nothing else is said; batches
of 1,000 with one thread, and bound. Where no limit is named, nobody wrote the row by hand.
`math="fast"` is raced against C++ that is as free. An arm that takes less than 50 ms runs once
before each run that is timed, so that no arm pays for what the one before it left in the caches:
after a pause a short run takes longer, by 10 to 20 microseconds of Python, and some until the
threads are awake. Nothing here was typed by hand: `make bench`
measures this machine and writes the page anew.

## Other libraries

{others}

## Samples in other orders

{orders}

## Where we lose

{lost}

## What it rests on

* State stays in registers for all steps of a launch, and several vectors are advanced side by side,
  so that none waits for its own results (decisions 4 and 31).
* No step has a mask until a sample may stop (3).
* Samples that stop give their lane to the next (24), and are taken in the order of the steps they
  are expected to take (30).
* Elementary functions are part of the code, as vectors (14).

## Your machine

`eagle bench` runs a few kernels where it is called, in half a minute and without a C++ compiler or
another library. It first measures what the machine does at most, with multiply-adds that wait for
nothing and a line through numbers that no cache holds, and then says for each kernel how many steps
and floating-point operations a second it does, and which share of the most that is. Operations are
those that `kernel.explain()` counts. `--n` is the number of samples; `--plot FILE` draws it too.
"""

OTHERS = """Their time divided by ours: above 1 we are quicker. Each library has an environment and
a process of its own (`make bench-env`), compiles before the clock starts, and takes its turn with
the other arms (decision 35). Loops are written as their users write them; JAX also in blocks of 8
steps for the whole batch at once. Warp runs kernels on one thread of a CPU.

{table}

![Time divided by ours](images/libraries.png)
{besides}"""


def main() -> None:
    from tools.performance_pictures import draw_libraries, draw_limit

    measured = json.loads((DOCS / MEASURED).read_text(encoding="utf-8"))
    (DOCS / PAGE).write_text(page(measured), encoding="utf-8")
    lines = lines_of(measured)
    draw_limit(lines, DOCS / "images" / "performance.png")
    if any(line.peers for line in lines):
        draw_libraries(lines, DOCS / "images" / "libraries.png")


class Line:
    """One race as the page tells it: seconds are medians."""

    def __init__(self, race: dict[str, Any], usual: int) -> None:
        about = race["about"]
        self.name, self.dtype, self.samples = about["workload"], about["dtype"], about["samples"]
        self.fast, self.order = about["fast"], about.get("order", "")
        self.usual = usual
        times = {row["name"]: row["seconds"] for row in race["rows"] if row["seconds"]}
        self.medians = {name: statistics.median(seconds) for name, seconds in times.items()}
        limits = [row["name"] for row in race["rows"] if row["is_limit"] and row["seconds"]]
        self.ours = next(m for name, m in self.medians.items() if name.startswith(OURS))
        self.limit = min((self.medians[name] for name in limits), default=None)
        self.kind = next((n for n in limits if self.medians[n] == self.limit), "")
        self.kind = self.kind.removeprefix(LIMIT)
        self.numba = next((m for name, m in self.medians.items() if name.startswith(NUMBA)), None)
        others = (OURS, LIMIT, NUMBA, "NumPy")
        self.peers = {n: m for n, m in self.medians.items() if not n.startswith(others)}
        self.missing = {row["name"]: row["missing"] for row in race["rows"] if row["missing"]}
        self.apart = {row["name"]: row["apart"] for row in race["rows"]}

    @property
    def label(self) -> str:
        many = f", {self.samples:,} samples" if self.samples != self.usual else ""
        return NAMES[self.name] + (', `math="fast"`' if self.fast else "") + many

    @property
    def ratio(self) -> float | None:
        return None if self.limit is None else self.ours / self.limit

    @property
    def told(self) -> str:
        """The label, and all else that tells this race from others."""
        return f"{self.label}{f', {self.order}' if self.order else ''}, {self.dtype}"


def lines_of(measured: dict[str, Any]) -> list[Line]:
    usual = statistics.mode(race["about"]["samples"] for race in measured["races"])
    return [Line(race, usual) for race in measured["races"]]


def page(measured: dict[str, Any]) -> str:
    """The text of the page."""
    lines = lines_of(measured)
    told = measured["machine"]
    packages = [f"{name} {told[name]}" for name in ("numpy", "llvmlite", "numba") if name in told]
    packages += told.get("libraries", [])
    machine = (
        f"{told['cpu']}, {told['cores']} cores, Python {told['python']}, {', '.join(packages)}"
    )
    return TEXT.format(
        table=table([line for line in lines if not line.order]),
        others=others(lines),
        orders=orders(lines),
        date=told["date"],
        machine=machine,
        samples=f"{lines[0].usual:,}",
        lost=lost(lines),
    )


def table(lines: Sequence[Line]) -> str:
    head = ("workload", "", "ours, ms", "the limit's", "limit", "Numba / ours")
    return _rows(head, [(line.label, line.dtype, *_cells(line)) for line in lines])


def orders(lines: Sequence[Line]) -> str:
    """The rows that were measured in orders of their stop times, next to the same in none."""
    names = {(line.name, line.dtype, line.samples) for line in lines if line.order}
    if not names:
        return "Not measured."
    mine = [line for line in lines if (line.name, line.dtype, line.samples) in names]
    mine.sort(key=lambda line: list(NAMES).index(line.name))  # stable: as measured otherwise
    head = ("workload", "samples", "ours, ms", "the limit's", "limit", "Numba / ours")
    return _rows(head, [(each.label, each.order or "random", *_cells(each)) for each in mine])


def _cells(line: Line) -> tuple[str, ...]:
    ratio = "" if line.ratio is None else f"{line.ratio:.2f}"
    numba = "" if line.numba is None else f"{line.numba / line.ours:.1f}"
    return f"{line.ours * 1e3:.3g}", ratio, f"`{line.kind}`" if line.kind else "none", numba


def others(lines: Sequence[Line]) -> str:
    """What other libraries take, in our times."""
    raced = [line for line in lines if line.peers]
    if not raced:
        return "Not measured: `make bench-env` installs them."
    names = list(dict.fromkeys(name for line in raced for name in line.peers))
    names = [name for name in names if name not in OTHER_METHOD]
    body = [
        (
            line.label,
            line.dtype,
            *(f"{line.peers[n] / line.ours:.1f}" if n in line.peers else "" for n in names),
        )
        for line in raced
    ]
    besides = [
        f"* {name}, which solves the equations by a method of its own, {line.told}: "
        f"{line.peers[name] / line.ours:.2f} of our time, {line.apart[name]:.0e} apart"
        for line in raced
        for name in line.peers
        if name in OTHER_METHOD
    ]
    besides += missing(lines)
    said = "\n" + "\n".join(besides) if besides else ""
    return OTHERS.format(table=_rows(("workload", "", *names), body), besides=said).rstrip()


def missing(lines: Sequence[Line]) -> list[str]:
    """Which arms could not take part, where, and why."""
    rows: dict[tuple[str, str], list[str]] = {}
    for line in lines:
        for name, why in line.missing.items():
            rows.setdefault((name, why), []).append(line.told)
    elsewhere = {name for line in lines for name in line.medians}
    return [
        f"* {name} is missing{' in ' + '; '.join(where) if name in elsewhere else ''}: {why}"
        for (name, why), where in rows.items()
    ]


def lost(lines: Sequence[Line]) -> str:
    """Who was quicker, and by how much."""
    said = [
        f"* {line.told}: {line.ratio:.2f} of the limit"
        for line in lines
        if line.ratio is not None and line.ratio > GOAL
    ]
    said += [
        f"* {line.told}: {name.split(' ')[0] if name.startswith(NUMBA) else name} takes "
        f"{seconds / line.ours:.2f} of our time"
        for line in lines
        for name, seconds in line.medians.items()
        if seconds < line.ours and not name.startswith((OURS, LIMIT))
    ]
    return "\n".join(said) or "Nowhere by more than a quarter, this time."


def _rows(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *body))


if __name__ == "__main__":
    main()
