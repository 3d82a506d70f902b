"""What `cvt` computes: between integers, between floats, and from one to the other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.ptx.kinds import Array, bits_in, canonical, dtype_of, is_float, is_signed
from tests.ptx.parse import SIZES, Instruction

TO_INTEGRAL: dict[str, Callable[[Array], Array]] = {
    "rni": np.rint,
    "rzi": np.trunc,
    "rmi": np.floor,
    "rpi": np.ceil,
}

NAN_TO_INTEGER = ["zero", "sign"]
"""What NaN becomes as an integer. The ISA says 0, and programs must not ask. `zero`: 0, always.
`sign`: 0 from float32 to up to 32 bits, else the sign bit alone. The first one counts."""


def convert(
    ins: Instruction, modifiers: tuple[str, ...], target: str, source: str
) -> Callable[[Array], Array]:
    """A conversion with these modifiers. Raises Unknown."""
    for kind in (target, source):
        if kind[1:] not in SIZES or kind[0] not in "usf" or kind in ("f8", "f16"):
            raise ins.unknown("kinds")
    saturate = "sat" in modifiers
    rounding = tuple(each for each in modifiers if each != "sat")
    match is_float(source), is_float(target):
        case False, False:
            if rounding:
                raise ins.unknown("modifiers")
            return _between_integers(source, target, saturate=saturate)
        case True, False:
            if len(rounding) != 1 or rounding[0] not in TO_INTEGRAL:
                raise ins.unknown("modifiers")
            return _to_integer(source, target, TO_INTEGRAL[rounding[0]])
        case True, True if source == target:
            if len(rounding) != 1 or rounding[0] not in TO_INTEGRAL or saturate:
                raise ins.unknown("modifiers")
            change = TO_INTEGRAL[rounding[0]]
            return lambda a: canonical(target, change(a))
        case True, True if target == "f64":
            if modifiers:
                raise ins.unknown("modifiers")
            return lambda a: canonical("f64", a.astype(np.float64))
        case _:
            if len(rounding) != 1 or rounding[0] not in ("rn", "rz", "rm", "rp") or saturate:
                raise ins.unknown("modifiers")
            return _to_float(target, rounding[0])


def _between_integers(source: str, target: str, *, saturate: bool) -> Callable[[Array], Array]:
    if not saturate:
        return lambda a: a.astype(dtype_of(target))
    low, high = _range(target)

    def cut(a: Array) -> Array:
        return np.array([min(max(each, low), high) for each in a.tolist()], dtype_of(target))

    return cut


def _range(kind: str) -> tuple[int, int]:
    bits = bits_in(kind)
    return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if is_signed(kind) else (0, 2**bits - 1)


def _to_integer(source: str, target: str, change: Callable[[Array], Array]) -> Callable[..., Array]:
    """Rounded to an integer, then cut to the range: with or without `.sat`."""
    low, high = _range(target)
    signs = source == "f64" or bits_in(target) == 64
    dtype = dtype_of(target)

    def compute(a: Array) -> Array:
        whole = change(a)
        below, above = whole <= low, whole >= float(high)
        inside = np.where(below | above | np.isnan(a), 0, whole).astype(dtype)
        nan = 0 if NAN_TO_INTEGER[0] == "zero" or not signs else 1 << (bits_in(target) - 1)
        nan = np.array([nan], f"u{dtype.itemsize}").view(dtype)
        result = np.where(below, dtype.type(low), np.where(above, dtype.type(high), inside))
        return np.where(np.isnan(a), nan, result)

    return compute


def _to_float(target: str, rounding: str) -> Callable[[Array], Array]:
    """An integer or a float64 to a float, rounded once."""
    dtype = dtype_of(target)

    def compute(a: Array) -> Array:
        nearest = a.astype(dtype)
        if rounding != "rn":
            nearest = np.array(
                [_directed(x, y, rounding) for x, y in zip(a.tolist(), nearest, strict=True)], dtype
            )
        return canonical(target, nearest)

    return compute


def _directed(exact: float, nearest: np.floating, rounding: str) -> np.floating:
    """The neighbour on the other side, where the nearest is on the wrong one."""
    if exact != exact or exact in (float("inf"), -float("inf")):
        return nearest
    up = rounding == "rp" or (rounding == "rz" and exact < 0)
    wide = float(nearest)  # Python compares integers and floats exactly
    if up and wide < exact:
        return np.nextafter(nearest, nearest.dtype.type(np.inf))
    if not up and wide > exact:
        return np.nextafter(nearest, nearest.dtype.type(-np.inf))
    return nearest
