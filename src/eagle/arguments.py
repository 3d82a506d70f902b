"""Which value was given for which plane: by position, by name, and as the arrays to return into."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from eagle.bundles import open_objects, place_object
from eagle.interop.base import foreign
from eagle.misfits import can_be_array
from eagle.params import is_number, shown
from hawk.frontend.bundles import Bundle
from hawk.ir.nodes import MUTABLE, Role
from hawk.kernel import RESERVED, Kernel, Output

_OF_KERNELS = {"checks": "checks=True", "contract": "contract=False", "math": 'math="fast"'}
"""Options of `@hawk.kernel` that a call does not have."""


class Arguments:
    """The values of one call, by the name of their plane."""

    __slots__ = ("converted", "meant", "opened", "problems", "texts", "values")

    def __init__(self) -> None:
        self.values: dict[str, object] = {}
        self.converted: set[str] = set()
        """Planes given as lists and the like: their values are arrays now that nobody else has."""
        self.meant: set[str] = set()
        """Planes that a wrong name was probably meant for: they are not missing besides."""
        self.opened: set[str] = set()
        """Parameters that are objects, for which one was given."""
        self.texts: dict[str, str] = {}
        """Of the planes of such an object, how the caller wrote them: `body.mass`."""
        self.problems: list[str] = []

    def refuse(self, name: str, why: str) -> None:
        self.problems.append(f"{name!r}: {why}")


def match(
    kernel: Kernel[..., Any],
    args: Sequence[object],
    planes: Mapping[str, object],
    out: object,
    *,
    lists: bool,
) -> Arguments:
    """Match what was given with the planes of `kernel`. `lists`: make arrays of them."""
    given = Arguments()
    names = [parameter.name for parameter in kernel.parameters]
    declared = [each.name for each in kernel.signature.declared]
    if args:
        _match_positions(kernel, args, declared, given)
    values = given.values
    for name, value in planes.items():
        if name not in names and name not in declared:
            given.refuse(name, _unknown(kernel, name, names, given))
        elif name in values:
            given.refuse(name, f"given twice, by position and by name; write {name}= only")
        else:
            values[name] = value
    if kernel.signature.bundles:
        open_objects(kernel, given)
    if lists:
        _convert_lists(kernel, given)
    if out is not None:
        _match_outputs(kernel, out, given)
    return given


def _match_positions(
    kernel: Kernel[..., Any], args: Sequence[object], names: list[str], given: Arguments
) -> None:
    kinds = [each.kind for each in kernel.__signature__.parameters.values()]
    most = len(names) - kinds.count(inspect.Parameter.KEYWORD_ONLY)
    if len(args) > most:
        takes = f" ({', '.join(names[:most])})" if most else ""
        planes = "1 plane" if most == 1 else f"{most} planes"
        rest = ", ".join(f"{name}=..." for name in names[most:])
        fix = f"; write {rest}" if rest else ""
        given.problems.append(f"expected {planes} by position{takes}, got {len(args)}{fix}")
        given.meant.update(names[most:])
    given.values.update(zip(names[:most], args, strict=False))


def _unknown(kernel: Kernel[..., Any], name: str, names: list[str], given: Arguments) -> str:
    if any(name == output.name for output in kernel.outputs):
        names = [output.name for output in kernel.outputs]
        fix = "out=... for the array to return it in"
        if names == [f"out{i}" for i in range(len(names))]:  # of no object
            fix = f"out=({', '.join(names)}), the arrays to return them in"
        return f"is what {kernel.name} returns; write {fix}"
    if name in _OF_KERNELS:
        return f"is an option of the kernel, not of a call; write @hawk.kernel({_OF_KERNELS[name]})"
    if name in RESERVED:
        return f"is no option of this call, nor a plane of {kernel.name}; leave it out"
    import difflib  # slow to load, and nobody needs it who writes the names right

    roots = [bundle.name for bundle in kernel.signature.bundles]
    close = difflib.get_close_matches(name, [*roots, *names], n=1)
    given.meant.update(close)
    has = f"did you mean {close[0]!r}?" if close else f"it has {', '.join(names)}"
    return f"{kernel.name} has no such plane; {has}"


def _convert_lists(kernel: Kernel[..., Any], given: Arguments) -> None:
    for parameter in kernel.parameters:
        value = given.values.get(parameter.name)
        if parameter.role is Role.UNIFORM or not _is_list(value, parameter.role):
            continue
        scalars = not parameter.element.shape  # a list of a vector's numbers is a lone sample
        if parameter.role in MUTABLE and scalars and kernel.nesting is not None:
            _refuse_lost(kernel, parameter.name, value, given)
            continue
        # Rows may differ in length, and the code of a table raise anything: refused as what it is.
        with suppress(Exception):
            given.values[parameter.name] = np.array(value)
            given.converted.add(parameter.name)


def _refuse_lost(kernel: Kernel[..., Any], name: str, value: object, given: Arguments) -> None:
    """Refuse a list for state, where the kernel returns something else."""
    text = given.texts.get(name, name)
    why = f"{kernel.name} changes it, and returns something else, so what becomes of this "
    kind = type(value).__name__
    given.refuse(
        text, f"{why}{kind} would be lost; write {text} = np.array({text}) before the call"
    )
    del given.values[name]
    given.meant.add(name)


def _is_list(value: object, role: Role) -> bool:
    """Is `value` something that a direct call makes an array of?

    A column of a table is so for inputs only: as state it would look as if it were changed.
    """
    if type(value) is np.ndarray or value is None:
        return False
    if isinstance(value, (list, tuple, range)):
        return True
    if role not in (Role.INPUT, Role.TABLE) or isinstance(value, np.ndarray) or is_number(value):
        return False
    return foreign(value) is None and can_be_array(value)


def _match_outputs(kernel: Kernel[..., Any], out: object, given: Arguments) -> None:
    """Match `out` with what the kernel returns. What is None in a tuple is made by eagle."""
    outputs = kernel.signature.returned
    names = ", ".join(output.name for output in outputs)
    if kernel.nesting is None:
        state = ", ".join(each.name for each in kernel.signature.state)
        changes = f", it changes {state} in place" if state else ""
        given.refuse("out", f"{kernel.name} returns nothing{changes}; leave out= out")
    elif kernel.nesting == "one":
        if isinstance(out, (tuple, list)) and any(isinstance(each, np.ndarray) for each in out):
            got = _counted(out)
            given.refuse("out", f"expected one array, got {got}; write the array without it")
        else:
            _place_output(outputs[0], out, given)
    elif isinstance(out, (tuple, list)) and len(out) == len(outputs):
        for output, array in zip(outputs, out, strict=True):
            if array is not None:
                _place_output(output, array, given)
    else:
        got = _counted(out) if isinstance(out, (tuple, list)) else shown(out)
        given.refuse(
            "out", f"expected a tuple of {len(outputs)} arrays, got {got}; write out=({names})"
        )


def _place_output(output: Output | Bundle, value: object, given: Arguments) -> None:
    """The array, or the object of arrays, for one thing that is returned."""
    if isinstance(output, Bundle):
        place_object(output, value, given, root="out")
    else:
        given.values[output.name] = value


def _counted(out: Sequence[object]) -> str:
    return f"a {type(out).__name__} of {len(out)}"
