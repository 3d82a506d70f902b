"""Where the least and the greatest of a batch are, with the bits of `ir.reduce`.

`least_T(numbers, keep, lines, count, places)` and `greatest_T` put, for each of several lines of
`count` numbers, one after the other in memory, the first place of what is looked for into an int64:
of the first NaN where there is one, -1 where no number takes part. `keep` is the address of a byte
for each number, 0 where it takes no part, or null.

Numbers become integers of their size that are ordered as they are, and the lesser is looked for:
for the greatest its opposite. The least integer of all stands for NaN. One pass finds the least
integer, a second one the first number that has it; both many at a time, and the last ones by one.
"""

from __future__ import annotations

from collections.abc import Iterator

from hawk.ir.types import DType
from hawk.targets.ordered import ordered

LANES = 16
"""Numbers looked at at a time, as one vector of LLVM's: whatever registers a machine has."""
WORD = f"i{LANES}"
"""A bit for each."""

ORDERED = (DType.F64, DType.F32, DType.I64, DType.I32, DType.U32)
KINDS = ("min", "max")


def symbol(kind: str, dtype: DType) -> str:
    """The routine that looks for the `min` or the `max` of numbers of a type."""
    return f"{'least' if kind == 'min' else 'greatest'}_{dtype.value}"


def places_text() -> str:
    """The routines for all types."""
    called = [f"declare {WORD} @llvm.cttz.{WORD}({WORD}, i1)"]
    for size in (32, 64):
        called += [
            f"declare i{size} @llvm.smin.i{size}(i{size}, i{size})",
            (
                f"declare <{LANES} x i{size}> "
                f"@llvm.smin.v{LANES}i{size}(<{LANES} x i{size}>, <{LANES} x i{size}>)"
            ),
            f"declare i{size} @llvm.vector.reduce.smin.v{LANES}i{size}(<{LANES} x i{size}>)",
        ]
    called.append(f"declare i1 @llvm.vector.reduce.or.v{LANES}i1(<{LANES} x i1>)")
    return "\n".join([*called, *(_text(kind, dtype) for dtype in ORDERED for kind in KINDS)])


class _Look:
    """Writes how one number, or a vector of them, is looked at, where %NAME.i counts them."""

    def __init__(self, kind: str, dtype: DType, name: str, lanes: int) -> None:
        self.kind, self.dtype, self.name, self.lanes = kind, dtype, name, lanes
        self.bits = f"i{8 * dtype.itemsize}"
        self.type = self.many(self.bits)
        self.suffix = f"v{lanes}{self.bits}" if lanes > 1 else self.bits

    def many(self, element: str) -> str:
        return f"<{self.lanes} x {element}>" if self.lanes > 1 else element

    def constant(self, number: int) -> str:
        return f"splat ({self.bits} {number})" if self.lanes > 1 else str(number)

    def lines(self, after: str) -> Iterator[str]:
        """%NAME.key, the last of all where a number takes no part; ends in block `after`."""
        n, kind, bits = self.name, self.type, self.bits
        top = 8 * self.dtype.itemsize - 1
        yield f"%{n}.at = getelementptr {bits}, ptr %begin, i64 %{n}.i"
        yield f"%{n}.is = load {kind}, ptr %{n}.at, align {self.dtype.itemsize}"
        near = f"%{n}.is"
        if self.dtype.is_float:
            yield ordered(f"{n}.is", self.dtype, key=f"{n}.near", nan=f"{n}.nan", lanes=self.lanes)
            near = f"%{n}.near"
        flip = -1 if self.kind == "max" else 0
        if self.dtype is DType.U32:
            flip ^= -(2**31)
        yield f"%{n}.way = xor {kind} {near}, {self.constant(flip)}"
        key = f"%{n}.way"
        if self.dtype.is_float:
            key, least = f"%{n}.some", self.constant(-(2**top))
            test, truths = self.many("i1"), f"%{n}.nan"
            yield f"{key} = select {test} {truths}, {kind} {least}, {kind} %{n}.way"
        yield f"br i1 %all, label %{after}, label %{n}.look"
        yield f"{n}.look:"
        yield f"%{n}.mark.at = getelementptr i8, ptr %marks, i64 %{n}.i"
        yield f"%{n}.mark = load {self.many('i8')}, ptr %{n}.mark.at, align 1"
        nought = "zeroinitializer" if self.lanes > 1 else "0"
        yield f"%{n}.part = icmp ne {self.many('i8')} %{n}.mark, {nought}"
        last = self.constant(2**top - 1)
        yield f"%{n}.kept = select {self.many('i1')} %{n}.part, {kind} {key}, {kind} {last}"
        yield f"br label %{after}"
        yield f"{after}:"
        yield f"%{n}.key = phi {kind} [ {key}, %{n} ], [ %{n}.kept, %{n}.look ]"

    def part(self, after: str) -> Iterator[str]:
        """As `lines`; and %NAME.in, which take part."""
        yield from self.lines(after)
        everyone = "splat (i1 true)" if self.lanes > 1 else "true"
        kind = self.many("i1")
        yield f"%{self.name}.in = phi {kind} [ {everyone}, %{self.name} ], [ %{self.name}.part, \
%{self.name}.look ]"


