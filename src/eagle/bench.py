"""`eagle bench`: how fast kernels run on this machine, next to what the machine could do at most.

The most is measured, too: multiply-adds that wait for nothing, and a line through numbers that are
in no cache.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import hawk
from eagle.bench_kernels import FUSED, STEPS, line, lorenz, orbit, pendulum
from eagle.demo_kernels import oscillator, spread_oscillator
from eagle.deploy import deploy
from eagle.devices.host.team import threads_allowed
from eagle.runs.doors import simulate
from hawk.explain import estimated

WIDTHS = ("float64", "float32")
REPEATS, ENOUGH = 5, 0.2
"""Each row is timed at least as often, and for as many seconds; the best counts, since others use
this machine too."""
BUSY = 4096
"""Samples of the multiply-adds, for each thread: their state fits any cache."""
FAR = 64 << 20
"""Bytes of an array that no cache holds."""
MAX_STEPS = 10_000
BYTES = 256
"""Of memory for each sample, at most: two bodies have seven numbers, three times, and inputs."""


@dataclass(frozen=True, slots=True)
class Machine:
    """What this machine does at most, in one float width."""

    operations: float
    """Floating-point operations a second; a fused multiply-add is two."""
    bytes: float
    """Bytes read and written a second, where no cache helps."""


@dataclass(frozen=True, slots=True)
class Batch:
    """A kernel and what it runs on."""

    name: str
    kernel: hawk.Kernel[..., Any]
    state: dict[str, NDArray[np.float64]]
    given: dict[str, Any]
    """Inputs and numbers."""


@dataclass(frozen=True, slots=True)
class Speed:
    """What came of a batch."""

    name: str
    dtype: str
    seconds: float
    steps: int
    """Of all samples together."""
    operations: int
    """Of one sample in a step."""
    bytes: int
    """Read and written, of all samples."""

    @property
    def rate(self) -> float:
        """Operations a second."""
        return self.steps * self.operations / self.seconds

    @property
    def intensity(self) -> float:
        """Operations for each byte that is moved."""
        return self.steps * self.operations / self.bytes

    def share(self, machine: Machine) -> float:
        """Of what the machine does at most with as many operations a byte."""
        return self.rate / min(machine.operations, self.intensity * machine.bytes)


def bench(n: int, plot: Path | None = None) -> None:
    """Print the machine's limits and the speed of each batch of `n` samples, one by one."""
    threads = threads_allowed(None)
    say(f"{n:,} samples on the CPU, {threads} thread{'' if threads == 1 else 's'}\n")
    say("what the machine does at most:")
    machines: dict[str, Machine] = {}
    for dtype in WIDTHS:
        machines[dtype] = machine = measure_machine(dtype, threads)
        say(
            f"  {dtype}{machine.operations / 1e9:9.1f} G op/s, multiply-adds that wait for nothing"
            f"{machine.bytes / 1e9:9.1f} GB/s, y = a x + b"
        )
    say(f"\n{'':38}{'ms':>8}{'G steps/s':>11}{'op/step':>9}{'G op/s':>9}{'of the most':>13}")
    speeds: list[Speed] = []
    for batch in batches(n):
        for dtype in WIDTHS:
            speed = measure(batch, dtype)
            speeds.append(speed)
            say(
                f"{speed.name:30}{dtype:8}{1e3 * speed.seconds:8.2f}"
                f"{speed.steps / speed.seconds / 1e9:11.3f}{speed.operations:9d}"
                f"{speed.rate / 1e9:9.1f}{speed.share(machines[dtype]):13.0%}"
            )
    say(
        "\nOperations are those of explain(): a fused multiply-add counts as two, a division or a "
        "root as one,\nthough it takes as long as many. A loop inside a step counts as one round. "
        "More than 100% means\nthat others used the machine while its limits were measured."
    )
    if plot is not None:
        from eagle.bench_picture import draw  # loads matplotlib

        draw(machines, speeds, plot)
        say(f"wrote {plot}")


def objection(n: int, plot: Path | None) -> str:
    """Why `bench` could not run, or not draw what it measured; empty where it can."""
    room = _memory()
    if room is not None and n * BYTES > room:
        most = room // BYTES
        return f"--n {n:,} takes {n * BYTES / 1e9:,.1f} GB; here are {room / 1e9:.1f}: --n {most}"
    if plot is None:
        return ""
    from eagle.bench_picture import formats  # loads matplotlib

    known = formats()
    if plot.is_dir():
        return f"--plot {plot} is a folder: --plot {plot / 'bench.png'}"
    if plot.suffix[1:].lower() not in known:
        return f"--plot {plot}: the ending says the format, one of {', '.join(known)}"
    folder = next(each for each in plot.absolute().parents if each.exists())
    if not folder.is_dir() or not os.access(plot if plot.exists() else folder, os.W_OK):
        return f"--plot {plot}: nothing can be written in {folder}"
    return ""


