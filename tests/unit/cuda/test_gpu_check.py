"""The script that tries a GPU runs, on a driver made for tests."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_all_its_rows_hold_in_a_dry_run() -> None:
    path = os.pathsep.join((str(ROOT / "src"), *filter(None, sys.path)))
    command = [sys.executable, ROOT / "scripts" / "gpu_check.py", "--dry"]
    run = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}
    )
    assert 0 == run.returncode, run.stdout + run.stderr
    rows = [line for line in run.stdout.splitlines() if line.startswith("| ")][2:]
    assert 20 <= len(rows)
    assert {"holds", "left out"} == {row.split(" | ")[1] for row in rows}
    assert "a dry run" in run.stdout
