"""Where arrays can live."""

from typing import Any

import numpy as np
import pytest

import eagle


def test_arrays_on_the_cpu_are_numpys() -> None:
    assert np is eagle.xp_for("cpu")


def test_the_simulated_device_has_a_library_of_its_own() -> None:
    xp = eagle.xp_for("simulated")
    assert xp.zeros(3).device == "simulated"
    assert xp.zeros(3).shape == np.zeros(3).shape


def test_there_is_no_gpu_yet() -> None:
    assert eagle.gpu_available() is False


@pytest.mark.parametrize(
    ("device", "said"),
    [
        ("gpu", "there is no 'gpu' device in this version, which runs kernels on the CPU only"),
        ("tpu", 'expected "cpu" or "simulated", got \'tpu\''),
        (None, 'expected "cpu" or "simulated", got None'),
    ],
)
def test_other_devices_are_refused(device: Any, said: str) -> None:
    with pytest.raises(ValueError, match="xp_for") as caught:
        eagle.xp_for(device)

    assert str(caught.value).startswith(f"eagle.xp_for: {said}")
