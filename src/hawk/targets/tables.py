"""Reading tables: one load a lane, or one of a whole vector where lanes read side by side.

A `near` mostly reads the place after the one that the sample before reads. Where that is known of
the text, because the place is the sample's index and something that is the same for all, a group
of samples that stand side by side reads vectors from one address on. Where it is not, the places
are compared, which costs far less than a load for each lane.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hawk.ir.nodes import Apply, If
from hawk.targets.shape import LLVM_TYPES, MEMORY_TYPES

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


def near(e: Emitter, node: Apply) -> None:
    """The elements of a table at the places, for all chains; a sample left out has any place."""
    places = e.lanes(node.args[1])
    if e.shape.width == 1:
        e.bind(node.result, _guarded(e, node, places))
        return
    if node.args[1] in e.consecutive and e.side_by_side:
        e.bind(node.result, _straight(e, node, places, far=True))
        return
    straight, apart, merge = e.label("straight"), e.label("apart"), e.label("merge")
    e.branch(_are_consecutive(e, places), straight, apart)
    e.place(straight)
    vectors = _straight(e, node, places, far=False)
    straight = e.here
    e.jump(merge)
    e.place(apart)
    gathered = _guarded(e, node, places)
    apart = e.here
    e.jump(merge)
    e.place(merge)
    kind = e.type_of(node.result)
    pairs = zip(vectors, gathered, strict=True)
    e.bind(node.result, tuple(e.phi(kind, (a, straight), (b, apart)) for a, b in pairs))


def has_near(node: If) -> bool:
    """Is it a branch for the samples whose places do not exist, with a `near` for the others?"""
    return node.rare and any(
        isinstance(item, Apply) and item.op == "near" for item in node.orelse.items
    )


def bordered(e: Emitter, node: If) -> None:
    """A branch at the borders of a grid: groups with no sample there take the other side whole.

    Such a group is nearly every one, so that side is written for it alone: nothing to choose,
    and no lane whose place must not be read.
    """
    test = e.lanes(node.test)
    some = e.any(e.masked(test))
    if e.apart:
        some = e.define(f"or i1 {some}, {e.apart}")
    border, inside, merge = e.label("border"), e.label("inside"), e.label("merge")
    e.branch(some, border, inside)
    e.place(inside)
    with e.scope():
        outer, e.side_by_side = e.side_by_side, bool(e.apart)
        e.statements(node.orelse.items)
        plain = e.ends(node.orelse, node.results)
        e.side_by_side = outer
    inside = e.here
    e.jump(merge)
    e.place(border)
    with e.scope():
        then = e.side(node.then, test, node.results, rare=True)
        orelse = e.side(node.orelse, e.invert(test), node.results)
        kinds = [e.type_of(result) for result in node.results]
        rows = zip(then, orelse, kinds, strict=True)
        chosen = [e.choose(test, a, b, kind) for a, b, kind in rows]
    border = e.here
    e.jump(merge)
    e.place(merge)
    for result, kind, a, b in zip(node.results, kinds, plain, chosen, strict=True):
        pairs = zip(a, b, strict=True)
        e.bind(result, tuple(e.phi(kind, (x, inside), (y, border)) for x, y in pairs))


def _address(e: Emitter, table: str, memory: str, place: str) -> str:
    return e.define(f"getelementptr {memory}, ptr {table}, i64 {place}")


def _are_consecutive(e: Emitter, places: Names) -> str:
    """One bool: does each lane that counts read the place after that of the lane before it?"""
    wide, width = e.shape.vector("i32"), e.shape.width
    steps = f"<{', '.join(f'i32 {lane}' for lane in range(width))}>"
    other: list[str] = []
    for place in places:
        first = e.spread(e.define(f"extractelement {wide} {place}, i32 0"), "i32")
        due = e.define(f"add {wide} {first}, {steps}")
        other.append(e.define(f"icmp ne {wide} {place}, {due}"))
    return e.define(f"xor i1 {e.any(e.masked(tuple(other)))}, true")


def _straight(e: Emitter, node: Apply, places: Names, *, far: bool) -> Names:
    """Vectors from the place of each first lane on; `far`: of all chains from that of the first."""
    (table,) = e.names_of(node.args[0])
    memory, align = MEMORY_TYPES[node.result.dtype], node.result.dtype.itemsize
    wide, kind = e.shape.vector("i32"), e.shape.vector(memory)
    start, names = "", list[str]()
    for chain, place in enumerate(places):
        if not far or not chain:
            # The first lane may be one left out, at a place before the first there is.
            number = e.define(f"extractelement {wide} {place}, i32 0")
            number = e.define(f"sext i32 {number} to i64")
            start = address = _address(e, table, memory, number)
        else:
            address = _address(e, start, memory, str(chain * e.shape.width))
        if e.mask is None:
            name = e.define(f"load {kind}, ptr {address}, align {align}")
        else:
            name = e.define(
                f"call {kind} @llvm.masked.load.{e.shape.suffix(memory)}.p0(ptr {address}, "
                f"i32 {align}, {e.bits} {e.mask[chain]}, {kind} zeroinitializer)"
            )
        names.append(name)
    if LLVM_TYPES[node.result.dtype] != "i1":
        return tuple(names)
    return tuple(e.define(f"icmp ne {kind} {name}, zeroinitializer") for name in names)


def _guarded(e: Emitter, node: Apply, places: Names) -> Names:
    """One load a lane; lanes that are left out read the first element."""
    kind = e.shape.vector("i32")
    if e.mask is not None:
        nothing = "zeroinitializer" if e.shape.width > 1 else "0"
        places = e.choose(e.mask, places, (nothing,) * len(places), kind)
    return tuple(lookup(e, node, place) for place in places)
