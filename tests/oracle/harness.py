"""Run one kernel in every way there is, and say where two ways differ in a bit.

CPython running the function  ==  the interpreter  ==  the interpreter after each pass
    ==  compiled, one sample a vector, step by step
    ==  compiled in other widths, interleaves, blocks, pieces and launches
    ==  eagle's doors, on batches of several sizes, on one thread and two, in another order
"""

from __future__ import annotations

import itertools
import linecache
import sys
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from types import ModuleType
from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray

import eagle
import hawk
from eagle.devices.host import device as host_device
from eagle.runs import course
from hawk import reference
from hawk.annotations import owner
from hawk.frontend.bundles import instance
from hawk.ir.hidden import SAMPLE_INDEX, STEP_INDEX, extent_name, is_hidden
from hawk.ir.nodes import ARRAYS, Function, Number, Role
from hawk.ir.types import DType
from hawk.ir.verify import verify
from hawk.kernel import Kernel, Parameter
from hawk.passes.pipeline import optimise
from hawk.targets.base import STEPS_MAX, Compiled
from hawk.targets.cpu import entries
from hawk.targets.cpu.compile import compile_function
from hawk.targets.cpu.width import Variant, variant
from tests.oracle.batch import Batch, as_array, differences, interpreted, launch, unlike
from tests.oracle.numbers import column, draw
from tests.oracle.programs import Program
from tests.unit.frontend.every_way import by_component
from tests.unit.targets.machines import runnable

LOOKED_AT = 8
"""Samples that CPython and the interpreter run."""
PYTHON_STEPS, INTERPRETER_STEPS = 4, 18
"""Steps that these two take at most: they are slow."""
SIZES = (0, 1, 7, 64, 1001)
"""Sizes of batches."""
LENGTHS = (1, 2, 3, 5, 16, 17, 20, 33, 40, 70)
"""Steps that a program is run for."""

_serial = itertools.count()


@dataclass(frozen=True)
class Case:
    """A kernel and what it is run on. `text` is a module that defines `kernel`."""

    text: str
    real: DType
    steps: int
    numbers: Mapping[str, Number] = field(default_factory=dict[str, Number])
    """What each Param is."""
    columns: Mapping[str, Sequence[Number]] = field(default_factory=dict[str, Sequence[Number]])
    """What the first samples of each input, Mutable and the Terminated hold."""
    tables: Mapping[str, NDArray[Any]] = field(default_factory=dict[str, "NDArray[Any]"])
    seed: int = 0
    """Draws the other samples, and the ways that are tried."""


STAGES = ("python", "passes", "width 1", "variants", "doors")
"""What is compared, in order. The last two are compared with what "width 1" gives."""


class Mismatch(AssertionError):
    """Two ways to run a kernel differ. `way` is the second one, `stage` its part of the check."""

    def __init__(self, way: str, what: str) -> None:
        super().__init__(f"{way}: {what}")
        self.way, self.what, self.stage = way, what, ""


_LOADED = "<program "


def load(text: str) -> Kernel[..., Any]:
    """The `kernel` of a module given as text. The module stays until `forget`."""
    file = f"{_LOADED}{next(_serial)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    module = ModuleType(file)
    sys.modules[file] = module  # where dataclasses look for what their annotations mean
    exec(compile(text, file, "exec"), vars(module))
    return module.kernel


def forget() -> None:
    """Let go of all modules that were loaded: with them their kernels, and what was compiled."""
    for held in (sys.modules, linecache.cache):
        for name in [name for name in held if name.startswith(_LOADED)]:
            del held[name]
    # `Mutable[Body]` is kept by Python for the next who asks for it, and with the class its module.
    for clear in typing._cleanups:  # type: ignore[attr-defined]
        clear()


def case_of(program: Program) -> Case:
    """The program with numbers to run it on."""
    random = Random(f"numbers {program.seed}")
    kernel, real = load(program.text), DType.F64 if program.wide else DType.F32
    numbers: dict[str, Number] = {}
    columns: dict[str, list[Number]] = {}
    done_before = random.random() < 0.5
    parameters, _ = kernel.signature.scalars
    tables: dict[str, NDArray[Any]] = {}
    for each in parameters:
        dtype = each.element.at(real)
        if each.table is not None:
            tables[each.name] = table = _table(random, each, dtype)
            extents = enumerate(table.shape)
            numbers.update({extent_name(each.name, axis): extent for axis, extent in extents})
        elif each.role is Role.UNIFORM:
            numbers[each.name] = draw(random, dtype, each.name)
        elif each.role is Role.MASK:
            columns[each.name] = [done_before and random.random() < 0.2 for _ in range(LOOKED_AT)]
        else:
            columns[each.name] = column(random, dtype, LOOKED_AT, each.name)
    steps = random.choice(LENGTHS)
    return Case(program.text, real, steps, numbers, columns, tables, program.seed)


