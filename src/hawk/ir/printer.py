"""A program as text, for people, for golden tests and as the content a cache key is made from.

    kernel oscillator : f64
      uniform dt : f64
      state x : f64
    step:
      %x.1 = fma %dt, %v, %x : f64                # oscillator.py:12
      %y = if %b : f64
        then:
          yield %x.1
        else:
          yield 0.0
    store:
      x = %y

The same program always gives the same text, and two programs that could differ in a bit give
different ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from hawk.errors import NOWHERE
from hawk.ir.nodes import Apply, Block, Const, Function, If, Lines, Loop, Statement, Value

_COLUMN = 60


def to_text(fn: Function, *, locations: bool = True, names: bool = True) -> str:
    """The text of `fn`.

    `locations=False` leaves the comments with the places out, `names=False` the user's names of
    values (a cache needs neither).
    """
    writer = _Writer(locations, names)
    writer.line(f"kernel {fn.name} : {fn.real.value}")
    for plane in fn.planes:
        writer.line(
            f"  {plane.role.value} {plane.name} : {plane.dtype.value}",
            plane.loc.short() if plane.loc is not NOWHERE else "",
        )
        if plane.read is not None:
            writer.name(plane.read, plane.name.replace(" ", "_"))
    for title, body in (("launch", fn.launch), ("sample", fn.sample), ("step", fn.step)):
        if body:
            writer.line(f"{title}:")
            writer.statements(body, 1)
    for each in fn.reductions:
        kept = "" if each.keep is None else f" where {writer.operand(each.keep)}"
        text = f"reduce {each.plane} = {each.kind} {writer.operand(each.value)}{kept}"
        writer.line(text + (_lines(each.lines) if each.lines else ""))
    for each in fn.scatters:
        writer.line(f"scatter {each.kind} {each.value} to {each.plane} at {each.spot}")
    writer.line("store:")
    for name, value in fn.stores:
        writer.line(f"  {name} = {writer.operand(value)}")
    return "\n".join(writer.lines) + "\n"


def _lines(lines: Lines) -> str:
    """Which samples make one number: the extents of the grid, those along a line in brackets."""
    extents = [
        f"[{extent}]" if axis in lines.over else str(extent)
        for axis, extent in enumerate(lines.extents)
    ]
    return f" in lines of {' x '.join(extents)}"


class _Writer:
    """The lines so far, and the names given to values."""

    def __init__(self, locations: bool, names: bool) -> None:  # noqa: FBT001 - private
        self.lines: list[str] = []
        self.locations, self.names = locations, names
        self.given: dict[Value, str] = {}
        self.times: dict[str, int] = {}

    def line(self, text: str, place: str = "") -> None:
        comment = f"  # {place}" if place and self.locations else ""
        self.lines.append(text.ljust(_COLUMN) + comment if comment else text)

    def name(self, value: Value, wanted: str = "") -> str:
        """Give a value its name: the wanted one, numbered from its second use on."""
        base = wanted or (value.name if self.names else "")
        count = self.times.get(base, 0)
        self.times[base] = count + 1
        # A dot cannot be part of a Python name, nor can one begin with a digit: no two are alike.
        text = f"%{base}.{count}" if base and count else f"%{base or count}"
        self.given[value] = text
        return text

    def operand(self, value: Value) -> str:
        if isinstance(value, Const):
            return repr(value.number)
        return self.given.get(value) or f"%?{value.name}"  # only in a broken program

    def operands(self, values: Sequence[Value]) -> str:
        return ", ".join([self.operand(value) for value in values])

    def defined(self, results: Sequence[Value], by: str) -> str:
        """The statement `by` with names for its results, and their types."""
        names = ", ".join([self.name(value) for value in results])
        types = ", ".join([value.dtype.value for value in results])
        return f"{names} = {by} : {types}" if results else by

    def statements(self, statements: Sequence[Statement], depth: int) -> None:
        indent = "  " * depth
        for statement in statements:
            match statement:
                case Apply(op, args, result):
                    operands = self.operands(args)
                    if all(isinstance(arg, Const) for arg in args):  # nothing else tells the type
                        operands += f" ({args[-1].dtype.value})"
                    text = f"{indent}{self.defined((result,), f'{op} {operands}')}"
                    self.line(text, "" if result.loc is NOWHERE else result.loc.short())
                case If(test, then, orelse, results, rare):
                    word = "rare if" if rare else "if"
                    tested, start = self.operand(test), len(self.lines)
                    self.block("then", then, depth + 1)
                    self.block("else", orelse, depth + 1)
                    self.lines.insert(start, f"{indent}{self.defined(results, f'{word} {tested}')}")
                case Loop(inits, test, body, results):
                    started, start = self.operands(inits), len(self.lines)
                    self.block("while", test, depth + 1)
                    self.block("do", body, depth + 1)
                    self.lines.insert(start, f"{indent}{self.defined(results, f'loop {started}')}")
                case _ as never:
                    assert_never(never)

    def block(self, title: str, block: Block, depth: int) -> None:
        indent = "  " * depth
        params = ", ".join([self.name(param) for param in block.params])
        self.line(f"{indent}{title}{f' ({params})' if params else ''}:")
        self.statements(block.items, depth + 1)
        self.line(f"{indent}  yield {self.operands(block.yields)}")
