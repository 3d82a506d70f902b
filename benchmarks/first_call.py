"""How long it takes until the first result is there, each time in a fresh process.

    python -m benchmarks.first_call [--rounds=9]

Prints medians in milliseconds next to our goals. The goals are for a machine on which
`import numpy` takes 70 ms; what it takes here stands in the first row.
"""

from __future__ import annotations

import argparse
import itertools
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from benchmarks.tracing import KERNELS, OPERATIONS, SWING, imported, long, many, operations
from hawk.ir.types import DType

SWINGING = """
n = 1_000
state = {name: np.zeros(n) for name in ("x", "v", "t")}
result = eagle.simulate(
    KERNEL, max_steps=100, omega=np.linspace(1.0, 3.0, n), dt=1e-3, t_end=0.05, **state
)
assert result.done
"""
FIRST = f"""\
import numpy as np

import eagle
import hawk
from hawk import Mutable, Param, Scalar, Terminated
{SWING.format(k=1)}{SWINGING.replace("KERNEL", "swing_1")}"""
LONG = """\
import numpy as np
from {module} import step

step(*np.linspace(0.5, 2.0, 4_000).reshape(4, 1_000))
"""
UNROLLED = """\
import math

import hawk
from hawk import Scalar

NUMBERS = tuple(k / 10_000 for k in range({count}))

@hawk.kernel
def step(a: Scalar, b: Scalar, c: Scalar, d: Scalar) -> Scalar:
    for number in NUMBERS:
        a = a * number + b
        b = b + number
        c = c * d
        d = d - a
    return a + b + c + d
"""
WITH_NUMPY = "import time; import numpy; begin = time.perf_counter(); "
RUNNING = "import time; import other; begin = time.perf_counter(); "
SAY = "; print(time.perf_counter() - begin)"


class Row(NamedTuple):
    """What is timed: what the program prints, or, where it prints nothing, the whole process."""

    name: str
    goal: float | None
    """Milliseconds."""
    program: list[str]
    warm: bool = False
    """Does it find the cache of compiled kernels that the runs before it filled?"""


def rows(folder: Path) -> list[Row]:
    """The programs; `folder` is where they find their modules."""
    (folder / "first.py").write_text(FIRST)
    (folder / "other.py").write_text(FIRST.replace("pull * 0.5", "pull * 0.25"))
    many(folder)
    length = next(n for n in range(1, 9999) if _operations(long(folder, n)) >= OPERATIONS)
    thousand = long(folder, length).stem
    (folder / "thousand.py").write_text(LONG.format(module=thousand))
    (folder / "unrolled_kernel.py").write_text(UNROLLED.format(count=10_000 // 4))
    (folder / "unrolled.py").write_text(LONG.format(module="unrolled_kernel"))
    trace = f"from hawk.ir.types import DType; from {thousand} import step"
    return [
        Row("python -c 'import numpy'", None, ["-c", "import numpy"]),
        Row("python -c 'import llvmlite.binding'", None, ["-c", "import llvmlite.binding"]),
        Row("import hawk, eagle after numpy", 40, ["-c", WITH_NUMPY + "import hawk, eagle" + SAY]),
        Row("a process to its first result", 300, [str(folder / "first.py")]),
        Row("the same, compiled before", 220, [str(folder / "first.py")], warm=True),
        Row("a decoration to its first result", 60, ["-c", RUNNING + "import first" + SAY]),
        Row("the same, compiled before", 15, ["-c", RUNNING + "import first" + SAY], warm=True),
        Row(f"the same, {OPERATIONS:,} operations", 200, ["-c", RUNNING + "import thousand" + SAY]),
        Row("the same, 10,000 unrolled", 2_000, ["-c", RUNNING + "import unrolled" + SAY]),
        Row(
            f"decoration of {KERNELS} kernels",
            500,
            ["-c", RUNNING + "import many_kernels" + SAY],
        ),
        Row(
            f"tracing {OPERATIONS:,} operations",
            100,
            ["-c", f"{trace}; {RUNNING}step.trace(DType.F64){SAY}"],
        ),
    ]


def _operations(path: Path) -> int:
    kernel = imported(path).step
    kernel.trace(DType.F64)
    return operations(kernel)


def timed(folder: Path) -> Callable[[Row], float]:
    """How long a row takes, in milliseconds."""
    serial = itertools.count()
    # Python's own cache is warm for all: only the first run ever has to compile our sources.
    own = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])

    def run(row: Row) -> float:
        cache = folder / ("kept" if row.warm else f"empty {next(serial)}")
        variables = os.environ | own | {"PYTHONPATH": path, "HAWK_CACHE_DIR": str(cache)}
        begin = time.perf_counter()
        done = subprocess.run(
            [sys.executable, *row.program], env=variables, stdout=subprocess.PIPE, check=True
        )
        seconds = time.perf_counter() - begin
        return 1e3 * float(done.stdout or seconds)

    return run


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.first_call")
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table, run = rows(folder), timed(folder)
        for row in table:
            run(row)
        # The rows take turns, so that a busy moment of the machine hits all of them.
        times: list[list[float]] = []
        for turn in range(options.rounds):
            print(f"round {turn + 1} of {options.rounds}", file=sys.stderr)
            times.append([run(row) for row in table])
    print(f"{'':40}{'median':>9}{'best':>9}{'goal':>9}  (ms)")
    for row, taken in zip(table, zip(*times, strict=True), strict=True):
        goal = "" if row.goal is None else f"{row.goal:9,.0f}"
        print(f"{row.name:40}{statistics.median(taken):9,.1f}{min(taken):9,.1f}{goal}")


if __name__ == "__main__":
    main()
