"""The PTX of kernels, run as text, gives the bits of the CPU."""

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import numpy as np
import pytest

import hawk
import hawk.math
from benchmarks.kernels import FAST, ROWS, relax
from eagle.bench_kernels import lorenz
from hawk import Bool, Grid, Index, Int32, Matrix, Mutable, Param, Scalar, Table, Vector
from hawk.ir.hidden import dimension_name, grid_of
from hawk.ir.nodes import ARRAYS, TABLES, Function, Number, Plane, Role
from hawk.ir.types import DType
from hawk.kernel import Kernel
from hawk.passes.pipeline import optimise
from hawk.targets.base import Compiled
from hawk.targets.cpu.compile import compile_function
from hawk.targets.cpu.machine import host
from hawk.targets.cpu.width import variant
from hawk.targets.ptx.compile import ptx_text
from tests.oracle.batch import Batch, as_array, differences, interpreted, launch
from tests.oracle.numbers import draw
from tests.ptx.parse import Module, parse
from tests.ptx.run import run
from tests.unit.math.functions import ONE, SPECIAL, TWO
from tests.unit.math.test_bits_on_file import NUMBERS, on_file
from tests.unit.targets.by_hand import PROGRAMS, REALS
from tests.unit.targets.test_differential import batch_for, every_operation, operands

reals = pytest.mark.parametrize("real", REALS, ids=lambda real: real.value)

USUAL = 200
"""Random programs of an ordinary run: with more, these tests are longer too."""
BATCHES = ((0, 3, 1, 32), (1, 16, 3, 32), (60, 3, 1, 32), (1000, 1, 4, 256))
"""Samples, steps, blocks and threads of a block: fewer threads than samples, and more."""
BATCHES = ((0, 3, 1, 32), (1, 16, 3, 32), (60, 3, 1, 32), (1000, 1, 3, 200))
"""Samples, steps, blocks and threads of a block: fewer threads than samples, and more."""
SHAPES = ((1, 32), (3, 32), (40, 32))
"""Blocks, and threads of a block."""


def scalar(fn: Function) -> Compiled:
    """It for the CPU, one sample at a time: quicker made than vectors."""
    return compile_function(fn, host(), variant(fn, host(), 1, 1))


def module_of(fn: Function) -> Module:
    """The PTX of a function that has been through the passes."""
    return parse(ptx_text(fn, "sm_75"))


