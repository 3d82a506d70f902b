"""Small arrays from numbers: in a kernel an array of it, outside of one an array of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np


def vec(*numbers: Any) -> Any:
    """A vector of floats: `vec(x, y, z)`, or of one tuple."""
    if len(numbers) == 1 and np.ndim(numbers[0]):
        numbers = tuple(numbers[0])
    return np.array(numbers, np.float64)


def mat(*rows: Any) -> Any:
    """A matrix of floats, of its rows: `mat((a, b), (c, d))`, or of one tuple of rows."""
    if len(rows) == 1 and np.ndim(rows[0]) == 2:
        rows = tuple(rows[0])
    return np.array(rows, np.float64)
