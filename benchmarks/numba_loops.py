"""The workloads as Numba users write them: a loop over samples, and one over the steps of each."""

import numba


@numba.njit
def jacobi(p, source, out, quarter):
    rows, columns = p.shape
    for r in range(1, rows - 1):
        for c in range(1, columns - 1):
            near = p[r - 1, c] + p[r + 1, c] + p[r, c - 1] + p[r, c + 1]
            out[r, c] = quarter * (near - source[r, c])
