"""Kernels with `checks=True` on a GPU: what is told is what is told on the host, word for word."""

import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import eagle
import hawk
from hawk import Grid, Mutable, Param, Scalar, Table, Terminated, Vector
from tests.unit.cuda.gpus import TestLibrary, gpu_of_tests


@hawk.kernel(checks=True, steps=100)
def fall(r: Mutable[Scalar], v: Mutable[Scalar], dt: Param):
    assert r > 0.0, f"in the sun at speed {v:.3f}"
    v -= dt / (r * r)
    r += dt * v


@hawk.kernel(checks=True)
def lossy(x: Mutable[Scalar], t: Table[Scalar], w: Vector[2], over: Terminated) -> Scalar:
    if x > 2.0:
        print(f"x is {x}")
    x = x - t[hawk.index(x)] if x > 0.0 else math.sqrt(x - 1.0)
    over = x < 0.5
    return x + w[1] / w[0]


@hawk.kernel(checks=True)
def blurred(u: Grid["r", "c"]) -> Grid["r", "c"]:
    assert u < 3.0
    return u + u.at(r=hawk.sample_index("r") + 1, c=0)


@pytest.fixture(scope="module")
def xp() -> Iterator[TestLibrary]:
    with gpu_of_tests() as library:
        yield library


@pytest.fixture
def both(xp: TestLibrary, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Asks on the host and on the GPU: all that is told, and the arrays, have to be equal."""

    def ask(what: Callable[..., object], **arrays: Any) -> list[str]:
        told: list[list[str]] = []
        ends: list[list[bytes]] = []
        for library, read in ((np, np.asarray), (xp, xp.asnumpy)):
            planes = {name: library.array(array) for name, array in arrays.items()}
            with warnings.catch_warnings(record=True) as found:
                warnings.simplefilter("always")
                try:
                    what(**planes)
                    told.append([])
                except hawk.CheckError as error:
                    told.append([str(error), *(str(each) for each in error.findings)])
            told[-1] += [str(each.message) for each in found] + [capsys.readouterr().out]
            ends.append([read(each).tobytes() for each in planes.values()])
        assert told[0] == told[1]
        assert ends[0] == ends[1]
        return told[0]

    return ask


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_assertion_that_fails(both: Callable[..., Any], dtype: Any) -> None:
    arrays = {"r": np.array([4.0, 1.0, 2.0], dtype), "v": np.array([3.0, 0.0, 0.0], dtype)}
    told = both(lambda **planes: fall(dt=0.125, **planes), **arrays)
    assert "sample 1 failed at step 10: in the sun at speed" in told[0]
    assert "also sample 2 at step" in told[0]


def lossy_arrays() -> dict[str, Any]:
    return {
        "x": np.array([-1.0, 2.0, 3.0, 40.0]),
        "t": np.ones(5),
        "w": np.array([[1.0, 2.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0]]),
    }


def test_a_call_tells_of_what_is_lost(both: Callable[..., Any]) -> None:
    told = "\n".join(both(lossy, **lossy_arrays()))
    assert "sample 3 went outside of a table at step 1: index 40" in told
    assert "sample 0 became NaN at step 1" in told
    assert "sample 3, step 1: x is 40.0" in told


@pytest.mark.parametrize("count", [False, True])
@pytest.mark.parametrize("door", [eagle.simulate, eagle.run_until_done])
def test_a_run_tells_at_its_end(both: Callable[..., Any], door: Any, count: bool) -> None:
    def run(**planes: Any) -> None:
        report = door(lossy, max_steps=6, count_steps=count, **planes)
        assert 6 == report.steps or door is eagle.simulate

    told = "\n".join(both(run, **lossy_arrays()))
    assert "sample 3, step 6: x is 35.0" in told
    assert "sample 0 became NaN at step 1" in told


def test_each_launch_of_a_bound_kernel_tells_of_its_own_steps(both: Callable[..., Any]) -> None:
    def launch(**planes: Any) -> None:
        bound = eagle.deploy(hawk.steps(fall, 6)).bind(dt=0.125, **planes)
        bound.launch()
        bound.launch(2)
        with pytest.raises(hawk.CheckError, match="sample 1 failed at step 10"):
            bound.launch()
        bound.launch()

    told = both(launch, r=np.array([4.0, 1.0, 2.0]), v=np.array([3.0, 0.0, 0.0]))
    assert "sample 1 failed at step 15" in told[0]


def test_a_grid(both: Callable[..., Any]) -> None:
    told = both(blurred, u=np.arange(6.0).reshape(2, 3))
    assert "sample 3 failed at step 1: u < 3.0 (u = 3.0)" in told[0]
    assert "went outside of a grid" in "".join(told)


def test_nothing_is_told_of_a_run_that_was_ended(
    xp: TestLibrary, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop(report: eagle.RunReport) -> None:
        raise KeyboardInterrupt

    planes = {name: xp.array(array) for name, array in lossy_arrays().items()}
    simulation = eagle.simulation(lossy, max_steps=6, every=2, on_progress=stop, **planes)
    with pytest.raises(KeyboardInterrupt):
        simulation.run()
    assert not capsys.readouterr().out
