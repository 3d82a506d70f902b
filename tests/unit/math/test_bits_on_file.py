"""Elementary functions give the bits that are on file, and a coefficient is noticed that is not.

All other tests compare ways to compute with one text, so a wrong number in it is wrong everywhere
alike. Run this file to write the bits anew, where they are meant to change.
"""

from __future__ import annotations

import math
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hawk.math
from hawk.math import coefficients
from tests.unit.math.functions import ONE, SPECIAL, TWO

FILE = Path(__file__).parents[2] / "golden" / "bits.txt"
NUMBERS = [
    sign * digits * 2.0**power
    for power in range(-9, 10)
    for digits in (1.0, 1.2345678901234567, math.pi / 2, 1.9)
    for sign in (1.0, -1.0)
]
"""Of all sizes at which these functions have something to compute."""


def digest(name: str, dtype: Any) -> str:
    """A number that tells results apart, of a function on `NUMBERS` and the special ones."""
    function = getattr(hawk.math, name)
    first = [*NUMBERS, *SPECIAL]
    second = [*NUMBERS[::-1], *SPECIAL[::-1]]
    with np.errstate(all="ignore"):
        columns = [np.array(each, dtype) for each in ((first,) if name in ONE else (first, second))]
        rows = zip(*[c if dtype is np.float32 else c.tolist() for c in columns], strict=True)
        results = np.array([function(*row) for row in rows], dtype)
    results[np.isnan(results)] = np.nan
    return f"{zlib.crc32(results.astype(results.dtype.newbyteorder('<')).tobytes()):08x}"


def on_file() -> dict[str, list[str]]:
    rows = [line.split() for line in FILE.read_text(encoding="ascii").splitlines()]
    return {name: bits for name, *bits in rows}


def now(name: str) -> list[str]:
    return [digest(name, dtype) for dtype in (np.float64, np.float32)]


@pytest.mark.parametrize("name", [*ONE, *TWO])
def test_the_bits_are_those_on_file(name: str) -> None:
    assert on_file()[name] == now(name), "write: python -m tests.unit.math.test_bits_on_file"


def slightly_off(name: str, patch: pytest.MonkeyPatch) -> None:
    """Change a coefficient in its last ten bits: less moves few results, and no error bound."""
    first, *rest = getattr(coefficients, name)
    factor = 1.0 + 2.0 ** (-14 if name.endswith("_32") else -43)
    patch.setattr(coefficients, name, (first * factor, *rest))


@pytest.mark.parametrize(
    ("name", "function"),
    [("EXP_64", "exp"), ("EXP_32", "exp"), ("LOG_64", "log"), ("LOG_32", "log")],
)
def test_a_coefficient_that_is_slightly_off_is_noticed(
    name: str, function: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    slightly_off(name, monkeypatch)
    width = name.endswith("_32")
    assert on_file()[function][width] != now(function)[width]


def write() -> None:
    rows = [f"{name} {' '.join(now(name))}\n" for name in (*ONE, *TWO)]
    FILE.write_text("".join(rows), encoding="ascii")


if __name__ == "__main__":
    write()
