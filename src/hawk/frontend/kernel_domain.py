"""The domain of kernels: numbers of the program, joined by `If` and carried by `Loop`."""

from __future__ import annotations

import ast
import keyword
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from hawk.errors import HawkError, Loc
from hawk.frontend.expressions import Expressions
from hawk.frontend.frame import Frame
from hawk.frontend.kernel_numbers import KernelNumbers
from hawk.frontend.lookup import Reads, plain
from hawk.frontend.operators import Kind, Literal, Misfit, choice, is_float
from hawk.frontend.source import own_nodes
from hawk.frontend.templates import Known, Parts, Template, describe, fill, open_up, template_of
from hawk.frontend.values import NeedsKnown, Range, Scalar, Unusable
from hawk.frontend.walk import Cycle, Fork, Walker
from hawk.ir.builder import Builder
from hawk.ir.nodes import Block, Const, If, Loop, Statement, Value
from hawk.ir.types import DType


class KernelDomain:
    """What the walker needs to know of kernels."""

    def __init__(self, builder: Builder, real: DType, *, contract: bool) -> None:
        self.builder, self.contract = builder, contract
        self.numbers = KernelNumbers(builder, real)
        self.reads = Reads()
        self.walker = Walker(self)
        self.expressions = Expressions(self)
        self.depth = 0
        """How many arms and passes are open: a list made outside them must not change inside."""

    # --- expressions ---

    def evaluate(self, frame: Frame, node: ast.expr, name: str = "") -> Any:
        return self.expressions.evaluate(frame, node, name)

    def augment(self, frame: Frame, node: ast.AugAssign) -> Any:
        return self.expressions.augment(frame, node)

    def store(self, frame: Frame, target: ast.expr, value: Any) -> None:
        self.expressions.store(frame, target, value)

    def unpack(self, frame: Frame, value: Any, node: ast.expr) -> tuple[Any, ...]:
        """The parts of a value that is assigned to several names."""
        if isinstance(value, (tuple, list, str, range, dict)):
            return tuple(plain(part, frame.loc(node)) for part in value)
        what = f"{describe(self.numbers, value)} cannot be taken apart"
        raise HawkError("H213", what, frame.loc(node))

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
        try:
            return bool(value)
        except Exception as error:
            what = f"this has no truth value: {error}"
            raise HawkError("H208", what, frame.loc(node)) from None

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

    def cycle(self, frame: Frame, node: ast.AST) -> Cycle:
        return KernelCycle(self, frame.head(node))

    def template(self, value: Any) -> Template:
        return template_of(self.numbers, value)

    def widen(
        self, frame: Frame, name: str, entry: Any, template: Any, value: Any, node: ast.AST
    ) -> Any:
        """The template that holds what `template` holds and `value`; Unusable if none does."""
        if isinstance(template, Parts) and isinstance(value, template.form):
            if len(value) == len(template.parts):
                pairs = zip(template.parts, value, strict=True)
                parts = tuple(
                    self.widen(frame, name, entry, part, each, node) for part, each in pairs
                )
                bad = [part for part in parts if isinstance(part, Unusable)]
                return bad[0] if bad else Parts(template.form, parts)
        if isinstance(template, Known) and template == template_of(self.numbers, value):
            return template
        numeric = isinstance(value, (Scalar, bool, int, float))
        if isinstance(template, (Parts, Known)) or not numeric:
            return self._changes(frame, name, entry, value, node, NeedsKnown)
        common = choice((template, self.numbers.kind(value)), self.numbers.real)
        if common is None:
            return self._changes(frame, name, entry, value, node, HawkError)
        return common

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

        def why(name: str, where: Loc) -> HawkError:
            what = f"`{name}` is {before} when the loop at line {line} starts and {after} "
            fix = ""
            if isinstance(entry, Scalar) and isinstance(value, Scalar):
                fix = f"{name} = hawk.real({name}) before line {line}"
                if value.dtype.is_int or value.dtype is DType.BOOL:
                    fix = f"one type for `{name}`, before the loop and in it"
            return error("H206", what + "after a pass", where, fix)

        return Unusable(why)

    def iterate(self, frame: Frame, value: Any, node: ast.expr) -> Range | Sequence[Any]:
        """What a `for` runs over: a known sequence, or a range."""
        if isinstance(value, (range, Range)):
            return value
        if isinstance(value, (tuple, list, str, dict)):
            return tuple(plain(part, frame.loc(node)) for part in value)
        if isinstance(value, Scalar):
            text = frame.source.text(node)
            what = f"`{text}` is a number, and a `for` needs something to run over"
            raise HawkError("H404", what, frame.loc(node), f"range({text})")
        what = f"a `for` runs over a range, or over values whose number is known, not over "
        raise HawkError("H404", what + describe(self.numbers, value), frame.loc(node))

    def below(self, number: Any, bounds: Range) -> Any:
        stop = self.numbers.to(bounds.stop, DType.I64)
        return self.numbers.binary("<" if bounds.step > 0 else ">", number, stop)

    def advance(self, number: Any, bounds: Range) -> Any:
        return self.numbers.binary("+", number, bounds.step)

    def counter(self, number: int) -> Any:
        return self.numbers.constant(number, DType.I64)

    def matches(self, frame: Frame, value: Any, node: ast.pattern) -> tuple[Any, dict[str, Any]]:
        return self.expressions.matches(frame, value, node)


