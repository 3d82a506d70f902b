"""Samples on a grid read their neighbours, the same way at every door and at every width."""

import os
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import eagle
import hawk
from eagle.devices.host import device as host_device
from hawk import Bool, Grid, Index, Int32, Mutable, Param, Scalar, Table, Terminated, Vector
from hawk.checks import CheckWarning
from hawk.ir.types import DType
from hawk.passes.pipeline import optimise
from hawk.targets.cpu import compile as compiling
from hawk.targets.cpu.width import variant
from tests.unit.targets.machines import runnable

Array = Any
SHAPES = [(1, 1), (1, 7), (7, 1), (3, 5), (8, 8), (2, 70), (70, 2), (33, 101), (5, 256)]


@hawk.kernel
def relax(p: Grid["r", "c"], source: Grid["r", "c"]) -> Grid["r", "c"]:
    return 0.25 * (
        p.neighbor(r=-1) + p.neighbor(r=+1) + p.neighbor(c=-1) + p.neighbor(c=+1) - source
    )


@hawk.kernel
def shifted(u: Grid["r", "c"], dr: Param[Index], dc: Param[Index]) -> tuple[Scalar, Scalar]:
    return u.neighbor(r=dr, c=dc), u.neighbor(r=dr, c=dc, edge="wrap")


@hawk.kernel
def own(u: Grid["r", "c"], dr: Index, dc: Int32) -> tuple[Scalar, Scalar]:
    """The same with an offset of each sample's own."""
    return u.neighbor(r=dr, c=dc), u.neighbor(r=dr, c=dc, edge="wrap")


@hawk.kernel
def places(u: Grid["q", "r", "c"]) -> tuple[Index, Index, Index, Index]:
    r, c = hawk.sample_index("r"), hawk.sample_index("c")
    size = hawk.n_samples("q") * hawk.n_samples("r") * hawk.n_samples("c")
    return hawk.sample_index("q"), r, c, size


def moved(u: Array, dr: int, dc: int, edge: str) -> Array:
    """What each sample's neighbour holds, by NumPy."""
    r, c = np.indices(u.shape)
    rows, columns = u.shape
    if edge == "wrap":
        return u[(r + dr % rows) % rows, (c + dc % columns) % columns]
    near = (int(np.clip(d, -n, n)) for d, n in ((dr, rows), (dc, columns)))
    r, c = (each + d for each, d in zip((r, c), near, strict=True))
    return u[r.clip(0, rows - 1), c.clip(0, columns - 1)]


def numbers(shape: tuple[int, ...], dtype: Any = float) -> Array:
    return (np.arange(np.prod(shape)).reshape(shape) * 1.25 % 17 - 3).astype(dtype)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_five_point_step_is_that_of_slices(shape: tuple[int, int], dtype: Any) -> None:
    p, source = numbers(shape, dtype), numbers(shape, dtype)[::-1].copy()
    near = [moved(p, *by, "clamp") for by in ((-1, 0), (1, 0), (0, -1), (0, 1))]
    expected = dtype(0.25) * (near[0] + near[1] + near[2] + near[3] - source)
    got = relax(p, source)
    assert expected.dtype == got.dtype
    assert expected.tobytes() == got.tobytes()
    if p.size < 300:
        for way in (hawk.interpret, hawk.run_python):
            assert expected.tobytes() == way(relax, p, source)["out"].tobytes()


OFFSETS = [0, 1, -1, 2, -3, 6, 7, 8, -7, 100, -(2**31), 2**31, 2**40, -(2**63), 2**63 - 1]


@pytest.mark.parametrize("kernel", [shifted, own])
def test_an_offset_is_clamped_or_wrapped_however_far_it_goes(kernel: Any) -> None:
    u = numbers((7, 6))
    for dr, dc in [(a, b) for a in OFFSETS for b in (0, 1, -5, 6, 2**31 - 1, -(2**31))]:
        by: tuple[Any, ...] = (dr, dc)
        if kernel is own:
            by = np.full(42, dr), np.full(42, dc, np.int32)
        clamped, wrapped = kernel(u, *by)
        assert moved(u, dr, dc, "clamp").ravel().tolist() == clamped.tolist(), (dr, dc)
        assert moved(u, dr, dc, "wrap").ravel().tolist() == wrapped.tolist(), (dr, dc)


