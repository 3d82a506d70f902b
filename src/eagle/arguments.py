"""Which value was given for which plane: by position, by name, and as the arrays to return into."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from eagle.params import shown
from hawk.ir.nodes import Role
from hawk.kernel import Kernel


@dataclass(slots=True)
class Arguments:
    """The values of one call, by the name of their plane."""

    values: dict[str, object] = field(default_factory=dict[str, object])
    converted: set[str] = field(default_factory=set[str])
    """Planes given as lists: their values are arrays now that nobody else holds."""
    meant: set[str] = field(default_factory=set[str])
    """Planes that a wrong name was probably meant for: they are not missing on top of that."""
    problems: list[str] = field(default_factory=list[str])

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
    if args:
        _match_positions(kernel, args, names, given)
    for name, value in planes.items():
        if name not in names:
            given.refuse(name, _unknown(kernel, name, names, given))
        elif name in given.values:
            given.refuse(name, "given twice, by position and by name")
        else:
            given.values[name] = value
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
        given.problems.append(f"takes at most {most} planes by position, got {len(args)}")
    given.values.update(zip(names[:most], args, strict=False))


def _unknown(kernel: Kernel[..., Any], name: str, names: list[str], given: Arguments) -> str:
    if any(name == output.name for output in kernel.outputs):
        return f"is what {kernel.name} returns; give its array as out="
    import difflib  # slow to load, and nobody needs it who writes the names right

    close = difflib.get_close_matches(name, names, n=1)
    given.meant.update(close)
    has = f"did you mean {close[0]!r}?" if close else f"it has {', '.join(names)}"
    return f"{kernel.name} has no such plane; {has}"


def _convert_lists(kernel: Kernel[..., Any], given: Arguments) -> None:
    for parameter in kernel.parameters:
        value = given.values.get(parameter.name)
        if parameter.role is Role.UNIFORM or not isinstance(value, (list, tuple, range)):
            continue
        try:
            given.values[parameter.name] = np.asarray(value)
        except ValueError:  # rows of different length: refused as the list it is
            continue
        given.converted.add(parameter.name)


def _match_outputs(kernel: Kernel[..., Any], out: object, given: Arguments) -> None:
    """Match `out` with what the kernel returns. What is None in a tuple is made by eagle."""
    outputs = kernel.outputs
    if kernel.nesting is None:
        given.refuse("out", f"{kernel.name} returns nothing")
    elif kernel.nesting == "one":
        given.values[outputs[0].name] = out
    elif isinstance(out, (tuple, list)) and len(out) == len(outputs):
        pairs = zip(outputs, out, strict=True)
        given.values.update((output.name, array) for output, array in pairs if array is not None)
    else:
        got = f"{len(out)}" if isinstance(out, (tuple, list)) else shown(out)
        given.refuse("out", f"expected a tuple of {len(outputs)} arrays, got {got}")
