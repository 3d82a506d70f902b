"""Random numbers: bits of the published generator, the right distributions, the same anywhere."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import eagle
import hawk
from hawk import Bool, Index, Int32, Mutable, Param, Scalar, Terminated
from hawk.ir.types import DType
from hawk.math import random
from hawk.math.philox import philox
from hawk.math.plain import integer_term, plain_number
from hawk.passes.pipeline import optimise
from hawk.reference import interpret, run_python
from hawk.targets.cpu.compile import compile_function
from hawk.targets.cpu.width import variant
from tests.oracle.batch import Batch, launch
from tests.unit.targets.machines import runnable

MANY = 10**6
WIDTHS = [np.float64, np.float32]

PUBLISHED = [
    ([0] * 4, [0] * 2, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    (
        [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
        [0xA4093822, 0x299F31D0],
        "d16cfe09 94fdcceb 5001e420 24126ea1",
    ),
]
"""Counter, key and result: the known answers of Random123 for philox4x32-10."""


@pytest.mark.parametrize(("counter", "key", "words"), PUBLISHED)
@pytest.mark.parametrize("lanes", [DType.U32, DType.I64])
def test_the_generator_gives_the_published_bits(
    counter: list[int], key: list[int], words: str, lanes: DType
) -> None:
    def term(number: int) -> Any:
        return integer_term(number).apply(f"to_{lanes.value}", gives=lanes)

    result = philox(tuple(map(term, counter)), tuple(map(term, key)))  # type: ignore[arg-type]
    assert [int(word, 16) for word in words.split()] == [plain_number(word) for word in result]


@hawk.kernel
def uniforms(seed: Param[Index], draw: Index, x: Scalar) -> Scalar:
    return random.uniform(seed, draw) + x


@hawk.kernel
def normals(seed: Param[Index], draw: Index, x: Scalar) -> Scalar:
    return random.normal(seed, draw) + x


@hawk.kernel
def exponentials(seed: Param[Index], draw: Index, x: Scalar) -> Scalar:
    return random.exponential(seed, draw) + x


@hawk.kernel
def lognormals(seed: Param[Index], draw: Index, x: Scalar) -> Scalar:
    return random.lognormal(seed, draw, mean=0.5, sigma=0.75) + x


@hawk.kernel
def integers(seed: Param[Index], draw: Index, low: Index, high: Index) -> Index:
    return random.integers(seed, draw, low=low, high=high)


@hawk.kernel
def dice(seed: Param[Index], draw: Index, x: Scalar) -> Index:
    return random.integers(seed, draw, low=1, high=7)


@hawk.kernel
def flips(seed: Param[Index], draw: Index, x: Scalar) -> Bool:
    return random.bernoulli(seed, draw, p=0.3)


@hawk.kernel
def counts(seed: Param[Index], draw: Index, mean: Scalar) -> Index:
    return random.poisson(seed, draw, mean=mean)


def phi(z: Any) -> Any:
    """The distribution of normal numbers."""
    return 0.5 * np.vectorize(math.erfc)(-z / math.sqrt(2.0))


CONTINUOUS: dict[str, tuple[Any, Callable[[Any], Any], float, float]] = {
    "uniform": (uniforms, lambda x: x, 0.5, 1 / 12),
    "normal": (normals, phi, 0.0, 1.0),
    "exponential": (exponentials, lambda x: 1 - np.exp(-x), 1.0, 1.0),
    "lognormal": (
        lognormals,
        lambda x: phi((np.log(x) - 0.5) / 0.75),
        math.exp(0.5 + 0.75**2 / 2),
        math.exp(1.0 + 0.75**2) * (math.exp(0.75**2) - 1),
    ),
}
"""The kernel, its distribution function, mean and variance."""


def given(n: int = MANY, real: Any = np.float64, draw: int = 0) -> tuple[Any, Any]:
    return np.full(n, draw), np.zeros(n, real)


@pytest.mark.parametrize("real", WIDTHS)
@pytest.mark.parametrize("name", CONTINUOUS)
@pytest.mark.parametrize("along", ["samples", "draws"])
def test_a_million_numbers_are_distributed_as_they_should_be(
    name: str, real: Any, along: str
) -> None:
    kernel, distribution, mean, variance = CONTINUOUS[name]
    draw, zero = given(real=real, draw=3)
    if along == "draws":  # all of one sample
        draw = np.arange(MANY)
    x = np.sort(kernel(5, draw, zero)).astype(np.float64)
    # Kolmogorov and Smirnov: one in a thousand is further off than 1.95.
    due = distribution(x)
    steps = np.arange(MANY + 1) / MANY
    off = max(np.max(abs(due - steps[1:])), np.max(abs(due - steps[:-1])))
    assert off * math.sqrt(MANY) < 1.95
    assert abs(x.mean() - mean) < 4 * math.sqrt(variance / MANY)
    fourth = np.mean((x - mean) ** 4)
    assert abs(x.var() - variance) < 4 * math.sqrt((fourth - variance**2) / MANY)


def fits(seen: Any, expected: Any) -> bool:
    """Pearson's test; one in 10,000 is further off."""
    enough = expected >= 10
    pairs = (seen[enough], expected[enough])
    rest = expected[~enough].sum()
    total = (((pairs[0] - pairs[1]) ** 2) / pairs[1]).sum()
    freedom = enough.sum() - 1
    if rest > 0:
        total += (seen[~enough].sum() - rest) ** 2 / rest
        freedom += 1
    return total < freedom + 3.8 * math.sqrt(2 * freedom) + 8


