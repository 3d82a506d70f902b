"""How the meaning of an instruction is said, and what many of them have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tests.ptx.kinds import Array, canonical, is_float
from tests.ptx.parse import Instruction


class Meaning(NamedTuple):
    result: str
    operands: tuple[str, ...]
    compute: Callable[..., Array]


Write = Callable[[Instruction], Meaning]


def unsigned(a: Array) -> Array:
    return a.view(f"u{a.itemsize}")


def of_integers(ins: Instruction, arity: int, compute: Callable[..., Array]) -> Meaning:
    """An instruction of integers of one kind, without any other modifier."""
    (kind,) = ins.modifiers if len(ins.modifiers) == 1 else ("",)
    if kind not in INTEGERS:
        raise ins.unknown("modifiers")
    return Meaning(kind, (kind,) * arity, compute)


INTEGERS = [f"{letter}{size}" for letter in "usb" for size in (16, 32, 64)]
FLOATS = ("f32", "f64")


def float_kind(ins: Instruction, *allowed: tuple[str, ...]) -> str:
    """The kind of an instruction of floats whose modifiers before it are among those allowed."""
    *before, kind = ins.modifiers
    if kind not in FLOATS or tuple(before) not in allowed:
        raise ins.unknown("modifiers")
    return kind


def rounded_to_nearest(
    arity: int, compute: Callable[..., Array], integers: Callable[..., Array] | None = None
) -> Write:
    """Rounded to nearest, which has to be said; `.sat` of float32 cuts to 0 to 1."""

    def write(ins: Instruction) -> Meaning:
        if integers is not None and not is_float(ins.modifiers[-1]):
            return of_integers(ins, arity, integers)
        kind = float_kind(ins, ("rn",), ("rn", "sat"))
        saturate = "sat" in ins.modifiers
        if saturate and kind != "f32":
            raise ins.unknown("modifiers")

        def rounded(*args: Array) -> Array:
            result = compute(*args)
            if saturate:
                cut = np.minimum(np.maximum(result, np.float32(0)), np.float32(1))
                result = np.where(result > 0, cut, np.float32(0))
            return canonical(kind, result)

        return Meaning(kind, (kind,) * arity, rounded)

    return write
