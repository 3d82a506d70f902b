"""Planes of small arrays: which axis the samples are, what is copied, and what comes back."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pytest

import eagle
import hawk
from eagle.layouts import Axis, Fit, fit
from hawk import Int32, Matrix, Mutable, Param, Quat, Scalar, Terminated, Vector
from hawk.ir.types import DType

N = 5


@hawk.kernel
def orbit(
    r: Mutable[Vector[3]], v: Mutable[Vector[3]], dt: Param, t: Mutable[Scalar], over: Terminated
) -> tuple[Vector[3], Scalar]:
    a = -r / (1.0 + r @ r)
    v += a * dt
    r += v * dt
    t += dt
    over = t > 1.0 + r[0] * r[0] / (1.0 + r @ r)
    return a, r @ v


@hawk.kernel
def spread(F: Matrix[2, 3], x: Vector[3]) -> Vector[2]:
    return F @ x


@hawk.kernel(steps=2)
def grow(P: Mutable[Matrix[2, 2]], k: Vector[2, Int32] = (1, 2)):
    P[0] += k[0]
    P[1] = P[1] * k[1]


def given(n: int = N, **changes: Any) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    planes = {"r": rng.normal(size=(3, n)), "v": rng.normal(size=(3, n))}
    return planes | {"dt": 0.1, "t": np.zeros(n)} | changes


def expected(n: int = N) -> dict[str, Any]:
    return hawk.interpret(orbit, steps=1000, **given(n))


def same(result: Any, n: int = N, **turned: Any) -> None:
    """Check a result against the interpreter."""
    for name, wanted in expected(n).items():
        if name != "over":
            got = turned.get(name, result[name])
            assert wanted.tolist() == got.tolist(), name


# --- doors ----------------------------------------------------------------------------------------


def test_simulate_changes_the_arrays_it_is_given() -> None:
    planes = given()
    result = eagle.simulate(orbit, max_steps=1000, **planes)
    assert (True, True) == (result.r is planes["r"], result.v is planes["v"])
    assert ((3, N), (N,)) == (result.out0.shape, result.out1.shape)
    assert ["r", "v", "t", "out0", "out1"] == list(result.planes)
    same(result)


def test_all_doors_give_the_same_bits() -> None:
    planes = given()
    report = eagle.run_until_done(orbit, max_steps=1000, **planes)
    assert report.done
    same(planes | {k: v for k, v in expected().items() if k.startswith("out")})

    planes = given()
    bound = eagle.deploy(orbit).bind(**planes)
    while not bound.finished.all():
        bound.launch()
    same(bound.planes)

    simulation = eagle.simulation(orbit, max_steps=4, **given())
    while not simulation.run().done:
        pass
    same(simulation.run())


def test_a_simulation_is_put_back() -> None:
    planes = given()
    start = planes["r"].copy()
    simulation = eagle.simulation(orbit, max_steps=1000, count_steps=True, **planes)
    first = simulation.run()
    assert first.steps_taken is not None
    steps = first.steps_taken.copy()
    simulation.reset()
    assert planes["r"].tolist() == start.tolist()
    again = simulation.run()
    assert again.steps_taken is not None
    assert again.steps_taken.tolist() == steps.tolist()
    assert "steps_taken" not in again.planes
    same(again)


def test_a_direct_call_takes_lists_and_numbers() -> None:
    F = [[1.0, 0.0, 2.0], [0.0, 1.0, 0.0]]
    assert [7.0, 2.0] == spread(F, [1, 2, 3]).tolist()
    x = np.arange(12.0).reshape(3, 4)
    wide = np.asarray(F)[:, :, None] + np.zeros(4)
    assert (np.asarray(F) @ x).tolist() == spread(wide, x).tolist()
    assert spread(wide, [tuple(column) for column in x.T]).tolist() == spread(wide, x).tolist()
    out = np.empty((2, 4))
    assert spread(wide, x, out=out) is out


def test_lists_for_state_come_back_as_one_array() -> None:
    result = orbit([1.0, 0, 0], [0, 1, 0], 0.5, 0.0)
    assert ((3,), ()) == (result[0].shape, result[1].shape)

    @hawk.kernel
    def step(r: Mutable[Vector[2]]):
        r += 1.0

    assert [[2.0, 3.0, 4.0], [5.0, 6.0, 7.0]] == step([[1, 2, 3], [4, 5, 6]]).tolist()
    assert [2.0, 3.0] == step([1, 2]).tolist()


def test_a_lone_sample_comes_back_in_its_shape() -> None:
    planes = {name: a[..., 2] if name != "dt" else a for name, a in given().items()}
    planes = {name: np.array(a) for name, a in planes.items()}
    result = eagle.simulate(orbit, max_steps=1000, **planes)
    assert result.r is planes["r"]
    assert ((3,), (3,), ()) == (result.r.shape, result.out0.shape, result.out1.shape)
    assert expected()["r"][:, 2].tolist() == result.r.tolist()


def test_a_default_is_the_same_for_all_samples() -> None:
    P = np.ones((2, 2, 3))
    assert grow(P) is P
    assert [[[3.0] * 3] * 2, [[4.0] * 3] * 2] == P.tolist()
    k = np.array([[0, 0, 5], [1, 1, 1]], np.int32)
    grow(P, k)
    assert [13.0, 4.0] == P[:, 0, 2].tolist()


def test_state_that_is_never_read_may_be_left_out() -> None:
    @hawk.kernel
    def step(x: Scalar, y: Mutable[Vector[2]], over: Terminated):
        y = hawk.math.vec(x, 2.0 * x)
        over = True

    result = eagle.simulate(step, max_steps=1, x=np.arange(3.0))
    assert ("y",) == result.allocated
    assert [[0, 1, 2], [0, 2, 4]] == result.y.tolist()


def test_a_kernel_of_float32() -> None:
    planes = {name: np.float32(a) for name, a in given().items()}
    result = eagle.simulate(orbit, max_steps=1000, **planes)
    assert result.out0.dtype == np.float32
    wanted = hawk.interpret(orbit, steps=1000, **{n: np.float32(a) for n, a in given().items()})
    assert wanted["r"].tolist() == result.r.tolist()


# --- layouts --------------------------------------------------------------------------------------


def padded() -> Any:
    return np.empty((3, N + 11))[:, :N]


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: np.empty((3, N)), id="rows"),
        pytest.param(padded, id="rows with room between them"),
        pytest.param(lambda: np.empty((6, N))[::2], id="every second row"),
        pytest.param(lambda: np.empty((3, N))[::-1], id="rows from the last"),
        pytest.param(lambda: np.empty((N, 3), order="F"), id="columns of Fortran"),
        pytest.param(lambda: np.empty((3, N)).T, id="a transpose"),
    ],
)
def test_what_has_a_unit_stride_is_used_as_it_is(make: Any) -> None:
    planes = given()
    r = make()
    target = r.T if r.shape == (N, 3) else r
    target[...] = planes["r"]
    result = eagle.simulate(orbit, max_steps=1000, **planes | {"r": r})
    assert result.r is r
    same(result, r=target)


@pytest.mark.parametrize("shape", [(2, 2, N), (4, N), (N, 2, 2), (N, 4)])
def test_a_matrix_has_four_layouts(shape: tuple[int, ...]) -> None:
    P = np.arange(4.0 * N).reshape(shape)
    first = shape[0] == N
    last = np.moveaxis(P, 0, -1) if first else P
    wanted = hawk.interpret(grow, steps=2, P=last.reshape(2, 2, N).copy())["P"]
    with pytest.warns(eagle.LayoutWarning) if first else warnings.catch_warnings():
        assert grow(P) is P
    last = np.moveaxis(P, 0, -1) if first else P
    assert wanted.tolist() == last.reshape(2, 2, N).tolist()


def test_samples_first_is_copied_with_one_warning() -> None:
    planes = given()
    turned = {name: np.ascontiguousarray(planes[name].T) for name in ("r", "v")}
    with pytest.warns(eagle.LayoutWarning, match=r"'r', 'v'.*np.ascontiguousarray\(r.T\)") as told:
        result = eagle.simulate(orbit, max_steps=1000, **planes | turned)
    assert 1 == len(told)
    assert result.r is turned["r"]
    same(result, r=turned["r"].T, v=turned["v"].T)


def test_what_is_copied_is_copied_in_each_launch() -> None:
    r = np.zeros((N, 3))
    with pytest.warns(eagle.LayoutWarning):
        bound = eagle.deploy(orbit).bind(**given(r=r, v=np.zeros((3, N)), t=np.full(N, -9.0)))
    bound.launch()
    r[:] = 1.0  # seen by the next launch
    bound.launch()
    assert (r < 1.0).all()
    assert (r > 0.9).all()


def test_a_function_that_looks_on_sees_what_is_copied() -> None:
    planes, seen = given(), []
    r = np.ascontiguousarray(planes["r"].T)
    with pytest.warns(eagle.LayoutWarning):
        simulation = eagle.simulation(
            orbit, max_steps=9, every=3, on_progress=lambda _: seen.append(r.copy()),
            **planes | {"r": r},
        )  # fmt: skip
    start = r.copy()
    simulation.run()
    assert 3 == len({each.tobytes() for each in seen})
    assert r.tolist() == seen[-1].tolist()
    simulation.reset()
    assert start.tolist() == r.tolist()


def test_an_exception_leaves_whole_steps_in_what_is_copied() -> None:
    planes = given()
    r = np.ascontiguousarray(planes["r"].T)

    def stop(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.warns(eagle.LayoutWarning), pytest.raises(KeyboardInterrupt):
        eagle.simulate(orbit, max_steps=1000, every=2, on_progress=stop, **planes | {"r": r})
    assert hawk.interpret(orbit, steps=2, **given())["r"].tolist() == r.T.tolist()


def test_checks_and_copies_go_together() -> None:
    @hawk.kernel(checks=True)
    def step(r: Mutable[Vector[2]]):
        r = np.sqrt(r)

    r = np.array([[1.0, 4.0], [9.0, -1.0], [1.0, 1.0]])
    with pytest.warns(eagle.LayoutWarning), pytest.warns(hawk.CheckWarning, match=r"`r\[1\]`"):
        step(r)
    assert [1.0, 2.0] == r[0].tolist()


def test_a_square_is_told_how_to_read() -> None:
    planes = given(3)
    with pytest.raises(eagle.BindError, match=r"eagle.samples_last\(r\)"):
        eagle.simulate(orbit, max_steps=1000, **planes)
    last = {name: eagle.samples_last(planes[name]) for name in ("r", "v")}
    result = eagle.simulate(orbit, max_steps=1000, **planes | last)
    assert result.r is planes["r"]
    same(result, 3)

    result = eagle.simulate(orbit, max_steps=1000, layout="samples_last", **given(3))
    same(result, 3)

    planes = given(3)
    turned = {name: eagle.samples_first(planes[name].T) for name in ("r", "v")}
    result = eagle.simulate(orbit, max_steps=1000, **planes | turned)
    same(result, 3, r=planes["r"], v=planes["v"])

    planes = given(3)
    v = np.ascontiguousarray(planes["v"].T)
    layout = {"r": "samples_last", "v": "samples_first"}
    with pytest.warns(eagle.LayoutWarning, match="'v'"):
        result = eagle.simulate(orbit, max_steps=1000, layout=layout, **planes | {"v": v})
    same(result, 3, v=v.T)


def test_each_door_takes_the_layout() -> None:
    kinds: list[Any] = []
    for door in (eagle.run_until_done, eagle.until_done, eagle.simulation):
        kinds.append(door(orbit, max_steps=9, layout="samples_last", **given(3)))
    eagle.deploy(orbit).bind(layout="samples_last", **given(3))
    planes = given(3)
    assert (3,) == eagle.deploy(orbit)(layout="samples_last", **planes)[1].shape


@pytest.mark.parametrize(
    ("found", "shape", "said", "wanted"),
    [
        ((3, 7), (3,), None, Fit(Axis.LAST)),
        ((7, 3), (3,), None, Fit(Axis.FIRST)),
        ((3,), (3,), None, Fit(Axis.NONE)),
        ((3, 3), (3,), None, Fit(None, both=True)),
        ((3, 3), (3,), Axis.FIRST, Fit(Axis.FIRST)),
        ((1, 1), (1,), None, Fit(Axis.LAST)),
        ((1, 1, 1), (1, 1), None, Fit(Axis.LAST)),
        ((7,), (1,), None, Fit(None)),
        ((1, 7), (1,), None, Fit(Axis.LAST)),
        ((2, 2), (2, 2), None, Fit(Axis.NONE)),
        ((4,), (2, 2), None, Fit(Axis.NONE)),
        ((4, 4), (2, 2), None, Fit(None, both=True)),
        ((2, 2, 2), (2, 2), None, Fit(None, both=True)),
        ((2, 3, 2), (2, 3), None, Fit(Axis.LAST)),
        ((2, 3, 3), (3, 3), None, Fit(Axis.FIRST)),
        ((3, 3, 2), (3, 3), None, Fit(Axis.LAST)),
        ((), (3,), None, Fit(None)),
        ((3, 7), (3,), Axis.FIRST, Fit(None)),
        ((0, 3), (3,), None, Fit(Axis.FIRST)),
    ],
)
def test_a_shape_tells_the_layout(
    found: tuple[int, ...], shape: tuple[int, ...], said: Axis | None, wanted: Fit
) -> None:
    assert wanted == fit(found, shape, said)


# --- what shares memory ---------------------------------------------------------------------------


def test_rows_of_one_table_are_apart() -> None:
    table = np.concatenate([given()["r"], given()["v"]])
    eagle.simulate(orbit, max_steps=1000, **given(r=table[:3], v=table[3:]))
    assert expected()["v"].tolist() == table[3:].tolist()
    table = np.empty((6, N))
    table[::2], table[1::2] = given()["r"], given()["v"]
    eagle.simulate(orbit, max_steps=1000, **given(r=table[::2], v=table[1::2]))
    assert expected()["r"].tolist() == table[::2].tolist()


@pytest.mark.parametrize("turn", [False, True])
def test_what_overlaps_is_refused_once(turn: bool) -> None:
    table = np.ones((5, N))
    r, v = table[:3], table[2:]
    if turn:
        whole = np.ones(3 * N + 3 * N - 3)
        r, v = whole[: 3 * N].reshape(N, 3), whole[3 * N - 3 :].reshape(N, 3)
    with pytest.raises(eagle.BindError) as error:
        eagle.simulate(orbit, max_steps=10, **given(r=r, v=v))
    (problem,) = error.value.problems
    assert "'v': shares memory with 'r', and both are written; write v.copy()" == problem
    assert (table == 1.0).all()


def test_rows_that_share_memory_are_refused() -> None:
    r = np.lib.stride_tricks.as_strided(np.zeros(N), (3, N), (0, 8))
    with pytest.raises(eagle.BindError, match="rows share memory"):
        eagle.simulate(orbit, max_steps=10, **given(r=r))


def test_an_output_may_be_exactly_an_input() -> None:
    @hawk.kernel
    def turn(q: Quat) -> Quat:
        return hawk.math.vec(q[3], q[0], q[1], q[2])

    q = np.arange(8.0).reshape(4, 2)
    assert turn(q, out=q) is q
    assert [[6, 7], [0, 1], [2, 3], [4, 5]] == q.tolist()


# --- around a run ---------------------------------------------------------------------------------


def test_samples_are_moved_with_their_components() -> None:
    planes = given(40)
    bound = eagle.deploy(orbit).bind(**planes)
    arrays = [planes["r"], planes["v"], planes["t"], bound.planes["out0"], bound.planes["out1"]]
    with eagle.ActiveSet(bound.finished, reorder=0.75, planes=arrays) as active:
        while active.compact():
            bound.launch(active=active)
    same(bound.planes, 40)
    moved = [planes["r"], bound.planes["out0"], bound.planes["out1"]]
    active = eagle.ActiveSet(bound.finished, reorder=0.5, planes=moved)
    with pytest.raises(ValueError, match="not those of 'v', 't'"):
        bound.launch(active=active)


def test_results_and_errors_pickle() -> None:
    result = eagle.simulate(orbit, max_steps=1000, **given())
    again = pickle.loads(pickle.dumps(result))
    assert again.r.tolist() == result.r.tolist()
    kernel = pickle.loads(pickle.dumps(orbit))
    assert kernel.signature.shaped == orbit.signature.shaped
    with pytest.raises(eagle.BindError) as error:
        eagle.simulate(orbit, max_steps=1, **given(3))
    assert str(error.value) == str(pickle.loads(pickle.dumps(error.value)))


def test_explain_names_the_components(capsys: pytest.CaptureFixture[str]) -> None:
    orbit.explain()
    text = capsys.readouterr().out
    assert "  r[0]     Scalar " in text.replace("Float64", "Scalar ") or "  r[0] " in text
    assert "out0[2]" in text


def test_large_batches_and_threads_agree() -> None:
    n = 3001
    one = eagle.simulate(orbit, max_steps=1000, threads=1, **given(n))
    two = eagle.simulate(orbit, max_steps=1000, threads=2, **given(n))
    assert one.r.tobytes() == two.r.tobytes()
    assert DType.F64.numpy == one.r.dtype.name


def test_what_the_warning_advises_for_matrices_gives_the_same_matrices() -> None:
    @hawk.kernel
    def corner(A: Matrix[2, 2]) -> Scalar:
        return A[0, 1]

    A = np.arange(20.0).reshape(5, 2, 2)
    with pytest.warns(eagle.LayoutWarning, match=r"np.moveaxis\(A, 0, -1\)"):
        out = corner(A)
    assert out.tolist() == A[:, 0, 1].tolist()
    assert corner(np.ascontiguousarray(np.moveaxis(A, 0, -1))).tolist() == out.tolist()


def test_a_batch_of_no_samples_gives_empty_arrays() -> None:
    @hawk.kernel
    def same(x: Vector[2]) -> tuple[Vector[2], Matrix[2, 2]]:
        return x, hawk.math.outer(x, x)

    x, squares = same(np.zeros((2, 0)))
    assert (x.shape, squares.shape) == ((2, 0), (2, 2, 0))
