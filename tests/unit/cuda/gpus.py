"""A GPU for tests: the driver is made here, see `recorder`."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import eagle
from eagle.devices.cuda import code, device
from eagle.devices.cuda.array import CudaArray
from eagle.devices.library import Library
from tests.unit.cuda import scenarios
from tests.unit.cuda.recorder import Recorder, collective_of, ptx_of

REAL = os.environ.get("EAGLE_TESTS_ON_GPU", "")
"""Set, tests use the first GPU of this machine and its own driver, as scripts/gpu_check.py asks
for; `libcuda.c`: the library made for tests, which is there in the place of the driver."""


class TestLibrary(Library[Any]):
    """Arrays on the GPU, and the driver that it is."""

    __test__ = False
    driver: Recorder

    def over(self, memory: Any) -> CudaArray:
        """Memory of a test as an array of the GPU."""
        self.driver.adopt(memory)
        home: Any = self._home
        return CudaArray(memory, home)

    def set_seed(self, seed: int) -> None:
        """Choose the order in which nodes run."""
        if hasattr(self, "driver"):
            self.driver.chance.seed(seed)


@contextmanager
def gpu_of_tests(driver: Recorder | None = None, *, entered: bool = True) -> Iterator[TestLibrary]:
    """Inside `with` there is one GPU, whose driver is made here. It was asked for nothing wrong.

    Unless `entered`, the GPU is only there, if it is.
    """
    if driver is None and entered and REAL:
        if REAL == "libcuda.c":
            scenarios.library()  # from now on each module is registered there
        yield TestLibrary(device.gpu(0).home, CudaArray)
        return
    driver = driver or Recorder()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(code, "ptx_of", ptx_of)
        patch.setattr(code, "collective_of", collective_of)
        device.use(driver)
        try:
            if entered:
                library = TestLibrary(device.gpu(0).home, CudaArray)
                library.driver = driver
                yield library
            else:
                yield None  # type: ignore[misc]
            driver.work.wait()
            assert not driver.wrong, driver.wrong
        finally:
            driver.work.wait()
            device.use(None)


# -- tests that run on each device -----------------------------------------------------------------


def simulated_only(test: Any) -> Any:
    """Mark a test of what only the simulated device does."""
    test.simulated_only = True
    return test


def made_driver_only(test: Any) -> Any:
    """Mark a test of what real drivers may do in another way."""
    return simulated_only(test) if REAL else test


def parametrize(metafunc: pytest.Metafunc) -> None:
    """Run a test on each device, for `pytest_generate_tests`."""
    if "on_device" in metafunc.fixturenames:
        only = hasattr(metafunc.function, "simulated_only")
        devices = ["simulated"] if only else ["simulated", "cuda"]
        metafunc.parametrize("on_device", devices, indirect=True)


def device_for(names: dict[str, Any]) -> Any:
    """A fixture that gives the name `xp` of a file of tests to the library of a device.

    `WHERE` becomes how messages call that device.
    """

    @pytest.fixture(autouse=True)
    def on_device(request: pytest.FixtureRequest) -> Iterator[None]:
        if request.param == "simulated":
            names["xp"], names["WHERE"] = eagle.xp_for("simulated"), "the simulated device"
            yield
            names["xp"].set_seed(0)
            return
        with gpu_of_tests() as library:
            names["xp"], names["WHERE"] = library, "GPU 0"
            yield
            names.update(xp=None, WHERE="")

    return on_device
