"""Run random cases for a long time: no bit may differ, and memory may not grow.

    python -m tests.soak [--minutes=30] [--seed=N] [--cases=N] [--largest=100000] [--brief]

Case by case the seed counts up. A failure says which seed to give to see it again; the kernel, the
batch and the ways are the same then, but when an exception strikes depends on the machine.
"""

from __future__ import annotations

import argparse
import faulthandler
import mmap
import os
import sys
import tempfile
import time
import traceback
from pathlib import Path
from unittest import mock

from tests.soak.case import Told, soak

LONGEST_CASE = 300
"""Seconds after which a case is taken to hang: all threads are shown, and it is over."""
EARLY, LATE, GROWTH = 200, 2_000, 100
"""After `LATE` kernels memory may be `GROWTH` MB more than after `EARLY`."""
PAUSE = 5.0
"""Seconds between two lines that tell how far it is."""


def watched(arguments: list[str]) -> int:
    """Run in a child, so that the seed is told also where LLVM or the system ends the process."""
    at, options = mmap.mmap(-1, 8), parsed(arguments)
    child = os.fork()
    if child == 0:
        code = main(options, at)
        sys.stdout.flush()
        os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code < 0:
        print(f"ended by signal {-code}; {again(int.from_bytes(at, 'little'), options)}")
    return code


def again(seed: int, options: argparse.Namespace) -> str:
    return f"again: python -m tests.soak --cases 1 --seed {seed} --largest {options.largest}"


def parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.soak")
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**9)
    parser.add_argument("--cases", type=int, default=10**9, help="stop after so many")
    parser.add_argument("--largest", type=int, default=100_000, help="samples in a batch")
    brief = "compile and run each kernel once: memory after 2,000 of them, in some minutes"
    parser.add_argument("--brief", action="store_true", help=brief)
    return parser.parse_args(arguments)


def main(options: argparse.Namespace, at: mmap.mmap | None = None) -> int:
    """Run as the command line says; `at` gets the seed of each case before it begins."""
    # What an earlier commit compiled must not be what is run here.
    with (
        tempfile.TemporaryDirectory(prefix="hawk-soak-") as folder,
        mock.patch.dict(os.environ, HAWK_CACHE_DIR=folder),
    ):
        return run(options, at)


def run(options: argparse.Namespace, at: mmap.mmap | None) -> int:
    begun, said, told, early = time.monotonic(), 0.0, Told(), None
    for seed in range(options.seed, options.seed + options.cases):
        spent = time.monotonic() - begun
        if spent > 60 * options.minutes:
            break
        if spent - said >= PAUSE:
            said = spent
            print(line(told, seed, 60 * options.minutes - spent), flush=True)
        if at is not None:
            at[:] = seed.to_bytes(8, "little")
        faulthandler.dump_traceback_later(LONGEST_CASE, exit=True, file=sys.__stderr__)
        try:
            soak(seed, told, largest=options.largest, brief=options.brief)
        except Exception:  # noqa: BLE001 - whatever it is, it is told with its seed
            traceback.print_exc()
            print(again(seed, options))
            return 1
        finally:
            faulthandler.cancel_dump_traceback_later()
        if told.cases == EARLY:
            early = megabytes()
        if told.cases == LATE and early is not None and megabytes() > early + GROWTH:
            print(f"memory: {early:.0f} MB after {EARLY} kernels, {megabytes():.0f} after {LATE}")
            return 1
    print(line(told, options.seed + told.cases + told.refused, 0))
    if told.ways:
        print("ways:", ", ".join(f"{way} {count}" for way, count in sorted(told.ways.items())))
        told_of = (f"{name} {count}" for name, count in sorted(told.families.items()))
        print("kernels with:", ", ".join(told_of))
    if early is not None:
        print(f"memory: {early:.0f} MB after {EARLY} kernels, {megabytes():.0f} at the end")
    return 0


def line(told: Told, seed: int, left: float) -> str:
    """How far it is."""
    return (
        f"{told.cases:,} cases, no difference: {told.sample_steps / 1e6:,.0f} M steps of samples, "
        f"{told.interrupts:,} interrupts, {told.refused} refused, {megabytes():.0f} MB; "
        f"next seed {seed}, {left // 60:.0f}:{left % 60:02.0f} left"
    )


def megabytes() -> float:
    """The memory of this process that is really there."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    sys.exit(watched(sys.argv[1:]))
