"""How many steps a device takes in its next launch, and when it picks what is left: numbers only.

The device decides by itself, so these functions run there: hawk compiles their text.
"""

from __future__ import annotations

from typing import NamedTuple

FEW, MANY = 16, 4
"""A launch in which less than the 16th part of its samples became done is followed by a longer one,
one in which more than a quarter did by a shorter one."""
SHORTEST, LONGEST = 8, 64
"""Steps of a launch where the device chooses them."""
FIRST = 16
MOST_AT_ONCE = 4096
"""Steps of a launch of a run in one pass, at most: it cannot be stopped on its way."""
WORK_AT_ONCE = 2**32
"""Steps of all samples together in such a launch, as far as that leaves 64 to each."""
CROWD = 256
"""Samples for each multiprocessor that are too few to keep it busy: they are picked no more."""
CROWDS = 4
"""Threads that take samples in turns, as crowds: 1,024 for each multiprocessor. So many are there
at once where each has 64 registers, as most kernels do; where some are not, they come later."""
EACH = 4
"""Samples for each of these threads at least: with fewer there is little left to take when the
first are done, and a map of what goes on does as well."""


class Pace(NamedTuple):
    """Within what bounds the steps of launches are chosen."""

    first: int
    least: int
    most: int
    takers: int = 0
    """Threads that take the next sample when theirs is done, `most` rounds in a launch. 0: each
    launch goes through all samples."""


def fixed(steps: int) -> Pace:
    """Always as many."""
    return Pace(steps, steps, steps)


def auto(largest: int) -> Pace:
    """Of the device's choice, at most `largest`."""
    return Pace(min(FIRST, largest), min(SHORTEST, largest), min(LONGEST, largest))


def one_pass(n: int, *, crowd: int, steps: int = MOST_AT_ONCE) -> Pace:
    """For samples that all run to their end, or `steps` until somebody wants to hear of it.

    As many steps as may be where all samples run at once anyhow. Of many samples each thread takes
    some, one after the other, if not for a few steps only: to take one costs some. Else fewer steps
    while many become done, so that those that are left can be picked.
    """
    takers = CROWDS * crowd
    if n >= EACH * takers and steps >= LONGEST:
        return Pace(MOST_AT_ONCE, MOST_AT_ONCE, MOST_AT_ONCE, takers)
    most = max(LONGEST, min(MOST_AT_ONCE, WORK_AT_ONCE // max(1, n)))
    return fixed(most) if n <= crowd else Pace(LONGEST, FIRST, most)


# -- compiled by hawk too: whole numbers, `if`, `min` and `max` ----------------------------------


def next_steps(steps: int, finished: int, going: int, least: int, most: int) -> int:
    """Steps of the launch after one of `steps`, in which `finished` became done; `going` go on."""
    before = going + finished
    if FEW * finished < before:
        steps = 2 * steps
    elif MANY * finished > before:
        steps = steps // 2
    return max(least, min(most, steps))


def is_due(going: int, places: int, crowd: int) -> bool:
    """Should the `going` samples be picked, when launches look at `places`?"""
    return going > 0 and places > crowd and 2 * going <= places


def is_through(following: int, n: int, holding: int) -> bool:
    """Has every sample had its turn, when `holding` threads are in the midst of theirs?"""
    return following >= n and holding == 0