@pytest.mark.parametrize("mean", [0.01, 0.5, 3.0, 9.99, 10.0, 12.5, 30.0, 100.0, 1000.0])
@pytest.mark.parametrize("real", WIDTHS)
def test_counts_are_poissons(mean: float, real: Any) -> None:
    draw, _ = given(draw=11)
    held = float(real(mean))
    k = counts(2, draw, np.full(MANY, mean, real))
    seen = np.bincount(k)
    logs = np.array([i * math.log(held) - held - math.lgamma(i + 1) for i in range(len(seen))])
    assert fits(seen, MANY * np.exp(logs))
    assert abs(k.mean() - held) < 4 * math.sqrt(held / MANY)


@pytest.mark.parametrize("mean", [1e6, 1e12])
def test_large_counts_are_normal(mean: float) -> None:
    draw, zero = given(draw=12)
    z = np.sort((counts(2, draw, zero + mean) - mean) / math.sqrt(mean))
    off = np.max(abs(phi(z) - (np.arange(MANY) + 0.5) / MANY))
    assert off * math.sqrt(MANY) < 1.95 + 1.0 * (mean < 1e9)  # a lattice, and somewhat skew


def test_counts_of_strange_means() -> None:
    means = np.array([0.0, -1.0, math.nan, -math.inf])
    assert [0, 0, 0, 0] == counts(1, np.zeros(4, np.int64), means).tolist()
    assert abs(counts(1, np.zeros(1, np.int64), np.array([1e15]))[0] - 10**15) < 10**9


def test_integers_are_equally_likely() -> None:
    draw, zero = given()
    seen = np.bincount(dice(9, draw, zero), minlength=7)
    assert seen[0] == 0
    assert fits(seen[1:], np.full(6, MANY / 6))
    low, high = np.full(MANY, -(2**63)), np.full(MANY, 2**63 - 1)
    far = integers(9, draw, low, high)
    assert fits(np.bincount((far >> 60) + 8), np.full(16, MANY / 16))
    several = integers(9, draw, low, low + 3 * 2**40)
    assert fits(np.bincount((several - low) >> 40), np.full(3, MANY / 3))


