"""Expressions of a kernel: each node gives a Python object or a number of the program."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hawk.edits import filled
from hawk.errors import Edit, HawkError
from hawk.frontend import grids, tables
from hawk.frontend.arrays import Arrays
from hawk.frontend.calls import Calls
from hawk.frontend.conditions import Conditions
from hawk.frontend.containers import Containers
from hawk.frontend.frame import Frame
from hawk.frontend.grid_annotations import USUAL
from hawk.frontend.instances import Instance
from hawk.frontend.known import by_python, no_text
from hawk.frontend.lookup import read_attribute, read_name
from hawk.frontend.names import same_name
from hawk.frontend.objects import Objects
from hawk.frontend.operators import CONVERSIONS, Misfit, Mixed, NotKnown
from hawk.frontend.patterns import matches
from hawk.frontend.refused import refusal
from hawk.frontend.small_arrays import SmallArray
from hawk.frontend.source import nearest
from hawk.frontend.suggestions import augmented, chained, subject, with_texts
from hawk.frontend.sums import Sums
from hawk.frontend.symbols import SYMBOLS
from hawk.frontend.values import (
    Closure,
    GridScalar,
    NeedsKnown,
    Scalar,
    Spot,
    Stream,
    TableView,
    is_known,
    known_of,
    leaves,
)
from hawk.ir.reduce import KINDS

if TYPE_CHECKING:
    from hawk.frontend.kernel_domain import KernelDomain


class Expressions:
    """Evaluates expressions for the domain of kernels."""

    def __init__(self, domain: KernelDomain) -> None:
        self.domain, self.numbers = domain, domain.numbers
        self.arrays, self.objects = Arrays(self), Objects(self)
        self.sums, self.conditions = Sums(self), Conditions(self)
        self.containers, self.calls = Containers(self), Calls(domain)

    def evaluate(self, frame: Frame, node: ast.expr, name: str = "") -> Any:
        """The value of `node`; `name` is the name it will have, for printed programs."""
        value = self.owner(frame, node, name)
        if type(value) is Spot:
            raise self.domain.scatters.read(frame, node, value)
        return value

    def owner(self, frame: Frame, node: ast.expr, name: str = "") -> Any:
        """The value of what has a method that is called: it may be what is only given to."""
        value = self._evaluate(frame, node, name)
        if type(value) is SmallArray:
            self.arrays.check(frame, node, value)
        return value

    def _evaluate(self, frame: Frame, node: ast.expr, name: str) -> Any:
        match node:
            case ast.Constant():
                return node.value
            case ast.Name():
                return read_name(frame, node, self.domain.reads)
            case ast.BinOp():
                return self.sums.chain(frame, node, name)
            case ast.UnaryOp():
                return self.sums.unary(frame, node, name)
            case ast.Compare():
                return self.conditions.compare(frame, node, name)
            case ast.BoolOp():
                return self.conditions.bool_op(frame, node)
            case ast.IfExp():
                return self.conditions.choice(frame, node)
            case ast.Call():
                return self.calls.call(frame, node, name)
            case ast.Attribute():
                return self.attribute(frame, node, self.evaluate(frame, node.value))
            case ast.Subscript():
                return self.containers.subscript(frame, node)
            case ast.Tuple():
                return tuple(self.elements(frame, node.elts))
            case ast.List():
                return self.containers.new(list(self.elements(frame, node.elts)))
            case ast.Dict():
                return self.containers.from_pairs(frame, node)
            case ast.NamedExpr():
                value = self.evaluate(frame, node.value, node.target.id)
                frame.names[node.target.id] = value
                return value
            case ast.Lambda():
                return self.domain.walker.closure(frame, node)
            case ast.ListComp():
                return self.containers.new(
                    self.containers.comprehension(frame, node.generators, [node.elt])
                )
            case ast.GeneratorExp():
                return Stream(self._generated(frame, node), self.domain.region)
            case ast.DictComp():
                pairs = self.containers.comprehension(
                    frame, node.generators, [node.key, node.value]
                )
                keys = [(self.containers.key(frame, a, node.key), b) for a, b in pairs]
                return self.containers.new(dict(keys))
            case ast.Slice():
                bounds = (node.lower, node.upper, node.step)
                return slice(
                    *(None if b is None else self.containers.index(frame, b) for b in bounds)
                )
            case ast.JoinedStr():
                return "".join(str(self.evaluate(frame, each)) for each in node.values)
            case ast.FormattedValue():
                return self._formatted(frame, node)
            case _:
                raise refusal(frame.source, node, frame.caller)

    def _generated(self, frame: Frame, node: ast.GeneratorExp) -> Iterator[Any]:
        """The values of a generator, each computed when it is taken."""
        containers, fix = self.containers, f"[{frame.source.text(node)[1:-1]}], a list"
        first = containers.outermost(frame, node.generators)

        def values() -> Iterator[Any]:
            written = self.domain.memory.written
            for value in containers.each(frame, node.generators, [node.elt], first):
                if any(isinstance(each, Closure) for each in leaves(value)):
                    what = "what a function of a generator sees depends on when it is called"
                    raise HawkError("H103", what, frame.loc(node), fix)
                if self.domain.memory.written is not written:
                    what = "a generator that changes an array or an object does so when its values "
                    raise HawkError("H308", what + "are taken", frame.loc(node), fix)
                yield value
                written = self.domain.memory.written

        return values()

    def _formatted(self, frame: Frame, node: ast.FormattedValue) -> str:
        value = known_of(self.evaluate(frame, node.value))
        if not is_known(value):
            raise no_text(frame.loc(node))
        spec = "" if node.format_spec is None else self.evaluate(frame, node.format_spec)
        convert = {ord("r"): repr, ord("s"): str, ord("a"): ascii}.get(node.conversion)
        text = value if convert is None else convert(value)
        return by_python(lambda: format(text, spec), frame.loc(node))

    def elements(self, frame: Frame, nodes: list[ast.expr]) -> list[Any]:
        """The values of a list of expressions, starred ones opened."""
        values: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                starred = self.evaluate(frame, node.value)
                values.extend(self.domain.unpack(frame, starred, node.value))
            else:
                values.append(self.evaluate(frame, node))
        return values

    def guarded(
        self,
        frame: Frame,
        node: ast.AST,
        compute: Callable[[], Any],
        name: str = "",
        operands: tuple[ast.AST, ...] = (),
    ) -> Any:
        """The value of `compute`, its operations placed at `node`, its misfits made errors."""
        numbers = self.numbers
        numbers.builder.loc, numbers.name = frame.loc(node), name
        try:
            return compute()
        except Misfit as misfit:
            raise self.error(frame, node, misfit, operands) from None
        finally:
            numbers.name = ""

    def error(
        self, frame: Frame, node: ast.AST, misfit: Misfit, operands: tuple[ast.AST, ...] = ()
    ) -> HawkError:
        """The error of a misfit at `node`, with the texts of the operands."""
        names = ("left", "right")
        slots: dict[str, ast.AST] = dict(zip(names, operands or (node,), strict=False))
        texts = {slot: frame.source.text(operand) for slot, operand in slots.items()}
        what = misfit.what
        for slot in names:
            what = what.replace(f"{{{slot}}}", texts.get(slot, "..."))
        where, fixes = frame.loc(node), misfit.fixes
        if misfit.side:
            where = frame.loc(slots.get(misfit.side, node))
        elif isinstance(node, ast.AugAssign):
            fixes = self._augmenting(node, misfit)
        written = [with_texts(each, texts) for each in fixes]
        if not misfit.side:
            written = [self._whole(frame, node, operands, each) for each in written]
        kind = NeedsKnown if isinstance(misfit, NotKnown) else HawkError
        return kind(misfit.code, what, where, [each for each in written if each])

    @staticmethod
    def _augmenting(node: ast.AugAssign, misfit: Misfit) -> tuple[str | Edit, ...]:
        """What to write for `+=` and its like, whose target keeps its type."""
        if isinstance(misfit, Mixed):
            into = CONVERSIONS[misfit.left]
            return (f"{{left}} {SYMBOLS[type(node.op)]} {into}({{right}})",)
        if misfit.keeps is None:
            return misfit.fixes
        *others, last = misfit.fixes
        assert isinstance(last, Edit)
        return (*others, Edit(f"{CONVERSIONS[misfit.keeps]}({last.text})"))

    @staticmethod
    def _whole(
        frame: Frame, node: ast.AST, operands: tuple[ast.AST, ...], fix: str | Edit
    ) -> str | Edit:
        """What is written for two operands, as what is written for all of `node`."""
        text = fix.text if isinstance(fix, Edit) else fix
        if isinstance(node, ast.AugAssign):
            text = augmented(frame.source, node, text)
        elif isinstance(node, ast.Compare) and operands:
            text = chained(frame.source, node, operands, text)
        return replace(fix, text=text) if isinstance(fix, Edit) else text

    def looked_up(
        self,
        frame: Frame,
        node: ast.AST,
        owner: TableView | GridScalar,
        read: Callable[[], Any],
        written: list[ast.expr],
        name: str = "",
    ) -> Any:
        """What `read` gives of a table or a grid; `written` are the expressions of its indices."""
        numbers = self.numbers
        self.domain.scatters.check_read(frame, node, owner)
        numbers.builder.loc, numbers.name = frame.loc(node), name
        try:
            return read()
        except Misfit as misfit:
            axis = misfit.axis if isinstance(misfit, tables.Misplaced) else len(written)
            operands = tuple(written[axis : axis + 1])
            raise self.error(frame, node, misfit, operands) from None
        finally:
            numbers.name = ""

    def attribute(self, frame: Frame, node: ast.Attribute, owner: Any) -> Any:
        """An attribute of `owner`, which is what `node` reads it from."""
        if isinstance(owner, Instance):
            return self.objects.attribute(frame, node, owner)
        if isinstance(owner, TableView):
            if node.attr == "shape":
                return tables.shape(owner)
            text = frame.source.text(node.value)
            what = f"the table `{text}` has no `{node.attr}`; it has `at` and `shape`"
            fixes = {"size": f"len({text})", "ndim": f"len({text}.shape)"}
            fixes |= dict.fromkeys(("at",), f"{text}.at(...), called")
            raise HawkError("H307", what, frame.loc(node), fixes.get(node.attr, ""))
        if isinstance(owner, SmallArray):
            return self.arrays.attribute(frame, node, owner)
        if isinstance(owner, GridScalar) and node.attr in grids.METHODS:
            if node.attr == "shape":
                return grids.shape(owner)
            text = f"{frame.source.text(node.value)}.{node.attr}"
            example = {"neighbor": "=+1", "at": "=..."}[node.attr]
            axes = owner.form.axes if owner.form else ()
            fix = f"{text}({', '.join(f'{axis}{example}' for axis in axes)})"
            raise HawkError("H307", f"`{text}` is called", frame.loc(node), fix)
        if isinstance(owner, Scalar):
            text = frame.source.text(node.value)
            what = f"`{text}` is one number of this sample and has no `{node.attr}`"
            known = same_name(node.attr)
            whole, given = frame.source.called(node)
            fix = {"real": text, "item": text}.get(node.attr, "")
            fix = f"{known}({', '.join([text, *given])})" if known else fix
            if node.attr in KINDS and not given:
                fix = Edit(f"hawk.{node.attr}({text})", ", of all samples")
            if isinstance(owner, GridScalar):
                over = _over(owner, given) if node.attr in KINDS else ""
                fix = Edit(f'hawk.{node.attr}({text}, over="{over}")') if over else fix
                near = nearest(node.attr, grids.METHODS)
                what = f"`{text}` is a Grid and has no `{node.attr}`"
                fix = f"{text}.{near}({', '.join(given)})" if near else fix
            elif node.attr in grids.METHODS[:2]:
                fix = f"such as {text}.{node.attr}(...) of a parameter {text}: {USUAL}"
                if not isinstance(node.value, ast.Name):
                    fix = _of_grid(frame, node, given)
            if node.attr == "is_integer":
                fix = filled("{left} == np.floor({left})", left=text)
                fix = fix if owner.dtype.is_float else "True"
            raise HawkError("H307", what, frame.loc(whole), fix)
        return read_attribute(owner, node.attr, frame.loc(node), self.domain.reads)

    def matches(self, frame: Frame, value: Any, node: ast.pattern) -> tuple[Any, dict[str, Any]]:
        return matches(self, frame, value, node)

    def equals(self, frame: Frame, node: ast.AST, value: Any, other: Any) -> Any:
        """`value == other` as a pattern asks it."""
        facing = subject(frame.source, node)
        sides = (facing or node, node)
        answer = self.conditions.comparison(frame, node, ast.Eq(), value, other, sides)
        return self.domain.truth(frame, answer, node)


def _over(grid: GridScalar, given: list[str]) -> str:
    """The dimension that NumPy's `axis=` means; empty where it is not one number that counts it."""
    axes = grid.form.axes if grid.form else ()
    found = re.fullmatch(r"(?:axis\s*=\s*)?(-?\d+)", given[0]) if len(given) == 1 else None
    place = int(found[1]) if found else len(axes)
    return axes[place] if -len(axes) <= place < len(axes) else ""


def _of_grid(frame: Frame, node: ast.Attribute, given: Sequence[str]) -> str:
    """What to write for the number that another sample has of something computed."""
    inner, text = node.value, frame.source.text
    if isinstance(inner, ast.Call) and inner.args and isinstance(inner.args[0], ast.Name):
        function = text(inner.func)
        if function.rpartition(".")[2] in KINDS:
            args = [text(each) for each in (*inner.args[1:], *inner.keywords)]
            moved = f"{text(inner.args[0])}.{node.attr}({', '.join(given)})"
            return f"{function}({', '.join([moved, *args])}), of a parameter that is a Grid"
    kept = "a parameter that holds it, which a launch before this one wrote"
    return f"kept.{node.attr}({', '.join(given) or '...'}) of {kept}, kept: {USUAL}"
