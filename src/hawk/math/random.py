"""Random numbers that are functions: of a seed, a draw and the sample's index in its batch.

In a kernel a sample draws from its own numbers. The same seed, draw and sample give the same
number in every batch, at every step count, width and thread: nothing is kept between draws, and
two different draws are independent. What is drawn once is used up: another number needs another
draw, for example `4 * hawk.step_index() + j` for the j-th of four in each step.

A seed and a draw are integers of up to 64 bits, known or not; a seed may be a `Param[Index]`.
`sample` takes the place of the sample's own index, for numbers that several samples share. Outside
of a kernel it has to be given; then a float is a Python float. The bits are those of Philox
4x32-10 (Salmon and others, SC 2011); docs/random.md says how they become numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hawk.ir.types import DType
from hawk.math import distributions
from hawk.math.philox import Stream
from hawk.math.plain import integer_term, plain_number, real_term
from hawk.math.terms import Term

__all__ = [
    "bernoulli",
    "exponential",
    "integers",
    "lognormal",
    "normal",
    "poisson",
    "uniform",
]


def _stream(seed: int, draw: int, sample: int | None) -> Stream:
    if sample is None:
        raise TypeError("outside of a kernel say which sample draws, such as sample=0")
    return Stream(integer_term(seed), integer_term(draw), integer_term(sample))


def _float(write: Callable[..., Term], stream: Stream, **given: float) -> Any:
    values = {name: real_term(value) for name, value in given.items()}
    return plain_number(write(stream, DType.F64, **values))


def uniform(seed: int, draw: int, *, sample: int | None = None) -> float:
    """A number from 0 to below 1, a multiple of 2**-53; of 2**-24 in float32."""
    return _float(distributions.uniform, _stream(seed, draw, sample))


def normal(seed: int, draw: int, *, sample: int | None = None) -> float:
    """A normal number of mean 0 and variance 1, within 8.6; within 6.8 in float32."""
    return _float(distributions.normal, _stream(seed, draw, sample))


def exponential(seed: int, draw: int, *, sample: int | None = None) -> float:
    """An exponential number of mean 1, up to 36.7; up to 22.9 in float32."""
    return _float(distributions.exponential, _stream(seed, draw, sample))


def lognormal(
    seed: int, draw: int, *, mean: float = 0.0, sigma: float = 1.0, sample: int | None = None
) -> float:
    """The exponential of a normal number of this mean and standard deviation."""
    stream = _stream(seed, draw, sample)
    return _float(distributions.lognormal, stream, mean=mean, sigma=sigma)


def bernoulli(seed: int, draw: int, *, p: float, sample: int | None = None) -> bool:
    """True with probability p, a Bool: `uniform(seed, draw) < p`."""
    return bool(_float(distributions.bernoulli, _stream(seed, draw, sample), p=p))


def integers(seed: int, draw: int, *, low: int = 0, high: int, sample: int | None = None) -> int:
    """An Index from `low` to below `high`; each within 2**-64 of the same probability.

    Where `high` is not above `low` it is `low`.
    """
    ends = integer_term(low), integer_term(high)
    return int(plain_number(distributions.integers(_stream(seed, draw, sample), *ends)))


def poisson(seed: int, draw: int, *, mean: float, sample: int | None = None) -> int:
    """How many events there are where `mean` are expected, up to 1e15; an Index.

    By inversion where the mean is below 10, else by Hormann's transformed rejection (PTRS, 1993),
    which takes 1.2 trials as a rule. 0 where the mean is not above 0. Always in float64.
    """
    stream = _stream(seed, draw, sample)
    return int(plain_number(distributions.poisson(stream, real_term(mean))))
