"""Where arrays can live."""

from typing import Any

import numpy as np
import pytest

import eagle
from tests.unit.cuda.gpus import gpu_of_tests
from tests.unit.cuda.recorder import Recorder


def test_arrays_on_the_cpu_are_numpys() -> None:
    assert np is eagle.xp_for("cpu")


def test_the_simulated_device_has_a_library_of_its_own() -> None:
    xp = eagle.xp_for("simulated")
    assert xp.zeros(3).device == "simulated"
    assert xp.zeros(3).shape == np.zeros(3).shape


def test_a_gpu_has_a_library_too() -> None:
    with gpu_of_tests():
        assert eagle.gpu_available()
        xp = eagle.xp_for("gpu")
        assert "<array on GPU 0: float64 (3,)>" == repr(xp.ones(3))
        assert [1.0, 1.0] == xp.asnumpy(xp.ones(2)).tolist()


def test_without_a_gpu_it_is_said_why() -> None:
    with gpu_of_tests(Recorder(gpus=0), entered=False):
        assert not eagle.gpu_available()
        with pytest.raises(ValueError, match="GPU 0 is asked for, and there is none") as caught:
            eagle.xp_for("gpu")
        assert 'write: eagle.xp_for("cpu")' in str(caught.value)


@pytest.mark.parametrize(
    ("device", "said"),
    [
        ("tpu", 'expected "cpu", "gpu" or "simulated", got \'tpu\''),
        (None, 'expected "cpu", "gpu" or "simulated", got None'),
    ],
)
def test_other_devices_are_refused(device: Any, said: str) -> None:
    with pytest.raises(ValueError, match="xp_for") as caught:
        eagle.xp_for(device)

    assert str(caught.value).startswith(f"eagle.xp_for: {said}")
