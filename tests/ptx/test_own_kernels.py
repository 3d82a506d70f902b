"""The kernels that a run on a GPU consists of, besides the user's, as PTX."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from eagle.devices.cuda import kernels
from eagle.devices.cuda.kernels import CHUNK, GROUP
from hawk.ir.nodes import Plane, Role
from hawk.ir.types import DType
from hawk.passes.pipeline import optimise
from hawk.targets.ptx.compile import ptx_text
from tests.ptx.machine import launch


def launched(kernel: Any, n: int, **given: Any) -> None:
    """Launch a kernel on arrays and numbers, by name."""
    fn = optimise(kernel.program.trace(DType.F64, frozenset()).function)
    words = [_word(plane, given) for plane in fn.planes if plane.role is not Role.INDEX]
    arguments = [*words, np.int64(n), np.int64(1)]
    launch(ptx_text(fn, "sm_75"), arguments, blocks=-(-n // 32), threads=32, seed=n)


def _word(plane: Plane, given: dict[str, Any]) -> Any:
    if plane.role is not Role.UNIFORM:
        return given[plane.name]
    number = given.get(plane.name)
    if number is None:
        number = len(given[plane.name.removeprefix("extent 0 of ")])
    return np.array(number, plane.dtype.numpy)[()]


@pytest.mark.parametrize("n", [1, CHUNK + 1, 1500])
def test_what_goes_on_is_picked_in_order(n: int) -> None:
    over = np.random.default_rng(n).random(n) < 0.6
    over[0] = False
    due, chunks = np.flatnonzero(~over), -(-n // CHUNK)
    counts, begins, sums = (np.full(max(1, size), -1) for size in (chunks, chunks, 1))
    assert chunks <= GROUP
    places, going = np.full(n, -1), np.array([len(due)])
    launched(kernels.counted, chunks, over=over, count=n, out=counts)
    launched(kernels.summed, 1, counts=counts, count=chunks, out=sums)
    launched(kernels.begun, chunks, counts=counts, sums=sums, out=begins)
    launched(
        kernels.picked,
        n,
        over=over,
        begins=begins,
        going=going,
        count=n,
        chunks=chunks,
        out=places,
    )
    assert [len(due)] == sums.tolist()
    assert due.tolist() == places[: len(due)].tolist()


def test_the_next_launch_is_decided() -> None:
    names = [each.name for each in kernels.decide.parameters][:-3]
    told = dict.fromkeys(names, 0)
    told |= {"asked": 16, "ended": 700, "live": 2000, "longest": 9, "pace": 16, "going": 1500}
    told |= {"left": 20, "taken": 32}
    words = {name: np.array([number]) for name, number in told.items()}
    launched(kernels.decide, 1, **words, least=8, most=64, crowd=256)
    after = {name: int(word[0]) for name, word in words.items()}
    due = {"asked": 4, "pace": 8, "going": 800, "live": 800, "left": 4, "taken": 48}
    due |= {"furthest": 48, "last": 16, "launches": 1, "picks": 1, "mapped": 1, "due": 1, "goes": 1}
    assert {**told, **due, "ended": 0, "longest": 0} == after
