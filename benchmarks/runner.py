"""Run arms in turn, check that they agree, and say how long each takes next to the limit.

Arms take turns, so that a busy moment of the machine hits all of them. Before each timed run an arm
puts its state back, outside the timed part. What cannot run here is a `Missing`, with the reason.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

PACKAGES = ("accipiter", "numpy", "llvmlite", "numba")
Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class Arm:
    """One way to do the work. `out` gives the arrays to compare, after a run."""

    name: str
    prepare: Callable[[], None]
    run: Callable[[], object]
    out: Callable[[], list[Array]]
    is_limit: bool = False


@dataclass(frozen=True, slots=True)
class Missing:
    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Row:
    """What one arm did. `apart` is how far it is from the first arm: 0 means the same bits."""

    name: str
    is_limit: bool
    seconds: list[float]
    apart: float
    missing: str = ""

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


@dataclass(frozen=True, slots=True)
class Race:
    title: str
    sample_steps: int
    rows: list[Row]
    about: dict[str, Any] = field(default_factory=dict[str, Any])
    """What was raced, for whoever reads the JSON."""

    @property
    def limit(self) -> float | None:
        """The median seconds of the quickest limit arm."""
        return min((row.median for row in self.rows if row.is_limit and row.seconds), default=None)

    def table(self) -> str:
        lines = [
            self.title,
            f"  {'':24}{'median ms':>10}{'best ms':>9}{'G steps/s':>11}{'/ limit':>9}",
        ]
        limit = self.limit
        for row in self.rows:
            if row.missing:
                lines.append(f"  {row.name:24}  missing: {row.missing}")
                continue
            speed = self.sample_steps / row.median / 1e9
            ratio = f"{row.median / limit:9.2f}" if limit is not None else f"{'':9}"
            agreement = "same bits" if row.apart == 0 else f"differs by {row.apart:.0e}"
            lines.append(
                f"  {row.name:24}{row.median * 1e3:10.2f}{min(row.seconds) * 1e3:9.2f}"
                f"{speed:11.2f}{ratio}  {agreement}"
            )
        return "\n".join(lines)


class Disagreement(Exception):
    """Two arms do not compute the same."""


def race(
    title: str,
    arms: Sequence[Arm | Missing],
    *,
    sample_steps: int,
    tolerance: float,
    rounds: int = 15,
    about: dict[str, Any] | None = None,
) -> Race:
    """Time every arm `rounds` times, after one run that is compared with the first arm's."""
    present = [arm for arm in arms if isinstance(arm, Arm)]
    apart = _compare(present, tolerance)
    seconds: dict[str, list[float]] = {arm.name: [] for arm in present}
    for turn in range(rounds if present else 0):
        first = turn % len(present)
        for arm in (*present[first:], *present[:first]):
            arm.prepare()
            begin = time.perf_counter()
            arm.run()
            seconds[arm.name].append(time.perf_counter() - begin)
    rows = [
        Row(arm.name, arm.is_limit, seconds[arm.name], apart[arm.name])
        if isinstance(arm, Arm)
        else Row(arm.name, False, [], 0.0, arm.why)
        for arm in arms
    ]
    return Race(title, sample_steps, rows, about or {})


def write_json(path: Path, races: Sequence[Race]) -> None:
    path.write_text(
        json.dumps({"machine": machine(), "races": [asdict(r) for r in races]}, indent=1)
    )


def machine() -> dict[str, Any]:
    """What the numbers depend on."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return {
        "cpu": models[0] if models else platform.processor(),
        "cores": cores(),
        "system": platform.platform(),
        "python": platform.python_version(),
        **{name: version for name in PACKAGES if (version := _version(name))},
        "date": time.strftime("%Y-%m-%d"),
    }


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _compare(arms: Sequence[Arm], tolerance: float) -> dict[str, float]:
    """The largest relative difference of each arm's planes from the first arm's."""
    apart: dict[str, float] = {}
    expected: list[Array] = []
    for arm in arms:
        arm.prepare()
        arm.run()
        got = [plane.copy() for plane in arm.out()]
        expected = expected or got
        if any(a.tobytes() != b.tobytes() for a, b in zip(expected, got, strict=True)):
            differences = [_difference(a, b) for a, b in zip(expected, got, strict=True)]
            # Unequal bits of equal numbers (-0 and 0) are a difference too.
            apart[arm.name] = max(max(differences), float(np.finfo(got[0].dtype).tiny))
        else:
            apart[arm.name] = 0.0
        if not apart[arm.name] <= tolerance:
            raise Disagreement(
                f"{arm.name} differs from {arms[0].name} by {apart[arm.name]:.1e}, "
                f"more than {tolerance:.1e}"
            )
    return apart


def _difference(expected: Array, got: Array) -> float:
    largest = float(np.max(np.abs(expected))) or 1.0
    return float(np.max(np.abs(expected - got))) / largest
