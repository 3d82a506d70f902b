"""Which random programs are tried: a fixed range of seeds, or others each time in a long run."""

from __future__ import annotations

import random
import zlib

import pytest

PART = 5
"""Programs in one test, so that a run shows how far it is and can be shared among processes."""


def first_seed(config: pytest.Config) -> int:
    """0, or in a long run a number of that run, the same in all its processes."""
    if config.getoption("--hypothesis-profile", default=None) != "long":
        return 0
    run = getattr(config, "workerinput", {}).get("testrunuid")
    return zlib.crc32(run.encode()) if run else random.randrange(2**32)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seeds" in metafunc.fixturenames:
        first, count = first_seed(metafunc.config), metafunc.config.getoption("--programs")
        parts = [
            range(first + done, first + min(done + PART, count)) for done in range(0, count, PART)
        ]
        ids = [f"{part.start}-{part.stop - 1}" for part in parts]
        metafunc.parametrize("seeds", parts, ids=ids)
