"""The process of one arm: it makes a workload when told, runs it when told, and gives its state.

    python -m benchmarks.peers.worker benchmarks.peers.MODULE

One JSON object a line comes in, and one goes out. `make` compiles; `run` puts the
state back and gives the seconds of a run; `save` writes the state to a file of NumPy's. What goes
wrong is answered, too: {"error": "..."}.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.limit.workloads import Workload, make
from benchmarks.runner import Arm


class Serving:
    """Answers requests, one after another."""

    def __init__(
        self, arm_of: Callable[[Workload], Arm], workload: Callable[..., Workload] = make
    ) -> None:
        self._arm_of, self._workload = arm_of, workload
        self._arm: Arm | None = None

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        try:
            return getattr(self, request.pop("do"))(**request)
        except Exception as error:  # noqa: BLE001 - whatever a library says, the parent is told
            said = str(error).strip().splitlines() or [""]
            return {"error": f"{type(error).__name__}: {said[0]}"}

    def make(self, row: str, dtype: str, samples: int) -> dict[str, Any]:
        self._arm = None  # its memory goes first
        self._arm = self._arm_of(self._workload(row, dtype=dtype, samples=samples))
        return {}

    def run(self) -> dict[str, Any]:
        assert self._arm is not None
        self._arm.prepare()
        begin = time.perf_counter()
        self._arm.run()
        return {"seconds": time.perf_counter() - begin}

    def save(self, path: str) -> dict[str, Any]:
        assert self._arm is not None
        with Path(path).open("wb") as file:
            np.savez(file, *self._arm.out())
        return {}


def main() -> None:
    # Libraries print what they like; answers go where the parent listens.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    module = importlib.import_module(sys.argv[1])
    serving = Serving(module.arm, getattr(module, "workload", make))
    for line in sys.stdin:
        print(json.dumps(serving.answer(json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