@reals
@pytest.mark.parametrize("write", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_programs_give_what_the_interpreter_gives(
    write: Callable[[DType], Function], real: DType
) -> None:
    fn = optimise(write(real))
    module, compiled = module_of(fn), scalar(fn)
    few = batch_for(fn.planes, 7)
    got, expected = few.copy(), interpreted(fn, few, 16, range(7))
    run(module, fn.planes, got, 16)
    assert [] == differences(expected, got)
    for n, steps, blocks, threads in BATCHES:
        batch = batch_for(fn.planes, n, seed=steps)
        expected, got = batch.copy(), batch.copy()
        launch(compiled, expected, steps)
        run(module, fn.planes, got, steps, blocks=blocks, threads=threads, seed=n or None)
        assert [] == differences(expected, got)[:3], (n, steps)


@pytest.mark.parametrize("dtype", DType, ids=lambda dtype: dtype.value)
def test_every_operation_has_its_meaning(dtype: DType) -> None:
    fn = every_operation(dtype)
    batch = operands(fn, 400)
    expected, got = interpreted(fn, batch, 1, range(400)), batch.copy()
    run(module_of(optimise(fn)), fn.planes, got, 1, blocks=2, threads=256)
    assert [] == differences(expected, got)[:5]


@reals
@pytest.mark.parametrize("name", [*ONE, *TWO])
def test_elementary_functions_give_the_bits_on_file(name: str, real: DType) -> None:
    function = getattr(hawk.math, name)

    @hawk.kernel
    def one(x: Scalar) -> Scalar:
        return function(x)

    @hawk.kernel
    def two(x: Scalar, y: Scalar) -> Scalar:
        return function(x, y)

    fn = optimise((one if name in ONE else two).trace(real))
    first, second = [*NUMBERS, *SPECIAL], [*NUMBERS[::-1], *SPECIAL[::-1]]
    columns = {key: as_array(x, real) for key, x in (("x", first), ("y", second))}
    batch = Batch.of(fn.planes, columns, {}, len(first))
    run(module_of(fn), fn.planes, batch, 1, threads=256)
    results = batch.arrays["out"].copy()
    results[np.isnan(results)] = np.nan
    assert on_file()[name][real is DType.F32] == f"{zlib.crc32(results.tobytes()):08x}"


# --- constructs -----------------------------------------------------------------------------------


@hawk.kernel
def dice(seed: Param[Index], x: Mutable[Scalar]) -> tuple[Scalar, Index, Int32, Bool]:
    k = hawk.step_index()
    x = x + hawk.math.random.normal(seed, k)
    wide = hawk.math.random.integers(seed, 2 * k, low=0, high=100)
    many = hawk.math.random.poisson(seed, 3, mean=2.5)
    likely = hawk.math.random.bernoulli(seed, k, p=0.3)
    return hawk.math.random.uniform(seed, k) * hawk.n_samples(), wide, hawk.int32(many), likely


@hawk.kernel
def bodies(r: Mutable[Vector[3]], m: Matrix[3, 3], dt: Param, which: Int32) -> Scalar:
    v = m @ r + hawk.math.cross(r, m[which])
    r += dt * v / (1.0 + hawk.math.norm(v))
    r[which] = -r[which]
    return hawk.math.det(m) + hawk.math.dot(r, v)


@hawk.kernel
def knots(
    t: Table[Scalar], u: Table[Int32, 3, 4], few: Table[Bool], x: Mutable[Scalar], i: Index
) -> Scalar:
    x = t[i] + 0.5 * x if few[i] else t[i + 1] - x
    return x * hawk.real(u[hawk.index(x), i % 4])


@hawk.kernel
def stir(u: Grid["r", "c"], w: Param) -> Grid["r", "c"]:
    a = u.neighbor(r=-1) + u.neighbor(c=+1)
    return w * (a - u) + u.at(r=hawk.sample_index("c"), c=0) / hawk.n_samples("c")


@dataclass
class Body:
    """A point that moves."""

    r: Vector[2]
    v: Vector[2]
    mass: Scalar

    def pushed(self, force: Any, dt: Any) -> Any:
        v = self.v + dt * force / self.mass
        return Body(self.r + dt * v, v, self.mass)


@hawk.kernel
def pushed(body: Mutable[Body], dt: Param) -> Scalar:
    force = -body.r if body.mass > 1.0 else hawk.math.vec(0.0, -9.81)
    body = body.pushed(force, dt)
    return 0.5 * body.mass * hawk.math.dot(body.v, body.v)


CONSTRUCTS: dict[str, tuple[Kernel[..., Any], dict[str, Number]]] = {
    "random": (dice, {"seed": 7}),
    "vectors": (bodies, {"dt": 0.1}),
    "tables": (knots, {}),
    "objects": (pushed, {"dt": 0.1}),
    "grid": (stir, {"w": 0.25, dimension_name("r"): 5, dimension_name("c"): 8}),
    "relax": (relax, {dimension_name("r"): 10, dimension_name("c"): 4}),
}


def drawn(fn: Function, numbers: dict[str, Number], n: int, seed: int) -> Batch:
    """A batch of a kernel of the tests; tables of up to two dimensions, of 4 elements or 3 x 4."""
    random = Random(seed)
    tables: dict[str, Any] = {}
    columns: dict[str, list[Number]] = {}
    for plane in fn.planes:
        if plane.role in TABLES and not grid_of(plane.name):
            tables[plane.name] = as_array(
                [draw(random, plane.dtype) for _ in range(12)], plane.dtype
            )
        elif plane.role in ARRAYS - {Role.OUTPUT} and " " not in plane.name:
            columns[plane.name] = [_some(random, plane) for _ in range(n)]
    extents = {p.name: 12 for p in fn.planes if p.name.startswith("extent 0 of")}
    batch = Batch.of(fn.planes, columns, {**extents, **numbers}, n, tables)
    for plane in fn.planes:
        if grid_of(plane.name):
            given = batch.arrays.get(grid_of(plane.name))
            more = as_array([draw(random, plane.dtype) for _ in range(n)], plane.dtype)
            tables[plane.name] = more if given is None else given.copy()
    return replace(batch, tables=tables)


def _some(random: Random, plane: Plane) -> Number:
    return random.randint(0, 3) if plane.name == "which" else draw(random, plane.dtype)


@reals
@pytest.mark.parametrize("name", CONSTRUCTS)
def test_constructs_give_what_the_cpu_gives(name: str, real: DType) -> None:
    kernel, numbers = CONSTRUCTS[name]
    fn = optimise(kernel.trace(real))
    compiled, module = scalar(fn), module_of(fn)
    for steps, shape in zip((1, 3, 16), SHAPES, strict=True):
        batch = drawn(fn, numbers, 40, steps)
        expected, got = batch.copy(), batch.copy()
        launch(compiled, expected, steps)
        run(module, fn.planes, got, steps, blocks=shape[0], threads=shape[1])
        assert [] == differences(expected, got)[:3], steps


def benchmark_kernels() -> Iterator[tuple[str, Kernel[..., Any]]]:
    """Each of them once; `pendulum` with fast functions too."""
    seen: list[object] = []
    yield "pendulum, fast", FAST["pendulum"].kernel
    for name, row in ROWS.items():
        if row.kernel not in seen:
            seen.append(row.kernel)
            yield name, row.kernel


@reals
@pytest.mark.parametrize("name", dict(benchmark_kernels()))
def test_kernels_of_the_benchmarks_give_what_the_cpu_gives(
    name: str, real: DType, programs: int
) -> None:
    if real is DType.F32 and name != "pendulum" and programs <= USUAL:
        pytest.skip("only in a long run: make test-long")
    fn = optimise(dict(benchmark_kernels())[name].trace(real))
    random, n = Random(name), 40
    given = {"e": 0.3, "enough": 1e-3, "dt": 0.01, "tolerance": 1e-3, "least": 0.01, "most": 1.0}
    numbers = {
        plane.name: given.get(plane.name, random.uniform(0.5, 1.5))
        for plane in fn.planes
        if plane.role is Role.UNIFORM
    }
    columns = {
        plane.name: [given.get(plane.name, random.uniform(0.1, 1.2)) for _ in range(n)]
        for plane in fn.planes
        if plane.role in (Role.INPUT, Role.STATE)
    }
    batch = Batch.of(fn.planes, columns, numbers, n)
    expected, got = batch.copy(), batch.copy()
    launch(scalar(fn), expected, 5)
    run(module_of(fn), fn.planes, got, 5, threads=64)
    assert [] == differences(expected, got)[:3]
    assert differences(batch, got)


def test_another_number_of_steps_would_be_noticed() -> None:
    fn = optimise(lorenz.trace(DType.F64))
    rows = {plane.name: [0.5] * 5 for plane in fn.planes if plane.role in (Role.INPUT, Role.STATE)}
    numbers = {plane.name: 0.25 for plane in fn.planes if plane.role is Role.UNIFORM}
    batch = Batch.of(fn.planes, rows, {**numbers, "t_end": 9.0}, 5)
    expected, got = batch.copy(), batch.copy()
    launch(scalar(fn), expected, 3)
    run(module_of(fn), fn.planes, got, 2)
    assert differences(expected, got)
