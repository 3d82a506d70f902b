"""What was there before a branch or loop that is decided at replay: arrays made in it are not.

Python would make an array in a body anew in each pass; a graph has the one that was made when it
was built. That shows once a node writes it, so such an array is told from one that somebody held
before: by a name of the builder, a global, or in lists, dicts and objects of those.
"""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST = 100_000
"""Objects that are looked at, the nearest first; what is held farther away counts as not held. Then
an array that was there is refused, with what to write; none that was made is taken for one."""
_OTHERS = ("hawk", "eagle", "numpy", "builtins")
"""Whose objects hold no array of a user's."""


def is_held(array: NDArray[Any], names: Mapping[str, Any], known: Mapping[str, Any]) -> bool:
    """Do the `names` of a builder, or what is `known` to it from outside, lead to this array?"""
    return _lead_to(array, names) or _lead_to(array, known)


def _lead_to(array: NDArray[Any], names: Mapping[str, Any]) -> bool:
    wanted, seen = _owner(array), set[int]()
    open_ = deque(names.values())
    while open_:
        each = open_.popleft()
        if isinstance(each, np.ndarray):
            if _owner(each) is wanted:
                return True
            continue
        if id(each) in seen:
            continue
        seen.add(id(each))
        if len(seen) > MOST:
            return False
        open_ += _content(each, seen)
    return False


def _content(each: Any, seen: set[int]) -> list[Any]:
    """What a container, a function or an object holds; of a module its arrays alone."""
    match each:
        case dict():
            return list(each.values())
        case list() | tuple() | set() | frozenset():
            return list(each)
        case types.ModuleType():
            return _arrays(vars(each))
        case types.FunctionType():
            names = {} if id(each.__globals__) in seen else each.__globals__
            seen.add(id(each.__globals__))
            return [*map(_inside, each.__closure__ or ()), *_arrays(names)]
        case types.MethodType():
            return [each.__self__, each.__func__]
        case type() | types.BuiltinFunctionType():
            return []
        case _ if type(each).__module__.partition(".")[0] in _OTHERS:
            return []
        case _:
            slots = [getattr(each, name, None) for name in getattr(type(each), "__slots__", ())]
            held = getattr(each, "__dict__", None)
            return [*slots, *(held.values() if isinstance(held, dict) else ())]


def _arrays(names: Mapping[str, Any]) -> list[Any]:
    return [value for value in names.values() if isinstance(value, np.ndarray)]


def _inside(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not assigned yet
        return None


def _owner(array: NDArray[Any]) -> Any:
    """The array whose memory a view shows."""
    owner: Any = array
    while isinstance(owner, np.ndarray) and owner.base is not None:
        owner = owner.base
    return owner
