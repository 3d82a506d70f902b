"""A table is read by all samples, the same way at every door and at every width."""

import itertools
from typing import Any

import numpy as np
import pytest

import eagle
import hawk
from hawk import Bool, Index, Int32, Mutable, Param, Scalar, Table, Terminated, UInt32
from hawk.checks import CheckWarning
from hawk.ir.builder import Builder
from hawk.ir.nodes import Apply, Function, Plane, Role, Value, walk
from hawk.ir.types import DType
from hawk.ir.verify import InvalidProgram, verify
from hawk.passes.pipeline import optimise
from hawk.reference import interpret, run_python
from hawk.targets.cpu.compile import compile_function
from hawk.targets.cpu.width import variant
from tests.oracle.batch import Batch, launch
from tests.unit.targets.machines import runnable

P, Q = 3, 4


@hawk.kernel
def row(t: Table[Scalar], i: Index) -> Scalar:
    return t[i]


@hawk.kernel
def plane(t: Table["r":P, "c":Q], i: Index, j: Int32) -> tuple[Scalar, Scalar]:
    return t[i, j], t.at(c=j, r=i)


@hawk.kernel
def sizes(t: Table[Int32, :, :, :], x: Scalar) -> tuple[Index, Index, Index]:
    return len(t), t.shape[1], t.shape[2]


@hawk.kernel
def kinds(
    a: Table[Scalar],
    b: Table[Index],
    c: Table[Int32],
    d: Table[UInt32],
    e: Table[Bool],
    i: UInt32,
) -> tuple[Scalar, Index, Int32, UInt32, Bool]:
    return a[i], b[i], c[i], d[i], e[i]


@hawk.kernel
def walk_on(
    nexts: Table[Int32],
    weight: Table[Scalar],
    at: Mutable[Int32],
    x: Mutable[Scalar],
    home: Terminated,
):
    """Follow a chain of places until place 0."""
    x += weight[at]
    at = nexts[at]
    home = at == 0


def test_an_index_picks_an_element() -> None:
    t = np.array([1.5, 2.5, 3.5])
    assert [3.5, 1.5, 2.5] == row(t, np.array([2, 0, 1])).tolist()


def test_an_index_outside_is_brought_to_the_nearest_place() -> None:
    t = np.array([1.5, 2.5, 3.5])
    far = np.array([-1, -(2**63), 3, 2**31, 2**32, 2**63 - 1])
    assert [1.5, 1.5, 3.5, 3.5, 3.5, 3.5] == row(t, far).tolist()


def test_an_unsigned_index_is_never_negative() -> None:
    i = np.array([0, 2, 2**31, 2**32 - 1], np.uint32)
    t = [np.arange(3, dtype=each) for each in (float, np.int64, np.int32, np.uint32)]
    results = kinds(*t, np.array([True, False, True]), i)
    for result in results[:4]:
        assert [0, 2, 2, 2] == result.tolist()
    assert [True, True, True, True] == results[4].tolist()


def test_two_dimensions_are_one_row_after_the_other() -> None:
    t = np.arange(12.0).reshape(P, Q)
    i, j = (
        np.array(each) for each in zip(*itertools.product(range(-1, 5), range(-1, 6)), strict=True)
    )
    by_place, by_name = plane(t, i, j.astype(np.int32))
    expected = t[i.clip(0, P - 1), j.clip(0, Q - 1)]
    assert expected.tolist() == by_place.tolist() == by_name.tolist()


def test_a_table_knows_its_extents() -> None:
    t = np.zeros((2, 5, 7), np.int32)
    assert [(2, 5, 7)] == list(zip(*[each.tolist() for each in sizes(t, np.zeros(1))], strict=True))


@pytest.mark.parametrize("real", [np.float64, np.float32])
@pytest.mark.parametrize("kernel", [row, plane, kinds])
def test_both_oracles_and_the_call_agree(kernel: Any, real: Any) -> None:
    rng = np.random.default_rng(1)
    given: dict[str, Any] = {}
    for each in kernel.parameters:
        dtype = each.element.at(DType.F64 if real is np.float64 else DType.F32).numpy
        if each.table:
            shape = tuple(6 if extent is None else extent for extent in each.table.extents)
            given[each.name] = rng.integers(0, 9, shape).astype(dtype)
        else:
            given[each.name] = rng.integers(0 if dtype == "uint32" else -3, 9, 40).astype(dtype)
    first, second = run_python(kernel, **given), interpret(kernel, **given)
    got = kernel(**given)
    for name, array in zip(first, got if isinstance(got, tuple) else (got,), strict=True):
        assert first[name].tobytes() == second[name].tobytes() == array.tobytes()


