"""An `If` of a kernel being written: two arms, and what each yields for a value after the join."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hawk.errors import HawkError, Loc
from hawk.frontend.events import Event
from hawk.frontend.frame import Frame
from hawk.frontend.operators import Kind, Literal, Misfit, choice, conversion, is_float
from hawk.frontend.source import own_nodes
from hawk.frontend.templates import describe, fill
from hawk.frontend.values import Scalar, Unusable
from hawk.ir.nodes import Block, Const, If, Statement, Value
from hawk.ir.types import DType

if TYPE_CHECKING:
    from hawk.frontend.kernel_domain import KernelDomain


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
    events: list[dict[Event, Scalar]] = field(default_factory=list)
    """What has happened by the end of each arm, where that is looked at."""

    @contextmanager
    def arm(self) -> Iterator[None]:
        domain = self.domain
        domain.depth += 1
        watching = nullcontext() if domain.watch is None else domain.watch.arm(self.events)
        try:
            with domain.builder.block() as items, watching:
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
        if (
            isinstance(first, (tuple, list))
            and type(first) is type(second)
            and len(first) == len(second)
        ):
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
        text, to = self._odd(first, second, texts)
        real = numbers.real

        def why(name: str, where: Loc) -> HawkError:
            what = f"`{name}` is {described[0]} on one path and {described[1]} on the other"
            what += f" of the choice at line {line}"
            fix = "values of one type on both paths"
            if None in (first, second):
                fix = "a number instead of None, such as math.nan"
            elif to is not None:
                fix = converted(text, to, real)
                fix = fix if isinstance(self.node, ast.IfExp) else f"{name} = {fix}"
            elif all(texts) and all(isinstance(each, Scalar) for each in (first, second)):
                fix = " and ".join(converted(each, DType.I64, real) for each in texts)
            return HawkError("H205", what, where, fix)

        return Unusable(why, self._place(name))

    def _odd(self, first: Any, second: Any, texts: list[str]) -> tuple[str, DType | None]:
        """The text of the value to convert, and to what.

        That is the one assigned, where the other path leaves what was there before; else the
        integer where the other is a float, and the narrow integer where both are integers.
        """
        numbers = self.domain.numbers
        numeric = all(isinstance(each, (Scalar, bool, int, float)) for each in (first, second))
        pairs = [(texts[0], first, second), (texts[1], second, first)]
        for text, value, other in pairs if numeric else []:
            kind, target = numbers.kind(value), numbers.kind(other)
            alone = sum(map(bool, texts)) == 1
            wider = is_float(target) or (target is DType.I64 and not is_float(kind))
            if text and isinstance(target, DType) and (alone or wider):
                return text, target
        return "", None

    def _place(self, name: str) -> Loc:
        """Where the name is assigned in an arm; where the paths part, if in neither."""
        for arm in ("orelse", "body"):
            place = _assigned(self.node, arm, name)
            if self.frame is not None and place is not None:
                return self.frame.head(place)
        return self.where

    def only(self, name: str, value: Any, arm: int) -> Any:
        def leaf(part: Any) -> Any:
            if not isinstance(part, Scalar) or id(part.value) not in self.defined[arm]:
                return part
            other = Scalar(Const(part.dtype, self.where, "", zero(part.dtype)))
            pair = (part, other) if arm == 0 else (other, part)
            key = (id(part.value), arm)
            if key not in self.seen:
                self.seen[key] = self._yield(name, *pair)
            return Scalar(self.seen[key].value, part.free)

        return fill(value, leaf)

    def close(self) -> None:
        """Write the `If`, unless nothing comes out of it."""
        if self.domain.watch is not None:
            self.domain.watch.join(self.events, self.pair)
        if self.results:
            then, orelse = (
                Block(tuple(self.arms[arm]), tuple(pair[arm] for pair in self.yields))
                for arm in (0, 1)
            )
            self.domain.builder.items.append(If(self.test.value, then, orelse, tuple(self.results)))


def _assignment(frame: Frame | None, node: ast.AST | None, arm: str, name: str) -> tuple[int, str]:
    """The line of the last assignment to `name` in an arm, and the text of the value."""
    statements = getattr(node, arm, None)
    if frame is not None and isinstance(statements, ast.expr):
        return 0, frame.source.text(statements)
    place = _assigned(node, arm, name)
    if frame is None or place is None:
        return 0, ""
    return place.lineno, frame.source.text(place.value)


def _assigned(node: ast.AST | None, arm: str, name: str) -> ast.Assign | None:
    """The last assignment to `name` in an arm."""
    statements = getattr(node, arm, None)
    found = None
    for each in own_nodes(statements) if isinstance(statements, list) else ():
        if isinstance(each, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == name for target in each.targets
        ):
            found = each
    return found


def converted(text: str, dtype: DType, real: DType) -> str:
    """What to write to make a `dtype` of the expression `text`."""
    if dtype is DType.BOOL and text in ("0", "1"):
        return str(text == "1")
    return f"{conversion(dtype, real)}({text})"


def zero(dtype: DType) -> Any:
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
        fixes = [with_texts(fix, {"left": name}) for fix in misfit.fixes]
        return HawkError(misfit.code, what, where, [each for each in fixes if each])

    return Unusable(why)