@hawk.kernel
def summed(u: Grid["r", "c"], far: Param[Index], x: Mutable[Scalar]):
    """In the loop it is where the column is that counts, not the column."""
    x += u.neighbor(c=1) + 2.0 * hawk.sample_index("c")
    n = 0
    while n < far:
        x -= u.neighbor(c=-3, r=n)
        n += 1


@pytest.mark.parametrize("shape", SHAPES)
def test_neighbours_in_a_loop_follow_from_what_is_known_before_it(shape: tuple[int, int]) -> None:
    u, x = numbers(shape), np.zeros(np.prod(shape))
    due = x
    for _ in range(2):
        due = due + (moved(u, 0, 1, "clamp") + 2.0 * np.indices(shape)[1]).ravel()
        for n in range(3):
            due = due - moved(u, n, -3, "clamp").ravel()
    hawk.steps(summed, 2)(u, 3, x)
    assert due.tolist() == x.tolist()


def known(by: int, edge: str) -> Any:
    @hawk.kernel
    def kernel(u: Grid["r", "c"]) -> Grid["r", "c"]:
        return u.neighbor(r=by, edge=edge) + u.neighbor(c=by, edge=edge)

    return kernel


@pytest.mark.parametrize("edge", ["clamp", "wrap"])
@pytest.mark.parametrize("by", OFFSETS)
def test_a_known_offset_does_the_same(by: int, edge: str) -> None:
    for shape in ((7, 6), (1, 5), (5, 1), (1, 40)):
        u = numbers(shape)
        expected = moved(u, by, 0, edge) + moved(u, 0, by, edge)
        assert expected.tolist() == known(by, edge)(u).tolist()


