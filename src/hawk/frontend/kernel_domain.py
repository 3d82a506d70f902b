"""The domain of kernels: numbers of the program, joined by `If` and carried by `Loop`."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from hawk.errors import Edit, HawkError, Loc
from hawk.frontend.bundles import fields_of
from hawk.frontend.domain import Cycle, Fork
from hawk.frontend.events import Event, Watch
from hawk.frontend.expressions import Expressions
from hawk.frontend.frame import Frame
from hawk.frontend.instances import Fields, Instance
from hawk.frontend.kernel_cycle import KernelCycle
from hawk.frontend.kernel_fork import KernelFork, misfit
from hawk.frontend.kernel_numbers import KernelNumbers
from hawk.frontend.known import by_python
from hawk.frontend.lookup import Reads, plain
from hawk.frontend.loops import UNROLL_MAX
from hawk.frontend.operators import Misfit, choice, conversion, fits
from hawk.frontend.reductions import Reductions
from hawk.frontend.scatters import Scatters
from hawk.frontend.small_arrays import Memory, SmallArray, Write, described, old, old_object
from hawk.frontend.suggestions import site_of
from hawk.frontend.templates import (
    ArrayParts,
    FieldParts,
    Known,
    Parts,
    describe,
    template_of,
)
from hawk.frontend.values import (
    VIEWS,
    Closure,
    GridScalar,
    NeedsKnown,
    Range,
    Scalar,
    Stream,
    TableView,
    Unusable,
)
from hawk.frontend.walk import Walker
from hawk.ir.builder import Builder
from hawk.ir.nodes import Const
from hawk.ir.types import DType


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """An arm or a pass. Lists may change in the `home` they were made in, and in no other."""

    home: object = field(default_factory=object)


class KernelDomain:
    """What the walker needs to know of kernels."""

    def __init__(
        self,
        builder: Builder,
        real: DType,
        *,
        contract: bool,
        checks: bool,
        tables: bool = False,
        fast: bool = False,
    ) -> None:
        self.builder, self.contract = builder, contract
        self.watch = Watch(builder, tables=tables) if checks else None
        self.numbers = KernelNumbers(builder, real, self.watch, fast=fast)
        self.memory = Memory()
        self.counters: set[int] = set()
        """The counters, by identity, of loops that would be written out for an index."""
        self.seeds: dict[ast.AST, dict[int, Write]] = {}
        """The memory that is written in a loop, where that is known from an earlier try."""
        self.reads = Reads()
        self.walker = Walker(self)
        self.reductions = Reductions(self)
        self.scatters = Scatters(self)
        self.expressions = Expressions(self)
        self.quotients: set[ast.AST] = set()
        """The divisions of two integers, which may be meant to give one."""
        self.regions = [Region()]
        """The arms and passes that are open."""

    @property
    def region(self) -> Region:
        """The innermost arm or pass that is open."""
        return self.regions[-1]

    @contextmanager
    def inside(self, *, alone: bool = False) -> Iterator[None]:
        """An arm or a pass; `alone` where all other paths have left the kernel."""
        self.regions.append(Region(self.region.home if alone else object()))
        try:
            yield
        finally:
            self.regions.pop()

    # --- expressions ---

    def evaluate(self, frame: Frame, node: ast.expr, name: str = "") -> Any:
        return self.expressions.evaluate(frame, node, name)

    def augment(self, frame: Frame, node: ast.AugAssign) -> None:
        self.expressions.sums.augment(frame, node)

    def store(self, frame: Frame, target: ast.expr, value: Any) -> None:
        self.expressions.containers.store(frame, target, value)

    def unpack(self, frame: Frame, value: Any, node: ast.expr) -> tuple[Any, ...]:
        """The parts of a value that is assigned to several names."""
        if isinstance(value, (tuple, list, str, range, dict, *VIEWS)):
            return tuple(plain(part, frame.loc(node)) for part in value)
        if isinstance(value, Stream):
            return tuple(self._taken(frame, value, node))
        if isinstance(value, SmallArray):
            return tuple(self.expressions.arrays.rows(frame, node, value))
        what = f"{describe(self.numbers, value)} cannot be taken apart: it is one number"
        if not isinstance(value, (Scalar, bool, int, float)):
            what = f"{describe(self.numbers, value)} cannot be taken apart"
        raise HawkError("H213", what, frame.loc(node))

    def new(self, container: Any) -> Any:
        """A list or dict made here; it may change here, not on one path only."""
        return self.expressions.containers.new(container)

    # --- checks ---

    @property
    def watches(self) -> bool:
        return self.watch is not None

    def acts(self, node: ast.expr) -> bool:
        """Whether to evaluate an expression may do something besides giving a value."""
        objects = self.expressions.objects
        return self.watches or (objects.count > 0 and objects.runs(node))

    def asserts(self, frame: Frame, node: ast.Assert) -> None:
        """Look at an assertion, where checks are asked for."""
        if self.watch is not None:
            truth = self._looked_at(frame, node.test)
            self.builder.loc = frame.loc(node.test)
            fails = self.numbers.settle(self.opposite(truth))
            self.watch.note(Event.FAILED, fails, frame.loc(node.test), frame.source.text(node.test))

    def shows(self, frame: Frame, node: ast.Call) -> None:
        """Note that `print` or `hawk.debug` shows something; what, is seen when it is replayed."""
        if self.watch is not None:
            where: Any = True
            for each in node.keywords:
                if each.arg == "where" and not _is_print(node):
                    where = self._looked_at(frame, each.value)
            self.builder.loc = frame.loc(node)
            text = frame.source.text(node)
            self.watch.note(Event.PRINTED, self.numbers.settle(where), frame.loc(node), text)

    def _looked_at(self, frame: Frame, node: ast.expr) -> Any:
        """The truth of what is computed for checks only, so it must change nothing."""
        written = self.memory.written
        truth = self.truth(frame, self.evaluate(frame, node), node)
        if self.memory.written is not written:
            what = f"`{frame.source.text(node)}` changes an array or an object, and is computed "
            fix = "changed = ... in a line of its own, then assert changed"
            raise HawkError("H308", what + "with checks=True only", frame.loc(node), fix)
        return truth

    # --- truth ---

    def is_number(self, value: object) -> bool:
        return isinstance(value, Scalar)

    def settle(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple([self.settle(part) for part in value])
        return self.numbers.settle(value)

    def truth(self, frame: Frame, value: Any, node: ast.AST) -> Any:
        """A bool where it is known, else a Scalar."""
        if isinstance(value, Scalar):
            self.builder.loc = frame.loc(node)
            truth = self.numbers.truth(value)
            return bool(truth.number) if isinstance(truth.value, Const) else truth
        if isinstance(value, SmallArray):
            raise self._no_truth(frame, value, node)
        if isinstance(value, Instance):
            return self.expressions.objects.truth(frame, value, node)
        return by_python(lambda: bool(value), frame.loc(node), "H208")

    def _no_truth(self, frame: Frame, array: SmallArray, node: ast.AST) -> HawkError:
        """The error of an array where a truth is needed."""
        text = frame.source.text(node)
        what = f"`{text}` is {described(array, self.numbers.real)}, and an array is not true or "
        fixes: list[str | Edit] = []
        if array.dtype is DType.BOOL and len(array.shape) == 1:
            fixes = [Edit(f"all({text})", ", if all have to be"), Edit(f"any({text})")]
        return HawkError("H208", what + "false as a whole", frame.loc(node), fixes)

    def bound_where(self, truth: Any) -> dict[str, Any]:
        return self.expressions.conditions.bound_where(truth)

    def opposite(self, flag: Any) -> Any:
        return not flag if isinstance(flag, bool) else self.numbers.opposite(flag)

    def either(self, first: Any, second: Any) -> Any:
        if first is True or second is True:
            return True
        if first is False or second is False:
            return second if first is False else first
        return self.numbers.emit("or", first, second)

    # --- joins ---

    def fork(self, frame: Frame, test: Any, node: ast.AST) -> Fork:
        return KernelFork(self, test, frame.head(node), frame, node)

    def choose(self, flag: Any, name: str, first: Any, second: Any, where: Loc) -> Any:
        """The first value where `flag` is True, else the second; nothing runs in between."""
        if isinstance(flag, bool):
            return first if flag else second
        fork = KernelFork(self, flag, where)
        fork.arms = [[], []]
        return fork.pair(name, first, second)

    # --- loops ---

    def cycle(self, frame: Frame, node: ast.AST, trips: int | None = None) -> Cycle:
        return KernelCycle(self, frame, node, trips)

    def kept(self) -> Any:
        """What a walk that is given up must not change."""
        return self.memory.written

    def restore(self, kept: Any) -> None:
        self.memory.written = kept

    def changes_in_place(self, value: Any) -> bool:
        return isinstance(value, SmallArray)

    def changing(self, node: ast.AST, names: dict[str, Any]) -> frozenset[str]:
        """The keys of objects that a loop is known to change, from an earlier walk of it."""
        seeds = self.seeds.get(node)
        if not seeds:
            return frozenset()
        held = {name: each for name, each in names.items() if isinstance(each, Fields)}
        places = {
            name: {*each.cells}.union(*[p.cells for p in each.parts if isinstance(p, SmallArray)])
            for name, each in held.items()
        }
        return frozenset([name for name, cells in places.items() if seeds.keys() & cells])

    def template(self, value: Any) -> Any:
        """The template of a value; Unusable for an array, or an object, that is old."""
        if isinstance(value, Unusable):
            return value
        if isinstance(value, (SmallArray, Fields)):
            change, told = self.memory.change(value), _told(value)
            if change is not None:
                return Unusable(lambda name, where: told(name, change, where))
        if isinstance(value, Fields):
            # A Grid that no pass assigns to is the same in all, so its neighbours can be read.
            parts = [
                Known(p) if isinstance(p, GridScalar) else self.template(p) for p in value.parts
            ]
            return FieldParts(value.cls, tuple(parts), value)
        if isinstance(value, (tuple, list, dict)):
            held = map(self.template, value.values() if isinstance(value, dict) else value)
            old_ones = [each for each in held if isinstance(each, Unusable)]
            if old_ones:
                return old_ones[0]
        return template_of(self.numbers, value)

    def widen(
        self, frame: Frame, name: str, entry: Any, template: Any, value: Any, node: ast.AST
    ) -> Any:
        """The template that holds what `template` holds and `value`; Unusable if none does."""
        if isinstance(template, Parts) and template.fits(value):
            held = value.values() if isinstance(value, dict) else value
            pairs = zip(template.parts, held, strict=True)
            parts = tuple(self.widen(frame, name, entry, part, each, node) for part, each in pairs)
            bad = [part for part in parts if isinstance(part, Unusable)]
            return bad[0] if bad else Parts(template.form, parts, template.keys)
        if isinstance(value, (SmallArray, Fields)):
            change, told = self.memory.change(value), _told(value)
            if change is not None:
                return Unusable(lambda name, where: told(name, change, where))
        if isinstance(template, FieldParts) and isinstance(value, Fields):
            return self._widen_fields(frame, entry, template, value, node)
        if (
            isinstance(value, SmallArray)
            and isinstance(template, ArrayParts)
            and template.shape == value.shape
        ):
            if template.kind is value.dtype:
                return template
            return self._changes(frame, name, entry, value, node, HawkError)
        if isinstance(template, Known) and template == template_of(self.numbers, value):
            return template
        numeric = isinstance(value, (Scalar, bool, int, float))
        if isinstance(template, (Parts, ArrayParts, Known)) or not numeric:
            return self._changes(frame, name, entry, value, node, NeedsKnown)
        common = choice((template, self.numbers.kind(value)), self.numbers.real)
        if common is None:
            return self._changes(frame, name, entry, value, node, HawkError)
        for known in (entry, value):
            if isinstance(known, (bool, int, float)) and isinstance(common, DType):
                try:
                    self.numbers.to(known, common)
                except Misfit as error:
                    return misfit(error)
        return common

    def _widen_fields(
        self, frame: Frame, entry: Any, template: FieldParts, value: Fields, node: ast.AST
    ) -> FieldParts:
        """As `widen`, field by field: one that has no single type is not read, others are."""
        parts: list[Any] = []
        before = entry.parts if isinstance(entry, Fields) else value.parts
        for name, old_part, part, new in zip(
            value.names, before, template.parts, value.parts, strict=True
        ):
            wide = part
            if isinstance(new, Unusable):
                wide = new if not isinstance(part, Unusable) else part
            elif not isinstance(part, Unusable) and not _is_same(part, new):
                label, known = f"{value.label}.{name}", _is_same(part, old_part)
                held = self.template(old_part) if known else part
                wide = self.widen(frame, label, old_part, held, new, node)
            parts.append(wide)
        return FieldParts(template.cls, tuple(parts), template.like)

    def unite(
        self,
        paths: Sequence[dict[str, Any]],
        stands: dict[str, Any] | None = None,
        anew: Collection[str] = (),
    ) -> list[dict[str, Any]]:
        return self.expressions.objects.unite(paths, stands, anew)

    def _changes(
        self,
        frame: Frame,
        name: str,
        entry: Any,
        value: Any,
        node: ast.AST,
        error: type[HawkError],
    ) -> Unusable:
        line = frame.loc(node).line
        before, after = (describe(self.numbers, each, lines=True) for each in (entry, value))
        made = value.value.loc if isinstance(value, Scalar) else None
        shaped = [each for each in (entry, value) if isinstance(each, SmallArray)]

        def why(name: str, where: Loc) -> HawkError:
            what = f"`{name}` is {before} when the loop at line {line} starts and {after} "
            fix: str | Edit | None = f"one type for `{name}`, before the loop and in it"
            if all(isinstance(each, (Scalar, bool, int, float)) for each in (entry, value)):
                fix = self._kept(frame, name, value, made, node, where) or fix
            elif shaped:
                fix = f"one shape and one type for `{name}`, before the loop and in it"
            elif entry is None:
                fix = f"{name} = 0.0 and found = False before line {line}: a number, and whether "
                fix += "there is one yet"
            elif isinstance(entry, (tuple, list)) and isinstance(value, (tuple, list)):
                fix = "a loop over a range whose length is known, or one name for each element"
            if isinstance(fix, Edit) and not fix.before and fix.at.line == where.line:
                where = fix.at
            return error("H206", what + "after a pass", where, fix)

        return Unusable(why, made)

    def _kept(
        self, frame: Frame, name: str, value: Any, made: Loc | None, node: ast.AST, where: Loc
    ) -> Edit | None:
        """What to write for a number whose type changes in a loop.

        A plane keeps its type, so what becomes of it in the loop is converted; any other name
        starts with the type that it has after a pass.
        """
        wanted, real = frame.planes.get(name), self.numbers.real
        if wanted is not None and not fits(self.numbers.kind(value), wanted):
            site = site_of(frame, name, made, node)
            template = f"{conversion(wanted, real)}({{left}})"
            template = "{left} != 0" if wanted is DType.BOOL else template
            if site is None:
                return None
            return site.edit(
                frame, template, where, integer=wanted.is_int and site.node in self.quotients
            )
        settled = self.numbers.settle(value)
        if not isinstance(settled, Scalar):
            return None
        text = f"{name} = {conversion(settled.dtype, real)}({name})"
        return Edit(text, at=frame.loc(node), before=True)

    def iterate(self, frame: Frame, value: Any, node: ast.AST) -> Range | range | Iterable[Any]:
        """What a `for` runs over: a known sequence, or a range.

        A list or dict that changes meanwhile is run over as Python does, so it is taken only once.
        """
        if isinstance(value, (range, Range)):
            return value
        if isinstance(value, Stream):
            return self._taken(frame, value, node)
        if isinstance(value, (tuple, list, str, dict, *VIEWS)):
            return self._each(frame, value, node)
        if isinstance(value, SmallArray):
            return self.expressions.arrays.rows(frame, node, value)
        if isinstance(value, Scalar):
            text = frame.source.text(node)
            what = f"`{text}` is {describe(self.numbers, value)}, one number of this sample; there "
            what += "is nothing to run over"
            fix = f"range({text})" if value.dtype.is_int else f"range(...), or {text} alone"
            raise HawkError("H404", what, frame.loc(node), fix)
        what = "a `for` runs over a range, or over values whose number is known, not over "
        if isinstance(value, Instance):
            of = frame.source.text(node)
            fields = ", ".join([f"{of}.{each.name}" for each in fields_of(value.cls)])
            what += describe(self.numbers, value)
            raise HawkError("H404", what, frame.loc(node), f"({fields})")
        text = frame.source.text(node)
        if isinstance(value, TableView):
            fix = f"for i in range(len({text})): ... with {text}[i]"
            raise HawkError("H404", what + describe(self.numbers, value), frame.loc(node), fix)
        fix = f"range({text})" if type(value) is int else f"tuple({text}) outside the kernel"
        if isinstance(value, (type, Closure)) or callable(value) or isinstance(value, float):
            fix = ""
        raise HawkError("H404", what + describe(self.numbers, value), frame.loc(node), fix)

    def _each(self, frame: Frame, value: Any, node: ast.AST) -> Iterator[Any]:
        """The parts of a container as it is when each is taken."""
        name, most = f"{frame.source.text(node)}[...]", len(value) + UNROLL_MAX
        parts = iter(value)
        for _ in range(most):
            try:
                part = next(parts)
            except StopIteration:
                return
            except RuntimeError as error:  # a dict that changed
                what = f"`{frame.source.text(node)}` changes while a loop runs over it: {error}"
                raise HawkError("H210", what, frame.loc(node), f"tuple({name[:-5]})") from None
            yield plain(part, frame.loc(node), name)
        what = f"`{frame.source.text(node)}` grows with every pass of the loop that runs over it"
        raise HawkError("H402", what, frame.loc(node), f"tuple({name[:-5]})")

    def _taken(self, frame: Frame, stream: Stream, node: ast.AST) -> Iterator[Any]:
        """The values of an iterator that are left."""
        if stream.region is not self.region:
            text = frame.source.text(node)
            what = f"`{text}` gives its values once, and here only on one path or in one pass"
            raise NeedsKnown("H212", what, frame.loc(node), f"{text} = tuple(...) before")
        return stream.parts

    def below(self, number: Any, bounds: Range) -> Any:
        stop = self.numbers.to(bounds.stop, DType.I64)
        return self.numbers.binary("<" if bounds.step > 0 else ">", number, stop)

    def advance(self, number: Any, bounds: Range) -> Any:
        return self.numbers.binary("+", number, bounds.step)

    def counter(self, number: int) -> Any:
        return self.numbers.constant(number, DType.I64)

    def matches(self, frame: Frame, value: Any, node: ast.pattern) -> tuple[Any, dict[str, Any]]:
        return self.expressions.matches(frame, value, node)


def _is_same(template: Any, value: Any) -> bool:
    """Is it a Grid of an object, and the one that the template has seen?"""
    return isinstance(template, Known) and template.value is value is not None


def _told(value: Any) -> Any:
    """What says that an array, or an object, changed under another name."""
    return old_object if isinstance(value, Fields) else old


def _is_print(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id == "print"
