"""Arms of other libraries: each is a process in its own environment, told when to run.

It stays for all workloads, so that a library is loaded once, and does nothing between its turns.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import numpy as np

from benchmarks.limit.workloads import Workload
from benchmarks.peers.environments import ROOT, missing, python_of
from benchmarks.peers.table import PEERS, Peer
from benchmarks.runner import Arm, Array, Failed, Missing

PATIENCE = 120.0
"""Seconds after which an arm that says nothing is ended."""


class Peers:
    """The processes of a run; leave the `with` block to end them."""

    def __init__(self, peers: Sequence[Peer] = PEERS) -> None:
        self._peers = peers
        self._workers: dict[str, Worker] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers.values():
            worker.end()

    def arms(self, workload: Workload) -> list[Arm | Missing]:
        """An arm of each library that this workload suits, compiled."""
        return [
            self._arm(peer, workload)
            for peer in self._peers
            if peer.takes(workload.name, workload.dtype.name)
        ]

    def _arm(self, peer: Peer, workload: Workload) -> Arm | Missing:
        if why := missing(peer.environment):
            return Missing(peer.name, why)
        worker = self._workers.get(peer.name)
        if worker is None or not worker.alive:
            command = [str(python_of(peer.environment)), "-m", "benchmarks.peers.worker"]
            worker = self._workers[peer.name] = Worker(
                [*command, f"benchmarks.peers.{peer.module}"]
            )
        return remote(peer, worker, workload)


class Worker:
    """A process that answers one line of JSON with another."""

    def __init__(self, command: Sequence[str]) -> None:
        self._log = tempfile.TemporaryFile("w+")  # noqa: SIM115 - as long as the process
        # The arm's own environment, and of ours the folder of benchmarks alone.
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            cwd=ROOT,
            env=environment,
        )

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, do: str, **given: Any) -> dict[str, Any]:
        """Raises `Failed` with what the arm said where it cannot do it."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        clock = threading.Timer(PATIENCE, process.kill)
        clock.start()
        try:
            process.stdin.write(json.dumps({"do": do, **given}) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            clock.cancel()
        if not line:
            raise Failed(self._last_words())
        answer = json.loads(line)
        if "error" in answer:
            raise Failed(answer["error"])
        return answer

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._log):
            if stream is not None:
                with suppress(BrokenPipeError):  # what was written to a process that had ended
                    stream.close()

    def _last_words(self) -> str:
        code = self._process.wait()
        self._log.seek(0)
        said = [line for line in self._log.read().splitlines() if line.strip()]
        return f"ended with {code}: {said[-1] if said else 'it said nothing'}"


def remote(peer: Peer, worker: Worker, workload: Workload) -> Arm | Missing:
    """The arm of a worker: times are its own, and its state comes in a file."""
    try:
        worker.ask("make", row=workload.name, dtype=workload.dtype.name, samples=workload.samples)
    except Failed as why:
        return Missing(peer.name, str(why))

    def out() -> list[Array]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "state.npz"
            worker.ask("save", path=str(path))
            with np.load(path) as planes:
                state = [planes[name] for name in planes.files]
                return [plane for k, plane in enumerate(state) if k not in workload.rough]

    return Arm(
        peer.name,
        lambda: None,
        lambda: worker.ask("run")["seconds"],
        out,
        times_itself=True,
        tolerance=peer.tolerance.get(workload.name),
    )
