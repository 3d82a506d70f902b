"""What instructions compute that look at bits: logic, shifts, counts, fields and permutations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.ptx.kinds import Array, bits_in, is_signed
from tests.ptx.parse import Instruction
from tests.ptx.rules import Meaning, Write, of_integers, unsigned


def of_bits(ins: Instruction, arity: int, compute: Callable[..., Array]) -> Meaning:
    """An instruction of bits: predicates too."""
    if ins.modifiers == ("pred",):
        return Meaning("pred", ("pred",) * arity, compute)
    return of_integers(ins, arity, compute)


def bitwise(compute: Callable[..., Array], arity: int = 2) -> Write:
    return lambda ins: of_bits(ins, arity, compute)


def shift(*, left: bool) -> Write:
    """By an amount of 32 bits, at most by all bits."""

    def write(ins: Instruction) -> Meaning:
        meaning = of_integers(ins, 1, lambda a: a)
        kind = meaning.result
        bits = bits_in(kind)

        def compute(a: Array, amount: Array) -> Array:
            some = np.minimum(amount, bits - 1).astype(a.dtype)
            rest = (amount >= bits).astype(a.dtype)  # one more, by which all are gone
            return (a << some << rest) if left else (a >> some >> rest)

        return Meaning(kind, (kind, "u32"), compute)

    return write


def counted(count: Callable[[int, int], int]) -> Write:
    """A number of bits, which is an `u32`; `count(number, bits)` for each."""

    def write(ins: Instruction) -> Meaning:
        meaning = of_integers(ins, 1, lambda a: a)
        bits = bits_in(meaning.result)

        def compute(a: Array) -> Array:
            return np.array([count(each, bits) for each in unsigned(a).tolist()], np.uint32)

        return Meaning("u32", meaning.operands, compute)

    return write


def brev(ins: Instruction) -> Meaning:
    def compute(a: Array) -> Array:
        width = 8 * a.itemsize
        return np.array([int(f"{each:0{width}b}"[::-1], 2) for each in a.tolist()], a.dtype)

    return of_integers(ins, 1, compute)


def bfe(ins: Instruction) -> Meaning:
    kind = of_integers(ins, 1, lambda a: a).result
    top = bits_in(kind) - 1

    def one(a: int, start: int, length: int) -> int:
        start, length = start & 255, length & 255
        if not length:
            return 0
        bits = (a >> min(start, top + 1)) & (2**length - 1)
        if not is_signed(kind):
            return bits
        sign = a >> min(start + length - 1, top) & 1
        known = min(length, max(0, top + 1 - start))
        return bits | (-sign << known)

    def compute(a: Array, start: Array, length: Array) -> Array:
        rows = zip(*(x.tolist() for x in np.broadcast_arrays(unsigned(a), start, length)))
        found = [one(*row) % 2 ** (top + 1) for row in rows]
        return np.array(found, f"u{a.itemsize}").view(a.dtype)

    return Meaning(kind, (kind, "u32", "u32"), compute)


def bfi(ins: Instruction) -> Meaning:
    kind = of_integers(ins, 1, lambda a: a).result
    bits = bits_in(kind)

    def one(a: int, b: int, start: int, length: int) -> int:
        mask = (2 ** (length & 255) - 1) << (start & 255)
        return ((b & ~mask) | (a << (start & 255) & mask)) % 2**bits

    def compute(*args: Array) -> Array:
        rows = zip(*(x.tolist() for x in np.broadcast_arrays(*args)))
        return np.array([one(*row) for row in rows], args[0].dtype)

    return Meaning(kind, (kind, kind, "u32", "u32"), compute)


def shf(ins: Instruction) -> Meaning:
    """A shift of two words that stand side by side."""
    if ins.modifiers not in [(a, b, "b32") for a in "lr" for b in ("wrap", "clamp")]:
        raise ins.unknown("modifiers")
    side, mode, _ = ins.modifiers

    def compute(low: Array, high: Array, amount: Array) -> Array:
        whole = high.astype(np.uint64) << np.uint64(32) | low
        some = (amount & 31 if mode == "wrap" else np.minimum(amount, 32)).astype(np.uint64)
        if side == "l":
            whole = whole << some >> np.uint64(32)
        else:
            whole = whole >> some
        return (whole & np.uint64(0xFFFF_FFFF)).astype(np.uint32)

    return Meaning("b32", ("b32", "b32", "u32"), compute)


def prmt(ins: Instruction) -> Meaning:
    """Four of the eight bytes of two words, or their signs."""
    if ins.modifiers != ("b32",):
        raise ins.unknown("modifiers")

    def compute(a: Array, b: Array, choice: Array) -> Array:
        whole = b.astype(np.uint64) << np.uint64(32) | a
        total = np.zeros(np.broadcast_shapes(a.shape, b.shape, choice.shape), np.uint64)
        for place in range(4):
            nibble = choice.astype(np.uint64) >> np.uint64(4 * place) & np.uint64(15)
            byte = whole >> (nibble & np.uint64(7)) * np.uint64(8) & np.uint64(255)
            signs = (byte >> np.uint64(7)) * np.uint64(255)
            total |= np.where(nibble > 7, signs, byte) << np.uint64(8 * place)
        return total.astype(np.uint32)

    return Meaning("b32", ("b32", "b32", "b32"), compute)


def lop3(ins: Instruction) -> Meaning:
    """Any function of three bits, given as its table."""
    if ins.modifiers != ("b32",):
        raise ins.unknown("modifiers")

    def compute(a: Array, b: Array, c: Array, table: Array) -> Array:
        result = np.zeros(np.broadcast_shapes(a.shape, b.shape, c.shape), np.uint32)
        for row in range(8):
            x, y, z = (each if row >> bit & 1 else ~each for each, bit in ((a, 2), (b, 1), (c, 0)))
            result |= np.where(table >> np.uint32(row) & 1, x & y & z, np.uint32(0))
        return result

    return Meaning("b32", ("b32", "b32", "b32", "u32"), compute)
