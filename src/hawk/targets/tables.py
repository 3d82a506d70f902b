"""Reading tables: one load a lane, or one of a whole vector where lanes read side by side.

A `near` mostly reads the place after the one that the sample before reads. Where scalars tell so,
because the place follows from where a sample is, a group of samples reads vectors from one address
on; of a group at a border, those of its vectors that are not. Elsewhere the places are compared,
which costs far less than a load for each lane.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hawk.ir.nodes import Apply, Block, Const, Value
from hawk.targets.positions import Along
from hawk.targets.shape import LLVM_TYPES, MEMORY_TYPES, ONE

if TYPE_CHECKING:
    from hawk.targets.llvm import Emitter, Names


def lookup(e: Emitter, node: Apply, places: str) -> str:
    """The elements of a table at the places: one load a lane, then put together.

    A gather does the same in one instruction, and on the processors we measured in more time.
    """
    (table,) = e.names_of(node.args[0])
    element, memory = LLVM_TYPES[node.result.dtype], MEMORY_TYPES[node.result.dtype]
    if node.result not in e.varying or e.shape.width == 1:
        place = e.define(f"zext i32 {places} to i64")  # it is not negative
        number = e.define(f"load {memory}, ptr {_address(e, table, memory, place)}")
        return e.define(f"icmp ne i8 {number}, 0") if element == "i1" else number
    kind, total = e.shape.vector(memory), "poison"
    for lane in range(e.shape.width):
        place = e.define(f"extractelement {e.shape.vector('i32')} {places}, i32 {lane}")
        place = e.define(f"zext i32 {place} to i64")
        number = e.define(f"load {memory}, ptr {_address(e, table, memory, place)}")
        total = e.define(f"insertelement {kind} {total}, {memory} {number}, i32 {lane}")
    return e.define(f"icmp ne {kind} {total}, zeroinitializer") if element == "i1" else total


def begin(e: Emitter, base: str) -> None:
    """A group of samples begins whose first one has the index `base`, if they are side by side."""
    if e.positions.index is not None:
        last = e.define(f"add i64 {base}, {e.shape.lanes - 1}")
        e.remember((e.positions.index, "ends", None), (base, last))


def straight(e: Emitter, node: Apply, chain: int) -> str:
    """A `near` of samples side by side, none of which is outside: one load of a vector."""
    known = e.recall((node.result, "start"))
    if known is None:
        known = (_start(e, node, None),)
        e.remember((node.result, "start"), known)
    memory, before = MEMORY_TYPES[node.result.dtype], chain * e.shape.width
    address = _address(e, known[0], memory, str(before)) if before else known[0]
    return _vector(e, node, address)


def near(e: Emitter, node: Apply) -> None:
    """A `near` of all chains."""
    if node.result not in e.positions.told or not e.apart:
        _compared(e, node)
    elif e.at_border:
        e.bind(node.result, tuple(_at_border(e, node, chain) for chain in range(e.shape.chains)))
    else:
        border, inside, merge = e.label("border"), e.label("inside"), e.label("merge")
        e.branch(outside(e, [node]), border, inside, rare=True)
        e.place(inside)
        with e.scope():
            plain = [straight(e, node, chain) for chain in range(e.shape.chains)]
        inside = e.here
        e.jump(merge)
        e.place(border)
        with e.scope():
            careful = [_at_border(e, node, chain) for chain in range(e.shape.chains)]
        border = e.here
        e.jump(merge)
        e.place(merge)
        kind, pairs = e.type_of(node.result), zip(plain, careful, strict=True)
        e.bind(node.result, tuple(e.phi(kind, (a, inside), (b, border)) for a, b in pairs))


def outside(e: Emitter, nears: Sequence[Apply], chain: int | None = None) -> str:
    """One bool: may a lane of the group, or of one chain, be outside for one of these?

    So it is for a group of samples from here and there, and for one that does not stand in one row.
    """
    total = e.apart
    tests = [node.args[1] for node in nears]
    for test in tests:
        total = e.define(f"or i1 {total}, {at_ends(e, test, chain)[0]}")
    for leaf in dict.fromkeys(leaf for test in tests for leaf in e.positions.leaves(test)):
        (turns,) = e.recall((leaf, "turns", chain)) or ("false",)
        total = e.define(f"or i1 {total}, {turns}")
    return total


def _at_border(e: Emitter, node: Apply, chain: int) -> str:
    """A `near` of one chain of a group at a border."""
    border, inside, merge = e.label("border"), e.label("inside"), e.label("merge")
    one = chain if e.shape.chains > 1 else None  # else the chain is the group
    e.branch(outside(e, [node], one), border, inside, rare=True)
    e.place(inside)
    with e.scope():
        vector = _vector(e, node, _start(e, node, one))
    e.jump(merge)
    e.place(border)
    with e.scope():
        if one is None:
            element = lookup(e, node, e.lanes(node.args[3])[0])
        else:
            room = e.room_of(node.result)
            (element,) = e.called(_as_block(e, node), (node.result,), chain, [room])
    border = e.here
    e.jump(merge)
    e.place(merge)
    return e.phi(e.type_of(node.result), (vector, inside), (element, border))


def _as_block(e: Emitter, node: Apply) -> Block:
    """What finds the place, as far as nothing else needs it, and reads it."""
    if node.result not in e.blocks:
        at = Apply("lookup", (node.args[0], node.args[3]), node.result)
        before = e.positions.made_of(node.args[3], late=True)
        e.blocks[node.result] = Block((*before, at), (node.result,))
    return e.blocks[node.result]


def _start(e: Emitter, node: Apply, chain: int | None) -> str:
    """The address of the first lane's element, where no lane is outside."""
    (table,) = e.names_of(node.args[0])
    place = e.define(f"sext i32 {at_ends(e, node.args[2], chain)[0]} to i64")
    return _address(e, table, MEMORY_TYPES[node.result.dtype], place)


