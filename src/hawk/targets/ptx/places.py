"""The least and the greatest on the GPU, and where they are, with the bits of `hawk.ir.reduce`.

    least_T, greatest_T(values, keep, done, order, lines, count, among, m, places)
    take_min_T, take_max_T(values, order, lines, count, places, out)

`places` gets, for each line, an int64 for each 1,024 candidates begun, one at least: the first
place in the line of what is looked for, or of the first NaN; -1 where nobody takes part. The
candidates are all places, or with `among` the `m` of each line that a launch before has found, so
a line is at an end when it has one. `take` gives what stands there, or what `min` and `max` are of
no samples. See `block` for the other parameters.

Numbers become integers that are ordered as they are, and the lesser is looked for: for the greatest
its opposite. The least integer of all stands for NaN. Of equal ones the first counts, so it does
not matter in which order they are compared.
"""

from __future__ import annotations

from collections.abc import Iterator

from hawk.ir.nodes import Const
from hawk.ir.reduce import neutral_of
from hawk.ir.types import DType
from hawk.targets.llvm import literal
from hawk.targets.ordered import ordered
from hawk.targets.ptx.block import (
    ARRAYS,
    BARRIER,
    EACH,
    HALVES,
    SHARED,
    SIZES,
    define,
    each,
    if_it_takes_part,
    items,
    sample_of,
)
from hawk.targets.ptx.entry import THREADS
from hawk.targets.shape import LLVM_TYPES
from hawk.targets.ways import GLOBAL

ORDERED = (DType.I32, DType.U32, DType.I64, DType.F32, DType.F64)
NAN = -(2**63)


def least_name(kind: str, dtype: DType) -> str:
    """What finds the place for `min` and `argmin`, or for `max` and `argmax`."""
    return f"{'least' if kind.endswith('min') else 'greatest'}_{dtype.value}"


def take_name(kind: str, dtype: DType) -> str:
    return f"take_{kind}_{dtype.value}"


def texts() -> Iterator[str]:
    """All of them."""
    for dtype in ORDERED:
        for kind in ("min", "max"):
            yield _least(kind, dtype)
            yield _take(kind, dtype)


def _key(j: int, kind: str, dtype: DType) -> str:
    """%key of %value, whose bits are an integer of the same size."""
    size = dtype.itemsize
    bits = f"i{8 * size}"
    if dtype.is_float:
        lines = ordered(f"value{j}", dtype, key=f"near{j}", nan=f"nan{j}")
    else:
        lines = f"  %near{j} = add {bits} %value{j}, 0\n  %nan{j} = and i1 false, false\n"
    widen = "zext" if dtype is DType.U32 else "sext"
    wide = f"{widen} {bits} %near{j} to i64" if size < 8 else f"add i64 %near{j}, 0"
    lines += f"  %wide{j} = {wide}\n"
    lines += f"  %way{j} = xor i64 %wide{j}, {0 if kind == 'min' else -1}\n"
    return lines + f"  %key{j} = select i1 %nan{j}, i64 {NAN}, i64 %way{j}\n"


def _candidate(j: int, kind: str, dtype: DType) -> str:
    """%key.is and %place.is of this thread's j-th candidate; place -1: there is none."""
    bits = f"i{8 * dtype.itemsize}"
    before = "inside" if not j else f"over{j - 1}"
    ways = ("keep", "done", "given")
    return f"""  %k{j} = add i64 %mine, {j * THREADS}
  %there{j} = icmp ult i64 %k{j}, %m
  br i1 %there{j}, label %in{j}, label %over{j}
in{j}:
  %all{j} = icmp eq {GLOBAL} %among, null
  br i1 %all{j}, label %known{j}, label %some{j}
some{j}:
  %among.line{j} = mul i64 %line, %m
  %among.k{j} = add i64 %among.line{j}, %k{j}
  %among.at{j} = getelementptr i64, {GLOBAL} %among, i64 %among.k{j}
  %among.is{j} = load i64, {GLOBAL} %among.at{j}
  br label %known{j}
known{j}:
  %place{j} = phi i64 [ %k{j}, %in{j} ], [ %among.is{j}, %some{j} ]
  br label %given{j}
given{j}:
  %none{j} = icmp slt i64 %place{j}, 0
  br i1 %none{j}, label %over{j}, label %look{j}
look{j}:
  %at{j} = add i64 %base, %place{j}
{sample_of(str(j), f"look{j}")}{if_it_takes_part(str(j), f"over{j}")}\
  %value.at{j} = getelementptr {bits}, {GLOBAL} %values, i64 %sample{j}
  %value{j} = load {bits}, {GLOBAL} %value.at{j}
{_key(j, kind, dtype)}  br label %over{j}
over{j}:
  %key.is{j} = phi i64 [ 0, %{before} ], {", ".join(f"[ 0, %{way}{j} ]" for way in ways)}, \
[ %key{j}, %part{j} ]
  %place.is{j} = phi i64 [ -1, %{before} ], {", ".join(f"[ -1, %{way}{j} ]" for way in ways)}, \
[ %place{j}, %part{j} ]
"""


