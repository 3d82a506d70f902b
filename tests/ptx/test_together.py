"""Kernels that reduce or scatter: their PTX gives the bits of the interpreter."""

import itertools
from random import Random
from typing import Any

import numpy as np
import pytest

import hawk
from hawk import Bool, Grid, Index, Int32, Mutable, Param, Scalar, Table, Terminated, UInt32
from hawk.ir.reduce import KINDS, lines_of, result_of
from hawk.ir.reduce import reduce as reduced
from hawk.ir.scatter import KINDS as GIVEN
from hawk.ir.scatter import kinds_of
from hawk.ir.scatter import scatter as scattered
from hawk.ir.types import DType
from hawk.targets.ptx import rounds
from hawk.targets.ptx.routines import routine_ptx, routines_ptx
from tests.oracle.batch import as_array, unlike
from tests.oracle.harness import forget, load
from tests.oracle.numbers import draw
from tests.oracle.programs import write
from tests.oracle.test_collective import given_to, reducing
from tests.oracle.test_scatter import scattering
from tests.ptx import together
from tests.ptx.parse import parse
from tests.ptx.run import locked
from tests.ptx.together import Together, call, reduce, routines
from tests.unit.frontend.every_way import by_component
from tests.unit.targets.by_hand import F32, F64

TYPES_OF = {
    "any": (DType.BOOL,),
    "all": (DType.BOOL,),
    "mean": (F64, F32),
}
FEW, USUAL = 3, 200
"""Random programs of an ordinary run; with `--programs=` more than usual, all of them."""
SIZES = (0, 1, 5, 1024, 1025, 2500)


def types_of(kind: str) -> tuple[DType, ...]:
    return TYPES_OF.get(kind, (F64, F32, DType.I32, DType.U32, DType.I64))


def numbers(random: Random, dtype: DType, n: int) -> Any:
    """Numbers that are rounded when added, zeros of both signs; NaN now and then."""
    if dtype.is_float and random.random() < 0.7:
        found = [random.choice((-0.0, 0.0, random.uniform(-1, 1) * 10)) for _ in range(n)]
        return as_array(found, dtype)
    return as_array([draw(random, dtype) for _ in range(n)], dtype)


def due(kind: str, dtype: DType, values: Any, kept: Any) -> Any:
    with np.errstate(all="ignore"):
        number = reduced(kind, dtype, values.tolist(), kept.tolist())
        return np.array([number], result_of(kind, dtype).numpy)


@pytest.mark.parametrize(("kind", "dtype"), [(k, t) for k in KINDS for t in types_of(k)])
def test_a_reduction_of_a_batch_has_the_bits_that_are_laid_down(kind: str, dtype: DType) -> None:
    random = Random(f"{kind} {dtype}")
    for n in random.sample(SIZES, 3):
        values = numbers(random, dtype, n)
        keep = np.array([random.random() < 0.8 for _ in range(n)], bool)
        done = np.array([random.random() < 0.2 for _ in range(n)], bool)
        keep, done = random.choice(((keep, None), (None, done), (keep, done), (None, None)))
        kept = np.ones(n, bool) if keep is None else keep
        kept = kept if done is None else kept & ~done
        seed = random.choice((None, 3))
        got = reduce(kind, dtype, values, keep=keep, done=done, seed=seed)
        assert [] == list(unlike(due(kind, dtype, values, kept), got)), (n, got)


@pytest.mark.parametrize("kind", KINDS)
def test_a_reduction_of_lines_is_one_of_each(kind: str) -> None:
    dtype, random = types_of(kind)[0], Random(kind)
    extents, over = random.choice((((3, 1, 4), (0, 2)), ((5, 2), (0,)), ((2, 1030), (1,))))
    lines = lines_of(extents, over)
    n = int(np.prod(extents))
    values, keep = numbers(random, dtype, n), np.array([random.random() < 0.8 for _ in range(n)])
    order = np.array(lines, np.int64)
    got = reduce(kind, dtype, values, keep=keep, order=order.reshape(-1), lines=len(lines))
    expected = np.concatenate([due(kind, dtype, values[line], keep[line]) for line in order])
    assert [] == list(unlike(expected, got))


@pytest.mark.parametrize(("kind", "dtype"), [(k, t) for t in DType for k in kinds_of(t)])
def test_a_scatter_has_the_bits_that_are_laid_down(kind: str, dtype: DType) -> None:
    random = Random(f"{kind} {dtype}")
    n, size = 300, 5
    table, values = numbers(random, dtype, size), numbers(random, dtype, n)
    spots = np.array([random.randint(0, size) for _ in range(n)], np.int32)
    expected: list[Any] = table.tolist()
    with np.errstate(all="ignore"):
        scattered(kind, dtype, expected, spots.tolist(), values.tolist())
    given = {rounds.TABLE: table, rounds.SPOTS: locked(spots), rounds.VALUES: locked(values)}
    call(rounds.scatter(kind, dtype, size, n), given, seed=1)
    assert [] == list(unlike(as_array(expected, dtype), table))


