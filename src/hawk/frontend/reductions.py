"""`hawk.sum(x)` and its like in a kernel: one number made of a value of every sample."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from hawk.collective import REDUCTIONS
from hawk.errors import Edit, HawkError, Loc
from hawk.frontend.frame import Frame
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


@dataclass(frozen=True, slots=True)
class Asked(Exception):
    """What one sample gives to a reduction whose result is not known yet."""

    kind: str
    dtype: DType
    number: PlainNumber
    keep: bool


class Batch:
    """What a step that CPython runs for one sample has of all others, and gives to them."""

    def __init__(self) -> None:
        self.known: Sequence[PlainNumber] = ()
        """The results of its reductions, as far as they are known."""
        self.made = 0
        self.given: list[Any] = []
        """What it gives to shared tables, see `scatters.Given`."""

    def begin(self, known: Sequence[PlainNumber]) -> None:
        """A step begins; `known` are the results of its first reductions."""
        self.known, self.made, self.given = known, 0, []

    def reduced(self, numbers: Any, kind: str, value: Any, *, where: Any = True) -> Any:
        """The result of the next reduction. Raises Asked where that is not known."""
        if isinstance(value, Array):
            parts = [self.reduced(numbers, kind, each, where=where) for each in value.values]
            return Array.of(numbers, value.shape, parts)
        if not is_one_number(numbers, value):
            raise TypeError(f"hawk.{kind} reduces numbers of each sample, not {value!r}")
        number = reducible(numbers, kind, value)
        if self.made == len(self.known):
            raise Asked(kind, number.dtype, number.number, bool(where))
        self.made += 1
        dtype = result_of(kind, number.dtype)
        return numbers.constant(self.known[self.made - 1], dtype)


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
        """What `where=` says: a bool where it is known, else a Scalar."""
        if isinstance(where, SmallArray):
            written = next((each.value for each in node.keywords if each.arg == "where"), node)
            what = "`where` says of each sample whether it takes part, and this is "
            what += describe(self.domain.numbers, where)
            fix = Edit(f"all({frame.source.text(written)})")
            raise HawkError("H208", what, frame.loc(written), fix)
        return self.domain.truth(frame, where, node)

    def reduced(
        self, kind: str, frame: Frame, node: ast.Call, value: Any, *, where: Any = True
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
        keep = self.keep(frame, node, where)
        if isinstance(value, SmallArray):
            parts = [self._one(kind, domain.numbers, each, keep, at) for each in value.parts]
            return domain.memory.fresh(value.shape, parts)
        if not is_one_number(domain.numbers, value):
            written = node.args[0] if node.args else node
            what = f"`{frame.source.text(node.func)}` reduces numbers of each sample, not "
            what += describe(domain.numbers, value)
            raise HawkError("H305", what, frame.loc(written))
        return self._one(kind, domain.numbers, value, keep, at)

    def _one(self, kind: str, numbers: Any, value: Any, keep: Any, at: Loc) -> Scalar:
        """The reduction of one number of each sample."""
        number = reducible(numbers, kind, value)
        name = f"{kind} {len(self.made)}"
        dtype = result_of(kind, number.dtype)
        result = Value(dtype, at, kind)
        self.planes.append(Plane(name, Role.UNIFORM, dtype, result, at))
        kept = None if keep is True else numbers.settle(keep).value
        self.made.append(Reduction(kind, number.value, kept, name, at))
        return Scalar(result)


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
