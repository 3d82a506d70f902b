"""Run a kernel in every slow way there is, and see that the bits are the same."""

from __future__ import annotations

from typing import Any

import numpy as np

from hawk.ir.types import DType
from hawk.ir.verify import verify
from hawk.kernel import Kernel
from hawk.reference import interpret, run_python


def agree(kernel: Kernel[..., Any], *args: Any, steps: int = 1, **planes: Any) -> dict[str, Any]:
    """The results of the traced program, after comparing them with CPython's."""
    verify(kernel.trace(DType.F64))
    verify(kernel.trace(DType.F32))
    ours = interpret(kernel, *args, steps=steps, **planes)
    theirs = run_python(kernel, *args, steps=steps, **planes)
    assert list(ours) == list(theirs)
    for name in ours:
        assert same_bits(ours[name], theirs[name]), f"{name}: {ours[name]} != {theirs[name]}"
    return ours


def agree_with_plain_python(kernel: Kernel[..., Any], *args: Any) -> dict[str, Any]:
    """As `agree`, and the undecorated function on plain floats and ints gives the same."""
    ours = agree(kernel, *args)
    samples = zip(*(np.asarray(arg).tolist() for arg in args), strict=True)
    plain = [kernel.__wrapped__(*sample) for sample in samples]
    columns = [plain] if kernel.nesting == "one" else list(zip(*plain, strict=True))
    for output, column in zip(kernel.outputs, columns, strict=True):
        expected = np.array(column, dtype=ours[output.name].dtype)
        assert same_bits(ours[output.name], expected), f"{ours[output.name]} != {expected}"
    return ours


def same_bits(a: Any, b: Any) -> bool:
    """Bit for bit; any NaN equals any NaN."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    nan = np.isnan(a) & np.isnan(b) if a.dtype.kind == "f" else np.zeros(a.shape, bool)
    return a[~nan].tobytes() == b[~nan].tobytes()
