"""What a graph of two memories may hold: the rules of CUDA graphs, for devices besides the host.

The driver says "invalid argument", late and of no node. So every rule is looked at when the graph
is built, and what breaks it is named.
"""

from __future__ import annotations

from collections.abc import Iterator

from eagle.devices.base import Cut, Objection
from eagle.devices.host.device import HOST
from eagle.devices.host.pinned import is_pinned, pinned_like
from eagle.devices.host.stretches import same_memory
from eagle.devices.plan import (
    Call,
    Copy,
    If,
    Item,
    Launch,
    Loop,
    Plan,
    Put,
    Reduce,
    Region,
    cells_of,
    parts_of,
    walk,
)
from eagle.overlap import overlap


def objections(plan: Plan) -> list[Objection]:
    """What is wrong with a graph that has planes on a device, in the order of the program."""
    return list(_of_body(plan.body, "", plan.device.name))


def _of_body(body: list[Item], control: str, device: str) -> Iterator[Objection]:
    """`control`: the branch or loop that the body is part of; empty for none."""
    for item in body:
        yield from _of_cells(item, device)
        yield from _of_node(item, control, device)
        for part in parts_of(item):
            yield from _of_body(part, item.name, device)


def _of_node(item: Item, control: str, device: str) -> Iterator[Objection]:
    hosts = [each for each in (*item.reads, *item.writes) if each.root.device is HOST]
    match item:
        case Copy():
            yield from _of_copy(item, control, device)
        case Call() if item.captured:
            yield from _of_captured(item, hosts, device)
        case Call() if control:
            kind = {"opaque": "a host function"}.get(item.kind, f"a {item.kind} on the host")
            yield _in_body(item, kind, control, device)
        case Launch() | Reduce() if control and hosts:
            kind = "a host kernel" if isinstance(item, Launch) else "a reduction on the host"
            yield _in_body(item, kind, control, device)
        case _:
            return


def _of_captured(item: Call, hosts: list[Region], device: str) -> Iterator[Objection]:
    if hosts:
        what = f"{item.name} is captured on {device}, and `{hosts[0].name}` is on the host"
        yield Objection(item, what, f"arrays on {device}; or {item.name} without capture=True")


def _in_body(item: Item, kind: str, control: str, device: str) -> Objection:
    what = f"`{item.name}` is {kind} inside `{control}`, which {device} decides by itself; a CUDA "
    what += "graph has no host nodes there"
    fix = f"it before or after `{control}`"
    if not isinstance(item, Call):
        fix += f"; or its planes on {device}"
    return Objection(item, what, fix)


def _of_copy(item: Copy, control: str, device: str) -> Iterator[Objection]:
    (source,), (into,) = item.reads, item.writes
    if same_memory(source.view, into.view):
        return
    hosts = [each for each in (source, into) if each.root.device is HOST]
    if item.join:
        if hosts and control:
            what = f"`{into.name}` is one host array or another, as `{control}` decides on {device}"
            fix = f"eagle.copy(...) of both to arrays on {device}, before"
            yield Objection(item, what, fix)
        return
    for end in (source, into):
        if end.root.device is not HOST and not end.view.flags.c_contiguous:
            what = f"eagle.copy: `{end.name}` is not contiguous, and a copy on {device} needs that"
            fix = "a kernel that writes it; or a copy of the whole array, and a view of that"
            yield Objection(item, what, fix)
    pageable = next((each for each in hosts if not is_pinned(each.view)), None)
    if control and pageable is not None:
        what = f"`{pageable.name}` is pageable, and copied inside `{control}`; there a CUDA graph "
        what += "copies from and to pinned memory only"
        name = pageable.root.parameter or "an array"
        yield Objection(item, what, f"{name} = {pinned_like(pageable.root.view)}, made before")


def _of_cells(item: Item, device: str) -> Iterator[Objection]:
    """Cells that the device looks at are its own."""
    match item:
        case If():
            tests, does = [item.test], f"`{item.name}` is decided"
        case Loop():
            tests = [*item.exits, *([] if item.test is None else [item.test])]
            does = f"`{item.name}` is decided"
        case Put():
            tests, does = [], f"`{item.name}` is computed"
        case _:
            return
    cells = [cell for test in tests for cell in cells_of(test) if cell.number is None]
    regions = [cell.region for cell in cells]
    if isinstance(item, Put):
        constant = {id(r) for r in item.reads if r.root.made and r.root.device is HOST}
        regions = [r for r in (*item.reads, *item.writes) if id(r) not in constant]
    if isinstance(item, Loop) and item.counter is not None and item.counter.limit.number is None:
        regions.append(item.counter.limit.region)
    for region in regions:
        if region.root.device is HOST:
            what = f"the cell `{region.name}` is on the host, and {does} on {device}"
            fix = f"eagle.copy({region.name}, into=<a cell on {device}>) before, and that cell here"
            if region.root.made:
                fix = f"the arrays on {device} as parameters of the builder"
            yield Objection(item, what, fix)
            return


def cuts(plan: Plan) -> list[Cut]:
    """Nodes that cannot be in one graph with those before them.

    A pageable array is staged by the host when the graph is launched, so whatever writes it in the
    same replay has to be over by then.
    """
    found: list[Cut] = []
    written: list[tuple[Item, Region]] = []
    for item in plan.body:
        if isinstance(item, Call) and item.eager:
            found.append(Cut(item, f"`{item.name}` is eager"))
            written.clear()
            continue
        if isinstance(item, Copy):
            source, into = item.reads[0], item.writes[0]
            leaves = source.root.device is HOST and into.root.device is not HOST
            if leaves and not is_pinned(source.view):
                writer = next((by for by, to in written if overlap(to.view, source.view)), None)
                if writer is not None:
                    why = f"`{source.name}` is pageable, and `{writer.name}` writes it before"
                    found.append(Cut(item, why))
                    written.clear()
        for each in walk([item]):
            written += [(each, to) for to in each.writes if to.root.device is HOST]
    return found


def pieces(plan: Plan) -> list[list[Item] | Call]:
    """The nodes of a graph in pieces, cut where the device cuts it; eager functions stand alone."""
    cut = {id(each.item) for each in plan.device.cuts(plan)}
    found: list[list[Item] | Call] = [[]]
    for item in plan.body:
        last = found[-1]
        if isinstance(item, Call) and item.eager:
            found += [item, []]
        elif id(item) in cut or not isinstance(last, list):
            found.append([item])
        else:
            last.append(item)
    return [piece for piece in found if piece]
