"""Any order that the edges allow gives the same bits, and an edge that is missing is seen."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

import eagle
import hawk
from eagle.devices.plan import Item
from eagle.graph.touches import waits_of
from hawk import Mutable, Vector
from tests.unit.cuda.gpus import device_for, parametrize, simulated_only
from tests.unit.graph.programs import texts
from tests.unit.graph.test_random_graphs import LONG, outcome

xp: Any = None
WHERE = ""
on_device = device_for(globals())
pytest_generate_tests = parametrize


@hawk.kernel
def step(x: Vector[2]) -> Vector[2]:
    return hawk.math.vec(x[1], 0.5 * x[0] + 1.0)


@hawk.kernel
def fade(x: Mutable[Vector[2]], y: Vector[2]):
    x = 0.5 * x + y


@hawk.kernel
def swing(x: Mutable[Vector[2]]):
    x[0] = 0.25 * x[0] + x[1]
    x[1] = 1.0 - x[0]


@eagle.Graph.builder
def film(a, b, c, h_frame):
    g = eagle.Graph()
    with g.parallel() as p:
        with p.branch():
            eagle.copy(a, into=h_frame)
        with p.branch() as w:
            b = step(a)
            c = step(b)
            w.wait(h_frame)
            a = step(c, buffer=a)
    return g


def test_the_double_buffer_is_right_in_every_round_in_any_order(programs: int) -> None:
    rounds, seeds = (20, 25 if WHERE != "GPU 0" else 5) if programs < LONG else (500, 200)
    for number in range(seeds):
        xp.set_seed(number)
        start = np.random.default_rng(number).normal(size=(2, 7))
        a, b, c = xp.asarray(start), xp.empty((2, 7)), xp.empty((2, 7))
        frame, expected = eagle.pinned((2, 7)), start
        graph = film(a, b, c, frame)
        for _ in range(rounds):
            graph.launch()
            assert expected.tobytes() == frame.tobytes()
            expected = step(step(step(expected)))
        graph.launch(rounds)
        for _ in range(rounds):
            last, expected = expected, step(step(step(expected)))
        assert last.tobytes() == frame.tobytes()
        assert expected.tobytes() == xp.asnumpy(a).tobytes()


def test_without_its_wait_it_is_refused_with_the_wait_to_write() -> None:
    @eagle.Graph.builder
    def unordered(a, b, c, h_frame):
        g = eagle.Graph()
        with g.parallel() as p:
            with p.branch():
                eagle.copy(a, into=h_frame)
            with p.branch() as w:
                b = step(a)
                c = step(b)
                a = step(c, buffer=a)
        return g

    planes = [xp.zeros((2, 7)) for _ in range(3)]
    with pytest.raises(eagle.GraphError, match=r"w\.wait\(h_frame\)") as error:
        unordered(*planes, eagle.pinned((2, 7)))
    assert "[G301]" in str(error.value)


# -- random graphs ---------------------------------------------------------------------------------


def on_a_device(text: str) -> str:
    """The same program where Python functions get host arrays, and copies are without gaps."""
    lines: list[str] = []
    for line in text.splitlines():
        call = re.fullmatch(r"( +)eagle\.opaque\(host, reads=\((\w),\), writes=(\w)\)", line)
        if call is None:
            lines.append(line.replace("[:, :2]", "[1]").replace("[:, 1:]", "[0]"))
        elif call[1] == "    ":
            lines.append(f"    away({call[2]}, {call[3]})")
        else:
            lines.append(f"{call[1]}push({call[3]}, {call[2]})")
    return "\n".join([*lines, ""])


def random_graphs(examples: int, orders: int = 1, most: int = 6) -> Counter[str]:
    """Run random graphs on the device, in so many orders each, and on the host.

    How many were built, or why they were not.
    """
    seen: Counter[str] = Counter()

    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
    @given(texts(most).map(on_a_device), st.integers(0, 99))
    def each(text: str, number: int) -> None:
        note(text)
        xp.set_seed(number)
        there = outcome(text, 2, by_hand=False, there=xp.over)
        here = outcome(text, 2, by_hand=False)
        if isinstance(there, Exception):
            seen[getattr(there, "code", "bind")] += 1
            assert isinstance(here, Exception), "the host builds it"
            assert str(here) == str(there)
        else:
            seen["built"] += 1
            assert here == there
            for other in range(number + 1, number + orders):
                xp.set_seed(other)
                assert here == outcome(text, 2, by_hand=False, there=xp.over)

    each()
    return seen


def test_random_graphs_have_the_bits_of_the_host_in_any_order(programs: int) -> None:
    if programs < LONG:
        seen = random_graphs(max(30, programs // 5) // (2 if WHERE == "GPU 0" else 1))
    else:
        seen = random_graphs(programs, orders=20, most=14)
    assert seen["built"] > (6 if programs < LONG else programs // 4), seen


# -- edges that are missing ------------------------------------------------------------------------


def implied(edge: tuple[int, int], waits: list[tuple[int, int]]) -> bool:
    """Do other edges keep its two nodes in order?"""
    reached, open_ = set[int](), [edge[0]]
    while open_:
        at = open_.pop()
        for before, after in waits:
            if before == at and (before, after) != edge and after not in reached:
                reached.add(after)
                open_.append(after)
    return edge[1] in reached


def line_of_nodes(chance: random.Random, count: int) -> Callable[..., Any]:
    """A builder of nodes that forget nothing: what comes too early or too late is seen later."""
    script = [
        (chance.choice(("fade", "fade", "swing", "there", "home")), *chance.sample(range(4), 2))
        for _ in range(count)
    ]

    def build(planes, hosts):
        g = eagle.Graph()
        for kind, one, two in script:
            if kind == "fade":
                fade(planes[one], planes[two])
            elif kind == "swing":
                swing(planes[one])
            elif kind == "there":
                swing(hosts[one % 2])  # or the same numbers may be copied twice
                eagle.copy(hosts[one % 2], into=planes[4])
                fade(planes[two], planes[4])
            else:
                swing(planes[one])
                eagle.copy(planes[one], into=hosts[2])
                fade(hosts[two % 2], hosts[2])
        return g

    return build


def bits(build: Callable[..., Any], number: int, without: tuple[int, int] | None) -> list[bytes]:
    """All arrays after some replays in an order of the device, an edge left out."""
    rng = np.random.default_rng(3)
    xp.set_seed(number)
    planes = [xp.asarray(rng.normal(size=(2, 4))) for _ in range(5)]
    hosts = [eagle.pinned((2, 4)) for _ in range(3)]
    graph = eagle.Graph.builder(build)(planes, hosts)

    def waits(items: list[Item]) -> list[tuple[int, int]]:
        return [edge for edge in waits_of(items) if edge != without]

    graph.plan.waits = waits
    graph.launch(16)
    return [xp.asnumpy(each).tobytes() for each in (*planes, *hosts)]


def dropped(lines: int) -> tuple[int, int]:
    """Edges that were left out, one at a time, and how many of these the device has shown."""
    chance, tried, caught = random.Random(5), 0, 0
    for _ in range(lines):
        build = line_of_nodes(chance, 8)
        right = bits(build, 0, None)
        assert right == bits(build, 1, None)
        planes = [xp.zeros((2, 4)) for _ in range(5)], [eagle.pinned((2, 4)) for _ in range(3)]
        waits = waits_of(eagle.Graph.builder(build)(*planes).plan.body)
        for edge in waits:
            if not implied(edge, waits):
                tried += 1
                caught += any(bits(build, number, edge) != right for number in range(8))
    return tried, caught


@simulated_only
def test_an_edge_that_is_missing_is_seen(programs: int) -> None:
    tried, caught = dropped(5) if programs < LONG else dropped(40)
    print(f"{caught} of {tried} edges that no others imply were missed when left out")
    assert tried > 30
    assert caught >= 0.95 * tried
