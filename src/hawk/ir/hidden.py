"""Planes that nobody passes: places of samples, sizes of tables and grids, what is given to those.

Their names have a space in them, so no plane of a user is called like one.
"""

from __future__ import annotations

from hawk.ir.nodes import Plane, Role, Value
from hawk.ir.types import DType

SAMPLE_INDEX = "sample index"
"""The sample's own index in the caller's batch: a role of its own, computed by the target."""
N_SAMPLES = "n samples"
"""Samples in the batch: a UNIFORM that whoever binds the planes sets."""
STEP_INDEX = "step index"
"""Steps the sample has taken: a STATE that starts at 0."""

_ROLES = {SAMPLE_INDEX: Role.INDEX, N_SAMPLES: Role.UNIFORM, STEP_INDEX: Role.STATE}
PLACES = tuple(_ROLES)


def extent_name(table: str, axis: int) -> str:
    """The UNIFORM plane, an i32, that holds the extent of a table along one of its axes."""
    return f"extent {axis} of {table}"


def extent_plane(table: str, axis: int) -> Plane:
    name = extent_name(table, axis)
    return Plane(name, Role.UNIFORM, DType.I32, Value(DType.I32, name=name.replace(" ", "_")))


def dimension_name(axis: str) -> str:
    """The UNIFORM plane, an i32, that holds the extent of the grid along one of its dimensions."""
    return f"extent of {axis}"


def dimension_plane(axis: str) -> Plane:
    name = dimension_name(axis)
    return Plane(name, Role.UNIFORM, DType.I32, Value(DType.I32, name=name.replace(" ", "_")))


_WHOLE = "all of "


def whole_name(grid: str) -> str:
    """The TABLE plane with the numbers that all samples have in the plane `grid`."""
    return _WHOLE + grid


def whole_plane(grid: str, dtype: DType) -> Plane:
    name = whole_name(grid)
    return Plane(name, Role.TABLE, dtype, Value(dtype, name=name.replace(" ", "_")))


def grid_of(name: str) -> str:
    """The plane whose numbers of all samples the plane `name` holds; empty if it does not."""
    return name.removeprefix(_WHOLE) if name.startswith(_WHOLE) else ""


def spot_name(scatter: int) -> str:
    """The OUTPUT plane, an i32, with the element that a scatter gives to."""
    return f"spot {scatter}"


def given_name(scatter: int) -> str:
    """The OUTPUT plane with what a scatter gives."""
    return f"given {scatter}"


def is_hidden(name: str) -> bool:
    """Is the plane called `name` hawk's own?"""
    return " " in name


def place_plane(name: str) -> Plane:
    """One of the three planes above."""
    return Plane(name, _ROLES[name], DType.I64, Value(DType.I64, name=name.replace(" ", "_")))
