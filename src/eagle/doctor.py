"""`eagle doctor`: what this machine has, and whether kernels run right on it."""

from __future__ import annotations

import importlib.metadata
import platform
import traceback
from pathlib import Path
from typing import Any

import numpy as np

from eagle.config import config
from eagle.demo_kernels import spread_oscillator
from eagle.devices.host import cores
from eagle.devices.host.team import HostTeam, threads_allowed
from eagle.runs.doors import simulate
from hawk.ir.interpret import interpret
from hawk.ir.types import DType

SAMPLES = 37
"""Not a multiple of any group, so that the last samples are tested too."""


def doctor() -> int:
    """Print what there is and test one kernel; 0 when all is well, 1 when not."""
    sections = {
        "versions": _versions,
        "CPU": _cpu,
        "threads": _threads,
        "L2 cache": _cache,
        "GPU": _gpu,
        "self test": _self_test,
    }
    well = True
    for name, section in sections.items():
        try:
            text = section()
        except _WrongBits as wrong:
            text, well = f"FAILED: {wrong}", False
        except Exception:  # noqa: BLE001 - whatever goes wrong, the doctor says it and goes on
            text, well = f"FAILED\n{traceback.format_exc()}", False
        _say(f"{name:<10} {text}")
    _say("all is well" if well else "something is wrong: see above")
    return 0 if well else 1


def _gpu() -> str:
    """The first GPU, or why there is none to be used."""
    from eagle.devices.cuda.device import available, described  # whoever has none need not wait

    why = available()
    return why.replace("\n", "\n" + 11 * " ") if why else described(0)


class _WrongBits(Exception):
    """A kernel ran and computed something else than it says."""


def _say(text: str) -> None:
    print(text, flush=True)


def _versions() -> str:
    names = ("accipiter", "numpy", "llvmlite")
    return ", ".join([f"Python {platform.python_version()}", *map(_version, names)])


def _version(name: str) -> str:
    try:
        return f"{name} {importlib.metadata.version(name)}"
    except importlib.metadata.PackageNotFoundError:
        return f"{name} (not installed)"


def _cpu() -> str:
    return f"{_cpu_name()} ({platform.machine()}, {platform.system()})"


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or "unknown")


def _threads() -> str:
    quota = cores.cpu_quota()
    limit = "no quota" if quota is None else f"a quota of {quota:g} cores"
    asked = config().threads
    env = "EAGLE_NUM_THREADS is not set" if asked is None else f"EAGLE_NUM_THREADS={asked}"
    return f"{threads_allowed(None)} (may run on {cores.allowed_cores()} cores, {limit}; {env})"


def _cache() -> str:
    size = cores.l2_bytes()
    known = "unknown" if size is None else f"{size >> 10:,} KiB a core"
    return f"{known}; with 24 bytes of state a tile is {HostTeam.tile_size(24):,} samples"


def _self_test() -> str:
    """Compile a kernel, run it, and compare every bit with the meaning of its program."""
    omega, t_end = np.linspace(1.0, 3.0, SAMPLES), np.linspace(0.01, 0.2, SAMPLES)
    start: dict[str, Any] = {"x": np.ones(SAMPLES), "v": np.zeros(SAMPLES), "t": np.zeros(SAMPLES)}
    result = simulate(spread_oscillator, max_steps=1000, omega=omega, t_end=t_end, dt=1e-3, **start)
    program = spread_oscillator.trace(DType.F64)
    wrong = 0
    for i in range(SAMPLES):
        sample = {"omega": omega[i].item(), "t_end": t_end[i].item(), "dt": 1e-3}
        sample |= {"x": 1.0, "v": 0.0, "t": 0.0, "terminated": False}
        while not sample["terminated"]:
            sample |= interpret(program, sample)
        wrong += any(result[name][i] != sample[name] for name in ("x", "v", "t"))
    if wrong:
        raise _WrongBits(f"{wrong} of {SAMPLES} samples are not what their program means")
    compiled = spread_oscillator.compile(DType.F64)
    return (
        f"{SAMPLES} samples, {result.steps} steps, every bit as it should be "
        f"({compiled.description}; compiled in {1e3 * compiled.build_seconds:.0f} ms)"
    )
