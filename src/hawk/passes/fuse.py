"""Several programs as one: for each sample one after the other, in one pass over the arrays.

Planes that are the same memory become one plane. What a program stores, those after it read as a
value. Nothing is computed otherwise than before: contraction is over when a program is traced, and
passes keep every bit, so no operation of one program melts into one of the next.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

from hawk.ir.builder import Builder
from hawk.ir.nodes import ARRAYS, Block, Function, Plane, Role, Value, used_values
from hawk.passes.rewrite import copy_block


class Part(NamedTuple):
    """A program, and which memory each of its planes is: a number, the same for the same memory.

    Arrays with one element for each sample may be the same, and the INDEX is. A number for the
    whole launch and a table have a number of their own.
    """

    function: Function
    memory: tuple[int, ...]


def fuse(parts: Sequence[Part], stored: Collection[int]) -> Part:
    """One step of each program, in their order.

    `stored` are the arrays whose numbers somebody wants at the end. Others that are written are no
    planes of what is given, unless they are read before. The programs have not been through the
    passes, are of one float width, have no mask, no reductions and no scatters.
    """
    builder = Builder()
    planes: dict[int, Plane] = {}
    """The first plane of each memory, with a read of its own."""
    now: dict[int, Value] = {}
    """What each memory holds after the programs so far, as far as one of them looked or wrote."""
    written: set[int] = set()
    for function, memory in parts:
        numbers: dict[str, int] = {}
        params: list[Value] = []
        arguments: list[Value] = []
        for plane, number in zip(function.planes, memory, strict=True):
            numbers[plane.name] = number
            planes.setdefault(number, replace(plane, read=None))
            if plane.read is None:
                continue
            if number not in now:
                now[number] = Value(plane.dtype, plane.read.loc, plane.read.name)
                planes[number] = replace(planes[number], read=now[number])
            params.append(plane.read)
            arguments.append(now[number])
        stores = [(numbers[name], value) for name, value in function.stores]
        block = Block(function.step, tuple([value for _, value in stores]), tuple(params))
        after = copy_block(block, arguments, builder)
        now.update(zip([number for number, _ in stores], after, strict=True))
        written.update(number for number, _ in stores)

    kept = written & set(stored)
    whole = Function(
        name=" then ".join(function.name for function, _ in parts),
        planes=(),
        real=parts[0].function.real,
        step=tuple(builder.items),
        stores=tuple([(_name(number), now[number]) for number in planes if number in kept]),
        loc=parts[0].function.loc,
    )
    used = used_values(whole)
    found: dict[int, Plane] = {}
    for number, plane in planes.items():
        read = plane.read if plane.read in used else None
        role = _role(plane, read=read is not None, stored=number in kept)
        if role is not None:
            found[number] = Plane(_name(number), role, plane.dtype, read, plane.loc)
    return Part(replace(whole, planes=tuple(found.values())), tuple(found))


def _role(plane: Plane, *, read: bool, stored: bool) -> Role | None:
    """What a plane is to all programs together; None where it is nothing."""
    if plane.role not in ARRAYS:
        return plane.role
    if stored:
        return Role.STATE if read else Role.OUTPUT
    return Role.INPUT if read else None


def _name(number: int) -> str:
    return f"m{number}"