@dataclass(eq=False)
class KernelFork:
    """An `If` being written: two arms, then what each yields for a value after the join."""

    domain: KernelDomain
    test: Scalar
    where: Loc
    frame: Frame | None = None
    node: ast.AST | None = None
    arms: list[list[Statement]] = field(default_factory=list)
    yields: list[tuple[Value, Value]] = field(default_factory=list)
    results: list[Value] = field(default_factory=list)
    defined: list[set[int]] = field(default_factory=list)
    seen: dict[tuple[int, int], Scalar] = field(default_factory=dict)

    @contextmanager
    def arm(self) -> Iterator[None]:
        domain = self.domain
        domain.depth += 1
        try:
            with domain.builder.block() as items:
                self.arms.append(items)
                yield
        finally:
            domain.depth -= 1
        self.defined.append({id(result) for item in items for result in item.results})

    def flag(self, first: Any, second: Any) -> Any:
        if first is second:
            return first
        if isinstance(first, bool) and isinstance(second, bool):
            return self.test if first else self.domain.opposite(self.test)
        return self.pair("", first, second)

    def pair(self, name: str, first: Any, second: Any) -> Any:
        if first is second:
            return first
        if isinstance(first, Unusable) or isinstance(second, Unusable):
            return first if isinstance(first, Unusable) else second
        if type(first) is type(second) and isinstance(first, (tuple, list)):
            if len(first) == len(second):
                parts = [self.pair(name, a, b) for a, b in zip(first, second, strict=True)]
                bad = [part for part in parts if isinstance(part, Unusable)]
                return bad[0] if bad else type(first)(parts)
        numbers = self.domain.numbers
        numeric = [isinstance(each, (Scalar, bool, int, float)) for each in (first, second)]
        if not all(numeric):
            alike = type(first) is type(second) and not any(numeric) and _equal(first, second)
            return first if alike else self._differ(name, first, second)
        common = choice((numbers.kind(first), numbers.kind(second)), numbers.real)
        if common is None:
            return self._differ(name, first, second)
        try:
            return self._number(name, first, second, common)
        except Misfit as misfit:
            return _misfit(misfit)

    def _number(self, name: str, first: Any, second: Any, common: Kind) -> Scalar:
        numbers, free = self.domain.numbers, common is Literal.INT
        if not any(self.arms):
            a, b = numbers.to(first, common), numbers.to(second, common)
            if _alike(a, b):
                return Scalar(a.value, free)
            numbers.builder.loc, numbers.name = self.where, name if name.isidentifier() else ""
            return numbers.emit("select", self.test, a, b, free=free)
        a, b = self._inside(0, first, common), self._inside(1, second, common)
        if _alike(a, b):
            return Scalar(a.value, free)
        if (id(a.value), id(b.value)) not in self.seen:
            self.seen[id(a.value), id(b.value)] = self._yield(name, a, b)
        return Scalar(self.seen[id(a.value), id(b.value)].value, free)

    def _inside(self, arm: int, value: Any, common: Kind) -> Scalar:
        """`value` as `common`, converted inside its arm."""
        builder = self.domain.builder
        outside, builder.items = builder.items, self.arms[arm]
        try:
            return self.domain.numbers.to(value, common)
        finally:
            builder.items = outside

    def _yield(self, name: str, a: Scalar, b: Scalar) -> Scalar:
        result = Value(a.dtype, self.where, name if name.isidentifier() else "")
        self.yields.append((a.value, b.value))
        self.results.append(result)
        return Scalar(result)

    def _differ(self, name: str, first: Any, second: Any) -> Unusable:
        """Say what the value is on each path, and where it was assigned there."""
        numbers, line = self.domain.numbers, self.where.line
        described: list[str] = []
        texts: list[str] = []
        for arm, value in (("body", first), ("orelse", second)):
            place, text = _assignment(self.frame, self.node, arm, name)
            words = describe(numbers, value)
            described.append(f"{words} (line {place})" if place else words)
            texts.append(text)
        mixed = isinstance(first, Scalar) and isinstance(second, Scalar)
        kinds = {numbers.kind(value) for value in (first, second)} if mixed else set()

        def why(name: str, where: Loc) -> HawkError:
            what = f"`{name}` is {described[0]} on one path and {described[1]} on the other"
            what += f" of the choice at line {line}"
            fix = "values of one type on both paths"
            for value, text in zip((first, second), texts, strict=True):
                to = "real" if any(is_float(kind) for kind in kinds) else "index"
                narrow = isinstance(value, Scalar) and value.dtype.is_int
                if mixed and narrow and text and not (to == "index" and value.dtype is DType.I64):
                    fix = f"hawk.{to}({text})"
                    if not isinstance(self.node, ast.IfExp):
                        fix = f"{name} = {fix}"
            return HawkError("H205", what, where, fix)

        return Unusable(why)

    def only(self, name: str, value: Any, arm: int) -> Any:
        def leaf(part: Any) -> Any:
            if not isinstance(part, Scalar) or id(part.value) not in self.defined[arm]:
                return part
            other = Scalar(Const(part.dtype, self.where, "", _zero(part.dtype)))
            pair = (part, other) if arm == 0 else (other, part)
            key = (id(part.value), arm)
            if key not in self.seen:
                self.seen[key] = self._yield(name, *pair)
            return Scalar(self.seen[key].value, part.free)

        return fill(value, leaf)

    def close(self) -> None:
        """Write the `If`, unless nothing comes out of it."""
        if self.results:
            then, orelse = (
                Block(tuple(self.arms[arm]), tuple(pair[arm] for pair in self.yields))
                for arm in (0, 1)
            )
            self.domain.builder.items.append(If(self.test.value, then, orelse, tuple(self.results)))


