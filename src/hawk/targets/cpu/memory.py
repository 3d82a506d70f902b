"""The arrays of a launch in memory, and room for groups whose samples do not stand side by side.

The last samples of a piece, too few for a group, are copied to a scratch group on the stack and
back, so there is one copy of the steps and it always sees a whole group; a mask says which lanes
hold samples. The same is done for samples that a map picks from all over the arrays.
"""

from __future__ import annotations

from collections.abc import Sequence

from hawk.ir.nodes import ARRAYS, Function, Plane, Role, Value
from hawk.ir.types import DType
from hawk.targets.base import Word
from hawk.targets.cpu.queue import Group, Queue
from hawk.targets.llvm import PAST, Emitter, Names, zero
from hawk.targets.shape import MEMORY_TYPES, bits_of

LINE = 64
"""Bytes of a line of the caches. NumPy's arrays begin 16 behind one, as a rule."""

_PLACES = """define internal void @places(ptr %to, ptr %map, i64 %base, i64 %count) nounwind {
entry:
  %mapped = icmp ne ptr %map, null
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %store ]
  %position = add i64 %base, %i
  br i1 %mapped, label %look, label %store
look:
  %row = getelementptr i64, ptr %map, i64 %position
  %there = load i64, ptr %row
  br label %store
store:
  %sample = phi i64 [ %position, %loop ], [ %there, %look ]
  %target = getelementptr i64, ptr %to, i64 %i
  store i64 %sample, ptr %target
  %next = add nuw i64 %i, 1
  %more = icmp ult i64 %next, %count
  br i1 %more, label %loop, label %done
done:
  ret void
}"""
"""The sample at each of `count` positions from `base` on."""


def _copy_text(element: str) -> str:
    """Loops that copy the elements of a group's samples from an array, and back to it."""
    return "\n".join(
        f"""define internal void
@{name}_{element}(ptr %to, ptr %from, ptr %places, i64 %count) nounwind {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %place = getelementptr i64, ptr %places, i64 %i
  %sample = load i64, ptr %place
  %source = getelementptr {element}, ptr %from, i64 {source}
  %target = getelementptr {element}, ptr %to, i64 {target}
  %value = load {element}, ptr %source
  store {element} %value, ptr %target
  %next = add nuw i64 %i, 1
  %more = icmp ult i64 %next, %count
  br i1 %more, label %loop, label %done
done:
  ret void
}}"""
        for name, source, target in (("fetch", "%sample", "%i"), ("give", "%i", "%sample"))
    )