def _compared(e: Emitter, node: Apply) -> None:
    """A `near` of places of which nothing is known before."""
    places = e.lanes(node.args[3])
    if e.shape.width == 1:
        e.bind(node.result, tuple(lookup(e, node, place) for place in places))
        return
    beside, apart, merge = e.label("beside"), e.label("apart"), e.label("merge")
    first = [e.define(f"extractelement {e.shape.vector('i32')} {p}, i32 0") for p in places]
    e.branch(_are_consecutive(e, places, first), beside, apart)
    e.place(beside)
    (table,), memory = e.names_of(node.args[0]), MEMORY_TYPES[node.result.dtype]
    wide = [e.define(f"zext i32 {place} to i64") for place in first]
    vectors = [_vector(e, node, _address(e, table, memory, place)) for place in wide]
    e.jump(merge)
    e.place(apart)
    gathered = [lookup(e, node, place) for place in places]
    e.jump(merge)
    e.place(merge)
    kind, pairs = e.type_of(node.result), zip(vectors, gathered, strict=True)
    e.bind(node.result, tuple(e.phi(kind, (a, beside), (b, apart)) for a, b in pairs))


def _are_consecutive(e: Emitter, places: Names, first: Sequence[str]) -> str:
    """One bool: does each lane read the place after that of the lane before it?"""
    wide, width = e.shape.vector("i32"), e.shape.width
    steps = f"<{', '.join(f'i32 {lane}' for lane in range(width))}>"
    other: list[str] = []
    for place, start in zip(places, first, strict=True):
        due = e.define(f"add {wide} {e.spread(start, 'i32')}, {steps}")
        other.append(e.define(f"icmp ne {wide} {place}, {due}"))
    return e.define(f"xor i1 {e.any(tuple(other))}, true")


def _address(e: Emitter, table: str, memory: str, place: str) -> str:
    return e.define(f"getelementptr {memory}, ptr {table}, i64 {place}")


def _vector(e: Emitter, node: Apply, address: str) -> str:
    """The vector at an address."""
    kind = e.shape.vector(MEMORY_TYPES[node.result.dtype])
    name = e.define(f"load {kind}, ptr {address}, align {node.result.dtype.itemsize}")
    if LLVM_TYPES[node.result.dtype] != "i1":
        return name
    return e.define(f"icmp ne {kind} {name}, {'zeroinitializer' if e.shape.width > 1 else '0'}")


# --- what scalars tell ----------------------------------------------------------------------------


def at_ends(e: Emitter, value: Value, chain: int | None) -> tuple[str, str]:
    """A value in the first and the last lane of the group, or of one chain, as scalars."""
    if isinstance(value, Const) or value not in e.varying:
        (name,) = e.names_of(value)
        return name, name
    if value not in e.positions.made and e.recall((value, "ends", chain)) is None:
        e.remember((value, "ends", chain), _of_index(e, value, chain or 0))
    for node in e.positions.made_of(value):
        if e.recall((node.result, "ends", chain)) is None:
            e.remember((node.result, "ends", chain), _ends(e, node, chain))
    first, last = e.recall((value, "ends", chain)) or ("", "")
    return first, last


def _of_index(e: Emitter, index: Value, chain: int) -> Names:
    """The index at the ends of a chain."""
    base, _ = e.recall((index, "ends", None)) or ("", "")
    first = e.define(f"add i64 {base}, {chain * e.shape.width}")
    return first, e.define(f"add i64 {first}, {e.shape.width - 1}")


def _ends(e: Emitter, node: Apply, chain: int | None) -> Names:
    pairs = [at_ends(e, arg, chain) for arg in node.args]
    kind = LLVM_TYPES[node.result.dtype]

    def scalar(end: int) -> str:
        return e.apply(node, [pair[end] for pair in pairs], ONE)

    match e.positions.along[node.result]:
        case Along.SAME:
            first = last = scalar(0)
        case Along.TEST:  # at both ends: between them a number may have gone past the largest
            both = [scalar(end) for end in (0, 1)]
            first = last = e.define(f"or i1 {both[0]}, {both[1]}")
        case Along.FOLLOWS:
            further = (e.shape.lanes if chain is None else e.shape.width) - 1
            first = scalar(0)
            last = e.define(f"add {kind} {first}, {further}")
        case Along.TURNS_NOT:
            first, last = scalar(0), scalar(1)
        case Along.LEAF:
            first = last = scalar(0)
            turns = e.define(f"icmp ne {kind} {first}, {scalar(1)}")
            e.remember((node.result, "turns", chain), (turns,))
    return first, last