@pytest.mark.parametrize(("width", "chains"), [(1, 3), (2, 1), (8, 3)])
@pytest.mark.parametrize("machine", runnable())
def test_every_width_reads_the_same(
    machine: str, width: int, chains: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = runnable()[machine]
    monkeypatch.setattr(compiling, "host", lambda: host)
    monkeypatch.setattr(compiling, "choose_variant", lambda fn, _: variant(fn, host, width, chains))
    monkeypatch.setattr(
        "hawk.cache.lookup.Cache.get_or_make", lambda _, w, make, load: (load(*make()), "")
    )

    @hawk.kernel
    def kernel(
        p: Grid["r", "c"], flag: Grid[Bool, "r", "c"], count: Grid[Int32, "r", "c"], k: Param[Index]
    ) -> tuple[Scalar, Bool, Int32]:
        by = hawk.sample_index("r") - 1
        return (
            p.neighbor(c=-1) + p.neighbor(r=+1, edge="wrap") + p[hawk.sample_index() + k],
            flag.neighbor(r=-1, c=-1),
            count.at(r=by, c=hawk.sample_index("c"), edge="wrap") + count[2 * hawk.sample_index()],
        )

    for shape in ((3, 5), (2, 40), (9, 16), (1, 100)):
        p, rng = numbers(shape), np.random.default_rng(2)
        given = p, rng.random(shape) < 0.5, rng.integers(0, 99, shape).astype(np.int32), 2
        expected = hawk.run_python(kernel, *given)
        for threads in (1, 3):
            for name, got in zip(expected, kernel(*given, threads=threads), strict=True):
                assert expected[name].tolist() == got.tolist(), name


def test_a_sample_knows_where_it_is() -> None:
    shape = (3, 4, 5)
    q, r, c, size = places(np.zeros(shape))
    expected = [each.ravel().tolist() for each in np.indices(shape)]
    assert expected == [q.tolist(), r.tolist(), c.tolist()]
    assert [60] * 60 == size.tolist()


def test_the_place_is_right_in_grids_of_odd_sizes() -> None:
    for columns in (1, 2, 3, 5, 7, 10, 49, 127, 641):
        shape = (1000 // columns + 1, 1, columns)
        _, _, c, _ = places(np.zeros(shape))
        assert (np.arange(c.size) % columns).tolist() == c.tolist()


@hawk.kernel
def listed(u: Grid["r", "c"], i: Index, j: Int32) -> tuple[Scalar, Scalar, Scalar, Scalar]:
    return u[i, j], u.at(c=j, r=i), u.at(r=i, c=j, edge="wrap"), u[i]


def test_an_index_is_that_of_the_array_clamped_or_wrapped() -> None:
    u = numbers((4, 5))
    i = np.array([0, 3, -1, 4, 2**40, -(2**63), 2**63 - 1, *range(13)])
    j = np.array([0, 4, -1, 5, 2**31 - 1, -(2**31), 7, *range(-5, 8)], np.int32)
    by_place, by_name, wrapped, flat = listed(u, i, j)
    assert u[i.clip(0, 3), j.clip(0, 4)].tolist() == by_place.tolist() == by_name.tolist()
    assert u[i % 4, j % 5].tolist() == wrapped.tolist()
    assert u.ravel()[i.clip(0, 19)].tolist() == flat.tolist()


@hawk.kernel
def next_one(u: Grid["r", "c"]) -> Scalar:
    return u[hawk.sample_index() + 1]


def test_a_flat_index_goes_on_in_the_next_row() -> None:
    u = numbers((3, 4))
    assert [*u.ravel()[1:], u[2, 3]] == next_one(u).tolist()


@pytest.mark.parametrize("by", [2**63 - 1, 2**63 - 30, 2**31 - 30, 2**32 - 5, -(2**63), -25, 40])
def test_an_index_that_overflows_among_the_samples_reads_no_other_memory(by: int) -> None:
    @hawk.kernel
    def kernel(u: Grid["x"], by: Param[Index], small: Param[Int32]) -> tuple[Scalar, Scalar]:
        return u[hawk.sample_index() + by], u.at(x=hawk.int32(hawk.sample_index()) + small)

    u, small = numbers((300,)), (by + 2**31) % 2**32 - 2**31
    got = kernel(u, by, small)
    for name, each in zip(("out0", "out1"), got, strict=True):
        assert hawk.run_python(kernel, u, by, small)[name].tolist() == each.tolist()


def test_what_is_read_beside_each_other_is_loaded_as_vectors() -> None:
    """Neighbours in one row are one load a vector: nothing is gathered away from the borders."""

    @hawk.kernel
    def kernel(u: Grid["r", "c"]) -> Grid["r", "c"]:
        back = u.at(r=hawk.sample_index("r") - 1, c=hawk.sample_index("c"), edge="wrap")
        return u.neighbor(c=-1) + u.neighbor(r=+1) + u[hawk.sample_index() + 3] + back

    fn = optimise(kernel.trace(DType.F64))
    text = compiling.llvm_text(fn)
    entry = text.partition("@hawk_entry")[2].partition("\n}")[0]
    assert "extractelement" not in entry
    assert text.count("insertelement <") > 4  # at borders


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0, 0)])
def test_a_grid_may_be_empty(shape: tuple[int, int]) -> None:
    assert shape == relax(np.zeros(shape), np.zeros(shape)).shape


def test_lists_integers_and_strided_arrays_are_converted_by_a_call() -> None:
    u = numbers((3, 4))
    with pytest.warns(eagle.PerformanceWarning, match="'source'"):
        got = relax(u.tolist(), np.ascontiguousarray(u.T).T)
    assert relax(u, u).tolist() == got.tolist()
    whole = np.arange(12).reshape(3, 4)
    assert relax(whole.astype(float), whole.astype(float)).tolist() == relax(whole, whole).tolist()


