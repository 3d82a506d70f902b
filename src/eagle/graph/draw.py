"""Pictures of a graph as text: boxes to print, Mermaid, and the language of Graphviz."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape

from eagle.devices.host.device import HOST
from eagle.devices.plan import Call, Copy, If, Item, Launch, Loop, Plan, Put, Reduce
from eagle.graph.edges import Edge
from eagle.graph.touches import Region, edges_of

WIDTH, LEAST = 72, 40
"""Columns of a printed graph, which is wider where bodies in bodies would leave a box fewer than
the least."""


def kind_of(item: Item, plan: Plan) -> str:
    """What sort of node it is, and where it runs, as pictures say it."""
    match item:
        case Launch():
            regions = (*item.reads, *item.writes)
            where = next((r.root.device for r in regions if r.root.device is not HOST), HOST)
            return "host kernel" if where is HOST else "kernel"
        case Copy(join=True):
            return "join"
        case Copy():
            ends = [
                "host" if each.root.device is HOST else "device"
                for each in (*item.reads, *item.writes)
            ]
            return "copy " + " to ".join(ends)
        case Call():
            regions = (*item.reads, *item.writes)
            if item.captured and any(each.root.device is not HOST for each in regions):
                return "captured function"
            return {"opaque": "host function"}.get(item.kind, f"host {item.kind}")
        case Reduce():
            return "reduction"
        case Put():
            return "cell"
        case If():
            return "branch"
        case Loop():
            return "loop"
        case _:
            return "node"


@dataclass
class Numbered:
    """A node with its number, what it waits for, the bodies in it, and its pass."""

    number: int
    item: Item
    waits: list[tuple[int, Edge[Region]]]
    parts: list[tuple[str, list[Numbered]]] = field(default_factory=list)
    beside: list[int] = field(default_factory=list)
    """The others of its pass over the samples."""
    unstored: list[str] = field(default_factory=list)
    """What it writes for these alone."""


def numbered(plan: Plan) -> list[Numbered]:
    """The nodes of a graph with numbers from 1, and their passes."""
    nodes, _ = _with_numbers(plan.body, 1)
    known = {id(node.item): node for node in _flat(nodes)}
    for together in plan.device.passes(plan):
        members = [known[id(item)] for item in together.nodes]
        for node in members:
            node.beside = sorted(each.number for each in members if each is not node)
            names = {region.root.name for region in node.item.writes}
            node.unstored = [n for n in dict.fromkeys(together.unstored) if n in names]
    return nodes


def _flat(nodes: list[Numbered]) -> Iterator[Numbered]:
    for node in nodes:
        yield node
        for _, part in node.parts:
            yield from _flat(part)


def _with_numbers(body: list[Item], first: int) -> tuple[list[Numbered], int]:
    """The nodes of a body with numbers from `first`, and the next number."""
    nodes: list[Numbered] = []
    number = first
    for item in body:
        node = Numbered(number, item, [])
        number += 1
        for title, part in _parts(item):
            inner, number = _with_numbers(part, number)
            node.parts.append((title, inner))
        nodes.append(node)
    for edge in edges_of(body):
        nodes[edge.after].waits.append((nodes[edge.before].number, edge))
    return nodes, number


def _parts(item: Item) -> list[tuple[str, list[Item]]]:
    match item:
        case If():
            parts = [("then", item.then), ("else", item.orelse)]
        case Loop():
            parts = [("before each pass", item.before), ("each pass", item.body)]
        case _:
            parts = []
    return [(title, part) for title, part in parts if part]


# -- boxes -----------------------------------------------------------------------------------------


def boxes(plan: Plan) -> str:
    """The graph as boxes; each says what it waits for, and why."""
    nodes = numbered(plan)
    count = sum(1 for _ in _flat(nodes))
    nodes_said = "1 node" if count == 1 else f"{count} nodes"
    lines = [f"graph {_plain(plan.name)}: {nodes_said} on {plan.device.name}"]
    cuts = {id(cut.item): cut.why for cut in plan.device.cuts(plan)}
    width = max(WIDTH, LEAST + 4 * _levels(nodes))
    for node in nodes:
        if id(node.item) in cuts:
            lines += _wrapped(f"-- the graph is cut here: {cuts[id(node.item)]}", width)
        lines += _box(node, plan, width)
    return "\n".join(lines)


def _levels(nodes: list[Numbered]) -> int:
    """How many bodies the innermost node is in."""
    return max((1 + _levels(part) for node in nodes for _, part in node.parts), default=0)


def _box(node: Numbered, plan: Plan, width: int) -> Iterator[str]:
    inner = width - 4
    kind = kind_of(node.item, plan)
    if node.item.lane:
        branch = _cut(f"branch {node.item.lane}", max(12, width // 2 - len(kind)))
        kind = f"{branch}, {kind}"
    tag = f" {kind} "
    title = f" {_cut(f'{node.number} {_plain(node.item.name)}', width - 6 - len(tag))} "
    fill = "─" * (width - 2 - len(title) - len(tag))
    yield f"┌{title}{fill}{tag}┐"
    for text in said(node):
        for line in _wrapped(text, inner):
            yield f"│ {line:<{inner}} │"
    for title, part in node.parts:
        yield f"│ {title + ':':<{inner}} │"
        for each in part:
            for line in _box(each, plan, inner):
                yield f"│ {line} │"
    yield f"└{'─' * (width - 2)}┘"


def said(node: Numbered) -> Iterator[str]:
    """What a box says of a node."""
    item = node.item
    touched = [
        f"{verb} {', '.join(dict.fromkeys(region.name for region in regions))}"
        for verb, regions in (("reads", item.reads), ("writes", item.writes))
        if regions
    ]
    if touched and not isinstance(item, (Copy, Put)):
        yield "; ".join(touched)
    elif isinstance(item, Copy) and not item.join:
        yield f"{item.reads[0].name} to {item.writes[0].name}"
    for number, edge in node.waits:
        text = f"waits for {number}: {edge.hazard.value} `{edge.region.name}`"
        yield f"{text}, in the same pass" if number in node.beside else text
    if node.beside:
        others = " and ".join(", ".join(map(str, node.beside)).rsplit(", ", 1))
        text = f"in one pass over the samples with {others}"
        names = ", ".join(f"`{name}`" for name in node.unstored)
        verb = "is" if len(node.unstored) == 1 else "are"
        yield f"{text}; {names} {verb} not stored" if names else text


def _plain(text: str) -> str:
    """A name on one line, also one that a program put together."""
    return " ".join(text.split())


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."


def _wrapped(text: str, width: int) -> Iterator[str]:
    """Lines of at most `width` letters, cut between words, or in one that is longer than a line."""
    text, indent = _plain(text), ""
    while len(indent) + len(text) > width:
        room = width - len(indent)
        cut = text.rfind(" ", 0, room)
        cut = cut if cut > 0 else room
        yield indent + text[:cut]
        text, indent = text[cut:].lstrip(), "  "
    yield indent + text


# -- Mermaid and Graphviz --------------------------------------------------------------------------


def mermaid(plan: Plan) -> str:
    """The graph as a Mermaid flowchart.

    Dotted lines are waits for memory that is overwritten, thick ones lead through one pass.
    """
    nodes = numbered(plan)
    lines = ["flowchart TD"]
    lines += _mermaid(nodes, plan, "    ")
    return "\n".join(lines)


def _mermaid(nodes: list[Numbered], plan: Plan, indent: str) -> Iterator[str]:
    for node in nodes:
        label = f"{_quoted(node.item.name)}<br/>{_quoted(kind_of(node.item, plan))}"
        if not node.parts:
            yield f'{indent}n{node.number}["{label}"]'
            continue
        yield f'{indent}subgraph n{node.number}["{_quoted(node.item.name)}"]'
        for place, (title, part) in enumerate(node.parts):
            yield f'{indent}    subgraph n{node.number}_{place}["{title}"]'
            yield from _mermaid(part, plan, f"{indent}        ")
            yield f"{indent}    end"
        yield f"{indent}end"
    for node in nodes:
        for number, edge in node.waits:
            line = "-->" if edge.hazard.name == "RAW" else "-.->"
            line = "==>" if number in node.beside else line
            yield f'{indent}n{number} {line}|"{_quoted(edge.region.name)}"| n{node.number}'


def _quoted(text: str) -> str:
    """A name as Mermaid shows it, for which labels are HTML, and `#` begins names of letters."""
    return escape(_plain(text).replace("#", "#35;"), quote=False).replace('"', "&quot;")


def dot(plan: Plan) -> str:
    """The graph in the language of Graphviz; edges of a branch or loop end at its first node.

    Dashed lines are waits for memory that is overwritten, bold ones lead through one pass.
    """
    nodes = numbered(plan)
    lines = ["digraph {", "  compound=true;", "  node [shape=box];"]
    lines += _dot(nodes, plan, "  ")
    return "\n".join([*lines, "}"])


def _dot(nodes: list[Numbered], plan: Plan, indent: str) -> Iterator[str]:
    for node in nodes:
        label = _escaped(f"{node.item.name}\n{kind_of(node.item, plan)}")
        if not node.parts:
            yield f'{indent}n{node.number} [label="{label}"];'
            continue
        yield f"{indent}subgraph cluster_{node.number} {{"
        yield f'{indent}  label="{_escaped(node.item.name)}";'
        yield f'{indent}  n{node.number} [label="{kind_of(node.item, plan)}", shape=diamond];'
        for place, (title, part) in enumerate(node.parts):
            yield f"{indent}  subgraph cluster_{node.number}_{place} {{"
            yield f'{indent}    label="{title}";'
            yield from _dot(part, plan, f"{indent}    ")
            yield f"{indent}  }}"
        yield f"{indent}}}"
    for node in nodes:
        for number, edge in node.waits:
            style = "" if edge.hazard.name == "RAW" else ", style=dashed"
            style = ", style=bold" if number in node.beside else style
            label = _escaped(edge.region.name)
            yield f'{indent}n{number} -> n{node.number} [label="{label}"{style}];'


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
