"""A graph as a picture for notebooks, in SVG written here: it needs no other program.

Nodes stand below what they wait for, branches and loops are frames around theirs. Solid lines are
waits for numbers, dashed ones for memory that is overwritten; kernels that run in one pass have one
colour, and thick lines between them. Pointing at a node shows what it touches, and why it waits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

from eagle.devices.plan import Plan
from eagle.graph.draw import Numbered, kind_of, numbered, said
from eagle.graph.schedule import depths

LETTER, LINE = 7.3, 15.0
"""Width and height of a letter of the font, in pixels."""
PAD, GAP_X, GAP_Y = 10.0, 26.0, 30.0
"""Around a text, and between nodes."""
MOST_LETTERS = 40
TINTS = ("#dcecff", "#dff3df", "#fdebd0", "#ece3f7", "#fbe2e5")
"""Colours of passes, in turn."""


@dataclass
class _Box:
    """Where a node is, from the corner of the body it is in."""

    node: Numbered
    width: float
    height: float
    parts: list[tuple[str, _Body]] = field(default_factory=list)
    x: float = 0.0
    y: float = 0.0


@dataclass
class _Body:
    """The nodes of a body, and how large it is."""

    boxes: list[_Box]
    width: float
    height: float


def svg(plan: Plan) -> str:
    """The picture of a graph."""
    painter = _Painter(plan)
    body = painter.body(numbered(plan))
    title = f"graph {plan.name}"
    width = max(body.width, len(title) * LETTER) + 2 * PAD
    height = body.height + LINE + 3 * PAD
    painter.text(PAD, PAD + LINE * 0.8, title, "bold")
    painter.paint(body, PAD, LINE + 2 * PAD)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" '
        'font-family="ui-monospace, Menlo, Consolas, monospace" font-size="12">'
    )
    return "\n".join([head, _DEFINED, *painter.lines, "</svg>"])


_DEFINED = """<defs><marker id="end" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" \
markerHeight="7" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L8 4L0 8z" fill="#666"/>\
</marker></defs>
<rect width="100%" height="100%" fill="#ffffff"/>"""


class _Painter:
    """Writes the lines of a picture."""

    def __init__(self, plan: Plan) -> None:
        self.lines: list[str] = []
        self._plan = plan
        self._tints: dict[int, str] = {}
        """The colour of each pass, by the number of its first node."""

    # -- sizes -------------------------------------------------------------------------------------

    def body(self, nodes: Sequence[Numbered]) -> _Body:
        """Put nodes in rows by what they wait for, each row in the middle."""
        places = {node.number: place for place, node in enumerate(nodes)}
        waits = [
            (places[number], place) for place, node in enumerate(nodes) for number, _ in node.waits
        ]
        boxes = [self._box(node) for node in nodes]
        rows: dict[int, list[_Box]] = {}
        for box, depth in zip(boxes, depths(len(nodes), waits), strict=True):
            rows.setdefault(depth, []).append(box)
        widths = {d: sum(b.width for b in row) + GAP_X * (len(row) - 1) for d, row in rows.items()}
        width, y = max(widths.values(), default=0.0) + 2 * GAP_X, 0.0
        for depth, row in sorted(rows.items()):
            x = (width - widths[depth]) / 2
            for box in sorted(row, key=lambda box: (box.node.item.lane, box.node.number)):
                box.x, box.y = x, y
                x += box.width + GAP_X
            y += max(box.height for box in row) + GAP_Y
        return _Body(boxes, width, max(0.0, y - GAP_Y))

    def _box(self, node: Numbered) -> _Box:
        letters = max(len(_title(node)), len(self._kind(node)))
        box = _Box(node, letters * LETTER + 2 * PAD, 2 * LINE + 1.4 * PAD)
        for title, part in node.parts:
            body = self.body(part)
            box.parts.append((title, body))
            box.width = max(box.width, body.width + 2 * PAD, (len(title) + 2) * LETTER)
            box.height += LINE + body.height + 1.5 * PAD
        return box

    def _kind(self, node: Numbered) -> str:
        kind = kind_of(node.item, self._plan)
        return f"branch {node.item.lane}, {kind}" if node.item.lane else kind

    # -- lines -------------------------------------------------------------------------------------

    def paint(self, body: _Body, x: float, y: float) -> None:
        """Write a body whose corner is there: lines first, so that no node is crossed out."""
        boxes = {box.node.number: box for box in body.boxes}
        for box in body.boxes:
            for number, edge in box.node.waits:
                if not _implied(number, box.node, boxes):
                    thick = number in box.node.beside
                    dashed = edge.hazard.name != "RAW" and not thick
                    one = boxes[number]
                    between = [b.x for b in body.boxes if one.y < b.y < box.y]
                    left = min(one.x, box.x, *between)
                    self._line(one, box, (x, y), left, thick=thick, dashed=dashed)
        for box in body.boxes:
            self._paint_box(box, x + box.x, y + box.y)

    def _paint_box(self, box: _Box, x: float, y: float) -> None:
        node = box.node
        fill = "#f7f7f7" if node.parts else "#ffffff"
        if node.beside:
            first = min(node.number, *node.beside)
            fill = self._tints.setdefault(first, TINTS[len(self._tints) % len(TINTS)])
        told = escape("\n".join([f"{node.item.name}: {self._kind(node)}", *said(node)]))
        self.lines.append(
            f'<g><title>{told}</title><rect x="{x:.1f}" y="{y:.1f}" width="{box.width:.1f}" '
            f'height="{box.height:.1f}" rx="5" fill="{fill}" stroke="#666"/>'
        )
        self.text(x + PAD, y + PAD * 0.6 + LINE * 0.8, _title(node), "bold")
        self.text(x + PAD, y + PAD * 0.6 + LINE * 1.8, self._kind(node), "normal", "#666")
        y += 2 * LINE + PAD
        for title, body in box.parts:
            self.text(x + PAD, y + LINE * 0.8, f"{title}:", "normal", "#666")
            self.paint(body, x + (box.width - body.width) / 2, y + LINE + PAD * 0.5)
            y += LINE + body.height + 1.5 * PAD
        self.lines.append("</g>")

    def _line(
        self,
        one: _Box,
        two: _Box,
        corner: tuple[float, float],
        left: float,
        *,
        thick: bool,
        dashed: bool,
    ) -> None:
        """A line from below a node to above the next row, or past what is between, `left` of it."""
        x, y = corner
        style = ' stroke-dasharray="4 3"' if dashed else ""
        style += ' stroke-width="2.5"' if thick else ""
        if two.y - one.y - one.height <= GAP_Y + 1:
            x1, y1 = x + one.x + one.width / 2, y + one.y + one.height
            x2, y2 = x + two.x + two.width / 2, y + two.y
            bends = [(x1, (y1 + y2) / 2), (x2, (y1 + y2) / 2)]
        else:
            x1, y1 = x + one.x, y + one.y + one.height / 2
            x2, y2 = x + two.x, y + two.y + two.height / 2
            bends = [(x + left - GAP_X, y1), (x + left - GAP_X, y2)]
        curve = " ".join(f"{a:.1f} {b:.1f}" for a, b in (*bends, (x2, y2)))
        self.lines.append(
            f'<path d="M{x1:.1f} {y1:.1f}C{curve}" fill="none" stroke="#666"{style} '
            'marker-end="url(#end)"/>'
        )

    def text(self, x: float, y: float, text: str, weight: str, colour: str = "#111") -> None:
        self.lines.append(
            f'<text x="{x:.1f}" y="{y:.1f}" font-weight="{weight}" fill="{colour}">'
            f"{escape(text)}</text>"
        )


def _title(node: Numbered) -> str:
    name = node.item.name
    name = name if len(name) <= MOST_LETTERS else f"{name[: MOST_LETTERS - 3]}..."
    return f"{node.number} {name}"


def _implied(number: int, node: Numbered, boxes: dict[int, _Box]) -> bool:
    """Do other waits keep the two in order?"""
    open_ = [other for other, _ in node.waits if other != number]
    reached: set[int] = set()
    while open_:
        at = open_.pop()
        if at == number:
            return True
        if at not in reached:
            reached.add(at)
            open_ += [other for other, _ in boxes[at].node.waits]
    return False
