"""Interpolation: NumPy's where it is linear, and the monotone cubics of their definition."""

import math
from typing import Any

import numpy as np
import pytest

import eagle
import hawk
from hawk import Scalar, Table
from hawk.reference import interpret, run_python

ULPS_LINEAR, ULPS_CUBIC = 3, 16
"""In units in the last place of the greatest value there is, or of the interval's."""


@hawk.kernel
def linear(xs: Table[Scalar], ys: Table[Scalar], x: Scalar) -> Scalar:
    return hawk.math.interp(x, xs, ys)


@hawk.kernel
def of_numpy(xs: Table[Scalar], ys: Table[Scalar], x: Scalar) -> Scalar:
    return np.interp(x, xs, ys)


@hawk.kernel
def cubic(xs: Table[Scalar], ys: Table[Scalar], x: Scalar) -> Scalar:
    return hawk.math.interp(x, xs, ys, kind="cubic")


def known(count: int, kind: str) -> Any:
    """A kernel that knows how many knots there are."""

    @hawk.kernel
    def sized(
        xs: Table[Scalar, count],  # pyright: ignore[reportInvalidTypeArguments, reportInvalidTypeForm]
        ys: Table[Scalar, count],  # pyright: ignore[reportInvalidTypeArguments, reportInvalidTypeForm]
        x: Scalar,
    ) -> Scalar:
        return hawk.math.interp(x, xs, ys, kind=kind)

    return sized


def knots(n: int, real: Any = np.float64) -> tuple[Any, Any, Any]:
    """Knots, values, and where to look: at the knots, between, beyond, and at nothing."""
    rng = np.random.default_rng(n)
    xs = np.cumsum(rng.random(n) + 0.01).astype(real)
    ys = (rng.normal(size=n) * 3).astype(real)
    between = rng.uniform(xs[0] - 1, xs[-1] + 1, 500).astype(real)
    return xs, ys, np.concatenate([xs, between, [-np.inf, np.inf, np.nan]]).astype(real)


SIZES = (1, 2, 3, 4, 5, 8, 9, 10, 17, 33, 64, 65, 100)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("real", [np.float64, np.float32])
def test_linear_is_that_of_numpy(n: int, real: Any) -> None:
    xs, ys, x = knots(n, real)
    got, wanted = linear(xs, ys, x), np.interp(x, xs, ys)
    assert np.isnan(got[-1])
    place = (np.searchsorted(xs, x[:-1], side="right") - 1).clip(0, max(n - 2, 0))
    size = np.maximum(abs(ys[place]), abs(ys[np.minimum(place + 1, n - 1)]))
    assert (abs(got - wanted)[:-1] <= ULPS_LINEAR * np.spacing(size)).all()
    assert ys.tolist() == got[:n].tolist()  # at the knots it is exact
    assert got.tobytes() == of_numpy(xs, ys, x).tobytes()


def reference(xs: Any, ys: Any, x: Any) -> Any:
    """The monotone cubic written as the papers do, all derivatives first."""
    n, h = len(xs), np.diff(xs)
    if n == 1:
        return np.full(len(x), ys[0])
    d = np.diff(ys) / h
    m = np.empty(n)
    if n == 2:
        m[:] = d[0]
    else:
        for k in range(1, n - 1):
            a, b = 2 * h[k] + h[k - 1], h[k] + 2 * h[k - 1]
            same = d[k - 1] * d[k] > 0
            m[k] = (a + b) / (a / d[k - 1] + b / d[k]) if same else 0.0
        for end, (i, j) in ((0, (0, 1)), (n - 1, (n - 2, n - 3))):
            value = ((2 * h[i] + h[j]) * d[i] - h[i] * d[j]) / (h[i] + h[j])
            if value * d[i] <= 0:
                value = 0.0
            elif d[i] * d[j] <= 0 and abs(value) > 3 * abs(d[i]):
                value = 3 * d[i]
            m[end] = value
    x = np.clip(x, xs[0], xs[-1])
    k = (np.searchsorted(xs, x, side="right") - 1).clip(0, n - 2)
    t = (x - xs[k]) / h[k]
    return (
        (1 + 2 * t) * (1 - t) ** 2 * ys[k]
        + t * (1 - t) ** 2 * h[k] * m[k]
        + t * t * (3 - 2 * t) * ys[k + 1]
        + t * t * (t - 1) * h[k] * m[k + 1]
    )


