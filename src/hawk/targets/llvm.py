"""The emitter: statements of a program to LLVM text, for groups of `chains` vectors.

A value that is the same for all samples is one scalar; any other is one vector a chain. The text
is what the code generator gets: no optimiser runs after this, so what is written here is what is
executed.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

from hawk.ir.nodes import (
    Apply,
    Block,
    Const,
    If,
    Loop,
    Statement,
    Value,
    blocks_of,
    operands_of,
    walk,
)
from hawk.ir.ops import LOOKUPS, OPS
from hawk.ir.types import DType
from hawk.targets import tables
from hawk.targets.positions import Positions
from hawk.targets.shape import LLVM_TYPES, ONE, Shape

Names: TypeAlias = tuple[str, ...]
"""The LLVM values that hold one value of the program: one, or one a chain."""


RUN = 24
"""Operations written for one chain before the next chain's turn."""

OUTLINE = 80
"""Operations from which on a side of a branch is a function of its own, for one chain: written out
for each chain it would take most of the time that code generation takes. A side that is said to be
seldom needed always is: the registers are for the others."""


RARE = "!0"
"""The branch weights of a branch seldom taken, defined at the end of each module."""
PAST = "!1"
"""The metadata of a store past the caches."""


@dataclass(frozen=True, slots=True)
class LoopHead:
    """A loop whose back edge is not written yet."""

    label: str
    entry: str
    first_line: int
    types: tuple[str, ...]
    inits: Names
    phis: Names


