"""Sets of samples that go on, of arrays on a GPU: maps of them, and samples that are moved."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import eagle
import hawk
from hawk import Bool, Index, Mutable, Param, Scalar, Terminated, Vector
from tests.unit.cuda.gpus import TestLibrary, gpu_of_tests
from tests.unit.cuda.test_together import centred


@hawk.kernel(steps=4)
def run(
    left: Mutable[Index],
    x: Mutable[Vector[2]],
    odd: Bool,
    by: Param,
    over: Terminated,
    taken: Mutable[Index] = 0,
) -> Scalar:
    left -= 1
    taken += 1
    x = x * by if odd else x + by
    over = left <= 0
    return x[0] - x[1]


@pytest.fixture(scope="module")
def xp() -> Iterator[TestLibrary]:
    with gpu_of_tests() as library:
        yield library


def bound_on(library: Any, n: int, dtype: Any = np.float64) -> tuple[eagle.Bound, tuple[Any, ...]]:
    rng = np.random.default_rng(n)
    left, odd = rng.integers(1, 90, n), rng.random(n) < 0.5
    x = rng.normal(size=(2, n + 3)).astype(dtype)
    planes = library.array(left), library.array(x)[:, :n], library.array(odd)
    names = dict(zip(("left", "x", "odd"), planes, strict=True))
    bound = eagle.deploy(run).bind(by=1.0625, **names)
    return bound, (*planes, *(bound.planes[name] for name in ("taken", "out")))


def bits(xp: TestLibrary, planes: tuple[Any, ...], library: Any) -> list[bytes]:
    read = np.asarray if library is np else xp.asnumpy
    return [read(each).tobytes() for each in planes]


@pytest.mark.parametrize("n", [0, 1, 300])
def test_launches_by_a_map_have_the_bits_of_the_host(xp: TestLibrary, n: int) -> None:
    found: list[Any] = []
    for library in (np, xp):
        bound, planes = bound_on(library, n)
        active, told = eagle.ActiveSet(bound.finished), list[Any]()
        while active.compact():
            bound.launch(active=active)
            bound.launch(1, active=active)
            bound.launch(1, active=active)
            told.append((active.live, active.count, active.map.tolist()))
        found.append((told, active.compactions, bits(xp, planes, library)))
    assert found[0] == found[1]


def test_samples_that_are_not_in_the_map_are_left_as_they_are(xp: TestLibrary) -> None:
    bound, planes = bound_on(xp, 5)
    active = eagle.ActiveSet(xp.array([True, False, True, False, True]))
    bound.launch(2, active=active)
    assert [0, 2, 0, 2, 0] == xp.asnumpy(planes[3]).tolist()
    bound.launch(1, active=eagle.ActiveSet(np.array([False, True, True, True, True])))
    assert [1, 2, 0, 2, 0] == xp.asnumpy(planes[3]).tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_samples_are_moved_and_put_back(xp: TestLibrary, dtype: Any) -> None:
    found: list[Any] = []
    for library in (np, xp):
        bound, planes = bound_on(library, 300, dtype)
        with eagle.ActiveSet(bound.finished, reorder=0.5, planes=planes) as active:
            while active.compact():
                bound.launch(active=active)
            moved = bits(xp, planes, library)
            found.append((active.reorders, active.order.tolist(), moved))
        found[-1] += (bits(xp, (*planes, bound.finished), library),)
    assert found[0] == found[1]
    assert found[0][0] > 2
    plain, planes = bound_on(np, 300, dtype)
    while not plain.finished.all():
        plain.launch()
    assert bits(xp, (*planes, plain.finished), np) == found[0][3]


@dataclass
class Ball:
    z: Scalar
    v: Vector[2]


def test_an_interrupt_moves_all_arrays_or_none(
    xp: TestLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy, calls, outcomes = xp.driver.copy, [0, 0], set[bool]()

    def struck(work: Any) -> None:
        calls[0] += 1
        if calls[0] == calls[1]:
            raise KeyboardInterrupt
        copy(work)

    n = 8
    over = np.arange(n) % 3 > 0
    for place in range(1, 30):
        ball = Ball(xp.arange(float(n)), xp.array(np.arange(2.0 * n).reshape(2, n)))
        mask = xp.array(np.zeros(n, bool))
        active = eagle.ActiveSet(mask, reorder=0.5, planes=[ball])
        mask[...] = xp.array(over)
        calls[:] = 0, place
        with monkeypatch.context() as patch:
            patch.setattr(xp.driver, "copy", struck)
            try:
                active.compact()
            except KeyboardInterrupt:
                pass
            else:
                break
        order = active.order.tolist()
        assert order == xp.asnumpy(ball.z).tolist() == xp.asnumpy(ball.v)[0].tolist()
        assert over[order].tolist() == xp.asnumpy(mask).tolist()
        outcomes.add(order == list(range(n)))
    assert {True, False} == outcomes


def test_what_does_not_fit_is_told(xp: TestLibrary) -> None:
    mask, x = xp.zeros(3, np.bool_), xp.zeros(3)
    for given, said in (
        ({"mask": xp.zeros(3)}, r"'mask': expected bool \(n,\)"),
        ({"mask": xp.zeros((3, 1), np.bool_)}, r"'mask': expected bool \(n,\)"),
        ({"mask": mask, "planes": [x]}, "planes= is for reorder="),
        ({"mask": mask, "reorder": 0.5, "planes": [np.zeros(3)]}, r"planes\[0\]: is on the host"),
        ({"mask": np.zeros(3, bool), "reorder": 0.5, "planes": [x]}, r"planes\[0\]: is on GPU 0"),
        ({"mask": mask, "reorder": 0.5, "planes": [xp.zeros(6)[::2]]}, "side by side"),
        ({"mask": mask, "reorder": 0.5, "planes": [xp.zeros(3, np.int16)]}, "got int16"),
        ({"mask": mask, "reorder": 0.5, "planes": [x, x]}, "shares memory"),
    ):
        with pytest.raises((TypeError, ValueError), match=said):
            eagle.ActiveSet(**given)  # type: ignore[arg-type]
    bound = eagle.deploy(centred).bind(x=x, by=1.0)
    with pytest.raises(ValueError, match="centred reduces or scatters, and on GPU 0"):
        bound.launch(active=eagle.ActiveSet(mask))
    with pytest.raises(ValueError, match="moves samples, but not those of 'left'"):
        bound_on(xp, 3)[0].launch(active=eagle.ActiveSet(mask, reorder=0.5, planes=[x]))
