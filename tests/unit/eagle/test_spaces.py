"""Where arrays can live."""

from typing import Any

import numpy as np
import pytest

import eagle


def test_arrays_on_the_cpu_are_numpys() -> None:
    assert np is eagle.xp_for("cpu")


def test_there_is_no_gpu_yet() -> None:
    assert eagle.gpu_available() is False


@pytest.mark.parametrize(
    ("device", "said"),
    [
        ("gpu", "there is no 'gpu' device in this version, which runs kernels on the CPU only"),
        ("simulated", "there is no 'simulated' device in this version"),
        ("tpu", "expected \"cpu\", got 'tpu'"),
        (None, 'expected "cpu", got None'),
    ],
)
def test_other_devices_are_refused(device: Any, said: str) -> None:
    with pytest.raises(ValueError, match="xp_for") as caught:
        eagle.xp_for(device)

    assert str(caught.value).startswith(f"eagle.xp_for: {said}")