class Emitter:
    """Writes one LLVM function body, instruction by instruction.

    `varying` says which values differ between samples. `mask` is the bool vector of each chain
    that says which samples count, or None when all do; only loops and skipped branches look at it,
    since everything else is pure.
    """

    def __init__(
        self, shape: Shape, varying: set[Value], positions: Positions | None = None
    ) -> None:
        self.shape = shape
        self.varying = varying
        self.positions = positions or Positions()
        self.apart = ""
        """One bool, where it is known: are the group's samples from here and there, or few?"""
        self.indices: Callable[[], Names] = tuple
        """Writes the samples' indices, for who needs them late."""
        self.sure: set[Value] = set()
        """Results of each `near` that is written for groups in which no lane is outside."""
        self.at_border = False
        """Is what is being written for groups in which perhaps one is?"""
        self.names: dict[Value, Names] = {}
        self.tables: set[Value] = set()
        """Values that are held as the address of a table."""
        self.mask: Names | None = None
        self.round: Callable[[str], str] | None = None
        """Given the number of a loop's round, writes one bool: may there be another?"""
        self.lines: list[str] = []
        self.stack: list[str] = []
        """Room on the stack, to be written before everything else."""
        self.functions: list[str] = []
        """Functions that the lines call."""
        self.blocks: dict[Value, Block] = {}
        """How each `near` is read at a border."""
        self._rooms: dict[Value, str] = {}
        self._sides: dict[Block, str] = {}
        self._named_sides: dict[str, str] = {}
        """Blocks that have become functions, and their names."""
        self.here = "entry"
        self._count = 0
        self._spread: list[dict[object, Names]] = [{}]

    # -- text ------------------------------------------------------------------------------------

    def line(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def define(self, text: str) -> str:
        """Write an instruction and return the name of its result."""
        self._count += 1
        name = f"%v{self._count}"
        self.lines.append(f"  {name} = {text}")
        return name

    def room(self, kind: str, align: int = 32) -> str:
        """The address of room on the stack for an LLVM type."""
        self._count += 1
        name = f"%v{self._count}"
        self.stack.append(f"  {name} = alloca {kind}, align {align}")
        return name

    def room_of(self, value: Value) -> str:
        """Room for one chain of a value, always the same."""
        if value not in self._rooms:
            self._rooms[value] = self.room(self.type_of(value), align=64)
        return self._rooms[value]

    def label(self, hint: str) -> str:
        """A new label, not placed yet."""
        self._count += 1
        return f"{hint}{self._count}"

    def place(self, label: str) -> None:
        """Start the basic block `label`."""
        self.lines.append(f"{label}:")
        self.here = label

    def jump(self, label: str) -> None:
        self.line(f"br label %{label}")

    def branch(self, test: str, then: str, orelse: str, *, rare: bool = False) -> None:
        """Go to one of two labels; `rare`: seldom to the first."""
        weights = f", !prof {RARE}" if rare else ""
        self.line(f"br i1 {test}, label %{then}, label %{orelse}{weights}")

    def phi(self, kind: str, *ways: tuple[str, str]) -> str:
        """Merge a value of LLVM type `kind` from (value, label) pairs."""
        return self.define(f"phi {kind} " + ", ".join(f"[ {v}, %{at} ]" for v, at in ways))

    def begin_loop(self, carried: Sequence[tuple[str, str]]) -> LoopHead:
        """Open a loop that carries (LLVM type, first value) pairs."""
        entry, label = self.here, self.label("loop")
        self.jump(label)
        self.place(label)
        first = len(self.lines)
        phis = tuple(self.define("phi") for _ in carried)
        types, inits = (tuple(part) for part in zip(*carried, strict=True)) if carried else ((), ())
        return LoopHead(label, entry, first, types, inits, phis)

    def end_loop(self, head: LoopHead, again: str | None, carried: Sequence[str]) -> None:
        """Close a loop: with `again` true, or None for always, go round with `carried`."""
        rows = zip(head.phis, head.types, head.inits, carried, strict=True)
        for at, (name, kind, init, end) in enumerate(rows, head.first_line):
            ways = f"[ {init}, %{head.entry} ], [ {end}, %{self.here} ]"
            self.lines[at] = f"  {name} = phi {kind} {ways}"
        if again is None:
            self.jump(head.label)
            return
        leave = self.label("done")
        self.branch(again, head.label, leave)
        self.place(leave)

    # -- values ----------------------------------------------------------------------------------

    def type_of(self, value: Value) -> str:
        """The LLVM type of each of the value's names."""
        if value in self.tables:
            return "ptr"
        element = LLVM_TYPES[value.dtype]
        return self.shape.vector(element) if value in self.varying else element

    def names_of(self, value: Value) -> Names:
        """The value as it is held: one name, or one a chain."""
        return (literal(value),) if isinstance(value, Const) else self.names[value]

    def lanes(self, value: Value) -> Names:
        """The value as one vector a chain; what is the same for all samples is spread."""
        if value in self.varying:
            return self._late(value) if value in self.positions.lazy else self.names[value]
        if isinstance(value, Const):
            return (self.splat(literal(value), value.dtype),) * self.shape.chains
        known = self.recall(value)
        if known is not None:
            return known
        (name,) = self.names[value]
        spread = (self.spread(name, LLVM_TYPES[value.dtype]),) * self.shape.chains
        self.remember(value, spread)
        return spread

    def _late(self, value: Value) -> Names:
        """A position that was left out until here."""
        for node in self.positions.made_of(value, late=True):
            if self.recall(node.result) is None:
                args = [self.lanes(arg) for arg in node.args]
                self.remember(
                    node.result, tuple(self.apply(node, a) for a in zip(*args, strict=True))
                )
        known = self.recall(value)
        if known is None:
            known = self.names.get(value) or self.indices()
            self.remember(value, known)
        return known

    def recall(self, key: object) -> Names | None:
        """What was remembered where it is seen from here."""
        return next((known[key] for known in self._spread if key in known), None)

    def remember(self, key: object, names: Names) -> None:
        """Keep names for as long as the innermost scope."""
        self._spread[-1][key] = names

    def splat(self, text: str, dtype: DType) -> str:
        """The constant `text` in every lane."""
        return text if self.shape.width == 1 else f"splat ({LLVM_TYPES[dtype]} {text})"

    def spread(self, name: str, element: str) -> str:
        """The scalar `name` in every lane."""
        if self.shape.width == 1:
            return name
        kind = self.shape.vector(element)
        one = self.define(f"insertelement {kind} poison, {element} {name}, i32 0")
        zeros = f"<{self.shape.width} x i32> zeroinitializer"
        return self.define(f"shufflevector {kind} {one}, {kind} poison, {zeros}")

    def bind(self, value: Value, names: Names) -> None:
        """Say how a value is held."""
        self.names[value] = names

    @contextmanager
    def scope(self) -> Iterator[None]:
        """What is remembered inside is forgotten outside: it may not have been computed there."""
        self._spread.append({})
        try:
            yield
        finally:
            self._spread.pop()

    # -- masks -----------------------------------------------------------------------------------

    @property
    def bits(self) -> str:
        """The LLVM type of a bool vector."""
        return self.shape.vector("i1")

    @property
    def carried_bits(self) -> str:
        """The LLVM type that holds a bool vector from one round of a loop to the next."""
        wide = self.shape.wide_masks
        return self.shape.vector(f"i{wide}") if wide and self.shape.width > 1 else self.bits

    def pack(self, bits: Names) -> Names:
        """Bool vectors as they are carried."""
        if self.carried_bits == self.bits:
            return bits
        return tuple(self.define(f"sext {self.bits} {b} to {self.carried_bits}") for b in bits)

    def unpack(self, carried: Names) -> Names:
        """Carried masks as bool vectors."""
        if self.carried_bits == self.bits:
            return carried
        kind = self.carried_bits
        return tuple(self.define(f"icmp slt {kind} {c}, zeroinitializer") for c in carried)

    def combine(self, operation: str, left: Names, right: Names) -> Names:
        """`and`, `or` or `xor` of bool vectors, chain by chain."""
        pairs = zip(left, right, strict=True)
        return tuple(self.define(f"{operation} {self.bits} {a}, {b}") for a, b in pairs)

    def invert(self, bits: Names) -> Names:
        ones = self.splat("true", DType.BOOL)
        return self.combine("xor", bits, (ones,) * len(bits))

    def masked(self, bits: Names) -> Names:
        """`bits`, for the samples that count."""
        return bits if self.mask is None else self.combine("and", bits, self.mask)

    def any(self, bits: Names) -> str:
        """One bool: is it true for some lane of some chain?"""
        total, *rest = bits
        for other in rest:
            total = self.define(f"or {self.bits} {total}, {other}")
        if self.shape.width == 1:
            return total
        suffix = self.shape.suffix("i1")
        return self.define(f"call i1 @llvm.vector.reduce.or.{suffix}({self.bits} {total})")

    def any_packed(self, carried: Names) -> str:
        """One bool: is it true for some lane of some chain, of masks as they are carried?"""
        total, *rest = carried
        for other in rest:
            total = self.define(f"or {self.carried_bits} {total}, {other}")
        return self.any(self.unpack((total,)))

    def number_of(self, bits: Names) -> str:
        """Bool vectors as one i64, the first lane of the first chain lowest."""
        width, total = self.shape.width, "0"
        for chain, name in enumerate(bits):
            number = self.define(f"bitcast {self.bits} {name} to i{width}") if width > 1 else name
            number = self.define(f"zext i{width} {number} to i64")
            number = self.define(f"shl i64 {number}, {chain * width}") if chain else number
            total = self.define(f"or i64 {total}, {number}") if chain else number
        return total

    def count(self, bits: Names) -> str:
        """How many lanes are true."""
        total = "0"
        for name in bits:
            number = self.number_of((name,))
            number = self.define(f"call i64 @llvm.ctpop.i64(i64 {number})")
            total = self.define(f"add i64 {total}, {number}")
        return total

    def choose(self, test: Names, then: Names, orelse: Names, kind: str) -> Names:
        """Lane by lane `then` where `test`, else `orelse`; `kind` is their LLVM type."""
        rows = zip(test, then, orelse, strict=True)
        return tuple(
            a if a == b else self.define(f"select {self.bits} {t}, {kind} {a}, {kind} {b}")
            for t, a, b in rows
        )

    # -- statements ------------------------------------------------------------------------------

    def statements(self, items: tuple[Statement, ...]) -> None:
        run: list[Apply] = []
        for statement in items:
            far = isinstance(statement, Apply) and statement.op == "near"
            far = far and statement.results[0] in self.varying - self.sure
            if isinstance(statement, Apply) and statement.result in self.positions.lazy:
                continue  # written where a group needs it, which is seldom
            if isinstance(statement, Apply) and len(run) < RUN and not far:
                run.append(statement)
                continue
            self.operations(run)
            run = []
            match statement:
                case Apply() if far:
                    tables.near(self, statement)
                case Apply():
                    run.append(statement)
                case If():
                    if statement.test in self.varying:
                        self.split(statement)
                    else:
                        self.branch_on(statement)
                case Loop():
                    self.loop(statement)
        self.operations(run)

    def operations(self, run: Sequence[Apply]) -> None:
        """Straight-line operations, all of one chain before the next.

        The code generator keeps the order by and large: chain by chain few values are live at a
        time, and the processor looks ahead far enough to overlap the chains of a short run.
        """
        for chain in range(self.shape.chains):
            for node in run:
                if node.result in self.varying:
                    if node.result in self.sure:
                        name = tables.straight(self, node, chain)
                    else:
                        args = [self.lanes(a)[chain] for a in node.args if a not in self.tables]
                        name = self.apply(node, args)
                    self.names[node.result] = (*self.names[node.result], name) if chain else (name,)
                elif chain == 0:
                    args = [self.names_of(arg)[0] for arg in node.args if arg not in self.tables]
                    self.names[node.result] = (self.apply(node, args),)

    def apply(self, node: Apply, args: Sequence[str], shape: Shape | None = None) -> str:
        """One operation on one vector or scalar, spelled as its row says."""
        if node.op in LOOKUPS:
            return tables.lookup(self, node, args[-1])
        operand = node.args[-1].dtype
        spelling = OPS[node.op].llvm
        template = spelling.get(operand.value) or spelling[operand.kind]
        if template == "=":
            return args[0]
        shape = shape or (self.shape if node.result in self.varying else ONE)
        element, name = LLVM_TYPES[operand], ""
        for instruction in template.split("\n"):
            name = self.define(
                instruction.format(
                    *args,
                    P=name,
                    R=shape.vector(LLVM_TYPES[node.result.dtype]),
                    A=shape.vector(element),
                    C=shape.vector("i1"),
                    M=shape.suffix(element),
                )
            )
        return name

    def branch_on(self, node: If) -> None:
        """A condition that is the same for all samples is a real branch."""
        then, orelse, merge = self.label("then"), self.label("else"), self.label("merge")
        (test,) = self.names_of(node.test)
        self.branch(test, then, orelse)
        ways: list[tuple[str, list[Names]]] = []
        for label, block in ((then, node.then), (orelse, node.orelse)):
            self.place(label)
            with self.scope():
                self.statements(block.items)
                ends = self.ends(block, node.results)
            ways.append((self.here, ends))
            self.jump(merge)
        self.place(merge)
        for index, result in enumerate(node.results):
            kind = self.type_of(result)
            chains = zip(*(ends[index] for _, ends in ways), strict=True)
            labels = [label for label, _ in ways]
            self.names[result] = tuple(
                self.phi(kind, *zip(chain, labels, strict=True)) for chain in chains
            )

    def split(self, node: If) -> None:
        """A condition that varies: a side is skipped where no sample needs it, then chosen."""
        test, results = self.lanes(node.test), node.results
        chosen: list[Names] | None = None
        for block, other, needed in (
            (node.then, node.orelse, test),
            (node.orelse, node.then, self.invert(test)),
        ):
            if block.items:
                instead = chosen or (None if other.items else self.ends(other, results))
                chosen = self.side(block, needed, results, instead, rare=node.rare)
        if chosen is None:
            then, orelse = self.ends(node.then, results), self.ends(node.orelse, results)
            rows = zip(results, then, orelse, strict=True)
            chosen = [self.choose(test, a, b, self.type_of(result)) for result, a, b in rows]
        for result, names in zip(results, chosen, strict=True):
            self.names[result] = names

    def side(
        self,
        block: Block,
        needed: Names,
        results: tuple[Value, ...],
        instead: list[Names] | None,
        *,
        rare: bool,
    ) -> list[Names]:
        """One side of a varying branch, computed only if some sample needs it.

        Samples that do not need it get what is held by `instead`. That is chosen inside, so whoever
        skips the side pays for the test alone. Without `instead` they get any number.
        """
        needed = self.pack(self.masked(needed))
        outer, before = self.mask, self.here
        enter, merge = self.label("side"), self.label("merge")
        self.branch(self.any_packed(needed), enter, merge)
        self.place(enter)
        self.mask = self.unpack(needed)
        kinds = [self.type_of(result) for result in results]
        with self.scope():
            if self.shape.chains > 1 and can_be_outlined(block, 1 if rare else OUTLINE):
                ends = self.outlined(block, results)
            else:
                self.statements(block.items)
                ends = self.ends(block, results)
            if instead is not None:
                rows = zip(ends, instead, kinds, strict=True)
                ends = [self.choose(self.mask, end, other, kind) for end, other, kind in rows]
        self.mask = outer
        after = self.here
        self.jump(merge)
        self.place(merge)
        # Zero, not poison, where nothing is known: a poisoned bool could reach a branch.
        others = instead or [(zero(kind),) * self.shape.chains for kind in kinds]
        return [
            tuple(
                self.phi(kind, (name, after), (skipped, before))
                for name, skipped in zip(end, other, strict=True)
            )
            for end, other, kind in zip(ends, others, kinds, strict=True)
        ]

    def outlined(self, block: Block, results: tuple[Value, ...]) -> list[Names]:
        """A block as a function of one chain, called for each; what it yields.

        The step is written several times, the function once. It has the usual calling convention:
        with `preserve_allcc` LLVM 22 loses the upper halves of vector registers.
        """
        rooms = [self.room(self.type_of(result), align=64) for result in results]
        chains = [self.called(block, results, n, rooms) for n in range(self.shape.chains)]
        return list(zip(*chains, strict=True)) if results else []

    def called(
        self,
        block: Block,
        results: tuple[Value, ...],
        chain: int,
        rooms: Sequence[str],
        *,
        base: str = "",
    ) -> Names:
        """What a block as a function yields for one chain; `rooms` are where it leaves that.

        `base`: the index of the chain's first sample, if it is to know where its samples are.
        """
        inputs, name = inputs_of(block), self._sides.get(block)
        if name is None:
            name = self._sides[block] = self._function(block, inputs, results, placed=bool(base))
        held = [self.lanes(v) if v in self.varying else self.names_of(v) for v in inputs]
        args = [
            f"{self.type_of(value)} {names[chain if value in self.varying else 0]}"
            for value, names in zip(inputs, held, strict=True)
        ]
        args += [f"ptr {room}" for room in rooms]
        args += [f"i1 {self.apart}", f"i64 {base}"] if base else []
        self.line(f"call void {name}({', '.join(args)})")
        pairs = zip(results, rooms, strict=True)
        return tuple(self.define(f"load {self.type_of(r)}, ptr {room}") for r, room in pairs)

    def _function(
        self, block: Block, inputs: list[Value], results: tuple[Value, ...], *, placed: bool
    ) -> str:
        """Write a block as a function of one chain that stores what it yields; its name."""
        # One that is not told where its samples are knows of no positions, and compares places.
        positions = self.positions if placed else None
        inner = Emitter(Shape(self.shape.width, 1, self.shape.wide_masks), self.varying, positions)
        inner.tables = self.tables
        for place, value in enumerate(inputs):
            inner.bind(value, (f"%a{place}",))
        if placed:
            inner.apart, inner.at_border = "%apart", True
            tables.begin(inner, "%base")
        inner.statements(block.items)
        for place, (names, result) in enumerate(
            zip(inner.ends(block, results), results, strict=True)
        ):
            inner.line(f"store {self.type_of(result)} {names[0]}, ptr %to{place}")
        params = [f"{self.type_of(value)} %a{place}" for place, value in enumerate(inputs)]
        params += [f"ptr %to{place}" for place in range(len(results))]
        params += ["i1 %apart", "i64 %base"] if placed else []
        body = "\n".join(["entry:", *inner.stack, *inner.lines, "  ret void", "}"])
        return self._named(f"({', '.join(params)}) nounwind {{\n{body}")

    def _named(self, text: str) -> str:
        """The name of the side that is this text: one that there is, or a new one."""
        name = self._named_sides.get(text)
        if name is None:
            name = self._named_sides[text] = f"@side{len(self.functions)}"
            self.functions.append(f"define internal void {name}{text}")
        return name

    def share_sides(self, other: Emitter) -> None:
        """Call the same functions as another emitter of the module, which calls none yet."""
        other.functions, other._named_sides = self.functions, self._named_sides

    def ends(self, block: Block, results: tuple[Value, ...]) -> list[Names]:
        """What a block yields, held as `results` are."""
        return [
            self.lanes(end) if result in self.varying else self.names_of(end)
            for end, result in zip(block.yields, results, strict=True)
        ]

    def loop(self, node: Loop) -> None:
        """While some sample's test holds; a sample that left keeps what it carried.

        Kept values make the test come out false again, so no mask of its own is carried.
        """
        inits = self.ends(Block((), node.inits), node.results)
        carried = [
            (self.carried_type(value), name)
            for value, names in zip(node.results, inits, strict=True)
            for name in self.pack_value(value, names)
        ]
        outer, exit_ = self.mask, self.label("exit")
        head = self.begin_loop([("i64", "0"), *carried])
        number, *held = head.phis
        self.unflatten(node.results, tuple(held))
        for result, test, body in zip(
            node.results, node.test.params, node.body.params, strict=True
        ):
            self.names[test] = self.names[body] = self.names[result]
        with self.scope():
            self.statements(node.test.items)
            going = node.test.yields[0]
            varies = going in self.varying
            live = self.masked(self.lanes(going)) if varies else self.names_of(going)
            inside = self.label("body")
            self.branch(self.any(live) if varies else live[0], inside, exit_)
            self.place(inside)
            self.mask = live if varies else outer
            self.statements(node.body.items)
            ends = self.ends(node.body, node.results)
            if varies:
                ends = [
                    self.choose(live, end, self.names[result], self.type_of(result))
                    for end, result in zip(ends, node.results, strict=True)
                ]
            packed = [
                name
                for value, names in zip(node.results, ends, strict=True)
                for name in self.pack_value(value, names)
            ]
            following = self.define(f"add i64 {number}, 1")
            again = self.round(number) if self.round else None
            self.end_loop(head, again, [following, *packed])
            if again is not None:
                self.jump(exit_)
        self.mask = outer
        self.place(exit_)

    # -- what loops carry ------------------------------------------------------------------------

    def carried_type(self, value: Value) -> str:
        """The LLVM type that holds one name of `value` from round to round."""
        if value.dtype is DType.BOOL and value in self.varying:
            return self.carried_bits
        return self.type_of(value)

    def pack_value(self, value: Value, names: Names) -> Names:
        is_mask = value.dtype is DType.BOOL and value in self.varying
        return self.pack(names) if is_mask else names

    def unflatten(self, values: Sequence[Value], carried: Names) -> None:
        """Bind `values` to the carried names, in order."""
        position = 0
        for value in values:
            count = self.shape.chains if value in self.varying else 1
            names = carried[position : position + count]
            is_mask = value.dtype is DType.BOOL and value in self.varying
            self.names[value] = self.unpack(names) if is_mask else names
            position += count


def can_be_outlined(block: Block, least: int) -> bool:
    """Has it so many operations, and no loop, which would have to look at the clock?"""
    items = list(walk(block.items))
    return len(items) >= least and not any(isinstance(item, Loop) for item in items)


def inputs_of(block: Block) -> list[Value]:
    """The values that a block reads and does not make, constants left out."""
    made: set[Value] = set()
    read: dict[Value, None] = dict.fromkeys(block.yields)
    for statement in walk(block.items):
        made.update(statement.results)
        read.update(dict.fromkeys(operands_of(statement)))
        for inner in blocks_of(statement):
            read.update(dict.fromkeys(inner.yields))
    return [value for value in read if value not in made and not isinstance(value, Const)]


def zero(kind: str) -> str:
    """The zero of an LLVM type."""
    if kind[0] == "<":
        return "zeroinitializer"
    return {"i1": "false", "float": "0.0", "double": "0.0"}.get(kind, "0")


def literal(value: Const) -> str:
    """A constant in LLVM's spelling; floats by their bits, so that nothing is rounded."""
    match value.dtype:
        case DType.BOOL:
            return "true" if value.number else "false"
        case DType.F32 | DType.F64:
            return f"0x{struct.pack('>d', value.number).hex().upper()}"
        case DType.I32 | DType.U32 | DType.I64:
            return str(value.number)