@pytest.mark.parametrize("n", SIZES)
def test_cubic_is_that_of_its_definition(n: int) -> None:
    xs, ys, x = knots(n)
    got, wanted = cubic(xs, ys, x), reference(xs, ys, x)
    assert np.isnan(got[-1])
    assert (abs(got - wanted)[:-1] <= ULPS_CUBIC * np.spacing(abs(ys).max())).all()
    assert ys.tolist() == got[:n].tolist()


def test_cubic_is_that_of_scipy() -> None:
    scipy = pytest.importorskip("scipy.interpolate")
    for n in SIZES[1:]:
        xs, ys, x = knots(n)
        wanted = scipy.PchipInterpolator(xs, ys)(x[:-3].clip(xs[0], xs[-1]))
        got = cubic(xs, ys, x)[:-3]
        assert (abs(got - wanted) <= ULPS_CUBIC * np.spacing(abs(ys).max())).all()


def test_cubic_turns_nowhere_but_at_knots() -> None:
    xs = np.array([0.0, 1.0, 2.0, 3.0, 10.0])
    ys = np.array([0.0, 0.0, 1.0, 1.0, 5.0])
    x = np.linspace(0.0, 10.0, 5001)
    assert (np.diff(cubic(xs, ys, x)) >= 0).all()


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("kind", ["linear", "cubic"])
def test_a_known_length_gives_the_same_bits(n: int, kind: str) -> None:
    xs, ys, x = knots(n)
    free = {"linear": linear, "cubic": cubic}[kind]
    assert np.array_equal(known(n, kind)(xs, ys, x), free(xs, ys, x), equal_nan=True)


@pytest.mark.parametrize("n", [1, 2, 3, 9, 64])
@pytest.mark.parametrize("real", [np.float64, np.float32])
def test_both_oracles_agree(n: int, real: Any) -> None:
    xs, ys, x = knots(n, real)
    x = np.concatenate([x[: n + 20], x[-3:]])
    for kernel in (linear, cubic, known(n, "linear"), known(n, "cubic")):
        first, second = run_python(kernel, xs, ys, x)["out"], interpret(kernel, xs, ys, x)["out"]
        got = kernel(xs, ys, x)
        assert np.array_equal(first, second, equal_nan=True)
        assert np.array_equal(first, got, equal_nan=True)


def test_it_can_be_called_with_numbers() -> None:
    xs, ys, _ = knots(9)
    for x in (xs[0] - 1, 0.5 * (xs[2] + xs[3]), xs[4], xs[-1] + 1):
        assert linear(xs, ys, np.array([x]))[0] == hawk.math.interp(x, xs, ys)
        assert cubic(xs, ys, np.array([x]))[0] == hawk.math.interp(x, xs, ys, kind="cubic")
    assert math.isnan(hawk.math.interp(math.nan, [1.0], [2.0]))
    with pytest.raises(ValueError, match='kind is "linear" or "cubic"'):
        hawk.math.interp(1.0, [1.0], [2.0], kind="square")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="2 knots and 1 values"):
        hawk.math.interp(1.0, [1.0, 2.0], [2.0])
    with pytest.raises(TypeError, match="one row of numbers"):
        hawk.math.interp(1.0, [], [])


def test_infinite_values_are_as_numpy_has_them() -> None:
    xs, ys = np.arange(6.0), np.array([1.0, np.inf, np.inf, 2.0, -np.inf, 0.0])
    x = np.array([0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0])
    assert np.interp(x, xs, ys).tolist() == linear(xs, ys, x).tolist()


def test_as_many_values_as_knots_are_needed() -> None:
    message = "'ys': has 4 elements, and 'xs' has 3; the kernel needs as many"
    with pytest.raises(eagle.BindError, match=message):
        eagle.deploy(linear).bind(xs=np.zeros(3), ys=np.zeros(4), x=np.zeros(2))
    with pytest.raises(eagle.BindError, match=message):
        linear(np.zeros(3), np.zeros(4), np.zeros(2))
