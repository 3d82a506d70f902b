"""The graphs that are raced: what the arms compute, and an arm in a process of its own."""

import sys

import numpy as np
import pytest

from benchmarks.chains import CHAINS, make
from benchmarks.graphs import arms
from benchmarks.peers.process import Worker, remote
from benchmarks.peers.table import GRAPHS
from benchmarks.runner import Arm, race


@pytest.mark.parametrize("name", CHAINS)
def test_all_arms_compute_the_same(name: str) -> None:
    workload = make(name, samples=7)
    raced = race(name, arms(workload), sample_steps=1, tolerance=1e-15, rounds=1)

    assert len(raced.rows) == 3
    assert all(row.seconds and not row.missing for row in raced.rows)


def test_a_chain_adds_as_often_as_it_has_nodes_and_launches() -> None:
    for arm in arms(make("2 nodes")):
        arm.seconds()
        assert [2.0 * CHAINS["2 nodes"].launches] == arm.out()[0].tolist()


def test_an_arm_in_its_own_process_may_have_workloads_of_its_own() -> None:
    module = "tests.unit.benchmarks.fake_graph"
    worker = Worker([sys.executable, "-m", "benchmarks.peers.worker", module])
    try:
        made = remote(GRAPHS[0], worker, make("50 nodes"))
        assert isinstance(made, Arm)
        made.seconds()
        assert np.array_equal([50.0], made.out()[0])
    finally:
        worker.end()
