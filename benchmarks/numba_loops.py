"""The workloads as Numba users write them: a loop over samples, and one over the steps of each."""

import numba
import numpy as np


@numba.njit
def jacobi(p, source, out, quarter):
    rows, columns = p.shape
    for r in range(1, rows - 1):
        for c in range(1, columns - 1):
            near = p[r - 1, c] + p[r + 1, c] + p[r, c - 1] + p[r, c + 1]
            out[r, c] = quarter * (near - source[r, c])


@numba.njit(parallel=True, fastmath=True)
def asian(total, drift, volatility, days):
    for i in numba.prange(len(total)):
        real = total.dtype.type
        price, sum_of_prices = real(1), real(0)
        for _ in range(days):
            price *= np.exp(drift + volatility * real(np.random.standard_normal()))  # noqa: NPY002 - Numba's generator
            sum_of_prices += price
        total[i] = sum_of_prices


@numba.njit(parallel=True, fastmath=True)
def line(x, a, b, out):
    for i in numba.prange(len(x)):
        out[i] = a * x[i] + b
