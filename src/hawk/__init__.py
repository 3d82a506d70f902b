"""hawk: write one step of one sample as a plain Python function.

    @hawk.kernel
    def fall(g: Param, dt: Param, z: Mutable[Scalar], v: Mutable[Scalar], landed: Terminated):
        v -= g * dt
        z += v * dt
        landed = z <= 0.0

`eagle` runs it over a batch.
"""

from hawk.annotations import Bool, Index, Int32, Mutable, Param, Scalar, Terminated, UInt32
from hawk.errors import HawkError
from hawk.frontend.conversions import float32, float64, index, int32, real, uint32
from hawk.kernel import Kernel, kernel, steps
from hawk.reference import interpret, run_python

__all__ = [
    "Bool",
    "HawkError",
    "Index",
    "Int32",
    "Kernel",
    "Mutable",
    "Param",
    "Scalar",
    "Terminated",
    "UInt32",
    "float32",
    "float64",
    "index",
    "int32",
    "interpret",
    "kernel",
    "real",
    "run_python",
    "steps",
    "uint32",
]
