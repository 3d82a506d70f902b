"""The hand-written arms of a workload, called from Python."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np

from benchmarks.limit.build import library
from benchmarks.limit.workloads import Array, Workload

SHARED = 8  # as in job.hpp
LIBMVEC = (
    "pendulum",
    "regimes",
    "kepler",
)  # sin, exp and pow of vectors, whose last bits are not libm's


class Limit:
    """All arms of one workload on this machine. Raises `NoLimit` where they cannot be compiled."""

    def __init__(self, workload: Workload) -> None:
        self.workload = workload
        self._library = library(workload.source)
        self._library.limit_arm_name.restype = ctypes.c_char_p
        count = self._library.limit_arm_count()
        self.names = [self._library.limit_arm_name(i).decode() for i in range(count)]
        self.vector_bits = 8 * self._library.limit_vector_bytes()

    def is_exact(self, name: str) -> bool:
        """Whether the arm does the scalar arm's arithmetic, and so must have its bits."""
        if name in {"scalar", "plain"}:
            return True
        return "fast" not in name and self.workload.source not in LIBMVEC

    def runner(
        self, name: str, state: list[Array], done: Array, *, threads: int, cap: int | None = None
    ) -> Callable[[], None]:
        """A function that takes `state` to its end in place and writes `done`."""
        entry = getattr(self._library, f"limit_run_{self.workload.dtype.name}")
        entry.restype = None
        inputs = self.workload.inputs
        shared = np.zeros(SHARED)
        shared[: len(self.workload.shared)] = self.workload.shared
        arguments = (
            ctypes.c_int(self.names.index(name)),
            ctypes.c_int64(self.workload.samples),
            ctypes.c_int64(self.workload.max_steps if cap is None else cap),
            _pointers(state),
            _pointers(inputs),
            ctypes.c_void_p(shared.ctypes.data),
            ctypes.c_void_p(done.ctypes.data),
            ctypes.c_int(threads),
        )

        def run(keep: object = (state, done, inputs, shared)) -> None:
            entry(*arguments)

        return run


def _pointers(planes: list[Array]) -> ctypes.Array[ctypes.c_void_p]:
    return (ctypes.c_void_p * max(1, len(planes)))(*[plane.ctypes.data for plane in planes])