@dataclass(slots=True)
class _Slot:
    """One carried number. What comes in is None for a number only those see who left."""

    init: Any
    kind: Kind
    in_test: Value
    in_body: Value
    following: Value | None = None

    @property
    def dtype(self) -> DType:
        return self.in_test.dtype


class KernelCycle:
    """A `Loop` being written."""

    def __init__(self, domain: KernelDomain, where: Loc) -> None:
        self.domain, self.where = domain, where
        self.slots: list[_Slot] = []
        self.keys: dict[str, Any] = {}
        """Each key's value with `_Slot`s in the place of numbers."""
        self.items: dict[str, list[Statement]] = {}
        self.test_value: Value | None = None

    def carry(self, key: str, value: Any, template: Template) -> None:
        self.keys[key] = open_up(value, template, lambda part, kind: self._slot(key, part, kind))

    def _slot(self, key: str, init: Any, kind: Kind) -> _Slot:
        dtype = kind if isinstance(kind, DType) else DType.I64
        name = key if key.isidentifier() and not keyword.iskeyword(key) else ""
        slot = _Slot(init, kind, Value(dtype, self.where, name), Value(dtype, self.where, name))
        self.slots.append(slot)
        return slot

    def test(self) -> Any:
        return self._part("test", lambda slot: slot.in_test)

    def body(self) -> Any:
        return self._part("body", lambda slot: slot.in_body)

    @contextmanager
    def _part(self, part: str, of: Callable[[_Slot], Value]) -> Iterator[dict[str, Any]]:
        self.domain.depth += 1
        try:
            with self.domain.builder.block() as items:
                self.items[part] = items
                yield {key: self._filled(tree, of) for key, tree in self.keys.items()}
        finally:
            self.domain.depth -= 1

    @staticmethod
    def _filled(tree: Any, of: Callable[[_Slot], Value]) -> Any:
        return fill(
            tree,
            lambda leaf: (
                Scalar(of(leaf), leaf.kind is Literal.INT) if isinstance(leaf, _Slot) else leaf
            ),
        )

    def next(self, key: str, value: Any) -> None:
        numbers = self.domain.numbers
        if key not in self.keys:
            value = self.domain.settle(value)
            self.carry(key, None, template_of(numbers, value))

        def hand(slot: Any, part: Any) -> None:
            if isinstance(slot, _Slot):
                slot.following = numbers.to(part, slot.kind).value
            elif isinstance(slot, (tuple, list)):
                for each, piece in zip(slot, part, strict=True):
                    hand(each, piece)

        hand(self.keys[key], value)

    def decide(self, test: Any, exits: Sequence[str]) -> None:
        builder, numbers = self.domain.builder, self.domain.numbers
        outside, builder.items = builder.items, self.items["test"]
        try:
            going = test if isinstance(test, Scalar) else numbers.constant(test, DType.BOOL)
            for key in exits:
                gone = numbers.opposite(Scalar(self.keys[key].in_test))
                going = gone if going.number is True else numbers.emit("and", going, gone)
            self.test_value = going.value
        finally:
            builder.items = outside

    def close(self) -> dict[str, Any]:
        numbers, builder = self.domain.numbers, self.domain.builder
        inits: list[Value] = []
        for slot in self.slots:
            value = Scalar(Const(slot.dtype, self.where, "", _zero(slot.dtype)))
            inits.append((value if slot.init is None else numbers.to(slot.init, slot.kind)).value)
        assert self.test_value is not None
        test = Block(
            tuple(self.items["test"]),
            (self.test_value,),
            tuple(slot.in_test for slot in self.slots),
        )
        following = tuple(
            slot.in_body if slot.following is None else slot.following for slot in self.slots
        )
        body = Block(tuple(self.items["body"]), following, tuple(s.in_body for s in self.slots))
        results = [Value(slot.dtype, self.where, slot.in_test.name) for slot in self.slots]
        builder.items.append(Loop(tuple(inits), test, body, tuple(results)))
        after = dict(zip(map(id, self.slots), results, strict=True))
        return {
            key: self._filled(tree, lambda slot: after[id(slot)]) for key, tree in self.keys.items()
        }


