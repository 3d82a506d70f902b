"""Whether kernels and graphs run right on the GPU of this machine, and how fast: one table.

    python scripts/gpu_check.py             takes some minutes, and needs: pip install -e '.[dev]'
    python scripts/gpu_check.py --dry       the same in small, on a driver made for tests

Each row is a claim of docs/gpu.md. It exits with 1 if one of them does not hold here.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

import numpy as np

import eagle
import hawk
from eagle.devices.cuda import code, device, ptx
from eagle.devices.cuda.arguments import spread
from eagle.devices.cuda.array import CudaArray
from eagle.devices.cuda.driver import Argument, Kernel
from eagle.devices.library import Library
from hawk import Mutable, Scalar, Terminated
from hawk.ir.nodes import TABLES, Function, Role
from hawk.passes.pipeline import optimise
from hawk.targets.base import raw_word
from hawk.targets.cpu.compile import compile_function
from scripts import gpu_others
from scripts.gpu_others import LeftOut, inc, lorenz, stepped
from scripts.gpu_turns import turns
from tests.oracle.batch import Batch, differences, launch
from tests.oracle.harness import case_of, load
from tests.oracle.programs import write
from tests.unit.cuda import scenarios
from tests.unit.graph.test_random_graphs import outcome
from tests.unit.math.functions import ONE, TWO


@hawk.kernel(steps="auto")
def fall(z: Mutable[Scalar], v: Mutable[Scalar], down: Terminated):
    v -= 0.001 * 9.81
    z += 0.001 * v
    down = z <= 0.0  # noqa: F841 - a plane of the kernel


@dataclass
class Here:
    """What the rows are tried on."""

    gpu: device.CudaDevice
    xp: Library[Any]
    dry: bool

    def size(self, real: int, dry: int) -> int:
        return dry if self.dry else real


ROWS: dict[str, Callable[[Here], str]] = {}


def row(claim: str) -> Callable[[Callable[[Here], str]], Callable[[Here], str]]:
    def keep(run: Callable[[Here], str]) -> Callable[[Here], str]:
        ROWS[claim] = run
        return run

    return keep


# -- the driver ------------------------------------------------------------------------------------


@row("a GPU, and a driver that is new enough")
def _(here: Here) -> str:
    return device.described(here.gpu.number)


@row("PTX that sets a condition is loaded")
def _(here: Here) -> str:
    small = ptx.Small()
    small.set(0, small.all())
    with here.gpu.current():
        here.gpu.function(small.text, ptx.NAME)
    return ""


# -- bits ------------------------------------------------------------------------------------------


def on_gpu(here: Here, fn: Function, batch: Batch, steps: int) -> None:
    """Run a traced program on the samples of a batch."""
    gpu, driver = here.gpu, here.gpu.driver
    arguments: list[Argument] = []
    kept: list[tuple[Any, Any]] = []
    for plane in optimise(fn).planes:
        if plane.role is Role.INDEX:
            continue
        if plane.role is Role.UNIFORM:
            word = raw_word(batch.numbers[plane.name], plane.dtype)
            arguments.append(Argument(word, plane.dtype.itemsize))
            continue
        arrays = batch.tables if plane.role in TABLES else batch.arrays
        there = here.xp.array(arrays[plane.name])
        kept.append((arrays[plane.name], there))
        arguments.append(Argument(there.__cuda_array_interface__["data"][0], 8))
    arguments += [Argument(batch.n, 8), Argument(steps, 8)]
    text = code.ptx_of(fn, code.arch_of(gpu.gpu.capability))
    with gpu.current():
        function = gpu.function(text, text.partition(".entry ")[2].partition("(")[0])
        graph = driver.graph()
        blocks, threads = spread(batch.n, gpu.gpu.multiprocessors)
        driver.add(graph, (), Kernel(function, blocks, threads, tuple(arguments)))
        ready = driver.instantiate(graph)
        driver.launch(ready, gpu.stream)
        gpu.wait()
        driver.destroy(graph, ready)
    for array, there in kept:
        if array.flags.writeable:
            array[...] = here.xp.asnumpy(there)


@row("random programs have the bits of the CPU, both float widths")
def _(here: Here) -> str:
    count = here.size(120, 2)
    for seed in range(count):
        case = case_of(write(seed))
        fn = load(case.text).trace(case.real)
        if fn.reductions or fn.scatters:
            continue
        columns = {name: (list(column) * 301)[:301] for name, column in case.columns.items()}
        start = Batch.of(fn.planes, columns, case.numbers, 301, case.tables)
        due, got = start.copy(), start.copy()
        launch(compile_function(optimise(fn)), due, case.steps)
        on_gpu(here, fn, got, case.steps)
        found = differences(due, got)
        assert not found, f"program {seed}: {found[0]}"
    return f"{count} programs"


@row("elementary functions have the bits of the CPU, both float widths")
def _(here: Here) -> str:
    n, names = here.size(1 << 20, 1 << 8), (*ONE, *TWO)[: here.size(1000, 2)]
    rng = np.random.default_rng(0)
    for name in names:
        function = getattr(hawk.math, name)
        one = _of_one(function) if name in ONE else _of_two(function)
        for dtype in (np.float64, np.float32):
            bits = rng.integers(0, 2 ** (8 * np.dtype(dtype).itemsize), n, np.uint64)
            x = bits.astype(f"u{np.dtype(dtype).itemsize}").view(dtype)
            y = (20.0 * rng.normal(size=n)).astype(dtype)
            given = (x,) if name in ONE else (x, y)

            @eagle.Graph.builder
            def build(planes, out, one=one):
                g = eagle.Graph()
                one(*planes, buffer=out)
                return g

            due, got = np.empty(n, dtype), here.xp.empty(n, dtype)
            build(given, due).launch()
            build(tuple(map(here.xp.asarray, given)), got).launch()
            got = here.xp.asnumpy(got)
            same = (due.view(np.uint8) == got.view(np.uint8)).reshape(n, -1).all(axis=1)
            same |= np.isnan(due) & np.isnan(got)
            assert same.all(), f"{name} of {[each[~same][0] for each in given]}"
    return f"{len(names)} functions of {n:,} numbers"


def _of_one(function: Any) -> Any:
    @hawk.kernel
    def of_one(x: Scalar) -> Scalar:
        return function(x)

    return of_one


def _of_two(function: Any) -> Any:
    @hawk.kernel
    def of_two(x: Scalar, y: Scalar) -> Scalar:
        return function(x, y)

    return of_two


# -- graphs ----------------------------------------------------------------------------------------


def scenario(name: str) -> Callable[[Here], str]:
    def run(here: Here) -> str:
        patched, scenarios.library = scenarios.library, lambda: here.xp
        try:
            scenarios.SCENARIOS[name]()
        finally:
            scenarios.library = patched
        return ""

    return run


for _claim, _name in {
    "the programs of docs/graphs.md have the bits of the CPU": "pages",
    "branches and loops are decided on the GPU": "loops",
    "1,000 replays are 1,000 calls of Python, beside garbage collection": "replays",
    "an exception is kept, and the graph works afterwards": "exceptions",
    "a host function that uses the GPU is refused": "device_in_a_function",
    "a full queue, and threads that keep Python busy": "busy",
    "100 graphs, built and dropped": "builds",
    "kernels that reduce or scatter, and reductions, have the bits of the host": "sums",
    "such kernels called and run outside of graphs, and a reduction at once": "together",
    "a profile of nodes in loops": "profile",
    "other arrays for a graph that is built": "exchange",
    "calls outside of graphs": "calls",
    "runs until all is done, whatever interrupts them": "runs",
    "threads that take the next sample, interrupted too": "turns",
}.items():
    row(_claim)(scenario(_name))


row("samples of very different ends in turns")(lambda here: turns(here.gpu, here.xp, dry=here.dry))


@row("random graphs have the bits of the host")
def _(here: Here) -> str:
    if here.dry:
        raise LeftOut("they are part of the ordinary tests")
    from hypothesis import HealthCheck, given, settings

    from tests.unit.graph import test_adversary
    from tests.unit.graph.programs import texts

    built: list[str] = []
    test_adversary.WHERE = "GPU 0"

    @settings(
        max_examples=200,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(texts(6).map(test_adversary.on_a_device))
    def each(text: str) -> None:
        there = outcome(text, 2, by_hand=False, there=here.xp.asarray, inputs=False)
        if not isinstance(there, Exception):
            built.append(text)
            due = outcome(text, 2, by_hand=False, there=np.copy, inputs=False)
            assert due == there, text

    each()
    return f"{len(built)} of 200 could be built"


@row("the tests of graphs")
def _(here: Here) -> str:
    if here.dry:
        raise LeftOut("they are part of the ordinary tests")
    files = ["tests/unit/graph", "tests/pages/test_graphs_across_two_memories.py"]
    files += ["tests/unit/cuda/test_together.py", "tests/unit/cuda/test_collective.py"]
    command = [sys.executable, "-m", "pytest", "-q", "-k", "cuda and not random", *files]
    environment = {**os.environ, "EAGLE_TESTS_ON_GPU": "real"}
    run = subprocess.run(
        command, cwd=ROOT, env=environment, text=True, capture_output=True, check=False
    )
    assert run.returncode == 0, run.stdout[-2000:]
    return run.stdout.strip().splitlines()[-1]


@row("the process ends with replays on their way, and none is lost")
def _(here: Here) -> str:
    command = [sys.executable, __file__, "--leave", *["--dry"] * here.dry]
    run = subprocess.run(command, cwd=ROOT, text=True, capture_output=True, timeout=60, check=False)
    assert (run.returncode, run.stdout) == (0, "all 200\n"), run.stdout + run.stderr
    return ""


for _claim, _run in gpu_others.ROWS.items():
    row(_claim)(_run)


# -- what it costs ---------------------------------------------------------------------------------


def seconds(graph: Any, n: int) -> float:
    """How long a replay takes, after some that do not count."""
    graph.launch(3)
    begin = perf_counter()
    graph.launch(n)
    return (perf_counter() - begin) / n


@row("a node: of a kernel, of native code on the host, of Python")
def _(here: Here) -> str:
    n, many = here.size(1000, 5), 20

    @eagle.Graph.builder
    def kernels(x):
        g = eagle.Graph()
        for _ in range(many):
            inc(x)
        return g

    @eagle.Graph.builder
    def native(x, h):
        g = eagle.Graph()
        inc(x)
        eagle.copy(x, into=h)
        for _ in range(many):
            inc(h)
        return g

    @eagle.Graph.builder
    def python(x, h):
        g = eagle.Graph()
        inc(x)
        eagle.copy(x, into=h)
        for _ in range(many):
            eagle.opaque(lambda h: None, reads=h, writes=h)
        return g

    x, h = here.xp.zeros(64), eagle.pinned(64)
    empty = seconds(stepped(x, h), n)
    costs = [
        (seconds(graph, n) - empty) / many * 1e6
        for graph in (kernels(x), native(x, h), python(x, h))
    ]
    return (
        f"{costs[0]:.1f}, {costs[1]:.1f}, {costs[2]:.1f} us; a replay of two {empty * 1e6:.1f} us"
    )


@row("a copy overlaps the kernel beside it")
def _(here: Here) -> str:
    n = here.size(1 << 23, 1 << 8)

    @eagle.Graph.builder
    def build(a, x, y, z, h):
        g = eagle.Graph()
        with g.parallel() as p:
            with p.branch():
                eagle.copy(a, into=h)
            with p.branch():
                lorenz(x, y, z)
        return g

    a, x, y, z = (here.xp.ones(n) for _ in range(4))
    graph = build(a, x, y, z, eagle.pinned(n))
    graph.launch()
    spans = graph.profile(5).spans
    both = 0.0
    for replay in range(1, 6):
        copy, step = (
            next(s for s in spans if s.replay == replay and s.item.name == name)
            for name in ("copy a", "lorenz")
        )
        shorter = min(copy.end - copy.begin, step.end - step.begin)
        both += max(0.0, min(copy.end, step.end) - max(copy.begin, step.begin)) / shorter / 5
    assert here.dry or both > 0.2, f"{both:.0%} of the shorter of the two"
    return f"{both:.0%} of the shorter of the two"


@row("steps a second, beside the CPU of this machine")
def _(here: Here) -> str:
    n = here.size(1 << 22, 1 << 8)

    @eagle.Graph.builder
    def build(x, y, z):
        g = eagle.Graph()
        lorenz(x, y, z)
        return g

    start = np.random.default_rng(0).normal(size=(3, n))
    rates: list[float] = []
    ends: list[np.ndarray] = []
    for library in (here.xp, np):
        planes = [library.array(each) for each in start]
        rates.append(100 * n / seconds(build(*planes), here.size(10, 1)))
        ends.append(np.stack([here.xp.asnumpy(each) for each in planes]))
    assert ends[0].tobytes() == ends[1].tobytes()
    return f"Lorenz, float64, {n:,} samples: {rates[0]:.2e}, CPU {rates[1]:.2e}"


@row("a call, and a run of one step, of few samples")
def _(here: Here) -> str:
    n = here.size(1000, 5)
    x, bound = here.xp.zeros(64), eagle.deploy(inc).bind(x=here.xp.zeros(64))
    simulation = eagle.simulation(fall, max_steps=1, z=here.xp.ones(64), v=here.xp.zeros(64))
    costs: list[float] = []
    for ask in (lambda: inc(x), bound.launch, simulation.run):
        ask()
        here.xp.asnumpy(x)
        begin = perf_counter()
        for _ in range(n):
            ask()
        here.xp.asnumpy(x)
        costs.append((perf_counter() - begin) / n * 1e6)
    return f"{costs[0]:.1f}, bound {costs[1]:.1f}, a run {costs[2]:.1f} us"


@row("steps a second of runs, beside the CPU of this machine")
def _(here: Here) -> str:
    """Samples fall from heights that differ, so that they are done at different steps."""
    n, rates = here.size(1 << 21, 1 << 11), list[str]()
    z = np.random.default_rng(0).random(n) * here.size(500, 5) ** 2 * 5e-4
    for steps in ("one pass", 16, "auto"):
        found: list[float] = []
        ends: list[bytes] = []
        kernel = fall if steps == "one pass" else hawk.steps(fall, steps)
        make = eagle.simulation if steps == "one pass" else eagle.until_done
        for library in (here.xp, np):
            planes = {"z": library.array(z), "v": library.zeros(n)}
            counted = make(kernel, max_steps=10_000, count_steps=True, **planes)
            taken = here.xp.asnumpy(counted.run().steps_taken).sum()
            counted.reset()
            simulation = make(kernel, max_steps=10_000, **planes)
            simulation.run()
            simulation.reset()
            begin = perf_counter()
            simulation.run()
            found.append(taken / (perf_counter() - begin))
            ends.append(here.xp.asnumpy(planes["z"]).tobytes())
        assert ends[0] == ends[1]
        rates.append(f"{steps}: {found[0]:.2e}, CPU {found[1]:.2e}")
    return f"{n:,} samples, " + "; ".join(rates)


# -- the table -------------------------------------------------------------------------------------


@contextmanager
def tried_on(*, dry: bool) -> Any:
    """What there is."""
    if not dry:
        gpu = device.gpu(0)
        yield Here(gpu, Library(gpu.home, CudaArray), dry)
        return
    from tests.unit.cuda.gpus import gpu_of_tests

    with gpu_of_tests() as library:
        yield Here(device.gpu(0), library, dry)


def leave(*, dry: bool) -> None:
    """End with replays on their way."""
    held = tried_on(dry=dry)
    here = held.__enter__()  # it is not left: the process ends
    scenarios.library = lambda: here.xp
    scenarios.SCENARIOS["leaving"]()
    _kept.append(held)


_kept: list[Any] = []


def main(arguments: list[str]) -> int:
    """Print the table; 1 if a claim does not hold."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--dry", action="store_true", help="on a driver made for tests")
    parser.add_argument("--leave", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--only", default="", help="rows that have this text in them")
    asked = parser.parse_args(arguments)
    if asked.leave:
        leave(dry=asked.dry)
        return 0
    failed = 0
    began = perf_counter()
    print("| claim | | |\n| --- | --- | --- |")
    with tried_on(dry=asked.dry) as here:
        for claim, run in ROWS.items():
            if asked.only not in claim:
                continue
            begin = perf_counter()
            try:
                said, how = run(here), "holds"
            except LeftOut as why:
                said, how = str(why), "left out"
            except Exception:  # noqa: BLE001 - whatever goes wrong, the other rows are tried
                said, how = traceback.format_exc().strip().splitlines()[-1], "DOES NOT HOLD"
                traceback.print_exc(file=sys.stderr)
                failed += 1
            print(f"| {claim} | {how} | {said} ({perf_counter() - begin:.1f} s) |", flush=True)
    print(
        f"\n{'a dry run' if asked.dry else 'all'}: {perf_counter() - began:.0f} s, {failed} failed"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    if "HAWK_CACHE_DIR" not in os.environ:
        os.environ["HAWK_CACHE_DIR"] = tempfile.mkdtemp(prefix="gpu-check-")
    sys.exit(main(sys.argv[1:]))
