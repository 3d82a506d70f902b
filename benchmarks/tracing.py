"""How long hawk takes to read kernels and to trace them, in processor time of this process.

python -m benchmarks.tracing             # the table
python -m benchmarks.tracing --profile   # and where the time goes
"""

from __future__ import annotations

import cProfile
import importlib.util
import pstats
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hawk.ir.nodes import Apply, walk
from hawk.ir.types import DType
from hawk.kernel import Kernel
from hawk.passes.pipeline import optimise

ROUNDS = 7
KERNELS = 200
OPERATIONS = 1000

HEADER = """\
import math

import hawk
from hawk import Index, Mutable, Param, Scalar, Terminated

"""
SWING = """
@hawk.kernel(steps="auto")
def swing_{k}(
    omega: Scalar, dt: Param, t_end: Param, x: Mutable[Scalar], v: Mutable[Scalar],
    t: Mutable[Scalar], stop: Terminated,
):
    \"\"\"One of many like it.\"\"\"
    pull = -omega * omega * x
    if x > {k}.0:
        pull = pull * 0.5 + {k}
    v = v + dt * pull
    x = x + dt * v
    t += dt
    stop = t >= t_end

"""
LINES = (
    "a = b * c + d",
    "b = a / (1.5 + c * c)",
    "c = math.sqrt(abs(a - b))",
    "d = a if a > b else c",
    "a, b = b, a + 0.25",
    "d += a * b - c",
)


def many(folder: Path) -> Path:
    """A module of many kernels."""
    path = folder / "many_kernels.py"
    path.write_text(HEADER + "".join(SWING.format(k=k) for k in range(KERNELS)))
    return path


def long(folder: Path, lines: int) -> Path:
    """A module of one kernel with this many lines."""
    body = "".join(f"    {LINES[k % len(LINES)]}\n" for k in range(lines))
    path = folder / f"long_kernel_{lines}.py"
    head = "@hawk.kernel\ndef step(a: Scalar, b: Scalar, c: Scalar, d: Scalar) -> Scalar:\n"
    path.write_text(f"{HEADER}{head}{body}    return a + b + c + d\n")
    return path


def imported(path: Path) -> Any:
    """The module at `path`, new each time."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def best(run: Callable[[], object]) -> float:
    """The least processor time of some runs, in milliseconds."""
    times: list[float] = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        run()
        times.append(time.process_time() - begin)
    return min(times) * 1e3


def operations(kernel: Kernel[..., Any]) -> int:
    return sum(isinstance(each, Apply) for each in walk(kernel.trace(DType.F64).statements))


def traced(path: Path) -> Kernel[..., Any]:
    kernel = imported(path).step
    kernel.trace(DType.F64)
    return kernel


def rows(folder: Path) -> dict[str, Callable[[], object]]:
    """What is timed, by name."""
    module, short = many(folder), long(folder, 1)
    step = next(n for n in range(1, 9999) if operations(traced(long(folder, n))) >= OPERATIONS)
    path = long(folder, step)
    function = traced(path).trace(DType.F64)
    text = module.read_text()
    return {
        f"Python compiles a module of {KERNELS} kernels": lambda: compile(text, "", "exec"),
        f"import of that module: {KERNELS} decorations": lambda: imported(module),
        "decorate and trace a kernel of one line": lambda: traced(short),
        f"decorate and trace {operations(traced(path))} operations": lambda: traced(path),
        "all passes on these": lambda: optimise(function),
    }


def main(arguments: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, run in rows(Path(folder)).items():
            run()
            print(f"{name:52}{best(run):9.1f} ms")
            if "--profile" in arguments:
                profile = cProfile.Profile()
                profile.runcall(run)
                pstats.Stats(profile).sort_stats("tottime").print_stats(18)


if __name__ == "__main__":
    main(sys.argv[1:])
