"""What every test stands on: a cache of its own, repeatable random programs, options."""

import os
import tempfile

import pytest
from hypothesis import settings

# These are the words of our documentation; the tests of the pages run them, pytest must not.
collect_ignore = ["pages/programs"]

# Compiled kernels of the tests are kept for one run only: what an earlier commit compiled must not
# be what a test sees. The processes of one run share the folder, so they also race for it.
if "PYTEST_XDIST_WORKER" not in os.environ:
    _cache = tempfile.TemporaryDirectory(prefix="hawk-tests-", ignore_cleanup_errors=True)
    os.environ["HAWK_CACHE_DIR"] = _cache.name

# No test opens a window.
os.environ["MPLBACKEND"] = "agg"

# A commit is green or red, whoever runs the tests: the same examples each time, no time limits.
settings.register_profile("repeatable", derandomize=True, deadline=None)
# `make test-long`: other examples each time; a failure prints how to repeat it.
settings.register_profile("long", max_examples=1000, deadline=None, print_blob=True)
settings.load_profile("repeatable")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--programs`."""
    parser.addoption(
        "--programs",
        type=int,
        default=80,
        metavar="N",
        help="random programs that the oracle tests try (default: %(default)s)",
    )


@pytest.fixture(scope="session")
def programs(pytestconfig: pytest.Config) -> int:
    """Give the number of random programs that an oracle test tries."""
    return pytestconfig.getoption("--programs")
