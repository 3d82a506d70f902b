"""In which order the nodes of a body may run: none before one that it waits for. Pure."""

from __future__ import annotations

import random
from collections.abc import Iterable


def order(count: int, waits: Iterable[tuple[int, int]], seed: int | None = None) -> list[int]:
    """The nodes 0 to `count` in an order in which they may run; `waits` are pairs (before, after).

    Without a seed it is that of the program, in which every node comes after what it waits for.
    With one it is any other, for tests: the result may not depend on it.
    """
    if seed is None:
        return list(range(count))
    left = [0] * count
    later: list[list[int]] = [[] for _ in range(count)]
    for before, after in waits:
        left[after] += 1
        later[before].append(after)
    ready = [node for node in range(count) if not left[node]]
    chance = random.Random(seed)  # noqa: S311 - nobody has to be unable to guess it
    ordered: list[int] = []
    while ready:
        node = ready.pop(chance.randrange(len(ready)))
        ordered.append(node)
        for each in later[node]:
            left[each] -= 1
            if not left[each]:
                ready.append(each)
    return ordered


def depths(count: int, waits: Iterable[tuple[int, int]]) -> list[int]:
    """How many nodes come one after the other before each: those of one depth may run at once."""
    depth = [0] * count
    for before, after in sorted(waits, key=lambda each: each[1]):
        depth[after] = max(depth[after], depth[before] + 1)
    return depth
