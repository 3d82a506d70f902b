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