def _memory() -> int | None:
    """Bytes of memory that are free or could be; None where the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        sizes = dict(line.split(":", 1) for line in lines)
        return 1024 * int(sizes["MemAvailable"].split()[0])
    except (OSError, KeyError, ValueError):
        return None


def say(text: str) -> None:
    """Print at once, also into a pipe: the lines show how far it is."""
    print(text, flush=True)


def batches(n: int) -> Iterator[Batch]:
    """What is run: one after another, since each has arrays of its own."""
    rng = np.random.default_rng(1)

    def at(value: float) -> NDArray[np.float64]:
        return np.full(n, float(value))

    swing, swinging = {"x": at(1), "v": at(0), "t": at(0)}, np.linspace(1.0, 3.0, n)
    yield Batch("oscillator", oscillator, swing, {"omega": swinging, "dt": 1e-3, "t_end": 1.0})
    ends = 10.0 ** rng.uniform(-2.0, 0.0, n)
    given = {"omega": swinging, "dt": 1e-3, "t_end": ends}
    yield Batch("oscillator, ends spread 100x", spread_oscillator, swing, given)
    names = ("x", "y", "z", "vx", "vy", "vz", "t")
    circle = {name: at(name in ("x", "vy")) for name in names}
    circle["vy"] = rng.uniform(0.8, 1.2, n)
    yield Batch("two bodies, Runge-Kutta", orbit, circle, {"dt": 0.01, "t_end": 2.0, "mu": 1.0})
    storm = {"x": at(1), "y": at(0), "z": at(0), "t": at(0)}
    given = {"rho": rng.uniform(0.0, 28.0, n), "sigma": 10.0, "beta": 8 / 3}
    yield Batch("Lorenz, Runge-Kutta", lorenz, storm, {**given, "dt": 1e-3, "t_end": 0.5})
    hanging = {"angle": rng.uniform(-1, 1, n), "speed": rng.uniform(-1, 1, n), "t": at(0)}
    drive = {"drive": 1.5, "decay": 0.2, "least": 1e-6, "exponent": 0.3, "dt": 1e-2, "t_end": 2.0}
    given = {"damping": rng.uniform(0.05, 0.5, n), **drive}
    yield Batch("pendulum: sin, exp, pow", pendulum, hanging, given)


def measure(batch: Batch, dtype: str) -> Speed:
    """Run a batch from its start, as often as it takes."""
    real = np.dtype(dtype)
    begin = {name: plane.astype(real) for name, plane in batch.state.items()}
    state = {name: plane.copy() for name, plane in begin.items()}
    given: dict[str, Any] = {
        name: value.astype(real) if isinstance(value, np.ndarray) else value
        for name, value in batch.given.items()
    }
    planes: dict[str, Any] = given | state

    def prepare() -> None:
        for name, plane in state.items():
            np.copyto(plane, begin[name])

    def run() -> None:
        simulate(batch.kernel, max_steps=MAX_STEPS, **planes)

    seconds = best(run, prepare)
    # A sample's own steps, from the time that it ended at.
    steps = int(np.rint(state["t"].astype(np.float64) / given["dt"]).sum())
    work = estimated(batch.kernel, dtype)
    moved = (work.read + work.written) * len(state["t"])
    return Speed(batch.name, dtype, seconds, steps, work.operations, moved)


def measure_machine(dtype: str, threads: int) -> Machine:
    """The most that kernels of ours get out of it."""
    rates: list[float] = []
    for kernel, names in FUSED.items():
        state = {name: np.ones(BUSY * threads, dtype) for name in names}
        bound = deploy(kernel).bind(a=0.5, b=0.25, **state)
        operations = 2 * len(names) * STEPS * BUSY * threads
        rates.append(operations / best(bound.launch))
    x = np.ones(FAR // np.dtype(dtype).itemsize, dtype)
    out = np.ones_like(x)
    memory = best(deploy(line).bind(x=x, a=0.5, b=0.25, out=out).launch)
    return Machine(max(rates), (x.nbytes + out.nbytes) / memory)


def best(run: Callable[[], object], prepare: Callable[[], None] = lambda: None) -> float:
    """Seconds of the quickest run, after one that compiles."""
    prepare()
    run()
    found: list[float] = []
    while len(found) < REPEATS or sum(found) < ENOUGH:
        prepare()
        start = time.perf_counter()
        run()
        found.append(time.perf_counter() - start)
    return min(found)
