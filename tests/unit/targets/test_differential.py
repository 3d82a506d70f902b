"""Compiled code stores the bits the interpreter stores, in every variant, for every batch."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from random import Random

import pytest

from hawk.ir.nodes import Function, Number, Plane, Role, Value
from hawk.ir.ops import OPS
from hawk.ir.types import DType
from hawk.passes.lower import lower
from hawk.passes.pipeline import optimise
from hawk.targets.base import Compiled, Word
from hawk.targets.cpu.compile import compile_function
from hawk.targets.cpu.width import Variant, variant
from hawk.targets.shape import Shape
from tests.oracle.batch import Batch, differences, interpreted, launch
from tests.oracle.numbers import EDGES, draw, mixed
from tests.unit.ir.programs import OF_TABLES
from tests.unit.targets.by_hand import BOOL, F32, F64, I32, I64, PROGRAMS, REALS, U32, Draft
from tests.unit.targets.machines import runnable, variants

Write = Callable[[DType], Function]

programs = pytest.mark.parametrize("write", PROGRAMS.values(), ids=PROGRAMS.keys())
reals = pytest.mark.parametrize("real", REALS, ids=lambda real: real.value)
masks = pytest.mark.parametrize("masks", runnable())


def batch_for(planes: Sequence[Plane], n: int, seed: int = 0) -> Batch:
    """Some samples on numbers that suit the programs; loops and counters stay short."""
    random = Random(seed)
    columns: dict[str, list[Number]] = {}
    numbers: dict[str, Number] = {}
    for plane in planes:
        if plane.role is Role.UNIFORM:
            numbers[plane.name] = (
                random.randint(0, 4)
                if plane.name == "trips"
                else draw(random, plane.dtype, plane.name)
            )
        elif plane.role is Role.MASK:
            columns[plane.name] = [random.random() < 0.2 for _ in range(n)]
        else:
            columns[plane.name] = [draw(random, plane.dtype, plane.name) for _ in range(n)]
    return Batch.of(planes, columns, numbers, n)


@functools.cache
def optimised(write: Write, real: DType) -> Function:
    return optimise(write(real))


def compiled_for(fn: Function, masks: str, row: Variant) -> Compiled:
    return compile_function(fn, runnable()[masks], row)


def check(fn: Function, compiled: Compiled, batch: Batch, steps: int, **where: int) -> None:
    expected = interpreted(
        fn, batch, steps, range(where.get("begin", 0), where.get("end", batch.n))
    )
    got = batch.copy()
    launch(compiled, got, steps, **where)
    assert [] == differences(expected, got), f"{compiled.description}, {steps} steps, {where}"


@programs
@reals
@masks
def test_every_variant_computes_what_the_interpreter_computes(
    write: Write, real: DType, masks: str
) -> None:
    fn = optimised(write, real)
    ways = list(runnable())
    rows = variants(fn, runnable()[masks])
    if len(ways) > 1:  # each float width takes the other half with the other masks
        rows = rows[(ways.index(masks) + REALS.index(real)) % 2 :: 2]
    for row in rows:
        compiled = compiled_for(fn, masks, row)
        for steps in (1, row.block + 1, 3 * row.block - 1):
            check(fn, compiled, batch_for(fn.planes, 11, seed=steps), steps)


@programs
@masks
def test_a_group_that_is_not_full_touches_its_own_samples_only(write: Write, masks: str) -> None:
    fn = optimised(write, F64)
    for row in variants(fn, runnable()[masks])[1:4]:
        compiled = compiled_for(fn, masks, row)
        for n in range(row.shape.lanes + 2):
            check(fn, compiled, batch_for(fn.planes, n, seed=n), 5)


@programs
def test_passes_are_not_needed_for_the_right_bits(write: Write) -> None:
    fn = lower(write(F64))
    for masks in runnable():
        for row in variants(fn, runnable()[masks])[1:3]:
            compiled = compiled_for(fn, masks, row)
            check(fn, compiled, batch_for(fn.planes, 2 * row.shape.lanes + 1), row.block + 3)


@programs
@masks
def test_pieces_and_parts_of_a_batch_are_samples_like_any(write: Write, masks: str) -> None:
    fn = optimised(write, F64)
    compiled = compiled_for(fn, masks, variant(fn, runnable()[masks], 4, 2, 4))
    batch = batch_for(fn.planes, 45)
    for piece in (1, 3, 8, 13, 64):
        check(fn, compiled, batch, 6, begin=5, end=38, piece=piece)
    check(fn, compiled, batch, 6, begin=7, end=7)


@programs
@reals
def test_many_short_launches_are_one_long_one(write: Write, real: DType) -> None:
    fn = optimised(write, real)
    if not any(plane.role is Role.STATE for plane in fn.planes):
        pytest.skip("a step that changes nothing is not repeated")
    compiled = compile_function(fn)
    long, short = batch_for(fn.planes, 37), batch_for(fn.planes, 37)
    launch(compiled, long, 50)
    for steps in (1, 2, 16, 15, 1, 7, 8):
        launch(compiled, short, steps)
    assert [] == differences(long, short)


@masks
@pytest.mark.parametrize("dtype", DType, ids=lambda dtype: dtype.value)
def test_every_operation_has_its_meaning_at_every_width(dtype: DType, masks: str) -> None:
    fn = every_operation(dtype)
    count = len(EDGES[dtype])
    n = count * count if count < 20 else 7 * count
    batch = operands(fn, n)
    expected = interpreted(fn, batch, 1, range(n))
    lowered = optimise(fn)
    for shape in ((1, 1), (2, 1), (4, 1), (8, 1), (16, 1)):
        compiled = compiled_for(lowered, masks, variant(lowered, runnable()[masks], *shape))
        got = batch.copy()
        launch(compiled, got, 1)
        assert [] == differences(expected, got)[:5], compiled.description


def every_operation(dtype: DType) -> Function:
    """One output for each operation whose last operand is a `dtype`."""
    real = dtype if dtype.is_float else F64
    d = Draft(f"every_{dtype.value}", real)
    a, b, c = (d.input(name, dtype) for name in "abc")
    test = d.input("test", BOOL)
    for name, row in OPS.items():
        if name in ("quot", *OF_TABLES) or name.startswith("fit_"):  # on some operands only
            continue
        args = (test, a, b) if name == "select" else (a, b, c)[: row.arity]
        try:
            result = d(name, *args)
        except TypeError:
            continue
        d.output(f"out_{name}", result)
    return d.function()


def operands(fn: Function, n: int) -> Batch:
    columns = {
        plane.name: mixed(plane.dtype, n, stride=stride)
        for plane, stride in zip(fn.planes, (1, 0, 5, 1), strict=False)
    }
    # The second operand moves on each time the first has been through its edges: every pair.
    edges = EDGES[fn.plane("b").dtype]
    columns["b"] = [edges[(sample // len(edges)) % len(edges)] for sample in range(n)]
    return Batch.of(fn.planes, columns, {}, n)


def test_the_operations_tested_are_all_there_are() -> None:
    tested = {
        name.removeprefix("out_")
        for dtype in (BOOL, I32, U32, I64, F32, F64)
        for name, _ in every_operation(dtype).stores
    }
    internal = {name for name in OPS if name == "quot" or name.startswith("fit_")}
    assert set(OPS) - internal - set(OF_TABLES) == tested


def test_a_machine_that_compiles_otherwise_would_be_noticed() -> None:
    fn = optimised(PROGRAMS["oscillator"], F64)
    other = optimised(PROGRAMS["endless"], F64)
    batch = batch_for(fn.planes, 9)
    expected = interpreted(fn, batch, 3, range(9))
    got = batch.copy()
    launch(compile_function(fn, variant=Variant(Shape(1))), got, 2)
    assert differences(expected, got)
    assert differences(expected, batch)
    assert other is not fn


@masks
@reals
def test_the_lesser_of_a_float_as_uint32_and_0_can_be_compiled(real: DType, masks: str) -> None:
    """LLVM ends the process when it sees these two together."""
    d = Draft("lesser", real)
    x = d.input("x", real)
    d.state("u", U32)
    d.store(u=d("min", d("to_u32", x), d.const(0, U32)))
    fn = optimise(d.function())
    for row in variants(fn, runnable()[masks]):
        check(fn, compiled_for(fn, masks, row), batch_for(fn.planes, 11), 1)


def test_a_done_sample_with_a_loop_without_end_is_left_alone() -> None:
    """What is the same for all steps of a sample may hold a loop; it runs for live samples only."""
    d = Draft("hoisted")
    k, x = d.input("k", I64), d.state("x")

    def body(i: Value, y: Value) -> Sequence[Value]:
        return d("add", i, 1), d("add", y, 1.0)

    _, total = d.loop([d.const(0, I64), d.const(0.0)], lambda i, y: [d("lt", i, k)], body)
    d.store(x=d("add", x, total))
    d.stop(d("gt", x, 100.0))
    fn = optimise(d.function())
    assert fn.sample, "the loop does not depend on the step"
    columns = {"k": [3, 2**62, 5], "x": [0.0, 0.0, 1.0], "terminated": [False, True, False]}
    batch = Batch.of(fn.planes, columns, {})
    for got in ends_within_a_minute(fn, batch, 2):
        assert [6.0, 0.0, 11.0] == got.arrays["x"].tolist()


def test_a_loop_behind_a_test_runs_only_where_a_live_sample_passes_it() -> None:
    d = Draft("guarded")
    trips, x, y = d.uniform("trips", I64), d.state("x"), d.state("y")

    def body(i: Value, z: Value) -> Sequence[Value]:
        return d("add", i, 1), d("add", z, 1.0)

    def more() -> Sequence[Value]:
        return d.loop([d.const(0, I64), y], lambda i, z: [d("lt", i, trips)], body)[1:]

    (y_next,) = d.choose(d("gt", x, 0.0), more, lambda: (y,))
    d.store(y=d("add", y_next, 1.0))
    d.stop(d("gt", y, 100.0))
    fn = optimise(d.function())
    columns = {"x": [0.0, 1.0], "y": [0.0, 0.0], "terminated": [False, True]}
    batch = Batch.of(fn.planes, columns, {"trips": 2**62})
    for got in ends_within_a_minute(fn, batch, 20):
        assert [20.0, 0.0] == got.arrays["y"].tolist()


def ends_within_a_minute(fn: Function, batch: Batch, steps: int) -> Iterator[Batch]:
    """The batch after a launch, for each way to hold masks; fails if a launch does not end."""
    for masks in runnable():
        compiled = compiled_for(fn, masks, variant(fn, runnable()[masks], 4, 1))
        got = batch.copy()
        # A thread that Python does not wait for: if it never returns, the test says so.
        running = threading.Thread(target=launch, args=(compiled, got, steps), daemon=True)
        running.start()
        running.join(60)
        assert not running.is_alive(), "a loop runs for a sample that is done"
        yield got


def test_finished_counts_the_samples_that_became_done_now() -> None:
    fn = optimised(PROGRAMS["counter"], F64)
    compiled = compile_function(fn)
    columns = {
        "limit": [1, 2, 3, 50, 2, 2, 9],
        "k": [0] * 7,
        "total": [0] * 7,
        "terminated": [False] * 5 + [True, False],
    }
    batch = Batch.of(fn.planes, columns, {})

    first = launch(compiled, batch, 2)
    second = launch(compiled, batch, 16)

    assert 3 == first[Word.FINISHED]
    assert 2 == second[Word.FINISHED]
    assert [True, True, True, False, True, True, True] == batch.arrays["terminated"].tolist()


def test_longest_is_the_steps_of_the_sample_that_took_most_or_up_to_a_block_more() -> None:
    fn = optimised(PROGRAMS["counter"], F64)
    for masks in runnable():
        compiled = compiled_for(fn, masks, variant(fn, runnable()[masks], 4, 2, 16))
        for steps, block_more in ((1, 16), (16, 16), (17, 32), (40, 48), (99, 50)):
            columns = {"limit": [1, 1, steps], "k": [0] * 3, "total": [0] * 3}
            header = launch(compiled, Batch.of(fn.planes, columns, {}), 50)
            assert min(steps, 50) <= header[Word.LONGEST] <= block_more


def test_longest_of_a_kernel_that_finishes_nobody_is_what_was_asked() -> None:
    fn = optimised(PROGRAMS["endless"], F64)
    header = launch(compile_function(fn), batch_for(fn.planes, 5), 7)
    assert (7, 0) == (header[Word.LONGEST], header[Word.FINISHED])


def test_longest_of_samples_that_were_all_done_is_nothing() -> None:
    fn = optimised(PROGRAMS["counter"], F64)
    columns = {"limit": [5] * 9, "k": [0] * 9, "total": [0] * 9, "terminated": [True] * 9}
    header = launch(compile_function(fn), Batch.of(fn.planes, columns, {}), 7)
    assert (0, 0) == (header[Word.LONGEST], header[Word.FINISHED])


@pytest.mark.parametrize(
    ("samples", "piece", "taken"), [(10, 3, 4), (9, 3, 3), (0, 3, 0), (5, 9, 1)]
)
def test_taken_counts_the_pieces(samples: int, piece: int, taken: int) -> None:
    fn = optimised(PROGRAMS["endless"], F64)
    header = launch(compile_function(fn), batch_for(fn.planes, samples), 1, piece=piece)
    assert taken == header[Word.TAKEN]
