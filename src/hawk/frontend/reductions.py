"""`hawk.sum(x)` and its like in a kernel: one number made of a value of every sample."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from hawk.annotations import GridForm
from hawk.collective import REDUCTIONS
from hawk.errors import Edit, HawkError, Loc
from hawk.frontend import lines
from hawk.frontend.frame import Frame
from hawk.frontend.operators import Misfit
from hawk.frontend.python_arrays import Array
from hawk.frontend.small_arrays import SmallArray
from hawk.frontend.templates import describe
from hawk.frontend.values import NeedsKnown, Scalar
from hawk.ir.nodes import Number as PlainNumber
from hawk.ir.nodes import Plane, Reduction, Role, Value
from hawk.ir.reduce import result_of
from hawk.ir.types import DType

if TYPE_CHECKING:
    from hawk.frontend.kernel_domain import KernelDomain


Result: TypeAlias = "PlainNumber | Sequence[PlainNumber]"
"""What a reduction gives: one number, or one for each line of the grid."""


@dataclass(frozen=True, slots=True)
class Asked(Exception):
    """What one sample gives to a reduction whose result is not known yet."""

    kind: str
    dtype: DType
    number: PlainNumber
    keep: bool
    over: tuple[int, ...] = ()
    """The dimensions of the grid along which samples are reduced; empty: all samples are."""


class Batch:
    """What a step that CPython runs for one sample has of all others, and gives to them."""

    def __init__(self) -> None:
        self.known: Sequence[Result] = ()
        """The results of its reductions, as far as they are known."""
        self.made = 0
        self.given: list[Any] = []
        """What it gives to shared tables, see `scatters.Given`."""

    def begin(self, known: Sequence[Result]) -> None:
        """A step begins; `known` are the results of its first reductions."""
        self.known, self.made, self.given = known, 0, []

    def reduced(
        self, numbers: Any, kind: str, value: Any, *, where: Any = True, over: Any = None
    ) -> Any:
        """The result of the next reduction. Raises Asked where that is not known, or Misfit."""
        along = lines.dimensions(numbers, over)
        if isinstance(value, Array):
            parts = [
                self.reduced(numbers, kind, each, where=where, over=over) for each in value.values
            ]
            return Array.of(numbers, value.shape, parts)
        if not is_one_number(numbers, value):
            raise TypeError(f"hawk.{kind} reduces numbers of each sample, not {value!r}")
        number = reducible(numbers, kind, value)
        if self.made == len(self.known):
            raise Asked(kind, number.dtype, number.number, where is None or bool(where), along)
        result: Any = self.known[self.made]
        self.made += 1
        if along:
            result = result[lines.own_line(numbers, along).number]
        return numbers.constant(result, result_of(kind, number.dtype))


class Reductions:
    """The reductions of a kernel, in the order they are made."""

    def __init__(self, domain: KernelDomain) -> None:
        self.domain = domain
        self.made: list[Reduction] = []
        self.planes: list[Plane] = []
        """The numbers that they give."""
        self.top = domain.builder.items
        self.bars = 0
        """Expressions being written that CPython would compute for some samples only."""
        self.table: dict[Any, Callable[..., Any]] = {
            function: partial(self.reduced, kind) for function, kind in REDUCTIONS.items()
        }

    @contextmanager
    def for_some(self, *, some: bool = True) -> Iterator[None]:
        """What is evaluated inside `with` CPython evaluates only for `some` of the samples."""
        self.bars += some
        try:
            yield
        finally:
            self.bars -= some

    @property
    def all_come_by(self) -> bool:
        """Does every sample come by where the program is being written?"""
        return self.domain.builder.items is self.top and not self.bars

    def keep(self, frame: Frame, node: ast.Call, where: Any) -> Any:
        """What `where=` says: a bool where it is known, else a Scalar; None says nothing."""
        if where is None:
            return True
        if isinstance(where, SmallArray):
            written = next((each.value for each in node.keywords if each.arg == "where"), node)
            what = "`where` says of each sample whether it takes part, and this is "
            what += describe(self.domain.numbers, where)
            fix = Edit(f"all({frame.source.text(written)})")
            raise HawkError("H208", what, frame.loc(written), fix)
        return self.domain.truth(frame, where, node)

    def along(self, frame: Frame, node: ast.Call, over: Any) -> tuple[int, ...]:
        """The dimensions that `over=` says."""
        try:
            return lines.dimensions(self.domain.numbers, over)
        except Misfit as misfit:
            written = next((each for each in node.keywords if each.arg == "over"), None)
            fixes: list[Edit] = []
            if written is not None and self.domain.numbers.grid is None:
                others = [each for each in node.keywords if each is not written]
                without = ast.unparse(ast.Call(node.func, node.args, others))
                fixes = [Edit(without, ", of all samples", at=frame.loc(node))]
            elif written is not None:
                fixes = [Edit(str(each)) for each in misfit.fixes if each]
            where = frame.loc(node if written is None else written.value)
            raise HawkError(misfit.code, misfit.what, where, fixes) from None

    def reduced(
        self,
        kind: str,
        frame: Frame,
        node: ast.Call,
        value: Any,
        *,
        where: Any = True,
        over: Any = None,
    ) -> Any:
        """The number that a call gives."""
        domain, at = self.domain, frame.loc(node)
        text = frame.source.text(node)
        if not self.all_come_by:
            what = f"`{text}` needs every sample, and here only some come by: it stands in a "
            what += "branch, in a loop, behind `and` or `or`, or after a `return` that some take"
            fix = f"total = {text} before it, with where=... for those that count; it is the same "
            fix += "in every pass of a loop"
            raise NeedsKnown("H405", what, at, fix)  # a loop of known length is then written out
        if domain.watches:
            what = f"`{text}` needs every sample, and checks look at one sample at a time"
            raise HawkError("H209", what, at, "@hawk.kernel without checks=True")
        keep, along = self.keep(frame, node, where), self.along(frame, node, over)
        domain.builder.loc = at
        if isinstance(value, SmallArray):
            parts = [self._one(kind, domain.numbers, each, keep, at, along) for each in value.parts]
            return domain.memory.fresh(value.shape, parts)
        if not is_one_number(domain.numbers, value):
            written = node.args[0] if node.args else node
            what = f"`{frame.source.text(node.func)}` reduces numbers of each sample, not "
            what += describe(domain.numbers, value)
            raise HawkError("H305", what, frame.loc(written))
        return self._one(kind, domain.numbers, value, keep, at, along)

    def _one(
        self, kind: str, numbers: Any, value: Any, keep: Any, at: Loc, along: tuple[int, ...]
    ) -> Scalar:
        """The reduction of one number of each sample."""
        number = reducible(numbers, kind, value)
        name = f"{kind} {len(self.made)}"
        dtype = result_of(kind, number.dtype)
        result = Value(dtype, at, kind)
        role = Role.TABLE if along else Role.UNIFORM
        self.planes.append(Plane(name, role, dtype, result, at))
        kept = None if keep is True else numbers.settle(keep).value
        form = lines.lines(numbers, along) if along else None
        self.made.append(Reduction(kind, number.value, kept, name, at, form))
        if not along:
            return Scalar(result)
        return numbers.emit("lookup", Scalar(result), lines.own_line(numbers, along))


def written_right(frame: Frame, node: ast.Call, grid: GridForm | None) -> str:
    """A call of a reduction with arguments that it does not take, as it may have been meant."""
    text = frame.source.text
    given = {str(each.arg): each.value for each in node.keywords}
    meant = dict[str, str]()
    second = node.args[1] if len(node.args) > 1 else None
    along = given.get("over") or given.get("axis")
    if isinstance(second, (ast.Compare, ast.BoolOp)):
        meant["where"] = text(second)
    elif along is None and isinstance(second, (ast.Constant, ast.Tuple)):
        along = second
    if along is not None and grid is not None:
        meant["over"] = _over(grid, along, text(along) if "over" in given else "")
    if "where" in given:
        meant["where"] = text(given["where"])
    value = node.args[0] if node.args else given.get("value")
    options = [f"{name}={each}" for name, each in meant.items() if each]
    right = f"{text(node.func)}({', '.join([text(value) if value else '...', *options])})"
    return right if along is None or grid is not None else f"{right}, of all samples"


def _over(grid: GridForm, along: ast.expr, written: str) -> str:
    """What is to be given as `over=` for dimensions, which NumPy counts; nothing for all."""
    try:
        known: Any = ast.literal_eval(along)
    except ValueError:
        return written or f'"{grid.axes[-1]}"'
    count, names = len(grid.axes), list[str]()
    for each in known if isinstance(known, (tuple, list)) else (known,):
        if type(each) is int and -count <= each < count:
            names.append(grid.axes[each])
        elif isinstance(each, str):
            names.append(each)
    texts = ", ".join(f'"{each}"' for each in names)
    return f"({texts})" if len(names) > 1 else texts


def is_one_number(numbers: Any, value: Any) -> bool:
    return numbers.is_number(value) or isinstance(value, (bool, int, float))


def reducible(numbers: Any, kind: str, value: Any) -> Any:
    """A number as a reduction takes it."""
    if kind in ("any", "all"):
        return numbers.settle(numbers.truth(value))
    settled = numbers.settle(value)
    if kind == "mean" and not settled.dtype.is_float:
        return numbers.convert(settled, numbers.real)
    if settled.dtype is DType.BOOL:
        return numbers.convert(settled, DType.I64)
    return settled
