"""Objects of dataclasses while a kernel is traced: which object it is, and what it holds.

What objects hold is among the names of a walk, so paths and loops treat it as they treat names. Two
names of one object see what is assigned under either. Where paths meet with different objects under
one name, that name holds a new object, which may be any of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

OBJECT = "object "
"""How the keys begin under which names have what objects hold; no name of a user has a space."""


@dataclass(frozen=True, slots=True, eq=False)
class Instance:
    """An object of a dataclass. Its `Fields` are among the names, under its key."""

    cls: type
    number: int

    @property
    def key(self) -> str:
        return f"{OBJECT}{self.number}"


@dataclass(frozen=True, slots=True, eq=False)
class Fields:
    """What an object holds on the path that is walked, and which objects it may be."""

    cls: type
    names: tuple[str, ...]
    parts: tuple[Any, ...]
    """What each field holds; Unusable where it holds no single thing."""
    label: str
    """How the object is called in messages."""
    cells: tuple[int, ...]
    """The place in memory that stands for it, see `small_arrays`."""
    time: int
    """When it was last known to hold this."""
    also: frozenset[int] = frozenset()
    """Places of the objects that it may be as well, where paths met."""


def objects_in(names: Mapping[str, Any]) -> dict[str, Any]:
    """What objects hold. All calls see the same: it is handed to a helper, and handed back."""
    return {name: value for name, value in names.items() if name.startswith(OBJECT)}