@pytest.mark.parametrize("width", [1, 2, 4, 8])
@pytest.mark.parametrize("machine", runnable())
def test_every_width_reads_the_same(machine: str, width: int) -> None:
    fn = optimise(walk_on.trace(DType.F64))
    host = runnable()[machine]
    nexts, weight = np.array([0, 0, 1, 2, 3, 4], np.int32), np.array([0.0, 1, 2, 4, 8, 16])
    columns = {"at": [k % 6 for k in range(50)], "x": [0.0] * 50}
    compiled = compile_function(fn, host, variant(fn, host, width, 2))
    batch = Batch.of(
        compiled.planes,
        columns,
        {"extent 0 of nexts": 6, "extent 0 of weight": 6},
        tables={"nexts": nexts, "weight": weight},
    )
    launch(compiled, batch, 3, piece=9)
    launch(compiled, batch, 9)
    assert [float(2 ** (k % 6) - 1) for k in range(50)] == batch.arrays["x"].tolist()


def test_every_door_takes_a_table() -> None:
    nexts, weight = np.array([0, 0, 1, 2, 3, 4], np.int32), np.array([0.0, 1, 2, 4, 8, 16])
    expected = [float(2 ** (k % 6) - 1) for k in range(1000)]

    def state() -> dict[str, Any]:
        return {"at": (np.arange(1000) % 6).astype(np.int32), "x": np.zeros(1000)}

    for kernel in (walk_on, hawk.steps(walk_on, 4), hawk.steps(walk_on, "auto")):
        given = state()
        report = eagle.run_until_done(kernel, max_steps=9, nexts=nexts, weight=weight, **given)
        assert report.done
        assert expected == given["x"].tolist()
    given = state()
    run = eagle.simulation(
        walk_on, max_steps=9, count_steps=True, nexts=nexts, weight=weight, **given
    )
    assert expected == run.run().x.tolist()
    run.reset()
    assert expected == run.run().x.tolist()
    given = state()
    bound = eagle.deploy(walk_on).bind(nexts=nexts, weight=weight, **given)
    with eagle.ActiveSet(bound.finished, reorder=0.5, planes=tuple(given.values())) as active:
        while active.compact():
            bound.launch(active=active)
    assert expected == given["x"].tolist()


def test_a_table_may_be_read_only_and_of_any_length() -> None:
    t = np.array([4.0])
    t.flags.writeable = False
    assert [4.0, 4.0] == row(t, np.array([-9, 9])).tolist()
    bound = eagle.deploy(row).bind(t=t, i=np.zeros(5, np.int64))
    bound.launch()
    assert [4.0] * 5 == bound.planes["out"].tolist()


def test_a_call_takes_a_list_and_a_strided_array() -> None:
    assert [3.0] == row([1, 2, 3], np.array([2])).tolist()
    with pytest.warns(eagle.PerformanceWarning, match="'t'"):
        assert [5.0] == row(np.arange(10.0)[1::2], np.array([2])).tolist()


def test_the_float_width_of_a_table_is_that_of_the_kernel() -> None:
    assert np.float32 == row(np.zeros(3, np.float32), np.array([0])).dtype


def test_a_table_alone_does_not_say_how_many_samples_there_are() -> None:
    @hawk.kernel
    def constant(t: Table[Scalar], k: Param[Index]) -> Scalar:
        return t[k]

    assert [2.0] * 5 == constant([1.0, 2.0], 1, n=5).tolist()
    with pytest.raises(eagle.BindError, match="'n': not known"):
        eagle.deploy(constant).bind(t=np.zeros(3), k=0)


def test_samples_may_read_a_table_in_loops_and_branches() -> None:
    @hawk.kernel
    def search(t: Table[Scalar], x: Scalar) -> tuple[Index, Scalar]:
        i = 0
        while i < len(t) - 1 and t[i + 1] <= x:
            i += 1
        value = 0.0
        if x > 2.0:
            value = t[i] * 2.0
        return i, value

    t = np.array([0.0, 1.0, 2.0, 4.0, 8.0])
    x = np.array([-1.0, 0.5, 1.0, 3.0, 7.9, 8.0, 99.0])
    first = interpret(search, t, x)
    assert [0, 0, 1, 2, 3, 4, 4] == first["out0"].tolist()
    for got, name in zip(search(t, x), first, strict=True):
        assert first[name].tobytes() == got.tobytes() == run_python(search, t, x)[name].tobytes()


