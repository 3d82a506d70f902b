"""`hawk.scatter(table)[i] += v` in a kernel: what a sample gives to an element that all share.

What may be given is written once for the traced program and for CPython. Products are rounded
before they are given: nothing is fused with a sum that is made after the step.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, Self

from hawk.errors import Edit, Fix, HawkError, Loc
from hawk.frontend import tables
from hawk.frontend.debug import misfit_text
from hawk.frontend.frame import Frame
from hawk.frontend.operators import Misfit, is_bool
from hawk.frontend.suggestions import indices_of
from hawk.frontend.symbols import SYMBOLS
from hawk.frontend.templates import describe
from hawk.frontend.values import NeedsKnown, Spot, Spots, TableView
from hawk.ir.hidden import given_name, spot_name
from hawk.ir.nodes import Number as PlainNumber
from hawk.ir.nodes import Plane, Role, Scatter, Value
from hawk.ir.scatter import kinds_of
from hawk.ir.types import DType

if TYPE_CHECKING:
    from hawk.frontend.kernel_domain import KernelDomain

OPERATORS: Mapping[str, str] = {"+": "add", "-": "add", "|": "or", "&": "and"}
"""What `+=` and its like give."""
METHODS = ("min", "max")
_WRITTEN = {"add": "+=", "or": "|=", "and": "&=", "min": ".min(...)", "max": ".max(...)"}


def given(numbers: Any, table: TableView, kind: str, value: Any, symbol: str = "") -> Any:
    """A number as it is given to elements of a table. Raises Misfit."""
    dtype = table.dtype
    if kind not in kinds_of(dtype):
        written = f"{symbol}=" if symbol else kind
        holds = "Bools" if dtype is DType.BOOL else f"{dtype.hawk} numbers"
        raise Misfit("H216", f"`{table.name}` holds {holds}, and `{written}` is not for those")
    if kind == "add" and dtype.is_int and is_bool(numbers.kind(value)):
        value = numbers.convert(value, dtype)  # counts those that are True
    value = numbers.store(value, dtype)
    if symbol != "-":
        return value
    if dtype.is_float:
        return numbers.emit("neg", value)
    return numbers.emit("sub", numbers.constant(0, dtype), value)


# --- in a traced program --------------------------------------------------------------------------


class Scatters:
    """The scatters of a kernel, in the order they are written."""

    def __init__(self, domain: KernelDomain) -> None:
        self.domain = domain
        self.made: list[Scatter] = []
        self.planes: list[Plane] = []
        self.stores: list[tuple[str, Value]] = []
        """What each sample leaves for them."""

    def scatter(self, frame: Frame, node: ast.Call, table: Any, *, where: Any = True) -> Spots:
        """What `hawk.scatter(table)` gives."""
        written = node.args[0] if node.args else node
        text = frame.source.text(written)
        if not isinstance(table, TableView):
            what = "`hawk.scatter` gives to a table that all samples share, and "
            what += f"`{text}` is {describe(self.domain.numbers, table)}"
            fix = "a parameter of its own: counts: Mutable[Table[Scalar]]"
            raise HawkError("H216", what, frame.loc(written), fix)
        if not table.shared:
            what = f"`{text}` is a Table that no step changes"
            raise HawkError("H216", what, frame.loc(written), as_shared(table))
        return Spots(table, self.domain.reductions.keep(frame, node, where))

    def augment(
        self, frame: Frame, node: ast.AugAssign, spots: Spots, indices: list[Any], value: Any
    ) -> None:
        """`hawk.scatter(table)[i] += value` and its like."""
        symbol = SYMBOLS[type(node.op)]
        text = frame.source.text(node.target)
        if symbol not in OPERATORS:
            what = f"`{text} {symbol}= ...`: what samples give to one element is added, or one "
            what += "of them is chosen; it cannot depend on who comes first"
            raise HawkError("H216", what, frame.loc(node), _possible(text, spots.table))
        assert isinstance(node.target, ast.Subscript)
        spot = Spot(spots, tuple(indices), tuple(indices_of(node.target)))
        self._give(frame, node, node.value, spot, OPERATORS[symbol], value, symbol)

    def method(
        self, frame: Frame, node: ast.Call, spot: Spot, args: list[Any], keywords: dict[str, Any]
    ) -> None:
        """`hawk.scatter(table)[i].min(value)` and its like."""
        assert isinstance(node.func, ast.Attribute)
        name, text = node.func.attr, frame.source.text(_owner(node))
        if name not in METHODS:
            what = f"`{text}` has no `{name}`"
            raise HawkError("H216", what, frame.loc(node), _possible(text, spot.spots.table))
        if len(args) != 1 or keywords:
            what = f"`{frame.source.text(node.func)}` takes one number"
            given_ = frame.source.text(node.args[0]) if node.args else "..."
            raise HawkError("H305", what, frame.loc(node), f"{text}.{name}({given_})")
        self._give(frame, node, node.args[0], spot, name, args[0])

    def _give(
        self,
        frame: Frame,
        node: ast.AugAssign | ast.Call,
        written: ast.expr,
        spot: Spot,
        kind: str,
        value: Any,
        symbol: str = "",
    ) -> None:
        domain, table = self.domain, spot.spots.table
        numbers = domain.numbers
        target = node.target if isinstance(node, ast.AugAssign) else _owner(node)
        self._check_all_come_by(frame, node)
        if not numbers.is_number(value) and not isinstance(value, (bool, int, float)):
            what = f"`{table.name}` gets one number of each sample, and this is "
            fix = f"one statement for each number of `{frame.source.text(written)}`"
            what += describe(numbers, value)
            raise HawkError("H216", what, frame.loc(written), fix)
        place = self._spot(frame, target, spot)
        try:
            numbers.builder.loc = frame.loc(written)
            number = given(numbers, table, kind, value, symbol)
        except Misfit as misfit:
            if misfit.code == "H216":
                fix = _possible(frame.source.text(target), table)
                raise HawkError("H216", misfit.what, frame.loc(node), fix) from None
            raise domain.expressions.error(frame, written, misfit, (written,)) from None
        names = (spot_name(len(self.made)), given_name(len(self.made)))
        where = frame.loc(node)
        self.made.append(Scatter(kind, table.name, *names, loc=where))
        for name, each in zip(names, (place, number), strict=True):
            self.planes.append(Plane(name, Role.OUTPUT, each.dtype, loc=where))
            self.stores.append((name, each.value))

    def _spot(self, frame: Frame, target: ast.expr, spot: Spot) -> Any:
        """The element that is given to, see `tables.spot`."""
        table, expressions = spot.spots.table, self.domain.expressions
        self.domain.numbers.builder.loc = frame.loc(target)
        try:
            return tables.spot(table, spot.indices, spot.spots.keep)
        except tables.Misplaced as misplaced:
            written = spot.written[misplaced.axis]
            raise expressions.error(frame, written, misplaced, (written,)) from None
        except Misfit as misfit:
            axes = ", ".join(table.form.axes or "ijklm"[: len(table.form.extents)])
            scatter, _, _ = frame.source.text(target).rpartition("[")
            fix = f"an index for each of them: {scatter}[{axes}]"
            raise HawkError(misfit.code, misfit.what, frame.loc(target), fix) from None

    def _check_all_come_by(self, frame: Frame, node: ast.AugAssign | ast.Call) -> None:
        domain, at = self.domain, frame.loc(node)
        text = frame.source.text(node)
        if not domain.reductions.all_come_by:
            what = f"`{text}` stands where only some samples come by: in a branch, in a loop, "
            what += "behind `and` or `or`, or after a `return` that some take"
            fix = "it outside of that, with hawk.scatter(..., where=...) for those that give; a "
            fix += "loop of known length is written out"
            raise NeedsKnown("H405", what, at, fix)  # a loop of known length is then written out

    def check_read(self, frame: Frame, node: ast.AST, value: Any) -> None:
        """Raise HawkError where an element is read that a replay of one sample does not know."""
        if self.domain.watches and isinstance(value, TableView) and value.shared:
            what = f"`{frame.source.text(node)}` depends on what all samples gave before, and "
            what += "checks look at one sample at a time"
            raise HawkError("H209", what, frame.loc(node), "@hawk.kernel without checks=True")

    # --- what is no scatter ---

    def read(self, frame: Frame, node: ast.AST, spot: Spot) -> HawkError:
        """The error of an element that is read where it is only given to."""
        text, name = frame.source.text(node), spot.spots.table.name
        indices = ", ".join(map(frame.source.text, spot.written))
        what = f"`{text}` is where a number is given to `{name}`, and is no number itself"
        fix = Edit(f"{name}[{indices}]", ", as it was when the step began")
        return HawkError("H216", what, frame.loc(node), fix)

    def assigned(self, frame: Frame, target: ast.Subscript, spots: Spots) -> HawkError:
        """The error of an assignment without an operation."""
        text = frame.source.text(target)
        what = f"`{text} = ...` does not say what becomes of the numbers that several samples give"
        return HawkError("H216", what, frame.loc(target), _possible(text, spots.table))

    def written(
        self, frame: Frame, target: ast.Subscript, table: TableView, *, augmented: bool
    ) -> HawkError:
        """The error of an assignment to an element of a shared table itself."""
        text, index = frame.source.text(target.value), frame.source.text(target.slice)
        what = f"all samples share `{text}`: each gives to its elements, and none assigns to them"
        scatter = f"hawk.scatter({text})[{index}]"
        fix: Fix = Edit(scatter) if augmented else _possible(scatter, table)
        return HawkError("H216", what, frame.loc(target), fix)


def as_shared(table: TableView) -> Edit:
    """The parameter of a table as one that samples give to."""
    return Edit(f"{table.name}: Mutable[{table.form.name}]", at=table.handle.value.loc)


def rebound(name: str, where: Loc) -> HawkError:
    """The error of a shared table whose name means something else when a step ends."""
    what = f"all samples share `{name}`, so no step gives it another value as a whole"
    return HawkError("H216", what, where, f"hawk.scatter({name})[...] += ..., or another name")


def _possible(text: str, table: TableView) -> str:
    kinds = kinds_of(table.dtype)
    signs = [_WRITTEN[kind] for kind in kinds if kind not in METHODS]
    methods = [f"{text}{_WRITTEN[kind]}" for kind in kinds if kind in METHODS]
    return ", or ".join([f"{text} {' or '.join(signs)} ...", *methods])


def _owner(call: ast.Call) -> ast.expr:
    """What a method is called of."""
    assert isinstance(call.func, ast.Attribute)
    return call.func.value


# --- in CPython -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Given:
    """What one sample gives to a table."""

    kind: str
    table: str
    dtype: DType
    spot: int
    value: PlainNumber


class PythonSpots:
    """What `hawk.scatter(table)` gives in CPython; what is given is appended to `made`."""

    def __init__(self, made: list[Given], table: Any, *, where: Any = True) -> None:
        if not isinstance(table, TableView) or not table.shared:
            raise TypeError(f"hawk.scatter gives to a Mutable[Table[...]], not to {table!r}")
        self.made, self.table, self.keep = made, table, where is None or bool(where)

    def __getitem__(self, index: Any) -> PythonSpot:
        return PythonSpot(self, index if isinstance(index, tuple) else (index,))

    def __setitem__(self, index: Any, value: Any) -> None:
        if not isinstance(value, PythonSpot):
            raise TypeError(f"what is given to `{self.table.name}` needs an operation, such as +=")


class PythonSpot:
    """One of the elements: `hawk.scatter(table)[i]`."""

    def __init__(self, spots: PythonSpots, indices: tuple[Any, ...]) -> None:
        self.spots, self.indices = spots, indices

    def __iadd__(self, value: Any) -> Self:
        return self._give("add", value, "+")

    def __isub__(self, value: Any) -> Self:
        return self._give("add", value, "-")

    def __ior__(self, value: Any) -> Self:
        return self._give("or", value, "|")

    def __iand__(self, value: Any) -> Self:
        return self._give("and", value, "&")

    def min(self, value: Any) -> None:
        self._give("min", value)

    def max(self, value: Any) -> None:
        self._give("max", value)

    def _give(self, kind: str, value: Any, symbol: str = "") -> Self:
        table = self.spots.table
        numbers = table.numbers
        try:
            number = given(numbers, table, kind, value, symbol)
            spot = tables.spot(table, self.indices, self.spots.keep)
        except Misfit as misfit:
            raise TypeError(misfit_text(misfit)) from None
        each = Given(kind, table.name, table.dtype, spot.number, number.number)
        self.spots.made.append(each)
        return self

    def __bool__(self) -> NoReturn:
        raise TypeError(f"an element of `{self.spots.table.name}` is only given to")
