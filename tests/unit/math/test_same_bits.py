"""A function of hawk.math gives the same bits in a kernel of any width and outside of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eagle
import hawk
import hawk.math
from hawk import Index, Mutable, Scalar, Terminated
from hawk.ir.nodes import Plane
from hawk.ir.types import DType
from hawk.passes.pipeline import optimise
from hawk.targets.cpu.compile import compile_function
from hawk.targets.cpu.machine import host
from hawk.targets.cpu.width import usual_work_once, variant
from tests.oracle.batch import Batch, launch
from tests.unit.math.functions import ONE, SPECIAL, TWO, draw


def kernel_of(name: str, arity: int) -> Any:
    function = getattr(hawk.math, name)
    if arity == 1:

        @hawk.kernel
        def one(x: Scalar) -> Scalar:
            return function(x)

        return one

    @hawk.kernel
    def two(x: Scalar, y: Scalar) -> Scalar:
        return function(x, y)

    return two


def columns(name: str, dtype: Any) -> list[Any]:
    """Some numbers of every range, and the special ones."""
    rng = np.random.default_rng(9)
    special = np.array(SPECIAL, dtype=np.float64)
    if name in ONE:
        row = ONE[name]
        ranges = row.wide if dtype is np.float64 else row.narrow
        drawn = [draw(rng, each, 30, positive=row.positive) for each in ranges]
        found = [np.concatenate([*drawn, special])]
    else:
        row = TWO[name]
        pairs = row.wide if dtype is np.float64 else row.narrow
        first = [draw(rng, each, 30, positive=row.positive) for each, _ in pairs]
        second = [draw(rng, each, 30, positive=False) for _, each in pairs]
        shuffled = rng.permutation(special)
        found = [np.concatenate([*first, special]), np.concatenate([*second, shuffled])]
    with np.errstate(all="ignore"):
        return [column.astype(dtype) for column in found]


def bits(numbers: Any) -> list[int]:
    """The bits of floats; all NaN are one."""
    kind = np.int64 if numbers.dtype == np.float64 else np.int32
    return np.where(np.isnan(numbers), np.nan, numbers).astype(numbers.dtype).view(kind).tolist()


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
@pytest.mark.parametrize("name", [*ONE, *TWO])
def test_bits_are_those_of_plain_python(name: str, dtype: Any) -> None:
    given = columns(name, dtype)
    function = getattr(hawk.math, name)
    with np.errstate(all="ignore"):
        rows = zip(*[c if dtype is np.float32 else c.tolist() for c in given], strict=True)
        expected = bits(np.array([function(*row) for row in rows], dtype))
    real = DType.F64 if dtype is np.float64 else DType.F32
    fn = optimise(kernel_of(name, len(given)).trace(real))
    for width, chains in ((1, 1), (2, 1), (4, 2), (8, 1)):
        compiled = compile_function(fn, host(), variant(fn, host(), width, chains))
        out = np.zeros(len(given[0]), dtype)
        arrays = dict(zip(("x", "y"), given, strict=False)) | {"out": out}
        launch(compiled, _batch(fn.planes, arrays), 1)
        assert expected == bits(out), (width, chains)


def _batch(planes: tuple[Plane, ...], arrays: dict[str, Any]) -> Batch:
    assert {plane.name for plane in planes} == set(arrays)
    n = len(arrays["out"])
    return Batch(n, arrays, {}, {})


def test_run_python_gives_the_same_bits() -> None:
    @hawk.kernel
    def step(x: Scalar, y: Scalar) -> tuple[Scalar, Scalar]:
        return hawk.math.sin(x) * hawk.math.exp(-y), x**y + hawk.math.log(2.0)

    x, y = np.linspace(0.1, 9, 23), np.linspace(3, -2, 23)
    first, second = step(x, y)
    slow = hawk.run_python(step, x=x, y=y, steps=1)

    assert bits(first) == bits(slow["out0"])
    assert bits(second) == bits(slow["out1"])


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
def test_some_samples_with_huge_angles_stop_at_their_own_step_with_the_same_bits(
    dtype: Any,
) -> None:
    @hawk.kernel
    def spin(grow: Scalar, x: Mutable[Scalar], left: Mutable[Index], over: Terminated):
        x = hawk.math.sin(x * grow) + hawk.math.cos(x) * grow
        left -= 1
        over = left <= 0

    n = 37
    given = {
        "grow": np.where(np.arange(n) % 5 == 0, 1e6, 1.5).astype(dtype),
        "x": np.linspace(-3, 3, n).astype(dtype),
        "left": np.arange(n, dtype=np.int64) % 6 + 1,
    }
    slow = hawk.run_python(spin, steps=6, **given)
    eagle.simulate(spin, max_steps=6, **given)

    assert bits(slow["x"]) == bits(given["x"])


def test_the_sine_and_the_cosine_of_one_number_share_their_steps() -> None:
    @hawk.kernel
    def sine(x: Scalar) -> Scalar:
        return hawk.math.sin(x)

    @hawk.kernel
    def both(x: Scalar) -> tuple[Scalar, Scalar]:
        return hawk.math.sin(x), hawk.math.cos(x)

    one, two = (usual_work_once(optimise(kernel.trace(DType.F64))) for kernel in (sine, both))
    assert two < 1.25 * one
