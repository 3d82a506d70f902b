"""hawk: write one step of one sample as a plain Python function.

    @hawk.kernel
    def fall(g: Param, dt: Param, z: Mutable[Scalar], v: Mutable[Scalar], terminated: Terminated):
        v -= g * dt
        z += v * dt
        terminated = z <= 0.0

`eagle` runs it over a batch.
"""

from hawk.annotations import Bool, Index, Int32, Mutable, Param, Scalar, Terminated, UInt32
from hawk.errors import HawkError
from hawk.kernel import Kernel, kernel, steps

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
    "kernel",
    "steps",
]