class Memory:
    """Writes how groups are loaded and stored. `begin` is written once."""

    def __init__(self, emitter: Emitter, queue: Queue, fn: Function) -> None:
        self.emitter, self.queue = emitter, queue
        self.arrays = [plane for plane in fn.planes if plane.role in ARRAYS]
        self.mask = next((plane for plane in fn.planes if plane.role is Role.MASK), None)
        self.index: Value | None = None
        """The value that is each sample's index, if the kernel asks for it."""
        self.address: dict[Plane, str] = {}
        """Each array's first element."""
        self.scratch: dict[Plane, str] = {}
        """A group's worth of room on the stack for each array."""
        self.places = self.map = ""
        """Room for a group's places in the arrays, and what they are looked up in."""
        self._copied: set[str] = set()

    def begin(self) -> None:
        """Make room for places; the arrays are told one by one."""
        self.map = self.queue.word(Word.MAP, "ptr")
        self.places = self.emitter.define(f"alloca [{self.emitter.shape.lanes} x i64], align 64")

    def add(self, plane: Plane, word: int) -> None:
        """One of the arrays: a word of the block says where it is."""
        room = f"[{self.emitter.shape.lanes} x {MEMORY_TYPES[plane.dtype]}]"
        self.address[plane] = self.queue.word(word, "ptr")
        self.scratch[plane] = self.emitter.define(f"alloca {room}, align 64")

    @property
    def functions(self) -> list[str]:
        """The functions that what was written calls."""
        return [_PLACES, *(_copy_text(element) for element in sorted(self._copied))]

    def at(self, plane: Plane, start: str, index: str | int) -> str:
        memory = MEMORY_TYPES[plane.dtype]
        return self.emitter.define(f"getelementptr {memory}, ptr {start}, i64 {index}")

    def load(self, plane: Plane, start: str) -> Names:
        e = self.emitter
        memory = MEMORY_TYPES[plane.dtype]
        kind, size = e.shape.vector(memory), plane.dtype.itemsize
        names = tuple(
            e.define(
                f"load {kind}, ptr {self.at(plane, start, chain * e.shape.width)}, align {size}"
            )
            for chain in range(e.shape.chains)
        )
        if plane.dtype is not DType.BOOL:
            return names
        nought = "zeroinitializer" if e.shape.width > 1 else "0"
        return tuple(e.define(f"icmp ne {kind} {name}, {nought}") for name in names)

    def prefetch(self, plane: Plane, start: str) -> None:
        """Ask for a group's lines of a plane, to have them in the cache when they are needed."""
        e = self.emitter
        for place in range(0, e.shape.lanes * plane.dtype.itemsize, LINE):
            line = e.define(f"getelementptr i8, ptr {start}, i64 {place}")
            e.line(f"call void @llvm.prefetch.p0(ptr {line}, i32 0, i32 3, i32 1)")

    def load_bits(self, start: str) -> tuple[Names]:
        assert self.mask is not None
        return (self.load(self.mask, start),)

    def store(self, plane: Plane, start: str, names: Names, *, past: bool = False) -> None:
        """Store a group. `past` the caches: its vectors stand at multiples of their size."""
        e = self.emitter
        kind, size = e.shape.vector(MEMORY_TYPES[plane.dtype]), plane.dtype.itemsize
        how = f"align {e.shape.width * size}, !nontemporal {PAST}" if past else f"align {size}"
        for chain, name in enumerate(names):
            value = name
            if plane.dtype is DType.BOOL:
                value = e.define(f"zext {e.bits} {name} to {kind}")
            target = self.at(plane, start, chain * e.shape.width)
            e.line(f"store {kind} {value}, ptr {target}, {how}")

    def clear(self, plane: Plane) -> None:
        """Make lanes of the scratch group that hold no sample harmless: done, and all else zero."""
        e = self.emitter
        kind = e.shape.vector(MEMORY_TYPES[plane.dtype])
        nothing = zero(kind)
        if plane is self.mask:
            nothing = "splat (i8 1)" if e.shape.width > 1 else "1"
        for chain in range(e.shape.chains):
            target = self.at(plane, self.scratch[plane], chain * e.shape.width)
            e.line(f"store {kind} {nothing}, ptr {target}, align {plane.dtype.itemsize}")

    def find(self, where: str, first: str, count: str) -> None:
        """Write down which samples stand at `count` positions from `first`, looked up in a map."""
        arguments = f"ptr {self.places}, ptr {where}, i64 {first}, i64 {count}"
        self.emitter.line(f"call void @places({arguments})")

    def fetch(self, plane: Plane, count: str) -> None:
        """Copy what `count` samples at their places hold into the scratch group."""
        self._copy("fetch", plane, self.scratch[plane], self.address[plane], count)

    def give(self, plane: Plane, count: str) -> None:
        """Copy it back."""
        self._copy("give", plane, self.address[plane], self.scratch[plane], count)

    def _copy(self, way: str, plane: Plane, target: str, source: str, count: str) -> None:
        element = bits_of(plane)
        self._copied.add(element)
        arguments = f"ptr {target}, ptr {source}, ptr {self.places}, i64 {count}"
        self.emitter.line(f"call void @{way}_{element}({arguments})")

    # -- samples that do not stand side by side ----------------------------------------------------

    def bring(self, base: str, held: str, apart: str) -> None:
        """Copy a group to the scratch group if it is few samples, or if they stand apart."""
        e = self.emitter
        copy, ready = e.label("copy"), e.label("ready")
        e.branch(apart, copy, ready)
        e.place(copy)
        if self.index is not None:  # a lane without a sample has some index all the same
            self.clear_places()
        self.find(self.map, base, held)
        for plane in self.arrays:
            self.clear(plane)
            self.fetch(plane, held)
        e.jump(ready)
        e.place(ready)

    def clear_places(self) -> None:
        e = self.emitter
        wide = e.shape.vector("i64")
        for chain in range(e.shape.chains):
            target = e.define(f"getelementptr i64, ptr {self.places}, i64 {chain * e.shape.width}")
            e.line(f"store {wide} {zero(wide)}, ptr {target}, align 8")

    def copy_back(self, stored: Sequence[Plane], held: str, apart: str) -> None:
        """Give what the group stored back, if it was brought."""
        e = self.emitter
        copy, ready = e.label("back"), e.label("next")
        e.branch(apart, copy, ready)
        e.place(copy)
        for plane in stored:
            self.give(plane, held)
        e.jump(ready)
        e.place(ready)

    def where(self, group: Group) -> dict[Plane, str]:
        """The address of the group in each array, or of the scratch group."""
        there = {p: self.at(p, self.address[p], group.base) for p in self.arrays}
        return {
            plane: self.emitter.define(
                f"select i1 {group.apart}, ptr {self.scratch[plane]}, ptr {there[plane]}"
            )
            for plane in self.arrays
        }

    def lanes(self) -> Names:
        """The numbers of a group's lanes."""
        width, chains = self.emitter.shape.width, self.emitter.shape.chains
        if width == 1:
            return tuple(str(chain) for chain in range(chains))
        starts = range(0, chains * width, width)
        return tuple(
            f"<{', '.join(f'i64 {first + lane}' for lane in range(width))}>" for first in starts
        )

    def indices(self, group: Group) -> Names:
        """The index of each sample of the group: side by side, or where they were copied from."""
        e = self.emitter
        wide, first = e.shape.vector("i64"), e.spread(group.base, "i64")
        names: list[str] = []
        for chain, lane in enumerate(self.lanes()):
            there = e.define(f"getelementptr i64, ptr {self.places}, i64 {chain * e.shape.width}")
            place = e.define(f"load {wide}, ptr {there}, align 8")
            here = e.define(f"add {wide} {first}, {lane}")
            names.append(e.define(f"select i1 {group.apart}, {wide} {place}, {wide} {here}"))
        return tuple(names)
