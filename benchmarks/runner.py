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
PATIENCE, FEWEST = 1.5, 3
"""Seconds that an arm of a race may take in all, but for its fewest rounds. Arms in other processes
have one at least; where a run takes longer than twice that, the one that is compared counts."""
Array = np.ndarray[Any, np.dtype[Any]]


REST = 0.01
"""Seconds before each turn. Threads of OpenMP go on looking for work for some milliseconds after
the arm before, on the core that this one needs."""
WARM = 0.05
"""An arm that takes less has a run before the one that is timed. Else it is the caches that are
measured, and the threads that have to be woken: what arms before it and `REST` left."""


@dataclass(frozen=True, slots=True)
class Arm:
    """One way to do the work. `out` gives the arrays to compare, after a run."""

    name: str
    prepare: Callable[[], None]
    run: Callable[[], object]
    out: Callable[[], list[Array]]
    is_limit: bool = False
    times_itself: bool = False
    """`run` gives seconds: the arm is another process, and talking to it is no part of the work."""
    tolerance: float | None = None
    """Of this arm, where it does the work by another method."""

    def turn(self, expected: float) -> float:
        """Run when others have, and say how long it took; about as long as expected."""
        time.sleep(REST)
        if expected < WARM:
            self.seconds()
        return self.seconds()

    def seconds(self) -> float:
        """Run once, and say how long it took."""
        self.prepare()
        begin = time.perf_counter()
        given = self.run()
        took = time.perf_counter() - begin
        return given if self.times_itself and isinstance(given, float) else took


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


class Failed(Exception):
    """An arm in another process cannot do what it is asked to do."""


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
    compared = _compare(present, tolerance)
    failed = {arm.name: arm.why for arm in arms if isinstance(arm, Missing)} | compared.failed
    often = {
        arm.name: turns(compared.took[arm.name], rounds, FEWEST if not arm.times_itself else 1)
        for arm in present
        if arm.name in compared.took
    }
    seconds: dict[str, list[float]] = {
        name: [] if turns_of_it else [compared.took[name]] for name, turns_of_it in often.items()
    }
    for turn in range(rounds):
        first = turn % max(1, len(present))
        for arm in (*present[first:], *present[:first]):
            if arm.name in failed or turn not in often[arm.name]:
                continue
            try:
                seconds[arm.name].append(arm.turn(compared.took[arm.name]))
            except Failed as why:
                failed[arm.name] = str(why)
    rows = [
        Row(arm.name, False, [], 0.0, failed[arm.name])
        if arm.name in failed or isinstance(arm, Missing)
        else Row(arm.name, arm.is_limit, seconds[arm.name], compared.apart[arm.name])
        for arm in arms
    ]
    return Race(title, sample_steps, rows, about or {})


def turns(took: float, rounds: int, fewest: int) -> set[int]:
    """The rounds in which an arm takes part that takes so long: slow ones in fewer, or none."""
    if took > 2 * PATIENCE:
        return set()
    many = min(rounds, max(fewest, int(PATIENCE / max(took, 1e-9))))
    return {turn * rounds // many for turn in range(many)}


def write_json(path: Path, races: Sequence[Race], libraries: Sequence[str] = ()) -> None:
    told = {"machine": machine() | {"libraries": [*libraries]}, "races": [asdict(r) for r in races]}
    path.write_text(json.dumps(told, indent=1))


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


class _Compared:
    """What a first run of each arm showed."""

    def __init__(self) -> None:
        self.apart: dict[str, float] = {}
        """The largest relative difference of an arm's planes from the first arm's."""
        self.took: dict[str, float] = {}
        self.failed: dict[str, str] = {}


def _compare(arms: Sequence[Arm], tolerance: float) -> _Compared:
    """Raises `Disagreement`; arms in other processes are named as failed instead."""
    compared = _Compared()
    expected: list[Array] = []
    for arm in arms:
        try:
            took = arm.seconds()
            got = [plane.copy() for plane in arm.out()]
            expected = expected or got
            _check(arm, arms[0].name, apart := _apart(expected, got), tolerance)
        except (Disagreement, Failed) as why:
            if not arm.times_itself:
                raise
            compared.failed[arm.name] = str(why)
        else:
            compared.apart[arm.name], compared.took[arm.name] = apart, took
    return compared


def _check(arm: Arm, first: str, apart: float, tolerance: float) -> None:
    allowed = tolerance if arm.tolerance is None else arm.tolerance
    if not apart <= allowed:
        raise Disagreement(
            f"{arm.name} differs from {first} by {apart:.1e}, more than {allowed:.1e}"
        )


def _apart(expected: Sequence[Array], got: Sequence[Array]) -> float:
    if all(a.tobytes() == b.tobytes() for a, b in zip(expected, got, strict=True)):
        return 0.0
    differences = [_difference(a, b) for a, b in zip(expected, got, strict=True)]
    # Unequal bits of equal numbers (-0 and 0) are a difference too.
    return max(*differences, float(np.finfo(got[0].dtype).tiny))


def _difference(expected: Array, got: Array) -> float:
    largest = float(np.max(np.abs(expected))) or 1.0
    return float(np.max(np.abs(expected - got))) / largest
