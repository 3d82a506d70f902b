"""Where graphs of a test run: the host, the simulated device, a GPU with a driver made here."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import eagle
from tests.unit.cuda.gpus import gpu_of_tests


@pytest.fixture(params=["simulated", "cuda"])
def device_library(request: pytest.FixtureRequest) -> Iterator[Any]:
    """The library of each device."""
    if request.param == "simulated":
        yield eagle.xp_for("simulated")
        eagle.xp_for("simulated").set_seed(0)
    else:
        with gpu_of_tests() as library:
            yield library


@pytest.fixture(params=["host", "simulated", "cuda"])
def library(request: pytest.FixtureRequest) -> Iterator[Any]:
    """The library of each device, and NumPy."""
    if request.param == "host":
        yield np
    elif request.param == "simulated":
        yield eagle.xp_for("simulated")
    else:
        with gpu_of_tests() as library:
            yield library