def test_a_strided_output_is_written_through_a_copy() -> None:
    u, out = numbers((3, 4)), np.zeros((4, 3)).T
    with pytest.warns(eagle.PerformanceWarning, match="'out'"):
        assert relax(u, u, out=out) is out
    assert relax(u, u).tolist() == out.tolist()


# --- state, and other planes beside grids ---------------------------------------------------------


@hawk.kernel
def diffuse(
    u: Grid["r", "c"],
    rate: Table[Scalar],
    gain: Scalar,
    flow: Vector[2],
    k: Param,
    total: Mutable[Grid["r", "c"]],
    over: Terminated,
) -> tuple[Grid["r", "c"], Vector[2]]:
    laplace = u.neighbor(r=-1) + u.neighbor(r=+1) - 2.0 * u
    total += k * laplace + rate[1] * gain + flow[0]
    over = total > 8.0
    return total * 2.0, flow + u.neighbor(c=+1, edge="wrap")


def diffused(shape: tuple[int, int]) -> dict[str, Any]:
    n = int(np.prod(shape))
    return {
        "u": numbers(shape),
        "rate": np.array([0.5, 0.25, 2.0]),
        "gain": np.linspace(0.0, 3.0, n),
        "flow": np.arange(2.0 * n).reshape(2, n) % 3,
        "k": 0.125,
        "total": np.zeros(shape),
    }


@pytest.mark.parametrize("threads", [1, 2])
def test_grids_go_together_with_all_other_planes(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_device, "ALONE", 0)
    shape = (9, 11)
    expected = hawk.run_python(diffuse, steps=9, **diffused(shape))
    result = eagle.simulate(diffuse, max_steps=9, threads=threads, **diffused(shape))
    assert expected["total"].tolist() == result.total.tolist()
    assert expected["out0"].tolist() == result.out0.tolist()
    assert expected["out1"].tolist() == result.out1.tolist()
    assert expected["over"].tolist() == result.finished.tolist()
    given = diffused(shape)
    report = eagle.run_until_done(eagle.deploy(hawk.steps(diffuse, 4)), max_steps=9, **given)
    assert expected["total"].tolist() == given["total"].tolist()
    assert np.count_nonzero(expected["over"]) == report.finished
    given = diffused(shape)
    bound = eagle.deploy(hawk.steps(diffuse, 9)).bind(**given)
    bound.launch()
    assert bound.planes["total"] is given["total"]
    assert expected["total"].tolist() == given["total"].tolist()


def test_a_run_is_put_back_and_run_again() -> None:
    given = diffused((4, 5))
    simulation = eagle.simulation(diffuse, max_steps=6, **given)
    first = simulation.run().total.copy()
    simulation.reset()
    assert not given["total"].any()
    assert first.tolist() == simulation.run().total.tolist()
    assert (4, 5) == simulation.run().out0.shape


def test_an_active_set_looks_at_some_samples_and_moves_none() -> None:
    given, expected = diffused((4, 5)), diffused((4, 5))
    mask = np.zeros(20, np.bool)
    bound = eagle.deploy(diffuse).bind(over=mask, **given)
    with eagle.ActiveSet(mask) as active:
        for _ in range(6):
            active.compact()
            bound.launch(active=active)
    eagle.simulate(diffuse, max_steps=6, **expected)
    assert expected["total"].tolist() == given["total"].tolist()

    @hawk.kernel
    def first_one(u: Grid["r"], t: Mutable[Grid["r"]], over: Terminated):
        t += u[0]
        over = t > 3.0

    u, t, mask = np.ones(9), np.zeros(9), np.zeros(9, np.bool)
    bound = eagle.deploy(first_one).bind(u=u, t=t, over=mask)
    with (
        eagle.ActiveSet(mask, reorder=0.5, planes=(u, t)) as moving,
        pytest.raises(ValueError, match="neighbours in 'u', which belongs to a place"),
    ):
        bound.launch(active=moving)


