"""From a function and its signature to a program: one step of one sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hawk.errors import HawkError
from hawk.frontend.bundles import Bundle
from hawk.frontend.events import Events
from hawk.frontend.frame import Frame
from hawk.frontend.kernel_domain import KernelDomain
from hawk.frontend.leave import Leave
from hawk.frontend.lookup import Reads
from hawk.frontend.signature import Output, Parameter, Signature
from hawk.frontend.small_arrays import SmallArray
from hawk.frontend.source import Source
from hawk.frontend.values import GridScalar, Scalar, TableView, Unusable
from hawk.ir.builder import Builder
from hawk.ir.hidden import STEP_INDEX
from hawk.ir.nodes import Function, Plane, Role, Value
from hawk.ir.types import DType

NOT_DONE = False
"""What the mask of a sample holds when a step starts."""


@dataclass(frozen=True, slots=True, eq=False)
class Traced:
    """A program, with every object from outside the function that it depends on."""

    function: Function
    reads: Reads
    events: Events
    """What the kernel looks out for, with `checks`; nothing in `function` depends on it."""
    as_long: tuple[tuple[str, str], ...] = ()
    """Pairs of tables that have to have as many elements."""

    def is_current(self) -> bool:
        """Whether tracing again would read the same objects. About 1 us."""
        return self.reads.are_current()


def trace(
    source: Source,
    signature: Signature,
    *,
    real: DType,
    uniform: frozenset[str] = frozenset(),
    contract: bool = True,
    checks: bool = False,
    fast: bool = False,
) -> Traced:
    """The program of one step, for floats of width `real`.

    `uniform` names the inputs that are one number for the whole launch. `fast` is `math="fast"`,
    also for what kernels compute that are called in this one. Raises HawkError.
    """
    builder = Builder(source.head())
    tables = any(each.table or each.grid for each in signature.parameters)
    domain = KernelDomain(builder, real, contract=contract, checks=checks, tables=tables, fast=fast)
    planes, groups = _planes(source, signature, real, uniform)
    domain.numbers.grid = signature.grid
    if checks and signature.grid is not None:  # who replays a step asks, even if no program does
        for axis in signature.grid.axes:
            domain.numbers.dimension(axis)
    names: dict[str, Any] = {}

    def read(each: Parameter) -> Any:
        """What a plane holds when a step starts."""
        if each.role is Role.MASK:
            return domain.numbers.settle(NOT_DONE)
        parts = [Scalar(plane.read) for plane in groups[each.name] if plane.read is not None]
        if each.table is not None:
            dtype = each.element.at(real)
            shared = each.role is Role.SHARED
            return TableView(each.text, domain.numbers, parts[0], each.table, dtype, shared)
        if each.grid is not None:
            return GridScalar(
                parts[0].value,
                name=each.text,
                numbers=domain.numbers,
                form=each.grid,
                changed=each.role is Role.STATE,
            )
        shape = each.element.shape
        return domain.memory.fresh(shape, parts) if shape else parts[0]

    for each in signature.declared:
        if isinstance(each, Bundle):
            objects = domain.expressions.objects
            names[each.name] = objects.of_planes(names, each, read, each.name)
        else:
            names[each.name] = read(each)
    leave = Leave(domain, signature, names)
    frame = Frame(source, names, planes=leave.planes, leave=leave)
    try:
        final = domain.walker.function(frame)
    except RecursionError:
        if domain.expressions.calls.deepest[0] >= 8:
            raise domain.expressions.calls.too_deep() from None
        what = "an expression of this kernel, or what it calls, is nested too deeply"
        raise HawkError(
            "H403", what, source.head(), "parts of it with names of their own"
        ) from None
    stores: list[tuple[str, Value]] = []
    for name, group in groups.items():
        if group[0].role in (Role.STATE, Role.MASK, Role.OUTPUT):
            value = final[name]
            if isinstance(value, Unusable):
                raise value.why(name, source.head())
            parts = value.parts if isinstance(value, SmallArray) else (value,)
            stores += [(p.name, v.value) for p, v in zip(group, parts, strict=True)]
    events = Events()
    if domain.watch is not None:
        by_name = dict(stores)
        stored = [(plane, by_name[plane.name]) for plane in planes if plane.name in by_name]
        events = domain.watch.finish(stored)
    hidden = domain.numbers.hidden
    if STEP_INDEX in hidden:
        taken = domain.numbers.place(STEP_INDEX).value
        stores.append((STEP_INDEX, builder.apply("add", taken, builder.const(1, DType.I64))))
    scatters = domain.scatters
    function = Function(
        source.name,
        (*planes, *hidden.values(), *domain.reductions.planes, *scatters.planes),
        real,
        tuple(builder.items),
        (*stores, *scatters.stores),
        loc=source.head(),
        reductions=tuple(domain.reductions.made),
        scatters=tuple(scatters.made),
    )
    return Traced(function, domain.reads, events, tuple(domain.numbers.as_long))


def _planes(
    source: Source, signature: Signature, real: DType, uniform: frozenset[str]
) -> tuple[tuple[Plane, ...], dict[str, list[Plane]]]:
    """The planes of the program: one for each component; and those of each parameter and output."""
    args = source.node.args
    nodes = {arg.arg: arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)}
    groups: dict[str, list[Plane]] = {}
    each: Parameter | Output
    for each in (*signature.parameters, *signature.outputs):
        role = Role.UNIFORM if each.name in uniform else each.role
        where = source.loc(nodes[each.root]) if each.root in nodes else source.head()
        dtype, group = each.element.at(real), groups.setdefault(each.name, [])
        for name in each.element.components(each.name):
            reads = role not in (Role.MASK, Role.OUTPUT)
            group.append(
                Plane(name, role, dtype, Value(dtype, where, name) if reads else None, where)
            )
    return tuple([plane for group in groups.values() for plane in group]), groups
