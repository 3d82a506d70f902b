"""Arms of other libraries are processes that are told what to do, in environments of their own."""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from benchmarks.limit.workloads import make
from benchmarks.peers import environments
from benchmarks.peers.process import Peers, Worker, remote
from benchmarks.peers.table import ENVIRONMENTS, PEERS, Peer
from benchmarks.runner import Arm, Failed, Missing

FAKE = Peer("fake", "nowhere", "fake_arm", ("oscillator", "adaptive"))
COMMAND = [sys.executable, "-m", "benchmarks.peers.worker", "tests.unit.benchmarks.fake_arm"]


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    made = Worker(COMMAND)
    yield made
    made.end()


def test_an_arm_runs_in_its_process_and_gives_its_state(worker: Worker) -> None:
    workload = make("oscillator", dtype="float32", samples=5)
    made = remote(FAKE, worker, workload)

    assert isinstance(made, Arm)
    assert 0 <= made.seconds() < 60
    assert made.seconds() < 60
    x, v, t = made.out()
    assert np.array_equal(workload.state[0] + 2, x)
    assert np.dtype("float32") == x.dtype
    assert np.array_equal(workload.state[1], v)
    assert np.array_equal(workload.state[2], t)


def test_planes_that_follow_the_last_bits_are_not_compared(worker: Worker) -> None:
    workload = make("adaptive", dtype="float64", samples=5)
    made = remote(FAKE, worker, workload)

    assert isinstance(made, Arm)
    assert 3 == len(made.out())
    assert 4 == len(workload.state)


def test_what_an_arm_cannot_do_is_told_in_its_own_words(worker: Worker) -> None:
    chaos = make("lorenz", dtype="float64", samples=5)

    assert Missing("fake", "ValueError: no chaos here") == remote(FAKE, worker, chaos)
    assert worker.alive


def test_an_arm_that_ends_is_told_with_its_last_line() -> None:
    worker = Worker(COMMAND)
    with pytest.raises(Failed, match="ended with 1: it swung too far"):
        worker.ask("make", row="pendulum", dtype="float64", samples=5)

    assert not worker.alive
    with pytest.raises(Failed, match="it swung too far"):
        worker.ask("run")
    worker.end()


def test_an_environment_that_is_not_there_says_what_to_write(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(environments, "FOLDER", Path("nowhere"))
    with Peers([FAKE._replace(environment="jax")]) as peers:
        [made] = peers.arms(make("oscillator", dtype="float64", samples=5))
        assert [] == peers.arms(make("orbit", dtype="float64", samples=5))

    assert Missing("fake", "not installed (make bench-env)") == made


def test_why_an_installation_failed_is_kept(tmp_path: Path) -> None:
    said = "WARNING: slow\nERROR: No matching distribution found for jax==99\n\nWARNING: old pip\n"
    why = environments.last_word(said)
    (tmp_path / "jax").mkdir()
    (tmp_path / "jax" / environments.FAILED).write_text(why)

    assert "ERROR: No matching distribution found for jax==99" == why
    assert why == environments.missing("jax", tmp_path)
    assert [] == environments.versions(tmp_path)
    (tmp_path / "jax" / environments.INSTALLED).write_text("\n".join(ENVIRONMENTS["jax"]))
    assert "" == environments.missing("jax", tmp_path)
    assert "jax" == environments.versions(tmp_path)[0].split(" ")[0]


def test_few_rows_are_run_in_both_widths() -> None:
    takes = FAKE.takes

    assert [True, True] == [takes("oscillator", dtype) for dtype in ("float64", "float32")]
    assert [True, False] == [takes("adaptive", dtype) for dtype in ("float64", "float32")]
    assert not takes("orbit", "float64")


def test_every_arm_has_an_environment_and_a_file() -> None:
    folder = Path(environments.__file__).parent
    for peer in PEERS:
        assert peer.environment in ENVIRONMENTS
        assert (folder / f"{peer.module}.py").exists()
    packages = [package for pinned in ENVIRONMENTS.values() for package in pinned]
    assert all(package.count("==") == 1 for package in packages)
