"""Against SciPy: two systems of equations, rotations, and linear algebra on many matrices."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import eagle
import hawk
from hawk import Bool, Matrix, Mutable, Param, Quat, Scalar, Terminated, Vector
from hawk.math import cholesky as cholesky_of
from hawk.math import cross, quat_conj, quat_mul, quat_rotate, vec
from hawk.math import eigh as eigh_of
from hawk.math import solve as solve_of
from tests.references.runge_kutta import dormand_prince


@hawk.kernel
def hare_and_lynx(
    birth: Scalar, end: Param, h: Param, y: Mutable[Vector[2]], t: Mutable[Scalar], over: Terminated
):
    def rate(y):
        return vec(y[0] * (birth - y[1]), y[1] * (y[0] - 1.0))

    y, _ = dormand_prince(rate, y, h)
    t += h
    over = t >= end - 0.5 * h


def test_lotka_and_volterra() -> None:
    births = np.linspace(0.5, 2.0, 7)
    y = np.ones((2, 7)) * 0.7
    given = {"birth": births, "end": 20.0, "h": 2e-3, "t": np.zeros(7)}
    eagle.simulate(hare_and_lynx, max_steps=100_000, y=y, **given)
    for place, birth in enumerate(births):
        due = solve_ivp(
            lambda _, y, birth=birth: [y[0] * (birth - y[1]), y[1] * (y[0] - 1.0)],
            (0.0, 20.0),
            [0.7, 0.7],
            method="DOP853",
            rtol=1e-12,
            atol=1e-13,
        )
        assert y[:, place] == pytest.approx(due.y[:, -1], rel=1e-9)


@hawk.kernel
def tumble(
    inertia: Param[Vector[3]], end: Param, h: Param,
    w: Mutable[Vector[3]], t: Mutable[Scalar], over: Terminated,
):  # fmt: skip
    def rate(w):
        return -cross(w, inertia * w) / inertia

    w, _ = dormand_prince(rate, w, h)
    t += h
    over = t >= end - 0.5 * h


def test_a_rigid_body() -> None:
    inertia = np.array([1.0, 2.0, 3.0])
    w = np.array([[0.1, 1.0, 0.3], [0.01, -1.0, 0.0]]).T.copy()
    start = w.copy()
    given = {"inertia": inertia, "end": 20.0, "h": 2e-3, "t": np.zeros(2)}
    eagle.simulate(tumble, max_steps=100_000, w=w, **given)
    for place in range(2):
        due = solve_ivp(
            lambda _, w: -np.cross(w, inertia * w) / inertia,
            (0.0, 20.0),
            start[:, place],
            method="DOP853",
            rtol=1e-12,
            atol=1e-13,
        )
        assert w[:, place] == pytest.approx(due.y[:, -1], rel=1e-9, abs=1e-10)


@hawk.kernel
def turn(p: Quat, q: Quat, v: Vector[3]) -> tuple[Quat, Vector[3], Vector[3]]:
    both = quat_mul(p, q)
    return both, quat_rotate(both, v), quat_rotate(quat_conj(both), v)


def test_quaternions_are_rotations() -> None:
    n = 1000
    first, second = (Rotation.random(n, random_state=seed) for seed in (1, 2))
    v = np.random.default_rng(3).normal(size=(n, 3))
    both, there, back = turn(*(each.T.copy() for each in (first.as_quat(), second.as_quat(), v)))
    due = first * second
    sign = np.sign((both * due.as_quat().T).sum(axis=0))
    assert abs(sign * both - due.as_quat().T).max() < 1e-15 * 4
    assert abs(there - due.apply(v).T).max() < 1e-14
    assert abs(back - due.inv().apply(v).T).max() < 1e-14


@hawk.kernel
def solve(A: Matrix[4, 4], b: Vector[4]) -> tuple[Vector[4], Bool]:
    x, ok = solve_of(A, b)
    return x, ok


@hawk.kernel
def cholesky(A: Matrix[4, 4]) -> tuple[Matrix[4, 4], Bool]:
    L, ok = cholesky_of(A)
    return L, ok


@hawk.kernel
def eigh(A: Matrix[4, 4]) -> tuple[Vector[4], Matrix[4, 4], Bool]:
    values, vectors, ok = eigh_of(A)
    return values, vectors, ok


MATRICES = 10_000


def matrices(spread: float) -> np.ndarray:
    """Symmetric positive matrices `(n, 4, 4)` whose condition is about 10 ** `spread`."""
    rng = np.random.default_rng(int(spread))
    turns = np.linalg.qr(rng.normal(size=(MATRICES, 4, 4)))[0]
    values = 10.0 ** (spread * rng.random((MATRICES, 4)))
    return turns * values[:, None, :] @ turns.transpose(0, 2, 1)


def last(A: np.ndarray) -> np.ndarray:
    """Samples as the last axis, as a plane has them."""
    return np.ascontiguousarray(np.moveaxis(A, 0, -1))


@pytest.mark.parametrize("spread", [1.0, 8.0])
def test_ten_thousand_systems_of_equations(spread: float) -> None:
    A = matrices(spread)
    b = np.random.default_rng(9).normal(size=(MATRICES, 4))
    x, ok = solve(last(A), last(b))
    assert ok.all()
    left = np.einsum("nij,nj->ni", A, x.T) - b
    size = np.linalg.norm(A, axis=(1, 2)) * np.linalg.norm(x, axis=0)
    assert (np.linalg.norm(left, axis=1) / size).max() < 1e-15 * 4
    due = np.linalg.solve(A, b[..., None])[..., 0]
    wrong = np.linalg.norm(x.T - due, axis=1) / np.linalg.norm(due, axis=1)
    assert (wrong / np.linalg.cond(A)).max() < 1e-15


@pytest.mark.parametrize("spread", [1.0, 8.0])
def test_ten_thousand_roots_of_matrices(spread: float) -> None:
    A = matrices(spread)
    L, ok = cholesky(last(A))
    assert ok.all()
    L = np.moveaxis(L, -1, 0)
    size = np.linalg.norm(A, axis=(1, 2))
    assert (np.linalg.norm(L @ L.transpose(0, 2, 1) - A, axis=(1, 2)) / size).max() < 1e-15
    wrong = np.linalg.norm(L - np.linalg.cholesky(A), axis=(1, 2)) / np.linalg.norm(L, axis=(1, 2))
    assert (wrong / np.linalg.cond(A)).max() < 1e-15


@pytest.mark.parametrize("spread", [1.0, 8.0])
def test_ten_thousand_sets_of_eigenvectors(spread: float) -> None:
    A = matrices(spread)
    values, vectors, ok = eigh(last(A))
    assert ok.all()
    size = np.linalg.norm(A, axis=(1, 2))
    assert (abs(values.T - np.linalg.eigvalsh(A)).max(axis=1) / size).max() < 1e-15 * 4
    V = np.moveaxis(vectors, -1, 0)
    assert abs(V.transpose(0, 2, 1) @ V - np.eye(4)).max() < 1e-14
    left = A @ V - V * values.T[:, None, :]
    assert (np.linalg.norm(left, axis=(1, 2)) / size).max() < 1e-14


def test_singular_matrices_have_a_status_and_disturb_nobody() -> None:
    A = matrices(1.0)
    alone, _ = solve(last(A), np.ones((4, MATRICES)))
    A[::7] = 0.0
    x, ok = solve(last(A), np.ones((4, MATRICES)))
    assert ok.tolist() == [place % 7 != 0 for place in range(MATRICES)]
    assert x[:, ok].tobytes() == alone[:, ok].tobytes()


@hawk.kernel
def fitted(A: Matrix[3, 2], b: Vector[3]) -> tuple[Vector[2], Bool]:
    x, ok = hawk.math.lstsq(A, b)
    return x, ok


@pytest.mark.parametrize(
    ("dtype", "size"), [(np.float32, 1e-20), (np.float32, 1e20), (float, 1e-162), (float, 1e160)]
)
def test_least_squares_of_numbers_whose_squares_are_out_of_range(dtype: type, size: float) -> None:
    A, b = np.array([[1.0, 2], [3, 4], [5, 7]]), np.array([1.0, 2, 3])
    x, ok = fitted((A * size).astype(dtype)[..., None], (b * size).astype(dtype)[..., None])
    assert ok.all()
    due = np.linalg.lstsq(A, b)[0]
    assert abs(x[:, 0] - due).max() < 100 * np.finfo(dtype).eps


@pytest.mark.parametrize("place", [(0, 0), (1, 1), (3, 3), (1, 0), (3, 2)])
def test_eigenvectors_of_what_holds_a_nan_have_a_status(place: tuple[int, int]) -> None:
    A = np.eye(4)[..., None] + np.zeros((4, 4, 2))
    A[(*place, 0)] = np.nan
    values, _, ok = eigh(A)
    assert ok.tolist() == [False, True]
    assert np.isnan(values[:, 0]).all()