def _better(name: str, mine: tuple[str, str], other: tuple[str, str]) -> str:
    """%key.NAME and %place.NAME: of two (key, place) pairs the lesser, of equal ones the first."""
    (key, place), (key2, place2) = mine, other
    return f"""  %less.{name} = icmp slt i64 {key2}, {key}
  %same.{name} = icmp eq i64 {key2}, {key}
  %before.{name} = icmp slt i64 {place2}, {place}
  %tie.{name} = and i1 %same.{name}, %before.{name}
  %wins.{name} = or i1 %less.{name}, %tie.{name}
  %none.{name} = icmp slt i64 {place}, 0
  %or.{name} = or i1 %wins.{name}, %none.{name}
  %is.{name} = icmp sge i64 {place2}, 0
  %take.{name} = and i1 %or.{name}, %is.{name}
  %key.{name} = select i1 %take.{name}, i64 {key2}, i64 {key}
  %place.{name} = select i1 %take.{name}, i64 {place2}, i64 {place}
"""


def _least(kind: str, dtype: DType) -> str:
    name = least_name(kind, dtype)
    rooms = {part: f"@{name}_{part}" for part in ("keys", "found")}
    inside = "  %base = mul i64 %line, %count\n  %mine = add i64 %first, %tid\n"
    inside += "".join(_candidate(j, kind, dtype) for j in range(EACH))
    best = ("%key.is0", "%place.is0")
    for j in range(1, EACH):
        inside += _better(f"own{j}", best, (f"%key.is{j}", f"%place.is{j}"))
        best = (f"%key.own{j}", f"%place.own{j}")
    inside += f"""  %keys.own = getelementptr i64, {SHARED} {rooms["keys"]}, i64 %tid
  %found.own = getelementptr i64, {SHARED} {rooms["found"]}, i64 %tid
  store i64 {best[0]}, {SHARED} %keys.own
  store i64 {best[1]}, {SHARED} %found.own
{BARRIER}
"""
    for half in HALVES:
        inside += f"""  %low{half} = icmp ult i64 %tid, {half}
  br i1 %low{half}, label %fold{half}, label %folded{half}
fold{half}:
  %a.key{half} = load i64, {SHARED} %keys.own
  %a.place{half} = load i64, {SHARED} %found.own
  %b.key.at{half} = getelementptr i64, {SHARED} %keys.own, i64 {half}
  %b.key{half} = load i64, {SHARED} %b.key.at{half}
  %b.place.at{half} = getelementptr i64, {SHARED} %found.own, i64 {half}
  %b.place{half} = load i64, {SHARED} %b.place.at{half}
{_better(f"h{half}", (f"%a.key{half}", f"%a.place{half}"), (f"%b.key{half}", f"%b.place{half}"))}\
  store i64 %key.h{half}, {SHARED} %keys.own
  store i64 %place.h{half}, {SHARED} %found.own
  br label %folded{half}
folded{half}:
{BARRIER}
"""
    inside += f"""  %lead = icmp eq i64 %tid, 0
  br i1 %lead, label %put, label %ended
put:
  %result = load i64, {SHARED} {rooms["found"]}
  %result.at = getelementptr i64, {GLOBAL} %places, i64 %item
  store i64 %result, {GLOBAL} %result.at
"""
    shared = "".join(
        f"{room} = internal addrspace(3) global [{THREADS} x i64] poison, align 8\n"
        for room in rooms.values()
    )
    parameters = (*ARRAYS, *SIZES, f"{GLOBAL} %among", "i64 %m", f"{GLOBAL} %places")
    return shared + define(name, parameters, items("%m", inside))


def _take(kind: str, dtype: DType) -> str:
    memory = LLVM_TYPES[dtype]
    neutral = literal(Const(dtype, number=neutral_of(kind, dtype)))
    inside = f"""  %place.at = getelementptr i64, {GLOBAL} %places, i64 %one
  %place = load i64, {GLOBAL} %place.at
  %none = icmp slt i64 %place, 0
  br i1 %none, label %put, label %look
look:
  %base = mul i64 %one, %count
  %at0 = add i64 %base, %place
{sample_of("0", "look")}  %value.at = getelementptr {memory}, {GLOBAL} %values, i64 %sample0
  %value = load {memory}, {GLOBAL} %value.at
  br label %put
put:
  %result = phi {memory} [ {neutral}, %inside ], [ %value, %found0 ]
  %out.at = getelementptr {memory}, {GLOBAL} %out, i64 %one
  store {memory} %result, {GLOBAL} %out.at
"""
    values, _, _, order = ARRAYS
    parameters = (values, order, *SIZES, f"{GLOBAL} %places", f"{GLOBAL} %out")
    return define(take_name(kind, dtype), parameters, each("%lines", inside))