def test_integers_of_an_empty_range_are_its_begin() -> None:
    low, high = np.array([5, 5, -(2**63)]), np.array([5, 4, -(2**63)])
    assert low.tolist() == integers(9, np.zeros(3, np.int64), low, high).tolist()


def test_a_product_of_128_bits_is_exact() -> None:
    ends = [
        (0, 2**63 - 1),
        (-5, 2**40 + 3),
        (-(2**63), 2**63 - 1),
        (7, 8),
        (0, 2**32),
        (3, 2**32 + 9),
    ]
    for sample, (low, high) in enumerate(ends):
        words = [0, 0, 0, 0]
        state = philox(
            tuple(term32(each) for each in (4, 0, sample, 0)),  # type: ignore[arg-type]
            (term32(9), term32(0)),
        )
        words = [plain_number(word) for word in state]
        due = low + ((words[1] << 32 | words[0]) * (high - low) >> 64)
        assert due == random.integers(9, 4, low=low, high=high, sample=sample)


def term32(number: int) -> Any:
    return integer_term(number).apply("to_u32", gives=DType.U32)


def test_flips_have_their_probability() -> None:
    draw, zero = given()
    assert abs(flips(1, draw, zero).mean() - 0.3) < 4 * math.sqrt(0.21 / MANY)


@pytest.mark.parametrize("kernel", [uniforms, normals])
def test_neighbours_are_independent(kernel: Any) -> None:
    """In samples, draws and seeds: no correlation, and none of the squares."""
    n = 200_000
    draw, zero = given(n)
    one = kernel(5, draw, zero)
    others = [
        np.roll(one, 1),
        np.roll(one, 64),
        kernel(5, draw + 1, zero),
        kernel(5, draw + 2**32, zero),
        kernel(6, draw, zero),
        kernel(5 + 2**32, draw, zero),
        kernel(-5, draw, zero),
    ]
    for other in others:
        for power in (1, 2):
            a, b = (each - each.mean() for each in (one**power, other**power))
            correlation = (a * b).mean() / (a.std() * b.std())
            assert abs(correlation) < 4 / math.sqrt(n)


def test_all_bits_of_seed_draw_and_sample_count() -> None:
    base = random.uniform(5, 7, sample=9)
    changed = [
        random.uniform(*(((5, 7)[i] ^ (1 << bit)) if i == which else (5, 7)[i] for i in (0, 1)),
                       sample=9 ^ (1 << bit) if which == 2 else 9)
        for which in (0, 1, 2)
        for bit in range(62)
    ]  # fmt: skip
    assert len({base, *changed}) == 1 + len(changed)
    assert random.uniform(2**64 - 1, 0, sample=0) == random.uniform(-1, 0, sample=0)


@hawk.kernel
def everything(
    seed: Param[Index], draw: Int32, p: Scalar, mean: Scalar, x: Mutable[Scalar], k: Mutable[Index]
) -> Bool:
    d = draw * 5
    x += random.uniform(seed, d) + random.normal(seed, d + 1) * random.exponential(seed, d + 2)
    k += random.integers(seed, d + 3, low=-4, high=10**6) + random.poisson(seed, d + 4, mean=mean)
    x = x * random.lognormal(3, hawk.step_index(), mean=p, sigma=0.5, sample=hawk.n_samples())
    return random.bernoulli(2**63 + 5, hawk.step_index(), p=p)