def _assignment(frame: Frame | None, node: ast.AST | None, arm: str, name: str) -> tuple[int, str]:
    """The line of the last assignment to `name` in an arm, and the text of the value."""
    found = 0, ""
    statements = getattr(node, arm, None)
    if frame is None or statements is None:
        return found
    if isinstance(statements, ast.expr):
        return 0, frame.source.text(statements)
    for each in own_nodes(statements):
        if isinstance(each, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == name for target in each.targets
        ):
            found = each.lineno, frame.source.text(each.value)
    return found


def _zero(dtype: DType) -> Any:
    return 0.0 if dtype.is_float else dtype is not DType.BOOL and 0


def _alike(a: Scalar, b: Scalar) -> bool:
    """Whether both are the same value, or the same known number to the bit."""
    if a.value is b.value:
        return True
    return a.number is not None and a.dtype is b.dtype and repr(a.number) == repr(b.number)


def _equal(first: Any, second: Any) -> bool:
    try:
        return bool(first == second)
    except Exception:  # noqa: BLE001  an object of the user that does not compare
        return False


def _misfit(misfit: Misfit) -> Unusable:
    def why(name: str, where: Loc) -> HawkError:
        what = misfit.what.replace("{left}", name)
        return HawkError(misfit.code, what, where, misfit.fix.replace("{left}", name))

    return Unusable(why)
