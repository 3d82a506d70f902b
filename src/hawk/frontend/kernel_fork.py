"""An `If` of a kernel being written: two arms, and what each yields for a value after the join."""

from __future__ import annotations

import ast
import enum
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from hawk.edits import filled
from hawk.errors import Edit, HawkError, Loc
from hawk.frontend.events import Event
from hawk.frontend.frame import Frame
from hawk.frontend.instances import Fields
from hawk.frontend.operators import Kind, Literal, Misfit, choice, conversion, fits, is_float
from hawk.frontend.small_arrays import SmallArray, Write, old, old_object
from hawk.frontend.suggestions import Site, sites, with_texts
from hawk.frontend.templates import describe, fill, formed
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
    memories: list[dict[int, Write]] = field(default_factory=list)
    """The memory of small arrays that was written by the end of each arm."""
    events: list[dict[Event, Scalar]] = field(default_factory=list)
    """What has happened by the end of each arm, where that is looked at."""

    @contextmanager
    def arm(self, *, alone: bool = False) -> Iterator[None]:
        domain = self.domain
        watching = nullcontext() if domain.watch is None else domain.watch.arm(self.events)
        memory = domain.memory.arm(self.memories)
        with domain.inside(alone=alone), domain.builder.block() as items, watching, memory:
            self.arms.append(items)
            yield
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
            return self._parts(name, first, (first, second))
        if isinstance(first, dict) and isinstance(second, dict) and _same_form(first, second):
            return self._parts(name, first, (first.values(), second.values()))
        if isinstance(first, SmallArray) and isinstance(second, SmallArray):
            return self._arrays(name, first, second)
        if isinstance(first, Fields) and isinstance(second, Fields):
            return self._fields(first, second)
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
        except Misfit as error:
            return misfit(error)

    def _parts(self, name: str, like: Any, sides: tuple[Any, Any]) -> Any:
        """A list, tuple or dict of the pairs; one of its own, which neither path knows."""
        parts = [self.pair(name, a, b) for a, b in zip(*sides, strict=True)]
        bad = [part for part in parts if isinstance(part, Unusable)]
        made = bad[0] if bad else formed(type(like), parts, tuple(like))
        self.domain.expressions.containers.meet(made)
        return made

    def _arrays(self, name: str, first: SmallArray, second: SmallArray) -> Any:
        """An array of the pairs; of shapes or types that differ there is none."""
        memory = self.domain.memory
        for arm, array in enumerate((first, second)):
            change = memory.change(array, self.memories[arm] if self.memories else None)
            if change is not None:
                return Unusable(lambda name, where, change=change: old(name, change, where))
        if first.shape != second.shape or first.dtype is not second.dtype:
            return self._differ(name, first, second)
        pairs = zip(first.parts, second.parts, strict=True)
        parts = [self._number(name, a, b, first.dtype) for a, b in pairs]
        return memory.meet(first.shape, parts, (first, second))

    def _fields(self, first: Fields, second: Fields) -> Any:
        """What an object holds: the pair of what it holds on both paths."""
        memory = self.domain.memory
        for arm, held in enumerate((first, second)):
            change = memory.change(held, self.memories[arm] if self.memories else None)
            if change is not None:
                return Unusable(lambda name, where, change=change: old_object(name, change, where))
        triples = zip(first.names, first.parts, second.parts, strict=True)
        parts = tuple([self.pair(f"{first.label}.{name}", a, b) for name, a, b in triples])
        also = (first.also | second.also | {*second.cells}) - {*first.cells}
        self.domain.expressions.containers.meet(parts)
        return replace(first, parts=parts, time=memory.tick(), also=also)

    def _number(self, name: str, first: Any, second: Any, common: Kind) -> Scalar:
        numbers, free = self.domain.numbers, common is Literal.INT
        if not any(self.arms):
            a, b = numbers.to(first, common), numbers.to(second, common)
            if _alike(a, b):
                return Scalar(a.value, free)
            numbers.builder.loc, numbers.name = self.where, printed(name)
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
        result = Value(a.dtype, self.where, printed(name))
        self.yields.append((a.value, b.value))
        self.results.append(result)
        return Scalar(result)

    def _differ(self, name: str, first: Any, second: Any) -> Unusable:
        """Say what the value is on each path, and where it was assigned there."""
        numbers, line = self.domain.numbers, self.where.line
        arms = (self._site("body", name), self._site("orelse", name))
        described: list[str] = []
        for site, value in zip(arms, (first, second), strict=True):
            words = describe(numbers, value)
            place = getattr(site.statement, "lineno", 0) if site and site.name else 0
            described.append(f"{words} (line {place})" if place else words)
        odd = self._odd(name, arms, first, second)

        def why(name: str, where: Loc) -> HawkError:
            what = f"`{name}` is {described[0]} on one path and {described[1]} on the other"
            what += f" of the choice at line {line}"
            if first is None or second is None:
                fix: str | Edit = "a number instead of None, such as math.nan"
                return HawkError("H205", what, where, fix)
            if isinstance(first, str) and isinstance(second, str):
                what = f"`{name}` is {first!r} on one path and {second!r} on the other of the "
                what += f"choice at line {line}, and a text must be known when the kernel is traced"
                fix = "what is made with each, both before the choice, and a choice of the two "
                return HawkError("H212", what, where, f"{fix}numbers: a if ... else b")
            fix = "values of one type on both paths"
            enums = [each for each in (first, second) if isinstance(each, enum.Enum)]
            if enums and all(isinstance(each.value, (bool, int, float)) for each in enums):
                kind = type(enums[0]).__name__
                fix = f"{kind}.{enums[0].name}.value, a number;\n"
                fix += f"or class {kind}(enum.IntEnum): ..."
            elif odd is not None:
                edit = self._converted(*odd, where)
                if edit is not None:
                    near = where.line <= edit.at.line <= where.end_line
                    return HawkError("H205", what, edit.at if near else where, edit)
            elif isinstance(first, Scalar) and isinstance(second, Scalar):
                fix = self._both(arms, where) or fix
            elif isinstance(first, SmallArray) and isinstance(second, SmallArray):
                fix = "arrays of one shape and one type on both paths"
            return HawkError("H205", what, where, fix)

        return Unusable(why, self._place(name))

    def _odd(
        self, name: str, arms: tuple[Site | None, Site | None], first: Any, second: Any
    ) -> tuple[Site, DType] | None:
        """Where the value to convert is assigned, and to what.

        That is the one that does not fit the plane of this name; else the one assigned, where the
        other path leaves what was there before; else the integer where the other is a float, and
        the narrow integer where both are integers.
        """
        numbers = self.domain.numbers
        if not all(isinstance(each, (Scalar, bool, int, float)) for each in (first, second)):
            return None
        wanted = None if self.frame is None else self.frame.planes.get(name)
        alone = sum(each is not None for each in arms) == 1
        for site, value, other in ((arms[0], first, second), (arms[1], second, first)):
            kind, target = numbers.kind(value), numbers.kind(other)
            if site is None:
                continue
            if wanted is not None:
                if kind is not wanted and (isinstance(kind, DType) or not fits(kind, wanted)):
                    return site, wanted
                continue
            wider = is_float(target) or (target is DType.I64 and not is_float(kind))
            if isinstance(target, DType) and (alone or wider):
                return site, target
        return None

    def _converted(self, site: Site, to: DType, where: Loc) -> Edit | None:
        """The edit that makes a `to` of what is assigned."""
        assert self.frame is not None
        template = f"{conversion(to, self.domain.numbers.real)}({{left}})"
        if to is DType.BOOL:
            template = "{left} != 0"
            if isinstance(site.value, ast.Constant):
                template = str(bool(site.value.value))
        return site.edit(
            self.frame, template, where, integer=to.is_int and site.node in self.domain.quotients
        )

    def _both(self, arms: tuple[Site | None, Site | None], where: Loc) -> str:
        """What to write where both values become an Index."""
        edits = [self._converted(each, DType.I64, where) for each in arms if each is not None]
        texts = [each.text for each in edits if each is not None]
        if len(texts) < 2:
            return ""
        if isinstance(self.node, ast.IfExp) and self.frame is not None:
            test = self.frame.source.text(self.node.test)
            template = "{left} if {test} else {right}"
            return filled(template, left=texts[0], test=test, right=texts[1])
        return ", and ".join(
            f"{each.text} in line {each.at.line}" for each in edits if each is not None
        )

    def _site(self, arm: str, name: str) -> Site | None:
        """The last place in an arm that gives `name` its value."""
        written = getattr(self.node, arm, None)
        if self.frame is None or written is None:
            return None
        if isinstance(written, ast.expr):
            return Site(written, written, "")
        found = sites(written, name) if isinstance(written, list) else []
        return found[-1] if found else None

    def _place(self, name: str) -> Loc:
        """Where the name is assigned in an arm; where the paths part, if in neither."""
        for arm in ("orelse", "body"):
            site = self._site(arm, name)
            if self.frame is not None and site is not None:
                return self.frame.head(site.statement)
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

        filled = fill(value, leaf)
        if self.memories:
            filled = self.domain.memory.now(filled, self.memories[arm])
        if filled is not value:
            self.domain.expressions.containers.meet(filled, apart=True)
        return filled

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


def printed(name: str) -> str:
    """A name of a value in printed programs: `body_mass` of `body.mass`; none of a key."""
    name = name.replace(".", "_")
    return name if name.isidentifier() else ""


def zero(dtype: DType) -> Any:
    return 0.0 if dtype.is_float else dtype is not DType.BOOL and 0


def _same_form(first: dict[Any, Any], second: dict[Any, Any]) -> bool:
    return type(first) is type(second) and tuple(first) == tuple(second)


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


def misfit(error: Misfit) -> Unusable:
    """What a name holds whose known number fits no type of the other paths."""

    def why(name: str, where: Loc) -> HawkError:
        what = error.what.replace("{left}", name)
        fixes = [with_texts(fix, {"left": name}) for fix in error.fixes]
        return HawkError(error.code, what, where, [each for each in fixes if each])

    return Unusable(why)
