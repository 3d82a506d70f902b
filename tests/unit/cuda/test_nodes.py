"""What the driver is asked for, as text: nodes, what they come after, addresses by name.

`python -m tests.unit.cuda.test_nodes` writes the files anew.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eagle
import hawk
from eagle.devices.cuda.loop import Told
from hawk import Bool, Int32, Mutable, Scalar, Terminated
from tests.unit.cuda.gpus import TestLibrary, gpu_of_tests

FOLDER = Path(__file__).parents[2] / "golden" / "cuda"
PROGRAMS = Path(__file__).parents[2] / "pages" / "programs"


@hawk.kernel
def inc(x: Mutable[Scalar]):
    x += 1.0


@hawk.kernel
def down(k: Mutable[Int32]):
    k -= 1


@hawk.kernel(steps="auto")
def fall(z: Mutable[Scalar], v: Mutable[Scalar], over: Terminated):
    v -= 0.1
    z += 0.1 * v
    over = z <= 0.0


@hawk.kernel
def even(k: Int32) -> Bool:
    return k % 2 == 0


def program(name: str) -> Callable[[TestLibrary], Any]:
    def build(xp: TestLibrary) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(sys.modules, "cupy", xp)
            return runpy.run_path(str(PROGRAMS / f"{name}.py"))["g"]

    return build


def branches_and_loops(xp: TestLibrary) -> Any:
    @eagle.Graph.builder
    def build(x, y, k, m, h):
        g = eagle.Graph()
        for i in range(m):
            if k > 3:
                inc(x)
            else:
                eagle.copy(h, into=y)
        while even(k):
            down(k)
        return g

    x, y, k, m = xp.zeros(300), xp.zeros(300), xp.full(1, 4, np.int32), xp.full(1, 2, np.int32)
    return build(x, y, k, m, eagle.pinned(300))


def copies(xp: TestLibrary) -> Any:
    @eagle.Graph.builder
    def build(x, y, strided, pageable, reverse):
        g = eagle.Graph()
        eagle.copy(x, into=y)
        eagle.copy(x, into=x)
        eagle.copy(strided, into=x)
        eagle.copy(pageable, into=y)
        eagle.copy(y, into=reverse)
        return g

    return build(
        xp.zeros((4, 2)),
        xp.zeros((4, 2)),
        eagle.pinned((4, 3))[:, :2],
        np.zeros((4, 2)),
        np.zeros((4, 2))[::-1],
    )


CASES: dict[str, Callable[[TestLibrary], Any]] = {
    "graph_with_events": program("graph_with_events"),
    "graph_with_overlap": program("graph_with_overlap"),
    "branches_and_loops": branches_and_loops,
    "copies": copies,
}


def run_of(n: int) -> Callable[[], str]:
    def run() -> str:
        with gpu_of_tests() as xp:
            simulation = eagle.until_done(fall, max_steps=100, z=xp.ones(n), v=xp.zeros(n))
            simulation.run()
            batch: Any = simulation._batch
            loop = batch._loop
            arrays = {
                "z": simulation.planes["z"][0]._memory,
                "v": simulation.planes["v"][0]._memory,
                "over": loop._mask,
                **{name: getattr(loop, f"_{name}") for name in ("counts", "sums", "begins", "map")},
            }
            handles = [h for each in xp.driver.graphs.values() for h in each.handles]

            def called(word: int) -> str:
                place = word - loop._told.ctypes.data
                if 0 <= place < loop._told.nbytes:
                    return Told(place // 8).name.lower()
                if word in handles:
                    return f"<handle {handles.index(word) + 1}>"
                known = (name for name, a in arrays.items() if a.size and a.ctypes.data == word)
                return next(known, str(word))

            (number,) = (k for k, each in xp.driver.graphs.items() if not each.inside)
            return "\n".join([*xp.driver.text(number, called), ""])

    return run


RUNS = {"run_of_few": run_of(5), "run_of_many": run_of(3000)}


def said(name: str) -> str:
    """The nodes of a graph."""
    if name in RUNS:
        return RUNS[name]()
    with gpu_of_tests() as xp:
        graph = CASES[name](xp)
        before = set(xp.driver.graphs)
        if graph._captured is None:
            graph.launch(0)
            (number,) = (
                n for n in set(xp.driver.graphs) - before if not xp.driver.graphs[n].inside
            )
        else:
            (number,) = (n for n in before if not xp.driver.graphs[n].inside)
        handles = [h for each in xp.driver.graphs.values() for h in each.handles]
        roots = graph.plan.roots

        def called(address: int) -> str:
            for root in roots:
                low, high = np.lib.array_utils.byte_bounds(root.view)
                if low <= address < high:
                    offset = address - root.address
                    return root.name + (f"{offset:+}" if offset else "")
            if address in handles:
                return f"<handle {handles.index(address) + 1}>"
            return str(address) if address < 4096 else "<its own>"

        return "\n".join([*xp.driver.text(number, called), ""])


@pytest.mark.parametrize("name", [*CASES, *RUNS])
def test_the_nodes_are_those_on_file(name: str) -> None:
    assert (FOLDER / f"{name}.txt").read_text() == said(name)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for case in (*CASES, *RUNS):
        (FOLDER / f"{case}.txt").write_text(said(case))
