"""The fma of arrays is `a * b + c` rounded once: by integers, by the table of operations."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from hawk.ir.meaning import fma as of_the_table
from hawk.ir.types import DType
from tests.oracle.numbers import EDGES
from tests.ptx import fma as module
from tests.ptx.fma import fma, slow_fma

WIDTHS = [(DType.F64, np.float64, 53, 1070), (DType.F32, np.float32, 24, 145)]


def same(expected: Any, got: Any) -> bool:
    bits = f"u{got.itemsize}"
    nan = np.isnan(expected) & np.isnan(got)
    return bool((nan | (expected.view(bits) == got.view(bits))).all())


def drawn(rng: np.random.Generator, count: int, digits: int, reach: int, dtype: Any) -> list[Any]:
    """Numbers of all sizes; the last one of each row often nearly undoes the product."""

    def some() -> Any:
        whole = rng.integers(2 ** (digits - 1), 2**digits, count).astype(np.float64)
        short = rng.random(count) < 0.3  # with few digits: results that are ties
        whole = np.where(short, np.floor(whole / 2 ** (digits // 2)) * 2 ** (digits // 2), whole)
        power = np.where(
            rng.random(count) < 0.5, rng.integers(-30, 30, count), rng.integers(-reach, 200, count)
        )
        with np.errstate(all="ignore"):
            return (np.ldexp(whole, power - digits) * rng.choice([-1, 1], count)).astype(dtype)

    a, b, c = some(), some(), some()
    with np.errstate(all="ignore"):
        close = -(a * b) * (1 + rng.integers(-3, 4, count) * np.finfo(dtype).eps / 2)
        far = -(a * b) * dtype(2.0) ** rng.integers(-digits - 2, digits + 2, count)
        which = rng.integers(0, 3, count)
        return [a, b, np.where(which == 0, c, np.where(which == 1, close, far)).astype(dtype)]


@pytest.mark.parametrize(("real", "dtype", "digits", "reach"), WIDTHS, ids=["float64", "float32"])
def test_it_is_rounded_once(real: DType, dtype: Any, digits: int, reach: int) -> None:
    a, b, c = drawn(np.random.default_rng(3), 20_000, digits, reach, dtype)
    rows = zip(a.tolist(), b.tolist(), c.tolist(), strict=True)
    assert same(np.array([of_the_table(real, *row) for row in rows], dtype), fma(a, b, c))


@pytest.mark.parametrize(("real", "dtype", "digits", "reach"), WIDTHS, ids=["float64", "float32"])
def test_it_is_so_at_the_edges(real: DType, dtype: Any, digits: int, reach: int) -> None:
    rows = list(itertools.product(EDGES[real], repeat=3))
    a, b, c = (np.array(each, dtype) for each in zip(*rows, strict=True))
    assert same(np.array([of_the_table(real, *row) for row in rows], dtype), fma(a, b, c))


def test_both_ways_for_float64_give_the_same() -> None:
    """Products and sums of floats far from the ends, where the fast way is taken."""
    rng = np.random.default_rng(4)
    a, b, c = drawn(rng, 20_000, 53, 30, np.float64)
    slow = np.array([slow_fma(*row) for row in zip(a.tolist(), b.tolist(), c.tolist())])
    assert same(slow, fma(a, b, c))


def test_rounding_twice_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_to_odd", lambda a, b: a + b)
    for real, dtype, digits, reach in WIDTHS:
        a, b, c = drawn(np.random.default_rng(3), 20_000, digits, reach, dtype)
        rows = zip(a.tolist(), b.tolist(), c.tolist(), strict=True)
        assert not same(np.array([of_the_table(real, *row) for row in rows], dtype), fma(a, b, c))
