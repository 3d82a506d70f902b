"""Edges come from memory: checked against all pairs, on regions that are sets of bytes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from eagle.graph.edges import Memory, Touch, edges
from eagle.graph.schedule import depths, order

REGION = st.frozensets(st.integers(0, 5), min_size=1, max_size=3)
TOUCHES = st.lists(st.builds(Touch, st.lists(REGION, max_size=3), st.lists(REGION, max_size=2)))
BYTES = Memory[frozenset[int]](lambda a, b: bool(a & b), lambda _: 0, lambda region: region)


def reached(count: int, waits: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """All pairs of which one comes after the other."""
    after: list[set[int]] = [set() for _ in range(count)]
    for node in range(count):
        for before, later in waits:
            if later == node:
                after[node] |= {before} | after[before]
    return {(before, node) for node in range(count) for before in after[node]}


def needed(touches: list[Touch[frozenset[int]]]) -> set[tuple[int, int]]:
    def meet(some: list[frozenset[int]], others: list[frozenset[int]]) -> bool:
        return any(a & b for a in some for b in others)

    return {
        (i, j)
        for j, later in enumerate(touches)
        for i, first in enumerate(touches[:j])
        if meet(first.writes, [*later.reads, *later.writes]) or meet(first.reads, later.writes)
    }


@given(TOUCHES)
def test_nodes_wait_for_all_that_touch_their_memory_and_for_nobody_else(touches) -> None:
    waits = {(edge.before, edge.after) for edge in edges(touches, BYTES)}
    assert waits <= needed(touches)
    assert reached(len(touches), needed(touches)) == reached(len(touches), waits)


@given(TOUCHES, st.integers(0, 99))
def test_an_order_puts_no_node_before_one_it_waits_for(touches, seed: int) -> None:
    waits = [(edge.before, edge.after) for edge in edges(touches, BYTES)]
    ordered = order(len(touches), waits, seed)
    assert list(range(len(touches))) == sorted(ordered)
    assert all(ordered.index(before) < ordered.index(after) for before, after in waits)
    assert list(range(len(touches))) == order(len(touches), waits)


def test_nodes_of_one_depth_may_run_at_once() -> None:
    assert [0, 0, 1, 2] == depths(4, [(0, 2), (1, 2), (2, 3)])
