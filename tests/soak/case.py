"""One case of the soak: a random kernel on a random batch, run disturbed and undisturbed."""

from __future__ import annotations

import gc
import signal
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray

import eagle
import hawk
from eagle.devices.host import device
from hawk.targets import native
from tests.oracle.batch import unlike
from tests.oracle.harness import forget
from tests.soak.drawn import Arrays, Drawn
from tests.unit.eagle.test_interrupt import Alarm, Clock

MOST_SAMPLE_STEPS = 3_000_000
"""Steps of samples that a run takes at most, so that no case takes long."""
INTERPRETED_STEPS = 70
"""What takes more is not interpreted: it is compared with the undisturbed run only."""
INTERPRETED_TOGETHER = 60
"""The same, in steps of samples, where all of a batch take their steps together."""
SHORT_WINDOW = 1_000
"""Cycles after which another thread does the work, so that nearly every run can be interrupted."""


class Difference(AssertionError):
    """Two runs of one kernel differ, or a run is not what it says of itself."""


@dataclass
class Told:
    """What was tried so far."""

    cases: int = 0
    sample_steps: int = 0
    interrupts: int = 0
    refused: int = 0
    ways: dict[str, int] = field(default_factory=dict[str, int])
    families: dict[str, int] = field(default_factory=dict[str, int])

    def count(self, way: str) -> None:
        self.ways[way] = self.ways.get(way, 0) + 1


def soak(seed: int, told: Told, *, largest: int, brief: bool = False) -> None:
    """Raise Difference if the case of this seed gives other bits where it is disturbed.

    A `brief` case is compiled and run once, and compared with nothing. A program that the language
    refuses is counted: the oracle tests are there to find these.
    """
    for load in (native.routines, native.folds, native.places, native.scatters):
        load()  # not while it rings: an import that is cut off leaves its file open
    with tempfile.TemporaryFile() as file, ExitStack() as stack:
        stack.callback(forget)
        try:
            case = _Case(seed, told, largest, file)
        except hawk.HawkError:
            told.refused += 1
            return
        if brief:
            case.undisturbed(case.planes(plain=True))
        else:
            case.check()
    told.cases += 1
    told.families[case.family] = told.families.get(case.family, 0) + 1
    told.sample_steps += case.n * case.steps


