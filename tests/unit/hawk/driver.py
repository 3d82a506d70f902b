"""Run a compiled kernel on arrays, without eagle: the least that a launch needs."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from hawk.checks import watching
from hawk.ir.hidden import N_SAMPLES
from hawk.ir.nodes import Role
from hawk.ir.types import DType
from hawk.kernel import Kernel
from hawk.targets.base import HEADER, Word, new_block, raw_word


class Run:
    """A kernel with an array for each plane, to launch once or often."""

    def __init__(self, kernel: Kernel[..., Any], *, real: DType = DType.F64, **given: Any) -> None:
        self.kernel = kernel
        numbers = {p.name for p in kernel.parameters if p.role is Role.INPUT}
        uniform = frozenset(n for n in numbers & given.keys() if not np.ndim(given[n]))
        self.compiled = kernel.compile(real, uniform)
        self.n = max((len(each) for each in given.values() if np.ndim(each)), default=1)
        self.planes: list[Any] = []
        for slot in self.compiled.planes:
            if slot.role is Role.UNIFORM:
                number = self.n if slot.name == N_SAMPLES else given[slot.name]
                self.planes.append(raw_word(number, slot.dtype))
            elif slot.role is Role.INDEX:
                self.planes.append(0)
            else:
                value = given.get(slot.name, 0)
                array = np.broadcast_to(np.asarray(value, slot.dtype.numpy), (self.n,)).copy()
                self.planes.append(array)

    def __getitem__(self, name: str) -> Any:
        names = [slot.name for slot in self.compiled.planes]
        return self.planes[names.index(name)]

    def launch(self, steps: int = 1) -> None:
        """Take steps, and tell what the checks saw."""
        block = new_block(len(self.planes))
        block[Word.END], block[Word.STEPS], block[Word.PIECE] = self.n, steps, 64
        block[HEADER:] = [p if isinstance(p, int) else p.ctypes.data for p in self.planes]
        with watching(self.kernel, self.compiled, self.planes):
            self.compiled.entry(ctypes.addressof(block))


def run(kernel: Kernel[..., Any], *, steps: int = 1, real: DType = DType.F64, **given: Any) -> Run:
    """Launch once."""
    made = Run(kernel, real=real, **given)
    made.launch(steps)
    return made