KNOTS = 6
"""Elements of tables whose extents may be any."""


def _table(random: Random, parameter: Parameter, dtype: DType) -> NDArray[Any]:
    assert parameter.table is not None
    shape = tuple(KNOTS if extent is None else extent for extent in parameter.table.extents)
    numbers = column(random, dtype, int(np.prod(shape)), parameter.name)
    if parameter.name == "knots":
        numbers = sorted(random.uniform(-4, 4) for _ in range(KNOTS))
    return as_array(numbers, dtype).reshape(shape)


def check(case: Case, stages: Sequence[str] = STAGES) -> None:
    """Raise Mismatch if two ways to run the kernel differ."""
    stage = ""
    try:
        for stage, compare in _comparisons(case):
            if stage in stages:
                compare()
    except Mismatch as mismatch:
        mismatch.stage = stage
        raise


def _comparisons(case: Case) -> Iterator[tuple[str, Callable[[], None]]]:
    kernel = load(case.text)
    fn = kernel.trace(case.real)
    verify(fn)
    held = {each.name: each.element.at(case.real) for each in kernel.parameters}
    tables = {name: as_array(table, held[name]) for name, table in case.tables.items()}
    case = replace(case, tables=tables)
    few = Batch.of(fn.planes, case.columns, case.numbers, _samples(case), tables)
    yield "python", lambda: _python(kernel, case)
    yield "passes", lambda: _passes(fn, few)
    run = _Run(case, kernel, optimise(fn))
    yield "width 1", lambda: run.reference(few)
    yield "variants", run.variants
    yield "doors", run.doors


def given(kernel: Kernel[..., Any], case: Case) -> dict[str, NDArray[Any]]:
    """What the kernel is run on, as a user passes it."""
    parts: dict[str, NDArray[Any]] = {}
    for each in kernel.signature.scalars[0]:
        if each.table is not None:
            parts[each.name] = case.tables[each.name]
            continue
        numbers = case.numbers.get(each.name, case.columns.get(each.name))
        parts[each.name] = as_array(numbers, each.element.at(case.real))
    return whole(kernel, parts)


def whole(kernel: Kernel[..., Any], parts: Mapping[str, Any]) -> dict[str, Any]:
    """Planes as a user passes them: the components of small arrays together."""
    planes = {name: part for name, part in parts.items() if "[" not in name}
    for name, element in kernel.signature.shaped.items():
        rows = [parts[each] for each in element.components(name) if each in parts]
        if rows:
            planes[name] = np.stack(rows).reshape(*element.shape, *np.shape(rows[0]))
    return planes


def _samples(case: Case) -> int:
    return max([len(each) for each in case.columns.values()], default=1)


def _compare(way: str, expected: Batch, got: Batch) -> None:
    found = differences(expected, got)
    if found:
        plane, sample, wanted, had = found[0]
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        raise Mismatch(way, f"{plane}[{sample}] is {had!r}, expected {wanted!r}{more}")


# -- CPython, interpreter, passes ------------------------------------------------------------------


def _python(kernel: Kernel[..., Any], case: Case) -> None:
    """CPython's numbers against the interpreter's, after one step and after some."""
    planes = given(kernel, case)
    for steps in sorted({1, min(case.steps, PYTHON_STEPS)}):
        expected = reference.run_python(kernel, steps=steps, **planes)
        got = reference.interpret(kernel, steps=steps, **planes)
        expected, got = by_component(kernel, expected), by_component(kernel, got)
        for name, wanted in expected.items():
            for sample in unlike(wanted, got[name]):
                what = f"{name}[{sample}] is {got[name][sample]!r}, CPython has {wanted[sample]!r}"
                raise Mismatch(f"interpreter after {steps} steps", what)


