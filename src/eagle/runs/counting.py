"""A kernel that counts the steps of each sample."""

from __future__ import annotations

from typing import Any

from hawk.ir.types import DType
from hawk.kernel import Kernel
from hawk.passes.count_steps import STEPS_TAKEN
from hawk.targets.base import Compiled

__all__ = ["STEPS_TAKEN", "counting"]


def counting(kernel: Kernel[..., Any]) -> Kernel[..., Any]:
    """The same kernel with one more state plane, `STEPS_TAKEN`, which nobody passes."""
    return _Counting(kernel)


class _Counting(Kernel[..., Any]):
    def __init__(self, kernel: Kernel[..., Any]) -> None:
        # Not Kernel's own: whatever the kernel is, this is the same.
        self.__dict__.update(kernel.__dict__)
        self._kernel = kernel

    def compile(
        self, real: DType, uniform: frozenset[str] = frozenset(), *, count_steps: bool = True
    ) -> Compiled:
        return self._kernel.compile(real, uniform, count_steps=count_steps)

    def ready(self, real: DType) -> None:
        """What its kernel has ready is not this one."""
