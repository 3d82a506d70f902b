"""The programs of examples/ run to their end."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
ENDS = {
    "epidemic": "2.5 contacts a day: 60% of the epidemics become large",
    "fluids": "what flows into a cell flows out of it, to",
    "heat": "order 2.00",
    "option": "plain, by the formula: 9.1218",
    "reentry": "down after",
    "tumbling": "energy kept to",
}
"""What is in the last line that some of them print."""


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_an_example_runs(path: Path) -> None:
    # Without a screen the picture is made all the same, and not shown.
    environment = os.environ | {"MPLBACKEND": "Agg"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", path], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    *_, last = done.stdout.splitlines()
    assert ENDS.get(path.stem, "") in last
