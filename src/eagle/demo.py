"""`eagle demo`: a batch of oscillators run in three ways, what each costs, and a picture."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import hawk
from eagle.demo_kernels import oscillator, spread_oscillator
from eagle.deploy import deploy
from eagle.devices.host.team import threads_allowed
from eagle.exec import HostTeam, Partition
from eagle.runs.doors import run_until_done, simulate
from eagle.runs.report import RunReport

DT = 1e-3
BYTES_PER_SAMPLE = 3 * 8
REPEATS = 3
"""Each way is timed as often; the best counts, since others use this machine too."""


@dataclass(frozen=True, slots=True)
class Way:
    """One way to launch, and what came of it."""

    name: str
    report: RunReport
    seconds: float
    end: bytes
    """The state planes at the end."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A batch whose samples stop at different times."""

    steps: NDArray[np.int64]
    """Steps that each sample took."""

    @property
    def wasted(self) -> float:
        """Share of the steps that a batch which waits for its slowest sample would throw away."""
        return 1.0 - float(self.steps.mean()) / float(self.steps.max())


def demo(n: int, out: Path) -> None:
    """Print the three ways, the tiles and the times; write the picture where it can be drawn."""
    threads = threads_allowed(None)
    say(f"{n:,} oscillators on the CPU, {threads} thread{'' if threads == 1 else 's'}\n")
    kernels = {"k=1": oscillator.step, "k=16": hawk.steps(oscillator, 16), "auto": oscillator}
    ways: list[Way] = []
    for name, kernel in kernels.items():
        way = launch_by_launch(name, kernel, n)
        ways.append(way)
        r = way.report
        say(f"{name:>5}: {r.launches:4d} launches, {r.steps:5d} steps, exact_steps={r.exact_steps}")
    tiles = HostTeam.tile_count(Partition.whole(n), BYTES_PER_SAMPLE)
    say(f"{tiles} tiles for {n:,} samples -- about {-(-n // tiles):,} samples per tile")
    same = len({way.end for way in ways}) == 1
    say(f"\nthe three ways end in {'the same' if same else 'DIFFERENT'} bits")
    tell_times(ways, in_one_pass(n))
    spread = spread_stops(n)
    tell_spread(spread)
    if importlib.util.find_spec("matplotlib") is None:
        say("\nfor the picture: pip install 'accipiter[plot]', then run this again")
        return
    from eagle.demo_picture import draw  # loads matplotlib

    say("\ndrawing ...")
    draw(ways, spread, out)
    say(f"wrote {out}")


def say(text: str) -> None:
    """Print at once, also into a pipe: the lines show how far the demo is."""
    print(text, flush=True)


def start(n: int) -> dict[str, Any]:
    """All oscillators at rest at x = 1, each with its own frequency."""
    omega = np.linspace(1.0, 3.0, n)
    return {"x": np.ones(n), "v": np.zeros(n), "t": np.zeros(n), "omega": omega, "dt": DT}


def launch_by_launch(name: str, kernel: hawk.Kernel[..., Any], n: int) -> Way:
    """Run with the kernel's own steps per launch."""
    deployed, reports, planes = deploy(kernel), list[RunReport](), dict[str, Any]()
    for _ in range(REPEATS):
        planes = start(n)
        reports.append(run_until_done(deployed, max_steps=10_000, t_end=1.0, **planes))
    end = b"".join(planes[state].tobytes() for state in ("x", "v", "t"))
    return Way(name, reports[-1], min(report.wall_s for report in reports), end)


def in_one_pass(n: int) -> float:
    """Seconds that `simulate` takes, which chooses for itself."""
    results = [
        simulate(oscillator, max_steps=10_000, t_end=1.0, **start(n)) for _ in range(REPEATS)
    ]
    return min(result.report.wall_s for result in results)


def spread_stops(n: int) -> Spread:
    """Run a batch whose stop times differ by up to 100 times."""
    t_end = 10.0 ** np.random.default_rng(1).uniform(-2.0, 0.0, n)
    result = simulate(spread_oscillator, max_steps=10_000, t_end=t_end, **start(n))
    return Spread(np.rint(result.t / DT).astype(np.int64))


def tell_times(ways: list[Way], one_pass: float) -> None:
    say("seconds, the best of three, without compiling:")
    slowest = max(way.seconds for way in ways)
    rows = [(way.name, way.seconds) for way in ways] + [("eagle.simulate", one_pass)]
    for name, seconds in rows:
        bar = "#" * max(1, round(40 * seconds / slowest))
        say(f"  {name:<14} {seconds:8.4f}  {bar}")


def tell_spread(spread: Spread) -> None:
    say(
        "\nstop times spread over a factor of 100:\n"
        f"each sample stops at its own step, after {spread.steps.mean():.0f} on average; if all "
        f"went on until the slowest\nis done, after {spread.steps.max():,}, "
        f"{spread.wasted:.0%} of the steps would be for nothing"
    )
