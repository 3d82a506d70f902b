"""The workloads as Numba users write them: a loop over samples, and one over the steps of each."""

import numba


@numba.njit(parallel=True, fastmath=True)
def oscillator(omega, t_end, dt, x, v, t):
    for i in numba.prange(len(x)):
        xi, vi, ti, c = x[i], v[i], t[i], dt * omega[i] * omega[i]
        while ti < t_end:
            xi, vi = xi + dt * vi, vi - c * xi
            ti += dt
        x[i], v[i], t[i] = xi, vi, ti


@numba.njit
def jacobi(p, source, out, quarter):
    rows, columns = p.shape
    for r in range(1, rows - 1):
        for c in range(1, columns - 1):
            near = p[r - 1, c] + p[r + 1, c] + p[r, c - 1] + p[r, c + 1]
            out[r, c] = quarter * (near - source[r, c])
