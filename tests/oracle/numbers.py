"""Numbers to run programs on: the edges of each type, and ordinary ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, nan
from random import Random

from hawk.ir.meaning import round_f32
from hawk.ir.nodes import Number
from hawk.ir.types import DType

_ORDINARY = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -3.0, 0.1, 1e-3, 100.0, 3.141592653589793)
EDGES: Mapping[DType, tuple[Number, ...]] = {
    DType.BOOL: (False, True),
    DType.I32: (0, 1, -1, 2, 3, 7, -8, 31, 32, 2**31 - 1, -(2**31), 2**31 - 2, 65536, -65537),
    DType.U32: (0, 1, 2, 3, 7, 31, 32, 33, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 1, 65536),
    DType.I64: (
        0, 1, -1, 2, 3, 7, -8, 63, 64, 2**31, -(2**31) - 1, 2**32, 2**53 + 1, -(2**53) - 1,
        2**63 - 1, -(2**63), 2**62 + 1, 2**24 + 1,
    ),
    DType.F64: (
        *_ORDINARY, inf, -inf, nan, 5e-324, -5e-324, 2.2250738585072014e-308,
        1.7976931348623157e308,
        2.0**53 + 2, 2.0**53, -(2.0**63), 2.0**63, 2.0**31, 2.0**31 - 0.5, -(2.0**31) - 0.5,
        2.0**32,
        1e300, 1.5, 2.5, -2.5, 0.49999999999999994,
    ),
    DType.F32: (
        *map(round_f32, _ORDINARY), inf, -inf, nan, 1.401298464324817e-45, -1.401298464324817e-45,
        1.1754943508222875e-38, 3.4028234663852886e38, 16777216.0, 16777218.0, -(2.0**63), 2.0**63,
        2.0**31, 2147483520.0, 2.0**32, 1.0000000150474662e30, 1.5, 2.5, -2.5, 0.4999999701976776,
    ),
}  # fmt: skip
"""The numbers where an operation does something else than nearby."""

_FEW_FLOATS = (0.0, -0.0, 1.0, 2.0, nan, inf)
_FEW_INTEGERS = (0, 1, 2)
"""So few that two planes often hold the same one."""

_FEW_FLOATS = (0.0, -0.0, 1.0, 2.0, nan, inf)
_FEW_INTEGERS = (0, 1, 2)
"""So few that two planes often hold the same one."""

TIME_STEPS = (0.1, 0.01, 1.0, 0.25, 0.0, -0.0, -0.1, -1.0, 5e-324, 1e30, inf, -inf, nan, 1e-17)
"""What a time may advance by: mostly forward; never, backward, beyond all bounds now and then."""
LIMITS = (1.0, 0.5, 2.0, 3.7, 0.0, -0.0, -1.0, 1e30, inf, -inf, nan, 10.0)
"""What a time may run to."""


def draw(random: Random, dtype: DType, name: str = "") -> Number:
    """A number of the type: an edge, a small one, or any. Some names ask for certain numbers."""
    if name in ("dt", "t_end", "t") and dtype.is_float:
        return _fitting(_time(random, name), dtype)
    if name in ("k", "limit"):
        return (
            random.choice((0, 1, 2, 3, 5, 9, 20, 40))
            if random.random() < 0.9
            else _edge(random, dtype)
        )
    if dtype is DType.BOOL:
        return random.random() < 0.5
    chance = random.random()
    if chance < 0.3:
        return random.choice(_FEW_FLOATS if dtype.is_float else _FEW_INTEGERS)
    if chance < 0.6:
        return _edge(random, dtype)
    if dtype.is_int:
        least = 0 if dtype is DType.U32 else -9
        return random.randint(least, 20)
    scale = random.choice((1.0, 1.0, 10.0, 1e3, 1e-3))
    return _fitting(random.uniform(-scale, scale), dtype)


def _time(random: Random, name: str) -> float:
    usual = {"dt": (0.1, 0.25, 1.0, 0.01), "t_end": (1.0, 2.0, 5.0, 0.5), "t": (0.0, 0.0, 0.3)}[
        name
    ]
    if random.random() < 0.6:
        return random.choice(usual)
    return random.choice(TIME_STEPS if name == "dt" else LIMITS)


def _edge(random: Random, dtype: DType) -> Number:
    return random.choice(EDGES[dtype])


def _fitting(number: float, dtype: DType) -> float:
    return round_f32(number) if dtype is DType.F32 else number


def column(random: Random, dtype: DType, count: int, name: str = "") -> list[Number]:
    """`count` numbers for one array."""
    return [draw(random, dtype, name) for _ in range(count)]


def mixed(dtype: DType, count: int, *, stride: int) -> list[Number]:
    """`count` edges in an order of their own; different strides pair them differently."""
    edges: Sequence[Number] = EDGES[dtype]
    return [edges[(sample * stride + sample // len(edges)) % len(edges)] for sample in range(count)]
