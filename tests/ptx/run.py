"""Runs the PTX of a program on a batch, as a launch of its kernel would."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hawk.ir.nodes import ARRAYS, TABLES, WRITTEN, Plane, Role
from tests.oracle.batch import Batch
from tests.ptx.machine import launch
from tests.ptx.parse import Module


def locked(array: NDArray[Any]) -> NDArray[Any]:
    """The array, as one that may only be read."""
    seen = array.view()
    seen.setflags(write=False)
    return seen


def arguments(planes: Sequence[Plane], batch: Batch) -> list[Any]:
    """What a kernel is given for its planes."""
    given: list[Any] = []
    for plane in planes:
        if plane.role in ARRAYS:
            array = batch.arrays[plane.name]
            given.append(array if plane.role in WRITTEN else locked(array))
        elif plane.role in TABLES:
            given.append(locked(batch.tables[plane.name].reshape(-1)))
        elif plane.role is Role.UNIFORM:
            with np.errstate(all="ignore"):
                given.append(np.array(batch.numbers[plane.name], plane.dtype.numpy)[()])
    return given


def run(
    text: str | Module,
    planes: Sequence[Plane],
    batch: Batch,
    steps: int,
    *,
    blocks: int = 1,
    threads: int = 32,
    seed: int | None = None,
) -> None:
    """Launch the one kernel of a module on a batch: each sample takes at most `steps` steps."""
    given = [*arguments(planes, batch), np.int64(batch.n), np.int64(steps)]
    launch(text, given, blocks=blocks, threads=threads, seed=seed)
