"""How the CPU splits a batch."""

from typing import Any

import numpy as np
import pytest

from eagle.devices.host import cores
from eagle.exec import HostTeam, Partition


def test_a_hundred_thousand_oscillators_are_25_tiles() -> None:
    assert 25 == HostTeam.tile_count(Partition(0, 100_000, 100_000), 3 * 8)


@pytest.mark.parametrize(
    ("l2", "bytes_per_sample", "tile"),
    [
        (512 << 10, 24, 4096),
        (512 << 10, 100, 2616),
        (512 << 10, 1000, 256),
        (512 << 10, 1 << 20, 64),
        (2 << 20, 1000, 1048),
        (None, 1000, 1048),
        (512 << 10, 0, 256),
        (512 << 10, None, 256),
        (512 << 10, np.int64(24), 4096),
    ],
)
def test_the_state_of_a_tile_fits_in_half_of_the_cache(
    l2: int | None, bytes_per_sample: Any, tile: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cores, "l2_bytes", lambda: l2)

    assert tile == HostTeam.tile_size(bytes_per_sample)


@pytest.mark.parametrize(("wrong", "error"), [(-1, ValueError), (2.5, TypeError)])
def test_bytes_are_a_number(wrong: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="bytes_per_sample must "):
        HostTeam.tile_size(wrong)


def test_tiles_cover_the_partition() -> None:
    tile = HostTeam.tile_size(8)

    counts = [HostTeam.tile_count(Partition(0, n, n), 8) for n in (0, 1, tile, tile + 1)]

    assert [0, 1, 1, 2] == counts


def test_a_whole_partition_covers_the_batch() -> None:
    assert Partition(0, 7, 7) == Partition.whole(7)


@pytest.mark.parametrize(
    ("numbers", "error", "said"),
    [
        ((0, 8, 7), ValueError, "samples 0 to 8 are not all in a batch of 7"),
        ((3, 5, 7), ValueError, "samples 3 to 8 are not all in a batch of 7"),
        ((-1, 2, 7), ValueError, "base must not be negative, got -1"),
        ((0, -2, 7), ValueError, "count must not be negative, got -2"),
        ((0, 2.5, 7), TypeError, "count must be a whole number, got 2.5"),
        ((True, 2, 7), TypeError, "base must be a whole number, got True"),
        ((0, 2, "7"), TypeError, "n must be a whole number, got '7'"),
    ],
)
def test_a_partition_has_samples_that_are_there(
    numbers: Any, error: type[Exception], said: str
) -> None:
    with pytest.raises(error) as caught:
        Partition(*numbers)

    assert f"Partition: {said}" == str(caught.value)