@hawk.kernel
def settle(u: Mutable[Grid["r", "c"]], over: Terminated):
    u = 0.5 * (u + hawk.mean(u))
    over = hawk.max(abs(u - hawk.mean(u))) < 1e-3


def test_numbers_of_the_whole_batch_are_made_of_grids_too() -> None:
    u = numbers((5, 7))
    mean = u.mean()
    assert abs(eagle.simulate(settle, max_steps=100, u=u).u - mean).max() < 2e-3

    @hawk.kernel
    def relative(u: Grid["r", "c"]) -> Grid["r", "c"]:
        return u.neighbor(r=+1) - hawk.max(u.neighbor(c=-1))

    u = numbers((5, 7))
    expected = moved(u, 1, 0, "clamp") - moved(u, 0, -1, "clamp").max()
    assert expected.tolist() == relative(u).tolist()
    assert expected.tolist() == hawk.run_python(relative, u)["out"].tolist()


def test_state_and_outputs_that_are_left_out_are_made_in_the_shape_of_the_grid() -> None:
    @hawk.kernel
    def kernel(u: Grid["r", "c"], seen: Mutable[Grid[Index, "r", "c"]]) -> Grid[Bool, "r", "c"]:
        seen = hawk.sample_index("c")
        return u > 0.0

    bound = eagle.deploy(kernel).bind(u=numbers((3, 4)))
    bound.launch()
    assert ("seen",) == bound.allocated
    assert np.indices((3, 4))[1].tolist() == bound.planes["seen"].tolist()
    assert (3, 4) == bound.planes["out"].shape

    @hawk.kernel
    def fixed(x: Scalar) -> Grid["r":2, "c":3]:
        return x + hawk.sample_index("r") * hawk.n_samples("c")

    assert [[1.0] * 3, [4.0] * 3] == fixed(1.0).tolist()

    @hawk.kernel
    def row(x: Scalar) -> Grid["r"]:
        return x + hawk.sample_index("r")

    assert [2.0, 3.0, 4.0] == row(2.0, n=3).tolist()


# --- in a kernel ----------------------------------------------------------------------------------


def laplace(u: Any) -> Any:
    return u.neighbor(x=-1) + u.neighbor(x=+1) - 2.0 * u


@hawk.kernel
def curvature(u: Grid["x"]) -> Grid["x"]:
    return laplace(u)


@hawk.kernel
def stencil(u: Grid["x"], k: Param[Int32]) -> Grid["x"]:
    """Neighbours in loops, branches, functions and kernels."""
    v, total = u, 0.0
    for i in range(-2, 3):
        total += v.neighbor(x=i)
    for i in range(k):
        total += u.neighbor(x=i, edge="wrap")
    if u > 4.0:
        total += curvature(v)
    while total > 50.0:
        total -= 1.0 + abs(u.neighbor(x=3))
    first, last = u[0], u[u.shape[0] - 1]
    return total + first * last


def test_neighbours_are_read_wherever_a_number_is() -> None:
    u = numbers((45,))
    expected = hawk.run_python(stencil, u, 3)["out"]
    assert expected.tolist() == hawk.interpret(stencil, u, 3)["out"].tolist()
    assert expected.tolist() == stencil(u, 3).tolist()


def test_a_kernel_in_a_kernel_takes_grids_of_its_own_dimensions_only() -> None:
    @hawk.kernel
    def other(w: Grid["y"]) -> Grid["y"]:
        return curvature(w)

    @hawk.kernel
    def number(w: Grid["x"]) -> Grid["x"]:
        return curvature(w + 1.0)

    for kernel, got in ((other, 'a Grid\\["y"\\]'), (number, "a float64")):
        with pytest.raises(hawk.HawkError, match=f"`curvature` is a Grid.*and it gets {got}"):
            kernel(np.zeros(3))