@pytest.mark.parametrize("real", WIDTHS)
def test_both_oracles_and_all_widths_agree(real: Any) -> None:
    n = 24
    rng = np.random.default_rng(3)
    planes: dict[str, Any] = {
        "draw": rng.integers(-9, 9, n).astype(np.int32),
        "p": rng.random(n).astype(real),
        "mean": (rng.random(n) * 20).astype(real),
        "x": np.zeros(n, real),
        "k": np.zeros(n, np.int64),
    }
    first = run_python(everything, 12, steps=2, **planes)
    second = interpret(everything, 12, steps=2, **planes)
    copies = {name: array.copy() for name, array in planes.items()}
    out = hawk.steps(everything, 2)(12, **copies)
    for name, got in (("x", copies["x"]), ("k", copies["k"]), ("out", out)):
        assert first[name].tobytes() == second[name].tobytes() == got.tobytes()
    width_of = DType.F64 if real is np.float64 else DType.F32
    fn = optimise(everything.trace(width_of))
    for host in runnable().values():
        for width in (1, 2, 4, 8):
            compiled = compile_function(fn, host, variant(fn, host, width, 1))
            batch = Batch.of(compiled.planes, planes, {"seed": 12})
            launch(compiled, batch, 2, piece=5)
            for name in ("x", "k", "out"):
                assert first[name].tobytes() == batch.arrays[name].tobytes()


@pytest.mark.parametrize("name", random.__all__)
def test_outside_of_a_kernel_the_same_numbers_come(name: str) -> None:
    function: Any = getattr(random, name)
    more = {"bernoulli": {"p": 0.4}, "integers": {"high": 99}, "poisson": {"mean": 14.5}}
    keywords: dict[str, Any] = more.get(name, {})

    def body(seed: Param[Index], x: Scalar) -> Scalar:
        return float(function(seed, 3, **keywords)) + x

    numbers = hawk.kernel(body)(8, np.zeros(6)).tolist()
    assert numbers == [float(function(8, 3, sample=i, **keywords)) for i in range(6)]


def test_numbers_need_a_sample_outside_of_a_kernel() -> None:
    with pytest.raises(TypeError, match="say which sample draws, such as sample=0"):
        random.uniform(1, 2)
    with pytest.raises(OverflowError, match="more than 64 bits"):
        random.uniform(2**64, 2, sample=0)


@hawk.kernel
def wander(seed: Param[Index], x: Mutable[Scalar], away: Terminated):
    x += random.normal(seed, hawk.step_index())
    away = abs(x) > 6.0


def test_a_run_gives_the_same_bits_however_it_is_made() -> None:
    n, results = 3001, []
    for steps in (1, 3, 16, "auto"):
        x = np.zeros(n)
        eagle.run_until_done(hawk.steps(wander, steps), max_steps=300, seed=4, x=x)
        results.append(x)
    for threads in (1, 2):
        x = np.zeros(n)
        eagle.simulate(wander, max_steps=300, seed=4, x=x, threads=threads, every=7)
        results.append(x)
    x = np.zeros(n)
    bound = eagle.deploy(wander).bind(seed=4, x=x)
    active = eagle.ActiveSet(bound.finished)
    for _ in range(300):
        if not active.compact():
            break
        bound.launch(active=active)
    results.append(x)
    assert all(results[0].tobytes() == each.tobytes() for each in results)


def test_a_part_of_a_batch_has_its_own_numbers() -> None:
    draw, zero = given(100)
    assert uniforms(5, draw, zero)[:50].tolist() == uniforms(5, draw[:50], zero[:50]).tolist()


def test_a_set_that_moves_samples_is_refused() -> None:
    x = np.zeros(64)
    bound = eagle.deploy(wander).bind(seed=1, x=x)
    active = eagle.ActiveSet(bound.finished, reorder=0.5, planes=(x,))
    with pytest.raises(ValueError, match="or for random numbers, which belongs to a place"):
        bound.launch(active=active)


@pytest.mark.parametrize("real", WIDTHS)
def test_numbers_stay_within_their_ends(real: Any) -> None:
    draw, zero = given(real=real)
    x = uniforms(5, draw, zero)
    assert (x >= 0).all()
    assert (x < 1).all()
    scale = 2.0**53 if real is np.float64 else 2.0**24
    assert np.array_equal(x.astype(float) * scale, np.rint(x.astype(float) * scale))
    assert np.isfinite(normals(5, draw, zero)).all()
    assert (exponentials(5, draw, zero) >= 0).all()