class _Case(Drawn):
    """A kernel, the batch it starts from, and what an undisturbed run makes of it."""

    def __init__(self, seed: int, told: Told, largest: int, file: Any) -> None:
        super().__init__(seed, Random(f"soak {seed}"), largest)
        self.told, self.file = told, file
        if self.mask is not None and self.random.random() < 0.3:
            self.steps = self.random.randint(1, 5_000)
        self.steps = max(1, min(self.steps, MOST_SAMPLE_STEPS // max(self.n, 1)))
        self.looked_at = self.random.sample(range(self.n), min(self.n, 3))

    # -- the batch -------------------------------------------------------------------------------

    def planes(self, *, plain: bool = False) -> dict[str, NDArray[Any]]:
        """The batch as it starts, in memory of its own, which lies somehow unless it is `plain`."""
        return {
            name: array.copy() if plain else self.laid(array, read_only=name in self.reads)
            for name, array in self.start.items()
        }

    def laid(self, array: NDArray[Any], *, read_only: bool) -> NDArray[Any]:
        layout = self.random.choice(("plain", "offset", "map", "read-only"))
        if layout == "map" and array.size:
            # One file for all: each array gets its own part, which begins with a page.
            begin = -(-self.file.seek(0, 2) // 4096) * 4096
            mapped = np.memmap(self.file, array.dtype, "r+", begin, array.shape)
            mapped[:] = array
            return mapped
        if layout == "offset":
            shift = self.random.randint(1, 9)
            room = np.empty(array.size + 9, array.dtype)[shift : shift + array.size]
            room[:] = array.ravel()
            return room.reshape(array.shape)
        array = array.copy()
        array.flags.writeable = not (layout == "read-only" and read_only)
        return array

    # -- what is compared ------------------------------------------------------------------------

    def check(self) -> None:
        expected = self.planes(plain=True)
        seconds = self.undisturbed(expected)
        self.interpreted(expected)
        self.strided()
        with ExitStack() as stack:
            if self.random.random() < 0.25:
                stack.enter_context(self.company(expected))
            if self.random.random() < 0.5:
                for name in ("ALONE_CYCLES", "TOGETHER_CYCLES"):
                    stack.enter_context(mock.patch.object(device, name, SHORT_WINDOW))
            got = self.planes()
            self.disturbed(got, seconds)
        self.compare("disturbed", expected, got)

    def compare(self, way: str, expected: Arrays, got: Arrays) -> None:
        for name, wanted in expected.items():
            due, held = np.ravel(wanted), np.ravel(got[name])
            differ = unlike(due, held)
            if differ.size:
                i = differ[0]
                raise Difference(
                    f"{self.family}, {way}: {name}[{i}] of {self.n} is {held[i]!r} after "
                    f"{self.steps} steps, expected {due[i]!r}; {differ.size} differ"
                )

    def undisturbed(self, planes: Arrays) -> float:
        """Run on one thread to the end; how many seconds it takes."""
        given = self.given(planes)
        if self.mask is not None:
            result = eagle.simulate(self.kernel, max_steps=self.steps, threads=1, **given)
            return result.report.wall_s
        bound = eagle.deploy(hawk.steps(self.kernel, 1)).bind(**given)
        for _ in range(self.steps):
            bound.launch(threads=1)
        return 0.0

    def interpreted(self, got: Arrays) -> None:
        """A few samples by the interpreter, after all steps or where it sees them done."""
        if self.together:
            if self.n * self.steps <= INTERPRETED_TOGETHER:
                given = {name: a for name, a in self.start.items() if name not in self.outputs}
                due = hawk.interpret(self.kernel, steps=self.steps, **self.numbers, **given)
                self.compare("compared with the interpreter", due, got)
            return
        steps = min(self.steps, INTERPRETED_STEPS)
        for sample in self.looked_at:
            after = self.one(sample, steps)
            if steps == self.steps or (self.mask is not None and after[self.mask][0]):
                alone = self.stored(got, sample)
                self.compare(f"sample {sample}, compared with the interpreter", after, alone)

    def strided(self) -> None:
        """No door takes an array with gaps."""
        planes = self.planes(plain=True)
        names = sorted(name for name, array in planes.items() if array.size and array.shape[-1] > 1)
        if not names:
            return
        name = self.random.choice(names)
        planes[name] = np.repeat(planes[name], 2, axis=-1)[..., ::2]
        try:
            eagle.deploy(self.kernel).bind(**self.given(planes))
        except eagle.BindError:
            return
        raise Difference(f"{name} is strided and was taken")

    @contextmanager
    def company(self, expected: Arrays) -> Iterator[None]:
        """Another thread runs the same kernel at the same time."""
        self.told.count("in company")
        planes = self.planes(plain=True)
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(self.undisturbed, planes)
            yield
            running.result()
        self.compare("in company", expected, planes)

    # -- disturbed -------------------------------------------------------------------------------

    def disturbed(self, planes: Arrays, seconds: float) -> None:
        threads = self.random.choice((None, 1, 2, 3, 8))
        if self.mask is None:
            self.launches(planes, threads)
            return
        way, simulation, counted = self.simulation(planes, threads)
        self.told.count(way)
        report = self.run(simulation, planes, seconds)
        finished = int(np.count_nonzero(planes[self.mask]))
        status = "done" if finished == self.n else "max_steps"
        said = (report.finished, report.done, report.status, simulation.status)
        if said != (finished, finished == self.n, status, status):
            raise Difference(f"{way}: it says {said}; {finished} of {self.n} are done")
        if report.steps > self.steps and counted:
            raise Difference(f"{way}: it took {report.steps} of {self.steps} steps")

    def launches(self, planes: Arrays, threads: int | None) -> None:
        """Launches of any length, in place of those of one step."""
        self.told.count("launches")
        most = self.random.choice((1, 2, 5, 64)) if self.state else 1
        bound = eagle.deploy(hawk.steps(self.kernel, most)).bind(**self.given(planes))
        left = self.steps
        while left:
            steps = min(left, self.random.randint(1, most))
            bound.launch(steps, threads=threads)
            left -= steps

    def simulation(self, planes: Arrays, threads: int | None) -> tuple[str, eagle.Simulation, bool]:
        """One of the doors, with its name; and whether it counts the steps of each sample."""
        given = self.given(planes) | {"max_steps": self.steps, "threads": threads}
        way = self.random.choice(("one pass", "one pass", "every", "counted", "until done"))
        match way:
            case "every":
                every = self.random.choice((1, 3, 50, 1000))
                return way, eagle.simulation(self.kernel, every=every, **given), False
            case "counted":
                return way, eagle.simulation(self.kernel, count_steps=True, **given), True
            case "until done":
                steps = self.random.choice((1, 3, 64, "auto") if self.state else (1, "auto"))
                kernel = hawk.steps(self.kernel, steps)
                return f"{way}, steps={steps}", eagle.until_done(kernel, **given), False
            case _:
                return way, eagle.simulation(self.kernel, **given), False

    def run(self, simulation: eagle.Simulation, planes: Arrays, seconds: float) -> eagle.RunReport:
        """Run to the end, with an exception at some moments on the way."""
        results: list[eagle.SimResult] = []
        with ringing() as call:
            for _ in range(self.random.choice((0, 1, 3, 10))):
                try:
                    call(
                        lambda: results.append(simulation.run()),
                        self.random.uniform(1e-5, 1.2 * seconds + 1e-4),
                    )
                except Alarm as alarm:
                    self.told.interrupts += 1
                    self.whole(alarm, planes)
                # It may ring when all is over and the result is on its way here.
                if results or simulation.status in ("done", "max_steps"):
                    assert simulation.report is not None
                    return simulation.report
        return simulation.run().report

    def whole(self, alarm: Alarm, planes: Arrays) -> None:
        """Where the steps are counted, samples of an interrupted run hold just these steps."""
        result = getattr(alarm, "result", None)
        if result is None or result.steps_taken is None or self.together:
            return
        for sample in self.looked_at:
            taken = int(result.steps_taken[sample])
            if taken <= INTERPRETED_STEPS:
                alone = self.stored(planes, sample)
                self.compare(f"interrupted after {taken} steps", self.one(sample, taken), alone)


@contextmanager
def ringing() -> Iterator[Callable[[Callable[[], Any], float], Any]]:
    """Give a function that calls another one and raises Alarm in it after so many seconds."""
    clock = Clock()
    before = signal.signal(signal.SIGALRM, clock.handle)
    gc.disable()  # Python swallows what is raised while an object is thrown away
    try:
        yield clock.call
    finally:
        gc.enable()
        signal.signal(signal.SIGALRM, before)
