"""A `Loop` of a kernel being written: the numbers it carries from pass to pass."""

from __future__ import annotations

import ast
import keyword
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hawk.errors import HawkError
from hawk.frontend.events import Event
from hawk.frontend.frame import Frame
from hawk.frontend.instances import Fields
from hawk.frontend.kernel_fork import zero
from hawk.frontend.loops import stored
from hawk.frontend.operators import Kind, Literal
from hawk.frontend.small_arrays import SmallArray
from hawk.frontend.templates import Template, fill, open_up
from hawk.frontend.values import Scalar
from hawk.ir.nodes import Block, Const, Loop, Statement, Value
from hawk.ir.types import DType

if TYPE_CHECKING:
    from hawk.frontend.kernel_domain import KernelDomain


WRITTEN_OUT = 64
"""A loop of up to so many passes is written out where its counter picks an element of a small
array: elements at known places cost nothing."""


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

    def __init__(
        self, domain: KernelDomain, frame: Frame, node: ast.AST, trips: int | None = None
    ) -> None:
        self.domain, self.where, self.node = domain, frame.head(node), node
        self.short = trips is not None and trips <= WRITTEN_OUT
        self._begin_memory(frame)
        self.slots: list[_Slot] = []
        self.keys: dict[str, Any] = {}
        """Each key's value with `_Slot`s in the place of numbers."""
        self.items: dict[str, list[Statement]] = {}
        self.test_value: Value | None = None
        self.events: dict[Event, _Slot] = {}
        """What has happened so far is carried too, where that is looked at."""
        if domain.watch is not None:
            for kind, first in domain.watch.first.items():
                self.events[kind] = self._slot("", first, DType.I64)

    # --- the memory of small arrays ---

    def _begin_memory(self, frame: Frame) -> None:
        """What is written in some pass is written before every pass but the first.

        So an array that is the same memory, and not carried, is old from the start.
        """
        memory = self.domain.memory
        named = {n: frame.names.get(n) for n in stored(self.node)}
        arrays = {n: each for n, each in named.items() if isinstance(each, SmallArray)}
        self.seeds = {c for each in arrays.values() for c in (*each.cells, *each.also)}
        if self.seeds:
            memory.write(self.seeds, self.where, next(iter(sorted(arrays))))
        for cell, write in self.domain.seeds.get(self.node, {}).items():
            if cell not in self.seeds:
                memory.write([cell], write.loc, write.text)
        self.seeds |= self.domain.seeds.get(self.node, {}).keys()
        self.began, self.first_new = memory.clock, memory.next
        self.ends: dict[int, tuple[str, Any, Any]] = {}
        """Of each carried array and object: its name, and what it is as a pass starts and ends."""

    def again(self, *, settled: bool) -> bool:
        found = {cell for cell in self._written() if cell < self.first_new} - self.seeds
        written, seeds = self.domain.memory.written, self.domain.seeds
        if found:
            seeds.setdefault(self.node, {}).update({c: written[c] for c in found})
        if settled and not found:
            return False
        # What was made in this pass is never seen again, so no loop inside need know of it: it
        # would look like something that is written in the next try.
        for each in seeds.values():
            for cell in [cell for cell in each if cell >= self.first_new]:
                del each[cell]
        return True

    def _written(self) -> set[int]:
        """The cells that are written in a pass."""
        written = self.domain.memory.written
        return {cell for cell, write in written.items() if write.time > self.began}

    def _check_memory(self) -> None:
        """Refuse arrays that become the same memory from the second pass on, if one changes."""
        written = self._written()
        if not written:
            return
        met: list[tuple[str, set[int], set[int]]] = []
        for key, start, end in self.ends.values():
            before, after = {*start.cells, *start.also}, {*end.cells, *end.also}
            gained = {cell for cell in after - before if cell < self.first_new}
            if gained and (before | gained) & written:
                starts = {other: {*s.cells, *s.also} for other, s, _ in self.ends.values()}
                names = [f"`{other}`" for other, cells in starts.items() if cells & gained]
                raise self._same_memory(key, *names[:1] or ["an array from before the loop"])
            for other, others_before, others_after in met:
                shared = after & others_after
                apart = not shared <= (before & others_before)
                if apart and (before | others_before | shared) & written:
                    raise self._same_memory(key, f"`{other}`")
            met.append((key, before, after))

    def _same_memory(self, key: str, other: str) -> HawkError:
        objects = {s.label for _, s, _ in self.ends.values() if isinstance(s, Fields)}
        what = f"`{key}` is the same array as {other} from the second pass on, and elements change"
        fix = f"`.copy()` behind what `{key}` is made of in the loop"
        if key in objects:
            what = f"`{key}` is the same object as {other} from the second pass on, and it changes"
            fix = f"dataclasses.replace(...) around what `{key}` is made of in the loop"
        return HawkError("H309", what, self.where, fix)

    # --- what is carried ---

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
        inside = self.domain.inside()
        with inside, self.domain.builder.block() as items, self._watching(part, of):
            self.items[part] = items
            counter = self.keys.get("for") if part == "body" and self.short else None
            if counter is not None:
                self.domain.counters.add(id(counter.in_body))
            try:
                yield {key: self._filled(tree, of) for key, tree in self.keys.items()}
            finally:
                if counter is not None:
                    self.domain.counters.discard(id(counter.in_body))

    @contextmanager
    def _watching(self, part: str, of: Callable[[_Slot], Value]) -> Iterator[None]:
        """What happens inside is added to what is carried."""
        watch = self.domain.watch
        if watch is None:
            yield
            return
        ends: list[dict[Event, Scalar]] = []
        with watch.arm(ends):
            before = {kind: Scalar(of(slot)) for kind, slot in self.events.items()}
            watch.first = dict(before)
            yield
        (after,) = ends
        if part == "body":
            for kind, slot in self.events.items():
                slot.following = after[kind].value

    def _filled(self, tree: Any, of: Callable[[_Slot], Value]) -> Any:
        filled = fill(
            tree,
            lambda leaf: (
                Scalar(of(leaf), leaf.kind is Literal.INT) if isinstance(leaf, _Slot) else leaf
            ),
            self._read,
        )
        self.domain.expressions.containers.meet(filled)
        return filled

    def _read(self, array: Any, parts: tuple[Any, ...]) -> Any:
        """A carried array with its numbers, or an object with its fields, read from memory now."""
        also = array.also
        if id(array) in self.ends:
            _, _, end = self.ends[id(array)]
            also = (also | end.also | set(end.cells)) - set(array.cells)
        return replace(array, parts=parts, time=self.domain.memory.tick(), also=also)

    def next(self, key: str, value: Any) -> None:
        numbers = self.domain.numbers
        if key not in self.keys:
            value = self.domain.settle(value)
            self.carry(key, None, self.domain.template(value))

        def hand(name: str, slot: Any, part: Any) -> None:
            if isinstance(slot, _Slot):
                slot.following = numbers.to(part, slot.kind).value
            elif isinstance(slot, SmallArray):
                self.ends[id(slot)] = name, slot, part
                hand(name, slot.parts, part.parts)
            elif isinstance(slot, Fields):
                self.ends[id(slot)] = slot.label, slot, part
                for field, each, piece in zip(slot.names, slot.parts, part.parts, strict=True):
                    hand(f"{slot.label}.{field}", each, piece)
            elif isinstance(slot, dict):
                hand(name, list(slot.values()), list(part.values()))
            elif isinstance(slot, (tuple, list)):
                for each, piece in zip(slot, part, strict=True):
                    hand(name, each, piece)

        hand(key, self.keys[key], value)

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
        self._check_memory()
        inits: list[Value] = []
        for slot in self.slots:
            value = Scalar(Const(slot.dtype, self.where, "", zero(slot.dtype)))
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
        if self.domain.watch is not None:
            self.domain.watch.first = {
                kind: Scalar(after[id(slot)]) for kind, slot in self.events.items()
            }
        return {
            key: self._filled(tree, lambda slot: after[id(slot)]) for key, tree in self.keys.items()
        }