def test_there_is_a_routine_for_each_call() -> None:
    wanted = {
        each.routine
        for kind in KINDS
        for dtype in types_of(kind)
        for each in rounds.reduction(kind, dtype, 2, 5000).calls
    }
    wanted |= {rounds.scatter(kind, t, 3, 3).routine for t in DType for kind in kinds_of(t)}
    assert set(routines().kernels) == wanted
    assert set(GIVEN) == {kind for t in DType for kind in kinds_of(t)}


@pytest.mark.parametrize("name", ["fold_kept", "take_min_f32", "scatter_add_i64"])
def test_a_routine_stands_alone_too(name: str) -> None:
    assert {name} == set(parse(routine_ptx(name, "sm_75")).kernels)


def test_blocks_of_another_size_are_refused() -> None:
    assert {256} == {kernel.least for kernel in routines().kernels.values()}


def test_floats_are_not_added_by_atomic_operations() -> None:
    found = [i for k in routines().kernels.values() for i in k.body if i.name in ("atom", "red")]
    assert found
    assert [] == [each.text for each in found if each.modifiers[-1][0] == "f"]
    assert [] == [each.text for each in found if "cas" in each.modifiers]


# --- kernels --------------------------------------------------------------------------------------


def check(kernel: Any, real: DType, planes: dict[str, Any], steps: int = 2) -> None:
    with np.errstate(all="ignore"):
        expected = by_component(kernel, hawk.interpret(kernel, steps=steps, **planes))
        batch = Together(kernel, real, planes)
    for step in range(steps):
        batch.step(seed=step or None)
    results = batch.results()
    for name, wanted in expected.items():
        got = results[name]
        assert [] == [(name, at) for at in unlike(wanted.reshape(-1), got)][:3]


@hawk.kernel
def resample(x: Mutable[Scalar], w: Mutable[Scalar], far: Param, over: Terminated) -> Index:
    total = hawk.sum(w)
    w = w / total
    near = hawk.mean(x, where=abs(x) < far)
    x = x - near * hawk.max(w)
    over = hawk.argmax(w) == hawk.sample_index()
    count = hawk.sum(x > 0.0)
    return hawk.index(count) if hawk.any(x > far) else -1


@hawk.kernel
def standardized(u: Grid["r", "c"], v: Mutable[Grid["r", "c"]]) -> Grid["r", "c"]:
    away = u - hawk.mean(v, over="r") + u.neighbor(c=-1)
    v = v + hawk.sum(u * away, over="c") / hawk.max(v)
    return away / hawk.sum(away * away, over=("r", "c"))


@hawk.kernel
def histogram(
    x: Mutable[Scalar],
    k: UInt32,
    counts: Mutable[Table[Int32]],
    total: Mutable[Table[Scalar]],
    seen: Mutable[Table[Bool]],
    over: Terminated,
):
    b = hawk.index(x * 4.0)
    hawk.scatter(counts)[b] += 1
    hawk.scatter(total, where=x > 0.1)[b] += 0.1 * x
    hawk.scatter(total)[k].max(x)
    hawk.scatter(seen)[k] |= x > 0.5
    x = 0.5 * x + total[b]
    over = x > 0.7


@pytest.mark.parametrize("real", [F64, F32], ids=lambda real: real.value)
def test_kernels_give_what_the_interpreter_gives(real: DType, programs: int) -> None:
    if real is F32 and programs <= USUAL:
        pytest.skip("only in a long run: make test-long")
    random, n = np.random.default_rng(5), 40
    floats = {name: random.uniform(0, 1, n).astype(real.numpy) for name in "xw"}
    check(resample, real, {**floats, "far": 0.75, "over": np.arange(n) % 7 == 3})
    u, v = (random.uniform(0.5, 1, (4, 9)).astype(real.numpy) for _ in range(2))
    check(standardized, real, {"u": u, "v": v})
    tables = {"counts": np.zeros(4, np.int32), "seen": np.zeros(6, bool)}
    tables["total"] = np.zeros(4, real.numpy)
    spread = {"x": floats["x"], "k": random.integers(0, 9, n).astype(np.uint32)}
    check(histogram, real, {**spread, **tables, "over": np.arange(n) % 7 == 3})


def test_random_programs_give_what_the_interpreter_gives(programs: int) -> None:
    """Every third has reductions, every third those along dimensions of a grid, or scatters."""
    wanted, found = programs if programs > USUAL else FEW, 0
    for seed in itertools.count():
        if found == wanted:
            break
        make = (reducing, reducing, scattering)[seed % 3]
        program = make(write(seed, grids=seed % 3 == 1))
        if program is not None:
            kernel = load(program.text)
            real = F64 if program.wide else F32
            check(kernel, real, given_to(kernel, program))
            found += 1
        forget()


def test_without_barriers_it_would_be_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    text = routines_ptx("sm_75").replace("bar.sync", "// ")
    monkeypatch.setattr(together, "routines", lambda: parse(text))
    values = np.arange(600.0)
    assert any(179700.0 != reduce("sum", F64, values, seed=seed)[0] for seed in range(3))


def test_another_order_would_be_noticed() -> None:
    """The sum is that of a fold: added one after the other it has other bits."""
    values = np.random.default_rng(1).uniform(0, 1, 900)
    one_by_one = np.array([sum(values.tolist())])
    assert one_by_one != reduce("sum", F64, values)
    assert due("sum", F64, values, np.ones(900, bool)) == reduce("sum", F64, values)
