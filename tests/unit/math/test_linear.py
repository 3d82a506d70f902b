"""Linear algebra in kernels: what NumPy computes, with the same bits in every way to run."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hawk
from hawk import Bool, HawkError, Matrix, Mutable, Param, Quat, Scalar, Vector
from hawk import math as hm
from hawk.ir.types import DType
from tests.unit.frontend.every_way import every_way

N = 60
SIZES = (1, 2, 3, 5)


def samples_last(array: Any) -> Any:
    return np.ascontiguousarray(np.moveaxis(array, 0, -1))


def samples_first(array: Any) -> Any:
    return np.moveaxis(array, -1, 0)


def matrices(n: int, m: int | None = None, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=(n, m or n, N))


def transposed(A: Any) -> Any:
    return np.swapaxes(A, 0, 1)


def product(A: Any, B: Any) -> Any:
    return np.einsum("ikn,kjn->ijn", A, B)


def definite(n: int, seed: int = 0) -> Any:
    A = matrices(n, seed=seed)
    return product(A, transposed(A))


def conditioned(n: int, condition: float, seed: int = 3) -> Any:
    """Symmetric positive definite matrices of this condition."""
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(N, n, n))).Q
    return samples_last(Q @ (np.geomspace(1.0, condition, n)[:, None] * np.swapaxes(Q, 1, 2)))


def kernel_of(n: int, function: Callable[..., Any]) -> Any:
    """A kernel that calls a function of hawk.math on matrices of n rows."""

    @hawk.kernel
    def solve(A: Matrix[n, n], b: Vector[n]) -> tuple[Vector[n], Bool]:
        return hm.solve(A, b)

    @hawk.kernel
    def inv(A: Matrix[n, n]) -> tuple[Matrix[n, n], Bool]:
        return hm.inv(A)

    @hawk.kernel
    def det(A: Matrix[n, n]) -> Scalar:
        return hm.det(A)

    @hawk.kernel
    def lu(A: Matrix[n, n]) -> tuple[Matrix[n, n], Matrix[n, n], Matrix[n, n], Bool]:
        return hm.lu(A)

    @hawk.kernel
    def cholesky(A: Matrix[n, n]) -> tuple[Matrix[n, n], Bool]:
        return hm.cholesky(A)

    @hawk.kernel
    def eigh(A: Matrix[n, n]) -> tuple[Vector[n], Matrix[n, n], Bool]:
        return hm.eigh(A)

    @hawk.kernel
    def lstsq(A: Matrix[n + 2, n], b: Vector[n + 2]) -> tuple[Vector[n], Bool]:
        return hm.lstsq(A, b)

    found = {each.name: each for each in (solve, inv, det, lu, cholesky, eigh, lstsq)}
    return found[function.__name__]


@pytest.mark.parametrize(("n", "real"), [(3, DType.F64), (2, DType.F32)])
@pytest.mark.parametrize(
    "function", [hm.solve, hm.inv, hm.det, hm.lu, hm.cholesky, hm.eigh, hm.lstsq]
)
def test_every_way_gives_the_same_bits(function: Any, real: DType, n: int) -> None:
    rng = np.random.default_rng(n)
    rows = n + 2 if function is hm.lstsq else n
    A = rng.normal(size=(rows, n, 24))
    if function in (hm.cholesky, hm.eigh):
        A = product(A, transposed(A))
    A[..., 1] = 0.0
    A[..., 2] = np.arange(rows * n).reshape(rows, n)
    A[0, 0, 3], A[-1, 0, 4] = np.nan, np.inf
    A[..., 5] *= 1e-30
    given = {"A": A, "b": rng.normal(size=(rows, 24))}
    kernel = kernel_of(n, function)
    every_way(kernel, real, **{each.name: given[each.name] for each in kernel.parameters})


# --- against NumPy --------------------------------------------------------------------------------


@pytest.mark.parametrize("n", SIZES)
def test_equations_are_solved(n: int) -> None:
    A, b = matrices(n), np.random.default_rng(1).normal(size=(n, N))
    x, ok = kernel_of(n, hm.solve)(A, b)
    wanted = np.linalg.solve(samples_first(A), samples_first(b)[..., None])[..., 0].T
    assert ok.all()
    np.testing.assert_allclose(x, wanted, rtol=1e-9)
    inverse, ok = kernel_of(n, hm.inv)(A)
    assert ok.all()
    np.testing.assert_allclose(
        inverse, samples_last(np.linalg.inv(samples_first(A))), rtol=1e-8, atol=1e-9
    )
    np.testing.assert_allclose(
        kernel_of(n, hm.det)(A), np.linalg.det(samples_first(A)), rtol=1e-10, atol=1e-14
    )


@pytest.mark.parametrize("condition", [1e3, 1e8, 1e12])
def test_an_ill_conditioned_matrix_is_solved_as_well_as_it_can_be(condition: float) -> None:
    A, x = conditioned(4, condition), np.random.default_rng(2).normal(size=(4, N))
    b = np.einsum("ijn,jn->in", A, x)
    found, ok = kernel_of(4, hm.solve)(A, b)
    assert ok.all()
    assert np.abs(found - x).max() < 1e-14 * condition * np.abs(x).max()
    left = np.einsum("ijn,jn->in", A, found) - b
    assert np.abs(left).max() < 1e-13 * condition  # backward stable: of the size of A


def test_a_sample_that_is_singular_says_so_and_disturbs_no_other() -> None:
    A, b = matrices(3), np.random.default_rng(1).normal(size=(3, N))
    solve = kernel_of(3, hm.solve)
    alone, _ = solve(A, b)
    A[..., 7] = 0.0
    A[..., 9] = [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]]
    A[1, 1, 11] = np.nan
    x, ok = solve(A, b)
    assert [7, 9, 11] == np.flatnonzero(~ok).tolist()
    assert np.isnan(x[:, ~ok]).all()
    assert alone[:, ok].tobytes() == x[:, ok].tobytes()
    d = kernel_of(3, hm.det)(A)
    assert [0.0, 0.0] == d[[7, 9]].tolist()


def test_a_small_pivot_is_not_taken() -> None:
    A = np.array([[1e-20, 1.0], [1.0, 1.0]])[:, :, None]
    x, ok = kernel_of(2, hm.solve)(A, np.array([[1.0], [2.0]]))
    assert ok.all()
    np.testing.assert_allclose(x[:, 0], [1.0, 1.0])


@pytest.mark.parametrize("n", SIZES)
def test_a_matrix_is_the_product_of_its_factors(n: int) -> None:
    A = matrices(n)
    P, L, U, ok = kernel_of(n, hm.lu)(A)
    assert ok.all()
    np.testing.assert_allclose(product(product(P, L), U), A, atol=1e-13)
    assert (np.sort(P, axis=0)[-1] == 1.0).all()
    assert (P.sum(axis=0) == 1.0).all()
    assert (P.sum(axis=1) == 1.0).all()
    assert np.abs(L).max() <= 1.0
    for i in range(n):
        assert (L[i, i] == 1.0).all()
        assert (L[i, i + 1 :] == 0.0).all()
        assert (U[i, :i] == 0.0).all()


@pytest.mark.parametrize("n", SIZES)
def test_a_definite_matrix_has_a_root(n: int) -> None:
    A = definite(n)
    A[..., 3] = -A[..., 3]
    L, ok = kernel_of(n, hm.cholesky)(A)
    assert [3] == np.flatnonzero(~ok).tolist()
    assert np.isnan(L[..., 3]).any()
    wanted = samples_last(np.linalg.cholesky(samples_first(A)[ok]))
    np.testing.assert_allclose(L[..., ok], wanted, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("n", SIZES)
def test_a_symmetric_matrix_has_eigenvalues(n: int) -> None:
    A = matrices(n)
    A = A + transposed(A)
    if n > 1:
        A[..., 5] = np.eye(n)  # all are the same
        A[..., 6] = np.diag(np.arange(n, 0.0, -1.0))
        A[..., 7] = 1.0  # one is not 0
        A[..., 8] *= 1e-200
        A[..., 9] *= 1e150
    upper = A.copy()
    upper[np.triu_indices(n, 1)] = np.nan  # not looked at
    w, V, ok = kernel_of(n, hm.eigh)(upper)
    assert ok.all()
    size = np.abs(A).max(axis=(0, 1))
    wanted = np.linalg.eigvalsh(samples_first(A)).T
    assert (np.abs(w - wanted) / size).max() < 1e-13
    assert (np.abs(product(A, V) - V * w) / size).max() < 1e-13
    np.testing.assert_allclose(
        product(transposed(V), V), np.eye(n)[:, :, None] + np.zeros(N), atol=1e-13
    )
    assert (np.diff(w, axis=0) >= 0.0).all()


def test_eigenvalues_of_nan_are_refused() -> None:
    A = definite(3)
    A[2, 0, 4] = np.nan
    w, _, ok = kernel_of(3, hm.eigh)(A)
    assert [4] == np.flatnonzero(~ok).tolist()
    assert np.isnan(w[:, 4]).all()


@pytest.mark.parametrize("n", SIZES)
def test_the_nearest_solution_is_found(n: int) -> None:
    A, b = matrices(n + 2, n), np.random.default_rng(1).normal(size=(n + 2, N))
    x, ok = kernel_of(n, hm.lstsq)(A, b)
    assert ok.all()
    for k in range(N):
        np.testing.assert_allclose(x[:, k], np.linalg.lstsq(A[..., k], b[:, k])[0], rtol=1e-8)
    A[:, -1] = A[:, 0] if n > 1 else 0.0
    if n == 1:
        _, ok = kernel_of(n, hm.lstsq)(A, b)
        assert not ok.any()


# --- vectors and quaternions ----------------------------------------------------------------------


def test_vectors_multiply_as_in_numpy() -> None:
    @hawk.kernel
    def step(
        a: Vector[3], b: Vector[3], M: Matrix[3, 3]
    ) -> tuple[Vector[3], Scalar, Scalar, Matrix[3, 3], Scalar, Matrix[3, 3], Vector[3], Scalar]:
        total = hm.eye(3) + hm.diag(a) - hm.transpose(M)
        return (
            hm.cross(a, b), hm.dot(a, b), hm.norm(a), hm.outer(a, b), hm.trace(M), total,
            hm.diag(M), hm.norm(M),
        )  # fmt: skip

    rng = np.random.default_rng(4)
    a, b, M = rng.normal(size=(3, N)), rng.normal(size=(3, N)), rng.normal(size=(3, 3, N))
    every_way(step, DType.F64, a=a, b=b, M=M)
    got = step(a, b, M)
    diagonals = np.einsum("iin->in", M)
    total = np.eye(3)[:, :, None] - transposed(M)
    for i in range(3):
        total[i, i] += a[i]
    wanted = (
        np.cross(a, b, axis=0), (a * b).sum(axis=0), np.linalg.norm(a, axis=0),
        a[:, None] * b[None], diagonals.sum(axis=0), total, diagonals,
        np.linalg.norm(M, axis=(0, 1)),
    )  # fmt: skip
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


def test_quaternions_turn_vectors() -> None:
    @hawk.kernel
    def step(p: Quat, q: Quat, v: Vector[3]) -> tuple[Quat, Vector[3], Vector[3], Vector[3]]:
        both = hm.quat_mul(p, q)
        back = hm.quat_rotate(hm.quat_conj(q), hm.quat_rotate(q, v))
        return both, hm.quat_rotate(both, v), hm.quat_rotate(p, hm.quat_rotate(q, v)), back

    rng = np.random.default_rng(4)
    p, q, v = rng.normal(size=(4, N)), rng.normal(size=(4, N)), rng.normal(size=(3, N))
    p, q = p / np.linalg.norm(p, axis=0), q / np.linalg.norm(q, axis=0)
    every_way(step, DType.F64, p=p, q=q, v=v)
    _, once, twice, back = step(p, q, v)
    np.testing.assert_allclose(once, twice, atol=1e-14)
    np.testing.assert_allclose(back, v, atol=1e-14)
    # A quarter turn about z: x becomes y. The scalar stands last.
    quarter = np.array([0.0, 0.0, 1.0, 1.0])[:, None] / np.sqrt(2.0)
    x = np.array([1.0, 0.0, 0.0])[:, None]
    unit = np.array([0.0, 0.0, 0.0, 1.0])[:, None]
    np.testing.assert_allclose(step(unit, quarter, x)[1][:, 0], [0.0, 1.0, 0.0], atol=1e-15)


def test_the_functions_take_one_sample_of_numpy_outside_of_kernels() -> None:
    A, b = matrices(4)[..., 0], np.arange(4.0)
    x, ok = hm.solve(A, b)
    assert ok
    np.testing.assert_allclose(x, np.linalg.solve(A, b))
    np.testing.assert_allclose(hm.det(A), np.linalg.det(A))
    S = A @ A.T
    w, V, ok = hm.eigh(S)
    np.testing.assert_allclose(w, np.linalg.eigvalsh(S))
    np.testing.assert_allclose(V @ np.diag(w) @ V.T, S)
    np.testing.assert_allclose(hm.cholesky(S)[0], np.linalg.cholesky(S))
    np.testing.assert_allclose(hm.cross(b[:3], A[0, :3]), np.cross(b[:3], A[0, :3]))
    assert hm.norm(b) == np.sqrt(14.0)


# --- programs -------------------------------------------------------------------------------------


def test_a_two_body_orbit_keeps_its_energy() -> None:
    @hawk.kernel(steps=4)
    def orbit(s: Mutable[Vector[6]], dt: Param):
        r, v = s[:3].copy(), s[3:].copy()
        v -= 0.5 * dt * r / hm.norm(r) ** 3
        r += dt * v
        v -= 0.5 * dt * r / hm.norm(r) ** 3
        s[:3], s[3:] = r, v

    s = np.zeros((6, 20))
    s[0], s[4] = 1.0, np.linspace(0.8, 1.2, 20)
    every_way(hawk.steps(orbit, 1), DType.F64, s=s, dt=0.01)

    def energy() -> Any:
        return 0.5 * (s[3:] ** 2).sum(axis=0) - 1.0 / np.linalg.norm(s[:3], axis=0)

    start = energy()
    for _ in range(250):
        orbit(s, 0.01)
    np.testing.assert_allclose(energy(), start, rtol=1e-3)


def test_a_covariance_is_propagated() -> None:
    @hawk.kernel
    def propagate(P: Mutable[Matrix[6, 6]], F: Matrix[6, 6], q: Param):
        P = F @ P @ F.T + q * hm.eye(6)

    rng = np.random.default_rng(2)
    A = rng.normal(size=(6, 6, N))
    P, F = product(A, transposed(A)), rng.normal(size=(6, 6, N))
    few = {"P": P[..., :9], "F": F[..., :9], "q": 0.5}
    every_way(propagate, DType.F64, **few)
    wanted = product(product(F, P), transposed(F)) + 0.5 * np.eye(6)[:, :, None]
    propagate(P, F, 0.5)
    np.testing.assert_allclose(P, wanted, rtol=1e-11, atol=1e-11)


def test_a_filter_is_written_as_in_the_book() -> None:
    """One update of a Kalman filter: a gain, a state, a covariance."""

    @hawk.kernel
    def update(
        x: Mutable[Vector[4]],
        P: Mutable[Matrix[4, 4]],
        z: Vector[2],
        H: Param[Matrix[2, 4]],
        noise: Param,
    ) -> Bool:
        S = H @ P @ H.T + noise * hm.eye(2)
        K, ok = hm.solve(S, H @ P)
        x += K.T @ (z - H @ x)
        P = P - K.T @ S @ K
        return ok

    rng = np.random.default_rng(2)
    A = rng.normal(size=(4, 4, N))
    x, P, z = rng.normal(size=(4, N)), product(A, transposed(A)), rng.normal(size=(2, N))
    H = np.array([[1.0, 0, 0, 0], [0, 1.0, 0, 0]])
    X, C = x.copy(), P.copy()
    assert update(x, P, z, H, 0.25).all()
    for k in range(N):
        S = H @ C[..., k] @ H.T + 0.25 * np.eye(2)
        K = C[..., k] @ H.T @ np.linalg.inv(S)
        np.testing.assert_allclose(x[:, k], X[:, k] + K @ (z[:, k] - H @ X[:, k]), rtol=1e-9)
        np.testing.assert_allclose(P[..., k], C[..., k] - K @ S @ K.T, rtol=1e-8, atol=1e-9)


# --- wrong shapes ---------------------------------------------------------------------------------


def test_shapes_that_do_not_fit_are_said_at_the_call() -> None:
    @hawk.kernel
    def step(A: Matrix[2, 3], b: Vector[2]) -> Vector[2]:
        return hm.solve(A, b)[0]

    with pytest.raises(HawkError, match=r"takes a Matrix\[n, n\] here.*`A` is a Matrix\[2, 3\]"):
        step.trace(DType.F64)