@pytest.mark.filterwarnings("ignore::hawk.CheckWarning")
def test_checks_tell_of_an_index_outside_and_print_what_neighbours_hold(
    capsys: pytest.CaptureFixture[str],
) -> None:
    @hawk.kernel(checks=True)
    def kernel(u: Grid["r", "c"]) -> Grid["r", "c"]:
        print(u.neighbor(c=+1))
        far = u.at(r=hawk.sample_index("r") + 1, c=0)
        return far + u[hawk.sample_index() + 1] + u.at(r=hawk.sample_index() + 9, c=0, edge="wrap")

    u = np.arange(6.0).reshape(2, 3)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        kernel(u)
    (warning,) = [str(each.message) for each in told if each.category is CheckWarning]
    assert "sample 3 went outside of a grid at step 1: index 2 of `u`, which has 2 along" in warning
    printed = [float(line.rpartition(" ")[2]) for line in capsys.readouterr().out.splitlines()]
    assert moved(u, 0, 1, "clamp").ravel().tolist() == printed


# --- what is refused ------------------------------------------------------------------------------

DOORS: list[Callable[..., Any]] = [
    lambda kernel, **planes: kernel(**planes),
    lambda kernel, **planes: eagle.deploy(kernel).bind(**planes),
    lambda kernel, **planes: eagle.simulate(kernel, max_steps=3, **planes),
    lambda kernel, **planes: eagle.run_until_done(kernel, max_steps=3, **planes),
]


@hawk.kernel
def ending(u: Grid["r", "c"], t: Mutable[Scalar], over: Terminated) -> Grid["r", "c"]:
    t += 1.0
    over = t > 1.0
    return u.neighbor(r=-1)


@pytest.mark.parametrize("door", DOORS)
def test_an_output_shares_no_byte_with_a_grid_that_is_read(door: Callable[..., Any]) -> None:
    u, t = numbers((4, 5)), np.zeros(20)
    before = u.copy()
    whole = np.zeros((5, 5))
    for given, out in ((u, u), (whole[:4], whole[1:]), (u, u.ravel().reshape(4, 5))):
        with pytest.raises(eagle.BindError, match=r"'u': shares memory with 'out'.*u\.copy\(\)"):
            door(ending, u=given, t=t, out=out)
    with pytest.raises(eagle.BindError, match="shares memory with 't'"):
        door(ending, u=t.reshape(4, 5), t=t, out=np.zeros((4, 5)))
    assert before.tolist() == u.tolist()


@pytest.mark.parametrize("door", DOORS)
def test_all_that_is_wrong_with_grids_is_told_at_once(door: Callable[..., Any]) -> None:
    with pytest.raises(eagle.BindError) as caught:
        door(diffuse, **{**diffused((4, 5)), "total": np.zeros((5, 4)), "gain": np.zeros(19)})
    said = "\n".join(caught.value.problems)
    assert "'total': expected a grid, float64 (4, 5) like 'u', got float64 (5, 4)" in said
    assert "'gain': expected float64 (20,) like 'u', got float64 (19,)" in said


def test_strict_doors_refuse_a_grid_in_another_order() -> None:
    u = np.zeros((5, 4)).T
    with pytest.raises(eagle.BindError, match=r"write np\.ascontiguousarray\(p\)"):
        eagle.deploy(relax).bind(p=u, source=np.zeros((4, 5)))


def test_state_whose_elements_share_memory_is_refused() -> None:
    u = np.lib.stride_tricks.as_strided(np.zeros(20), (4, 5), (8, 8))
    with pytest.raises(eagle.BindError, match="whose elements share memory"):
        settle(u)


def test_a_number_for_a_grid_is_refused() -> None:
    with pytest.raises(eagle.BindError, match=r"write np\.full\(\(2, 3\), source\)"):
        relax(np.zeros((2, 3)), 0.0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_reads_the_same() -> None:
    u = numbers((40, 41))
    expected = relax(u, u)
    child = os.fork()
    if not child:
        os._exit(0 if relax(u, u).tolist() == expected.tolist() else 1)
    assert 0 == os.waitpid(child, 0)[1]
