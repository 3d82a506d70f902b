"""hawk: write one step of one sample as a plain Python function.

    @hawk.kernel
    def fall(g: Param, dt: Param, z: Mutable[Scalar], v: Mutable[Scalar], landed: Terminated):
        v -= g * dt
        z += v * dt
        landed = z <= 0.0

`eagle` runs it over a batch.
"""

from typing import TYPE_CHECKING, Any

from hawk.annotations import (
    Bool,
    Grid,
    Index,
    Int32,
    Matrix,
    Mutable,
    Param,
    Quat,
    Scalar,
    Table,
    Terminated,
    UInt32,
    Vector,
)
from hawk.errors import HawkError
from hawk.frontend.conversions import float32, float64, index, int32, real, uint32
from hawk.frontend.debug import debug
from hawk.frontend.places import n_samples, sample_index, step_index
from hawk.kernel import Kernel, kernel, steps

# `hawk.math` and `hawk.sum` and its like are not among them: `from hawk import *` must not replace
# the module `math` and Python's own `sum`.
__all__ = [
    "Bool",
    "CheckError",
    "CheckWarning",
    "Grid",
    "HawkError",
    "Index",
    "Int32",
    "Kernel",
    "Matrix",
    "Mutable",
    "Param",
    "Quat",
    "Scalar",
    "Table",
    "Terminated",
    "UInt32",
    "Vector",
    "debug",
    "float32",
    "float64",
    "index",
    "int32",
    "interpret",
    "kernel",
    "n_samples",
    "real",
    "run_python",
    "sample_index",
    "step_index",
    "steps",
    "uint32",
]

if TYPE_CHECKING:
    from hawk import math as math
    from hawk.checks import CheckError, CheckWarning
    from hawk.collective import all as all
    from hawk.collective import any as any
    from hawk.collective import argmax as argmax
    from hawk.collective import argmin as argmin
    from hawk.collective import max as max
    from hawk.collective import mean as mean
    from hawk.collective import min as min
    from hawk.collective import scatter as scatter
    from hawk.collective import sum as sum
    from hawk.reference import interpret, run_python


_COLLECTIVE = ("all", "any", "argmax", "argmin", "max", "mean", "min", "scatter", "sum")


def __getattr__(name: str) -> Any:
    # For looking closely, so who only runs kernels need not wait for them to load.
    if name in ("interpret", "run_python"):
        from hawk import reference

        return getattr(reference, name)
    if name in ("CheckError", "CheckWarning"):
        from hawk import checks

        return getattr(checks, name)
    if name in _COLLECTIVE:
        from hawk import collective

        return getattr(collective, name)
    if name == "math":
        from importlib import import_module

        return import_module("hawk.math")
    raise AttributeError(f"module 'hawk' has no attribute {name!r}")
