"""Random graphs: so many launches are the same builder, run as the Python it is, so many times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

import eagle
import hawk
from eagle.devices.arrays import DeviceArray, home_of, memory_of
from eagle.devices.host import fusion
from tests.unit.graph.programs import arrays, function, texts

seen: Counter[str] = Counter()
LONG = 1000
"""So many `--programs` are a long run."""


def outcome(
    text: str,
    rounds: int,
    *,
    by_hand: bool,
    seed: int | None = None,
    there: Callable[[Any], Any] | None = None,
    inputs: bool = True,
) -> Any:
    """All arrays after so many rounds, and the results; or the error that the program ends in.

    `there` puts an array on another device. Without `inputs` only the results are given, for arrays
    there that are others than those here.
    """
    memory = arrays()
    planes = memory if there is None else {name: there(each) for name, each in memory.items()}
    run = function(text, by_hand=by_hand)
    try:
        if by_hand:
            for _ in range(rounds):
                result = run(**planes).result
        else:
            graph = eagle.Graph.builder(run)(**planes)
            graph._seed = seed
            result = graph(rounds)
    except (eagle.BindError, hawk.HawkError) as error:  # the walk has errors of its own
        return error
    if there is not None:
        result = [
            home_of(each).read(memory_of(each)) if isinstance(each, DeviceArray) else each
            for each in result
        ]
    given = memory.values() if inputs else ()
    return [np.asarray(each).tobytes() for each in (*given, *result)]


def launches_are_the_nodes_by_hand(examples: int, orders: int, most: int, every: int) -> None:
    """Replay random graphs in so many orders each; every so many-th one with its kernels fused."""

    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
    @given(texts(most), st.integers(1, 3), st.integers(0, 99))
    def each(text: str, rounds: int, seed: int) -> None:
        note(text)
        graph = outcome(text, rounds, by_hand=False)
        if isinstance(graph, Exception):
            seen[getattr(graph, "code", "bind")] += 1
            return
        seen["built"] += 1

        hand = outcome(text, rounds, by_hand=True)

        assert hand == graph
        for order in range(seed, seed + orders):
            with pytest.MonkeyPatch.context() as patch:
                if order % every == 0:
                    patch.setattr(fusion, "FEWEST", 1)
                    seen["fused"] += 1
                other = outcome(text, rounds, by_hand=False, seed=order)
            assert hand == other, "in another legal order"

    each()


def test_launches_are_the_nodes_by_hand_in_any_order(programs: int) -> None:
    if programs < LONG:
        launches_are_the_nodes_by_hand(80, orders=1, most=6, every=10)
    else:
        launches_are_the_nodes_by_hand(programs, orders=20, most=14, every=10)
    least = 25 if programs < LONG else programs // 4
    assert seen["built"] > least, "most programs are refused, so little was tried"
    assert seen["fused"] > 1
