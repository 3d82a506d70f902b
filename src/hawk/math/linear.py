"""Linear algebra of small arrays, written as kernels are: a kernel that calls it walks this text.

Loops over rows and columns are written out. What depends on numbers is chosen by selects, so all
samples do the same and none disturbs another; instead of an exception there is a status. Sums of
products are fused where those of the kernel are, and `@` always is.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hawk.math.arrays import mat, vec

SWEEPS = 15
"""The most sweeps of Jacobi's method; it converges quadratically, and few matrices need 8."""


# --- products and parts ---------------------------------------------------------------------------


def dot(a: Any, b: Any) -> Any:
    """The scalar product of two vectors: `a @ b`."""
    return a @ b


def cross(a: Any, b: Any) -> Any:
    """The vector product of two vectors of 3."""
    return vec(
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


def norm(a: Any) -> Any:
    """The length of a vector, the root of `a @ a`; of a matrix Frobenius' norm.

    The squares have to be floats: of numbers beyond 1e154 it is inf.
    """
    if len(a.shape) == 1:
        return math.sqrt(a @ a)
    total = 0.0
    for row in a:
        total = total + row @ row
    return math.sqrt(total)


def outer(a: Any, b: Any) -> Any:
    """The matrix of the products `a[i] * b[j]`."""
    return mat([[x * y for y in b] for x in a])


def transpose(A: Any) -> Any:
    """A matrix with rows and columns exchanged: a copy of `A.T`."""
    return A.T.copy()


def trace(A: Any) -> Any:
    """The sum of the diagonal, in order."""
    total = A[0, 0]
    for i in range(1, A.shape[0]):
        total = total + A[i, i]
    return total


def eye(n: int) -> Any:
    """The identity matrix of n rows; n is known."""
    made = mat([[0.0] * n] * n)
    for i in range(n):
        made[i, i] = 1.0
    return made


def diag(a: Any) -> Any:
    """The matrix that has a vector as its diagonal; of a matrix its diagonal."""
    n = a.shape[0]
    if len(a.shape) == 2:
        return vec([a[i, i] for i in range(n)])
    made = mat([[0.0] * n] * n)
    for i in range(n):
        made[i, i] = a[i]
    return made


# --- quaternions: x, y, z and then the scalar w ---------------------------------------------------


def quat_mul(p: Any, q: Any) -> Any:
    """The product of two quaternions: the rotation by q, then by p."""
    return vec(
        p[3] * q[0] + p[0] * q[3] + p[1] * q[2] - p[2] * q[1],
        p[3] * q[1] + p[1] * q[3] + p[2] * q[0] - p[0] * q[2],
        p[3] * q[2] + p[2] * q[3] + p[0] * q[1] - p[1] * q[0],
        p[3] * q[3] - p[0] * q[0] - p[1] * q[1] - p[2] * q[2],
    )


def quat_conj(q: Any) -> Any:
    """The conjugate of a quaternion: of a unit quaternion the rotation back."""
    return vec(-q[0], -q[1], -q[2], q[3])


def quat_rotate(q: Any, v: Any) -> Any:
    """The vector v rotated by the unit quaternion q."""
    axis = q[:3]
    twice = 2.0 * cross(axis, v)
    return v + q[3] * twice + cross(axis, twice)


# --- elimination ----------------------------------------------------------------------------------


def lu(A: Any) -> Any:
    """P, L, U and a status, where A is `P @ L @ U`: Gauss, with the largest pivot of each column.

    P is a permutation, L has ones on its diagonal. The status is False where a pivot is 0 or NaN.
    """
    n = A.shape[0]
    rest, left, turned, ok = A.copy(), eye(n), eye(n), True
    for k in range(n):
        for i in range(k + 1, n):
            larger = abs(rest[i, k]) > abs(rest[k, k])
            for j in range(n):
                if j >= k:
                    upper, lower = rest[k, j], rest[i, j]
                    rest[k, j] = np.where(larger, lower, upper)
                    rest[i, j] = np.where(larger, upper, lower)
                else:
                    upper, lower = left[k, j], left[i, j]
                    left[k, j] = np.where(larger, lower, upper)
                    left[i, j] = np.where(larger, upper, lower)
                upper, lower = turned[k, j], turned[i, j]
                turned[k, j] = np.where(larger, lower, upper)
                turned[i, j] = np.where(larger, upper, lower)
        pivot = rest[k, k]
        ok = ok and abs(pivot) > 0.0
        for i in range(k + 1, n):
            factor = rest[i, k] / pivot
            left[i, k] = factor
            rest[i, k] = 0.0
            for j in range(k + 1, n):
                rest[i, j] = rest[i, j] - factor * rest[k, j]
    return turned.T.copy(), left, rest, ok


def _eliminated(A: Any, B: Any) -> Any:
    """`A` made triangular, `B` with the same changes, the sign of the exchanges, and a status."""
    n, m = A.shape[0], B.shape[1]
    U, X, sign, ok = A.copy(), B.copy(), 1.0, True
    for k in range(n):
        for i in range(k + 1, n):
            larger = abs(U[i, k]) > abs(U[k, k])
            sign = np.where(larger, -sign, sign)
            for j in range(k, n):
                upper, lower = U[k, j], U[i, j]
                U[k, j] = np.where(larger, lower, upper)
                U[i, j] = np.where(larger, upper, lower)
            for j in range(m):
                upper, lower = X[k, j], X[i, j]
                X[k, j] = np.where(larger, lower, upper)
                X[i, j] = np.where(larger, upper, lower)
        ok = ok and abs(U[k, k]) > 0.0
        for i in range(k + 1, n):
            factor = U[i, k] / U[k, k]
            for j in range(k + 1, n):
                U[i, j] = U[i, j] - factor * U[k, j]
            for j in range(m):
                X[i, j] = X[i, j] - factor * X[k, j]
    return U, X, sign, ok


def _substituted(U: Any, B: Any) -> Any:
    """The solution of `U @ X = B` for an upper triangle U."""
    n, m = U.shape[0], B.shape[1]
    X = B.copy()
    for back in range(n):
        i = n - 1 - back
        for j in range(m):
            value = X[i, j]
            for k in range(i + 1, n):
                value = value - U[i, k] * X[k, j]
            X[i, j] = value / U[i, i]
    return X


def _where(ok: Any, A: Any) -> Any:
    """`A` where the status is True, NaN elsewhere."""
    return np.where(ok, A, math.nan)


def solve(A: Any, b: Any) -> Any:
    """Solve `A @ x == b`: x and a status. b is a vector, or a matrix of several columns.

    The status is False where A is singular, that is, where a pivot is 0 or NaN; then x is NaN. Of a
    matrix that is nearly singular x is as far off as its condition says.
    """
    columns = b if len(b.shape) == 2 else mat([[each] for each in b])
    U, X, _, ok = _eliminated(A, columns)
    x = _where(ok, _substituted(U, X))
    return (x if len(b.shape) == 2 else x[:, 0].copy()), ok


def inv(A: Any) -> Any:
    """The inverse of a matrix, and a status as of `solve`."""
    return solve(A, eye(A.shape[0]))


def det(A: Any) -> Any:
    """The determinant, by elimination; 0 for a matrix that is found singular."""
    U, _, sign, _ = _eliminated(A, mat([[0.0]] * A.shape[0]))
    total = sign * U[0, 0]
    for i in range(1, A.shape[0]):
        total = total * U[i, i]
    # Beyond a pivot of 0 there are divisions by it.
    for i in range(A.shape[0]):
        total = np.where(U[i, i] == 0.0, 0.0, total)
    return total


def cholesky(A: Any) -> Any:
    """L and a status, where A is `L @ L.T` and L a lower triangle; looks at that of A only.

    The status is False where A is not positive definite; then L is NaN.
    """
    n = A.shape[0]
    L, ok = mat([[0.0] * n] * n), True
    for j in range(n):
        value = A[j, j]
        for k in range(j):
            value = value - L[j, k] * L[j, k]
        ok = ok and value > 0.0
        root = math.sqrt(value)
        L[j, j] = root
        for i in range(j + 1, n):
            value = A[i, j]
            for k in range(j):
                value = value - L[i, k] * L[j, k]
            L[i, j] = value / root
    return _where(ok, L), ok


# --- orthogonal methods ---------------------------------------------------------------------------


def lstsq(A: Any, b: Any) -> Any:
    """Find the x for which `A @ x` is nearest to the vector b: x and a status; by Householder.

    A has at least as many rows as columns. The status is False where its columns are found
    dependent; then x is NaN.
    """
    m, n = A.shape
    R, y, ok = A.copy(), mat([[each] for each in b]), True
    for k in range(n):
        # In units of the largest number, so that no square is beyond the range of floats.
        unit = abs(R[k, k])
        for i in range(k + 1, m):
            unit = np.fmax(unit, abs(R[i, k]))
        unit = np.where(unit > 0.0, unit, 1.0)
        for i in range(k, m):
            R[i, k] = R[i, k] / unit
        total = R[k, k] * R[k, k]
        for i in range(k + 1, m):
            total = total + R[i, k] * R[i, k]
        length = math.sqrt(total)
        ok = ok and length > 0.0
        # The reflection that takes the column to one number, of the sign that loses nothing.
        head = R[k, k] + np.copysign(length, R[k, k])
        scale = total + length * abs(R[k, k])  # half of the square of what is reflected
        pivot = -np.copysign(length * unit, R[k, k])
        for j in range(k + 1, n):
            part = head * R[k, j]
            for i in range(k + 1, m):
                part = part + R[i, k] * R[i, j]
            part = part / scale
            R[k, j] = R[k, j] - part * head
            for i in range(k + 1, m):
                R[i, j] = R[i, j] - part * R[i, k]
        part = head * y[k, 0]
        for i in range(k + 1, m):
            part = part + R[i, k] * y[i, 0]
        part = part / scale
        y[k, 0] = y[k, 0] - part * head
        for i in range(k + 1, m):
            y[i, 0] = y[i, 0] - part * R[i, k]
        R[k, k] = pivot
    return _where(ok, _substituted(R[:n], y[:n])[:, 0]), ok


def eigh(A: Any) -> Any:
    """Eigenvalues, ascending, eigenvectors as columns, and a status, of a symmetric matrix.

    Looks at the lower triangle only. By Jacobi's method (Rutishauser, Numerische Mathematik 9,
    1966): rotations that each make one number 0, in sweeps until all are. The status is False where
    that does not happen: where there is a NaN. Vectors may have either sign.
    """
    n = A.shape[0]
    D = mat([[A[max(i, j), min(i, j)] for j in range(n)] for i in range(n)])
    V = eye(n)
    left = 0.0
    for _ in range(SWEEPS):
        left = 0.0
        for p in range(n):
            for q in range(p + 1, n):
                left = left + abs(D[p, q])
        if left == 0.0:
            break
        for p in range(n):
            for q in range(p + 1, n):
                off, low, high = D[p, q], D[p, p], D[q, q]
                size = 100.0 * abs(off)
                gone = (abs(low) + size == abs(low)) and (abs(high) + size == abs(high))
                theta = 0.5 * (high - low) / np.where(off == 0.0, 1.0, off)
                t = np.copysign(1.0, theta) / (abs(theta) + math.sqrt(theta * theta + 1.0))
                t = np.where(gone, 0.0, t)
                c = 1.0 / math.sqrt(t * t + 1.0)
                s = t * c
                tau = s / (1.0 + c)
                D[p, p] = low - t * off
                D[q, q] = high + t * off
                D[p, q] = 0.0
                D[q, p] = 0.0
                for r in range(n):
                    if r != p and r != q:
                        a, b = D[r, p], D[r, q]
                        D[r, p] = a - s * (b + tau * a)
                        D[r, q] = b + s * (a - tau * b)
                        D[p, r] = D[r, p]
                        D[q, r] = D[r, q]
                    a, b = V[r, p], V[r, q]
                    V[r, p] = a - s * (b + tau * a)
                    V[r, q] = b + s * (a - tau * b)
    ok = left == 0.0
    w = diag(D)
    for i in range(n):
        ok = ok and w[i] == w[i]
    for end in range(n - 1):
        for i in range(n - 1 - end):
            swap = w[i] > w[i + 1]
            first, second = w[i], w[i + 1]
            w[i] = np.where(swap, second, first)
            w[i + 1] = np.where(swap, first, second)
            for r in range(n):
                first, second = V[r, i], V[r, i + 1]
                V[r, i] = np.where(swap, second, first)
                V[r, i + 1] = np.where(swap, first, second)
    return _where(ok, w), _where(ok, V), ok


# --- what they take -------------------------------------------------------------------------------

_SQUARE = ("n", "n")
TAKES: dict[Any, tuple[tuple[tuple[int | str, ...], ...], ...]] = {
    dot: ((("n",),), (("n",),)),
    cross: (((3,),), ((3,),)),
    norm: ((("n",), ("n", "m")),),
    outer: ((("n",),), (("m",),)),
    transpose: ((("n", "m"),),),
    trace: ((_SQUARE,),),
    diag: ((("n",), _SQUARE),),
    quat_mul: (((4,),), ((4,),)),
    quat_conj: (((4,),),),
    quat_rotate: (((4,),), ((3,),)),
    lu: ((_SQUARE,),),
    solve: ((_SQUARE,), (("n",), ("n", "m"))),
    inv: ((_SQUARE,),),
    det: ((_SQUARE,),),
    cholesky: ((_SQUARE,),),
    eigh: ((_SQUARE,),),
    lstsq: ((("m", "n"),), (("m",),)),
}
"""The shapes of the arguments: for each the shapes it may have, where a letter is any length, the
same for all arguments."""


def misfit(function: Any, shapes: list[tuple[int, ...] | None]) -> tuple[int, str] | None:
    """The first argument that does not have a shape that `function` takes, and what it should be.

    None of `shapes` is what is no array. Nothing where all fit.
    """
    sizes: dict[str, int] = {}
    for place, (allowed, shape) in enumerate(zip(TAKES[function], shapes, strict=False)):
        known = [_bound(form, shape, sizes) for form in allowed if shape is not None]
        found = next((each for each in known if each is not None), None)
        if found is None:
            return place, " or ".join(_form(form, sizes) for form in allowed)
        sizes = found
    if function is lstsq and sizes.get("m", 0) < sizes.get("n", 0):
        return 0, "a matrix with at least as many rows as columns"
    return None


def _bound(
    form: tuple[int | str, ...], shape: tuple[int, ...] | None, sizes: dict[str, int]
) -> dict[str, int] | None:
    """The lengths of the letters of a form, where a shape fits it."""
    if shape is None or len(form) != len(shape):
        return None
    sizes = dict(sizes)
    for wanted, length in zip(form, shape, strict=True):
        due = wanted if isinstance(wanted, int) else sizes.setdefault(wanted, length)
        if due != length:
            return None
    return sizes


def _form(form: tuple[int | str, ...], sizes: dict[str, int]) -> str:
    lengths = [str(sizes.get(each, each) if isinstance(each, str) else each) for each in form]
    return f"a {'Vector' if len(form) == 1 else 'Matrix'}[{', '.join(lengths)}]"
