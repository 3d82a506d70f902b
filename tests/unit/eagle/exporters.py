"""Arrays of libraries that are not installed here: NumPy's in disguise."""

from typing import Any

import numpy as np
import pytest

needs_versions = pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.1.0",
    reason="needs NumPy 2.1: before, what comes by DLPack is read-only",
)


def exported(array: Any, asked: dict[str, Any]) -> Any:
    """What NumPy gives in the protocol that is asked for."""
    version = asked.get("max_version")
    return array.__dlpack__() if version is None else array.__dlpack__(max_version=version)


class Exporter:
    """An array that gives its memory by DLPack, and says if it may not be written."""

    DEVICE = (1, 0)

    def __init__(self, array: Any) -> None:
        self.array = array
        self.dtype, self.shape = array.dtype, array.shape

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.DEVICE

    def __dlpack__(self, **asked: Any) -> Any:
        # Whoever does not forbid it gets a copy.
        array = self.array if asked.get("copy") is False else self.array.copy()
        return exported(array, asked)


class VersionedExporter(Exporter):
    """One that knows the newer protocol, but not all of it."""

    def __dlpack__(self, **asked: Any) -> Any:
        if asked.keys() - {"stream", "max_version"}:
            raise TypeError("what is that?")
        return exported(self.array, asked)


class OldExporter(Exporter):
    """One that knows the oldest protocol only, which cannot say whether it may be written."""

    def __dlpack__(self, **asked: Any) -> Any:
        if asked.keys() - {"stream"}:
            raise TypeError("what is that?")
        return self.array.__dlpack__()


class GpuExporter(Exporter):
    """An array on a GPU."""

    DEVICE = (2, 1)

    def __dlpack__(self, **asked: Any) -> Any:
        raise AssertionError("nobody may ask for this memory")


class BrokenExporter(Exporter):
    """An array whose memory cannot be had."""

    def __dlpack__(self, **asked: Any) -> Any:
        raise BufferError("it is compressed")


class CudaArray:
    """An array that says where it is as numba's do."""

    dtype, shape = np.dtype(np.float64), (4,)

    @property
    def __cuda_array_interface__(self) -> Any:
        raise AssertionError("nobody may ask for this memory")


class Column:
    """A column of a table, which NumPy can make an array of."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.array, dtype)
