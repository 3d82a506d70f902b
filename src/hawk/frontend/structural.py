"""Builtins that work on things rather than numbers: ranges, sequences of known length, sums."""

from __future__ import annotations

import ast
import copy
import dataclasses
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from hawk import math as own
from hawk.collective import scatter
from hawk.edits import filled
from hawk.errors import Edit, HawkError
from hawk.frontend import tables
from hawk.frontend.frame import Frame
from hawk.frontend.instances import Instance
from hawk.frontend.known import by_python
from hawk.frontend.lookup import plain
from hawk.frontend.loops import short_enough
from hawk.frontend.methods import Methods
from hawk.frontend.small_arrays import SmallArray
from hawk.frontend.source import own_nodes
from hawk.frontend.suggestions import elements, fresh
from hawk.frontend.templates import describe
from hawk.frontend.values import (
    VIEWS,
    GridScalar,
    NeedsKnown,
    Range,
    Scalar,
    Stream,
    TableView,
    is_known,
)
from hawk.ir.reduce import KINDS

if TYPE_CHECKING:
    from hawk.frontend.kernel_domain import KernelDomain


class Structural:
    """The builtins by function; each takes the frame and the call, then its arguments."""

    def __init__(self, domain: KernelDomain) -> None:
        self.domain = domain
        self.numbers = domain.numbers
        self.methods = Methods(domain)
        self.table: dict[Any, Callable[..., Any]] = {
            range: self.range_,
            len: self.len_,
            sum: self.sum_,
            any: self.any_,
            all: self.all_,
            tuple: self.tuple_,
            list: self.list_,
            zip: self.zip_,
            enumerate: self.enumerate_,
            reversed: self.reversed_,
            isinstance: self.isinstance_,
            type: self.type_,
            dict: self.methods.dict_,
            sorted: self.methods.sorted_,
            **domain.reductions.table,
            scatter: domain.scatters.scatter,
            own.vec: self.vec_,
            own.mat: self.mat_,
            dataclasses.replace: self.replace_,
            copy.copy: self.copy_,
        }

    def replace_(self, frame: Frame, node: ast.Call, owner: Any, /, **changes: Any) -> Any:
        return self.domain.expressions.objects.replace_(frame, node, owner, **changes)

    def copy_(self, frame: Frame, node: ast.Call, owner: Any, /) -> Any:
        return self.domain.expressions.objects.copy_(frame, node, owner)

    def vec_(self, frame: Frame, node: ast.Call, *values: Any) -> Any:
        return self.domain.expressions.arrays.vec(frame, node, *values)

    def mat_(self, frame: Frame, node: ast.Call, *rows: Any) -> Any:
        return self.domain.expressions.arrays.mat(frame, node, *rows)

    def sequence(self, frame: Frame, node: ast.AST, value: Any, place: int = 0) -> tuple[Any, ...]:
        """The values of an argument of the call `node`."""
        args = node.args if isinstance(node, ast.Call) else [node]
        written: Any = args[place] if place < len(args) else node
        if isinstance(node, ast.Call) and isinstance(value, Scalar):
            name, text = frame.source.text(node.func), frame.source.text(written)
            if name in KINDS:
                what = f"`{text}` is {describe(self.numbers, value)}, one number of this sample; "
                what += f"`{name}` takes several"
                fix = Edit(f"hawk.{name}({text})", ", of all samples", at=frame.loc(node))
                raise HawkError("H404", what, frame.loc(written), fix)
        sequence = self.domain.iterate(frame, value, written)
        if isinstance(sequence, Range):
            what = "how many values a range has must be known here"
            fix = f"for i in {frame.source.text(written)}: ..., a loop"
            raise NeedsKnown("H404", what, frame.loc(written), fix)
        if isinstance(sequence, range):
            short_enough(sequence, frame.loc(written))
            return tuple(self.domain.counter(number) for number in sequence)
        return tuple(sequence)

    def stream(self, frame: Frame, node: ast.Call, value: Any, place: int = 0) -> Iterator[Any]:
        """The values of an argument, each as it is when it is taken."""
        if isinstance(value, (range, Range)):
            return iter(self.sequence(frame, node, value, place))
        written = node.args[place] if place < len(node.args) else node
        elements = self.domain.iterate(frame, value, written)
        assert not isinstance(elements, Range)
        return iter(elements)

    def range_(self, frame: Frame, node: ast.Call, *bounds: Any) -> Any:
        if not 1 <= len(bounds) <= 3:
            raise HawkError("H305", "`range` takes one to three numbers", frame.loc(node))
        checked = [
            self._bound_of(frame, each, bound)
            for each, bound in zip(node.args, bounds, strict=False)
        ]
        if len(checked) < len(bounds):  # a starred argument
            checked = list(bounds)
        start = checked[0] if len(checked) > 1 else 0
        stop = checked[1] if len(checked) > 1 else checked[0]
        step = checked[2] if len(checked) > 2 else 1
        known: list[Any] = [
            each.number if isinstance(each, Scalar) else each for each in (start, stop, step)
        ]
        if known[2] is None:
            what = "the step of a range must be known while the kernel is traced"
            fix = self._by_steps(frame, node)
            raise NeedsKnown("H212", what, frame.loc(node), fix)
        if known[2] == 0:
            raise HawkError(
                "H210", "the step of a range is 0", frame.loc(node), "a step of 1 or -1"
            )
        return Range(start, stop, known[2]) if None in known else range(*known)

    @staticmethod
    def _by_steps(frame: Frame, node: ast.Call) -> str:
        """A loop over a range as a `while` loop, in words."""
        source = frame.source
        if len(node.args) != 3:
            return "a step that is known"
        start, stop, step = (source.text(each) for each in node.args)
        loops = [each for each in own_nodes(source.body) if isinstance(each, ast.For)]
        name = next((source.text(each.target) for each in loops if each.iter is node), "i")
        return f"{name} = {start}, then while {name} < {stop}: ...; {name} += {step}"

    def _bound_of(self, frame: Frame, node: ast.expr, value: Any) -> Any:
        """A bound of a range as an Index."""
        if isinstance(value, Scalar) and value.dtype.is_int:
            if value.free:
                return value
            return self.domain.expressions.guarded(
                frame, node, lambda: self.numbers.convert(value, self.domain.counter(0).dtype)
            )
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        text = frame.source.text(node)
        what = f"a range runs over integers, and `{text}` is {describe(self.numbers, value)}"
        fix = f"int({text})"
        if isinstance(node, ast.BinOp) and node in self.domain.quotients:
            sides = {"left": frame.source.text(node.left), "right": frame.source.text(node.right)}
            fix = filled("{left} // {right}", **sides)
        raise HawkError("H202", what, frame.loc(node), fix)

    def len_(self, frame: Frame, node: ast.Call, value: Any) -> Any:
        if isinstance(value, (tuple, list, dict, str, range, SmallArray, *VIEWS)):
            return len(value)
        if isinstance(value, TableView):
            return tables.length(value)
        what = f"{describe(self.numbers, value)} has no length"
        if isinstance(value, Scalar):
            text = frame.source.text(node.args[0])
            what = (
                f"`{text}` is {describe(self.numbers, value)}, one number of this sample, and has "
            )
            fix = f"{text}.shape[0]" if isinstance(value, GridScalar) else "a Param for the length"
            raise HawkError("H404", what + "no length", frame.loc(node), fix)
        fix = f"len(tuple({frame.source.text(node.args[0])}))" if isinstance(value, Stream) else ""
        raise HawkError("H404", what, frame.loc(node), fix)

    def sum_(self, frame: Frame, node: ast.Call, values: Any, start: Any = 0) -> Any:
        total = start
        for place, value in enumerate(self.sequence(frame, node, values)):
            before = total
            if isinstance(before, SmallArray) or isinstance(value, SmallArray):
                arrays, sides = self.domain.expressions.arrays, (node.args[0], node.args[0])
                total = arrays.binary(frame, node, "+", before, value, sides)
                continue
            try:
                total = self.domain.expressions.guarded(
                    frame, node, lambda b=before, v=value: self.numbers.binary("+", b, v)
                )
            except HawkError as error:
                raise self._not_added(frame, node, before, value, place, error) from None
        return total

    def _not_added(
        self, frame: Frame, node: ast.Call, before: Any, value: Any, place: int, said: HawkError
    ) -> HawkError:
        """The error of `sum` where one number does not go with those before it."""
        clash, source = self.domain.expressions.conditions.clash(before, value), frame.source
        if clash is None or not node.args:
            return HawkError(said.code, said.what, said.loc)
        a, b = describe(self.numbers, before), describe(self.numbers, value)
        what = f"the sum is {a} before number {place + 1}, which is {b}"
        parts = elements(source, node.args[0])
        if clash[0] == "right" and parts:
            fix = f"{clash[1]}({source.text(parts[place])})"
            return HawkError(said.code, what, frame.loc(parts[place]), fix)
        texts = source.text(node.args[0])
        (one, _) = fresh(texts)
        fix = f"[{clash[1]}({one}) for {one} in {texts}]"
        return HawkError(said.code, what, frame.loc(node.args[0]), fix)

    def any_(self, frame: Frame, node: ast.Call, values: Any) -> Any:
        found: Any = False
        for value in self.sequence(frame, node, values):
            found = self.domain.either(found, self.domain.truth(frame, value, node))
            if found is True:
                return True
        return found

    def all_(self, frame: Frame, node: ast.Call, values: Any) -> Any:
        missing: Any = False
        for value in self.sequence(frame, node, values):
            no = self.domain.opposite(self.domain.truth(frame, value, node))
            missing = self.domain.either(missing, no)
            if missing is True:
                return False
        return self.domain.opposite(missing)

    def tuple_(self, frame: Frame, node: ast.Call, values: Any = ()) -> Any:
        return self.sequence(frame, node, values)

    def list_(self, frame: Frame, node: ast.Call, values: Any = ()) -> Any:
        return self.domain.new(list(self.sequence(frame, node, values)))

    def zip_(self, frame: Frame, node: ast.Call, *values: Any, strict: bool = False) -> Any:
        streams = [self.stream(frame, node, value, i) for i, value in enumerate(values)]

        def together() -> Iterator[Any]:
            try:
                yield from zip(*streams, strict=strict)
            except ValueError as error:
                raise HawkError("H210", str(error), frame.loc(node)) from None

        return Stream(together(), self.domain.region)

    def enumerate_(self, frame: Frame, node: ast.Call, iterable: Any, start: Any = 0) -> Any:
        first = self.domain.expressions.containers.as_index(frame, start, node)
        return Stream(enumerate(self.stream(frame, node, iterable), first), self.domain.region)

    def reversed_(self, frame: Frame, node: ast.Call, values: Any) -> Any:
        if isinstance(values, range):
            return values[::-1]
        if isinstance(values, Stream):
            what = f"`{frame.source.text(node.args[0])}` is an iterator, which runs one way only"
            fix = f"reversed(tuple({frame.source.text(node.args[0])}))"
            raise HawkError("H305", what, frame.loc(node), fix)
        if isinstance(values, list):
            parts = (plain(part, frame.loc(node)) for part in reversed(values))
            return Stream(parts, self.domain.region)
        return Stream(iter(self.sequence(frame, node, values)[::-1]), self.domain.region)

    def isinstance_(self, frame: Frame, node: ast.Call, value: Any, kinds: Any) -> Any:
        if isinstance(value, Instance):
            return by_python(lambda: issubclass(value.cls, kinds), frame.loc(node))
        if is_known(value):
            return isinstance(value, kinds)
        if isinstance(value, (tuple, list, dict)):
            return by_python(lambda: isinstance(value, kinds), frame.loc(node))
        raise self._no_class(frame, node)

    def type_(self, frame: Frame, node: ast.Call, value: Any) -> Any:
        if isinstance(value, Instance):
            return value.cls
        if is_known(value) or isinstance(value, (tuple, list, dict)):
            return type(value)
        raise self._no_class(frame, node)

    def _no_class(self, frame: Frame, node: ast.Call) -> HawkError:
        what = "a number of a sample has a type of the program, not a class to ask for"
        fix = "nothing: its type is the same for all samples, by its annotation"
        return HawkError("H303", what, frame.loc(node), fix)
