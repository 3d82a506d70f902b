"""Philox 4x32-10: 128 random bits as a function of a counter and a key, with nothing kept.

Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011. It passes
the published tests of its authors (Random123) bit for bit.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from hawk.ir.types import DType
from hawk.math.terms import Term

Words: TypeAlias = tuple[Term, Term, Term, Term]
"""Four uint32."""

ROUNDS = 10
FACTORS = (0xD2511F53, 0xCD9E8D57)
BUMPS = (0x9E3779B9, 0xBB67AE85)
"""What is added to the key from round to round."""
MASK = 0xFFFFFFFF


def philox(counter: Words, key: tuple[Term, Term]) -> Words:
    """The random bits of a counter and a key: all of uint32, or all int64 that hold a uint32.

    The second is for samples that stand in lanes of 64 bits: nothing is packed from round to round
    (on AVX2 a uniform float64 takes 3.9 ns then, else 5.2; a float32 takes 2.3 ns either way).
    """
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for number in range(ROUNDS):
        if number:
            k0, k1 = _sum(k0, BUMPS[0]), _sum(k1, BUMPS[1])
        (high0, low0), (high2, low2) = _product(c0, FACTORS[0]), _product(c2, FACTORS[1])
        c0, c1, c2, c3 = high2 ^ c1 ^ k0, low2, high0 ^ c3 ^ k1, low0
    return c0, c1, c2, c3


def _product(word: Term, factor: int) -> tuple[Term, Term]:
    """The upper and the lower half of a product."""
    if word.dtype is DType.U32:
        return word.apply("mulhi", factor), word * factor
    product = word * factor
    return product >> 32, product & MASK


def _sum(word: Term, number: int) -> Term:
    total = word + number
    return total if word.dtype is DType.U32 else total & MASK


class Stream(NamedTuple):
    """The bits of one draw of one sample: all three are int64."""

    seed: Term
    draw: Term
    sample: Term
    wide: bool = False
    """Do the samples stand in lanes of 64 bits? The bits are the same."""

    def words(self, trial: Term | None = None) -> Words:
        """Its four words, or those of a further trial, a uint32 below 2**16.

        The key is the seed, lower half first. The counter is the draw, then the sample, likewise;
        a trial counts from bit 112 on.
        """
        draw, sample, seed = (
            (each & MASK, each >> 32) if self.wide else halves(each)
            for each in (self.draw, self.sample, self.seed)
        )
        if trial is not None:
            more = trial << 16
            high = sample[1] ^ (more.apply("to_i64", gives=DType.I64) if self.wide else more)
            sample = sample[0], high
        words = philox((*draw, *sample), seed)
        w0, w1, w2, w3 = (to_u32(word) if self.wide else word for word in words)
        return w0, w1, w2, w3


def halves(number: Term) -> tuple[Term, Term]:
    """An int64 as two uint32, the lower half first."""
    return to_u32(number), to_u32(number >> 32)


def to_u32(number: Term) -> Term:
    return number.apply("to_u32", gives=DType.U32)