def _passes(fn: Function, few: Batch) -> None:
    """The program after the passes; each pass keeps it well formed and keeps every bit."""
    samples = range(few.n)
    wanted = interpreted(fn, few, 1, samples)

    def watch(name: str, after: Function) -> None:
        verify(after)
        _compare(f"interpreter after the pass {name}", wanted, interpreted(after, few, 1, samples))

    optimise(fn, watch=watch)


# -- compiled --------------------------------------------------------------------------------------


class _Run:
    """One kernel on one large batch, whose end `reference` finds and the others must find too."""

    def __init__(self, case: Case, kernel: Kernel[..., Any], fn: Function) -> None:
        self.case, self.kernel, self.fn = case, kernel, fn
        self.random = Random(f"ways {case.seed}")
        self.state = any(plane.role is Role.STATE for plane in fn.planes)
        self.mask = next((plane.name for plane in fn.planes if plane.role is Role.MASK), None)
        names = {plane.name for plane in fn.planes}
        self.asks = bool(names & {SAMPLE_INDEX, STEP_INDEX})
        """Does the program ask where its sample is? Then no sample may be moved."""
        self.counts = STEP_INDEX in names
        columns = self.columns()
        self.start = Batch.of(fn.planes, columns, case.numbers, max(SIZES), case.tables)
        self.end = self.start.copy()
        self.first = self.start.copy()
        """After one step."""
        self.together: dict[str, Any] = {}
        """The small arrays that a door was given."""
        self.taken = np.zeros(max(SIZES), np.int64)
        """Steps that each sample takes."""

    def columns(self) -> dict[str, list[Number]]:
        """The columns of the case, made as long as the largest batch."""
        random = Random(f"batch {self.case.seed}")
        columns: dict[str, list[Number]] = {}
        for plane in self.fn.planes:
            if plane.role not in ARRAYS - {Role.OUTPUT}:
                continue
            given = list(self.case.columns.get(plane.name, [0]))
            rest = max(SIZES) - len(given)
            if is_hidden(plane.name):
                continue
            if plane.role is Role.MASK:
                share = 0.1 if any(given) else 0.0
                columns[plane.name] = given + [random.random() < share for _ in range(rest)]
            else:
                columns[plane.name] = given + column(random, plane.dtype, rest, plane.name)
        return columns

    def reference(self, few: Batch) -> None:
        """Width 1, one step a launch; checked with the interpreter where that has looked."""
        machine = next(iter(runnable().values()))
        compiled = compile_function(self.fn, machine, variant(self.fn, machine, 1, 1))
        steps, samples = min(self.case.steps, INTERPRETER_STEPS), range(few.n)
        wanted = {1: interpreted(self.fn, few, 1, samples)}
        wanted[steps] = interpreted(self.fn, few, steps, samples)
        for step in range(1, self.case.steps + 1):
            self.taken += True if self.mask is None else ~self.end.arrays[self.mask]
            launch(compiled, self.end, 1)
            if step == 1:
                self.first = self.end.copy()
            if step in wanted:
                _compare(f"compiled, width 1, {step} steps", wanted[step], self.end.copy(few.n))
        if self.end.trespassed():
            raise Mismatch("compiled, width 1", f"wrote outside of {self.end.trespassed()}")

    def variants(self) -> None:
        """A drawn variant, on two sizes of batch and some division into launches."""
        name, compiled, row = self.drawn()
        for n in (max(SIZES), self.random.choice(SIZES)):
            got = self.start.copy(n)
            taken = self.division()
            piece = self.random.choice((None, None, 1, 5, 64, 100))
            window = self.random.choice((0, 0, 1))
            picked = self.random.choice((None, None, _order(n, n)))
            for steps in taken:
                launch(compiled, got, steps, piece=piece, window=window, picked=picked)
            shape = row.shape
            way = f"compiled, {name}, width {shape.width}, chains {shape.chains}, block "
            way += f"{row.block}, n {n}, launches of {taken}, pieces of {piece}"
            way += f", refilled from {row.refill} steps on"
            way += ", interrupted" if window else ""
            way += "" if picked is None else ", mapped"
            _compare(way, self.end.copy(n), got)

    def drawn(self) -> tuple[str, Compiled, Variant]:
        name, machine = self.random.choice(list(runnable().items()))
        width, chains = self.random.choice(
            ((1, 1), (1, 3), (2, 1), (2, 4), (4, 1), (4, 2), (4, 4), (8, 1), (8, 2), (16, 1))
        )
        block, refill = self.random.choice((4, 8, 16)), self.random.choice((0, 3, STEPS_MAX))
        row = variant(self.fn, machine, width, chains, block, refill)
        # Code that looks at the clock as often as it can is interrupted as often as it can.
        looks = self.random.choice((1, entries.WORK_BETWEEN_LOOKS))
        with mock.patch.object(entries, "WORK_BETWEEN_LOOKS", looks):
            return name, compile_function(self.fn, machine, row), row

    def division(self) -> list[int]:
        """The steps of the case, cut into launches somehow."""
        total = self.case.steps
        if self.random.random() < 0.4:
            return [total]
        parts: list[int] = []
        while sum(parts) < total:
            parts.append(min(self.random.choice((1, 3, 4, 16, 19, 64)), total - sum(parts)))
        return parts

    # -- eagle ------------------------------------------------------------------------------------

    def doors(self) -> None:
        """Half of the doors, which ones is drawn, each on a drawn size."""
        for name, call in self.ways():
            if self.random.random() < 0.5:
                continue
            n = self.random.choice(SIZES)
            order = self.random.choice((None, None, n))
            order = None if self.asks else order
            got = self.start.copy(n)
            turned = _permuted(got, order)
            wanted = self.first if name == "call" else self.end
            call(turned)
            self.gather(turned)
            _restore(got, turned, order)
            way = f"{name}, n {n}{', permuted' if order else ''}"
            _compare(way, _passed(wanted.copy(n)), _passed(got))

    def ways(self) -> Iterator[tuple[str, Any]]:
        """Names of doors, and how each brings a batch to the end."""
        total = self.case.steps
        kernel = self.kernel
        one = hawk.steps(kernel, 1)
        yield "call", lambda batch: eagle.deploy(one)(**self.given(batch))
        yield "bind, one step a launch", lambda batch: self.bound(one, batch, [1] * total)
        if self.state:
            fused = self.random.choice((2, 3, 4, 16, 100))
            several = hawk.steps(kernel, fused)
            taken = [fused] * (total // fused) + [total % fused] * (total % fused > 0)
            yield f"bind, steps={fused}", lambda batch: self.bound(several, batch, taken)
        if self.mask is None:
            return
        for steps in (1, self.random.choice((3, 16)), "auto"):
            if steps in (1, "auto") or self.state:
                some = hawk.steps(kernel, steps)
                yield (
                    f"run_until_done, steps={steps}",
                    lambda batch, some=some: self.until_done(some, batch),
                )
        yield "run_until_done, mapped", lambda batch: self.mapped(one, batch)
        yield "bind, an active set", lambda batch: self.active(one, batch)
        for threads in (1, 2):
            yield (
                f"simulate, threads={threads}",
                lambda batch, threads=threads: self.simulated(one, batch, threads=threads),
            )
        every = self.random.choice((1, 3, 16, 50))
        yield f"simulate, every={every}", lambda batch: self.simulated(one, batch, every=every)
        yield "simulate, counting", lambda batch: self.counted(one, batch)
        if not self.counts:
            yield "simulation, in two runs", lambda batch: self.twice(one, batch)

    def given(self, batch: Batch) -> dict[str, Any]:
        """The batch as a user passes it; small arrays in arrays of their own."""
        self.gather(batch)
        planes = whole(self.kernel, {**batch.arrays, **self.case.numbers})
        self.together = {
            name: planes[name] for name in self.kernel.signature.shaped if name in planes
        }
        outputs = tuple(planes.pop(output.name) for output in self.kernel.outputs)
        planes = {
            each.name: planes[each.name] for each in self.kernel.parameters if each.name in planes
        }
        for bundle in self.kernel.signature.bundles:
            if self.random.random() < 0.7:  # as an object, else plane by plane
                planes[bundle.name] = bundle.build(lambda each: planes.pop(each.name), instance)
        planes |= {"n": batch.n, **self.case.tables}
        if outputs:
            planes["out"] = outputs if self.kernel.nesting == "tuple" else outputs[0]
        return planes

    def gather(self, batch: Batch) -> None:
        """Take the small arrays of the last door apart again."""
        for name, array in by_component(self.kernel, self.together).items():
            if name in batch.arrays:
                batch.arrays[name][:] = array
        self.together = {}

    def bound(self, kernel: Kernel[..., Any], batch: Batch, taken: Sequence[int]) -> None:
        bound = eagle.deploy(kernel).bind(**self.given(batch))
        for steps in taken:
            bound.launch(steps)

    def until_done(self, kernel: Kernel[..., Any], batch: Batch) -> None:
        report = eagle.run_until_done(
            eagle.deploy(kernel), max_steps=self.case.steps, **self.given(batch)
        )
        self.reported(batch, report.finished, done=report.done)

    def mapped(self, kernel: Kernel[..., Any], batch: Batch) -> None:
        """With a new map whenever a sample is done."""
        with (
            mock.patch.object(course, "worth_counting", lambda live, counted: 0 < live < counted),
            mock.patch.object(course, "worth_mapping", return_value=True),
        ):
            self.until_done(kernel, batch)

    def active(self, kernel: Kernel[..., Any], batch: Batch) -> None:
        """A loop of one's own, in which samples are moved."""
        mask = batch.arrays[self.mask or ""]
        given = self.given(batch)
        scalars = {name: array for name, array in batch.arrays.items() if "[" not in name}
        moved = {owner(name) for name in batch.arrays} & self.together.keys()
        planes = [array for name, array in scalars.items() if name != self.mask]
        planes += [self.together[name] for name in moved]
        bound = eagle.deploy(kernel).bind(**given)
        moving = {} if self.asks else {"reorder": 0.75, "planes": planes}
        with eagle.ActiveSet(mask, **moving) as active:
            for _ in range(self.case.steps):
                if not active.compact():
                    break
                bound.launch(active=active)

    def simulated(self, kernel: Kernel[..., Any], batch: Batch, **options: int) -> eagle.SimResult:
        with mock.patch.object(host_device, "ALONE", 0):
            result = eagle.simulate(
                kernel, max_steps=self.case.steps, **options, **self.given(batch)
            )
        self.reported(batch, result.report.finished, done=result.done)
        return result

    def counted(self, kernel: Kernel[..., Any], batch: Batch) -> None:
        taken = self.simulated(kernel, batch, count_steps=True).steps_taken
        # In a batch in another order the same steps are taken, by other samples.
        if sorted(taken) != sorted(self.taken[: batch.n]):
            raise Mismatch("steps taken", f"{list(taken)}, expected {list(self.taken[: batch.n])}")

    def reported(self, batch: Batch, finished: int, *, done: bool) -> None:
        """What a run says must be what the mask says."""
        assert self.mask is not None
        count = int(np.count_nonzero(batch.arrays[self.mask]))
        if (finished, done) != (count, count == batch.n):
            raise Mismatch("report", f"finished {finished}, done {done}; the mask has {count}")

    def twice(self, kernel: Kernel[..., Any], batch: Batch) -> None:
        """Part of the steps, and the rest in another run of a second simulation."""
        parts = [part for part in (self.case.steps // 2, (self.case.steps + 1) // 2) if part]
        for part in parts:
            eagle.simulation(kernel, max_steps=part, **self.given(batch)).run()


def _passed(batch: Batch) -> Batch:
    """The batch without the planes that nobody passes."""
    names = [name for name in batch.arrays if not is_hidden(name)]
    arrays, fenced = ({name: of[name] for name in names} for of in (batch.arrays, batch.fenced))
    return Batch(batch.n, arrays, batch.numbers, fenced, batch.tables)


def _permuted(batch: Batch, seed: int | None) -> Batch:
    """The batch itself, or its samples in another order."""
    if not seed:
        return batch
    turned = batch.copy()
    order = _order(batch.n, seed)
    for name, array in batch.arrays.items():
        turned.arrays[name][:] = array[order]
    return turned


def _restore(batch: Batch, turned: Batch, seed: int | None) -> None:
    """Put the samples of a permuted batch back in their order."""
    if not seed:
        return
    order = _order(batch.n, seed)
    for name, array in turned.arrays.items():
        batch.arrays[name][order] = array
    for name in turned.trespassed():
        batch.fenced[name][0] = 0


def _order(n: int, seed: int) -> NDArray[Any]:
    order = list(range(n))
    Random(seed).shuffle(order)
    return np.array(order, dtype=np.int64)