def test_helpers_and_kernels_inside_take_a_table() -> None:
    def mean(t: Any, i: Any) -> Any:
        return 0.5 * (t[i] + t[i + 1])

    @hawk.kernel
    def outer(t: Table[Scalar], i: Index) -> Scalar:
        return mean(t, i) + row(t, i)

    t, i = np.array([1.0, 2.0, 4.0]), np.array([0, 1])
    assert [2.5, 5.0] == outer(t, i).tolist() == run_python(outer, t, i)["out"].tolist()


def lookups(kernel: Any) -> list[int]:
    """How many lookups are done once a launch, once a sample, and in each step."""
    fn = optimise(kernel.trace(DType.F64))
    bodies = (fn.launch, fn.sample, fn.step)
    return [sum(isinstance(s, Apply) and s.op == "lookup" for s in walk(body)) for body in bodies]


def test_a_lookup_is_done_as_rarely_as_possible_and_once() -> None:
    @hawk.kernel
    def rates(t: Table[Scalar], k: Param[Index], i: Index, x: Mutable[Scalar], j: Mutable[Index]):
        unused = t[i + 1]
        x += t[k] + t[i] + t[i] + t[j] + t[0] + t[j]
        j += 1

    assert [2, 1, 1] == lookups(rates)


def test_a_lookup_at_a_known_place_needs_no_look_at_the_extents() -> None:
    @hawk.kernel
    def known(t: Table["r":2, "c":3], x: Scalar) -> Scalar:
        return x + t[1, 2]

    fn = known.trace(DType.F64)
    assert ["t", "x", "out"] == [each.name for each in fn.planes]
    assert ["lookup", "add"] == [each.op for each in fn.step if isinstance(each, Apply)]
    assert [6.0] == known(np.arange(6.0).reshape(2, 3), np.ones(1)).tolist()


def test_a_table_is_the_operand_of_a_lookup_only() -> None:
    table, builder = Value(DType.F64), Builder()
    planes = (Plane("t", Role.TABLE, DType.F64, table), Plane("out", Role.OUTPUT, DType.F64))

    def function(stored: Value) -> Function:
        return Function("f", planes, DType.F64, tuple(builder.items), (("out", stored),))

    with pytest.raises(InvalidProgram, match="uses the table"):
        verify(function(table))
    place = builder.const(0, DType.I32)
    found = builder.apply("lookup", table, place)
    verify(function(found))
    with pytest.raises(InvalidProgram, match="is no table"):
        verify(function(builder.apply("lookup", found, place)))


def test_checks_tell_an_index_outside() -> None:
    @hawk.kernel(checks=True)
    def checked(t: Table[Scalar], g: Table["r":2, "c":2], i: Mutable[Index]) -> Scalar:
        i += 1
        return t[i] + g[0, i]

    with pytest.warns(CheckWarning) as caught:
        hawk.steps(checked, 3)(np.zeros(4), np.zeros((2, 2)), np.array([-5, 0, 1, 0]))
    text = str(caught[0].message)
    assert (
        "sample 0 went outside of a table at step 1: index -4 of `t`, which has 4 of them" in text
    )
    assert "also sample 1 at step 2 and sample 3" not in text
    assert (
        "sample 2 went outside of a table at step 1: index 2 of `g`, which has 2 along axis 1"
        in text
    )
    assert "[H604]" in text


def test_checks_say_nothing_of_places_that_are_there(recwarn: pytest.WarningsRecorder) -> None:
    @hawk.kernel(checks=True)
    def checked(t: Table[Scalar], i: Index) -> Scalar:
        assert t[i] < 9.0
        return t[i]

    checked(np.zeros(4), np.arange(4))
    assert [] == list(recwarn)


def test_explain_tells_of_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    plane.explain()
    assert "a table that all samples read" in capsys.readouterr().out


def test_the_annotation_says_what_the_table_is() -> None:
    assert 'kernel plane(t: Table["r":3, "c":4], i: Index' in repr(plane)
    assert "kernel sizes(t: Table[Int32, :, :, :], x: Scalar)" in repr(sizes)


@pytest.mark.parametrize(
    ("items", "message"),
    [
        (("r", 3), "either all dimensions of a Table have a name or none"),
        (slice("r", 0), "the extent of a Table is a number from 1"),
        (slice("r", True), "the extent of a Table is a number from 1"),
        (slice("not a name", 3), "has a name like a variable"),
        (None, "not None"),
        (slice(1, 2), "has a name like a variable, not 1"),
        (slice("r", 2, 3), '"name":extent'),
    ],
)
def test_an_annotation_that_says_nothing_is_refused(items: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        Table[items]
