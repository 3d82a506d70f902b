"""Graphs on a GPU, by a driver made for tests."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import eagle
import hawk
from hawk import Int32, Mutable, Param, Scalar
from tests.unit.cuda.gpus import gpu_of_tests


@hawk.kernel
def inc(x: Mutable[Scalar], dt: Param = 1.0):
    x += dt


@hawk.kernel
def twice(x: Scalar) -> Scalar:
    return x + x


@hawk.kernel
def down(k: Mutable[Int32]):
    k -= 1


@pytest.fixture
def xp() -> Iterator[Any]:
    with gpu_of_tests() as library:
        yield library


def test_a_graph_runs(xp: Any) -> None:
    seen: list[float] = []

    @eagle.Graph.builder
    def build(x, k, h, out):
        g = eagle.Graph()
        y = twice(x)
        while k > 0:
            y = twice(y)
            down(k)
        eagle.copy(y, into=h)
        twice(h, buffer=out)
        eagle.opaque(lambda h: seen.append(h.tolist()), reads=h)
        eagle.copy(out, into=x)
        g.result = x
        return g

    x, k = xp.array([1.0, 2.0]), xp.full(1, 2, np.int32)
    h, out = eagle.pinned(2), eagle.pinned(2)
    graph = build(x, k, h, out)
    graph.launch()
    assert [8.0, 16.0] == h.tolist()
    assert [[8.0, 16.0]] == seen
    assert [16.0, 32.0] == xp.asnumpy(x).tolist()