def _text(kind: str, dtype: DType) -> str:
    bits = f"i{8 * dtype.itemsize}"
    last = 2 ** (8 * dtype.itemsize - 1) - 1
    wide, one = (_Look(kind, dtype, name, n) for name, n in (("wide", LANES), ("one", 1)))
    seek, each = (_Look(kind, dtype, name, n) for name, n in (("seek", LANES), ("each", 1)))
    body = [
        "entry:",
        "%all = icmp eq ptr %keep, null",
        f"%whole = and i64 %count, {-LANES}",
        "%broad = icmp ne i64 %whole, 0",
        "%some = icmp ne i64 %lines, 0",
        "br i1 %some, label %line, label %leave",
        "line:",
        "%l = phi i64 [ 0, %entry ], [ %l.next, %put ]",
        "%base = mul nuw i64 %l, %count",
        f"%begin = getelementptr {bits}, ptr %numbers, i64 %base",
        "%marks = getelementptr i8, ptr %keep, i64 %base",
        "br i1 %broad, label %wide, label %rest",
        # the least of all
        "wide:",
        "%wide.i = phi i64 [ 0, %line ], [ %wide.next, %wide.end ]",
        f"%best = phi {wide.type} [ {wide.constant(last)}, %line ], [ %better, %wide.end ]",
        *wide.lines("wide.end"),
        (
            f"%better = call {wide.type} @llvm.smin.{wide.suffix}({wide.type} %best, "
            f"{wide.type} %wide.key)"
        ),
        f"%wide.next = add nuw i64 %wide.i, {LANES}",
        "%wide.more = icmp ult i64 %wide.next, %whole",
        "br i1 %wide.more, label %wide, label %reduced",
        "reduced:",
        f"%least = call {bits} @llvm.vector.reduce.smin.{wide.suffix}({wide.type} %better)",
        "br label %rest",
        "rest:",
        f"%so.far = phi {bits} [ {last}, %line ], [ %least, %reduced ]",
        "%over = icmp ult i64 %whole, %count",
        "br i1 %over, label %one, label %search",
        "one:",
        "%one.i = phi i64 [ %whole, %rest ], [ %one.next, %one.end ]",
        f"%best.one = phi {bits} [ %so.far, %rest ], [ %better.one, %one.end ]",
        *one.lines("one.end"),
        f"%better.one = call {bits} @llvm.smin.{bits}({bits} %best.one, {bits} %one.key)",
        "%one.next = add nuw i64 %one.i, 1",
        "%one.more = icmp ult i64 %one.next, %count",
        "br i1 %one.more, label %one, label %search",
        # the first that has it
        "search:",
        f"%target = phi {bits} [ %so.far, %rest ], [ %better.one, %one.end ]",
        f"%target.one = insertelement {seek.type} poison, {bits} %target, i32 0",
        (
            f"%targets = shufflevector {seek.type} %target.one, {seek.type} poison, "
            f"<{LANES} x i32> zeroinitializer"
        ),
        "br i1 %broad, label %seek, label %left",
        "seek:",
        "%seek.i = phi i64 [ 0, %search ], [ %seek.next, %seek.on ]",
        *seek.part("seek.end"),
        f"%seek.same = icmp eq {seek.type} %seek.key, %targets",
        f"%seek.found = and <{LANES} x i1> %seek.same, %seek.in",
        f"%seek.any = call i1 @llvm.vector.reduce.or.v{LANES}i1(<{LANES} x i1> %seek.found)",
        "br i1 %seek.any, label %there, label %seek.on",
        "seek.on:",
        f"%seek.next = add nuw i64 %seek.i, {LANES}",
        "%seek.more = icmp ult i64 %seek.next, %whole",
        "br i1 %seek.more, label %seek, label %left",
        "there:",
        f"%word = bitcast <{LANES} x i1> %seek.found to {WORD}",
        f"%lane = call {WORD} @llvm.cttz.{WORD}({WORD} %word, i1 true)",
        f"%lane.wide = zext {WORD} %lane to i64",
        "%place.there = add nuw i64 %seek.i, %lane.wide",
        "br label %put",
        "left:",
        "br i1 %over, label %each, label %put",
        "each:",
        "%each.i = phi i64 [ %whole, %left ], [ %each.next, %each.on ]",
        *each.part("each.end"),
        f"%each.same = icmp eq {bits} %each.key, %target",
        "%each.found = and i1 %each.same, %each.in",
        "br i1 %each.found, label %put, label %each.on",
        "each.on:",
        "%each.next = add nuw i64 %each.i, 1",
        "%each.more = icmp ult i64 %each.next, %count",
        "br i1 %each.more, label %each, label %put",
        "put:",
        (
            "%place = phi i64 [ %place.there, %there ], [ -1, %left ], [ %each.i, %each.end ], "
            "[ -1, %each.on ]"
        ),
        "%place.at = getelementptr i64, ptr %places, i64 %l",
        "store i64 %place, ptr %place.at",
        "%l.next = add nuw i64 %l, 1",
        "%l.more = icmp ult i64 %l.next, %lines",
        "br i1 %l.more, label %line, label %leave",
        "leave:",
        "ret void",
    ]
    parameters = "ptr %numbers, ptr %keep, i64 %lines, i64 %count, ptr %places"
    return "\n".join((f"define void @{symbol(kind, dtype)}({parameters}) nounwind {{", *body, "}"))
