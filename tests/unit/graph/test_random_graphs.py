"""Random graphs: so many launches are the same builder, run as the Python it is, so many times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

import eagle
from tests.unit.graph.programs import arrays, function, texts

seen: Counter[str] = Counter()


def outcome(
    text: str,
    rounds: int,
    *,
    by_hand: bool,
    seed: int | None = None,
    there: Callable[[Any], Any] | None = None,
) -> Any:
    """All arrays after so many rounds, and the results; or the error that the program ends in.

    `there` puts an array on another device.
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
    except (eagle.BindError, eagle.GraphError) as error:
        return error
    if there is not None:
        result = [eagle.xp_for("simulated").asnumpy(each) for each in result]
    return [np.asarray(each).tobytes() for each in (*memory.values(), *result)]


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(texts(), st.integers(1, 3), st.integers(0, 9))
def launches_are_the_nodes_by_hand(text: str, rounds: int, seed: int) -> None:
    note(text)
    graph = outcome(text, rounds, by_hand=False)
    if isinstance(graph, Exception):
        seen[getattr(graph, "code", "bind")] += 1
        return
    seen["built"] += 1

    hand = outcome(text, rounds, by_hand=True)

    assert hand == graph
    assert hand == outcome(text, rounds, by_hand=False, seed=seed), "in another legal order"


def test_launches_are_the_nodes_by_hand_in_any_order() -> None:
    launches_are_the_nodes_by_hand()
    assert seen["built"] > 25, "most programs are refused, so little was tried"
