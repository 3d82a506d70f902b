"""The walker and CPython agree, bit for bit, on kernels nobody would write."""

import math

import numpy as np
import pytest

import hawk
from hawk import Bool, HawkError, Index, Int32, Mutable, Param, Scalar, Terminated
from hawk.ir.types import DType
from hawk.ir.verify import verify
from hawk.reference import interpret, run_python
from tests.unit.frontend.random_kernels import Maker, compiled

NAMES = {
    "hawk": hawk, "math": math, "np": np, "Bool": Bool, "Index": Index, "Int32": Int32,
    "Mutable": Mutable, "Param": Param, "Scalar": Scalar, "Terminated": Terminated,
}  # fmt: skip
X = np.array([-2.5, -1.0, 0.0, 0.3, 1.0, 7.75])
N = np.arange(-2, 4)


def agrees(seed: int, dtype: str) -> bool:
    """Whether both ways give the same bits; False where the kernel is refused."""
    text = Maker(seed).text()
    kernel = hawk.kernel(compiled(text, seed, NAMES), dtype=dtype)
    try:
        verify(kernel.trace(DType.F32 if dtype == "float32" else DType.F64))
    except HawkError:
        return False
    planes = {
        "x": X,
        "i": N,
        "b": X > 0.1,
        "p": 1.3,
        "y": X[::-1] * 0.7,
        "j": N[::-1] * 3,
        "c": N * 70001,
    }
    ours = interpret(kernel, **planes, steps=2)
    theirs = run_python(kernel, **planes, steps=2)
    for name, values in ours.items():
        assert np.array_equal(values, theirs[name], equal_nan=values.dtype.kind == "f"), (
            f"{name}: {values} != {theirs[name]}\n{text}"
        )
        if values.dtype.kind == "f":
            numbers = ~np.isnan(values)
            signs = np.signbit(values) == np.signbit(theirs[name])
            assert signs[numbers].all(), f"{name}: {values} != {theirs[name]}\n{text}"
    return True


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_random_kernels_give_the_same_bits_under_cpython(dtype: str, programs: int) -> None:
    seeds = range(programs // 4)
    taken = [agrees(seed, dtype) for seed in seeds]
    assert sum(taken) > len(seeds) // 4  # the rest mixes types and is refused
