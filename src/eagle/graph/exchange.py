"""Other arrays and other numbers for a graph that is built already."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from eagle.deploy import Deployed
from eagle.devices.base import home_of
from eagle.devices.host.device import HOST
from eagle.devices.host.memory import address_of
from eagle.devices.host.pinned import is_pinned, pinned_like
from eagle.devices.plan import Call, Launch, Root, View, walk
from eagle.graph.numbers import computed_with
from eagle.graph.recorder import GraphRecorder
from eagle.overlap import overlap
from eagle.params import shown, to_number
from hawk.frontend.source import Source, nearest
from hawk.kernel import Kernel
from hawk.targets.base import raw_word

if TYPE_CHECKING:
    from eagle.graph.graph import Graph


def bind(graph: Graph, writer: GraphRecorder, planes: Mapping[str, object]) -> None:
    """Put other arrays in the place of those that came by parameters."""
    problems: list[str] = []
    exchanged: dict[Root, tuple[Any, View]] = {}
    by_name = {root.parameter: root for root in writer.roots if root.parameter}
    for name, value in planes.items():
        root = by_name.get(name)
        if root is None:
            problems.append(f"{name!r}: {_unknown(writer, name, by_name)}")
            continue
        why, view = _misfit(root, value)
        if not why and view is not None and writer.device is not HOST:
            why = _unpinned(root, view)
        if why or view is None:
            problems.append(f"{name!r}: {why}")
        else:
            exchanged[root] = value, view
    if not problems:
        problems = _held(writer, exchanged) or _shared(writer.roots, exchanged)
    if problems:
        raise ValueError("\n  ".join([f"{writer.name}.bind:", *problems]))
    graph.settle()
    for root, (array, view) in exchanged.items():
        root.array, root.view, root.address = array, view, address_of(view)
    graph.moved()


def _held(writer: GraphRecorder, exchanged: Mapping[Root, Any]) -> list[str]:
    """Arrays that a simulation among the nodes is bound to, and goes on with."""
    simulations = (
        item for item in walk(writer.body) if isinstance(item, Call) and item.kind == "simulation"
    )
    return [
        f"{root.parameter!r}: the {item.name} is bound to this array; build the graph anew with "
        "another simulation"
        for item in simulations
        for root in dict.fromkeys(region.root for region in (*item.reads, *item.writes))
        if root in exchanged
    ]


def _unknown(writer: GraphRecorder, name: str, known: Mapping[str, Root]) -> str:
    if name in writer.arguments:
        plane = writer.known(writer.arguments[name])
        if plane is not None:
            return f"is the array that came as {plane.root.parameter!r} too; exchange that"
        if isinstance(writer.arguments[name], (bool, int, float)):
            return f"is a number; write {writer.name}.params({name}=...)"
        return f"came as {shown(writer.arguments[name])}, which is no array"
    near = nearest(name, known)
    has = ", ".join(known) or "none"
    return f"the builder has no such array; did you mean {near!r}?" if near else f"there are {has}"


def _misfit(root: Root, value: object) -> tuple[str, View | None]:
    """What is wrong with an array in the place of another one."""
    found = home_of(value)
    if found is None:
        return f"expected an array, got {shown(value)}", None
    device, view = found
    before = root.view
    if device is not root.device:
        return f"expected an array on {root.device.name}, got one on {device.name}", None
    if view.dtype != before.dtype or view.shape != before.shape:
        wanted, got = (f"{each.dtype} {each.shape}" for each in (before, view))
        return f"expected {wanted}, got {got}", None
    if before.size and view.strides != before.strides:
        return f"expected strides {before.strides}, got {view.strides}", None
    if before.flags.aligned and not view.flags.aligned:
        return "expected an aligned array, got one that is not; write x.copy()", None
    if before.flags.writeable and not view.flags.writeable:
        return "expected a writable array, got a read-only one", None
    return "", view


def _unpinned(root: Root, view: View) -> str:
    """What is wrong with a host array in a graph of a device, which was cut and checked before."""
    if root.device is not HOST or not is_pinned(root.view) or is_pinned(view):
        return ""
    return f"expected a pinned array, as before; write {pinned_like(view)}"


def _shared(roots: list[Root], exchanged: Mapping[Root, tuple[Any, View]]) -> list[str]:
    """Arrays that share memory now and did not before, or did: other nodes would have to wait."""
    problems: list[str] = []
    views = {root: exchanged[root][1] if root in exchanged else root.view for root in roots}
    for root in exchanged:
        for other in roots:
            if other is root or (other in exchanged and roots.index(other) < roots.index(root)):
                continue
            before, after = overlap(root.view, other.view), overlap(views[root], views[other])
            moved = address_of(views[other]) - address_of(views[root])
            if before and (not after or moved != other.address - root.address):
                problems.append(
                    f"{root.parameter!r}: shared memory with {other.name!r} when the graph was "
                    "built, and has to lie to it as before"
                )
            elif after and not before:
                problems.append(
                    f"{root.parameter!r}: shares memory with {other.name!r}, as before it did not"
                )
    return problems


def renumber(graph: Graph, writer: GraphRecorder, numbers: Mapping[str, object]) -> None:
    """Put other numbers in the place of those that went into kernels as they came."""
    launches = [item for item in walk(writer.body) if isinstance(item, Launch)]
    problems: list[str] = []
    exchanged: list[tuple[Launch, int, int]] = []
    for name, value in numbers.items():
        uses = [(item, place) for item in launches for place in item.numbers.get(name, ())]
        why = _fixed(writer, name, uses)
        if why:
            problems.append(f"{name!r}: {why}")
            continue
        for item, place in uses:
            dtype = item.compiled.planes[place].dtype
            try:
                exchanged.append((item, place, raw_word(to_number(value, dtype), dtype)))
            except ValueError as refusal:
                problems.append(f"{name!r}: {refusal}")
    if problems:
        raise ValueError("\n  ".join([f"{writer.name}.params:", *dict.fromkeys(problems)]))
    graph.settle()
    for item, place, word in exchanged:
        item.words[place] = word
        graph.renumbered(item)


def _fixed(writer: GraphRecorder, name: str, uses: list[tuple[Launch, int]]) -> str:
    """Why a number cannot be exchanged; empty where it can."""
    if name not in writer.arguments or writer.source is None:
        near = nearest(name, writer.arguments)
        has = ", ".join(k for k, v in writer.arguments.items() if type(v) in (float, int)) or "none"
        known = f"did you mean {near!r}?" if near else f"the numbers it was given are {has}"
        return f"the builder has no such parameter; {known}"
    given = writer.arguments[name]
    if type(given) not in (float, int):
        return f"came as {shown(given)}; numbers that were given as float or int can be exchanged"
    where = computed_with(writer.source, name) or _passed_on(writer.source, name)
    if where is not None:
        line = writer.source.loc(where).short()
        return f"Python computes with it at {line}, when the graph is built; build it again"
    return "" if uses else "it goes into no kernel; build the graph again"


def _passed_on(source: Source, name: str) -> ast.AST | None:
    """A call of something other than a kernel that is given the number."""
    known = source.namespace()
    for node in ast.walk(source.node):
        if not isinstance(node, ast.Call):
            continue
        given = (*node.args, *(keyword.value for keyword in node.keywords))
        passed = any(isinstance(each, ast.Name) and each.id == name for each in given)
        if passed and not isinstance(_callee(node.func, known, source), (Kernel, Deployed)):
            return node
    return None


def _callee(node: ast.expr, known: Mapping[str, Any], source: Source) -> Any:
    """What is called, where a name that the builder does not assign to says it."""
    if isinstance(node, ast.Name):
        return None if node.id in source.locals else known.get(node.id)
    if isinstance(node, ast.Attribute):
        return getattr(_callee(node.value, known, source), node.attr, None)
    return None
