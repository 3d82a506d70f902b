"""A GPU for tests: the driver is made here, see `recorder`."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from eagle.devices.cuda import code, device
from eagle.devices.cuda.array import CudaArray
from eagle.devices.library import Library
from tests.unit.cuda.recorder import Recorder, ptx_of


class TestLibrary(Library[Any]):
    """Arrays on the GPU, and the driver that it is."""

    __test__ = False
    driver: Recorder

    def set_seed(self, seed: int) -> None:
        """Choose the order in which nodes run."""
        self.driver.chance.seed(seed)


@contextmanager
def gpu_of_tests(driver: Recorder | None = None) -> Iterator[TestLibrary]:
    """Inside `with` there is one GPU, whose driver is made here. It was asked for nothing wrong."""
    driver = driver or Recorder()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(code, "ptx_of", ptx_of)
        device.use(driver)
        try:
            library = TestLibrary(device.gpu(0).home, CudaArray)
            library.driver = driver
            yield library
            driver.work.wait()
            assert not driver.wrong
        finally:
            driver.work.wait()
            device.use(None)
