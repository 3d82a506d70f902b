"""The seed that says in which order nodes run that need not wait for each other."""

from __future__ import annotations

import random
from typing import SupportsIndex

from eagle.params import shown, whole

_seed = 0


def set_seed(seed: SupportsIndex) -> None:
    """Choose the order in which nodes run, for graphs that are launched first from now on.

    The same seed gives the same order again. Raises TypeError for what is no whole number.
    """
    global _seed  # noqa: PLW0603 - the process has one simulated device
    number = whole(seed)
    if number is None:
        raise TypeError(f"set_seed: expected a whole number, got {shown(seed)}")
    _seed = number


def chance() -> random.Random:
    """What the order of a graph is drawn from."""
    return random.Random(_seed)  # noqa: S311 - nobody has to be unable to guess it
